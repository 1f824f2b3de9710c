//! A module of the Rust SDK whose handlers go wrong on demand, for tests.

fn main() {}
