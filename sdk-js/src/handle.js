import { codes } from './codes.js';
import { ModberthError, readTargetError, summary } from './errors.js';
import { BatchTarget } from './target.js';
import { isThenable, quote } from './text.js';

/** @import { Answer, Checked, Note } from './internal.js' */
/** @import { Action, EachHandler, Json, ServeHandler, Target, TargetResult } from './types.js' */

/**
 * Answers by a table of actions. An unknown action gives every target an error (P1-SDK-10).
 * @param {ReadonlyMap<string, Action>} actions
 * @returns {Answer}
 */
export function answerByActions(actions) {
  return (request, note) => {
    const targets = request.targets.map((id, index) => new BatchTarget(id, index));
    const action = actions.get(request.action);
    if (action === undefined) {
      const message = `This module has no action "${request.action}".`;
      return targets.map((target) => target.error('unsupported_action', message));
    }
    const { id, parameters } = request.message;
    if (action.each) {
      return targets.map((target) => answerOne(action, target, parameters, note));
    }
    const batch = { id, action: request.action, targets, parameters };
    return guard(request, note, () => action.batch(batch));
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
 * A failing each-handler costs only its own target (P1-SDK-07).
 * @param {{ each: EachHandler }} action
 * @param {Target} target
 * @param {{ [name: string]: Json }} parameters
 * @param {Note} note
 * @returns {TargetResult}
 */
function answerOne(action, target, parameters, note) {
  try {
    const data = action.each(target, parameters);
    if (isThenable(data)) data.then(undefined, () => {});
    return target.data(data);
  } catch (error) {
    const known = readTargetError(error);
    if (known !== undefined) return target.error(known.code, known.message);
    note(`target ${quote(target.id)}: ${trace(error)}`);
    return target.error('internal', 'The module failed on this target.');
  }
}

/**
 * A failing handler of the whole batch leaves no result (P1-SDK-07).
 * @param {Checked} request
 * @param {Note} note
 * @param {() => unknown} handler
 */
function guard(request, note, handler) {
  try {
    return handler();
  } catch (error) {
    note(trace(error));
    throw new ModberthError(
      codes.OUTPUT_HANDLER_FAILED,
      `the handler of action "${request.action}" failed: ${summary(error)}`,
    );
  }
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
