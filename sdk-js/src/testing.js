/**
 * Tests a module in its own process, by the rules of the host.
 *
 * @module
 */
import { codes } from './codes.js';
import { ModberthError } from './errors.js';
import { readerOf } from './exchange.js';
import { encodeFrames, endInput, nextFrame, openInput } from './frame.js';
import { answerByHandler } from './handle.js';
import { MAX_PAYLOAD } from './limits.js';
import { checkTargets } from './request.js';
import { checkResults } from './results.js';
import { moduleOf } from './run.js';
import { decode, literalOf } from './scan.js';
import { isIdentifier, isPlainObject, quote } from './text.js';
import { write } from './write.js';

/** @import { Parameters, ServeHandler, TargetResult } from './types.js' */

/**
 * What the host needs of a module: the exchange of `defineModule`, from any copy of the SDK.
 * @typedef {{ exchange(input: Uint8Array): Uint8Array }} Exchange
 */

/**
 * One request: 1 to 64 distinct target ids, and the parameters (none when left out).
 * @typedef {{ targets: readonly string[], parameters?: Parameters }} Invocation
 */

const REQUEST_ID = '0123456789abcdef0123456789abcdef';
// A code of the host alone.
const REQUEST_TOO_LARGE = 'request.too_large';
const HELLO = '{"version":1,"type":"hello","host_api":1}';
const ANSWER = '{"version":1,"type":"hello","protocol":1}';

/**
 * A host in memory. It refuses what the host refuses, with the same codes, hands the module real
 * frames, and checks the real frames that come back. It starts no process and knows no manifest, so
 * the parameter schema is not checked.
 *
 * @example
 * const host = new FakeHost(module);
 * const results = host.invoke('echo', { targets: ['a'], parameters: { message: 'Hi' } });
 * assert.deepEqual(results.get('a'), { target: 'a', data: { message: 'Hi', index: 0 } });
 */
export class FakeHost {
  /** @type {Exchange} */
  #module;

  /** @param {Exchange | ServeHandler} module A module, or a handler as `serve` takes it. */
  constructor(module) {
    this.#module = typeof module === 'function' ? moduleOf(answerByHandler(module)) : module;
  }

  /**
   * Runs one action.
   * @param {string} action
   * @param {Invocation} invocation
   * @returns {Map<string, TargetResult>} Target id to result, in request order (P1-HOST-12).
   * @throws {ModberthError} Where the host or the module would refuse; `code` says why.
   */
  invoke(action, { targets, parameters = {} }) {
    if (!isIdentifier(action)) {
      throw new ModberthError(
        'request.action',
        `the action ${quote(String(action))} is no identifier`,
      );
    }
    const batch = checkTargets('', targets);
    if (!isPlainObject(parameters)) {
      throw new ModberthError(codes.REQUEST_PARAMETERS_TYPE, 'parameters must be an object');
    }
    /** @param {'targets' | 'parameters'} name @param {unknown} value */
    const member = (name, value) =>
      write(value, 1, {
        place: () => 'request',
        path: [name],
        // A number beyond the exact integers is legal input when it has an exponent.
        large: { has: () => true },
        tooLarge: REQUEST_TOO_LARGE,
        units: 0,
      });
    const invoke =
      `{"version":1,"type":"invoke","id":"${REQUEST_ID}","action":"${action}",` +
      `"targets":${member('targets', batch)},` +
      `"parameters":${member('parameters', parameters)}}`;
    const size = Buffer.byteLength(invoke);
    if (size > MAX_PAYLOAD) {
      throw new ModberthError(
        REQUEST_TOO_LARGE,
        `the invoke frame has ${size} bytes, the limit is ${MAX_PAYLOAD}`,
      );
    }
    return readResponse(batch, this.#module.exchange(encodeFrames([HELLO, invoke])));
  }
}

/**
 * Judges the output of a module whatever its SDK has checked (P1-HOST-34).
 * @param {readonly string[]} targets
 * @param {Uint8Array} output
 */
function readResponse(targets, output) {
  const input = openInput(readerOf(output));
  const hello = nextFrame(input);
  decode(hello, 'frame 1');
  if (hello.toString() !== ANSWER) {
    throw new ModberthError('output.hello', 'frame 1: this is not the hello of protocol 1');
  }
  const response = decode(nextFrame(input), 'frame 2');
  endInput(input);
  const { type, id, results } = response.value;
  const version = literalOf(response, 'version');
  if (Object.keys(response.value).length !== 4 || type !== 'result' || version !== '1') {
    throw new ModberthError(
      'output.message',
      'frame 2: this is not a result message of protocol 1',
    );
  }
  if (id !== REQUEST_ID) {
    throw new ModberthError('output.id', 'frame 2: the request id is not copied unchanged');
  }
  /** @type {Map<string, TargetResult>} */
  const byTarget = new Map();
  for (const { target, name, value: outcome } of checkResults(targets, results)) {
    const row = /** @type {unknown} */ ({ target, [name]: outcome });
    byTarget.set(target, /** @type {TargetResult} */ (row));
  }
  return new Map(
    targets.map((target) => [target, /** @type {TargetResult} */ (byTarget.get(target))]),
  );
}
