import { codes } from './codes.js';
import { ModberthError } from './errors.js';
import { HEADER_LENGTH, MAX_PAYLOAD } from './limits.js';

/** @import { Read } from './internal.js' */

// Two small frames fit, and so does the look for the end of the input.
const FIRST_CAPACITY = 65_536;

/**
 * Reads frames one by one (P1-FRAME-01 to -06, P1-SDK-01). A header is judged before anything of the
 * size it declares is allocated.
 */
export class FrameReader {
  /** @type {Read} */
  #read;
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  /** Where the bytes end that were read. */
  #end = 0;
  /** Where the frames end that were given out. */
  #at = 0;
  #number = 0;

  /** @param {Read} read */
  constructor(read) {
    this.#read = read;
  }

  /**
   * The payload of the next frame.
   * @returns {Buffer}
   */
  next() {
    this.#number += 1;
    const place = `frame ${this.#number}`;
    const at = this.#at;
    if (!this.#fill(at + HEADER_LENGTH)) {
      if (this.#end === at) {
        throw new ModberthError(
          codes.FRAME_MISSING,
          `${place}: the input ended after ${this.#number - 1} of 2 frames`,
        );
      }
      throw new ModberthError(
        codes.FRAME_TRUNCATED,
        `${place}: the input ended after ${this.#end - at} of ${HEADER_LENGTH} header bytes`,
      );
    }
    const length = this.#bytes.readUInt32BE(at);
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
    if (!this.#fill(start + length)) {
      throw new ModberthError(
        codes.FRAME_TRUNCATED,
        `${place}: the input ended after ${this.#end - start} of ${length} payload bytes`,
      );
    }
    this.#at = start + length;
    return this.#bytes.subarray(start, this.#at);
  }

  /** Refuses whatever follows the last frame. */
  end() {
    if (this.#fill(this.#at + 1)) {
      throw new ModberthError(
        codes.FRAME_EXTRA,
        `frame ${this.#number + 1}: the input goes on at byte ${this.#at}, where it must end`,
      );
    }
  }

  /**
   * Reads until there are so many bytes; false if the input ends before.
   * @param {number} need
   */
  #fill(need) {
    if (need > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(need);
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    while (this.#end < need) {
      const got = this.#read(this.#bytes, this.#end);
      if (got === 0) return false;
      this.#end += got;
    }
    return true;
  }
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
