import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forms } from './support/forms.mjs';
import { input, invoke, payloads, results } from './support/frames.mjs';

const TARGETS = ['a', 'b', 'c'];

/** The right results with `first` in place of the first. */
const but = (/** @type {unknown[]} */ ...first) => [
  ...first,
  { target: 'b', data: 1 },
  { target: 'c', data: 2 },
];

const longest = 'é'.repeat(1_024);

// What a batch handler returns, the code, and what the message names (P1-SDK-05, P1-HOST-09 to -11).
/** @type {[string, unknown, string, RegExp][]} */
const wrong = [
  ['null', null, 'output.results_type', /returned null/],
  ['an object', {}, 'output.results_type', /returned an object/],
  ['a string', 'x', 'output.results_type', /returned a string/],
  [
    'a Promise',
    Promise.reject(new Error('late')),
    'output.results_type',
    /handlers are synchronous/,
  ],
  ['a row that is data', but(1), 'output.results_type', /target\.data\(value\) makes one$/],
  ['a row that is null', but(null), 'output.results_type', /^results\[0\]: .* null/],
  ['a row that is an array', but([]), 'output.results_type', /^results\[0\]: .* an array/],
  ['a row of a class', but(new Map()), 'output.results_type', /an instance of Map/],
  ['a hole', but(...new Array(1)), 'output.results_type', /^results\[0\]: .* undefined/],
  [
    'no target',
    but({ data: 0 }),
    'output.result_fields',
    /^results\[0\]: .* target must be a string/,
  ],
  ['a number as target', but({ target: 1, data: 0 }), 'output.result_fields', /the number 1/],
  [
    'another field',
    but({ target: 'a', data: 0, x: 1 }),
    'output.result_fields',
    /target "a": .* "x"/,
  ],
  ['an unknown target', but({ target: 'A', data: 0 }), 'output.target_unknown', /target "A"/],
  ['a prototype name', but({ target: '__proto__', data: 0 }), 'output.target_unknown', /__proto__/],
  [
    'a target twice',
    but({ target: 'b', data: 0 }),
    'output.target_duplicate',
    /^results\[1\], target "b"/,
  ],
  ['both', but({ target: 'a', data: 0, error: 0 }), 'output.outcome_both', /target "a": .* both/],
  ['neither', but({ target: 'a' }), 'output.outcome_missing', /target "a": .* neither/],
  [
    'a missing target',
    but(),
    'output.target_missing',
    /target "a" has no result \(1 of 3 missing\)/,
  ],
  ['no results', [], 'output.target_missing', /target "a" .*3 of 3/],
  ['an error that is text', but({ target: 'a', error: 'x' }), 'output.error_fields', /a string/],
  [
    'an error without code',
    but({ target: 'a', error: { message: '' } }),
    'output.error_fields',
    /"message"/,
  ],
  [
    'an error with another field',
    but({ target: 'a', error: { code: 'x', message: '', more: 1 } }),
    'output.error_fields',
    /"code, message, more"/,
  ],
  [
    'a numeric code',
    but({ target: 'a', error: { code: 1, message: '' } }),
    'output.error_fields',
    /number 1/,
  ],
  [
    'a numeric message',
    but({ target: 'a', error: { code: 'x', message: 1 } }),
    'output.error_fields',
    /number/,
  ],
  [
    'a bad code',
    but({ target: 'a', error: { code: 'Not Found', message: '' } }),
    'output.error_code',
    /"Not Found"/,
  ],
  [
    'an empty code',
    but({ target: 'a', error: { code: '', message: '' } }),
    'output.error_code',
    /""/,
  ],
  [
    'a code with a newline',
    but({ target: 'a', error: { code: 'x\n', message: '' } }),
    'output.error_code',
    /x/,
  ],
  [
    'a long code',
    but({ target: 'a', error: { code: 'x'.repeat(97), message: '' } }),
    'output.error_code',
    /x/,
  ],
  [
    'a long message',
    but({ target: 'a', error: { code: 'x', message: `${longest}é` } }),
    'output.error_message',
    /target "a": .* 1025 code points, the limit is 1024/,
  ],
  [
    'NUL in a message',
    but({ target: 'a', error: { code: 'x', message: '\0' } }),
    'json.nul',
    /target "a"/,
  ],
];

