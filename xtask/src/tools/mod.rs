//! Set-up: what the workspace needs, found or installed, so that no step has to be done by hand.
//!
//! Needed beforehand are cargo, Node with npm, and CPython. Libraries and compilers come from Debian's packages; Python and npm
//! packages go below the target directory and `node_modules`. After that everything works without a network.

pub(crate) mod apt;
pub(crate) mod cargo;
pub(crate) mod node;
pub(crate) mod python;

use crate::lock::Lock;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use python::Python;
use std::path::PathBuf;

/// What set-up found and made.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    /// The interpreter of the virtual environment with the development tools.
    pub(crate) venv: PathBuf,
    /// The interpreter that starts Python modules, as the host finds it.
    pub(crate) python: Python,
    /// Every interpreter whose bytecode Python packages carry, one for each cache tag.
    pub(crate) pythons: Vec<Python>,
    /// The Node program, symlinks resolved.
    pub(crate) node: PathBuf,
    /// Node's version.
    pub(crate) node_version: String,
}

/// Checks what must be there, installs the rest, and returns where everything is. Quick when nothing is to be done.
///
/// # Errors
///
/// Something needed beforehand is missing, or an installation fails; the message says what to do.
pub(crate) fn prepare(workspace: &Workspace) -> Result<Tools> {
    let _lock = Lock::take(workspace, "setup")?;
    let mut missing = Vec::new();
    let mut note = |problem: anyhow::Error| missing.push(format!("  - {problem:#}"));
    if let Err(problem) = cargo::check() {
        note(problem);
    }
    let node = node::find().map_err(&mut note).ok();
    let pythons = python::find(workspace).map_err(&mut note).ok();
    let (Some((node, node_version)), Some(pythons)) = (node, pythons) else {
        bail!("this machine lacks what set-up cannot install:\n{}", missing.join("\n"));
    };
    if !missing.is_empty() {
        bail!("this machine lacks what set-up cannot install:\n{}", missing.join("\n"));
    }
    apt::install(&pythons.for_venv)?;
    let venv = python::venv(workspace, &pythons.for_venv).context("Python development tools")?;
    for package in ["sdk-js", "sdk-ts"] {
        node::install(workspace, package, &node_version)
            .with_context(|| format!("npm packages of {package}"))?;
    }
    Ok(Tools { venv, python: pythons.host, pythons: pythons.all, node, node_version })
}

/// The major and minor number of a version such as `v20.20.2` or `cargo 1.95.0 (…)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let begin = text.find(|c: char| c.is_ascii_digit())?;
    let mut numbers = text[begin..].split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_read_as_programs_print_them() {
        assert_eq!(version("v20.20.2\n"), Some((20, 20)));
        assert_eq!(version("cargo 1.95.0 (f2d3ce0bd 2026-03-21)"), Some((1, 95)));
        assert_eq!(version("nothing"), None);
    }
}
