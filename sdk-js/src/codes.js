// Generated from conformance/errors.json by `cargo xtask generate`. Do not edit.

/** The stable code of every refusal that this SDK can make. */
export const codes = /** @type {const} */ ({
  /** A batch has 1 to 64 targets; this one has none or more. */
  REQUEST_TARGET_COUNT: 'request.target_count',
  /** A target id is not a string. */
  REQUEST_TARGET_TYPE: 'request.target_type',
  /** A target id has 1 to 128 Unicode code points; this one is empty or longer. */
  REQUEST_TARGET_LENGTH: 'request.target_length',
  /** A target id contains a slash, a backslash, a colon or NUL. */
  REQUEST_TARGET_CHARACTER: 'request.target_character',
  /** The same target id stands twice in the batch. */
  REQUEST_TARGET_DUPLICATE: 'request.target_duplicate',
  /** The parameters are not a JSON object. */
  REQUEST_PARAMETERS_TYPE: 'request.parameters_type',
  /** A host frame is not the exact message the protocol has at this place: a field is missing, unknown or of the wrong type. */
  REQUEST_MESSAGE: 'request.message',
  /** The host speaks another protocol version than this module. */
  REQUEST_VERSION: 'request.version',
  /** The host offers another host API than 1. */
  REQUEST_HOST_API: 'request.host_api',
  /** The request id is not a string of 1 to 128 code points without NUL. */
  REQUEST_ID: 'request.id',
  /** A frame declares a payload of 0 bytes. */
  FRAME_EMPTY: 'frame.empty',
  /** A frame declares, or would need, more than 1,048,576 payload bytes. */
  FRAME_TOO_LARGE: 'frame.too_large',
  /** The stream ended inside a frame header or payload. */
  FRAME_TRUNCATED: 'frame.truncated',
  /** The stream ended where a frame was due. */
  FRAME_MISSING: 'frame.missing',
  /** Bytes follow the last frame. */
  FRAME_EXTRA: 'frame.extra',
  /** The payload is JSON, but not an object, or does not begin as one (a byte-order mark counts). */
  JSON_NOT_OBJECT: 'json.not_object',
  /** The document ends inside a value, or is empty. */
  JSON_TRUNCATED: 'json.truncated',
  /** The payload is not UTF-8. */
  JSON_UTF8: 'json.utf8',
  /** The payload is not JSON at this byte. */
  JSON_SYNTAX: 'json.syntax',
  /** Something other than white space follows the object. */
  JSON_TRAILING: 'json.trailing',
  /** A number is not written as JSON writes numbers. */
  JSON_NUMBER: 'json.number',
  /** A string holds an escape that JSON does not know. */
  JSON_ESCAPE: 'json.escape',
  /** A string holds a raw control character. */
  JSON_CONTROL: 'json.control',
  /** A name or string holds U+0000, raw or escaped. */
  JSON_NUL: 'json.nul',
  /** A string holds an unpaired UTF-16 surrogate escape. */
  JSON_SURROGATE: 'json.surrogate',
  /** A name stands twice in one object (compared after unescaping). */
  JSON_DUPLICATE_KEY: 'json.duplicate_key',
  /** A name begins with $serde_json::private::. */
  JSON_RESERVED_KEY: 'json.reserved_key',
  /** An integer lies outside plus or minus 9007199254740991. */
  JSON_INTEGER_RANGE: 'json.integer_range',
  /** A number is not finite as a binary64 value. */
  JSON_NONFINITE: 'json.nonfinite',
  /** A value lies deeper than the profile allows (process protocols: at depth 13 or more, the root being 0). */
  JSON_DEPTH: 'json.depth',
  /** An object or array has more entries than the profile allows (process protocols: 256). */
  JSON_ENTRIES: 'json.entries',
  /** A name is longer than the profile allows (process protocols: 240 code points). */
  JSON_NAME_LENGTH: 'json.name_length',
  /** A string is longer than the profile allows (process protocols: 65,536 code points). */
  JSON_STRING_LENGTH: 'json.string_length',
  /** The results are not a list of objects. */
  OUTPUT_RESULTS_TYPE: 'output.results_type',
  /** A result lacks target, has an unknown field, or a field of the wrong type. */
  OUTPUT_RESULT_FIELDS: 'output.result_fields',
  /** A result names a target that is not in the batch. */
  OUTPUT_TARGET_UNKNOWN: 'output.target_unknown',
  /** Two results name the same target. */
  OUTPUT_TARGET_DUPLICATE: 'output.target_duplicate',
  /** A target of the batch has no result. */
  OUTPUT_TARGET_MISSING: 'output.target_missing',
  /** A result has both data and error. */
  OUTPUT_OUTCOME_BOTH: 'output.outcome_both',
  /** A result has neither data nor error. */
  OUTPUT_OUTCOME_MISSING: 'output.outcome_missing',
  /** An error is not exactly a code and a message, both strings. */
  OUTPUT_ERROR_FIELDS: 'output.error_fields',
  /** An error code is not an identifier: a lower-case letter, then up to 95 of a-z 0-9 _ . - */
  OUTPUT_ERROR_CODE: 'output.error_code',
  /** An error message has more than 1,024 code points. */
  OUTPUT_ERROR_MESSAGE: 'output.error_message',
  /** The handler returned a value that JSON cannot carry. */
  OUTPUT_VALUE: 'output.value',
  /** The handler of the whole batch failed, so there is no result. */
  OUTPUT_HANDLER_FAILED: 'output.handler_failed',
  /** The module could not read its standard input or write its standard output. */
  PROCESS_IO: 'process.io',
  /** The module ran out of memory. */
  PROCESS_MEMORY: 'process.memory',
  /** The module's own table of actions is wrong: a name that is no identifier or stands twice, or not exactly one handler for a name. */
  PROCESS_ACTIONS: 'process.actions',
});
