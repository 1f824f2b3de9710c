import { encodeFrames, endInput, nextFrame, openInput } from './frame.js';
import { checkHello, checkInvoke } from './request.js';
import { encodeResults } from './results.js';

/** @import { Answer, Note, Read } from './internal.js' */

const HELLO = '{"version":1,"type":"hello","protocol":1}';

/**
 * One action from the two frames of the host to the two frames of the module. Nothing leaves before
 * everything is checked (P1-SDK-04, P1-SDK-05).
 * @param {Read} read
 * @param {Answer} answer
 * @param {Note} note
 * @returns {Buffer}
 */
export function exchange(read, answer, note) {
  // Each frame is judged before the next one is read, so the first fault is the one that is named.
  const input = openInput(read);
  checkHello(nextFrame(input));
  const request = checkInvoke(nextFrame(input));
  endInput(input);
  return encodeFrames([HELLO, encodeResults(request, answer(request, note))]);
}

/**
 * Reads from bytes in memory.
 * @param {Uint8Array} bytes
 * @returns {Read}
 */
export function readerOf(bytes) {
  let at = 0;
  return (into, offset) => {
    const count = Math.min(into.length - offset, bytes.length - at);
    into.set(bytes.subarray(at, at + count), offset);
    at += count;
    return count;
  };
}
