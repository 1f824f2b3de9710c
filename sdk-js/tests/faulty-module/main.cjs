'use strict';

// A module whose actions are wrong on purpose, the same set in every language. Each is a handler of
// the whole batch, unless its name begins with "each-".

const { spawnSync } = require('node:child_process');
const { defineModule, TargetError } = require('../../dist/vendor/modberth-sdk.cjs');

/** The right results. */
const ok = (batch) => batch.targets.map((target) => target.data({ index: target.index }));

/** The right results, but for the first target. */
const firstIs = (make) => (batch) => {
  const [first] = batch.targets;
  return [make(first, batch), ...ok(batch).slice(1)];
};

const firstData = (value) => firstIs((target) => target.data(value));

const isBad = (target) => target.id.startsWith('bad');

const batchActions = {
  ok,
  reversed: (batch) => ok(batch).reverse(),
  raise() {
    throw new Error('raised on purpose');
  },
  missing: (batch) => ok(batch).slice(1),
  unknown: firstIs((target) => ({ ...target.data({ index: 0 }), target: 'stranger' })),
  duplicate(batch) {
    const [first] = ok(batch);
    return [first, first, ...ok(batch).slice(2)];
  },
  both: firstIs((target) => ({ ...target.data(0), ...target.error('failed', 'x') })),
  neither: firstIs((target) => ({ target: target.id })),
  'extra-field': firstIs((target) => ({ ...target.data(0), note: 'x' })),
  'bad-code': firstIs((target) => target.error('Not Found', 'x')),
  'long-message': firstIs((target) => target.error('failed', 'é'.repeat(1_025))),
  'message-1024': firstIs((target) => target.error('failed', 'é'.repeat(1_024))),
  nan: firstData(Number.NaN),
  infinity: firstData(Number.POSITIVE_INFINITY),
  'big-integer': firstData(2 ** 53),
  'big-integer-ok': firstData(2 ** 53 - 1),
  surrogate: firstData('\ud800'),
  'too-big': firstData(Array.from({ length: 64 }, () => 'x'.repeat(60_000))),
  'not-a-list': () => null,
  print(batch) {
    console.log('stray print');
    return ok(batch);
  },
  'child-print'(batch) {
    spawnSync('/bin/echo', ['stray child'], { stdio: 'inherit' });
    return ok(batch);
  },
  keys: firstData(JSON.parse('{"__proto__":{"x":1},"constructor":2,"a":1,"A":2}')),
  control: firstData('\u0001\u001f"\\\u2028'),
  // Whatever the parameter holds.
  rows: (batch) => batch.parameters.rows,
};

/** The right data, but for targets that are bad. */
const badIs = (value) => (target) => (isBad(target) ? value : { index: target.index });

/** Data of the kind, count and unit that the parameters say. */
function made(target, { kind, unit, count }) {
  const nulls = Array.from({ length: count }, () => null);
  switch (kind) {
    case 'text':
      return unit.repeat(count);
    case 'name':
      return { [unit.repeat(count)]: null };
    case 'members':
      return Object.fromEntries(nulls.map((value, index) => [index, value]));
    case 'levels':
      return nulls.slice(1).reduce((inner) => [inner], []);
    default:
      return nulls;
  }
}

const eachActions = {
  'each-raise'(target) {
    if (isBad(target)) throw new Error('raised on purpose');
    return { index: target.index };
  },
  'each-target-error'(target) {
    if (isBad(target)) throw new TargetError('not_found', 'no such target');
    return { index: target.index };
  },
  'each-bad-code'() {
    throw new TargetError('Not Found', 'x');
  },
  'each-long-message'(target) {
    if (isBad(target)) throw new TargetError('failed', 'é'.repeat(1_025));
    return { index: target.index };
  },
  'each-nan': badIs(Number.NaN),
  'each-infinity': badIs(Number.POSITIVE_INFINITY),
  'each-big-integer': badIs(2 ** 53),
  'each-surrogate': badIs('\ud800'),
  'each-too-big': badIs(Array.from({ length: 64 }, () => 'x'.repeat(60_000))),
  'number-echo': (target, parameters) => parameters.value,
  made,
};

const actions = {};
for (const [name, batch] of Object.entries(batchActions)) actions[name] = { batch };
for (const [name, each] of Object.entries(eachActions)) actions[name] = { each };

defineModule(actions).run();
