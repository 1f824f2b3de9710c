/**
 * The SDK for Modberth modules in TypeScript: the typed face of `@modberth/sdk`. Nothing here exists
 * at run time but the functions and classes of that package.
 *
 * The input of a module is a request that the host has checked. The SDK checks it again, but it is
 * no gateway for untrusted JSON. A handler leaves no detached process behind and writes nothing
 * outside the sandbox (P1-SDK-13).
 *
 * @module
 */
import * as sdk from '@modberth/sdk';

export { codes, ModberthError, TargetError } from '@modberth/sdk';
export type { ErrorResult, Json } from '@modberth/sdk';

/**
 * A type as far as JSON can carry it. Functions, `bigint`, `symbol` and `undefined` become `never`, and
 * so do the methods of `Date`, `Map` and other classes: no value fits those.
 */
export type Jsonable<T> = [T] extends [sdk.Json]
  ? T
  : T extends undefined | bigint | symbol | ((...rest: never) => unknown)
    ? never
    : { [K in keyof T]: Jsonable<T[K]> };

/**
 * What an action takes and gives, as its author declares it.
 *
 * @example
 * interface Echo {
 *   parameters: { message: string };
 *   data: { message: string; index: number };
 * }
 */
export interface Shape {
  /** The parameters by name, as the manifest describes them. */
  parameters: object;
  /** The data of one target. */
  data: unknown;
}

/** The successful outcome of one target. */
export interface DataResult<Data> {
  /** The id of the target, copied exactly (P1-SDK-04). */
  target: string;
  /** What the handler gives for it. */
  data: Data;
}

/** The outcome of one target: data or error, never both (P1-HOST-10). */
export type TargetResult<Data> = DataResult<Data> | sdk.ErrorResult;

/** One target of a batch. */
export interface Target<Data> {
  /** The opaque target id, 1 to 128 code points. */
  readonly id: string;
  /** Its place in the request, counted from 0. */
  readonly index: number;
  /** The successful result of this target. */
  data(value: Data): DataResult<Data>;
  /**
   * The failed result of this target.
   *
   * @param code An identifier: a lower-case letter, then up to 95 of `a-z 0-9 _ . -`.
   * @param message Text of at most 1,024 code points.
   */
  error(code: string, message: string): sdk.ErrorResult;
}

/** One request, for a handler of the whole batch (P1-SDK-03). */
export interface Batch<Parameters, Data> {
  /** The request id, 1 to 128 code points. */
  readonly id: string;
  /** The action to run. */
  readonly action: string;
  /** The 1 to 64 targets in request order. */
  readonly targets: readonly Target<Data>[];
  /** The parameters of the action; every target sees the same object. */
  readonly parameters: Readonly<Parameters>;
}

/**
 * Runs once for every target and returns its data. Throw a `TargetError` to give the target an
 * error. Anything else that is thrown becomes the error `internal`, and its trace goes to standard
 * error. Handlers are synchronous.
 */
export interface EachAction<Parameters, Data> {
  each(target: Target<Data>, parameters: Readonly<Parameters>): Data;
  batch?: never;
}

/**
 * Runs once for the whole batch and returns one result per target, in any order. Whatever it throws
 * ends the process without a result (P1-SDK-07). Handlers are synchronous.
 */
export interface BatchAction<Parameters, Data> {
  batch(batch: Batch<Parameters, Data>): TargetResult<Data>[];
  each?: never;
}

/** One action: a handler per target or a handler of the whole batch, never both. */
export type Action<Parameters, Data> = EachAction<Parameters, Data> | BatchAction<Parameters, Data>;

declare const actions: unique symbol;

/** A module, made by `defineModule`. `Actions` maps each action to its `Shape`. */
export interface Module<Actions> {
  /** Only a type: what the actions take and give. */
  readonly [actions]?: Actions;

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

/** The invoke message as it came in, for the handler of `serve` (P1-HOST-03). */
export interface Request<Parameters> {
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

/** The type of `defineModule`. */
export type DefineModule = <Actions extends { [K in keyof Actions]: Shape }>(actions: {
  [K in keyof Actions]: Action<Actions[K]['parameters'], Jsonable<Actions[K]['data']>>;
}) => Module<Actions>;

/** The type of `serve`. */
export type Serve = <Parameters extends object, Data>(
  handler: (request: Request<Parameters>) => TargetResult<Jsonable<Data>>[],
) => void;

/**
 * Defines a module by its actions. The type parameter says what each action takes and gives; a
 * handler that disagrees does not compile.
 *
 * @throws A `ModberthError` when an action has a bad name, no handler, or both.
 *
 * @example
 * interface Echo {
 *   parameters: { message: string };
 *   data: { message: string; index: number };
 * }
 *
 * defineModule<{ echo: Echo }>({
 *   echo: {
 *     each: (target, { message }) => ({ message, index: target.index }),
 *   },
 * }).run();
 */
export const defineModule = sdk.defineModule as unknown as DefineModule;

/**
 * Serves the one request of this process by one callback that gets the request and returns the full
 * results array, for every action.
 *
 * @example
 * serve<{ message: string }, string>(({ targets, parameters }) =>
 *   targets.map((target) => ({ target, data: parameters.message })),
 * );
 */
export const serve = sdk.serve as unknown as Serve;
