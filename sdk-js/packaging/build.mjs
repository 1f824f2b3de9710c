// Builds dist/: the package for both module kinds with types, and the single file.

import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { vendor } from './vendor.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');

rmSync(path.join(ROOT, 'dist'), { recursive: true, force: true });
for (const project of ['tsconfig.build.json', 'tsconfig.build.cjs.json']) {
  execFileSync(tsc, ['-p', path.join(ROOT, project)], { stdio: 'inherit' });
}
// The compiler neither copies declarations nor compiles the module that one of them shadows.
for (const kind of ['esm', 'cjs']) {
  for (const name of ['types.d.ts', 'internal.d.ts']) {
    copyFileSync(path.join(ROOT, 'src', name), path.join(ROOT, 'dist', kind, name));
  }
}
copyFileSync(path.join(ROOT, 'src/types.js'), path.join(ROOT, 'dist/esm/types.js'));
writeFileSync(path.join(ROOT, 'dist/cjs/types.js'), "'use strict';\n");
writeFileSync(path.join(ROOT, 'dist', 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
await vendor(path.join(ROOT, 'dist', 'vendor'));
