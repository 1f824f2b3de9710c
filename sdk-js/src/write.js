import { codes } from './codes.js';
import { ModberthError, summary } from './errors.js';
import {
  MAX_DEPTH,
  MAX_ENTRIES,
  MAX_NAME,
  MAX_PAYLOAD,
  MAX_STRING,
  RESERVED_PREFIX,
} from './limits.js';
import { countCodePoints, describe, isPlainObject, quote } from './text.js';

/**
 * Writes values as the strict profile demands them, and refuses what JSON cannot carry instead of
 * changing it in silence as `JSON.stringify` does (P1-SDK-05, P1-SDK-08).
 */
export class Writer {
  /**
   * @param {Pick<ReadonlySet<number>, 'has'>} large The doubles beyond the exact integers that came in with the
   *   request. They are passed on; from the author such a number is refused, because it has most
   *   likely lost digits already.
   * @param {string} tooLarge The code for a value that no frame can hold.
   */
  constructor(large, tooLarge = codes.FRAME_TOO_LARGE) {
    this.large = large;
    this.tooLarge = tooLarge;
    this.place = () => '';
    /** @type {(string | number)[]} */
    this.path = [];
    this.units = 0;
  }

  /**
   * @param {() => string} place Where the value stands, for messages: `results[0], target "a"`.
   * @param {string} name The member of that place: `data`.
   * @param {unknown} value
   * @param {number} depth The depth of the value in its frame.
   * @returns {string}
   */
  write(place, name, value, depth) {
    this.place = place;
    this.path = [name];
    this.units = 0;
    try {
      return this.value(value, depth);
    } catch (error) {
      if (error instanceof ModberthError) throw error;
      // A getter or a proxy of the author threw.
      this.fault(codes.OUTPUT_VALUE, `it cannot be read: ${summary(error)}`);
    }
  }

  /**
   * @param {string} code
   * @param {string} text
   * @returns {never}
   */
  fault(code, text) {
    let path = '';
    for (const step of this.path) {
      if (typeof step === 'number') path += `[${step}]`;
      else if (/^[A-Za-z_]\w{0,63}$/.test(step)) path += path === '' ? step : `.${step}`;
      else path += `[${quote(step)}]`;
    }
    throw new ModberthError(code, `${this.place()}: ${path}: ${text}`);
  }

  /**
   * Counts UTF-16 units, of which no text has more than bytes. This ends the walk through a value
   * that refers to the same part over and over.
   * @param {string} text
   */
  count(text) {
    this.units += text.length;
    if (this.units > MAX_PAYLOAD) {
      this.fault(
        this.tooLarge,
        `the frame would pass the limit of ${MAX_PAYLOAD} bytes with this value`,
      );
    }
    return text;
  }

  /**
   * @param {unknown} value
   * @param {number} depth
   * @returns {string}
   */
  value(value, depth) {
    if (depth > MAX_DEPTH) {
      this.fault(
        codes.JSON_DEPTH,
        `a value at depth ${depth} of the frame, the limit is ${MAX_DEPTH}`,
      );
    }
    switch (typeof value) {
      case 'string':
        return this.count(this.string(value, MAX_STRING, codes.JSON_STRING_LENGTH));
      case 'number':
        return this.count(this.number(value));
      case 'boolean':
        return this.count(String(value));
    }
    if (value === null) return this.count('null');
    if (Array.isArray(value)) return this.array(value, depth);
    if (isPlainObject(value)) return this.object(value, depth);
    this.fault(codes.OUTPUT_VALUE, `JSON cannot carry ${describe(value)}`);
  }

  /**
   * @param {unknown[]} values
   * @param {number} depth
   */
  array(values, depth) {
    if (values.length > MAX_ENTRIES) this.tooManyEntries(values.length);
    const at = this.path.length;
    let text = this.count('[]').slice(0, 1);
    for (let i = 0; i < values.length; i++) {
      this.path[at] = i;
      if (i > 0) text += ',';
      text += this.value(values[i], depth + 1);
    }
    this.path.length = at;
    return `${text}]`;
  }

  /**
   * @param {{ [name: string]: unknown }} members
   * @param {number} depth
   */
  object(members, depth) {
    if (Object.getOwnPropertySymbols(members).length > 0) {
      this.fault(codes.OUTPUT_VALUE, 'JSON cannot carry a member whose name is a symbol');
    }
    const names = Object.keys(members);
    if (names.length > MAX_ENTRIES) this.tooManyEntries(names.length);
    const at = this.path.length;
    let text = this.count('{}').slice(0, 1);
    for (const name of names) {
      this.path[at] = name;
      if (text.length > 1) text += ',';
      text += this.count(this.string(name, MAX_NAME, codes.JSON_NAME_LENGTH));
      if (name.startsWith(RESERVED_PREFIX)) {
        this.fault(codes.JSON_RESERVED_KEY, `a name must not begin with ${RESERVED_PREFIX}`);
      }
      text += ':';
      text += this.value(members[name], depth + 1);
    }
    this.path.length = at;
    return `${text}}`;
  }

  /** @param {number} count */
  tooManyEntries(count) {
    this.fault(codes.JSON_ENTRIES, `${count} entries, the limit is ${MAX_ENTRIES}`);
  }

  /** @param {number} value */
  number(value) {
    if (!Number.isFinite(value)) {
      this.fault(codes.JSON_NONFINITE, `JSON cannot carry ${value}`);
    }
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      if (!this.large.has(value)) {
        this.fault(
          codes.JSON_INTEGER_RANGE,
          `the whole number ${value} lies outside plus or minus ${Number.MAX_SAFE_INTEGER}`,
        );
      }
      // With an exponent it is no integer literal, and this form has every digit.
      return value.toExponential();
    }
    return Object.is(value, -0) ? '-0' : String(value);
  }

  /**
   * @param {string} text
   * @param {number} limit Most code points.
   * @param {string} code The code for longer text.
   */
  string(text, limit, code) {
    if (text.length > limit) {
      const count = countCodePoints(text);
      if (count > limit) this.fault(code, `${count} code points, the limit is ${limit}`);
    }
    if (text.includes('\0')) this.fault(codes.JSON_NUL, 'the text holds NUL');
    if (!text.isWellFormed()) {
      this.fault(codes.JSON_SURROGATE, 'the text holds an unpaired surrogate');
    }
    return JSON.stringify(text);
  }
}
