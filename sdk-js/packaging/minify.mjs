// Makes the single file small. A process that answers one request spends a third of its own time on
// reading this file, so what only people read is worth leaving out of what ships.

import { transformSync } from 'esbuild';

const NOTICE =
  '// Minified. `node packaging/vendor.mjs DIR --readable` writes the same code for reading.';

// Node.js shows the line that threw, so a line stays short enough to be shown. Columns.
const LINE_LIMIT = 120;

/**
 * @param {string} source A joined file.
 * @param {readonly string[]} head The comment lines that stay.
 * @returns {string}
 */
export function minify(source, head) {
  const { code } = transformSync(source, {
    charset: 'ascii',
    legalComments: 'none',
    lineLimit: LINE_LIMIT,
    minify: true,
    target: 'node20',
  });
  return [...head, NOTICE, code].join('\n');
}
