import { codes } from './codes.js';
import { ModberthError } from './errors.js';
import { HEADER_LENGTH, MAX_PAYLOAD } from './limits.js';

/** @import { Input, Read } from './internal.js' */

// Two small frames fit, and so does the look for the end of the input.
const FIRST_CAPACITY = 65_536;

/**
 * Starts to read frames one by one (P1-FRAME-01 to -06, P1-SDK-01).
 * @param {Read} read
 * @returns {Input}
 */
export function openInput(read) {
  return { read, bytes: new Uint8Array(FIRST_CAPACITY), filled: 0, at: 0, frame: 0 };
}

/**
 * The payload of the next frame. A header is judged before anything of the size it declares is
 * allocated.
 * @param {Input} input
 * @returns {Buffer}
 */
export function nextFrame(input) {
  input.frame += 1;
  const start = input.at + HEADER_LENGTH;
  if (!fill(input, start)) refuseCutHeader(input);
  const length = new DataView(input.bytes.buffer).getUint32(input.at);
  if (length === 0) refuseFrame(input, codes.FRAME_EMPTY, 'the header declares 0 bytes');
  if (length > MAX_PAYLOAD) {
    refuseFrame(
      input,
      codes.FRAME_TOO_LARGE,
      `the header declares ${length} bytes, the limit is ${MAX_PAYLOAD}`,
    );
  }
  if (!fill(input, start + length)) {
    refuseFrame(
      input,
      codes.FRAME_TRUNCATED,
      `the input ended after ${input.filled - start} of ${length} payload bytes`,
    );
  }
  input.at = start + length;
  return Buffer.from(input.bytes.buffer, start, length);
}

/**
 * Refuses whatever follows the last frame.
 * @param {Input} input
 */
export function endInput(input) {
  if (fill(input, input.at + 1)) {
    input.frame += 1;
    refuseFrame(
      input,
      codes.FRAME_EXTRA,
      `the input goes on at byte ${input.at}, where it must end`,
    );
  }
}

/**
 * Reads until there are so many bytes; false if the input ends before.
 * @param {Input} input
 * @param {number} need
 */
function fill(input, need) {
  if (need > input.bytes.length) {
    const larger = new Uint8Array(need);
    larger.set(input.bytes.subarray(0, input.filled));
    input.bytes = larger;
  }
  while (input.filled < need) {
    const got = input.read(input.bytes, input.filled);
    if (got === 0) return false;
    input.filled += got;
  }
  return true;
}

/**
 * @param {Input} input
 * @returns {never}
 */
function refuseCutHeader(input) {
  const got = input.filled - input.at;
  if (got === 0) {
    refuseFrame(input, codes.FRAME_MISSING, `the input ended after ${input.frame - 1} of 2 frames`);
  }
  refuseFrame(
    input,
    codes.FRAME_TRUNCATED,
    `the input ended after ${got} of ${HEADER_LENGTH} header bytes`,
  );
}

/**
 * @param {Input} input
 * @param {string} code
 * @param {string} text
 * @returns {never}
 */
function refuseFrame({ frame }, code, text) {
  throw new ModberthError(code, `frame ${frame}: ${text}`);
}

/**
 * Puts each payload behind its header. The caller has checked the sizes.
 * @param {readonly string[]} payloads
 */
export function encodeFrames(payloads) {
  let size = 0;
  for (const payload of payloads) size += HEADER_LENGTH + Buffer.byteLength(payload);
  const bytes = Buffer.from(new ArrayBuffer(size));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const payload of payloads) {
    const length = bytes.write(payload, at + HEADER_LENGTH);
    view.setUint32(at, length);
    at += HEADER_LENGTH + length;
  }
  return bytes;
}
