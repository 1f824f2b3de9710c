import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeCanonical } from '../dist/esm/canonical.js';
import { literalOf, scan } from '../dist/esm/scan.js';
import { damaged } from './support/damaged.mjs';
import { vectors } from './support/vectors.mjs';

/** @param {string} text */
const read = (text) => decodeCanonical(Buffer.from(text));

/**
 * Whatever is read here, the scanner reads too, and finds the same.
 * @param {Buffer} bytes
 * @param {string} name
 * @returns {boolean} Whether it is read here.
 */
function agree(bytes, name) {
  const found = decodeCanonical(bytes);
  if (found === undefined) return false;
  const scanned = scan(bytes, name);
  assert.deepEqual(found.value, scanned.value, name);
  assert.equal(scanned.large.size + found.large.size, 0, name);
  for (const member of Object.keys(found.value)) {
    assert.equal(literalOf(found, member), literalOf(scanned, member), `${name}: ${member}`);
  }
  return true;
}

// P1-HOST-17 to P1-HOST-22, P1-HOST-35
test('no vector is read that the scanner refuses', () => {
  let known = 0;
  for (const { name, bytes, code } of vectors) {
    const isRead = agree(bytes, name);
    assert(!isRead || code === null, name);
    if (isRead) known++;
  }
  assert(known >= 20, `${known} vectors`);
});

test('of 40,000 damaged documents none is read that the scanner refuses', () => {
  const parts = ['"', '\\', '{', '}', '[', ']', ',', ':', '-', '0', '1e', '.', '"a":1,', '\ufffd'];
  let known = 0;
  for (const bytes of damaged(7, 40_000, parts)) {
    if (agree(bytes, JSON.stringify(bytes.toString()))) known++;
  }
  assert(known > 100, `${known} documents`);
});

// P1-HOST-19 to P1-HOST-22: the limits of the profile, and one more.
/** @type {[string, (size: number) => string, number][]} */
const limits = [
  ['depth', (size) => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`, 12],
  ['depth of arrays', (size) => `{"a":${'['.repeat(size - 1)}1${']'.repeat(size - 1)}}`, 12],
  ['entries of an array', (size) => `{"a":[${Array(size).fill('0').join(',')}]}`, 256],
  [
    'entries of an object',
    (size) => `{${Array.from({ length: size }, (_, index) => `"n${index}":0`).join(',')}}`,
    256,
  ],
  ['length of a name', (size) => `{"${'n'.repeat(size)}":0}`, 240],
  ['length of a string', (size) => `{"a":"${'s'.repeat(size)}"}`, 65_536],
  ['whole numbers', (size) => `{"a":${size}}`, Number.MAX_SAFE_INTEGER],
  ['negative whole numbers', (size) => `{"a":-${size}}`, Number.MAX_SAFE_INTEGER],
];
for (const [name, document, limit] of limits) {
  test(`${name}: ${limit} is read, one more is left to the scanner`, () => {
    assert(agree(Buffer.from(document(limit)), name));
    assert.equal(read(document(limit + 1)), undefined);
  });
}

test('what only the scanner can judge is left to it', () => {
  const documents = [
    '',
    '[1]',
    '1',
    'null',
    '{"a":1} ',
    '{"a": 1}',
    '\ufeff{"a":1}',
    '{"a":1,"a":1}',
    '{"a":1.0}',
    '{"a":1e2}',
    '{"a":-0}',
    '{"a":0.1000000000000000055}',
    '{"a":1e400}',
    '{"a":1e300}',
    '{"a":"\\u0000"}',
    '{"a":"\\ud800"}',
    '{"a":"\\u0001"}',
    '{"a":"\\/"}',
    '{"a":"\ufffd"}',
    '{"$serde_json::private::a":1}',
  ];
  for (const text of documents) assert.equal(read(text), undefined, text);
  assert.equal(decodeCanonical(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), undefined);
});

test('what hosts write is read at once', () => {
  for (const text of [
    '{"version":1,"type":"hello","host_api":1}',
    '{"a":[0.5,-3,true,false,null,"\\n\\"\\\\",{}],"b":{"é":"日本 😀"}}',
    '{"__proto__":1,"toJSON":2,"constructor":{"name":"x"}}',
  ]) {
    assert(agree(Buffer.from(text), text), text);
  }
});

test('a polluted prototype leaves the verdict to the scanner', () => {
  Object.defineProperty(Object.prototype, 'toJSON', {
    configurable: true,
    value: () => 'not what stands there',
  });
  try {
    assert.equal(read('{"a":{"b":1}}'), undefined);
  } finally {
    Reflect.deleteProperty(Object.prototype, 'toJSON');
  }
});

test('a polluted prototype changes no literal', () => {
  Object.defineProperty(Object.prototype, 'rootNumbers', {
    configurable: true,
    value: new Map([['version', '2']]),
  });
  try {
    const found = read('{"version":1}');
    assert(found !== undefined);
    assert.equal(literalOf(found, 'version'), '1');
  } finally {
    Reflect.deleteProperty(Object.prototype, 'rootNumbers');
  }
});
