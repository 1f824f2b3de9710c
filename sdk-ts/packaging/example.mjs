// Compiles an example to the files of its payload:
//
//   node packaging/example.mjs EXAMPLE OUT
//
// EXAMPLE holds main.ts and a tsconfig.json; OUT gets main.cjs and modberth-sdk.cjs. It needs ../sdk-js
// and this package built.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const [example, out, ...rest] = process.argv.slice(2);
if (example === undefined || out === undefined || rest.length > 0) {
  console.error('usage: node example.mjs EXAMPLE OUT');
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const scratch = mkdtempSync(path.join(ROOT, 'dist', 'example-'));
try {
  const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['-p', example, '--noEmit', 'false', '--outDir', scratch], {
    stdio: 'inherit',
  });
  copyFileSync(path.join(scratch, 'main.js'), path.join(out, 'main.cjs'));
} finally {
  rmSync(scratch, { recursive: true });
}
const sdk = path.join(ROOT, '..', 'sdk-js', 'dist', 'vendor', 'modberth-sdk.cjs');
copyFileSync(sdk, path.join(out, 'modberth-sdk.cjs'));
