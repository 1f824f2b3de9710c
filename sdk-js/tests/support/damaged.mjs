import { vectors } from './vectors.mjs';

/**
 * Short vectors with up to three random edits; the same seed gives the same documents.
 * @param {number} seed
 * @param {number} count
 * @param {readonly string[]} parts What is put in.
 * @returns {Generator<Buffer>}
 */
export function* damaged(seed, count, parts) {
  const seeds = vectors.filter(({ bytes }) => bytes.length > 0 && bytes.length < 200);
  let state = seed;
  const random = (/** @type {number} */ below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < count; round++) {
    let bytes = seeds[random(seeds.length)]?.bytes ?? Buffer.alloc(0);
    for (let edits = random(3); edits >= 0; edits--) {
      const at = random(bytes.length + 1);
      const part = Buffer.from(parts[random(parts.length)] ?? '');
      bytes = Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at + random(2))]);
    }
    yield bytes;
  }
}
