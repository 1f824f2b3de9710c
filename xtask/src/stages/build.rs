//! Building: the host, the SDKs, the example modules and the faulty modules of the tests.

use super::{Run, Stage};
use crate::examples;
use crate::run::Job;
use crate::vendor;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The stages of `cargo xtask build`.
pub(crate) const ALL: &[&Stage] = &[&HOST, &C, &CPP, &JS, &TS, &EXAMPLES];

const HOST: Stage =
    Stage { name: "build-host", about: "the host and every other crate", slow: false, run: host };
const C: Stage = Stage { name: "build-c", about: "the C SDK", slow: false, run: |run| counted(run, c) };
const CPP: Stage =
    Stage { name: "build-cpp", about: "the C++ SDK", slow: false, run: |run| counted(run, cpp) };
const JS: Stage =
    Stage { name: "build-js", about: "the JavaScript SDK", slow: false, run: |run| counted(run, js) };
const TS: Stage =
    Stage { name: "build-ts", about: "the TypeScript SDK", slow: false, run: |run| counted(run, ts) };

/// The example modules, which tests of other stages start.
pub(crate) const EXAMPLES: Stage =
    Stage { name: "examples", about: "every example module", slow: false, run: all_examples };

fn host(run: &mut Run<'_>) -> Result<()> {
    let job = Job::new("cargo").args(["build", "--quiet", "--workspace", "--bins", "--lib"]);
    run.check(job.dir(&run.workspace.root));
    Ok(())
}

fn counted(run: &mut Run<'_>, build: fn(&mut Run<'_>) -> Result<()>) -> Result<()> {
    let result = build(run);
    run.judge(result);
    Ok(())
}

fn all_examples(run: &mut Run<'_>) -> Result<()> {
    let examples = examples::build(run.workspace, run.tools)?;
    for example in examples {
        run.note(&example.command.join(" "));
        run.judge(Ok(()));
    }
    Ok(())
}

/// The C SDK with its tests and its faulty module, below `sdk-c` of the target directory.
pub(crate) fn c(run: &mut Run<'_>) -> Result<()> {
    cmake(run, "sdk-c").map(drop)
}

/// The C++ SDK, likewise.
pub(crate) fn cpp(run: &mut Run<'_>) -> Result<()> {
    cmake(run, "sdk-cpp").map(drop)
}

/// Configures and builds one CMake project; returns its build folder.
pub(crate) fn cmake(run: &mut Run<'_>, project: &str) -> Result<PathBuf> {
    let build = run.workspace.built(project);
    cmake_with(run, project, &build, &[])?;
    Ok(build)
}

/// Configures and builds one CMake project in a folder of its own.
pub(crate) fn cmake_with(run: &mut Run<'_>, project: &str, build: &Path, settings: &[&str]) -> Result<()> {
    let root = run.workspace.root.clone();
    run.step(
        Job::new("cmake").args(["-S", project, "-Wno-dev"]).args(settings).arg("-B").arg(build).dir(&root),
    )?;
    run.step(Job::new("cmake").arg("--build").arg(build).args(["--parallel", "2"]).dir(&root)).map(drop)
}

/// The JavaScript SDK: both module kinds, types and the single file, in its `dist`.
pub(crate) fn js(run: &mut Run<'_>) -> Result<()> {
    vendor::javascript(run.workspace, run.tools).map(drop)
}

/// The TypeScript SDK, which stands on the JavaScript one.
pub(crate) fn ts(run: &mut Run<'_>) -> Result<()> {
    vendor::typescript(run.workspace, run.tools).map(drop)
}
