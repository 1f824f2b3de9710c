//! What the tests of this crate share: a plain manifest to edit, and exact comparison of problems.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test program uses a part")]

pub mod elf;
pub mod zip;

use std::collections::BTreeMap;

use modberth_package::{Manifest, Problems};
use modberth_protocol::Violation;
use serde_json::{Value, json};

/// A Python package with one action.
pub fn plain() -> Value {
    json!({
        "format_version": 1,
        "id": "org.example.echo",
        "version": "1.0.0",
        "category": "productivity",
        "contract_version": 1,
        "host_api": 1,
        "runtime": {
            "kind": "python",
            "language": "python",
            "entry": "main.py",
            "platform": "linux",
            "architecture": "any"
        },
        "capabilities": [],
        "dependencies": [],
        "actions": [{
            "id": "echo",
            "label": "Echo",
            "parameters": {"message": {"type": "string", "required": true}},
            "capabilities": []
        }],
        "ui": {"type": "column", "children": []},
        "files": {}
    })
}

/// The plain manifest after an edit, as bytes.
pub fn edited(edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut manifest = plain();
    edit(&mut manifest);
    manifest.to_string().into_bytes()
}

/// The manifest after an edit that keeps it legal.
pub fn good(edit: impl FnOnce(&mut Value)) -> Manifest {
    let bytes = edited(edit);
    Manifest::parse(&bytes).unwrap_or_else(|problems| {
        panic!("{problems}\nin {}", String::from_utf8_lossy(&bytes));
    })
}

/// The problems of the manifest after an edit that breaks it.
pub fn bad(edit: impl FnOnce(&mut Value)) -> Vec<Violation> {
    let bytes = edited(edit);
    match Manifest::parse(&bytes) {
        Ok(_) => panic!("accepted: {}", String::from_utf8_lossy(&bytes)),
        Err(problems) => problems.into_vec(),
    }
}

/// Code and path of each problem.
pub fn places(problems: &[Violation]) -> Vec<(&str, &str)> {
    problems
        .iter()
        .map(|problem| (problem.code.as_str(), problem.place.path.as_deref().unwrap_or_default()))
        .collect()
}

/// The edit gives exactly this one problem, in the manifest.
#[track_caller]
pub fn one(code: &str, path: &str, edit: impl FnOnce(&mut Value)) -> Violation {
    let mut problems = bad(edit);
    assert_eq!(places(&problems), [(code, path)], "{problems:#?}");
    assert_eq!(problems[0].place.file.as_deref(), Some("manifest.json"));
    problems.remove(0)
}

/// As [`one`], with the limit and the actual value.
#[track_caller]
pub fn one_bound(code: &str, path: &str, limit: u64, actual: u64, edit: impl FnOnce(&mut Value)) {
    let problem = one(code, path, edit);
    assert_eq!((problem.limit, problem.actual), (Some(limit), Some(actual)), "{problem}");
}

/// Code and file of each problem.
pub fn files(problems: &Problems) -> Vec<(&str, &str)> {
    problems
        .iter()
        .map(|problem| (problem.code.as_str(), problem.place.file.as_deref().unwrap_or_default()))
        .collect()
}

pub fn contents<const N: usize>(members: [(&str, &[u8]); N]) -> BTreeMap<String, Vec<u8>> {
    members.into_iter().map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect()
}

pub fn text(length: usize) -> String {
    // Two bytes a code point, so that a count of bytes would be found out.
    "é".repeat(length)
}
