// The vectors of conformance/cases/json: documents, and what a strict reader says of each.

import { readFileSync } from 'node:fs';

/** @typedef {{ utf8: string } | { hex: string } | { repeat: Bytes, times: number } | { concat: Bytes[] }} Bytes */
/** @typedef {{ name: string, bytes: Bytes, code?: string, process?: { code: string | null } }} Vector */

/**
 * @param {Bytes} bytes
 * @returns {Buffer}
 */
function build(bytes) {
  if ('utf8' in bytes) return Buffer.from(bytes.utf8);
  if ('hex' in bytes) return Buffer.from(bytes.hex, 'hex');
  if ('repeat' in bytes) {
    const part = build(bytes.repeat);
    return Buffer.alloc(part.length * bytes.times, part);
  }
  return Buffer.concat(bytes.concat.map(build));
}

/** @param {string} name */
function load(name) {
  const file = new URL(`../../../conformance/cases/json/${name}.json`, import.meta.url);
  /** @type {{ vectors: Vector[] }} */
  const { vectors } = JSON.parse(readFileSync(file, 'utf8'));
  return vectors.map((vector) => ({
    name: vector.name,
    bytes: build(vector.bytes),
    code: vector.process === undefined ? (vector.code ?? null) : vector.process.code,
  }));
}

/** Every vector under the process profile: the code of the refusal, or null where it is accepted. */
export const vectors = [...load('accept'), ...load('reject')];
