import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as sdkEsm from '@modberth/sdk';
import * as testingEsm from '@modberth/sdk/testing';
import * as faceEsm from '@modberth/sdk-ts';
import * as faceTestingEsm from '@modberth/sdk-ts/testing';

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SDK_JS = path.join(ROOT, '..', 'sdk-js');
const PUBLIC = ['ModberthError', 'TargetError', 'codes', 'defineModule', 'serve'];

const FILL = path.join(ROOT, 'packaging', 'payload.mjs');
const PAYLOAD = ['main.cjs', 'modberth-sdk.cjs', 'modberth.json'];

let folder = '';
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'modberth-sdk-ts-'));
});
after(() => rmSync(folder, { recursive: true }));

/** @param {string | Uint8Array} payload */
function frame(payload) {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
}

/**
 * @param {string} action
 * @param {string[]} targets
 * @param {object} parameters
 */
function input(action, targets, parameters) {
  return Buffer.concat([
    frame('{"version":1,"type":"hello","host_api":1}'),
    frame(JSON.stringify({ version: 1, type: 'invoke', id: 'r', action, targets, parameters })),
  ]);
}

/** @param {Buffer} output */
function results(output) {
  const hello = 4 + output.readUInt32BE(0);
  assert.equal(output.length, hello + 4 + output.readUInt32BE(hello));
  return JSON.parse(output.toString('utf8', hello + 4)).results;
}

// There is no second implementation: what this package exports is what the JavaScript SDK exports.
test('every export is the one of the JavaScript SDK', () => {
  /** @type {[Record<string, unknown>, Record<string, unknown>][]} */
  const pairs = [
    [faceEsm, sdkEsm],
    [require('@modberth/sdk-ts'), require('@modberth/sdk')],
  ];
  for (const [face, sdk] of pairs) {
    const names = Object.keys(face).filter((name) => name !== 'default');
    assert.deepEqual(names.sort(), PUBLIC);
    for (const name of PUBLIC) assert.equal(face[name], sdk[name], name);
  }
  assert.equal(faceTestingEsm.FakeHost, testingEsm.FakeHost);
  assert.equal(
    require('@modberth/sdk-ts/testing').FakeHost,
    require('@modberth/sdk/testing').FakeHost,
  );
  const code = ['esm', 'cjs'].flatMap((kind) =>
    readdirSync(path.join(ROOT, 'dist', kind))
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(path.join(ROOT, 'dist', kind, name), 'utf8')),
  );
  assert.equal(code.length, 4);
  for (const text of code) {
    assert.doesNotMatch(text.replace(/\/\*\*.*?\*\//gs, ''), /readSync|writeSync|JSON\.|each\b/);
  }
});

test('the typed host runs a typed module', () => {
  const module = faceEsm.defineModule({
    echo: { each: (target, parameters) => ({ ...parameters, index: target.index }) },
  });
  const host = new faceTestingEsm.FakeHost(module);
  const rows = host.invoke('echo', { targets: ['a', 'b'], parameters: { message: 'Hi' } });
  assert.deepEqual(
    [...rows.values()],
    [
      { target: 'a', data: { message: 'Hi', index: 0 } },
      { target: 'b', data: { message: 'Hi', index: 1 } },
    ],
  );
  assert.throws(() => host.invoke('echo', { targets: [], parameters: {} }), {
    code: faceEsm.codes.REQUEST_TARGET_COUNT,
  });
});

// P1-SDK-10
test('the echo example compiles to a payload that runs', () => {
  const payload = path.join(folder, 'payload');
  const example = path.join(ROOT, '..', 'examples', 'echo', 'ts');
  execFileSync(process.execPath, [FILL, example, payload]);
  assert.deepEqual(readdirSync(payload).sort(), PAYLOAD);
  const run = (/** @type {object} */ parameters) =>
    results(
      execFileSync(process.execPath, ['--no-addons', path.join(payload, 'main.cjs')], {
        input: input('echo', ['a', 'b'], parameters),
      }),
    );
  assert.deepEqual(run({ message: 'Hello' }), [
    { target: 'a', data: { message: 'Hello', index: 0 } },
    { target: 'b', data: { message: 'Hello', index: 1 } },
  ]);
  assert.deepEqual(
    run({}).map((/** @type {any} */ row) => row.error.code),
    ['unsupported_action', 'unsupported_action'],
  );
});

test('a copy of the example builds anywhere, with files of its own, and a fault leaves no program', () => {
  const copy = path.join(folder, 'copy');
  mkdirSync(copy);
  for (const name of ['main.ts', 'tsconfig.json', 'modberth.json']) {
    copyFileSync(path.join(ROOT, '..', 'examples', 'echo', 'ts', name), path.join(copy, name));
  }
  const main = path.join(copy, 'main.ts');
  const text = readFileSync(main, 'utf8');
  writeFileSync(path.join(copy, 'shout.cts'), 'export const shout = (t: string) => `${t}!`;\n');
  const import_ = "import { shout } from './shout.cjs';\n";
  writeFileSync(
    main,
    import_ + text.replace('{ message, index', '{ message: shout(message), index'),
  );
  const fill = () =>
    spawnSync(process.execPath, [FILL, '.', 'payload'], { cwd: copy, encoding: 'utf8' });
  const built = fill();
  assert.equal(built.status, 0, built.stdout + built.stderr);
  const names = [...PAYLOAD, 'shout.cjs'];
  assert.deepEqual(readdirSync(path.join(copy, 'payload')).sort(), names);
  assert.deepEqual(
    built.stdout.trim().split('\n').sort(),
    names.map((name) => path.join('payload', name)),
  );
  const out = execFileSync(process.execPath, [path.join(copy, 'payload', 'main.cjs')], {
    input: input('echo', ['a'], { message: 'Hi' }),
  });
  assert.deepEqual(results(out), [{ target: 'a', data: { message: 'Hi!', index: 0 } }]);

  writeFileSync(main, `${text}const broken: number = 'text';\n`);
  const failed = fill();
  assert.equal(failed.status, 1);
  assert.match(failed.stdout, /^main\.ts\(\d+,7\): error TS2322/);
  assert.equal(failed.stderr, '');
  assert.ok(!readdirSync(path.join(copy, 'payload')).includes('main.cjs'));
});

test('the single file serves TypeScript in both module kinds', () => {
  const module = path.join(folder, 'vendored');
  execFileSync(process.execPath, [path.join(ROOT, 'packaging', 'vendor.mjs'), module]);
  for (const [source, output, kind] of [
    ['main.cts', 'main.cjs', 'cjs'],
    ['main.mts', 'main.mjs', 'mjs'],
  ]) {
    const text = `
      import { defineModule } from './modberth-sdk.${kind}';
      interface Echo { parameters: { message: string }; data: { message: string; index: number } }
      defineModule<{ echo: Echo }>({
        echo: { each: (target, { message }) => ({ message, index: target.index }) },
      }).run();`;
    writeFileSync(path.join(module, String(source)), text);
    const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
    const flags = [
      '--strict',
      '--skipLibCheck',
      'false',
      '--target',
      'es2022',
      '--module',
      'nodenext',
    ];
    const compiled = spawnSync(tsc, [...flags, String(source)], { cwd: module, encoding: 'utf8' });
    assert.equal(compiled.stdout, '', String(source));
    const out = execFileSync(process.execPath, ['--no-addons', path.join(module, String(output))], {
      input: input('echo', ['a'], { message: 'Hi' }),
    });
    assert.deepEqual(results(out), [{ target: 'a', data: { message: 'Hi', index: 0 } }]);
  }
});

test('the faulty module refuses as the JavaScript one does', () => {
  const typed = path.join(ROOT, 'dist', 'tests', 'faulty-module', 'main.cjs');
  const plain = path.join(SDK_JS, 'tests', 'faulty-module', 'main.cjs');
  const run = (/** @type {string} */ file, /** @type {string} */ action) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-addons', file], {
      input: input(action, ['a', 'bad'], { value: 1e20 }),
    });
    const line = stderr
      .toString('utf8')
      .split('\n')
      .findLast((text) => text.startsWith('modberth: '));
    return { status, stdout: stdout.toString('utf8'), line };
  };
  const source = readFileSync(plain, 'utf8');
  const actions = [...source.matchAll(/^ {2}'?([a-z][a-z0-9-]*)'?(?:[:(,]|\(\) \{)/gm)].map(
    ([, name]) => String(name),
  );
  assert.ok(actions.length >= 33, actions.join(' '));
  for (const action of [...actions, 'no-such-action']) {
    assert.deepEqual(run(typed, action), run(plain, action), action);
  }
});

