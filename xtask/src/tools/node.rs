//! Node and npm.

use super::python;
use crate::run::Job;
use crate::stamp::{Inputs, Stamp};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// The lowest major version of Node.
const NODE: u32 = 20;

/// The Node program that the host starts modules with, symlinks and shims resolved, and its version.
pub(crate) fn find() -> Result<(PathBuf, String)> {
    let wanted = format!("Node {NODE} or newer with npm is needed");
    let (path, version) = python::host_candidates("node")
        .iter()
        .find_map(|path| question(path))
        .with_context(|| wanted.clone())?;
    Job::new("npm").arg("--version").capture().with_context(|| wanted)?;
    Ok((path, version))
}

/// Starts a candidate and asks what it is; `None` when it is too old.
fn question(candidate: &Path) -> Option<(PathBuf, String)> {
    let script = "process.execPath + '\\n' + process.version";
    let text = Job::new(candidate).args(["-p", script]).minutes(1).capture().ok()?;
    let (path, version) = text.trim().split_once('\n')?;
    let new = super::version(version).is_some_and(|(major, _)| major >= NODE);
    new.then_some((Path::new(path).canonicalize().ok()?, version.to_owned()))
}

/// `npm ci` in a package's folder, when its lock file or Node changed since the last time.
pub(crate) fn install(workspace: &Workspace, package: &str, version: &str) -> Result<()> {
    let folder = workspace.at(package);
    if !folder.join("package-lock.json").exists() {
        bail!("{package}/package-lock.json is missing");
    }
    let inputs = Inputs::default()
        .value(version)
        .value(folder.as_os_str().as_encoded_bytes())
        .path(folder.join("package-lock.json"))?
        .path(folder.join("package.json"))?;
    let stamp = Stamp::new(workspace, &format!("npm-{package}"), inputs)?;
    if stamp.is_current(&[folder.join("node_modules")]) {
        return Ok(());
    }
    stamp.clear()?;
    eprintln!("set-up: npm packages of {package}");
    Job::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
        .dir(&folder)
        .minutes(15)
        .capture()?;
    stamp.set()
}
