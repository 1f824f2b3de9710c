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
  /** @param {Read} read */
  constructor(read) {
    this.read = read;
    this.bytes = new Uint8Array(FIRST_CAPACITY);
    /** Where the bytes end that were read. */
    this.filled = 0;
    /** Where the frames end that were given out. */
    this.at = 0;
    this.number = 0;
  }

  /**
   * The payload of the next frame.
   * @returns {Buffer}
   */
  next() {
    this.number += 1;
    const header = this.at;
    const start = header + HEADER_LENGTH;
    if (!this.fill(start)) this.cutHeader();
    const length = new DataView(this.bytes.buffer).getUint32(header);
    if (length === 0) this.fault(codes.FRAME_EMPTY, 'the header declares 0 bytes');
    if (length > MAX_PAYLOAD) {
      this.fault(
        codes.FRAME_TOO_LARGE,
        `the header declares ${length} bytes, the limit is ${MAX_PAYLOAD}`,
      );
    }
    if (!this.fill(start + length)) {
      this.fault(
        codes.FRAME_TRUNCATED,
        `the input ended after ${this.filled - start} of ${length} payload bytes`,
      );
    }
    this.at = start + length;
    return Buffer.from(this.bytes.buffer, start, length);
  }

  /** Refuses whatever follows the last frame. */
  end() {
    if (this.fill(this.at + 1)) {
      this.number += 1;
      this.fault(codes.FRAME_EXTRA, `the input goes on at byte ${this.at}, where it must end`);
    }
  }

  /**
   * Reads until there are so many bytes; false if the input ends before.
   * @param {number} need
   */
  fill(need) {
    if (need > this.bytes.length) {
      const larger = new Uint8Array(need);
      larger.set(this.bytes.subarray(0, this.filled));
      this.bytes = larger;
    }
    while (this.filled < need) {
      const got = this.read(this.bytes, this.filled);
      if (got === 0) return false;
      this.filled += got;
    }
    return true;
  }

  /** @returns {never} */
  cutHeader() {
    const got = this.filled - this.at;
    if (got === 0) {
      this.fault(codes.FRAME_MISSING, `the input ended after ${this.number - 1} of 2 frames`);
    }
    this.fault(
      codes.FRAME_TRUNCATED,
      `the input ended after ${got} of ${HEADER_LENGTH} header bytes`,
    );
  }

  /**
   * @param {string} code
   * @param {string} text
   * @returns {never}
   */
  fault(code, text) {
    throw new ModberthError(code, `frame ${this.number}: ${text}`);
  }
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
