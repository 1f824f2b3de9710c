import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forms } from './support/forms.mjs';
import { frame, HELLO, input, invoke, results } from './support/frames.mjs';

const GOOD = { version: 1, type: 'invoke', id: 'r', action: 'ok', targets: ['a'], parameters: {} };

/** @param {object} change */
const changed = (change) => JSON.stringify({ ...GOOD, ...change });

/** @param {string} literal */
const version = (literal) => JSON.stringify(GOOD).replace('"version":1', `"version":${literal}`);

/** @param {keyof typeof GOOD} name */
const without = (name) => {
  const { [name]: _, ...rest } = GOOD;
  return JSON.stringify(rest);
};

// A frame at a time: bytes, the code, and what the message names.
/** @type {[string, Uint8Array, string, RegExp][]} */
const framing = [
  // P1-FRAME-05, P1-SDK-01
  ['no input', Buffer.alloc(0), 'frame.missing', /^frame 1: .* 0 of 2 frames/],
  ['one header byte', Buffer.from([0]), 'frame.truncated', /^frame 1: .* 1 of 4 header bytes/],
  [
    'half a payload',
    frame(HELLO).subarray(0, 10),
    'frame.truncated',
    /^frame 1: .* 6 of 41 payload/,
  ],
  ['one frame', frame(HELLO), 'frame.missing', /^frame 2: .* 1 of 2 frames/],
  [
    'half a second header',
    Buffer.concat([frame(HELLO), Buffer.from([0, 0])]),
    'frame.truncated',
    /^frame 2: .* 2 of 4 header bytes/,
  ],
  [
    'half a second payload',
    input(invoke('ok', ['a'])).subarray(0, -1),
    'frame.truncated',
    /^frame 2: .* \d+ of \d+ payload bytes/,
  ],
  // P1-FRAME-03
  ['length 0', Buffer.from([0, 0, 0, 0]), 'frame.empty', /^frame 1: .* 0 bytes/],
  ['length 0 second', Buffer.concat([frame(HELLO), Buffer.alloc(4)]), 'frame.empty', /^frame 2:/],
  // P1-FRAME-02: the four bytes are enough.
  [
    'one byte too long',
    Buffer.from([0x00, 0x10, 0x00, 0x01]),
    'frame.too_large',
    /^frame 1: .* 1048577 bytes, the limit is 1048576/,
  ],
  [
    'the longest length',
    Buffer.concat([frame(HELLO), Buffer.from([0xff, 0xff, 0xff, 0xff])]),
    'frame.too_large',
    /^frame 2: .* 4294967295 bytes/,
  ],
  // P1-SDK-01
  [
    'a byte after the end',
    Buffer.concat([input(invoke('ok', ['a'])), Buffer.from('\n')]),
    'frame.extra',
    /byte \d+/,
  ],
  [
    'a third frame',
    Buffer.concat([input(invoke('ok', ['a'])), frame('{}')]),
    'frame.extra',
    /byte \d+/,
  ],
];

// P1-SDK-01, P1-HOST-03: the hello.
/** @type {[string, string, RegExp][]} */
const hellos = [
  ['{"version":2,"type":"hello","host_api":1}', 'request.version', /^frame 1: .* it is 2/],
  ['{"version":true,"type":"hello","host_api":1}', 'request.version', /it is true/],
  ['{"version":1.0,"type":"hello","host_api":1}', 'request.version', /it is 1\.0/],
  ['{"version":"1","type":"hello","host_api":1}', 'request.version', /it is "1"/],
  ['{"version":null,"type":"hello","host_api":1}', 'request.version', /it is null/],
  ['{"version":1,"type":"hello","host_api":2}', 'request.host_api', /^frame 1: .* it is 2/],
  ['{"version":1,"type":"hello","host_api":true}', 'request.host_api', /it is true/],
  ['{"version":1,"type":"hello","host_api":1e0}', 'request.host_api', /it is 1e0/],
  ['{"version":2,"type":"hello","host_api":2}', 'request.version', /./],
  ['{"version":1,"type":"hello"}', 'request.message', /lacks the field host_api/],
  ['{"type":"hello","host_api":1}', 'request.message', /lacks the field version/],
  ['{"version":1,"type":"hello","host_api":1,"x":0}', 'request.message', /no field "x"/],
  ['{"version":1,"type":"hi","host_api":1}', 'request.message', /type must be "hello"/],
  ['{"version":1,"type":null,"host_api":1}', 'request.message', /it is null/],
  ['{"__proto__":1,"version":1,"type":"hello","host_api":1}', 'request.message', /"__proto__"/],
  ['[]', 'json.not_object', /^frame 1, byte 0/],
];

const astral = '😀';

