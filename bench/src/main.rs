//! Benchmarks of Modberth.

fn main() {}
