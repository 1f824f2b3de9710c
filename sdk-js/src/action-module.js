import { exchange, readerOf } from './exchange.js';
import { runProcess } from './run.js';
import { traceSink } from './stdio.js';

/** @import { Answer } from './internal.js' */
/** @import { Module } from './types.js' */

/**
 * What `defineModule` makes.
 * @implements {Module}
 */
export class ActionModule {
  /** @type {Answer} */
  #answer;

  /** @param {Answer} answer */
  constructor(answer) {
    this.#answer = answer;
  }

  run() {
    runProcess(this.#answer);
  }

  /**
   * @param {Uint8Array} input
   * @returns {Uint8Array}
   */
  exchange(input) {
    return exchange(readerOf(input), this.#answer, traceSink());
  }
}
