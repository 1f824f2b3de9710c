//! Frames, strict JSON, limits, messages and protocol state machines of Modberth, without I/O.
