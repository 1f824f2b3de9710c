import { describe } from './text.js';

/**
 * Why a frame, a request or a result was refused. `code` is one of `codes`; `message` names the
 * place, the limit and the actual value.
 *
 * @example
 * try {
 *   new FakeHost(module).invoke('echo', { targets: [] });
 * } catch (error) {
 *   console.error(error.code); // request.target_count
 * }
 */
export class ModberthError extends Error {
  /**
   * @param {string} code A code of conformance/errors.json.
   * @param {string} message What happened, and where.
   */
  constructor(code, message) {
    super(message);
    /** @readonly */
    this.code = code;
  }
}
Object.defineProperty(ModberthError.prototype, 'name', { value: 'ModberthError' });

// A module may meet two copies of this SDK (its own and that of a test), so the class alone is no proof.
const TARGET_ERROR = Symbol.for('modberth.TargetError');

/**
 * Thrown by an each-handler, this becomes the error of its target (P1-HOST-11).
 *
 * @example
 * throw new TargetError('not_found', `There is no host ${target.id}.`);
 */
export class TargetError extends Error {
  /**
   * @param {string} code An identifier: a lower-case letter, then up to 95 of `a-z 0-9 _ . -`.
   * @param {string} message Text of at most 1,024 code points.
   */
  constructor(code, message) {
    super(message);
    /** @readonly */
    this.code = code;
    Object.defineProperty(this, TARGET_ERROR, { value: true });
  }
}
Object.defineProperty(TargetError.prototype, 'name', { value: 'TargetError' });

/**
 * What a thrown TargetError says; undefined for whatever else was thrown. Reading it must not throw again.
 * @param {unknown} thrown
 * @returns {{ code: string, message: string } | undefined}
 */
export function readTargetError(thrown) {
  try {
    if (!(thrown instanceof Error) || Reflect.get(thrown, TARGET_ERROR) !== true) return undefined;
    const { code, message } = /** @type {TargetError} */ (thrown);
    return { code, message };
  } catch {
    return undefined;
  }
}

/**
 * What a thrown value says, in one line as far as its author kept to one. Reading it must not throw again.
 * @param {unknown} thrown
 */
export function summary(thrown) {
  try {
    if (thrown instanceof Error) return `${thrown.name}: ${thrown.message}`;
    return typeof thrown === 'string' ? thrown : describe(thrown);
  } catch {
    return 'an error that cannot be shown';
  }
}
