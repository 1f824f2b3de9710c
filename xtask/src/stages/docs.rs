//! The docs stage: documentation of every language with warnings denied, pages, generated files, requirements and codes.

use super::{Run, Stage};
use crate::run::Job;
use crate::{errors, generate, markdown, requirements};
use anyhow::{Result, bail};
use std::fs;

/// The stage.
pub(crate) const DOCS: Stage = Stage {
    name: "docs",
    about: "API documentation, pages, generated files, requirements, error codes",
    slow: false,
    run: docs,
};

fn docs(run: &mut Run<'_>) -> Result<()> {
    let workspace = run.workspace;
    run.check(
        Job::new("cargo")
            .args(["doc", "--quiet", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings")
            .dir(&workspace.root),
    );
    doxygen(run)?;
    run.judge(markdown::snippets(workspace));
    run.judge(markdown::links(workspace));
    run.judge(markdown::summary(workspace));
    run.judge(generate::run(workspace, true).map(drop));
    run.judge(none(requirements::problems(workspace)?));
    run.judge(none(errors::unasserted(workspace)?));
    Ok(())
}

/// Every public name of the C and C++ headers has its documentation.
fn doxygen(run: &mut Run<'_>) -> Result<()> {
    for project in ["sdk-c", "sdk-cpp"] {
        let out = run.workspace.built(format!("doc/{project}"));
        fs::create_dir_all(&out)?;
        run.check(
            Job::new("doxygen").arg("Doxyfile").env("DOXYGEN_OUT", &out).dir(run.workspace.at(project)),
        );
    }
    Ok(())
}

fn none(problems: Vec<String>) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}", problems.join("\n"))
}
