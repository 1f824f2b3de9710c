import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, scan } from '../dist/esm/scan.js';
import { write } from '../dist/esm/write.js';
import { damaged } from './support/damaged.mjs';
import { forms } from './support/forms.mjs';
import { input, invoke, payloads } from './support/frames.mjs';
import { FAULTY, forEachAFew, run } from './support/processes.mjs';
import { vectors } from './support/vectors.mjs';

/**
 * The code and the message of a refusal, or null.
 * @param {() => unknown} call
 */
function refusal(call) {
  try {
    call();
    return null;
  } catch (error) {
    assert(error instanceof Error && 'code' in error, String(error));
    return { code: error.code, message: error.message };
  }
}

// P1-HOST-17 to P1-HOST-22, P1-HOST-35
test('every vector gives exactly its code', () => {
  assert(vectors.length >= 202);
  for (const { name, bytes, code } of vectors) {
    const found = refusal(() => decode(bytes, 'frame 2'));
    assert.equal(found?.code ?? null, code, name);
    assert.deepEqual(
      refusal(() => scan(bytes, 'frame 2')),
      found,
      name,
    );
    if (found !== null) assert.match(found.message, /^frame 2, byte \d+: /, name);
  }
});

test('an accepted document parses to the same value as JSON.parse gives', () => {
  for (const { name, bytes, code } of vectors) {
    if (code !== null) continue;
    assert.deepEqual(decode(bytes, 'x').value, JSON.parse(bytes.toString('utf8')), name);
  }
});

// P1-SDK-08: what came in goes out unchanged, and in a form that the host accepts.
test('an accepted document that is written again is accepted and equal', () => {
  for (const { name, bytes, code } of vectors) {
    if (code !== null) continue;
    const { value, large } = decode(bytes, 'x');
    const text = write(value, 0, { place: () => 'x', path: [], large, tooLarge: '', units: 0 });
    assert.deepEqual(decode(Buffer.from(text), 'x').value, value, name);
  }
});

for (const [form, { defineModule }] of Object.entries(forms)) {
  // P1-SDK-01: in frame 1 every vector that is no hello is refused; in frame 2 likewise.
  test(`${form}: every vector that is refused is refused in both frames`, () => {
    const module = defineModule({ ok: { each: () => null } });
    for (const { name, bytes, code } of vectors) {
      if (code === null || bytes.length === 0) continue;
      const first = refusal(() => module.exchange(input(invoke('ok', ['a']), bytes)));
      assert.equal(first?.code, code, `${name} in frame 1`);
      const second = refusal(() => module.exchange(input(bytes)));
      assert.equal(second?.code, code, `${name} in frame 2`);
    }
  });

  test(`${form}: every accepted vector passes through as a parameter`, () => {
    const module = defineModule({ back: { each: (_target, parameters) => parameters } });
    for (const { name, bytes, code } of vectors) {
      // Parameters stand one level deeper than the document does, data three.
      const value = bytes.toString('utf8').trim();
      const request = `{"version":1,"type":"invoke","id":"r","action":"back","targets":["a"],"parameters":${value}}`;
      if (code !== null || refusal(() => decode(Buffer.from(`{"a":{"a":{"a":${value}}}}`), 'x'))) {
        continue;
      }
      const [, result] = payloads(module.exchange(input(request)));
      decode(Buffer.from(result ?? ''), 'result');
      const { data } = JSON.parse(result ?? '').results[0];
      assert.deepEqual(data, JSON.parse(value), name);
    }
  });
}

// P1-SDK-07: a real process, empty standard output and one line.
test('a process refuses the first vector of every code', async () => {
  /** @type {typeof vectors} */
  const refused = [];
  for (const vector of vectors) {
    if (vector.code === null || vector.bytes.length === 0) continue;
    if (!refused.some(({ code }) => code === vector.code)) refused.push(vector);
  }
  assert.equal(refused.length, 18);
  await forEachAFew(refused, async ({ name, bytes, code }) => {
    const ended = await run(FAULTY, input(bytes));
    assert.equal(ended.status, 1, name);
    assert.equal(ended.stdout.length, 0, name);
    assert(
      ended.stderr.startsWith(`modberth: ${code}: frame 2, byte `),
      `${name}: ${ended.stderr}`,
    );
    assert(ended.stderr.length <= 2_048 && ended.stderr.indexOf('\n') === ended.stderr.length - 1);
  });
});

// P1-HOST-21
test('100,000 levels are refused like 13, in names and values, closed or not', () => {
  for (const open of ['[', '{"a":', '[[', '[{"":']) {
    const bytes = Buffer.from(`{"a":${open.repeat(100_000)}`);
    assert.throws(() => decode(bytes, 'x'), { code: 'json.depth' });
  }
});

test('the offset of bad UTF-8 is that of the first bad byte, wherever it stands', () => {
  for (const before of [0, 1, 7, 100, 4_095, 70_001]) {
    for (const good of ['a', 'é', '日', '😀']) {
      for (const bad of [[0xff], [0x80], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]]) {
        const head = Buffer.from(`{"${good.repeat(before)}`);
        const bytes = Buffer.concat([head, Buffer.from(bad), Buffer.from('"'.repeat(before))]);
        assert.throws(() => decode(bytes, 'x'), {
          name: 'ModberthError',
          code: 'json.utf8',
          message: `x, byte ${head.length}: this is not UTF-8`,
        });
      }
    }
  }
});

// What the scanner calls a fault of JSON itself is one for the platform's parser too, and what it lets
// pass that parser reads.
test('the scanner and JSON.parse agree on 40,000 damaged documents', () => {
  const grammar = ['syntax', 'number', 'escape', 'control', 'truncated', 'trailing'];
  const parts = [
    '"',
    '\\',
    '\\u00',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '-',
    '0',
    '1e',
    '.',
    ' ',
    'true',
    '\u0000',
  ];
  for (const bytes of damaged(1, 40_000, parts)) {
    const text = bytes.toString('utf8');
    const found = refusal(() => scan(bytes, 'x'));
    if (found === null || !grammar.some((code) => found.code === `json.${code}`)) continue;
    assert.throws(() => JSON.parse(text), SyntaxError, `${found.code}: ${JSON.stringify(text)}`);
  }
});
