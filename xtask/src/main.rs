//! The front door of the workspace.

fn main() {}
