import { codes } from './codes.js';
import { ModberthError, readTargetError, summary } from './errors.js';
import { MAX_ACTIONS } from './limits.js';
import { checkResults, errorRow } from './results.js';
import { BatchTarget } from './target.js';
import { quote } from './text.js';

/** @import { Answer, Checked, Note, Row } from './internal.js' */
/** @import { Action, BatchHandler, EachHandler, ServeHandler } from './types.js' */

/**
 * Answers by a table of actions. An unknown action gives every target an error (P1-SDK-10).
 * @param {ReadonlyMap<string, Action>} actions
 * @returns {Answer}
 */
export function answerByActions(actions) {
  return (request, note) => {
    const action = actions.get(request.action);
    if (action === undefined) return answerNone(actions, request, note);
    if (action.batch) return answerBatch(action, request, note);
    /** @type {Row[]} */
    const rows = [];
    for (let index = 0; index < request.targets.length; index++) {
      const target = new BatchTarget(/** @type {string} */ (request.targets[index]), index);
      rows.push(answerOne(action, target, request, note));
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
 * An action that is not there: the result is neutral, and one line on standard error names the actions
 * there are, for the author who misspelt one.
 * @param {ReadonlyMap<string, Action>} actions
 * @param {Checked} request
 * @param {Note} note
 */
function answerNone(actions, request, note) {
  note(unknownAction(request.action, [...actions.keys()]));
  const message = `This module has no action "${request.action}".`;
  return request.targets.map((target, index) =>
    errorRow(index, target, { code: 'unsupported_action', message }),
  );
}

/**
 * All of these are identifiers, so nothing needs an escape.
 * @param {string} action
 * @param {string[]} names
 */
function unknownAction(action, names) {
  let line = `action "${action}": not in this module; `;
  if (names.length === 0) return `${line}it has no actions`;
  line += 'its actions: ';
  for (const [index, name] of names.entries()) {
    const next = index === 0 ? name : `, ${name}`;
    if (line.length + next.length > MAX_ACTIONS) return `${line} and ${names.length - index} more`;
    line += next;
  }
  return line;
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