const cycle = /** @type {unknown[]} */ ([]);
cycle.push(cycle);
const shared = Array.from({ length: 7 }).reduce(
  (/** @type {unknown} */ part) => Array(256).fill(part),
  0,
);

/** @param {number} levels */
const nested = (levels) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

// What an each-handler returns for its second target, the code, and what the message names.
/** @type {[string, () => unknown, string, RegExp][]} */
const values = [
  // P1-HOST-19, P1-HOST-20
  ['NaN', () => NaN, 'json.nonfinite', /target "b": data: .* NaN/],
  ['Infinity', () => ({ x: [Infinity] }), 'json.nonfinite', /data\.x\[0\]: .* Infinity/],
  ['2^53', () => 2 ** 53, 'json.integer_range', /9007199254740992 .* 9007199254740991/],
  ['-2^53', () => [-(2 ** 53)], 'json.integer_range', /data\[0\]/],
  ['1e20', () => 1e20, 'json.integer_range', /100000000000000000000/],
  ['1e300', () => 1e300, 'json.integer_range', /1e\+300/],
  // P1-HOST-18, P1-HOST-22
  ['a lone high surrogate', () => 'x\ud800', 'json.surrogate', /target "b"/],
  ['a lone low surrogate in a name', () => ({ '\udc00': 1 }), 'json.surrogate', /target "b"/],
  ['NUL behind a lone surrogate', () => '\ud800\0', 'json.nul', /target "b"/],
  [
    'a getter that throws',
    () => ({
      get load() {
        throw new Error('not ready');
      },
    }),
    'output.value',
    /target "b": data\.load: .*not ready/,
  ],
  ['NUL', () => 'a\0b', 'json.nul', /target "b"/],
  ['NUL in a name', () => ({ 'a\0': 1 }), 'json.nul', /target "b"/],
  // P1-HOST-21, P1-HOST-35
  ['11 levels', () => nested(11), 'json.depth', /depth 13 of the frame, the limit is 12/],
  ['10,000 levels', () => nested(5_000), 'json.depth', /depth 13/],
  ['a cycle', () => cycle, 'json.depth', /depth 13/],
  ['257 items', () => Array(257).fill(0), 'json.entries', /257 entries, the limit is 256/],
  [
    '257 members',
    () => Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, 0])),
    'json.entries',
    /257 entries/,
  ],
  [
    'a long name',
    () => ({ ['x'.repeat(241)]: 0 }),
    'json.name_length',
    /241 code points, the limit is 240/,
  ],
  ['a long string', () => 'x'.repeat(65_537), 'json.string_length', /65537 code points, .* 65536/],
  [
    'a reserved name',
    () => ({ '$serde_json::private::Number': '1' }),
    'json.reserved_key',
    /serde_json/,
  ],
  // P1-SDK-05: what JSON.stringify would change in silence
  ['undefined', () => undefined, 'output.value', /JSON cannot carry undefined/],
  ['a member that is undefined', () => ({ x: undefined }), 'output.value', /data\.x: .* undefined/],
  ['a function', () => ({ 'a b': () => 0 }), 'output.value', /data\["a b"\]: .* a function/],
  ['a BigInt', () => 1n, 'output.value', /a bigint/],
  ['a symbol', () => Symbol('x'), 'output.value', /a symbol/],
  ['a symbol as name', () => ({ [Symbol('x')]: 1 }), 'output.value', /name is a symbol/],
  ['a Map', () => new Map(), 'output.value', /an instance of Map/],
  ['a Date', () => new Date(0), 'output.value', /an instance of Date/],
  ['bytes', () => Buffer.from('x'), 'output.value', /an instance of Buffer/],
  ['toJSON', () => ({ toJSON: () => 1 }), 'output.value', /data\.toJSON: .* a function/],
  ['a boxed string', () => Object('x'), 'output.value', /an instance of String/],
  ['a hole', () => Array(1), 'output.value', /data\[0\]: .* undefined/],
  [
    'a Promise',
    () => Promise.reject(new Error('late')),
    'output.value',
    /handlers are synchronous/,
  ],
  [
    'a getter that throws',
    () => ({
      get x() {
        throw new Error('on purpose');
      },
    }),
    'output.value',
    /on purpose/,
  ],
  // P1-FRAME-02
  [
    'too much',
    () => Array(64).fill('x'.repeat(60_000)),
    'frame.too_large',
    /target "b": .* 1048576/,
  ],
  ['one part over and over', () => shared, 'frame.too_large', /target "b"/],
];

