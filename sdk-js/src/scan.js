import { isUtf8 } from 'node:buffer';
import { decodeCanonical } from './canonical.js';
import { codes } from './codes.js';
import { ModberthError } from './errors.js';
import { MAX_DEPTH, MAX_ENTRIES, MAX_NAME, MAX_STRING, RESERVED_PREFIX } from './limits.js';
import { countCodePoints, quote } from './text.js';

/** @import { Scan } from './internal.js' */

/**
 * Checks a payload against the whole strict profile and parses it (P1-HOST-17 to -22, -35).
 * UTF-8 is judged first, over everything; then the first fault from left to right wins.
 * @param {Buffer} bytes
 * @param {string} place Where the payload stands, for messages: `frame 2`.
 * @returns {Scan}
 */
export function decode(bytes, place) {
  return decodeCanonical(bytes) ?? scan(bytes, place);
}

/**
 * Scans any payload.
 * @param {Buffer} bytes
 * @param {string} place
 * @returns {Scan}
 */
export function scan(bytes, place) {
  if (!isUtf8(bytes)) {
    const offset = validUpTo(bytes);
    throw new ModberthError(codes.JSON_UTF8, `${place}, byte ${offset}: this is not UTF-8`);
  }
  const scanner = new Scanner(bytes, place);
  scanner.document();
  // The scan knows every fault, so the platform's parser only builds the value.
  const value = JSON.parse(bytes.toString('utf8'));
  return { value, rootNumbers: scanner.rootNumbers, large: scanner.large };
}

/**
 * The offset of the first byte that is not part of valid UTF-8.
 * @param {Buffer} bytes
 */
function validUpTo(bytes) {
  // Halve the range: a prefix cut inside a character is judged without that character.
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 4) {
    let middle = (good + bad) >> 1;
    while (middle > good && ((bytes[middle] ?? 0) & 0xc0) === 0x80) middle--;
    if (middle === good) break;
    if (isUtf8(bytes.subarray(good, middle))) good = middle;
    else bad = middle;
  }
  for (let at = good; at < bad;) {
    let length = 1;
    while (length <= 4 && !isUtf8(bytes.subarray(at, at + length))) length++;
    if (length > 4) return at;
    at += length;
  }
  return bad;
}

/**
 * The literal of a number that is a member of the root; undefined when it is no number.
 * @param {Scan} scanned
 * @param {string} name
 */
export function literalOf({ value, rootNumbers }, name) {
  if (rootNumbers !== undefined) return rootNumbers.get(name);
  return typeof value[name] === 'number' ? String(value[name]) : undefined;
}

/** A recursive descent over the bytes; the depth limit bounds the recursion. */
class Scanner {
  /**
   * @param {Buffer} bytes Valid UTF-8.
   * @param {string} place
   */
  constructor(bytes, place) {
    this.bytes = bytes;
    this.place = place;
    this.at = 0;
    this.escaped = false;
    /** @type {Map<string, string>} */
    this.rootNumbers = new Map();
    /** @type {Set<number>} */
    this.large = new Set();
  }

  /**
   * @param {string} code
   * @param {number} offset
   * @param {string} text
   * @returns {never}
   */
  fault(code, offset, text) {
    throw new ModberthError(code, `${this.place}, byte ${offset}: ${text}`);
  }

  /**
   * The document ended where more was due.
   * @returns {never}
   */
  truncated() {
    this.fault(codes.JSON_TRUNCATED, this.bytes.length, 'the document ends inside a value');
  }

  /**
   * The byte at `at` cannot stand there.
   * @param {string} code
   * @param {string} expected
   * @returns {never}
   */
  unexpected(code, expected) {
    const { bytes, at } = this;
    if (at >= bytes.length) this.truncated();
    const found = quote(
      bytes
        .toString('utf8', at, at + 4)
        .slice(0, 2)
        .toWellFormed(),
    );
    this.fault(code, at, `expected ${expected}, found ${found}`);
  }

