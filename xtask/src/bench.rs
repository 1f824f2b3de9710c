//! `cargo xtask bench`: builds the benches in release mode and hands over.

use crate::examples;
use crate::run::Job;
use crate::tools::{Tools, apt};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

/// What the command line asked for.
pub(crate) struct Asked {
    /// Benches or rows.
    pub(crate) names: Vec<String>,
    /// One JSON object a line.
    pub(crate) json: bool,
    /// Only list them.
    pub(crate) list: bool,
    /// A missed bar is a failure.
    pub(crate) check: bool,
}

/// Builds and runs. The examples are built only for the benches that start them.
pub(crate) fn run(workspace: &Workspace, ready: impl Fn() -> Result<Tools>, asked: &Asked) -> Result<()> {
    Job::new("cargo")
        .args(["build", "--quiet", "--release", "--package", "modberth-bench"])
        .dir(&workspace.root)
        .capture()?;
    let mut command = Command::new(workspace.built("release/modberth-bench"));
    for (flag, given) in [("--json", asked.json), ("--list", asked.list), ("--check", asked.check)] {
        if given {
            command.arg(flag);
        }
    }
    let wants =
        |bench: &str| asked.names.is_empty() || asked.names.iter().any(|name| name.starts_with(bench));
    if !asked.list && ["sdk-start", "sandbox"].into_iter().any(wants) {
        examples::build(workspace, &ready()?)?;
        if wants("sandbox")
            && let Err(problem) = apt::install_rival()
        {
            // The row that needs it says that it was not run.
            eprintln!("bench: {problem:#}");
        }
        command.arg("--examples").arg(examples::list_file(workspace));
    }
    // Measurements last as long as they last, and their output is the result: no capture and no deadline.
    let status = command.args(&asked.names).stdin(Stdio::null()).status().context("modberth-bench")?;
    if !status.success() {
        bail!("modberth-bench ended with {status}");
    }
    Ok(())
}
