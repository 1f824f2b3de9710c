//! A module that sends its message back, once for every target.

use std::process::ExitCode;

use modberth_sdk::{Module, Target};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Echo {
    message: String,
}

fn main() -> ExitCode {
    Module::new()
        .each("echo", |target: &Target, parameters: &Echo| {
            Ok(json!({ "message": parameters.message, "index": target.index() }))
        })
        .run()
}
