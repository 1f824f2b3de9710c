import { codes } from './codes.js';
import { ModberthError } from './errors.js';
import { answerByActions, answerByHandler } from './handle.js';
import { moduleOf, runProcess } from './run.js';
import { describe, isIdentifier, isPlainObject, quote } from './text.js';

/** @import { Action, Module, ServeHandler } from './types.js' */

/**
 * Defines a module by its actions. Each action has a handler that runs for every target (`each`) or
 * one that gets the whole batch (`batch`).
 *
 * @param {{ [action: string]: Action }} actions
 * @returns {Module}
 * @throws A `ModberthError` when this is no table of actions, or an action has a bad name, no handler, or
 *   one of each form.
 *
 * @example
 * defineModule({
 *   echo: {
 *     each(target, parameters) {
 *       return { message: parameters.message, index: target.index };
 *     },
 *   },
 * }).run();
 */
export function defineModule(actions) {
  /** @type {Map<string, Action>} */
  const table = new Map();
  for (const [name, action] of Object.entries(actions ?? {})) {
    if (!isIdentifier(name)) {
      throw wrongTable(`the action name ${quote(name)} is not [a-z][a-z0-9_.-]{0,95}`);
    }
    if (!isPlainObject(action)) {
      throw wrongTable(
        `the action "${name}" must be { each } or { batch }, it is ${describe(action)}`,
      );
    }
    for (const key of Object.keys(action)) {
      if (key !== 'each' && key !== 'batch') {
        throw wrongTable(`the action "${name}" has each or batch, not ${quote(key)}`);
      }
    }
    const { each, batch } = action;
    if (each !== undefined && batch !== undefined) {
      throw wrongTable(`the action "${name}" has a handler of each form; one is due`);
    }
    if (typeof (each ?? batch) !== 'function') {
      throw wrongTable(`the action "${name}" has no handler that can be called`);
    }
    table.set(name, action);
  }
  // A Map or a function has no entries either: every action in it would be missing in silence.
  if (table.size === 0 && !isPlainObject(actions)) {
    throw wrongTable(`the actions must be an object { name: action }, it is ${describe(actions)}`);
  }
  return moduleOf(answerByActions(table));
}

/**
 * Serves the one request of this process by one callback that gets the request and returns the full
 * results array, for every action.
 *
 * @param {ServeHandler} handler
 *
 * @example
 * serve((request) => request.targets.map((target) => ({ target, data: request.action })));
 */
export function serve(handler) {
  if (typeof handler !== 'function') {
    throw wrongTable(`the handler must be a function, it is ${describe(handler)}`);
  }
  runProcess(answerByHandler(handler));
}

/** @param {string} message */
function wrongTable(message) {
  return new ModberthError(codes.PROCESS_ACTIONS, message);
}
