//! The SDK of each language as a module carries it: the files that go into a payload. Made once, and again when a source changes.

use crate::lock::Lock;
use crate::run::Job;
use crate::stamp::{Inputs, Stamp};
use crate::tools::Tools;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// The folders of all languages that have such files; Rust takes its SDK through cargo.
pub(crate) fn all(ws: &Workspace, tools: &Tools) -> Result<Vec<(&'static str, PathBuf)>> {
    Ok(vec![
        ("c", native(ws, "c", "modberth_sdk.c")?),
        ("cpp", native(ws, "cpp", "modberth_sdk.hpp")?),
        ("python", python(ws, tools)?),
        ("js", javascript(ws, tools)?),
        ("ts", typescript(ws, tools)?),
    ])
}

/// C: one source and one header. C++: its header and the two of C.
fn native(ws: &Workspace, language: &str, file: &str) -> Result<PathBuf> {
    let folder = ws.built(format!("vendor/{language}"));
    let inputs = Inputs::default().path(ws.at("sdk-c"))?.path(ws.at("sdk-cpp"))?;
    let job = Job::new("cmake")
        .arg("-D")
        .arg(format!("OUT={}", folder.display()))
        .arg("-P")
        .arg(ws.at(format!("sdk-{language}/packaging/vendor.cmake")));
    make(ws, &format!("vendor-{language}"), inputs, folder, file, &job)
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
    npm_build(ws, tools, "sdk-js")?;
    Ok(ws.at("sdk-js/dist/vendor"))
}

/// The same two with the types of the TypeScript SDK.
pub(crate) fn typescript(ws: &Workspace, tools: &Tools) -> Result<PathBuf> {
    javascript(ws, tools)?;
    npm_build(ws, tools, "sdk-ts")?;
    Ok(ws.at("sdk-ts/dist/vendor"))
}

/// `npm run build` unless nothing changed since the last one. The TypeScript SDK stands on the JavaScript one.
fn npm_build(ws: &Workspace, tools: &Tools, package: &str) -> Result<()> {
    let _lock = Lock::take(ws, "npm-build")?;
    let folder = ws.at(package);
    let inputs = Inputs::default()
        .value(&tools.node_version)
        .value(folder.as_os_str().as_encoded_bytes())
        .path(ws.at("sdk-js"))?
        .path(&folder)?;
    let stamp = Stamp::new(ws, &format!("build-{package}"), inputs)?;
    if !stamp.is_current(&[folder.join("dist/vendor")]) {
        stamp.clear()?;
        Job::new("npm").args(["run", "--silent", "build"]).dir(&folder).capture()?;
        stamp.set()?;
    }
    Ok(())
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
