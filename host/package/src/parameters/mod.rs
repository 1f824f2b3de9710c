//! Parameters of actions: their schema, the check of a request's parameters, and reading them from text.

mod check;
mod schema;
mod text;

pub use schema::{Kind, Parameter, Schema};
