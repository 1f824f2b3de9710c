// Writes the SDK as one file to carry inside a module:
//
//   node packaging/vendor.mjs DIR             modberth-sdk.cjs, modberth-sdk.mjs and their types
//   node packaging/vendor.mjs DIR --only cjs  modberth-sdk.cjs alone
//
// It prints the paths written. The types need the development packages (`npm ci`); the code needs nothing but Node.js.

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
 * @returns {string[]} The paths written.
 */
export function vendor(directory, only) {
  const files = join();
  mkdirSync(directory, { recursive: true });
  const written = [];
  for (const kind of /** @type {const} */ (['cjs', 'mjs'])) {
    if (only === undefined || only === kind) {
      const file = path.join(directory, `modberth-sdk.${kind}`);
      writeFileSync(file, files[kind]);
      written.push(file);
    }
  }
  if (only === undefined) written.push(...writeTypes(directory, files.plain));
  return written;
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
    return ['mts', 'cts'].map((kind) => {
      const file = path.join(directory, `modberth-sdk.d.${kind}`);
      writeFileSync(file, `${written}\n${derived}`);
      return file;
    });
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
    const written = vendor(directory, only === 'cjs' || only === 'mjs' ? only : undefined);
    console.log(written.join('\n'));
  }
}