// P1-SDK-13
test('the page and the documentation say what the SDK is not for', () => {
  for (const name of ['README.md', 'dist/esm/index.d.ts', 'dist/vendor/modberth-sdk.d.cts']) {
    const plain = readFileSync(path.join(ROOT, name), 'utf8').replace(/[\s*]+/g, ' ');
    assert.match(plain, /input (?:of a module )?is a request that the host has checked/);
    assert.match(plain, /no gateway for untrusted JSON/);
    assert.match(
      plain,
      /A handler leaves no detached process behind and writes nothing outside the sandbox/,
    );
  }
});

test('the packed packages serve a consumer in every way', () => {
  const npm = (/** @type {string[]} */ args, /** @type {string} */ cwd) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const tarballs = [SDK_JS, ROOT].map((package_) => {
    const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], package_));
    for (const { path: name } of packed.files) {
      assert.match(
        name,
        /^(?:dist\/(?:esm|cjs|vendor)|src)\/|^(?:README|CHANGELOG)\.md$|^package\.json$/,
      );
    }
    return path.join(folder, packed.filename);
  });
  const consumer = path.join(folder, 'consumer');
  mkdirSync(consumer);
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(path.join(consumer, name), text);
  write('package.json', '{ "private": true }');
  npm(['install', '--offline', '--no-audit', '--no-fund', ...tarballs], consumer);
  const source = `
    import { codes, defineModule, TargetError, type Json } from '@modberth/sdk-ts';
    import { FakeHost } from '@modberth/sdk-ts/testing';
    interface Echo { parameters: { message: string }; data: { message: string; index: number } }
    const echo = defineModule<{ echo: Echo }>({
      echo: {
        each(target, { message }) {
          if (target.id === 'gone') throw new TargetError('not_found', codes.JSON_DEPTH);
          return { message, index: target.index };
        },
      },
    });
    const rows = new FakeHost(echo).invoke('echo', { targets: ['a', 'gone'], parameters: { message: 'Hi' } });
    const row = rows.get('a');
    const data: Json = row !== undefined && 'data' in row ? row.data.message : null;
    if (data !== 'Hi') throw row;`;
  write('main.mts', source);
  write('main.cts', source);
  const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
  const flags =
    '--strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022 --module nodenext';
  const compiled = spawnSync(tsc, [...flags.split(' '), 'main.mts', 'main.cts'], {
    cwd: consumer,
    encoding: 'utf8',
  });
  assert.equal(compiled.stdout, '');
  assert.equal(compiled.status, 0);
  for (const name of ['main.mjs', 'main.cjs']) {
    execFileSync(process.execPath, [name], { cwd: consumer });
  }
});
