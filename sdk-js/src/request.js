import { codes } from './codes.js';
import { ModberthError } from './errors.js';
import { MAX_REQUEST_ID, MAX_TARGETS, MAX_TARGET_ID } from './limits.js';
import { decode, literalOf } from './scan.js';
import { countCodePoints, describe, isIdentifier, isPlainObject, quote } from './text.js';

/** @import { Checked, Scan } from './internal.js' */
/** @import { Request } from './types.js' */

const HELLO_FIELDS = ['version', 'type', 'host_api'];
const INVOKE_FIELDS = ['version', 'type', 'id', 'action', 'targets', 'parameters'];
const FORBIDDEN = ['/', '\\', ':', '\0'];

/**
 * Checks the hello of the host (P1-SDK-01).
 * @param {Buffer} payload
 */
export function checkHello(payload) {
  const hello = decode(payload, 'frame 1');
  checkMessage('frame 1', 'hello', HELLO_FIELDS, hello);
  if (literalOf(hello, 'host_api') !== '1') {
    throw new ModberthError(
      codes.REQUEST_HOST_API,
      `frame 1: host_api must be the integer 1, it is ${shown(hello, 'host_api')}`,
    );
  }
}

/**
 * Checks the invoke of the host (P1-SDK-01, P1-SDK-02, P1-HOST-03).
 * @param {Buffer} payload
 * @returns {Checked}
 */
export function checkInvoke(payload) {
  const request = decode(payload, 'frame 2');
  checkMessage('frame 2', 'invoke', INVOKE_FIELDS, request);
  const { id, action, targets, parameters } = request.value;
  if (typeof id !== 'string' || id === '' || tooLong(id, MAX_REQUEST_ID)) {
    throw new ModberthError(
      codes.REQUEST_ID,
      `frame 2: id must be a string of 1 to ${MAX_REQUEST_ID} code points, it is ${sized(id)}`,
    );
  }
  if (!isIdentifier(action)) {
    throw new ModberthError(
      codes.REQUEST_MESSAGE,
      `frame 2: action must be an identifier, it is ${sized(action)}`,
    );
  }
  if (!Array.isArray(targets)) {
    throw new ModberthError(
      codes.REQUEST_MESSAGE,
      `frame 2: targets must be an array, it is ${sized(targets)}`,
    );
  }
  const checked = checkTargets('frame 2: ', targets);
  if (!isPlainObject(parameters)) {
    throw new ModberthError(
      codes.REQUEST_PARAMETERS_TYPE,
      `frame 2: parameters must be an object, it is ${sized(parameters)}`,
    );
  }
  const message = /** @type {Request} */ (/** @type {unknown} */ (request.value));
  return { message, id, action, targets: checked, large: request.large };
}

/**
 * The rules of a batch: count, then each id in order (P1-HOST-13, P1-HOST-14).
 * @param {string} place What stands before `targets` in messages.
 * @param {readonly unknown[]} targets
 * @returns {string[]} A copy.
 */
export function checkTargets(place, targets) {
  if (targets.length < 1 || targets.length > MAX_TARGETS) {
    throw new ModberthError(
      codes.REQUEST_TARGET_COUNT,
      `${place}targets: a batch has 1 to ${MAX_TARGETS} targets, this one has ${targets.length}`,
    );
  }
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (let index = 0; index < targets.length; index++) {
    const target = targets[index];
    const at = `${place}targets[${index}]`;
    if (typeof target !== 'string') {
      throw new ModberthError(
        codes.REQUEST_TARGET_TYPE,
        `${at}: a target id is a string, this is ${describe(target)}`,
      );
    }
    if (target === '' || tooLong(target, MAX_TARGET_ID)) {
      throw new ModberthError(
        codes.REQUEST_TARGET_LENGTH,
        `${at}: the id ${quote(target)} has ${countCodePoints(target)} code points, ` +
          `the limits are 1 and ${MAX_TARGET_ID}`,
      );
    }
    for (const character of FORBIDDEN) {
      if (target.includes(character)) {
        throw new ModberthError(
          codes.REQUEST_TARGET_CHARACTER,
          `${at}: the id ${quote(target)} holds a slash, a backslash, a colon or NUL`,
        );
      }
    }
    const earlier = seen.get(target);
    if (earlier !== undefined) {
      throw new ModberthError(
        codes.REQUEST_TARGET_DUPLICATE,
        `${at}: the id ${quote(target)} stands at targets[${earlier}] already`,
      );
    }
    seen.set(target, index);
  }
  return [...seen.keys()];
}

/**
 * Checks the exact fields, then `version` and `type`. The version is judged by its literal, because
 * a parsed 1.0 looks like 1.
 * @param {string} place
 * @param {string} type
 * @param {readonly string[]} fields
 * @param {Scan} message
 */
function checkMessage(place, type, fields, message) {
  const { value } = message;
  for (const name of fields) {
    if (!Object.hasOwn(value, name)) {
      throw new ModberthError(
        codes.REQUEST_MESSAGE,
        `${place}: the ${type} message lacks the field ${name}`,
      );
    }
  }
  for (const name of Object.keys(value)) {
    if (!fields.includes(name)) {
      throw new ModberthError(
        codes.REQUEST_MESSAGE,
        `${place}: the ${type} message has no field ${quote(name)}`,
      );
    }
  }
  if (literalOf(message, 'version') !== '1') {
    throw new ModberthError(
      codes.REQUEST_VERSION,
      `${place}: version must be the integer 1, it is ${shown(message, 'version')}`,
    );
  }
  if (value['type'] !== type) {
    throw new ModberthError(
      codes.REQUEST_MESSAGE,
      `${place}: type must be "${type}", it is ${sized(value['type'])}`,
    );
  }
}

/**
 * @param {Scan} message
 * @param {string} name
 */
function shown(message, name) {
  const literal = literalOf(message, name);
  return literal === undefined ? sized(message.value[name]) : literal.slice(0, 40);
}

/**
 * @param {unknown} value
 */
function sized(value) {
  return typeof value === 'string'
    ? `${quote(value)} (${countCodePoints(value)} code points)`
    : describe(value);
}

/**
 * @param {string} text
 * @param {number} limit Most code points.
 */
function tooLong(text, limit) {
  return text.length > limit && countCodePoints(text) > limit;
}
