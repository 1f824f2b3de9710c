//! `modberth check`: whether packages are right.

use std::path::{Path, PathBuf};

use modberth_host::check_protocol;
use modberth_package::folder::check_access;
use modberth_package::limits::PROBLEMS;
use modberth_package::{Problems, Warning};
use modberth_protocol::Violation;
use serde_json::{Value, json};

use crate::exit::{Exit, Stop};
use crate::report::{DIM, GOOD, Report, failure, name};
use crate::source::{self, Source};

pub(crate) fn check(paths: &[PathBuf], report: &mut Report) -> Result<Exit, Stop> {
    let mut worst = Exit::Success;
    let mut documents = Vec::new();
    for path in paths {
        match source::read(path) {
            Ok(source) => {
                let warnings = warnings(&source);
                if report.is_json() {
                    documents.push(good(path, &source, &warnings));
                } else {
                    report.line(&format!(
                        "{GOOD}ok{GOOD:#} {} {} {} {DIM}{}{DIM:#}",
                        name(&source::label(path)),
                        source.package.manifest.id,
                        source.package.manifest.version,
                        source.package.digest
                    ))?;
                    for warning in &warnings {
                        report.warning(&warning.message)?;
                    }
                }
            }
            Err(problems) => {
                worst = worst.worse(Exit::of(problems.first(), false));
                if report.is_json() {
                    documents.push(bad(path, &problems));
                } else {
                    let count = problems.iter().count();
                    let word = if count == 1 { "problem" } else { "problems" };
                    // A check stops to collect there, so there may be more.
                    let first = if count == PROBLEMS { "the first " } else { "" };
                    report.note(&format!("{}: {first}{count} {word}", name(&source::label(path))))?;
                    for problem in &problems {
                        report.failure(problem, None, &[])?;
                    }
                }
            }
        }
    }
    if report.is_json() {
        report.document(&json!({"ok": worst == Exit::Success, "packages": documents}))?;
    }
    Ok(worst)
}

/// What does not make the package wrong, but keeps it from running here or elsewhere.
fn warnings(source: &Source) -> Vec<Warning> {
    let mut warnings = source.warnings.clone();
    // A declarative package is not there to run, so nothing keeps it from that.
    if source.package.manifest.runtime.process().is_none() {
        return warnings;
    }
    let mut add = |fault: &Violation, what: &str| {
        warnings.push(Warning { name: fault.code.as_str(), message: format!("{what}: {fault}") });
    };
    let program = source.package.program.as_ref();
    if let Err(fault) = source.package.runnable() {
        add(&fault, "It does not run on this machine");
    } else if let Some((program, folder)) = program.zip(source.folder.as_ref())
        && let Err(fault) = program.find_loader(&folder.payload)
    {
        add(&fault, "It does not run on this machine");
    }
    if let Err(fault) = check_protocol(&source.package) {
        add(&fault, "It does not run on this host");
    }
    if let Some(Err(problems)) = source.folder.as_ref().map(check_access) {
        problems.iter().for_each(|fault| add(fault, "A module under a user of its own"));
    }
    warnings
}

fn good(path: &Path, source: &Source, warnings: &[Warning]) -> Value {
    json!({
        "path": source::label(path),
        "ok": true,
        "kind": source.kind,
        "id": source.package.manifest.id,
        "version": source.package.manifest.version,
        "digest": source.package.digest,
        "warnings": warnings,
    })
}

fn bad(path: &Path, problems: &Problems) -> Value {
    json!({
        "path": source::label(path),
        "ok": false,
        "problems": problems.iter().map(failure).collect::<Vec<_>>(),
    })
}
