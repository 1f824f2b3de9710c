#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod batch;
mod encode;
mod module;
mod notes;
mod panics;
mod run;
mod stdio;
mod target;
pub mod testing;

pub use batch::Batch;
pub use module::Module;
pub use run::serve;
pub use target::{Target, TargetError, TargetResult};

// What a refusal carries. A change of these types in modberth-protocol is a change of this crate.
pub use modberth_protocol::{Code, Place, Violation};