for (const [form, { defineModule, TargetError }] of Object.entries(forms)) {
  for (const [name, returned, code, message] of wrong) {
    test(`${form}: results with ${name} are refused`, () => {
      // @ts-expect-error what handlers return is wrong on purpose
      const module = defineModule({ go: { batch: () => returned } });
      const bytes = input(invoke('go', TARGETS));
      assert.throws(() => module.exchange(bytes), { name: 'ModberthError', code, message });
    });
  }

  for (const [name, make, code, message] of values) {
    test(`${form}: data with ${name} is refused`, () => {
      const module = defineModule({
        // @ts-expect-error what handlers return is wrong on purpose
        go: { each: (target) => (target.index === 1 ? make() : target.index) },
      });
      const bytes = input(invoke('go', TARGETS));
      assert.throws(() => module.exchange(bytes), { name: 'ModberthError', code, message });
    });
  }

  test(`${form}: the bounds themselves pass`, () => {
    const data = [
      nested(10),
      Array(256).fill(0),
      { ['😀'.repeat(240)]: '😀'.repeat(65_536) },
      [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 5e-324, 0.1 + 0.2, 1e-7, -0, 1e15],
      JSON.parse('{"__proto__":{"x":1},"constructor":2,"a":1,"A":2,"":3}'),
      Object.assign(Object.create(null), { bare: true }),
      'quotes " \\ \u0001\u001f\u007f\u2028\ufeff',
    ];
    const module = defineModule({
      go: {
        batch: ({ targets }) => targets.map((target) => target.data(data[target.index] ?? null)),
      },
      fail: {
        batch: ({ targets }) => targets.map((target) => target.error('x'.repeat(96), longest)),
      },
    });
    const ids = data.map((_, index) => String(index));
    const [, result] = payloads(module.exchange(input(invoke('go', ids))));
    // A strict comparison would tell the object without prototype from its copy.
    data[5] = { bare: true };
    assert.deepEqual(
      JSON.parse(result ?? '').results,
      data.map((value, index) => ({ target: String(index), data: value })),
    );
    assert.deepEqual(results(module.exchange(input(invoke('fail', ['a'])))), [
      { target: 'a', error: { code: 'x'.repeat(96), message: longest } },
    ]);
  });

  // P1-FRAME-02, P1-FRAME-04: bytes count, not characters.
  test(`${form}: a result frame of exactly 1,048,576 bytes passes, one more does not`, () => {
    const text = 'é'.repeat(32_500);
    const targets = Array.from({ length: 17 }, (_, index) => `t${index}`);
    let extra = '';
    const module = defineModule({
      go: { each: ({ index }) => (index === 16 ? extra : text) },
    });
    const size = () =>
      Buffer.byteLength(payloads(module.exchange(input(invoke('go', targets))))[1] ?? '');
    extra = 'x'.repeat(1_048_576 - size());
    assert(extra.length < 65_536);
    assert.equal(size(), 1_048_576);
    extra += 'x';
    assert.throws(size, {
      code: 'frame.too_large',
      message: /^results\[16\], target "t16": .* 1048576/,
    });
  });

  // P1-SDK-07: whatever an each-handler throws costs its own target only.
  test(`${form}: what is thrown need not be readable`, () => {
    const refuse = () => {
      throw new Error('no access');
    };
    const thrown = [
      undefined,
      null,
      'text',
      Symbol('s'),
      Object.create(null),
      new Proxy({}, { get: refuse, getPrototypeOf: refuse }),
      Object.defineProperty(new TargetError('a', 'b'), 'code', { get: refuse }),
      Object.defineProperty(new Error('b'), 'stack', { get: refuse }),
    ];
    const module = defineModule({
      go: {
        each({ index }) {
          throw thrown[index];
        },
      },
    });
    const ids = thrown.map((_, index) => String(index));
    for (const row of results(module.exchange(input(invoke('go', ids))))) {
      assert.equal(row.error?.code, 'internal', row.target);
    }
  });

  // P1-HOST-12: order is free.
  test(`${form}: results may stand in any order`, () => {
    const module = defineModule({
      go: { batch: ({ targets }) => targets.map((target) => target.data(target.index)).reverse() },
    });
    assert.deepEqual(
      results(module.exchange(input(invoke('go', TARGETS)))).map(
        (/** @type {any} */ row) => row.data,
      ),
      [2, 1, 0],
    );
  });

  test(`${form}: a number beyond the exact integers that came in goes out with an exponent`, () => {
    const module = defineModule({ go: { each: (_target, { value }) => [value ?? null] } });
    for (const [literal, written] of [
      ['1e20', '1e+20'],
      ['-9007199254740993.0', '-9.007199254740992e+15'],
      ['1.7976931348623157e308', '1.7976931348623157e+308'],
      ['9007199254740991.0', '9007199254740991'],
      ['-0', '-0'],
      ['1.0', '1'],
    ]) {
      const request = invoke('go', ['a'], { value: 7 }).replace('7', literal ?? '');
      const [, result] = payloads(module.exchange(input(request)));
      assert.match(
        result ?? '',
        new RegExp(`"data":\\[${written?.replaceAll('+', '\\+')}\\]`),
        literal,
      );
    }
  });

  // P1-SDK-07
  test(`${form}: a batch handler that throws leaves no result`, (context) => {
    const module = defineModule({
      go: {
        batch() {
          throw new RangeError('on purpose');
        },
      },
      nothing: {
        batch() {
          throw null;
        },
      },
    });
    context.diagnostic('the traces on standard error belong to this test');
    assert.throws(() => module.exchange(input(invoke('go', TARGETS))), {
      code: 'output.handler_failed',
      message: 'the handler of action "go" failed: RangeError: on purpose',
    });
    assert.throws(() => module.exchange(input(invoke('nothing', TARGETS))), {
      code: 'output.handler_failed',
      message: 'the handler of action "nothing" failed: null',
    });
  });

  // P1-SDK-07
  test(`${form}: an each-handler that throws costs only its target`, () => {
    const module = defineModule({
      go: {
        each(target) {
          if (target.id === 'a') throw new TargetError('not_found', 'No such host.');
          if (target.id === 'b') throw new Error('on purpose');
          return target.index;
        },
      },
    });
    assert.deepEqual(results(module.exchange(input(invoke('go', TARGETS)))), [
      { target: 'a', error: { code: 'not_found', message: 'No such host.' } },
      { target: 'b', error: { code: 'internal', message: 'The module failed on this target.' } },
      { target: 'c', data: 2 },
    ]);
  });

  test(`${form}: a bad TargetError is a refusal, and one of another copy of the SDK counts`, () => {
    const module = defineModule({
      code: {
        each() {
          throw new TargetError('Not Found', 'x');
        },
      },
      message: {
        each() {
          throw new TargetError('x', `${longest}é`);
        },
      },
      other: {
        each() {
          throw new forms['package, ESM'].TargetError('not_found', 'x');
        },
      },
    });
    const call = (/** @type {string} */ action) => module.exchange(input(invoke(action, TARGETS)));
    assert.throws(() => call('code'), {
      code: 'output.error_code',
      message: /target "a": .* "Not Found"/,
    });
    assert.throws(() => call('message'), { code: 'output.error_message', message: /target "a"/ });
    assert.deepEqual(results(call('other'))[0], {
      target: 'a',
      error: { code: 'not_found', message: 'x' },
    });
  });

  test(`${form}: handlers are called as methods, and see the request`, () => {
    const go = {
      /** @param {import('../dist/esm/index.js').Batch} batch */
      batch({ id, action, targets, parameters }) {
        return targets.map((target) => target.data([id, action, parameters, this === go]));
      },
    };
    const module = defineModule({ go });
    assert.deepEqual(results(module.exchange(input(invoke('go', ['a'], { x: 1 })))), [
      { target: 'a', data: ['r', 'go', { x: 1 }, true] },
    ]);
  });

  test(`${form}: a handler that changes the request changes nothing of the answer`, () => {
    const module = defineModule({
      go: {
        batch(batch) {
          const rows = batch.targets.map((target) => target.data(0));
          Object.assign(batch, { id: 'other', targets: [] });
          return rows;
        },
      },
    });
    assert.equal(results(module.exchange(input(invoke('go', TARGETS)))).length, 3);
  });
}
