// Compiles a module to the files of its payload:
//
//   node packaging/payload.mjs MODULE OUT
//
// MODULE holds main.ts and a tsconfig.json. OUT gets main.cjs, what main.ts imports of the module's own, the
// single file of the SDK, and modberth.json where MODULE has one. The paths written are printed. It needs
// ../sdk-js and this package built.

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SDK = path.join(ROOT, '..', 'sdk-js', 'dist', 'vendor', 'modberth-sdk.cjs');

const [module, out, ...rest] = process.argv.slice(2);
if (module === undefined || out === undefined || rest.length > 0) {
  console.error('usage: node payload.mjs MODULE OUT');
  process.exit(2);
}
const types = path.join(ROOT, 'dist', 'vendor');
if (!existsSync(types) || !existsSync(SDK)) {
  console.error('Build both SDKs first: npm ci && npm run build in sdk-js, then in sdk-ts.');
  process.exit(1);
}

const place = (/** @type {string} */ name, /** @type {string} */ source) => {
  const target = path.join(out, name);
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(source, target);
  console.log(target);
};

// What an older source gave must not run after a failure.
rmSync(path.join(out, 'main.cjs'), { force: true });
const scratch = mkdtempSync(path.join(ROOT, 'dist', 'payload-'));
try {
  const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
  const project = path.join(scratch, 'tsconfig.json');
  const built = path.join(scratch, 'built');
  const folder = path.resolve(module);
  // What the module's own tsconfig.json says of the types of the SDK holds in this repository alone.
  const compilerOptions = {
    rootDir: folder,
    rootDirs: [folder, types],
    noEmit: false,
    outDir: built,
  };
  writeFileSync(
    project,
    JSON.stringify({ extends: path.join(folder, 'tsconfig.json'), compilerOptions }),
  );
  const { status, error } = spawnSync(tsc, ['-p', project], { stdio: 'inherit' });
  if (error !== undefined) console.error(`${tsc}: ${error.message}`);
  if (status === 0) {
    for (const entry of readdirSync(built, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const source = path.join(entry.parentPath, entry.name);
      const name = path.relative(built, source);
      place(name === 'main.js' ? 'main.cjs' : name, source);
    }
    place('modberth-sdk.cjs', SDK);
    const hints = path.join(module, 'modberth.json');
    if (existsSync(hints)) place('modberth.json', hints);
  } else {
    process.exitCode = 1;
  }
} finally {
  rmSync(scratch, { recursive: true });
}
