//! `cargo xtask generate`: files made from others. The constants of every language and the docs' index come from
//! `conformance/errors.json`; the list of tests of each requirement comes from a search through the tests.
//!
//! Each file says in its first line that it is generated and names the command; `--check` compares and writes nothing.

mod c;
mod javascript;
mod markdown;
mod python;
mod rust;

use crate::errors::{self, Entry};
use crate::requirements;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;

/// The sentence that generated files begin with, inside a comment of their language.
const NOTICE: &str = "Generated from conformance/errors.json by `cargo xtask generate`. Do not edit.";

/// One generated file.
struct Output {
    path: &'static str,
    content: String,
}

/// Every generated file with its content.
fn outputs(workspace: &Workspace) -> Result<Vec<Output>> {
    let codes = errors::load(workspace)?;
    let sdk: Vec<&Entry> = codes.iter().filter(|entry| entry.by.iter().any(|by| by == "sdk")).collect();
    let all: Vec<&Entry> = codes.iter().collect();
    Ok(vec![
        Output { path: "host/protocol/src/code.rs", content: rust::codes(&all)? },
        Output { path: "sdk-python/src/modberth_sdk/_codes.py", content: python::codes(&sdk) },
        Output { path: "sdk-js/src/codes.js", content: javascript::codes(&sdk) },
        Output { path: "sdk-c/include/modberth_codes.h", content: c::codes(&sdk) },
        Output { path: "docs/errors.md", content: markdown::index(&all) },
        Output { path: requirements::FILE, content: requirements::with_tests(workspace)? },
    ])
}

/// Writes what differs, or only compares.
///
/// # Errors
///
/// With `check`: a file differs. Otherwise: a file cannot be written.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    for output in outputs(workspace)? {
        let path = workspace.at(output.path);
        if fs::read_to_string(&path).is_ok_and(|old| old == output.content) {
            continue;
        }
        if !check {
            fs::write(&path, &output.content).with_context(|| output.path.to_owned())?;
        }
        changed.push(PathBuf::from(output.path));
    }
    if check && !changed.is_empty() {
        let names: Vec<_> = changed.iter().map(|path| path.display().to_string()).collect();
        bail!("not current, run `cargo xtask generate`: {}", names.join(", "));
    }
    Ok(changed)
}

/// `frame.too_large` as `FRAME_TOO_LARGE`.
fn screaming(code: &str) -> String {
    code.replace(['.', '-'], "_").to_uppercase()
}
