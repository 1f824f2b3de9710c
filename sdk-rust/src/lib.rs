//! Write Modberth modules in Rust.
