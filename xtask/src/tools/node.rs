//! Node and npm.

use crate::run::Job;
use crate::stamp::{Inputs, Stamp};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// The lowest major version of Node.
const NODE: u32 = 20;

/// The Node program with symlinks and shims resolved, and its version.
pub(crate) fn find() -> Result<(PathBuf, String)> {
    let wanted = format!("Node {NODE} or newer with npm is needed");
    let script = "console.log(process.execPath + '\\n' + process.version)";
    let text = Job::new("node").args(["-e", script]).capture().with_context(|| wanted.clone())?;
    let (path, version) = text.trim().split_once('\n').with_context(|| wanted.clone())?;
    if super::version(version).is_none_or(|(major, _)| major < NODE) {
        bail!("{wanted}, found {version}");
    }
    Job::new("npm").arg("--version").capture().with_context(|| wanted)?;
    let path = PathBuf::from(path).canonicalize().context("node")?;
    Ok((path, version.to_owned()))
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