// P1-SDK-01, P1-SDK-02: the invoke.
/** @type {[string, string, RegExp][]} */
const invokes = [
  [version('2'), 'request.version', /^frame 2: .* it is 2/],
  [version('true'), 'request.version', /it is true/],
  [version('1.0'), 'request.version', /it is 1\.0/],
  [version('"1"'), 'request.version', /it is "1"/],
  [without('version'), 'request.message', /lacks the field version/],
  [without('id'), 'request.message', /lacks the field id/],
  [without('action'), 'request.message', /lacks the field action/],
  [without('targets'), 'request.message', /lacks the field targets/],
  [without('parameters'), 'request.message', /lacks the field parameters/],
  [changed({ extra: 1 }), 'request.message', /no field "extra"/],
  [changed({ type: 'hello' }), 'request.message', /type must be "invoke"/],
  [changed({ id: '' }), 'request.id', /0 code points/],
  [changed({ id: 'x'.repeat(129) }), 'request.id', /129 code points/],
  [changed({ id: 7 }), 'request.id', /the number 7/],
  [changed({ action: 'Echo' }), 'request.message', /action must be an identifier, it is "Echo"/],
  [changed({ action: 'a'.repeat(97) }), 'request.message', /97 code points/],
  [changed({ action: null }), 'request.message', /action .* null/],
  [changed({ targets: 'a' }), 'request.message', /targets must be an array/],
  [
    changed({ targets: { 0: 'a' } }),
    'request.message',
    /targets must be an array, it is an object/,
  ],
  [changed({ targets: [] }), 'request.target_count', /1 to 64 targets, this one has 0/],
  [
    changed({ targets: Array.from({ length: 65 }, (_, i) => `t${i}`) }),
    'request.target_count',
    /1 to 64 targets, this one has 65/,
  ],
  [changed({ targets: ['a', 1] }), 'request.target_type', /targets\[1\]: .* the number 1/],
  [changed({ targets: [['a']] }), 'request.target_type', /targets\[0\]: .* an array/],
  [changed({ targets: [null] }), 'request.target_type', /targets\[0\]: .* null/],
  [changed({ targets: [''] }), 'request.target_length', /targets\[0\]: .* 0 code points/],
  [
    changed({ targets: [astral.repeat(129)] }),
    'request.target_length',
    /targets\[0\]: .* 129 code points, the limits are 1 and 128/,
  ],
  [changed({ targets: ['a/b'] }), 'request.target_character', /targets\[0\]: the id "a\/b"/],
  [changed({ targets: ['a\\b'] }), 'request.target_character', /targets\[0\]: the id "a\\\\b"/],
  [changed({ targets: ['a:b'] }), 'request.target_character', /targets\[0\]: the id "a:b"/],
  [changed({ targets: ['a\0b'] }), 'json.nul', /^frame 2, byte \d+/],
  [changed({ targets: ['a', 'b', 'a'] }), 'request.target_duplicate', /targets\[2\]: the id "a"/],
  [changed({ targets: ['a', 'b', 'a', 5] }), 'request.target_duplicate', /targets\[2\]/],
  [changed({ parameters: [] }), 'request.parameters_type', /must be an object, it is an array/],
  [changed({ parameters: null }), 'request.parameters_type', /it is null/],
  [changed({ parameters: 'x' }), 'request.parameters_type', /it is "x"/],
  ['[]', 'json.not_object', /^frame 2, byte 0/],
];

for (const [form, { defineModule, serve }] of Object.entries(forms)) {
  const module = defineModule({
    ok: { each: (target) => target.index },
    echo: { each: (target, { message }) => ({ message: message ?? null, index: target.index }) },
  });

  for (const [name, bytes, code, message] of framing) {
    test(`${form}: ${name} is refused`, () => {
      assert.throws(() => module.exchange(bytes), { name: 'ModberthError', code, message });
    });
  }

  test(`${form}: every wrong hello is refused`, () => {
    for (const [hello, code, message] of hellos) {
      const bytes = input(invoke('ok', ['a']), hello);
      assert.throws(() => module.exchange(bytes), { code, message }, hello);
    }
  });

  test(`${form}: every wrong invoke is refused`, () => {
    for (const [request, code, message] of invokes) {
      assert.throws(() => module.exchange(input(request)), { code, message }, request);
    }
  });

  // P1-FRAME-02, P1-FRAME-04
  test(`${form}: a frame of exactly 1,048,576 bytes is read`, () => {
    const request = invoke('ok', ['a']);
    const padded = request + ' '.repeat(1_048_576 - request.length);
    assert.deepEqual(results(module.exchange(input(padded))), [{ target: 'a', data: 0 }]);
  });

  // P1-HOST-14, P1-SDK-08
  test(`${form}: opaque ids of every kind pass unchanged`, () => {
    const ids = [
      '__proto__',
      'constructor',
      ' a ',
      '..',
      'b\nc',
      '\u00e9',
      'e\u0301',
      '0',
      '\u007f',
      '\ufeff',
      '"quoted"',
      'x'.repeat(128),
      'é'.repeat(128),
      '日'.repeat(128),
      astral.repeat(128),
    ];
    assert.deepEqual(
      results(module.exchange(input(invoke('ok', ids)))),
      ids.map((target, data) => ({ target, data })),
    );
  });

  // P1-SDK-04
  test(`${form}: the request id is copied exactly`, () => {
    for (const id of ['"', '\u0001', astral.repeat(128), '__proto__', ' ']) {
      const output = Buffer.from(module.exchange(input(changed({ id })))).toString('utf8');
      assert(output.includes(`"type":"result","id":${JSON.stringify(id)},"results":[`), id);
    }
  });

  // P1-SDK-10
  test(`${form}: an unknown action gives every target unsupported_action`, () => {
    const error = {
      code: 'unsupported_action',
      message: 'This module has no action "constructor".',
    };
    assert.deepEqual(results(module.exchange(input(invoke('constructor', ['a', '__proto__'])))), [
      { target: 'a', error },
      { target: '__proto__', error },
    ]);
  });

  test(`${form}: a wrong table of actions is refused`, () => {
    const each = () => null;
    const batch = () => [];
    for (const table of [
      undefined,
      null,
      7,
      'echo',
      [],
      each,
      new Map([['echo', { each }]]),
      { 'Bad Name': { each } },
      { ok: { each, batch } },
      { ok: {} },
      { ok: { each, note: 1 } },
      { ok: { each: 7 } },
      { ok: each },
      { ok: null },
    ]) {
      // @ts-expect-error none of these has the type of a table
      assert.throws(() => defineModule(table), { code: 'process.actions' });
    }
    // @ts-expect-error a handler is a function
    assert.throws(() => serve({}), { code: 'process.actions' });
  });
}
