import { codes } from './codes.js';
import { ModberthError, summary } from './errors.js';
import {
  MAX_DEPTH,
  MAX_ENTRIES,
  MAX_NAME,
  MAX_PAYLOAD,
  MAX_STRING,
  RESERVED_PREFIX,
} from './limits.js';
import { countCodePoints, describe, isPlainObject, quote } from './text.js';

/** @import { Writing } from './internal.js' */

/**
 * Writes a value as the strict profile demands it, and refuses what JSON cannot carry instead of
 * changing it in silence as `JSON.stringify` does (P1-SDK-05, P1-SDK-08).
 * @param {unknown} value
 * @param {number} depth The depth of the value in its frame.
 * @param {Writing} writing
 * @returns {string}
 */
export function write(value, depth, writing) {
  try {
    return writeValue(value, depth, writing);
  } catch (error) {
    if (error instanceof ModberthError) throw error;
    // A getter or a proxy of the author threw.
    refuseValue(writing, codes.OUTPUT_VALUE, `it cannot be read: ${summary(error)}`);
  }
}

/**
 * @param {Writing} writing
 * @param {string} code
 * @param {string} text
 * @returns {never}
 */
function refuseValue({ place, path }, code, text) {
  const plain = new RegExp('^[A-Za-z_]\\w{0,63}$');
  let steps = '';
  for (const step of path) {
    if (typeof step === 'number') steps += `[${step}]`;
    else if (plain.test(step)) steps += steps === '' ? step : `.${step}`;
    else steps += `[${quote(step)}]`;
  }
  throw new ModberthError(code, `${place()}: ${steps}: ${text}`);
}

/**
 * Counts UTF-16 units, of which no text has more than bytes. This ends the walk through a value that
 * refers to the same part over and over.
 * @param {string} text
 * @param {Writing} writing
 */
function count(text, writing) {
  writing.units += text.length;
  if (writing.units > MAX_PAYLOAD) {
    refuseValue(
      writing,
      writing.tooLarge,
      `the frame would pass the limit of ${MAX_PAYLOAD} bytes with this value`,
    );
  }
  return text;
}

/**
 * @param {unknown} value
 * @param {number} depth
 * @param {Writing} writing
 * @returns {string}
 */
function writeValue(value, depth, writing) {
  if (depth > MAX_DEPTH) {
    refuseValue(
      writing,
      codes.JSON_DEPTH,
      `a value at depth ${depth} of the frame, the limit is ${MAX_DEPTH}`,
    );
  }
  switch (typeof value) {
    case 'string':
      return writeString(value, MAX_STRING, codes.JSON_STRING_LENGTH, writing);
    case 'number':
      return count(writeNumber(value, writing), writing);
    case 'boolean':
      return count(String(value), writing);
  }
  if (value === null) return count('null', writing);
  if (Array.isArray(value)) return writeArray(value, depth, writing);
  if (isPlainObject(value)) return writeObject(value, depth, writing);
  refuseValue(writing, codes.OUTPUT_VALUE, `JSON cannot carry ${describe(value)}`);
}

/**
 * @param {unknown[]} values
 * @param {number} depth
 * @param {Writing} writing
 */
function writeArray(values, depth, writing) {
  const { path } = writing;
  if (values.length > MAX_ENTRIES) refuseEntries(values.length, writing);
  const at = path.length;
  let text = count('[]', writing).slice(0, 1);
  for (let i = 0; i < values.length; i++) {
    path[at] = i;
    if (i > 0) text += ',';
    text += writeValue(values[i], depth + 1, writing);
  }
  path.length = at;
  return `${text}]`;
}

/**
 * @param {{ [name: string]: unknown }} members
 * @param {number} depth
 * @param {Writing} writing
 */
function writeObject(members, depth, writing) {
  if (Object.getOwnPropertySymbols(members).length > 0) {
    refuseValue(writing, codes.OUTPUT_VALUE, 'JSON cannot carry a member whose name is a symbol');
  }
  const { path } = writing;
  const names = Object.keys(members);
  if (names.length > MAX_ENTRIES) refuseEntries(names.length, writing);
  const at = path.length;
  let text = count('{}', writing).slice(0, 1);
  for (const name of names) {
    path[at] = name;
    if (text.length > 1) text += ',';
    text += writeString(name, MAX_NAME, codes.JSON_NAME_LENGTH, writing);
    if (name.startsWith(RESERVED_PREFIX)) {
      refuseValue(
        writing,
        codes.JSON_RESERVED_KEY,
        `a name must not begin with ${RESERVED_PREFIX}`,
      );
    }
    text += ':';
    text += writeValue(members[name], depth + 1, writing);
  }
  path.length = at;
  return `${text}}`;
}

/**
 * @param {number} entries
 * @param {Writing} writing
 * @returns {never}
 */
function refuseEntries(entries, writing) {
  refuseValue(writing, codes.JSON_ENTRIES, `${entries} entries, the limit is ${MAX_ENTRIES}`);
}

/**
 * @param {number} value
 * @param {Writing} writing
 */
function writeNumber(value, writing) {
  if (!Number.isFinite(value)) {
    refuseValue(writing, codes.JSON_NONFINITE, `JSON cannot carry ${value}`);
  }
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    if (!writing.large.has(value)) {
      refuseValue(
        writing,
        codes.JSON_INTEGER_RANGE,
        `the whole number ${value} lies outside plus or minus ${Number.MAX_SAFE_INTEGER}`,
      );
    }
    // With an exponent it is no integer literal, and this form has every digit.
    return value.toExponential();
  }
  return Object.is(value, -0) ? '-0' : String(value);
}

/**
 * @param {string} text
 * @param {number} limit Most code points.
 * @param {string} code The code for longer text.
 * @param {Writing} writing
 */
function writeString(text, limit, code, writing) {
  if (text.length > limit) {
    const points = countCodePoints(text);
    if (points > limit) refuseValue(writing, code, `${points} code points, the limit is ${limit}`);
  }
  if (text.includes('\0')) refuseValue(writing, codes.JSON_NUL, 'the text holds NUL');
  if (!text.isWellFormed()) {
    refuseValue(writing, codes.JSON_SURROGATE, 'the text holds an unpaired surrogate');
  }
  return count(JSON.stringify(text), writing);
}
