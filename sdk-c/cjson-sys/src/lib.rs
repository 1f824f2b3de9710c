//! The C SDK built against the system cJSON, for tests and fuzzers.
