import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHost as FakeHostEsm } from '../dist/esm/testing.js';
import testingCjs from '../dist/cjs/testing.js';
import { forms } from './support/forms.mjs';
import { frame, MODULE_HELLO } from './support/frames.mjs';

const hosts = { ESM: FakeHostEsm, CommonJS: testingCjs.FakeHost };

for (const [kind, FakeHost] of Object.entries(hosts)) {
  // A module carries its own copy of the SDK; the host of a test need not be of the same.
  for (const [form, { defineModule, TargetError }] of Object.entries(forms)) {
    test(`FakeHost, ${kind}, runs a module of the ${form}`, () => {
      const module = defineModule({
        echo: {
          each(target, { message }) {
            if (target.id === 'gone') throw new TargetError('not_found', 'No such host.');
            return { message: message ?? null, index: target.index };
          },
        },
        reversed: {
          batch: ({ targets }) => targets.map((target) => target.data(target.index)).reverse(),
        },
        short: { batch: () => [] },
      });
      const host = new FakeHost(module);
      const results = host.invoke('echo', {
        targets: ['__proto__', 'gone'],
        parameters: { message: 'Hi' },
      });
      assert.deepEqual(
        [...results],
        [
          ['__proto__', { target: '__proto__', data: { message: 'Hi', index: 0 } }],
          ['gone', { target: 'gone', error: { code: 'not_found', message: 'No such host.' } }],
        ],
      );
      // P1-HOST-12
      assert.deepEqual([...host.invoke('reversed', { targets: ['a', 'b'] }).keys()], ['a', 'b']);
      assert.throws(() => host.invoke('short', { targets: ['a'] }), {
        code: 'output.target_missing',
      });
      // P1-SDK-10
      const unknown = host.invoke('other', { targets: ['a'] }).get('a');
      assert(unknown !== undefined && 'error' in unknown);
      assert.equal(unknown.error.code, 'unsupported_action');
    });
  }

  test(`FakeHost, ${kind}, takes a handler as serve does`, () => {
    const host = new FakeHost(({ targets, action }) =>
      targets.map((target) => ({ target, data: action })),
    );
    assert.deepEqual(host.invoke('any', { targets: ['a'] }).get('a'), { target: 'a', data: 'any' });
  });

  // P1-HOST-13, P1-HOST-14, P1-HOST-33: what the host refuses never reaches the module.
  test(`FakeHost, ${kind}, refuses what the host refuses`, () => {
    const host = new FakeHost(() => assert.fail('the module was called'));
    const long = { text: Array(20).fill('x'.repeat(60_000)) };
    /** @type {[string, string[], object, string][]} */
    const cases = [
      ['Go', ['a'], {}, 'request.action'],
      ['go', [], {}, 'request.target_count'],
      ['go', Array.from({ length: 65 }, (_, index) => `t${index}`), {}, 'request.target_count'],
      ['go', ['a', 'a'], {}, 'request.target_duplicate'],
      ['go', ['a/b'], {}, 'request.target_character'],
      ['go', ['\0'], {}, 'request.target_character'],
      ['go', ['x'.repeat(129)], {}, 'request.target_length'],
      ['go', ['\ud800'], {}, 'json.surrogate'],
      ['go', ['a'], [], 'request.parameters_type'],
      ['go', ['a'], { x: NaN }, 'json.nonfinite'],
      ['go', ['a'], { x: '\0' }, 'json.nul'],
      ['go', ['a'], { x: undefined }, 'output.value'],
      ['go', ['a'], long, 'request.too_large'],
    ];
    for (const [action, targets, parameters, code] of cases) {
      // @ts-expect-error the parameters are wrong on purpose
      assert.throws(() => host.invoke(action, { targets, parameters }), { code }, code);
    }
  });

  // P1-HOST-07, P1-HOST-08, P1-HOST-34: a module that uses no SDK is judged by the same rules.
  test(`FakeHost, ${kind}, judges the frames of any module`, () => {
    const result = (/** @type {object} */ change) =>
      JSON.stringify({
        version: 1,
        type: 'result',
        id: '0123456789abcdef0123456789abcdef',
        results: [{ target: 'a', data: 1 }],
        ...change,
      });
    /** @type {[string[], string | null][]} */
    const cases = [
      [[MODULE_HELLO, result({})], null],
      [[MODULE_HELLO], 'frame.missing'],
      [[MODULE_HELLO, result({}), '{}'], 'frame.extra'],
      [['{"version":1,"type":"hello","protocol":2}', result({})], 'output.hello'],
      [[MODULE_HELLO, result({ version: 2 })], 'output.message'],
      [[MODULE_HELLO, result({ type: 'broker' })], 'output.message'],
      [[MODULE_HELLO, result({ extra: 1 })], 'output.message'],
      [[MODULE_HELLO, result({ id: 'x' })], 'output.id'],
      [[MODULE_HELLO, result({ results: [] })], 'output.target_missing'],
      [[MODULE_HELLO, result({}).replace('"data":1', '"data":1,"data":1')], 'json.duplicate_key'],
    ];
    for (const [payloads, code] of cases) {
      const host = new FakeHost({ exchange: () => Buffer.concat(payloads.map(frame)) });
      const call = () => host.invoke('go', { targets: ['a'] });
      if (code === null) assert.deepEqual(call().get('a'), { target: 'a', data: 1 });
      else assert.throws(call, { code }, String(payloads));
    }
  });

  test(`FakeHost, ${kind}, sends large numbers so that they arrive`, () => {
    const host = new FakeHost(({ targets, parameters }) =>
      targets.map((target) => ({ target, data: parameters['value'] ?? null })),
    );
    for (const value of [1e20, -(2 ** 53), 1.7976931348623157e308, -0]) {
      const [row] = host.invoke('go', { targets: ['a'], parameters: { value } }).values();
      assert.deepEqual(row, { target: 'a', data: value });
    }
  });
}
