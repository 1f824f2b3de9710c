//! The SDK of each language as a module carries it: the files that go into a payload. Made once, and again when a source changes.

use crate::run::Job;
use crate::stamp::{Inputs, Stamp};
use crate::tools::Tools;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// The folders of all languages that have such files; Rust takes its SDK through cargo.
pub(crate) fn all(ws: &Workspace, tools: &Tools) -> Result<Vec<(&'static str, PathBuf)>> {
    Ok(vec![("python", python(ws, tools)?), ("js", javascript(ws, tools)?)])
}

/// `modberth_sdk.py` and its bytecode for every interpreter that was found.
pub(crate) fn python(ws: &Workspace, tools: &Tools) -> Result<PathBuf> {
    let folder = ws.built("vendor/python");
    let mut inputs = Inputs::default().path(ws.at("sdk-python/src"))?.path(ws.at("sdk-python/packaging"))?;
    for python in &tools.pythons {
        inputs = inputs.value(python.path.as_os_str().as_encoded_bytes()).value(&python.cache_tag);
    }
    let job = Job::new(&tools.venv)
        .args(["-B".as_ref(), ws.at("sdk-python/packaging/vendor.py").as_os_str(), folder.as_os_str()])
        .arg("--bytecode")
        .args(tools.pythons.iter().map(|python| &python.path));
    make(ws, "vendor-python", inputs, folder, "modberth_sdk.py", &job)
}

/// `modberth-sdk.cjs` and `.mjs` with their types.
pub(crate) fn javascript(ws: &Workspace, tools: &Tools) -> Result<PathBuf> {
    let folder = ws.built("vendor/js");
    let inputs = Inputs::default()
        .value(&tools.node_version)
        .path(ws.at("sdk-js/src"))?
        .path(ws.at("sdk-js/packaging"))?
        .path(ws.at("sdk-js/package-lock.json"))?
        .path(ws.at("sdk-js/tsconfig.json"))?;
    let job = Job::new(&tools.node).arg(ws.at("sdk-js/packaging/vendor.mjs")).arg(&folder);
    make(ws, "vendor-js", inputs, folder, "modberth-sdk.cjs", &job)
}

/// Runs a vendoring program unless its files are current.
fn make(
    ws: &Workspace,
    name: &str,
    inputs: Inputs,
    folder: PathBuf,
    file: &str,
    job: &Job,
) -> Result<PathBuf> {
    let inputs = inputs.value(folder.as_os_str().as_encoded_bytes());
    let stamp = Stamp::new(ws, name, inputs)?;
    if !stamp.is_current(&[folder.join(file)]) {
        stamp.clear()?;
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        job.clone().dir(&ws.root).capture()?;
        stamp.set()?;
    }
    Ok(folder)
}
