import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TYPES = path.join(ROOT, 'tests', 'types');

/** @param {string} project */
function compile(project) {
  const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
  return spawnSync(tsc, ['-p', project], { encoding: 'utf8' });
}

test('right modules compile, and every line that must not compile is refused', () => {
  const { stdout, status } = compile(TYPES);
  assert.equal(stdout, '');
  assert.equal(status, 0);
});

// The same lines without their marks: every one of them is an error, and nothing else is.
test('each wrong line is an error of its own', () => {
  const scratch = path.join(ROOT, 'dist', 'tests', 'types');
  mkdirSync(scratch, { recursive: true });
  try {
    const source = readFileSync(path.join(TYPES, 'module.mts'), 'utf8');
    const marks = source.match(/^ *\/\/ @ts-expect-error/gm) ?? [];
    assert(marks.length > 20);
    writeFileSync(path.join(scratch, 'module.mts'), source.replaceAll('// @ts-expect-error', '//'));
    writeFileSync(
      path.join(scratch, 'tsconfig.json'),
      '{ "extends": "../../../tsconfig.json", "include": ["module.mts"] }',
    );
    const { stdout, status } = compile(scratch);
    assert.notEqual(status, 0);
    const lines = source.split('\n');
    const places = new Set(
      [...stdout.matchAll(/module\.mts\((\d+),/g)].map(([, line]) => Number(line)),
    );
    for (const place of places) {
      // The mark stands right above the line that the compiler names.
      assert.match(lines[place - 2] ?? '', /@ts-expect-error/, `line ${place}: ${stdout}`);
    }
    assert.equal(places.size, marks.length, stdout);
  } finally {
    rmSync(scratch, { recursive: true });
  }
});
