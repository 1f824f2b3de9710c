/**
 * A value that a frame can carry. Numbers are finite, and whole ones lie within plus or minus
 * `Number.MAX_SAFE_INTEGER`.
 */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * The parameters of a request, by name, as the host has checked them against the manifest. Every
 * target of a batch sees the same object.
 */
export type Parameters = { [name: string]: Json };

/** The successful outcome of one target. */
export interface DataResult {
  /** The id of the target, copied exactly (P1-SDK-04). */
  target: string;
  /** What the handler gives for it. */
  data: Json;
}

/** The failed outcome of one target. */
export interface ErrorResult {
  /** The id of the target, copied exactly (P1-SDK-04). */
  target: string;
  /** Why the target has no data (P1-HOST-11). */
  error: {
    /** An identifier: a lower-case letter, then up to 95 of `a-z 0-9 _ . -`. */
    code: string;
    /** Text of at most 1,024 code points. */
    message: string;
  };
}

/** The outcome of one target: data or error, never both (P1-HOST-10). */
export type TargetResult = DataResult | ErrorResult;

/**
 * One target of a batch.
 *
 * @example
 * return batch.targets.map((target) =>
 *   hosts.has(target.id)
 *     ? target.data(hosts.get(target.id))
 *     : target.error('not_found', 'There is no such host.'),
 * );
 */
export interface Target {
  /** The opaque target id, 1 to 128 code points. */
  readonly id: string;
  /** Its place in the request, counted from 0. */
  readonly index: number;
  /** The successful result of this target. */
  data(value: Json): DataResult;
  /**
   * The failed result of this target.
   *
   * @param code An identifier: a lower-case letter, then up to 95 of `a-z 0-9 _ . -`.
   * @param message Text of at most 1,024 code points.
   */
  error(code: string, message: string): ErrorResult;
}

/** One request, for a handler of the whole batch (P1-SDK-03). */
export interface Batch {
  /** The request id, 1 to 128 code points. */
  readonly id: string;
  /** The action to run. */
  readonly action: string;
  /** The 1 to 64 targets in request order. */
  readonly targets: readonly Target[];
  /** The parameters of the action. */
  readonly parameters: Parameters;
}

/** The invoke message as it came in, for the handler of `serve` (P1-HOST-03). */
export interface Request {
  /** The version of the protocol. */
  version: 1;
  /** What kind of message this is. */
  type: 'invoke';
  /** The request id, 1 to 128 code points. */
  id: string;
  /** The action to run. */
  action: string;
  /** 1 to 64 distinct target ids. */
  targets: string[];
  /** The parameters of the action. */
  parameters: Parameters;
}

/**
 * Runs once for every target and returns its data. Throw a `TargetError` to give the target an
 * error. Anything else that is thrown becomes the error `internal`, and its trace goes to standard
 * error. Handlers are synchronous.
 */
export type EachHandler = (target: Target, parameters: Parameters) => Json;

/**
 * Runs once for the whole batch and returns one result per target, in any order. Whatever it throws
 * ends the process without a result (P1-SDK-07). Handlers are synchronous.
 */
export type BatchHandler = (batch: Batch) => TargetResult[];

/**
 * Gets the request untouched and returns one result per target, in any order. It answers for every
 * action by itself. Handlers are synchronous.
 */
export type ServeHandler = (request: Request) => TargetResult[];

/** One action: a handler per target or a handler of the whole batch, never both. */
export type Action = { each: EachHandler; batch?: never } | { batch: BatchHandler; each?: never };

/** A module, made by `defineModule`. */
export interface Module {
  /**
   * Serves the one request of this process: reads it from standard input, writes the results to
   * standard output, sets the exit status, and ends the process when the current turn is over.
   *
   * From this call on standard output carries frames only: whatever the handler or a child process
   * prints goes to standard error (P1-SDK-06).
   */
  run(): void;

  /**
   * The same exchange in memory, for tests.
   *
   * @param input The bytes of the host: two frames.
   * @returns The bytes of the module: two frames.
   * @throws A `ModberthError` where the process would end with a refusal.
   */
  exchange(input: Uint8Array): Uint8Array;
}
