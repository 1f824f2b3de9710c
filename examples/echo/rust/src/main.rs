//! The echo example module in Rust.

fn main() {}
