//! `modberth inspect`: what a package is.

use std::io;
use std::path::Path;

use comfy_table::{Cell, CellAlignment};
use modberth_package::manifest::{Action, Runtime};
use modberth_package::parameters::{Kind, Parameter};
use serde_json::{Value, json};

use crate::exit::{Exit, Stop};
use crate::report::{DIM, Report, clean, name};
use crate::source::{self, Source};

pub(crate) fn inspect(path: &Path, report: &mut Report) -> Result<Exit, Stop> {
    let source = source::read(path)?;
    if report.is_json() {
        report.document(&document(path, &source))?;
    } else {
        text(path, &source, report)?;
    }
    Ok(Exit::Success)
}

fn document(path: &Path, source: &Source) -> Value {
    let package = &source.package;
    let manifest = &package.manifest;
    let runtime = match &manifest.runtime {
        Runtime::Declarative => json!({"kind": "declarative", "language": "none"}),
        Runtime::Process(process) => json!({
            "kind": process.kind,
            "language": process.language,
            "entry": process.entry,
            "architecture": process.architecture,
            "protocol": process.protocol.number(),
        }),
    };
    let actions: Vec<_> = manifest
        .actions
        .iter()
        .map(|action| {
            json!({
                "id": action.id,
                "label": action.label,
                "capabilities": action.capabilities,
                "parameters": action.parameters.parameters().iter().map(parameter).collect::<Vec<_>>(),
                "examples": package.hints.examples.get(&action.id).map_or(0, Vec::len),
            })
        })
        .collect();
    let limits = &package.hints.limits;
    json!({
        "ok": true,
        "path": source::label(path),
        "kind": source.kind,
        "id": manifest.id,
        "version": manifest.version,
        "digest": package.digest,
        "bytes": source.size,
        "archive": manifest.archive_name(),
        "category": manifest.category,
        "display_name": manifest.display_name,
        "description": manifest.description,
        "publisher": manifest.publisher,
        "runtime": runtime,
        "capabilities": manifest.capabilities,
        "optional_capabilities": manifest.optional_capabilities,
        "actions": actions,
        "limits": {"memory_mib": limits.memory_mib, "tasks": limits.tasks, "cpu_percent": limits.cpu_percent},
        "files": package.members,
        "warnings": source.warnings,
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let mut value = json!({
        "name": parameter.name,
        "type": parameter.kind.as_str(),
        "required": parameter.required,
    });
    match &parameter.kind {
        Kind::String { max_length, choices } => {
            value["max_length"] = json!(max_length);
            value["choices"] = json!(choices);
        }
        Kind::StringList { max_items, max_length, choices } => {
            value["max_items"] = json!(max_items);
            value["max_length"] = json!(max_length);
            value["choices"] = json!(choices);
        }
        Kind::Integer { min, max } | Kind::Number { min, max } => {
            value["min"] = min.map_or(Value::Null, number);
            value["max"] = max.map_or(Value::Null, number);
        }
        Kind::Boolean => {}
    }
    value
}

/// A bound as an integer where it is one.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53-1")]
        let whole = value as i64;
        json!(whole)
    } else {
        json!(value)
    }
}

fn text(path: &Path, source: &Source, report: &mut Report) -> io::Result<()> {
    let package = &source.package;
    let manifest = &package.manifest;
    let mut row = |what: &str, value: &str| report.line(&format!("{DIM}{what:<13}{DIM:#} {}", clean(value)));
    row("package", &format!("{} {}", manifest.id, manifest.version))?;
    for (what, value) in [
        ("name", &manifest.display_name),
        ("description", &manifest.description),
        ("publisher", &manifest.publisher),
    ] {
        if let Some(value) = value {
            row(what, &if what == "publisher" { format!("{value} (not verified)") } else { value.clone() })?;
        }
    }
    row("category", manifest.category.as_str())?;
    row("runtime", &runtime(&manifest.runtime))?;
    if !manifest.capabilities.is_empty() {
        row("capabilities", &manifest.capabilities.join(", "))?;
    }
    if !manifest.optional_capabilities.is_empty() {
        row("optional", &manifest.optional_capabilities.join(", "))?;
    }
    let limits = &package.hints.limits;
    let hints: Vec<_> = [
        limits.memory_mib.map(|value| format!("{value} MiB of memory")),
        limits.tasks.map(|value| format!("{value} tasks")),
        limits.cpu_percent.map(|value| format!("{value} % of a CPU")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !hints.is_empty() {
        row("limits", &hints.join(", "))?;
    }
    row("digest", &package.digest.to_string())?;
    row(source.kind, &format!("{}, {} bytes as an archive", name(&source::label(path)), source.size))?;
    report.line("")?;
    report.table(
        &["action", "parameter", "type", "required", "bounds"],
        manifest.actions.iter().flat_map(action).collect(),
    )?;
    let files = package.members.iter().map(|member| {
        vec![
            Cell::new(&member.path),
            Cell::new(member.size).set_alignment(CellAlignment::Right),
            Cell::new(member.digest),
        ]
    });
    report.table(&["file", "bytes", "digest"], files.collect())?;
    for warning in &source.warnings {
        report.warning(&warning.message)?;
    }
    Ok(())
}

fn runtime(runtime: &Runtime) -> String {
    match runtime {
        Runtime::Declarative => "declarative: nothing to run".to_owned(),
        Runtime::Process(process) => format!(
            "{} ({}), entry {}, architecture {}, process protocol {}",
            process.kind,
            process.language,
            process.entry,
            process.architecture,
            process.protocol.number()
        ),
    }
}

/// The rows of an action: one per parameter, or one that says that it takes none.
fn action(action: &Action) -> Vec<Vec<Cell>> {
    let label = match &action.label {
        Some(label) if !label.is_empty() && !label.eq_ignore_ascii_case(&action.id) => {
            format!("{} ({})", action.id, clean(label))
        }
        _ => action.id.clone(),
    };
    let parameters = action.parameters.parameters();
    if parameters.is_empty() {
        return vec![vec![Cell::new(label), Cell::new("none"), Cell::new(""), Cell::new(""), Cell::new("")]];
    }
    parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            vec![
                Cell::new(if index == 0 { label.as_str() } else { "" }),
                Cell::new(&parameter.name),
                Cell::new(parameter.kind.as_str()),
                Cell::new(if parameter.required { "yes" } else { "no" }),
                Cell::new(clean(&parameter.kind.bounds())),
            ]
        })
        .collect()
}
