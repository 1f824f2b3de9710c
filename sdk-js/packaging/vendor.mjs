// Writes the SDK as one file to carry inside a module:
//
//   node packaging/vendor.mjs DIR             modberth-sdk.cjs, modberth-sdk.mjs and their types
//   node packaging/vendor.mjs DIR --only cjs  modberth-sdk.cjs alone
//   node packaging/vendor.mjs DIR --readable  the same with comments, line breaks and long names
//
// It prints the paths written. It needs the development packages (`npm ci`), except for readable code alone.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { join } from './join.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @typedef {'cjs' | 'mjs'} Kind */

/**
 * @param {string} directory
 * @param {{ only?: Kind | undefined, readable?: boolean }} [options]
 * @returns {Promise<string[]>} The paths written.
 */
export async function vendor(directory, { only, readable = false } = {}) {
  const joined = join();
  const files = readable ? joined : await minified(joined);
  mkdirSync(directory, { recursive: true });
  const written = [];
  for (const kind of /** @type {const} */ (['cjs', 'mjs'])) {
    if (only === undefined || only === kind) {
      const file = path.join(directory, `modberth-sdk.${kind}`);
      writeFileSync(file, files[kind]);
      written.push(file);
    }
  }
  if (only === undefined) written.push(...writeTypes(directory, joined.plain));
  return written;
}

/** @param {{ cjs: string, mjs: string, head: string[] }} files */
async function minified({ cjs, mjs, head }) {
  // Loaded here, because readable code needs no package.
  const { minify } = await import('./minify.mjs');
  return { cjs: minify(cjs, head), mjs: minify(mjs, head) };
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
  const usage = 'usage: node vendor.mjs DIR [--only cjs|mjs] [--readable]';
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { only: { type: 'string' }, readable: { type: 'boolean' } },
    });
    const [directory, ...rest] = positionals;
    const { only, readable } = values;
    const known = only === undefined || only === 'cjs' || only === 'mjs';
    if (directory === undefined || rest.length > 0 || !known)
      throw new TypeError('wrong arguments');
    const written = await vendor(directory, { only, readable: readable === true });
    console.log(written.join('\n'));
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (error instanceof TypeError) {
      console.error(usage);
      process.exitCode = 2;
    } else {
      const remedy = code === 'ERR_MODULE_NOT_FOUND' ? ' (run `npm ci` in sdk-js first)' : '';
      console.error(`${message}${remedy}`);
      process.exitCode = 1;
    }
  }
}
