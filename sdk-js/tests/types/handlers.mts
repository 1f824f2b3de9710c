// Each line after a "ts-expect-error" must fail to compile; the compiler reports one that does not.

import { codes, defineModule, serve, type Json, type Target } from '../../dist/esm/index.js';
import { FakeHost } from '../../dist/esm/testing.js';

const module = defineModule({
  each: {
    each: (target, parameters) => ({ id: target.id, message: parameters['message'] ?? null }),
  },
  batch: { batch: (batch) => batch.targets.map((target) => target.error('failed', batch.id)) },
});
module.run() satisfies void;

// @ts-expect-error both forms
defineModule({ go: { each: () => null, batch: () => [] } });
// @ts-expect-error neither form
defineModule({ go: {} });
// @ts-expect-error undefined is no JSON
defineModule({ go: { each: () => undefined } });
// @ts-expect-error handlers are synchronous
defineModule({ go: { each: async () => null } });
// @ts-expect-error a Date is no JSON
defineModule({ go: { each: () => new Date() } });
// @ts-expect-error a result has data or error
defineModule({ go: { batch: () => [{ target: 'a' }] } });
// @ts-expect-error a handler of the whole batch returns a list
defineModule({ go: { batch: () => null } });
// @ts-expect-error a message is text
defineModule({ go: { batch: (batch) => batch.targets.map((target) => target.error('x', 1)) } });
// @ts-expect-error a bigint is no JSON
serve((request) => request.targets.map((target) => ({ target, data: 1n })));

// @ts-expect-error the id of a target is read-only
export const rename = (target: Target) => (target.id = 'other');
// @ts-expect-error there is no such code
export const missing = codes.NOT_A_CODE;
export const code: 'frame.empty' = codes.FRAME_EMPTY;

const host = new FakeHost(module);
// @ts-expect-error targets are due
host.invoke('each', { parameters: {} });
// @ts-expect-error parameters are JSON
host.invoke('each', { targets: ['a'], parameters: { when: new Date() } });
const row = host.invoke('each', { targets: ['a'] }).get('a');
export const data: Json | undefined = row !== undefined && 'data' in row ? row.data : undefined;
