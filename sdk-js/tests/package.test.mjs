import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HOT } from '../packaging/hot.mjs';
import { join } from '../packaging/join.mjs';
import { minify } from '../packaging/minify.mjs';
import { forms } from './support/forms.mjs';
import { HELLO, input, invoke, results } from './support/frames.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PUBLIC = ['ModberthError', 'TargetError', 'codes', 'defineModule', 'serve'];

/** @param {string} file */
const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');

let folder = '';
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'modberth-sdk-js-'));
});
after(() => rmSync(folder, { recursive: true }));

test('every form exports the same names', () => {
  for (const [form, exported] of Object.entries(forms)) {
    const names = Object.keys(exported).filter(
      (name) => name !== 'default' && name !== 'module.exports',
    );
    assert.deepEqual(names.sort(), PUBLIC, form);
  }
});

test('the single file equals the source', () => {
  const joined = join();
  assert.deepEqual(joined.names, PUBLIC);
  // What ships is the joined source, minified; every other test of this package runs it as well.
  assert.equal(read('dist/vendor/modberth-sdk.cjs'), minify(joined.cjs, joined.head));
  assert.equal(read('dist/vendor/modberth-sdk.mjs'), minify(joined.mjs, joined.head));
  // Parentheses tell the compiler what runs at once; apart from them both forms are plain source.
  const plain = (/** @type {string} */ text) =>
    text
      .slice(text.indexOf('// --- src/'), text.search(/^(?:module\.exports|export) (?:= )?\{$/m))
      .replace(/^const (\w+) = \(function \1\((.*?)^\}\);$/gms, 'function $1($2}');
  assert.equal(plain(joined.cjs), plain(joined.plain));
  assert.equal(plain(joined.mjs), plain(joined.plain));
  // Every line of code of every module but the index is in it, in order.
  const lines = joined.plain.split('\n');
  for (const name of readdirSync(path.join(ROOT, 'src'))) {
    if (
      !name.endsWith('.js') ||
      name === 'index.js' ||
      name === 'types.js' ||
      name === 'testing.js'
    )
      continue;
    let at = lines.indexOf(`// --- src/${name} ---`);
    assert(at > 0, name);
    const source = read(`src/${name}`).replace(/^import [^;]+;\n/gm, '');
    for (const line of source.split('\n')) {
      if (line.startsWith('/** @import') || line.trim() === '') continue;
      at = lines.indexOf(line.replace(/^export /, ''), at);
      assert(at > 0, `${name}: ${line}`);
    }
  }
});

test('the functions that are compiled at once are those that a good exchange runs', () => {
  const payload = path.join(folder, 'hot');
  const coverage = path.join(folder, 'coverage');
  mkdirSync(payload);
  // The readable form: the other has no names for functions that call themselves.
  writeFileSync(path.join(payload, 'modberth-sdk.cjs'), join().cjs);
  cpSync(path.join(ROOT, '../examples/echo/js/main.cjs'), path.join(payload, 'main.cjs'));
  execFileSync(process.execPath, ['--no-addons', path.join(payload, 'main.cjs')], {
    input: input(invoke('echo', ['a', 'b'], { message: 'Hello' })),
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  });
  const top = new Set([...join().plain.matchAll(/^function (\w+)/gm)].map(([, name]) => name));
  const [report] = readdirSync(coverage);
  const { result } = JSON.parse(readFileSync(path.join(coverage, report ?? ''), 'utf8'));
  const { functions } = result.find((/** @type {any} */ { url }) => url.endsWith('-sdk.cjs'));
  const names = functions
    .filter((/** @type {any} */ { ranges }) => ranges[0].count > 0)
    .map((/** @type {any} */ { functionName }) => functionName)
    .filter((/** @type {string} */ name) => top.has(name));
  assert.deepEqual([...new Set(names)].sort(), HOT);
});

// P1-SDK-12: without the modules of sockets and processes it can open and start none.
test('the single file loads nothing but fs and buffer, and is plain ASCII', () => {
  for (const kind of ['cjs', 'mjs']) {
    const text = read(`dist/vendor/modberth-sdk.${kind}`);
    const loaded = [...text.matchAll(/(?:require\(|import[^;]*? ?from ?)["']([^"']+)["']/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual(loaded.sort(), ['node:buffer', 'node:fs'], kind);
    // One character beyond it doubles the memory of the source and slows the start.
    assert.match(text, /^[\n -~]*$/, kind);
  }
});

test('vendor.mjs writes the files it is asked for', () => {
  const vendor = path.join(ROOT, 'packaging', 'vendor.mjs');
  const all = path.join(folder, 'all');
  execFileSync(process.execPath, [vendor, all]);
  assert.deepEqual(readdirSync(all).sort(), [
    'modberth-sdk.cjs',
    'modberth-sdk.d.cts',
    'modberth-sdk.d.mts',
    'modberth-sdk.mjs',
  ]);
  for (const name of readdirSync(all)) {
    assert.equal(readFileSync(path.join(all, name), 'utf8'), read(`dist/vendor/${name}`), name);
  }
  const one = path.join(folder, 'one');
  execFileSync(process.execPath, [vendor, one, '--only', 'cjs']);
  assert.deepEqual(readdirSync(one), ['modberth-sdk.cjs']);
  const readable = path.join(folder, 'readable');
  execFileSync(process.execPath, [vendor, readable, '--readable', '--only', 'cjs']);
  assert.equal(readFileSync(path.join(readable, 'modberth-sdk.cjs'), 'utf8'), join().cjs);
  assert.equal(spawnSync(process.execPath, [vendor]).status, 2);
  assert.equal(spawnSync(process.execPath, [vendor, one, '--only', 'xml']).status, 2);
  assert.equal(spawnSync(process.execPath, [vendor, one, '--minify']).status, 2);
});

// P1-SDK-10
test('the echo example runs as its package ships it, as CommonJS and as an ES module', () => {
  const payload = path.join(folder, 'echo');
  mkdirSync(payload);
  cpSync(path.join(ROOT, 'dist/vendor'), payload, { recursive: true });
  const source = read('../examples/echo/js/main.cjs');
  writeFileSync(path.join(payload, 'main.cjs'), source);
  writeFileSync(
    path.join(payload, 'main.mjs'),
    source
      .replace("'use strict';\n", '')
      .replace(
        /const (\{.*\}) = require\('.\/modberth-sdk.cjs'\)/,
        "import $1 from './modberth-sdk.mjs'",
      ),
  );
  for (const name of ['main.cjs', 'main.mjs']) {
    const run = (/** @type {object} */ parameters) =>
      results(
        execFileSync(process.execPath, ['--no-addons', path.join(payload, name)], {
          input: input(invoke('echo', ['a', 'b'], parameters)),
        }),
      );
    assert.deepEqual(run({ message: 'Hello' }), [
      { target: 'a', data: { message: 'Hello', index: 0 } },
      { target: 'b', data: { message: 'Hello', index: 1 } },
    ]);
    const long = '"\\\u0001\u2028😀'.repeat(10_000);
    assert.equal(run({ message: long })[1].data.message, long);
    assert.deepEqual(
      run({}).map((/** @type {any} */ row) => row.error.code),
      ['unsupported_action', 'unsupported_action'],
    );
  }
});

// P1-SDK-12: Node.js itself denies files to write and processes to start.
test('the echo example runs where it may only read its own files', () => {
  const payload = path.join(folder, 'denied');
  mkdirSync(payload);
  cpSync(path.join(ROOT, 'dist/vendor/modberth-sdk.cjs'), path.join(payload, 'modberth-sdk.cjs'));
  cpSync(path.join(ROOT, '../examples/echo/js/main.cjs'), path.join(payload, 'main.cjs'));
  const flags = ['--no-addons', '--experimental-permission', `--allow-fs-read=${payload}/*`];
  const ended = spawnSync(process.execPath, [...flags, path.join(payload, 'main.cjs')], {
    input: input(invoke('echo', ['a'], { message: 'Hello' })),
  });
  assert.equal(ended.status, 0, String(ended.stderr));
  assert.deepEqual(results(ended.stdout), [{ target: 'a', data: { message: 'Hello', index: 0 } }]);
});

// P1-SDK-13
test('the page and the documentation say what the SDK is not for', () => {
  for (const text of [
    read('README.md'),
    read('dist/vendor/modberth-sdk.cjs'),
    read('dist/esm/index.d.ts'),
  ]) {
    const plain = text.replace(/[\s*]+/g, ' ');
    assert.match(plain, /input (?:of a module )?is a request that the host has checked/);
    assert.match(plain, /no gateway for untrusted JSON/);
    assert.match(
      plain,
      /A handler leaves no detached process behind and writes nothing outside the sandbox/,
    );
  }
});

test('the packed package serves a consumer in every way', () => {
  const npm = (/** @type {string[]} */ args, /** @type {string} */ cwd) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], ROOT));
  const names = packed.files.map((/** @type {{ path: string }} */ file) => file.path);
  for (const name of [
    'README.md',
    'CHANGELOG.md',
    'src/index.js',
    'dist/vendor/modberth-sdk.cjs',
  ]) {
    assert(names.includes(name), `${name} is not packed`);
  }
  for (const name of names) {
    assert.match(
      name,
      /^(?:dist\/(?:esm|cjs|vendor)|src)\/|^(?:README|CHANGELOG)\.md$|^package\.json$/,
    );
  }

  const consumer = path.join(folder, 'consumer');
  mkdirSync(consumer);
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(path.join(consumer, name), text);
  write('package.json', '{ "private": true }');
  npm(
    ['install', '--offline', '--no-audit', '--no-fund', path.join(folder, packed.filename)],
    consumer,
  );

  const body = `
    const echo = defineModule({ echo: { each: (target, p) => ({ ...p, index: target.index }) } });
    const host = new FakeHost(echo);
    const row = host.invoke('echo', { targets: ['a'], parameters: { message: 'Hi' } }).get('a');
    if (JSON.stringify(row) !== '{"target":"a","data":{"message":"Hi","index":0}}') throw row;
    if (codes.JSON_DEPTH !== 'json.depth' || typeof TargetError !== 'function') throw codes;
    console.log('fine');`;
  const list = '{ codes, defineModule, TargetError }';
  write(
    'main.mjs',
    `import ${list} from '@modberth/sdk'; import { FakeHost } from '@modberth/sdk/testing'; ${body}`,
  );
  write(
    'main.cjs',
    `const ${list} = require('@modberth/sdk'); const { FakeHost } = require('@modberth/sdk/testing'); ${body}`,
  );
  for (const name of ['main.mjs', 'main.cjs']) {
    const output = execFileSync(process.execPath, [name], { cwd: consumer, encoding: 'utf8' });
    assert.equal(output, 'fine\n', name);
  }

  const typed = `
    import { codes, defineModule, ModberthError, serve, TargetError } from '@modberth/sdk';
    import type { Action, Batch, Json, Module, Request, Target, TargetResult } from '@modberth/sdk';
    import { FakeHost } from '@modberth/sdk/testing';
    const echo: Action = { each: (target: Target, parameters): Json => [target.index, parameters] };
    const all: Action = { batch: (batch: Batch): TargetResult[] => batch.targets.map((t) => t.data(t.index)) };
    const module: Module = defineModule({ echo, all });
    const row: TargetResult | undefined = new FakeHost(module).invoke('echo', { targets: ['a'] }).get('a');
    const code: 'json.depth' = codes.JSON_DEPTH;
    const error: Error = new ModberthError(code, 'x');
    const failure: Error = new TargetError('x', 'y');
    export const served = () => serve((request: Request) => request.targets.map((target) => ({ target, data: 1 })));
    export { error, failure, row };`;
  write('esm.mts', typed);
  write('cjs.cts', typed);
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const flags =
    '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022 --module nodenext';
  const checked = spawnSync(tsc, [...flags.split(' '), 'esm.mts', 'cjs.cts'], {
    cwd: consumer,
    encoding: 'utf8',
  });
  assert.equal(checked.stdout, '');
  assert.equal(checked.status, 0);
});

test('the types refuse wrong handlers', () => {
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const checked = spawnSync(tsc, ['-p', path.join(ROOT, 'tests/types')], { encoding: 'utf8' });
  assert.equal(checked.stdout, '');
  assert.equal(checked.status, 0);
});

test('the hello of the tests is the one of the reference', () => {
  assert.equal(HELLO, '{"version":1,"type":"hello","host_api":1}');
});
