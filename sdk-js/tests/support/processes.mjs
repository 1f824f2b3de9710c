// Starts modules as the host does: frames on standard input, the three streams as pipes.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const FAULTY = fileURLToPath(new URL('../faulty-module/main.cjs', import.meta.url));
export const SDK_CJS = fileURLToPath(
  new URL('../../dist/vendor/modberth-sdk.cjs', import.meta.url),
);
export const SDK_MJS = fileURLToPath(
  new URL('../../dist/vendor/modberth-sdk.mjs', import.meta.url),
);

// A guard against a hang, far above what any module needs.
const HANG_MS = 60_000;

/**
 * @typedef {{ status: number | null, stdout: Buffer, stderr: string }} Ended
 */

/**
 * Runs a module to its end.
 * @param {string} file
 * @param {Uint8Array | Iterable<Uint8Array>} bytes Several parts are written one after the other.
 * @returns {Promise<Ended>}
 */
export function run(file, bytes) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--no-addons', file], { stdio: 'pipe' });
    const guard = setTimeout(() => child.kill('SIGKILL'), HANG_MS);
    /** @type {Buffer[]} */
    const stdout = [];
    /** @type {Buffer[]} */
    const stderr = [];
    child.stdout.on('data', (/** @type {Buffer} */ part) => stdout.push(part));
    child.stderr.on('data', (/** @type {Buffer} */ part) => stderr.push(part));
    // A module that refuses a header leaves the rest of its input unread.
    child.stdin.on('error', () => {});
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(guard);
      resolve({
        status,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString('utf8'),
      });
    });
    const parts = bytes instanceof Uint8Array ? [bytes] : [...bytes];
    const next = () => {
      const part = parts.shift();
      if (part === undefined) child.stdin.end();
      else child.stdin.write(part, next);
    };
    next();
  });
}

/**
 * Runs a module whose source is given; `SDK` in it stands for the path of the SDK.
 * @param {string} source
 * @param {Uint8Array} bytes
 * @param {'cjs' | 'mjs'} [kind]
 */
export async function runSource(source, bytes, kind = 'cjs') {
  const folder = mkdtempSync(path.join(tmpdir(), 'modberth-sdk-'));
  try {
    const file = path.join(folder, `main.${kind}`);
    const sdk = kind === 'cjs' ? SDK_CJS : SDK_MJS;
    writeFileSync(file, source.replaceAll('SDK', JSON.stringify(sdk)));
    return await run(file, bytes);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Calls `visit` with every item, a few at a time.
 * @template T
 * @param {Iterable<T>} items
 * @param {(item: T) => Promise<void>} visit
 */
export async function forEachAFew(items, visit) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await visit(item);
  };
  await Promise.all([worker(), worker(), worker()]);
}
