// No regular expression: V8 checks its literal when it reads the file and compiles it at its first use,
// and the action of a request would be that use.
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const LATER = `${LETTERS}0123456789_.-`;
const MAX_IDENTIFIER = 96;

/**
 * Whether this is an identifier of the protocol: `[a-z][a-z0-9_.-]{0,95}`.
 * @param {unknown} value
 * @returns {value is string}
 */
export function isIdentifier(value) {
  if (typeof value !== 'string' || value.length > MAX_IDENTIFIER) return false;
  if (value === '' || !LETTERS.includes(value.charAt(0))) return false;
  for (let i = 1; i < value.length; i++) if (!LATER.includes(value.charAt(i))) return false;
  return true;
}

/**
 * The number of Unicode code points; `length` counts UTF-16 units.
 * @param {string} text
 */
export function countCodePoints(text) {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) {
      count--;
      i++; // a low surrogate belongs to one pair only
    }
  }
  return count;
}

/**
 * Text from outside as a JSON string for a message, cut to 64 code points.
 * @param {string} text
 */
export function quote(text) {
  if (text.length <= 64) return JSON.stringify(text);
  let shown = '';
  let left = 64;
  for (const point of text) {
    if (left-- === 0) {
      shown += '\u2026';
      break;
    }
    shown += point;
  }
  return JSON.stringify(shown);
}

/**
 * What a value is, in words for a message.
 * @param {unknown} value
 */
export function describe(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  switch (typeof value) {
    case 'object': {
      if (isPlainObject(value)) return 'an object';
      if (isThenable(value)) return 'a Promise (handlers are synchronous)';
      const name = Object.getPrototypeOf(value)?.constructor?.name;
      return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object';
    }
    case 'number':
      return `the number ${value}`;
    case 'boolean':
      return String(value);
    default:
      return `a ${typeof value}`;
  }
}

/**
 * Whether this is an object as JSON knows it: no array, and of no class. Objects of another realm count.
 * @param {unknown} value
 * @returns {value is { [name: string]: unknown }}
 */
export function isPlainObject(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    prototype === Object.prototype ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'))
  );
}

/**
 * @param {unknown} value
 * @returns {value is PromiseLike<unknown>}
 */
export function isThenable(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
