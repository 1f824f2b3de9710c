// The numbers of process protocol 1. Lengths of text are Unicode code points, sizes are bytes.

/** Most payload bytes in one frame. */
export const MAX_PAYLOAD = 1_048_576;
/** Bytes of the big-endian length before a payload. */
export const HEADER_LENGTH = 4;
/** Most targets in one batch; the least is 1. */
export const MAX_TARGETS = 64;
/** Most code points in a target id; the least is 1. */
export const MAX_TARGET_ID = 128;
/** Most code points in a request id; the least is 1. */
export const MAX_REQUEST_ID = 128;
/** Deepest place of a value in a frame; the root object is at depth 0. */
export const MAX_DEPTH = 12;
/** Most entries in one object or array. */
export const MAX_ENTRIES = 256;
/** Most code points in the name of an object member. */
export const MAX_NAME = 240;
/** Most code points in a string. */
export const MAX_STRING = 65_536;
/** Most code points in the message of a target error. */
export const MAX_MESSAGE = 1_024;
/**
 * Where the list of a module's actions is cut for a diagnostic, in bytes. The number of those left out
 * follows, so the whole line has at most 2,048. The same in every language.
 */
export const MAX_ACTIONS = 2_000;
/** Names that begin so are refused: a common parser gives them a meaning of its own. */
export const RESERVED_PREFIX = '$serde_json::private::';
