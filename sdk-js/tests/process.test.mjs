import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { frame, HELLO, input, invoke, results } from './support/frames.mjs';
import { FAULTY, forEachAFew, run, runSource } from './support/processes.mjs';

const BATCH = ['a', 'b', 'c'];
const INDEXES = BATCH.map((target, index) => ({ target, data: { index } }));

/** A module with one action `go`, its handler given as source. */
const moduleOf = (/** @type {string} */ handler, before = '', after = '') => `
${before}
const { defineModule, serve, TargetError } = require(SDK);
defineModule({ go: { batch(batch) { ${handler}; return batch.targets.map((t) => t.data({ index: t.index })); } } }).run();
${after}`;

const GO = input(invoke('go', BATCH));

// What each wrong action of the faulty module says (P1-SDK-05, P1-SDK-07).
/** @type {[string, string, RegExp][]} */
const refusals = [
  ['raise', 'output.handler_failed', /raised on purpose/],
  ['missing', 'output.target_missing', /target "a"/],
  ['unknown', 'output.target_unknown', /target "stranger"/],
  ['duplicate', 'output.target_duplicate', /results\[1\], target "a"/],
  ['both', 'output.outcome_both', /results\[0\], target "a"/],
  ['neither', 'output.outcome_missing', /target "a"/],
  ['extra-field', 'output.result_fields', /target "a".* "note"/],
  ['bad-code', 'output.error_code', /target "a".* "Not Found"/],
  ['each-bad-code', 'output.error_code', /target "a".* "Not Found"/],
  ['long-message', 'output.error_message', /target "a".* 1025 .* 1024/],
  ['nan', 'json.nonfinite', /target "a": data: .* NaN/],
  ['infinity', 'json.nonfinite', /target "a".* Infinity/],
  ['big-integer', 'json.integer_range', /target "a".* 9007199254740992 .* 9007199254740991/],
  ['surrogate', 'json.surrogate', /target "a"/],
  ['too-big', 'frame.too_large', /target "a".* 1048576/],
  ['not-a-list', 'output.results_type', /null/],
];

test('every wrong result ends the process with one line and no output', async () => {
  await forEachAFew(refusals, async ([action, code, message]) => {
    const ended = await run(FAULTY, input(invoke(action, BATCH)));
    assert.equal(ended.status, 1, action);
    assert.equal(ended.stdout.length, 0, action);
    const lines = ended.stderr.trimEnd().split('\n');
    const last = lines.at(-1) ?? '';
    assert(last.startsWith(`modberth: ${code}: `), `${action}: ${last}`);
    assert.match(last, message);
    assert(Buffer.byteLength(last) < 2_048);
    // Only a handler that throws has a trace before the line.
    assert.equal(lines.length > 1, action === 'raise', action);
  });
});

test('every legal result arrives', async () => {
  const message = 'é'.repeat(1_024);
  const first = (/** @type {object} */ row) => [{ target: 'a', ...row }, ...INDEXES.slice(1)];
  /** @type {[string, unknown][]} */
  const legal = [
    ['ok', INDEXES],
    ['reversed', INDEXES.toReversed()],
    ['message-1024', first({ error: { code: 'failed', message } })],
    ['big-integer-ok', first({ data: Number.MAX_SAFE_INTEGER })],
    ['keys', first({ data: JSON.parse('{"__proto__":{"x":1},"constructor":2,"a":1,"A":2}') })],
    ['control', first({ data: '\u0001\u001f"\\\u2028' })],
  ];
  await forEachAFew(legal, async ([action, wanted]) => {
    const ended = await run(FAULTY, input(invoke(action, BATCH)));
    assert.deepEqual(
      { status: ended.status, stderr: ended.stderr },
      { status: 0, stderr: '' },
      action,
    );
    assert.deepEqual(results(ended.stdout), wanted, action);
  });
});

// P1-SDK-10: the author who misspelt an action sees which there are, in one bounded line.
test('an unknown action names the others on standard error', async () => {
  const table = (/** @type {string} */ entries) =>
    `require(SDK).defineModule(Object.fromEntries(${entries})).run();`;
  const many = `Array.from({ length: 1000 }, (_, i) =>
    ['a' + String(i).padStart(4, '0'), { each: () => 1 }])`;
  /** @type {[string, RegExp][]} */
  const cases = [
    ['[]', /^action "go": not in this module; it has no actions\n$/],
    [`[['b', { each: () => 1 }], ['a', { batch: () => [] }]]`, /; its actions: b, a\n$/],
    [many, /^action "go": not in this module; its actions: a0000, .*, a0278 and 721 more\n$/],
  ];
  for (const [entries, wanted] of cases) {
    const ended = await runSource(table(entries), GO);
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stderr, wanted);
  }
});

