// Writes the SDK as one file to carry inside a module, with the types of this package:
//
//   node packaging/vendor.mjs DIR
//
// modberth-sdk.cjs and modberth-sdk.mjs are the very files of the JavaScript SDK. Beside each lies the
// typed face, and the types of the JavaScript SDK that it builds on. The paths written are printed. It
// needs ../sdk-js and this package built.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RUNTIME = path.join(ROOT, '..', 'sdk-js', 'dist', 'vendor');

/**
 * @param {string} directory
 * @returns {string[]} The paths written.
 */
export function vendorTypes(directory) {
  mkdirSync(directory, { recursive: true });
  const written = [];
  for (const [kind, typed] of [
    ['cjs', 'cts'],
    ['mjs', 'mts'],
  ]) {
    const folder = kind === 'cjs' ? 'cjs' : 'esm';
    const face = readFileSync(path.join(ROOT, 'dist', folder, 'index.d.ts'), 'utf8')
      .replaceAll("'@modberth/sdk'", `'./modberth-sdk-base.${kind}'`)
      .replace(/^\/\/# sourceMappingURL=.*\n?/m, '');
    const typedFile = path.join(directory, `modberth-sdk.d.${typed}`);
    const baseFile = path.join(directory, `modberth-sdk-base.d.${typed}`);
    writeFileSync(typedFile, face);
    copyFileSync(path.join(RUNTIME, `modberth-sdk.d.${typed}`), baseFile);
    written.push(typedFile, baseFile);
  }
  return written;
}

/**
 * @param {string} directory
 * @returns {string[]} The paths written.
 */
export function vendor(directory) {
  const written = vendorTypes(directory);
  for (const kind of ['cjs', 'mjs']) {
    const name = `modberth-sdk.${kind}`;
    copyFileSync(path.join(RUNTIME, name), path.join(directory, name));
    written.push(path.join(directory, name));
  }
  return written;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory, ...rest] = process.argv.slice(2);
  if (directory === undefined || rest.length > 0) {
    console.error('usage: node vendor.mjs DIR');
    process.exitCode = 2;
  } else {
    console.log(vendor(directory).join('\n'));
  }
}
