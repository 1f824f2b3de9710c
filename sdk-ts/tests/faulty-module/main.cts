// A module whose actions are wrong on purpose, the same set in every language. Each is a handler of
// the whole batch, unless its name begins with "each-". What the types forbid goes through a cast.

import { spawnSync } from 'node:child_process';
import { type Batch, defineModule, type Json, type Target, TargetError } from '@modberth/sdk-ts';
import type { Action, TargetResult } from '@modberth/sdk-ts';

type Parameters = { value?: Json; rows?: Json; kind?: string; unit?: string; count?: number };
type Shape = { parameters: Parameters; data: Json };
type Rows = TargetResult<Json>[];
type Handler = (batch: Batch<Parameters, Json>) => Rows;

/** The right results. */
const ok: Handler = (batch) => batch.targets.map((target) => target.data({ index: target.index }));

/** The right results, but for the first target. */
const firstIs =
  (make: (target: Target<Json>) => unknown): Handler =>
  (batch) =>
    ok(batch).map((row, index) => {
      const target = batch.targets[index];
      return index === 0 && target !== undefined ? (make(target) as TargetResult<Json>) : row;
    });

const firstData = (value: Json): Handler => firstIs((target) => target.data(value));

const isBad = (target: Target<Json>): boolean => target.id.startsWith('bad');

const batchActions: Record<string, Handler> = {
  ok,
  reversed: (batch) => ok(batch).reverse(),
  raise() {
    throw new Error('raised on purpose');
  },
  missing: (batch) => ok(batch).slice(1),
  unknown: firstIs((target) => ({ ...target.data({ index: 0 }), target: 'stranger' })),
  duplicate: (batch) => {
    const rows = ok(batch);
    return [...rows.slice(0, 1), ...rows.slice(0, 1), ...rows.slice(2)];
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
  'not-a-list': () => null as unknown as Rows,
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
  rows: (batch) => batch.parameters.rows as unknown as Rows,
};

/** Data of the kind, count and unit that the parameters say. */
function made({ kind, unit = '', count = 0 }: Readonly<Parameters>): Json {
  const nulls = Array.from({ length: count }, () => null);
  switch (kind) {
    case 'text':
      return unit.repeat(count);
    case 'name':
      return { [unit.repeat(count)]: null };
    case 'members':
      return Object.fromEntries(nulls.map((value, index) => [index, value]));
    case 'levels':
      return nulls.slice(1).reduce<Json[]>((inner) => [inner], []);
    default:
      return nulls;
  }
}

/** The right data, but for targets that are bad. */
const badIs = (value: Json): Action<Parameters, Json> => ({
  each: (target) => (isBad(target) ? value : { index: target.index }),
});

const actions: Record<string, Action<Parameters, Json>> = {
  'each-raise': {
    each(target) {
      if (isBad(target)) throw new Error('raised on purpose');
      return { index: target.index };
    },
  },
  'each-target-error': {
    each(target) {
      if (isBad(target)) throw new TargetError('not_found', 'no such target');
      return { index: target.index };
    },
  },
  'each-bad-code': {
    each() {
      throw new TargetError('Not Found', 'x');
    },
  },
  'each-long-message': {
    each(target) {
      if (isBad(target)) throw new TargetError('failed', 'é'.repeat(1_025));
      return { index: target.index };
    },
  },
  'each-nan': badIs(Number.NaN),
  'each-infinity': badIs(Number.POSITIVE_INFINITY),
  'each-big-integer': badIs(2 ** 53),
  'each-surrogate': badIs('\ud800'),
  'each-too-big': badIs(Array.from({ length: 64 }, () => 'x'.repeat(60_000))),
  'number-echo': {
    each: (_target, parameters) => parameters.value ?? null,
  },
  made: {
    each: (_target, parameters) => made(parameters),
  },
};
for (const [name, batch] of Object.entries(batchActions)) actions[name] = { batch };

defineModule<Record<string, Shape>>(actions).run();
