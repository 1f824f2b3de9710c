#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod checks;
mod exchange;
mod explain;
mod host;
mod interpreter;
mod invocation;
mod launch;
mod limits;
mod outcome;
mod queue;
mod running;

pub use checks::check_protocol;
pub use host::{Host, HostBuilder};
pub use interpreter::{Interpreter, InterpreterKind};
pub use invocation::{Grant, Invocation, Module, Parameters};
pub use limits::Limits;
pub use outcome::{Outcome, ProcessReport, Stderr};
pub use running::{Canceller, Running};

pub use modberth_protocol::process::{Failure, Results, TargetError, TargetResult};
pub use modberth_sandbox::{Confinement, Exit, Usage, heed_children};
