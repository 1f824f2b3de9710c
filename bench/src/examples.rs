//! The example modules, as `cargo xtask examples --json` lists them.

use crate::Context;
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;

/// One entry of the list.
#[derive(Deserialize)]
pub(crate) struct Example {
    name: String,
    /// Folder below `examples/NAME`.
    pub(crate) language: String,
    /// The package folder: manifest and payload.
    pub(crate) dir: PathBuf,
    /// Starts the module without a sandbox.
    pub(crate) command: Vec<String>,
}

/// The whole list.
pub(crate) fn all(context: &Context) -> Result<Vec<Example>, String> {
    let path = context.examples.as_ref().ok_or("needs --examples FILE; cargo xtask bench passes it")?;
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The echo example in a language.
pub(crate) fn echo<'a>(all: &'a [Example], language: &str) -> Result<&'a Example, String> {
    all.iter()
        .find(|example| example.name == "echo" && example.language == language)
        .ok_or_else(|| format!("the example list has no echo in {language}"))
}
