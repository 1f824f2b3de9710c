//! The bounds of the process protocols: one table, one line per number. A bound itself passes; one more is refused.

/// Payload bytes of one frame (P1-FRAME-02).
pub const FRAME_PAYLOAD: usize = 1_048_576;
/// Bytes of a frame's header: the payload's length, unsigned, big-endian (P1-FRAME-01).
pub const FRAME_HEADER: usize = 4;
/// Frames that a protocol 1 host writes, and frames that a module answers with (P1-HOST-02, P1-HOST-04).
pub const FRAMES: u32 = 2;
/// Bytes that a module may write to standard output over all its frames: two full frames.
pub const OUTPUT_BYTES: usize = 2 * (FRAME_HEADER + FRAME_PAYLOAD);
/// Bytes that a module may write to standard error; this many are kept for the caller (P1-HOST-05).
pub const STDERR_BYTES: u64 = 65_536;

/// Targets of one batch; at least one (P1-HOST-13).
pub const TARGETS: usize = 64;
/// Unicode code points of a target id; at least one (P1-HOST-14).
pub const TARGET_ID: usize = 128;
/// Unicode code points of a request id; at least one.
pub const REQUEST_ID: usize = 128;
/// Characters of an identifier: a lower-case letter, then up to 95 of `a-z 0-9 _ . -` (P1-HOST-11).
pub const IDENTIFIER: usize = 96;
/// Unicode code points of the message of a target error; an empty one is legal (P1-HOST-11).
pub const ERROR_MESSAGE: usize = 1_024;

/// Deepest place where a value may stand in a frame of the process protocols, the root being 0 (P1-HOST-21).
pub const JSON_DEPTH: u8 = 12;
/// Entries of an object or array (P1-HOST-35).
pub const JSON_ENTRIES: usize = 256;
/// Unicode code points of a member name (P1-HOST-35).
pub const JSON_NAME: usize = 240;
/// Unicode code points of a string (P1-HOST-35).
pub const JSON_STRING: usize = 65_536;
/// Largest absolute value of a number written without fraction and exponent: 2^53 - 1 (P1-HOST-20).
pub const JSON_INTEGER: u64 = 9_007_199_254_740_991;
/// Deepest place where a value may stand in a Wire message, the root being 0.
pub const WIRE_JSON_DEPTH: u8 = 99;

/// Depth at which the parameters stand in an invoke frame.
pub const PARAMETERS_DEPTH: u8 = 1;
/// Depth at which the data of a target stands in a result frame.
pub const DATA_DEPTH: u8 = 3;

/// The number of protocol 1 in its messages.
pub const PROTOCOL_1: i64 = 1;
/// The only host API there is.
pub const HOST_API: i64 = 1;
