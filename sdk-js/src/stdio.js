import fs from 'node:fs';
import { codes } from './codes.js';
import { ModberthError } from './errors.js';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

// A descriptor that another process set to nonblocking answers EAGAIN. The host gives an action ten
// seconds, so a module that waits longer than this waits for nobody.
const PAUSE_MS = 2;
const PATIENCE_MS = 60_000;

// A longer standard error fails the action, so traces stay far below what the host takes. Bytes.
const MAX_TRACES = 16_384;
const MAX_TRACE = 4_096;
const MAX_LINE = 2_048;

// Node.js loads one of these with the first stream of its standard output or error.
const STREAM_MODULES = [
  'NativeModule net',
  'NativeModule tty',
  'NativeModule internal/fs/sync_write_stream',
];

/** True only while this file itself writes frames. */
let sending = false;

/**
 * Whether a system call that threw is to be repeated: a nonblocking descriptor puts it off, and this
 * has waited a little.
 * @param {unknown} error
 * @param {number} waited Milliseconds before this.
 */
function mayRepeat(error, waited) {
  const again = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
  if (!again || waited >= PATIENCE_MS) return false;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  return true;
}

/**
 * @param {string} what
 * @param {unknown} error
 */
function failedStream(what, error) {
  const cause = error instanceof Error ? error.message : String(error);
  return new ModberthError(codes.PROCESS_IO, `standard ${what}: ${cause}`);
}

/**
 * Reads from standard input.
 * @param {Uint8Array} into
 * @param {number} offset
 * @returns {number} 0 at the end of the input.
 */
export function readInput(into, offset) {
  // Node.js takes fewer steps for a list of buffers than for one, and each is compiled here.
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      return fs.readvSync(STDIN, [into.subarray(offset)]);
    } catch (error) {
      if (!mayRepeat(error, waited)) throw failedStream('input cannot be read', error);
    }
  }
}

/**
 * Writes everything in the calling thread, because an asynchronous write is lost when the process
 * ends before it.
 * @param {number} descriptor
 * @param {Buffer} bytes
 */
function writeAll(descriptor, bytes) {
  let waited = 0;
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writevSync(descriptor, [at === 0 ? bytes : bytes.subarray(at)]);
      waited = 0;
    } catch (error) {
      if (!mayRepeat(error, waited)) throw error;
      waited += PAUSE_MS;
    }
  }
}

/**
 * Writes the frames to standard output.
 * @param {Buffer} bytes
 */
export function sendFrames(bytes) {
  sending = true;
  try {
    writeAll(STDOUT, bytes);
  } catch (error) {
    throw failedStream('output cannot be written', error);
  } finally {
    sending = false;
  }
}

/**
 * Writes to standard error; a reader that has gone away is no reason to fail.
 * @param {string | Buffer} text
 */
function writeDiagnostic(text) {
  try {
    writeAll(STDERR, typeof text === 'string' ? Buffer.from(text) : text);
  } catch {
    // Nobody is left to tell.
  }
}

/**
 * A sink for traces that stays within a bound however many targets fail.
 * @returns {(text: string) => void}
 */
export function traceSink() {
  let left = MAX_TRACES;
  return (text) => {
    if (left === 0) return;
    const line = bounded(text, MAX_TRACE);
    if (line.length <= left) {
      left -= line.length;
      writeDiagnostic(line);
    } else {
      writeDiagnostic('Further traces are left out.\n');
      left = 0;
    }
  };
}

/**
 * Writes the one line that names a refusal: at most 2,048 bytes, control characters escaped.
 * @param {string} code
 * @param {string} text
 */
