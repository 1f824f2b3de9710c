//! Process protocol 1 from both ends, without I/O.
//!
//! The host writes two frames, hello and invoke, closes the module's input, and reads two frames back, hello and result.
//! [`HostSession`] is the host's end and [`ModuleSession`] the module's. Both judge results by [`check_results`].

mod host_session;
mod messages;
mod module_session;
mod request;
mod results;

pub use host_session::{Exit, Failure, HostSession};
pub use messages::{
    HOST_HELLO, MODULE_HELLO, check_host_hello, check_module_hello, encode_invoke, encode_result,
    parse_invoke, parse_result,
};
pub use module_session::ModuleSession;
pub use request::{Request, check_targets};
pub use results::{
    Node, Outcome, Results, RowOutcome, TargetError, TargetResult, check_error, check_results,
};
