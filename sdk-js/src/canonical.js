import { MAX_DEPTH, MAX_ENTRIES, MAX_NAME, MAX_STRING, RESERVED_PREFIX } from './limits.js';

/** @import { Scan } from './internal.js' */

/**
 * Reads a payload that is written just as `JSON.stringify` writes, which is how most hosts write.
 * Writing the parsed value again gives the same text only if the text was strict JSON without a
 * repeated name, a rounded number or white space, so the bytes need no look of their own; what the
 * platform's writer lets pass is looked for apart. The verdict is the scanner's, in a fraction of its
 * time: a process that answers one request runs all of its code for the first time.
 * @param {Buffer} bytes
 * @returns {Scan | undefined} undefined where only the scanner can tell.
 */
export function decodeCanonical(bytes) {
  // Bytes that are no UTF-8 become U+FFFD.
  const text = bytes.toString();
  if (text.includes('\ufffd') || text.includes('\\u') || text.includes(RESERVED_PREFIX)) {
    return undefined;
  }
  let value;
  try {
    value = JSON.parse(text);
    if (text[0] !== '{' || JSON.stringify(value) !== text || !isWithin(value, 0)) return undefined;
  } catch {
    // No JSON at all, or nested beyond the stack.
    return undefined;
  }
  // An own member, whatever stands on the prototype of all objects.
  return { value, rootNumbers: undefined, large: new Set() };
}

/**
 * Whether a parsed value keeps within the limits of the profile. Text is measured in UTF-16 units, of
 * which it has no fewer than code points.
 * @param {any} value
 * @param {number} depth
 * @returns {boolean}
 */
function isWithin(value, depth) {
  if (depth > MAX_DEPTH) return false;
  if (typeof value === 'string') return value.length <= MAX_STRING;
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (typeof value !== 'object' || value === null) return true;
  const names = Object.keys(value);
  if (names.length > MAX_ENTRIES) return false;
  for (let i = 0; i < names.length; i++) {
    const name = /** @type {string} */ (names[i]);
    if (name.length > MAX_NAME || !isWithin(value[name], depth + 1)) return false;
  }
  return true;
}