  /**
   * No value begins so. What begins like a number is a malformed number; of other scripts the decimal
   * digits of the basic plane count, which are the same in every language.
   * @returns {never}
   */
  noValue() {
    const text = this.bytes.toString('utf8', this.at, this.at + 4);
    // V8 compiles a literal at each start, and a property of Unicode makes that dear.
    const number = new RegExp('^(?:[+.]|(?=[\\0-\\uffff])\\p{Nd})', 'u').test(text);
    this.unexpected(number ? codes.JSON_NUMBER : codes.JSON_SYNTAX, 'a value');
  }

  /**
   * No name begins so. A digit right after a number and a comma is a malformed number (`1,000`).
   * @returns {never}
   */
  noName() {
    const { bytes, at } = this;
    const joins = isDigit(bytes[at]) && bytes[at - 1] === 0x2c && isDigit(bytes[at - 2]);
    this.unexpected(joins ? codes.JSON_NUMBER : codes.JSON_SYNTAX, 'a name in double quotes');
  }

  /**
   * Neither a comma nor the closing bracket. Another digit after a number and white space makes it a
   * malformed number (`1 000`).
   * @param {string} expected
   * @returns {never}
   */
  noSeparator(expected) {
    const { bytes, at } = this;
    let end = at;
    while (isWhite(bytes[end - 1])) end--;
    const joins = end < at && isDigit(bytes[at]) && isDigit(bytes[end - 1]);
    this.unexpected(joins ? codes.JSON_NUMBER : codes.JSON_SYNTAX, expected);
  }

  /** Passes white space and returns the byte after it, or -1 at the end. */
  peek() {
    const { bytes } = this;
    const length = bytes.length;
    let at = this.at;
    let byte = -1;
    for (; at < length; at++) {
      byte = /** @type {number} */ (bytes[at]);
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    }
    this.at = at;
    return at < length ? byte : -1;
  }

  document() {
    const byte = this.peek();
    if (byte === -1) {
      this.fault(codes.JSON_TRUNCATED, this.bytes.length, 'the document is empty');
    }
    if (byte !== 0x7b) {
      this.fault(codes.JSON_NOT_OBJECT, this.at, 'the document must be an object');
    }
    this.object(0);
    if (this.peek() !== -1) {
      this.fault(codes.JSON_TRAILING, this.at, 'something follows the object');
    }
  }

