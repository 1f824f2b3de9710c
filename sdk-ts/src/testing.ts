/**
 * Tests a module in its own process, by the rules of the host.
 *
 * @module
 */
import * as testing from '@modberth/sdk/testing';
import type { Module, TargetResult } from './index.js';

/** One request: 1 to 64 distinct target ids, and the parameters of the action. */
export interface Invocation<Parameters> {
  /** 1 to 64 distinct target ids, each of 1 to 128 code points. */
  targets: readonly string[];
  /** The parameters of the action. */
  parameters: Parameters;
}

/**
 * A host in memory. It refuses what the host refuses, with the same codes, hands the module real
 * frames, and checks the real frames that come back. It starts no process and knows no manifest, so
 * the parameter schema is not checked.
 */
export interface FakeHost<Actions> {
  /**
   * Runs one action.
   *
   * @returns Target id to result, in request order (P1-HOST-12).
   * @throws A `ModberthError` where the host or the module would refuse; `code` says why.
   */
  invoke<Name extends keyof Actions & string>(
    action: Name,
    invocation: Invocation<
      Actions[Name] extends { parameters: infer Parameters } ? Parameters : never
    >,
  ): Map<string, TargetResult<Actions[Name] extends { data: infer Data } ? Data : never>>;
}

/** The type of the class `FakeHost`. */
export type FakeHostConstructor = new <Actions>(module: Module<Actions>) => FakeHost<Actions>;

/**
 * A host in memory, for tests.
 *
 * @example
 * const host = new FakeHost(module);
 * const results = host.invoke('echo', { targets: ['a'], parameters: { message: 'Hi' } });
 * assert.deepEqual(results.get('a'), { target: 'a', data: { message: 'Hi', index: 0 } });
 */
export const FakeHost = testing.FakeHost as unknown as FakeHostConstructor;
