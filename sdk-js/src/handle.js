import { codes } from './codes.js';
import { ModberthError, readTargetError, summary } from './errors.js';
import { checkResults, errorRow } from './results.js';
import { BatchTarget } from './target.js';
import { quote } from './text.js';

/** @import { Answer, Checked, Note, Row } from './internal.js' */
/** @import { Action, BatchHandler, EachHandler, ServeHandler, Target } from './types.js' */

/**
 * Answers by a table of actions. An unknown action gives every target an error (P1-SDK-10).
 * @param {ReadonlyMap<string, Action>} actions
 * @returns {Answer}
 */
export function answerByActions(actions) {
  return (request, note) => {
    const action = actions.get(request.action);
    if (action?.batch) return answerBatch(action, request, note);
    /** @type {Row[]} */
    const rows = [];
    for (let index = 0; index < request.targets.length; index++) {
      const target = new BatchTarget(/** @type {string} */ (request.targets[index]), index);
      rows.push(action ? answerOne(action, target, request, note) : noAction(target, request));
    }
    return rows;
  };
}

/**
 * Answers by one callback that gets the whole request (P1-SDK-03).
 * @param {ServeHandler} handler
 * @returns {Answer}
 */
export function answerByHandler(handler) {
  return (request, note) => guard(request, note, () => handler(request.message));
}

/**
 * @param {{ batch: BatchHandler }} action
 * @param {Checked} request
 * @param {Note} note
 */
function answerBatch(action, request, note) {
  const { id, parameters } = request.message;
  const targets = request.targets.map((target, index) => new BatchTarget(target, index));
  const batch = { id, action: request.action, targets, parameters };
  return guard(request, note, () => action.batch(batch));
}

/**
 * A failing each-handler costs only its own target (P1-SDK-07).
 * @param {{ each: EachHandler }} action
 * @param {BatchTarget} target
 * @param {Checked} request
 * @param {Note} note
 * @returns {Row}
 */
function answerOne(action, target, request, note) {
  const { id, index } = target;
  try {
    const value = action.each(target, request.message.parameters);
    // It is refused as a value; its rejection is nobody's business then.
    if (value instanceof Promise) value.then(undefined, () => {});
    return { index, target: id, name: 'data', value };
  } catch (error) {
    return failedRow(id, index, error, note);
  }
}

/**
 * @param {string} id
 * @param {number} index
 * @param {unknown} error What the handler threw.
 * @param {Note} note
 */
function failedRow(id, index, error, note) {
  const known = readTargetError(error);
  if (known !== undefined) return errorRow(index, id, known);
  note(`target ${quote(id)}: ${trace(error)}`);
  return errorRow(index, id, { code: 'internal', message: 'The module failed on this target.' });
}

/**
 * @param {Target} target
 * @param {Checked} request
 */
function noAction({ id, index }, request) {
  const message = `This module has no action "${request.action}".`;
  return errorRow(index, id, { code: 'unsupported_action', message });
}

/**
 * A failing handler of the whole batch leaves no result (P1-SDK-07).
 * @param {Checked} request
 * @param {Note} note
 * @param {() => unknown} handler
 * @returns {Row[]}
 */
function guard(request, note, handler) {
  let results;
  try {
    results = handler();
  } catch (error) {
    note(trace(error));
    throw new ModberthError(
      codes.OUTPUT_HANDLER_FAILED,
      `the handler of action "${request.action}" failed: ${summary(error)}`,
    );
  }
  return checkResults(request.targets, results);
}

/**
 * The trace of whatever was thrown. Reading it must not throw again.
 * @param {unknown} error
 */
function trace(error) {
  try {
    if (error instanceof Error && typeof error.stack === 'string') return error.stack;
  } catch {
    // The summary says as much.
  }
  return summary(error);
}
