#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod code;
mod code_table;
pub mod frame;
pub mod ident;
pub mod json;
pub mod limits;
pub mod process;
mod violation;

pub use code::{Code, UnknownCode};
pub use violation::{Blame, Place, Violation};