  /** @param {number} depth */
  value(depth) {
    const byte = this.peek();
    if (depth > MAX_DEPTH && byte !== -1) {
      this.fault(codes.JSON_DEPTH, this.at, `a value at depth ${depth}, the limit is ${MAX_DEPTH}`);
    }
    switch (byte) {
      case 0x22:
        this.string(false);
        return;
      case 0x7b:
        this.object(depth);
        return;
      case 0x5b:
        this.array(depth);
        return;
      case 0x74:
        this.literal('true');
        return;
      case 0x66:
        this.literal('false');
        return;
      case 0x6e:
        this.literal('null');
        return;
      default:
        if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) this.number();
        else this.noValue();
    }
  }

  /** @param {number} depth */
  object(depth) {
    this.at++;
    if (this.peek() === 0x7d) {
      this.at++;
      return;
    }
    /** @type {Set<string>} */
    const names = new Set();
    for (;;) {
      if (this.peek() !== 0x22) this.noName();
      if (names.size === MAX_ENTRIES) this.tooManyEntries('an object');
      const start = this.at;
      const raw = this.string(true);
      const name = this.escaped ? JSON.parse(`"${raw}"`) : raw;
      if (name.startsWith(RESERVED_PREFIX)) {
        this.fault(codes.JSON_RESERVED_KEY, start, `the name ${quote(name)} is reserved`);
      }
      if (names.has(name)) {
        this.fault(codes.JSON_DUPLICATE_KEY, start, `the name ${quote(name)} stands twice`);
      }
      names.add(name);
      if (this.peek() !== 0x3a) this.unexpected(codes.JSON_SYNTAX, "':'");
      this.at++;
      const first = this.peek();
      const from = this.at;
      this.value(depth + 1);
      if (depth === 0 && (first === 0x2d || (first >= 0x30 && first <= 0x39))) {
        this.rootNumbers.set(name, this.bytes.toString('latin1', from, this.at));
      }
      const byte = this.peek();
      if (byte !== 0x2c && byte !== 0x7d) this.noSeparator("',' or '}'");
      this.at++;
      if (byte === 0x7d) return;
    }
  }

  /** @param {number} depth */
  array(depth) {
    this.at++;
    if (this.peek() === 0x5d) {
      this.at++;
      return;
    }
    for (let count = 1; ; count++) {
      const next = this.peek();
      if (count > MAX_ENTRIES && next !== -1 && next !== 0x5d) this.tooManyEntries('an array');
      this.value(depth + 1);
      const byte = this.peek();
      if (byte !== 0x2c && byte !== 0x5d) this.noSeparator("',' or ']'");
      this.at++;
      if (byte === 0x5d) return;
    }
  }

  /**
   * @param {string} what
   * @returns {never}
   */
  tooManyEntries(what) {
    this.fault(codes.JSON_ENTRIES, this.at, `${what} has more than ${MAX_ENTRIES} entries`);
  }

  /** @param {string} word */
  literal(word) {
    const { bytes } = this;
    for (let i = 1; i < word.length; i++) {
      if (bytes[this.at + i] !== word.charCodeAt(i)) {
        if (this.at + i >= bytes.length) this.truncated();
        this.fault(codes.JSON_SYNTAX, this.at + i, `expected ${word}`);
      }
    }
    this.at += word.length;
  }

  /** Passes digits and returns how many there were. */
  digits() {
    const { bytes } = this;
    const start = this.at;
    for (;;) {
      const byte = bytes[this.at];
      if (byte === undefined || byte < 0x30 || byte > 0x39) return this.at - start;
      this.at++;
    }
  }

  /** At least one digit is due here. */
  someDigits() {
    if (this.digits() > 0) return;
    if (this.at >= this.bytes.length) this.truncated();
    this.fault(codes.JSON_NUMBER, this.at, 'a number needs a digit here');
  }

  number() {
    const { bytes } = this;
    const start = this.at;
    let whole = true;
    if (bytes[this.at] === 0x2d) this.at++;
    if (bytes[this.at] === 0x30) this.at++;
    else this.someDigits();
    if (bytes[this.at] === 0x2e) {
      whole = false;
      this.at++;
      this.someDigits();
    }
    const exponent = bytes[this.at];
    if (exponent === 0x65 || exponent === 0x45) {
      whole = false;
      this.at++;
      const sign = bytes[this.at];
      if (sign === 0x2b || sign === 0x2d) this.at++;
      this.someDigits();
    }
    const after = bytes[this.at];
    // Most numbers end at a comma, a bracket or white space.
    if (
      after !== undefined &&
      after > 0x2a &&
      after !== 0x2c &&
      after !== 0x5d &&
      after !== 0x7d &&
      continuesNumber(after)
    ) {
      this.fault(
        codes.JSON_NUMBER,
        this.at,
        `${quote(String.fromCharCode(after))} cannot stand here in a number`,
      );
    }
    // 15 digits are exact whatever they are.
    if (this.at - start <= 15 && whole) return;
    const text = bytes.toString('latin1', start, this.at);
    const number = Number(text);
    if (whole) {
      if (!Number.isSafeInteger(number)) {
        const shown = text.length > 40 ? `${text.slice(0, 40)}\u2026` : text;
        this.fault(
          codes.JSON_INTEGER_RANGE,
          start,
          `the integer ${shown} lies outside plus or minus ${Number.MAX_SAFE_INTEGER}`,
        );
      }
    } else if (!Number.isFinite(number)) {
      this.fault(codes.JSON_NONFINITE, start, 'the number is too large for a binary64 value');
    } else if (Math.abs(number) > Number.MAX_SAFE_INTEGER) {
      this.large.add(number);
    }
  }

  /**
   * Passes a string. Returns what stands between the quotes of a name, escapes unread.
   * @param {boolean} isName
   */
  string(isName) {
    const { bytes } = this;
    const length = bytes.length;
    const open = this.at;
    let at = open + 1;
    this.escaped = false;
    for (;;) {
      if (at >= length) this.truncated();
      const byte = /** @type {number} */ (bytes[at]);
      if (byte === 0x22) break;
      if (byte === 0x5c) {
        this.escaped = true;
        at = this.escape(at);
      } else if (byte < 0x20) {
        if (byte === 0) this.fault(codes.JSON_NUL, at, 'text holds a raw NUL');
        this.fault(codes.JSON_CONTROL, at, `text holds the raw control character ${byte}`);
      } else {
        at++;
      }
    }
    this.at = at + 1;
    const limit = isName ? MAX_NAME : MAX_STRING;
    if (!isName && at - open - 1 <= limit) return '';
    const raw = bytes.toString('utf8', open + 1, at);
    if (at - open - 1 > limit) {
      const count = countCodePoints(this.escaped ? JSON.parse(`"${raw}"`) : raw);
      if (count > limit) {
        const [code, what] = isName
          ? [codes.JSON_NAME_LENGTH, 'a name']
          : [codes.JSON_STRING_LENGTH, 'a string'];
        this.fault(code, open, `${what} of ${count} code points, the limit is ${limit}`);
      }
    }
    return raw;
  }

  /**
   * Checks the escape that begins at `at` and returns the place after it.
   * @param {number} at
   * @returns {number}
   */
  escape(at) {
    const byte = this.bytes[at + 1];
    switch (byte) {
      case undefined:
        return this.truncated();
      case 0x75:
        break;
      case 0x22:
      case 0x5c:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        return at + 2;
      default:
        this.fault(codes.JSON_ESCAPE, at, 'JSON has no such escape');
    }
    const unit = this.hex(at);
    if (unit === 0) this.fault(codes.JSON_NUL, at, 'an escape stands for NUL');
    if ((unit & 0xf800) !== 0xd800) return at + 6;
    if (unit < 0xdc00) {
      const [backslash, letter] = [this.bytes[at + 6], this.bytes[at + 7]];
      if (backslash === undefined || (backslash === 0x5c && letter === undefined)) this.truncated();
      if (backslash === 0x5c && letter === 0x75 && (this.hex(at + 6) & 0xfc00) === 0xdc00) {
        return at + 12;
      }
    }
    this.fault(codes.JSON_SURROGATE, at, 'an escape stands for an unpaired surrogate');
  }

  /**
   * The code unit of the escape `\uXXXX` that begins at `at`.
   * @param {number} at
   */
  hex(at) {
    let unit = 0;
    for (let i = at + 2; i < at + 6; i++) {
      const byte = this.bytes[i];
      if (byte === undefined) this.truncated();
      const digit = hexDigit(byte);
      if (digit < 0) {
        this.fault(codes.JSON_ESCAPE, at, 'the escape \\u needs four hexadecimal digits');
      }
      unit = unit * 16 + digit;
    }
    return unit;
  }
}

/** @param {number | undefined} byte */
function isDigit(byte) {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/**
 * Whether this byte right after a number makes it a malformed one.
 * @param {number} byte
 */
function continuesNumber(byte) {
  const lower = byte | 0x20;
  if (isDigit(byte) || (lower >= 0x61 && lower <= 0x7a)) return true;
  return '_.+-'.includes(String.fromCharCode(byte));
}

/** @param {number | undefined} byte */
function isWhite(byte) {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * The value of a hexadecimal digit, or -1.
 * @param {number} byte
 */
function hexDigit(byte) {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
