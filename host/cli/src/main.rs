//! Modberth: run modules nobody has to trust.

fn main() {}