export function reportRefusal(code, text) {
  const line = `modberth: ${code}: ${text}`.replace(
    new RegExp('[\\0-\\u001f\\u007f-\\u009f\\u2028\\u2029]', 'g'),
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  writeDiagnostic(bounded(line, MAX_LINE));
}

/**
 * The text with a line feed, in at most so many bytes; a longer one is cut between two characters.
 * @param {string} text
 * @param {number} limit
 */
function bounded(text, limit) {
  const bytes = Buffer.from(text);
  if (bytes.length < limit) return Buffer.concat([bytes, Buffer.from('\n')]);
  let end = limit - 4;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return Buffer.concat([bytes.subarray(0, end), Buffer.from('\u2026\n')]);
}

/**
 * Makes standard output carry frames only (P1-SDK-06). Node.js cannot duplicate a descriptor, so
 * everything else that would write to descriptor 1 is sent to descriptor 2: `console` and
 * `process.stdout`, the functions of `fs`, and child processes that would inherit it. The last two
 * are caught below the public functions, so a function that the author imported before is caught too.
 */
export function takeOutput() {
  /** @type {NodeJS.WritableStream | undefined} */
  const earlier = hasStreams() ? process.stdout : undefined;
  Object.defineProperty(process, 'stdout', {
    configurable: true,
    enumerable: true,
    get: () => process.stderr,
  });
  if (earlier !== undefined && earlier !== process.stderr) {
    Object.assign(earlier, {
      write: process.stderr.write.bind(process.stderr),
      end: process.stderr.write.bind(process.stderr),
    });
  }

  const files = binding('fs');
  for (const name of ['writeBuffer', 'writeBuffers', 'writeString', 'writeFileUtf8']) {
    wrap(files, name, (first) => (first === STDOUT && !sending ? STDERR : first));
  }
  keepOpen(files);
  wrap(binding('spawn_sync'), 'spawn', redirectChild);
  wrap(binding('process_wrap')?.Process?.prototype, 'spawn', redirectChild);
}

/**
 * Whether a stream of standard output or standard error may exist; asking for one would make it.
 */
function hasStreams() {
  const { moduleLoadList: loaded } = /** @type {{ moduleLoadList?: string[] }} */ (process);
  if (loaded === undefined) return true;
  for (const name of STREAM_MODULES) if (loaded.includes(name)) return true;
  return false;
}

/**
 * A native part of Node.js, or undefined where this process may not have it.
 * @param {string} name
 */
function binding(name) {
  try {
    return /** @type {any} */ (process).binding(name);
  } catch {
    return undefined;
  }
}

/**
 * Passes the first argument of a function through `change`.
 * @param {any} holder
 * @param {string} name
 * @param {(first: any) => any} change
 */
function wrap(holder, name, change) {
  const original = holder?.[name];
  if (typeof original !== 'function') return;
  /**
   * @this {unknown}
   * @param {unknown} first
   * @param {unknown[]} rest
   */
  holder[name] = function (first, ...rest) {
    return Reflect.apply(original, this, [change(first), ...rest]);
  };
}

/**
 * Lets nobody but the end of the process close standard output. Closing it looks as if it had worked.
 * @param {any} files
 */
function keepOpen(files) {
  const original = files?.close;
  if (typeof original !== 'function') return;
  // The arguments go on as they came: the native function tells by their number whether it may wait.
  /**
   * @this {unknown}
   * @param {[unknown, { oncomplete?: (error: null) => void }?, ...unknown[]]} given
   */
  files.close = function (...given) {
    const [descriptor, request] = given;
    if (descriptor !== STDOUT) return Reflect.apply(original, this, given);
    if (request?.oncomplete !== undefined) setImmediate(() => request.oncomplete?.(null));
    return undefined;
  };
}

/**
 * Gives a child process standard error wherever it would inherit standard output.
 * @param {{ stdio?: { type: string, fd?: number, handle?: { fd?: number } }[] }} options
 */
function redirectChild(options) {
  const stdio = options.stdio?.map((entry) =>
    (entry.fd ?? entry.handle?.fd) === STDOUT ? { type: 'fd', fd: STDERR } : entry,
  );
  return stdio === undefined ? options : Object.assign(options, { stdio });
}

/**
 * Ends the process once everything printed has left. A timer or a socket that the author forgot must
 * not hold it until the deadline of the host.
 * @param {0 | 1} status
 */
export function leave(status) {
  process.exitCode = status;
  // Not a microtask: one would overtake the promises of this turn, and what they failed with is told
  // only after the last of them.
  setImmediate(() => {
    const { reallyExit } = /** @type {{ reallyExit?: (code: unknown) => void }} */ (process);
    if (hasStreams()) process.stderr.write('', () => process.exit());
    else if (reallyExit === undefined || process.listenerCount('exit') > 0) process.exit();
    // The last step of `process.exit`. Those before it are for listeners, and there are none.
    else reallyExit.call(process, process.exitCode ?? 0);
  });
}
