// Frames and messages as a host writes them, with every part replaceable.

/** @param {string | Uint8Array} payload */
export function frame(payload) {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
}

export const HELLO = '{"version":1,"type":"hello","host_api":1}';
export const MODULE_HELLO = '{"version":1,"type":"hello","protocol":1}';

/**
 * @param {string} action
 * @param {unknown} targets
 * @param {unknown} [parameters]
 */
export function invoke(action, targets, parameters = {}) {
  return JSON.stringify({ version: 1, type: 'invoke', id: 'r', action, targets, parameters });
}

/**
 * The input of one action.
 * @param {string | Uint8Array} request
 * @param {string | Uint8Array} [hello]
 */
export function input(request, hello = HELLO) {
  return Buffer.concat([frame(hello), frame(request)]);
}

/**
 * Splits output into its payloads as text; throws when it is not a whole number of frames.
 * @param {Uint8Array} output
 */
export function payloads(output) {
  const bytes = Buffer.from(output);
  const found = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error('a frame is cut short');
    found.push(bytes.toString('utf8', at + 4, end));
    at = end;
  }
  return found;
}

/**
 * The results of a module's output.
 * @param {Uint8Array} output
 */
export function results(output) {
  const [hello, result, ...rest] = payloads(output);
  if (hello !== MODULE_HELLO || result === undefined || rest.length > 0) {
    throw new Error('not the two frames of a module');
  }
  return JSON.parse(result).results;
}
