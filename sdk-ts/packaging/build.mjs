// Builds dist/: the package for both module kinds with types, the types of the single file, and the
// faulty module of the tests. It needs ../sdk-js built.

import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { vendorTypes } from './vendor.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');

if (!existsSync(path.join(ROOT, '../sdk-js/dist/vendor/modberth-sdk.cjs'))) {
  console.error('Build the JavaScript SDK first: npm ci && npm run build in sdk-js.');
  process.exit(1);
}
rmSync(path.join(ROOT, 'dist'), { recursive: true, force: true });
for (const project of ['tsconfig.build.json', 'tsconfig.build.cjs.json']) {
  execFileSync(tsc, ['-p', path.join(ROOT, project)], { stdio: 'inherit' });
}
writeFileSync(path.join(ROOT, 'dist', 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
vendorTypes(path.join(ROOT, 'dist', 'vendor'));
execFileSync(tsc, ['-p', path.join(ROOT, 'tests', 'faulty-module')], { stdio: 'inherit' });
