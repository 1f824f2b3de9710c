//! cargo itself, and the tools that cargo installs.

use crate::run::Job;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// The lowest cargo that is supported: `rust-version` of the workspace.
const CARGO: (u32, u32) = (1, 95);

/// Checks the version of cargo, and that rustfmt and clippy are there.
pub(crate) fn check() -> Result<()> {
    let text = Job::new("cargo").arg("--version").capture().context("cargo")?;
    if super::version(&text).is_none_or(|version| version < CARGO) {
        bail!("cargo {}.{} or newer is needed, found {}: run `rustup update`", CARGO.0, CARGO.1, text.trim());
    }
    for (component, command) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        Job::new("cargo")
            .args([command, "--version"])
            .capture()
            .map_err(|_| anyhow::anyhow!("{component} is missing: run `rustup component add {component}`"))?;
    }
    Ok(())
}

/// A cargo subcommand that is used when it can be had: the user's own, else one below the target directory, installed once.
/// It is built without optimisation, because building takes longer than all that it does here.
pub(crate) fn subcommand(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let verb = name.strip_prefix("cargo-").unwrap_or(name);
    if let Some(own) = super::python::on_path(name)
        && Job::new(&own).args([verb, "--version"]).capture().is_ok()
    {
        return Ok(own);
    }
    let root = workspace.built("tools");
    let program = root.join("bin").join(name);
    if !program.exists() {
        Job::new("cargo")
            .args(["install", "--quiet", "--locked", "--debug", "--root"])
            .arg(&root)
            .arg("--target-dir")
            .arg(root.join("build"))
            .arg(name)
            .dir(&workspace.root)
            .minutes(30)
            .capture()
            .with_context(|| format!("install {name}"))?;
        // What was built on the way is many times larger than the program and never used again.
        let _ = std::fs::remove_dir_all(root.join("build"));
    }
    Ok(program)
}
