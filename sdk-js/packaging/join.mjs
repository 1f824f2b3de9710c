// Joins the modules of src/ into one readable file: dependencies first, imports and exports of the
// package taken out, everything else as it stands in the source.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOT } from './hot.mjs';

const SOURCE = fileURLToPath(new URL('../src/', import.meta.url));

const IMPORT = /^import (?<what>[^;]+?) from '(?<from>[^']+)';\n/gm;
const REEXPORT = /^export \{(?<names>[^}]+)\} from '(?<from>[^']+)';\n/gm;
const IMPORTED_TYPES = /^\/\*\* @import [^\n]*\*\/\n/gm;
const NOTICE = [
  '// Modberth SDK for JavaScript, process protocol 1. One file, to be carried inside a module.',
  '// Made from the package source by packaging/vendor.mjs. Do not edit.',
];

const FUNCTION = /^function (?<name>\w+)\((?<rest>.*?)\n\}$/gms;

/**
 * Puts the hot functions in parentheses. V8 passes over a function when it reads a file and compiles
 * it at its first call; one in parentheses it compiles at once, and so reads it once instead of twice.
 * @param {string} source
 */
function hint(source) {
  const open = new Set(HOT);
  const hinted = source.replace(FUNCTION, (whole, name, rest) =>
    open.delete(name) ? `const ${name} = (function ${name}(${rest}\n});` : whole,
  );
  if (open.size > 0) throw new Error(`hot.mjs names no function of src/: ${[...open].join(', ')}`);
  return hinted;
}

/**
 * @returns {{ cjs: string, mjs: string, plain: string, head: string[], names: string[] }} Both forms, the
 *   second without hints for the compiler, the lines at the head of both, and the names they export.
 */
export function join() {
  /** @type {Map<string, string>} File to body, in order. */
  const bodies = new Map();
  /** @type {Map<string, string>} Built-in module to what is imported from it. */
  const builtins = new Map();

  /** @param {string} name */
  const visit = (name) => {
    if (bodies.has(name)) return;
    const text = readFileSync(path.join(SOURCE, name), 'utf8');
    for (const { groups } of text.matchAll(IMPORT)) {
      const { what, from } = /** @type {{ what: string, from: string }} */ (groups);
      if (!from.startsWith('.')) {
        const known = builtins.get(from) ?? what;
        if (known !== what) throw new Error(`${name}: ${from} is imported in two ways`);
        builtins.set(from, what);
      } else {
        visit(from.slice(2));
      }
    }
    const body = text
      .replace(IMPORT, '')
      .replace(IMPORTED_TYPES, '')
      .replace(/^export \{\};\n/gm, '')
      .replace(/^export /gm, '')
      .trim();
    bodies.set(name, body);
  };

  const index = readFileSync(path.join(SOURCE, 'index.js'), 'utf8');
  const names = [];
  for (const { groups } of index.matchAll(REEXPORT)) {
    const { names: list, from } = /** @type {{ names: string, from: string }} */ (groups);
    visit(from.slice(2));
    names.push(...list.split(',').map((name) => name.trim()));
  }
  names.sort();
  const overview = /^\/\*\*.*?\*\/\n/s.exec(index)?.[0] ?? '';
  const head = [...NOTICE, '', overview];
  const sections = [...bodies].map(([name, body]) => `// --- src/${name} ---\n\n${body}`);
  const source = sections.join('\n\n');
  const defined = [...source.matchAll(/^(?:function|class|const|let) (\w+)/gm)].map(
    ([, name]) => name,
  );
  const twice = defined.filter((name, index) => defined.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`defined in two files of src/: ${twice.join(', ')}`);
  const list = names.map((name) => `  ${name},`).join('\n');
  const requires = [...builtins].map(([from, what]) => `const ${what} = require('${from}');`);
  const imports = [...builtins].map(([from, what]) => `import ${what} from '${from}';`);
  const hinted = hint(source);
  const exported = `\nexport {\n${list}\n};\n`;
  return {
    names,
    head,
    cjs: [
      ...head,
      "'use strict';\n",
      ...requires,
      '',
      hinted,
      `\nmodule.exports = {\n${list}\n};\n`,
    ].join('\n'),
    mjs: [...head, ...imports, '', hinted, exported].join('\n'),
    plain: [overview, ...imports, '', source, exported].join('\n'),
  };
}
