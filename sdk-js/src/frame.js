import { codes } from './codes.js';
import { ModberthError } from './errors.js';
import { HEADER_LENGTH, MAX_PAYLOAD } from './limits.js';

/** @import { Read } from './internal.js' */

// Two small frames fit, and so does the look for the end of the input.
const FIRST_CAPACITY = 65_536;

/**
 * Reads exactly two frames and the end of the input (P1-FRAME-01 to -06, P1-SDK-01). A header is
 * judged before anything of the size it declares is allocated.
 * @param {Read} read
 * @returns {[Buffer, Buffer]} The two payloads.
 */
export function readFrames(read) {
  let bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  let end = 0;
  /** @param {number} need */
  const fill = (need) => {
    if (need > bytes.length) {
      const larger = Buffer.allocUnsafe(need);
      bytes.copy(larger, 0, 0, end);
      bytes = larger;
    }
    while (end < need) {
      const got = read(bytes, end);
      if (got === 0) return false;
      end += got;
    }
    return true;
  };

  let at = 0;
  /** @param {number} number */
  const next = (number) => {
    const place = `frame ${number}`;
    if (!fill(at + HEADER_LENGTH)) {
      if (end === at) {
        throw new ModberthError(
          codes.FRAME_MISSING,
          `${place}: the input ended after ${number - 1} of 2 frames`,
        );
      }
      throw new ModberthError(
        codes.FRAME_TRUNCATED,
        `${place}: the input ended after ${end - at} of ${HEADER_LENGTH} header bytes`,
      );
    }
    const length = bytes.readUInt32BE(at);
    if (length === 0) {
      throw new ModberthError(codes.FRAME_EMPTY, `${place}: the header declares 0 bytes`);
    }
    if (length > MAX_PAYLOAD) {
      throw new ModberthError(
        codes.FRAME_TOO_LARGE,
        `${place}: the header declares ${length} bytes, the limit is ${MAX_PAYLOAD}`,
      );
    }
    const start = at + HEADER_LENGTH;
    at = start + length;
    if (!fill(at)) {
      throw new ModberthError(
        codes.FRAME_TRUNCATED,
        `${place}: the input ended after ${end - start} of ${length} payload bytes`,
      );
    }
    return start;
  };

  const first = next(1);
  const firstEnd = at;
  const second = next(2);
  const secondEnd = at;
  if (fill(secondEnd + 1)) {
    throw new ModberthError(
      codes.FRAME_EXTRA,
      `after frame 2: the input goes on at byte ${secondEnd}, where it must end`,
    );
  }
  return [bytes.subarray(first, firstEnd), bytes.subarray(second, secondEnd)];
}

/**
 * Puts each payload behind its header. The caller has checked the sizes.
 * @param {readonly string[]} payloads
 */
export function encodeFrames(payloads) {
  let size = 0;
  for (const payload of payloads) size += HEADER_LENGTH + Buffer.byteLength(payload);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const payload of payloads) {
    const length = bytes.write(payload, at + HEADER_LENGTH);
    bytes.writeUInt32BE(length, at);
    at += HEADER_LENGTH + length;
  }
  return bytes;
}
