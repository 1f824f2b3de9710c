//! The faulty modules: one in each language, with the same actions that go wrong on demand. Built for the conformance tests.

use super::{Run, build};
use crate::run::Job;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

/// One faulty module as the tests read it.
#[derive(Serialize)]
struct Faulty {
    language: &'static str,
    command: Vec<String>,
}

/// Builds all of them, and returns the file that lists how to start them.
pub(crate) fn build(run: &mut Run<'_>) -> Result<PathBuf> {
    let workspace = run.workspace;
    let c = build::cmake(run, "sdk-c")?.join("tests/faulty-module");
    let cpp = build::cmake(run, "sdk-cpp")?.join("tests/faulty-module");
    run.step(
        Job::new("cargo").args(["build", "--quiet", "--package", "faulty-module"]).dir(&workspace.root),
    )?;
    build::ts(run)?;
    let python = run.tools.python.path.clone();
    let node = run.tools.node.clone();
    let plain = |path: PathBuf| vec![path.display().to_string()];
    let node = |path: &str| {
        [node.display().to_string(), "--no-addons".to_owned(), workspace.at(path).display().to_string()]
            .to_vec()
    };
    let mut isolated: Vec<String> = vec![python.display().to_string()];
    isolated.extend(["-I", "-S", "-B"].map(str::to_owned));
    isolated.push(workspace.at("sdk-python/tests/faulty-module/main.py").display().to_string());
    let list = [
        Faulty { language: "c", command: plain(c) },
        Faulty { language: "cpp", command: plain(cpp) },
        Faulty { language: "rust", command: plain(workspace.built("debug/faulty-module")) },
        Faulty { language: "python", command: isolated },
        Faulty { language: "js", command: node("sdk-js/tests/faulty-module/main.cjs") },
        Faulty { language: "ts", command: node("sdk-ts/dist/tests/faulty-module/main.cjs") },
    ];
    let file = workspace.built("faulty.json");
    fs::write(&file, serde_json::to_string_pretty(&list)? + "\n")
        .with_context(|| file.display().to_string())?;
    Ok(file)
}