// P1-FRAME-06
test('one byte at a time gives the same', async () => {
  const bytes = input(invoke('ok', BATCH));
  const ended = await run(
    FAULTY,
    Array.from(bytes, (byte) => Buffer.from([byte])),
  );
  assert.deepEqual(results(ended.stdout), INDEXES);
});

test('64 targets, each with a long id', async () => {
  const ids = Array.from({ length: 64 }, (_, index) => `${index}-`.padEnd(128, 'x'));
  const ended = await run(FAULTY, input(invoke('ok', ids)));
  assert.deepEqual(
    results(ended.stdout),
    ids.map((target, index) => ({ target, data: { index } })),
  );
});

// P1-FRAME-02: refused on the header, while the input stays open.
test('a header that declares too much is refused before the input ends', async () => {
  const child = spawn(process.execPath, ['--no-addons', FAULTY], { stdio: 'pipe' });
  const stderr = child.stderr.setEncoding('utf8').toArray();
  child.stdin.write(Buffer.concat([frame(HELLO), Buffer.from([0x00, 0x10, 0x00, 0x01])]));
  const status = await new Promise((resolve) => child.on('close', resolve));
  child.stdin.destroy();
  assert.equal(status, 1);
  assert.match(
    (await stderr).join(''),
    /^modberth: frame\.too_large: frame 2: .* 1048577 .* 1048576\n$/,
  );
});

// P1-SDK-07, P1-HOST-05
test('a handler that fails for 64 targets leaves bounded traces and exit status 0', async () => {
  const ids = Array.from({ length: 64 }, (_, index) => `bad-${index}`);
  const ended = await run(FAULTY, input(invoke('each-raise', ids)));
  assert.equal(ended.status, 0);
  assert.match(ended.stderr, /^target "bad-0": Error: raised on purpose\n {4}at /);
  assert.match(ended.stderr, /Further traces are left out.\n$/);
  assert(Buffer.byteLength(ended.stderr) < 20_000);
  assert.equal(results(ended.stdout).length, 64);
});

test('a long and dirty refusal is one bounded line', async () => {
  const handler = `throw new Error('\\u0007\\n\\u2028\\ud800' + '…'.repeat(5000))`;
  const ended = await runSource(moduleOf(handler), GO);
  const line = ended.stderr.trimEnd().split('\n').at(-1) ?? '';
  assert(line.startsWith('modberth: output.handler_failed: '), line);
  assert(line.includes('\\u0007\\u000a\\u2028'), line.slice(0, 120));
  const bytes = Buffer.byteLength(line);
  assert(bytes < 2_048 && bytes > 2_000, String(bytes));
});

// P1-SDK-06: everything that would reach descriptor 1, in each way a module may have got hold of it.
/** @type {[string, string, string?][]} */
const strays = [
  ['console.log', `console.log('stray')`],
  ['process.stdout.write', `process.stdout.write('stray\\n')`],
  ['a stream taken before', `stdout.write('stray\\n')`, `const { stdout } = process;`],
  ['a console method taken before', `log('stray')`, `const { log } = console;`],
  ['fs.writeSync', `require('fs').writeSync(1, 'stray\\n')`],
  ['fs.writeSync of bytes', `require('fs').writeSync(1, Buffer.from('stray\\n'))`],
  ['fs.writeSync taken before', `writeSync(1, 'stray\\n')`, `const { writeSync } = require('fs');`],
  ['fs.writeFileSync', `require('fs').writeFileSync(1, 'stray\\n')`],
  ['fs.writevSync', `require('fs').writevSync(1, [Buffer.from('stray\\n')])`],
  ['fs.closeSync before', `require('fs').closeSync(1); console.log('stray')`],
  ['fs.close before', `require('fs').close(1); console.log('stray')`],
  [
    'process.stdout.destroy before',
    `process.stdout.destroy(); require('fs').writeSync(1, 'stray\\n')`,
  ],
  ['fs.write', `require('fs').write(1, 'stray\\n', () => {})`],
  ['spawnSync', `spawnSync('/bin/echo', ['stray'], { stdio: 'inherit' })`, child('spawnSync')],
  [
    'spawnSync by number',
    `spawnSync('/bin/echo', ['stray'], { stdio: [0, 1, 2] })`,
    child('spawnSync'),
  ],
  [
    'spawnSync with a stream',
    `spawnSync('/bin/echo', ['stray'], { stdio: [0, process.stdout, 2] })`,
    child('spawnSync'),
  ],
  ['execSync', `execSync('echo stray', { stdio: 'inherit' })`, child('execSync')],
  [
    'execFileSync',
    `execFileSync('/bin/echo', ['stray'], { stdio: 'inherit' })`,
    child('execFileSync'),
  ],
  ['spawn', `spawn('/bin/echo', ['stray'], { stdio: ['ignore', 1, 2] })`, child('spawn')],
];

