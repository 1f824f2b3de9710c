// Writes the SDK as one file to carry inside a module:
//
//   node packaging/vendor.mjs DIR             modberth-sdk.cjs, modberth-sdk.mjs and their types
//   node packaging/vendor.mjs DIR --only cjs  modberth-sdk.cjs alone
//
// The types need the development packages (`npm ci`); the code needs nothing but Node.js.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { join } from './join.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * @param {string} directory
 * @param {'cjs' | 'mjs'} [only]
 */
export function vendor(directory, only) {
  const files = join();
  mkdirSync(directory, { recursive: true });
  for (const kind of /** @type {const} */ (['cjs', 'mjs'])) {
    if (only === undefined || only === kind) {
      writeFileSync(path.join(directory, `modberth-sdk.${kind}`), files[kind]);
    }
  }
  if (only === undefined) writeTypes(directory, files.plain);
}

/**
 * Lets the compiler derive the types of the joined file and adds the written ones. They are the same
 * for both forms.
 * @param {string} directory
 * @param {string} source
 */
function writeTypes(directory, source) {
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  const scratch = mkdtempSync(path.join(ROOT, 'dist', 'types-'));
  try {
    const written = readFileSync(path.join(ROOT, 'src', 'types.d.ts'), 'utf8');
    let imports = '';
    for (const name of ['types', 'internal']) {
      const declarations = readFileSync(path.join(ROOT, 'src', `${name}.d.ts`), 'utf8');
      const names = declarations.matchAll(/^export (?:type|interface) (\w+)/gm);
      imports += `/** @import { ${[...names].map((match) => match[1]).join(', ')} } from './${name}.js' */\n`;
      writeFileSync(path.join(scratch, `${name}.d.ts`), declarations);
    }
    writeFileSync(path.join(scratch, 'modberth-sdk.mjs'), imports + source);
    writeFileSync(
      path.join(scratch, 'tsconfig.json'),
      JSON.stringify({
        extends: '../../tsconfig.json',
        compilerOptions: {
          noEmit: false,
          declaration: true,
          emitDeclarationOnly: true,
          noUnusedLocals: false,
        },
        include: ['modberth-sdk.mjs', '*.d.ts'],
      }),
    );
    const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
    execFileSync(tsc, ['-p', scratch], { stdio: ['ignore', 'inherit', 'inherit'] });
    const derived = readFileSync(path.join(scratch, 'modberth-sdk.d.mts'), 'utf8')
      .replace(/^import type \{[^}]*\} from '.\/(?:types|internal).js';\n/gm, '')
      .replace(/^\/\*\* @import [^\n]*\*\/\n/gm, '');
    for (const kind of ['mts', 'cts']) {
      writeFileSync(path.join(directory, `modberth-sdk.d.${kind}`), `${written}\n${derived}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory, flag, only, ...rest] = process.argv.slice(2);
  const known = flag === undefined || (flag === '--only' && (only === 'cjs' || only === 'mjs'));
  if (directory === undefined || !known || rest.length > 0) {
    console.error('usage: node vendor.mjs DIR [--only cjs|mjs]');
    process.exitCode = 2;
  } else {
    vendor(directory, only === 'cjs' || only === 'mjs' ? only : undefined);
  }
}
