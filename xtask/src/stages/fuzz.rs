//! The fuzz stage: every target of fuzz/ for a short, bounded time. It finds what is broken outright; long runs are started by hand.

use super::{Run, Stage};
use crate::run::Job;
use crate::tools;
use anyhow::Result;

/// The stage.
pub(crate) const FUZZ: Stage =
    Stage { name: "fuzz", about: "every fuzz target for a short time", slow: true, run: fuzz };

/// Executions per target, and the most seconds they may take.
const RUNS: u32 = 50_000;
const SECONDS: u32 = 30;

fn fuzz(run: &mut Run<'_>) -> Result<()> {
    let root = run.workspace.root.clone();
    let program = match tools::cargo::subcommand(run.workspace, "cargo-fuzz") {
        Ok(program) => program,
        Err(problem) => {
            run.not_run("fuzz", &format!("cargo-fuzz cannot be installed: {problem:#}"));
            return Ok(());
        }
    };
    // Fuzzing needs unstable flags of the compiler; the variable lets the stable one take them.
    let fuzz = |args: &[&str]| {
        Job::new(&program)
            .arg("fuzz")
            .args(args)
            .env("RUSTC_BOOTSTRAP", "1")
            .dir(root.join("fuzz"))
            .minutes(15)
    };
    let list = fuzz(&["list", "--fuzz-dir", "."]).capture()?;
    let target_dir = run.workspace.built("fuzz").display().to_string();
    for target in list.lines().map(str::trim).filter(|line| !line.is_empty()) {
        run.step(fuzz(&["build", "--fuzz-dir", ".", "--target-dir", &target_dir, target]))?;
        run.check(fuzz(&[
            "run",
            "--fuzz-dir",
            ".",
            "--target-dir",
            &target_dir,
            target,
            "--",
            &format!("-runs={RUNS}"),
            &format!("-max_total_time={SECONDS}"),
            "-rss_limit_mb=2048",
        ]));
    }
    Ok(())
}