/** @param {string} name */
function child(name) {
  return `const { ${name} } = require('child_process');`;
}

test('whatever a handler or its child prints goes to standard error', async () => {
  await forEachAFew(strays, async ([name, handler, before]) => {
    const ended = await runSource(moduleOf(handler, before), GO);
    assert.equal(ended.status, 0, `${name}: ${ended.stderr}`);
    assert.deepEqual(results(ended.stdout), INDEXES, name);
    assert.equal(ended.stderr, 'stray\n', name);
  });
});

// P1-SDK-06: what is caught on the way to descriptor 1 works as ever for every other descriptor.
test('a handler reads, writes and closes files as in any program', async () => {
  const handler = `
    const file = path.join(os.tmpdir(), 'modberth-sdk-files-' + process.pid);
    fs.writeFileSync(file, 'text');
    fs.writeFileSync(file, Buffer.from('bytes'));
    fs.appendFileSync(file, '+');
    const opened = fs.openSync(file, 'r+');
    fs.writeSync(opened, 'B');
    fs.closeSync(opened);
    fs.close(fs.openSync(file), () => {});
    const read = fs.readFileSync(file) + fs.readFileSync(file, 'utf8');
    fs.unlinkSync(file);
    console.log(read)`;
  const before = `const [fs, os, path] = ['fs', 'os', 'path'].map((name) => require(name));`;
  const ended = await runSource(moduleOf(handler, before), GO);
  assert.equal(ended.status, 0, ended.stderr);
  assert.deepEqual(results(ended.stdout), INDEXES);
  assert.equal(ended.stderr, 'Bytes+Bytes+\n');
});

test('the same in an ES module', async () => {
  const source = `
    import { spawnSync } from 'node:child_process';
    import { writeSync } from 'node:fs';
    import { defineModule } from SDK;
    defineModule({ go: { each(target) {
      console.log('stray');
      writeSync(1, 'stray\\n');
      spawnSync('/bin/echo', ['stray'], { stdio: 'inherit' });
      return { index: target.index };
    } } }).run();`;
  const ended = await runSource(source, input(invoke('go', ['a'])), 'mjs');
  assert.equal(ended.status, 0, ended.stderr);
  assert.deepEqual(results(ended.stdout), [{ target: 'a', data: { index: 0 } }]);
  assert.equal(ended.stderr, 'stray\n'.repeat(3));
});

test('a flood of prints arrives in full before the end', async () => {
  const ended = await runSource(moduleOf(`console.log('x'.repeat(1_000_000))`), GO);
  assert.equal(ended.status, 0);
  assert.equal(ended.stderr.length, 1_000_001);
  assert.deepEqual(results(ended.stdout), INDEXES);
});

test('standard output that is a file gets the frames alone', async () => {
  const file = path.join(tmpdir(), `modberth-sdk-${process.pid}`);
  const out = openSync(file, 'w');
  const module = spawn(process.execPath, ['--no-addons', FAULTY], { stdio: ['pipe', out, 'pipe'] });
  module.stdin?.end(input(invoke('print', BATCH)));
  const status = await new Promise((resolve) => module.on('close', resolve));
  closeSync(out);
  assert.equal(status, 0);
  assert.deepEqual(results(readFileSync(file)), INDEXES);
});

test('a module with a timer left over ends all the same', async () => {
  const ended = await runSource(moduleOf(`setInterval(() => {}, 1000)`), GO);
  assert.equal(ended.status, 0);
  assert.deepEqual(results(ended.stdout), INDEXES);
});

test('what stands after run() in the same turn still runs', async () => {
  const ended = await runSource(moduleOf('', '', `console.log('after')`), GO);
  assert.equal(ended.stderr, 'after\n');
  assert.deepEqual(results(ended.stdout), INDEXES);
});

