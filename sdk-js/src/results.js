import { codes } from './codes.js';
import { ModberthError, summary } from './errors.js';
import { MAX_MESSAGE, MAX_PAYLOAD } from './limits.js';
import {
  countCodePoints,
  describe,
  isIdentifier,
  isPlainObject,
  isThenable,
  quote,
} from './text.js';
import { write } from './write.js';

/** @import { Checked, Row } from './internal.js' */

// A result row stands at depth 2 of its frame, its data and its error one below.
const OUTCOME_DEPTH = 3;

/**
 * Where a result stands, for messages.
 * @param {{ index: number, target: string }} row
 */
function placeOf({ index, target }) {
  return `results[${index}], target ${quote(target)}`;
}

/**
 * Checks the shape of a results list as the host will: row by row, then the missing targets
 * (P1-SDK-05, P1-HOST-09 to -11).
 * @param {readonly string[]} targets The batch.
 * @param {unknown} results
 * @returns {Row[]}
 */
export function checkResults(targets, results) {
  try {
    return checkRows(targets, results);
  } catch (error) {
    if (error instanceof ModberthError) throw error;
    // A getter or a proxy among the results threw.
    throw new ModberthError(
      codes.OUTPUT_VALUE,
      `results: a value cannot be read: ${summary(error)}`,
    );
  }
}

/**
 * @param {readonly string[]} targets
 * @param {unknown} results
 * @returns {Row[]}
 */
function checkRows(targets, results) {
  if (!Array.isArray(results)) {
    if (isThenable(results)) results.then(undefined, () => {});
    throw new ModberthError(
      codes.OUTPUT_RESULTS_TYPE,
      `results: the handler must return an array of results, it returned ${describe(results)}`,
    );
  }
  const open = new Set(targets);
  const batch = new Set(targets);
  /** @type {Row[]} */
  const rows = [];
  // Every row uses up a target, so a list of any length ends after 65 rows at most.
  for (let index = 0; index < results.length; index++) {
    rows.push(checkRow(index, results[index], batch, open));
  }
  for (const target of open) {
    throw new ModberthError(
      codes.OUTPUT_TARGET_MISSING,
      `results: target ${quote(target)} has no result (${open.size} of ${targets.length} missing)`,
    );
  }
  return rows;
}

/**
 * @param {number} index
 * @param {unknown} row
 * @param {ReadonlySet<string>} batch
 * @param {Set<string>} open The targets without a result yet.
 * @returns {Row}
 */
function checkRow(index, row, batch, open) {
  const at = `results[${index}]`;
  if (!isPlainObject(row)) {
    throw new ModberthError(
      codes.OUTPUT_RESULTS_TYPE,
      `${at}: a result is an object with target and data or error, this is ${describe(row)}; ` +
        'target.data(value) makes one',
    );
  }
  const target = Object.hasOwn(row, 'target') ? row['target'] : undefined;
  const place = typeof target === 'string' ? placeOf({ index, target }) : at;
  for (const name of Object.keys(row)) {
    if (name !== 'target' && name !== 'data' && name !== 'error') {
      throw new ModberthError(
        codes.OUTPUT_RESULT_FIELDS,
        `${place}: a result has no field ${quote(name)}`,
      );
    }
  }
  if (typeof target !== 'string') {
    throw new ModberthError(
      codes.OUTPUT_RESULT_FIELDS,
      `${place}: the field target must be a string, it is ${describe(target)}`,
    );
  }
  if (!batch.has(target)) {
    throw new ModberthError(codes.OUTPUT_TARGET_UNKNOWN, `${place}: the batch has no such target`);
  }
  if (!open.delete(target)) {
    throw new ModberthError(
      codes.OUTPUT_TARGET_DUPLICATE,
      `${place}: this target has a result already`,
    );
  }
  const hasError = Object.hasOwn(row, 'error');
  if (Object.hasOwn(row, 'data')) {
    if (hasError) {
      throw new ModberthError(
        codes.OUTPUT_OUTCOME_BOTH,
        `${place}: a result has data or error, this one has both`,
      );
    }
    return { index, target, name: 'data', value: row['data'] };
  }
  if (!hasError) {
    throw new ModberthError(
      codes.OUTPUT_OUTCOME_MISSING,
      `${place}: a result has data or error, this one has neither`,
    );
  }
  return errorRow(index, target, row['error']);
}

/**
 * The row of a target that failed.
 * @param {number} index
 * @param {string} target
 * @param {unknown} error
 * @returns {Row}
 */
export function errorRow(index, target, error) {
  return { index, target, name: 'error', value: checkError(placeOf({ index, target }), error) };
}

/**
 * @param {string} place
 * @param {unknown} error
 * @returns {{ code: string, message: string }} A copy.
 */
function checkError(place, error) {
  if (!isPlainObject(error)) {
    throw new ModberthError(
      codes.OUTPUT_ERROR_FIELDS,
      `${place}: error must be an object, it is ${describe(error)}`,
    );
  }
  const names = Object.keys(error);
  const { code, message } = error;
  if (names.length !== 2 || !names.includes('code') || !names.includes('message')) {
    throw new ModberthError(
      codes.OUTPUT_ERROR_FIELDS,
      `${place}: error has exactly code and message, this one has ${quote(names.join(', '))}`,
    );
  }
  if (typeof code !== 'string' || typeof message !== 'string') {
    throw new ModberthError(
      codes.OUTPUT_ERROR_FIELDS,
      `${place}: code and message of an error are strings, here ${describe(code)} and ${describe(message)}`,
    );
  }
  if (!isIdentifier(code)) {
    throw new ModberthError(
      codes.OUTPUT_ERROR_CODE,
      `${place}: the error code ${quote(code)} is not [a-z][a-z0-9_.-]{0,95}`,
    );
  }
  const count = countCodePoints(message);
  if (count > MAX_MESSAGE) {
    throw new ModberthError(
      codes.OUTPUT_ERROR_MESSAGE,
      `${place}: the error message has ${count} code points, the limit is ${MAX_MESSAGE}`,
    );
  }
  return { code, message };
}

/**
 * Writes the payload of the result frame and checks every value (P1-SDK-04).
 * @param {Checked} request
 * @param {readonly Row[]} rows
 * @returns {string} At most 1,048,576 bytes as UTF-8.
 */
export function encodeResults(request, rows) {
  const { large } = request;
  const tooLarge = codes.FRAME_TOO_LARGE;
  let text = `{"version":1,"type":"result","id":${JSON.stringify(request.id)},"results":[`;
  let size = Buffer.byteLength(text) + 2;
  for (let index = 0; index < rows.length; index++) {
    const row = /** @type {Row} */ (rows[index]);
    const place = () => placeOf(row);
    const writing = { place, path: [row.name], large, tooLarge, units: 0 };
    const value = write(row.value, OUTCOME_DEPTH, writing);
    const before = index === 0 ? '' : ',';
    const written = `${before}{"target":${JSON.stringify(row.target)},"${row.name}":${value}}`;
    const bytes = Buffer.byteLength(written);
    size += bytes;
    if (size > MAX_PAYLOAD) {
      throw new ModberthError(
        codes.FRAME_TOO_LARGE,
        `${placeOf(row)}: the result frame would pass the limit of ${MAX_PAYLOAD} bytes ` +
          `with this result of ${bytes} bytes`,
      );
    }
    text += written;
  }
  return `${text}]}`;
}
