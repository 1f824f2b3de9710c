import { codes } from './codes.js';
import { ModberthError, summary } from './errors.js';
import { exchange, readerOf } from './exchange.js';
import { leave, readInput, reportRefusal, sendFrames, takeOutput, traceSink } from './stdio.js';

/** @import { Answer } from './internal.js' */
/** @import { Module } from './types.js' */

/**
 * @param {Answer} answer
 * @returns {Module}
 */
export function moduleOf(answer) {
  return {
    run: () => runProcess(answer),
    exchange: (input) => exchange(readerOf(input), answer, traceSink()),
  };
}

/**
 * Runs the process of one action: standard input to standard output (P1-SDK-12). A refusal leaves
 * standard output empty, one line on standard error, and exit status 1 (P1-SDK-07).
 * @param {Answer} answer
 */
export function runProcess(answer) {
  takeOutput();
  try {
    sendFrames(exchange(readInput, answer, traceSink()));
    leave(0);
  } catch (error) {
    const refusal = error instanceof ModberthError ? error : outOfMemory(error);
    reportRefusal(refusal.code, refusal.message);
    leave(1);
  }
}

/**
 * The SDK throws nothing else by itself; what is left comes from an allocation that failed.
 * @param {unknown} error
 */
function outOfMemory(error) {
  return new ModberthError(codes.PROCESS_MEMORY, `the module cannot go on: ${summary(error)}`);
}
