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
            .args(["doc", "--quiet", "--workspace", "--no-deps", "--document-private-items"])
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
    let out = run.workspace.own("doxygen/out")?;
    fs::create_dir_all(&out)?;
    let settings = [
        "PROJECT_NAME=Modberth".to_owned(),
        format!("OUTPUT_DIRECTORY={}", out.display()),
        format!(
            "INPUT={} {}",
            run.workspace.at("sdk-c/include").display(),
            run.workspace.at("sdk-cpp/include").display()
        ),
        format!("STRIP_FROM_PATH={}", run.workspace.root.display()),
        "RECURSIVE=YES".to_owned(),
        "FILE_PATTERNS=*.h *.hpp".to_owned(),
        "GENERATE_LATEX=NO".to_owned(),
        "QUIET=YES".to_owned(),
        "WARN_IF_UNDOCUMENTED=YES".to_owned(),
        "WARN_NO_PARAMDOC=YES".to_owned(),
        "WARN_AS_ERROR=FAIL_ON_WARNINGS".to_owned(),
        "EXTRACT_STATIC=NO".to_owned(),
        "HIDE_UNDOC_RELATIONS=NO".to_owned(),
        "MACRO_EXPANSION=YES".to_owned(),
        "TAB_SIZE=4".to_owned(),
    ];
    let file = run.workspace.own("doxygen/Doxyfile")?;
    fs::write(&file, settings.join("\n") + "\n")?;
    run.check(Job::new("doxygen").arg(&file).dir(&run.workspace.root));
    Ok(())
}

fn none(problems: Vec<String>) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}", problems.join("\n"))
}
