//! The lint stage: format and style in every language. Each tool counts as one check.

use super::{Run, Stage};
use crate::run::Job;
use crate::tools;
use anyhow::Result;

/// Format and style.
pub(crate) const LINT: Stage =
    Stage { name: "lint", about: "rustfmt, clippy, ruff, mypy, tsc, prettier", slow: false, run: lint };

/// Licences, sources and bans of the crates that are used.
pub(crate) const DENY: Stage =
    Stage { name: "deny", about: "cargo-deny: bans, licences, sources", slow: true, run: deny };

fn lint(run: &mut Run<'_>) -> Result<()> {
    let root = run.workspace.root.clone();
    run.check(Job::new("cargo").args(["fmt", "--all", "--check"]).dir(&root));
    // The fuzz targets are a workspace of their own.
    run.check(Job::new("cargo").args(["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"]).dir(&root));
    run.check(
        Job::new("cargo")
            .args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])
            .dir(&root),
    );
    let python = run.tools.venv.clone();
    // From here the settings of the SDK hold for the examples too.
    let sdk = root.join("sdk-python");
    let paths = [sdk.clone(), root.join("examples")];
    run.check(Job::new(&python).args(["-m", "ruff", "check", "--no-cache"]).args(&paths).dir(&sdk));
    run.check(
        Job::new(&python).args(["-m", "ruff", "format", "--no-cache", "--check"]).args(&paths).dir(&sdk),
    );
    run.check(Job::new(&python).args(["-m", "mypy", "--strict"]).dir(&sdk));
    for package in ["sdk-js", "sdk-ts"] {
        run.check(Job::new("npm").args(["run", "--silent", "lint"]).dir(root.join(package)));
    }
    Ok(())
}

fn deny(run: &mut Run<'_>) -> Result<()> {
    match tools::cargo::subcommand(run.workspace, "cargo-deny") {
        Ok(program) => {
            run.check(
                Job::new(program)
                    .args(["deny", "--workspace", "--all-features", "check", "bans", "licenses", "sources"])
                    .dir(&run.workspace.root),
            );
        }
        Err(problem) => run.not_run("deny", &format!("cargo-deny cannot be installed: {problem:#}")),
    }
    Ok(())
}
