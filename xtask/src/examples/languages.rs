//! How the example of each language is built, and which files its payload holds.

use super::payload::Member;
use crate::run::Job;
use crate::stamp::{Inputs, Stamp, all_files};
use crate::tools::Tools;
use crate::vendor;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::path::Path;

/// The six languages, by the names of their folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Cpp,
    Rust,
    Python,
    Js,
    Ts,
}

impl Language {
    /// All of them, in the order they are listed.
    pub(super) const ALL: [Language; 6] =
        [Language::C, Language::Cpp, Language::Rust, Language::Python, Language::Js, Language::Ts];

    /// The folder below `examples/<name>/`.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Rust => "rust",
            Language::Python => "python",
            Language::Js => "js",
            Language::Ts => "ts",
        }
    }

    /// Builds the example `name` in `dir` and returns the files of its payload. Quick when nothing changed.
    pub(super) fn build(self, ws: &Workspace, tools: &Tools, name: &str, dir: &Path) -> Result<Vec<Member>> {
        match self {
            Language::C | Language::Cpp => native(ws, self.folder(), name, dir),
            Language::Rust => rust(ws, name),
            Language::Python => python(ws, tools, dir),
            Language::Js => javascript(ws, tools, dir),
            Language::Ts => typescript(ws, tools, name, dir),
        }
    }
}

/// C and C++: CMake builds and installs the payload, the library and its licence text with it.
fn native(ws: &Workspace, language: &str, name: &str, dir: &Path) -> Result<Vec<Member>> {
    let build = ws.built(format!("examples/{name}-{language}"));
    let staged = build.join("payload");
    let log = |job: Job| job.dir(&ws.root).capture();
    if !build.join("CMakeCache.txt").exists() {
        log(Job::new("cmake").arg("-S").arg(dir).arg("-B").arg(&build).arg("-DCMAKE_BUILD_TYPE=Release"))?;
    }
    log(Job::new("cmake").arg("--build").arg(&build))?;
    log(Job::new("cmake").arg("--install").arg(&build).arg("--prefix").arg(&staged))?;
    Ok(all_files(&staged)?
        .into_iter()
        .map(|path| {
            let inside = path.strip_prefix(&staged).unwrap_or(&path).display().to_string();
            if inside == format!("bin/{name}") {
                Member::program(inside, path)
            } else {
                Member::file(inside, path)
            }
        })
        .collect())
}

/// Rust: cargo builds the crate `<name>-rust`; the entry is called as the example.
fn rust(ws: &Workspace, name: &str) -> Result<Vec<Member>> {
    let package = format!("{name}-rust");
    Job::new("cargo")
        .args(["build", "--quiet", "--release", "--package", &package])
        .dir(&ws.root)
        .capture()?;
    Ok(vec![Member::program(name, ws.built("release").join(package))])
}

/// Python: the sources as they stand, the SDK in one file, and its bytecode for every interpreter that was found.
fn python(ws: &Workspace, tools: &Tools, dir: &Path) -> Result<Vec<Member>> {
    let mut members = beside(dir, ".py")?;
    members.extend(below(&vendor::python(ws, tools)?)?);
    Ok(members)
}

/// JavaScript: the CommonJS sources as they stand, and the SDK in one file.
fn javascript(ws: &Workspace, tools: &Tools, dir: &Path) -> Result<Vec<Member>> {
    let mut members = beside(dir, ".cjs")?;
    members.push(Member::file("modberth-sdk.cjs", vendor::javascript(ws, tools)?.join("modberth-sdk.cjs")));
    Ok(members)
}

/// TypeScript: the sources compiled to CommonJS, and the SDK in one file.
fn typescript(ws: &Workspace, tools: &Tools, name: &str, dir: &Path) -> Result<Vec<Member>> {
    vendor::typescript(ws, tools)?;
    let out = ws.built(format!("examples/{name}-ts"));
    let inputs = Inputs::default()
        .value(&tools.node_version)
        .value(out.as_os_str().as_encoded_bytes())
        .path(dir)?
        .path(ws.at("sdk-js"))?
        .path(ws.at("sdk-ts"))?;
    let stamp = Stamp::new(ws, &format!("example-{name}-ts"), inputs)?;
    if !stamp.is_current(&[out.join("main.cjs")]) {
        stamp.clear()?;
        if out.exists() {
            std::fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
        }
        Job::new(&tools.node)
            .arg(ws.at("sdk-ts/packaging/payload.mjs"))
            .args([dir, &out])
            .dir(&ws.root)
            .capture()?;
        stamp.set()?;
    }
    below(&out)
}

/// The sources of one kind that stand beside the manifest.
fn beside(dir: &Path, ending: &str) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(ending) && entry.file_type()?.is_file() {
            members.push(Member::file(name, entry.path()));
        }
    }
    Ok(members)
}

/// Every file of a folder, under its name inside it.
fn below(folder: &Path) -> Result<Vec<Member>> {
    Ok(all_files(folder)?
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            Member::file(name, path)
        })
        .collect())
}