test('what is awaited after run() in the same turn still runs', async () => {
  const main = `
    async function main() {
      try { await null; echo.run(); await null; console.log('after'); }
      finally { await null; console.log('finally'); }
    }`;
  /** @type {['cjs' | 'mjs', string, string][]} */
  const sources = [
    ['cjs', `const { defineModule } = require(SDK);`, `main();`],
    ['mjs', `import { defineModule } from SDK;`, `await main();`],
  ];
  await forEachAFew(sources, async ([kind, before, after]) => {
    const source = `${before}
      const echo = defineModule({ go: { each: ({ index }) => ({ index }) } });
      ${main}
      ${after}`;
    const ended = await runSource(source, GO, kind);
    assert.equal(ended.status, 0, `${kind}: ${ended.stderr}`);
    assert.equal(ended.stderr, 'after\nfinally\n', kind);
    assert.deepEqual(results(ended.stdout), INDEXES, kind);
  });
});

// A failure that nobody catches ends every Node.js program with a trace and exit status 1.
test('no failure in the turn of run() is lost', async () => {
  /** @type {['cjs' | 'mjs', string, string, string][]} */
  const sources = [
    ['cjs', 'thrown', `() => null`, `throw new Error('on purpose');`],
    ['mjs', 'thrown', `() => null`, `throw new Error('on purpose');`],
    ['mjs', 'thrown after an await', `() => null`, `await null; throw new Error('on purpose');`],
    ['cjs', 'rejected', `() => { void Promise.reject(new Error('on purpose')); return 1; }`, ''],
    ['mjs', 'rejected', `() => { void Promise.reject(new Error('on purpose')); return 1; }`, ''],
    [
      'cjs',
      'rejected, with prints',
      `() => { (async () => { console.log('x'); await null; throw new Error('on purpose'); })(); return 1; }`,
      '',
    ],
  ];
  await forEachAFew(sources, async ([kind, name, handler, after]) => {
    const source = `
      ${kind === 'cjs' ? `const { defineModule } = require(SDK);` : `import { defineModule } from SDK;`}
      defineModule({ go: { each: ${handler} } }).run();
      ${after}`;
    const ended = await runSource(source, GO, kind);
    assert.equal(ended.status, 1, `${kind}, ${name}`);
    assert.match(ended.stderr, /Error: on purpose/, `${kind}, ${name}`);
  });
});

test('a handler that returns a Promise is refused, and its failure adds no line', async () => {
  const source = `
    const { defineModule } = require(SDK);
    defineModule({ go: { async each() { throw new Error('late'); } } }).run();`;
  const ended = await runSource(source, GO);
  assert.equal(ended.status, 1);
  assert.match(
    ended.stderr,
    /^modberth: output\.value: results\[0\], target "a": data: .* a Promise \(handlers are synchronous\)\n$/,
  );
});

// P1-SDK-03: the one callback of serve.
test('serve hands over the request and checks what comes back', async () => {
  const source = `
    const { serve } = require(SDK);
    serve((request) => request.targets.map((target) => ({ target, data: request })));`;
  const ended = await runSource(source, input(invoke('any', BATCH, { x: [1] })));
  const request = JSON.parse(invoke('any', BATCH, { x: [1] }));
  assert.equal(ended.status, 0, ended.stderr);
  assert.deepEqual(
    results(ended.stdout),
    BATCH.map((target) => ({ target, data: request })),
  );
  const wrong = await runSource(`require(SDK).serve(() => [])`, input(invoke('any', BATCH)));
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /^modberth: output\.target_missing: .* target "a"/);
  const failed = await runSource(
    `require(SDK).serve(() => { throw 1 })`,
    input(invoke('any', BATCH)),
  );
  assert.match(failed.stderr, /modberth: output\.handler_failed: .* "any" failed: the number 1\n$/);
});

test('a reader that has gone away is named', async () => {
  const child = spawn(process.execPath, ['--no-addons', FAULTY], { stdio: 'pipe' });
  const stderr = child.stderr.setEncoding('utf8').toArray();
  child.stdout.destroy();
  // The module can only write once it has its whole input, and by then the pipe is closed.
  child.stdout.on('close', () => child.stdin.end(input(invoke('ok', BATCH))));
  const status = await new Promise((resolve) => child.on('exit', resolve));
  assert.equal(status, 1);
  assert.match(
    (await stderr).join(''),
    /^modberth: process\.io: standard output cannot be written: EPIPE/,
  );
});
