// Each line after a "ts-expect-error" must fail to compile; the compiler reports one that does not.

import { codes, defineModule, serve, type Json, type Module } from '@modberth/sdk-ts';
import { FakeHost } from '@modberth/sdk-ts/testing';

interface Greet {
  parameters: { name: string; times?: number };
  data: { text: string; index: number };
}
interface Count {
  parameters: object;
  data: number;
}
// An interface as well as a type maps the actions.
interface Actions {
  greet: Greet;
  count: Count;
}

export const greeter = defineModule<Actions>({
  greet: {
    each: (target, { name, times = 1 }) => ({ text: name.repeat(times), index: target.index }),
  },
  count: {
    batch: ({ targets }) =>
      targets.map((target) =>
        target.index === 0 ? target.error('first', 'no') : target.data(target.index),
      ),
  },
});
greeter satisfies Module<Actions>;
greeter.run() satisfies void;

const count = { each: () => 0 };

defineModule<Actions>({
  count,
  // @ts-expect-error the data of greet is an object with text and index
  greet: { each: (target) => ({ text: target.id }) },
});
defineModule<Actions>({
  count,
  // @ts-expect-error index is a number
  greet: { each: (target) => ({ text: target.id, index: 'none' }) },
});
defineModule<Actions>({
  count,
  // @ts-expect-error greet has no parameter message
  greet: { each: (target, { message }) => ({ text: message, index: target.index }) },
});
defineModule<Actions>({
  count,
  // @ts-expect-error name is text
  greet: { each: (target, { name }) => ({ text: name.toFixed(), index: target.index }) },
});
defineModule<Actions>({
  count,
  greet: {
    each(target, parameters) {
      // @ts-expect-error parameters are shared by every target, so they are read-only
      parameters.name = 'x';
      return { text: parameters.name, index: target.index };
    },
  },
});
defineModule<Actions>({
  count,
  // @ts-expect-error handlers are synchronous
  greet: { each: async (target) => ({ text: '', index: target.index }) },
});
defineModule<Actions>({
  count,
  // @ts-expect-error the data of a whole batch is typed too
  greet: { batch: ({ targets }) => targets.map((target) => target.data(target.index)) },
});
defineModule<Actions>({
  count,
  // @ts-expect-error a result has data or error
  greet: { batch: ({ targets }) => targets.map((target) => ({ target: target.id })) },
});
defineModule<Actions>({
  // @ts-expect-error both forms
  count: { each: () => 0, batch: () => [] },
  greet: { each: (target, { name }) => ({ text: name, index: target.index }) },
});
// @ts-expect-error an action is missing
defineModule<Actions>({ count });
// @ts-expect-error an action too many
defineModule<{ count: Count }>({ count, other: count });
// @ts-expect-error a shape has parameters and data
defineModule<{ count: { data: number } }>({ count });

// What JSON cannot carry is refused even where the author declares it.
interface Gives<Data> {
  parameters: { value: Json };
  data: Data;
}
// @ts-expect-error a Date is no JSON
defineModule<{ go: Gives<{ at: Date }> }>({ go: { each: () => ({ at: new Date() }) } });
// @ts-expect-error undefined is no JSON
defineModule<{ go: Gives<undefined> }>({ go: { each: () => undefined } });
// @ts-expect-error a bigint is no JSON
defineModule<{ go: Gives<bigint> }>({ go: { each: () => 1n } });
// @ts-expect-error a Map is no JSON
defineModule<{ go: Gives<Map<string, 1>> }>({ go: { each: () => new Map() } });
defineModule<{ go: Gives<Json> }>({ go: { each: (_target, { value }) => value } });

serve<{ name: string }, string>(({ targets, parameters }) =>
  targets.map((target) => ({ target, data: parameters.name })),
);
// @ts-expect-error the data is text
serve<{ name: string }, string>(({ targets }) => targets.map((target) => ({ target, data: 1 })));

const host = new FakeHost(greeter);
const row = host.invoke('greet', { targets: ['a'], parameters: { name: 'x' } }).get('a');
export const text: string | undefined = row && 'data' in row ? row.data.text : undefined;
// @ts-expect-error the data has no such member
export const wrong = row && 'data' in row ? row.data.message : undefined;
// @ts-expect-error there is no such action
host.invoke('other', { targets: ['a'], parameters: {} });
// @ts-expect-error name is due
host.invoke('greet', { targets: ['a'], parameters: {} });
// @ts-expect-error name is text
host.invoke('greet', { targets: ['a'], parameters: { name: 1 } });

// @ts-expect-error there is no such code
export const missing = codes.NOT_A_CODE;
export const code: 'frame.empty' = codes.FRAME_EMPTY;
