//! `modberth check`: whether packages are right.

use std::path::{Path, PathBuf};

use modberth_package::folder::check_access;
use modberth_package::{Folder, Problems};
use serde_json::{Value, json};

use crate::exit::{Exit, Stop};
use crate::report::{DIM, GOOD, Report, clean, failure, name};
use crate::source::{self, Source};

pub(crate) fn check(paths: &[PathBuf], report: &mut Report) -> Result<Exit, Stop> {
    let mut worst = Exit::Success;
    let mut documents = Vec::new();
    for path in paths {
        match source::read(path) {
            Ok(source) => {
                let notes = notes(path, &source);
                if report.is_json() {
                    documents.push(good(path, &source, &notes));
                } else {
                    report.line(&format!(
                        "{GOOD}ok{GOOD:#} {} {} {} {DIM}{}{DIM:#}",
                        name(&source::label(path)),
                        source.package.manifest.id,
                        source.package.manifest.version,
                        source.package.digest
                    ))?;
                    for note in &notes {
                        report.warning(note)?;
                    }
                }
            }
            Err(problems) => {
                let exit = Exit::of(problems.first(), false);
                if exit.code() > worst.code() {
                    worst = exit;
                }
                if report.is_json() {
                    documents.push(bad(path, &problems));
                } else {
                    let count = problems.iter().count();
                    let word = if count == 1 { "problem" } else { "problems" };
                    report.note(&format!("{}: {count} {word}", name(&source::label(path))))?;
                    for problem in &problems {
                        report.failure(problem, &[])?;
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
fn notes(path: &Path, source: &Source) -> Vec<String> {
    let mut notes: Vec<_> = source.warnings.iter().map(|warning| warning.message.clone()).collect();
    match source.package.runnable() {
        Err(fault) => notes.push(format!("It does not run on this machine: {fault}")),
        Ok(_) => {
            if let Some(program) = &source.package.program
                && let Err(fault) = program.find_loader(&path.join("payload"))
                && source.kind == "folder"
            {
                notes.push(format!("It does not run on this machine: {fault}"));
            }
        }
    }
    if source.kind == "folder"
        && let Ok(folder) = Folder::open(path)
        && let Err(problems) = check_access(&folder)
    {
        notes.extend(problems.iter().map(|problem| format!("A module under a user of its own: {problem}")));
    }
    notes.iter().map(|note| clean(note)).collect()
}

fn good(path: &Path, source: &Source, notes: &[String]) -> Value {
    json!({
        "path": source::label(path),
        "ok": true,
        "kind": source.kind,
        "id": source.package.manifest.id,
        "version": source.package.manifest.version,
        "digest": source.package.digest,
        "warnings": notes,
    })
}

fn bad(path: &Path, problems: &Problems) -> Value {
    json!({
        "path": source::label(path),
        "ok": false,
        "problems": problems.iter().map(failure).collect::<Vec<_>>(),
    })
}
