//! Every arrow between crates points downwards, and the lower floors stand on few libraries.

use crate::{none, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The floor of every crate. A crate may use crates of lower floors only.
const FLOORS: &[(&str, u32)] = &[
    ("modberth-protocol", 1),
    ("modberth-sandbox", 1),
    ("modberth-cjson-sys", 1),
    ("modberth-package", 2),
    ("modberth-sdk", 2),
    ("modberth-host", 3),
    ("echo-rust", 3),
    ("faulty-module", 3),
    ("modberth-conformance", 4),
    ("modberth", 5),
    ("modberth-bench", 5),
    ("xtask", 5),
];

/// What crates with a strict diet may use, besides crates of lower floors.
const DIETS: &[(&str, &[&str])] = &[
    ("modberth-protocol", &["serde", "serde_json", "simdutf8", "thiserror"]),
    ("modberth-sdk", &["modberth-protocol", "serde", "serde_json", "rustix"]),
    ("echo-rust", &["modberth-sdk", "serde", "serde_json"]),
];

/// Crates that do I/O; nothing of them may be linked into `modberth-protocol`.
const IO: &[&str] = &[
    "libc",
    "rustix",
    "nix",
    "mio",
    "tokio",
    "async-io",
    "polling",
    "socket2",
    "tempfile",
    "memmap2",
    "signal-hook",
];

fn metadata(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The crates of the workspace with their dependencies (tests' own left out).
fn crates() -> BTreeMap<String, Vec<String>> {
    let metadata = metadata(&["--no-deps"]);
    list(&metadata, "packages")
        .iter()
        .map(|package| {
            let name = package["name"].as_str().expect("a name").to_owned();
            let needs = list(package, "dependencies")
                .iter()
                .filter(|needed| needed["kind"] != "dev")
                .filter_map(|needed| needed["name"].as_str().map(str::to_owned))
                .collect();
            (name, needs)
        })
        .collect()
}

#[test]
fn every_crate_stands_on_lower_floors_only() {
    let floors: BTreeMap<&str, u32> = FLOORS.iter().copied().collect();
    let mut findings = Vec::new();
    for (name, needs) in crates() {
        let Some(floor) = floors.get(name.as_str()) else {
            findings
                .push(format!("{name} has no floor: give it one here and a paragraph in ARCHITECTURE.md"));
            continue;
        };
        for needed in needs {
            if floors.get(needed.as_str()).is_some_and(|below| below >= floor) {
                findings.push(format!("{name} (floor {floor}) uses {needed}, which is not below it"));
            }
        }
    }
    none("arrows that do not point downwards", findings);
}

#[test]
fn lower_floors_use_few_libraries() {
    let crates = crates();
    let mut findings = Vec::new();
    for (name, diet) in DIETS {
        let needs = crates.get(*name).unwrap_or_else(|| panic!("{name} is no crate of the workspace"));
        findings.extend(
            needs
                .iter()
                .filter(|needed| !diet.contains(&needed.as_str()))
                .map(|needed| format!("{name} uses {needed}")),
        );
    }
    none("libraries that are not on the list", findings);
}

#[test]
fn no_library_below_the_protocol_does_io() {
    // Without a platform cargo would want the crates of every system there is.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let metadata = metadata(&["--filter-platform", &platform]);
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"], "nodes")
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let packages: BTreeMap<&str, &Value> = list(&metadata, "packages")
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let start = packages
        .iter()
        .find(|(_, package)| package["name"] == "modberth-protocol")
        .map(|(id, _)| *id)
        .expect("modberth-protocol");
    let mut seen = BTreeSet::new();
    let mut waiting = vec![start];
    let mut findings = Vec::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let package = packages[id];
        let name = package["name"].as_str().unwrap_or_default();
        if IO.contains(&name) {
            findings.push(name.to_owned());
        }
        // What a procedural macro uses runs in the compiler and is not linked.
        let is_macro = list(package, "targets")
            .iter()
            .any(|target| list(target, "kind").iter().any(|kind| kind == "proc-macro"));
        if is_macro {
            continue;
        }
        for needed in list(nodes[id], "deps") {
            let linked = list(needed, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
            if linked && let Some(id) = needed["pkg"].as_str() {
                waiting.push(id);
            }
        }
    }
    assert!(seen.len() > 1, "modberth-protocol links nothing: the search itself is broken");
    none("libraries with I/O below modberth-protocol", findings);
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let mut findings = Vec::new();
    for path in crate::project_files().iter().filter(|path| path.ends_with("Cargo.toml")) {
        let text = crate::text(path).expect("a manifest is text");
        // An example is there to be copied out of the workspace.
        let outside = path.starts_with("fuzz") || path.starts_with("examples");
        let member = text.contains("[package]") && !outside;
        // Where unsafe code is allowed a crate has lints of its own, as strict otherwise.
        let own = crate::rust_code::UNSAFE.iter().any(|allowed| path.starts_with(allowed))
            && text.contains("missing_docs = \"deny\"");
        if member && !own && !text.contains("[lints]\nworkspace = true") {
            findings.push(path.display().to_string());
        }
    }
    let workspace = crate::text(std::path::Path::new("Cargo.toml")).expect("a manifest is text");
    for lint in ["missing_docs = \"deny\"", "unsafe_code = \"deny\""] {
        assert!(workspace.contains(lint), "the workspace lacks the lint {lint}");
    }
    none("crates that do not take the lints of the workspace", findings);
}

#[test]
fn a_rust_example_takes_nothing_from_the_workspace() {
    let mut findings = Vec::new();
    let manifests = crate::ending("examples", &["toml"]);
    for path in manifests.iter().filter(|path| path.ends_with("Cargo.toml")) {
        let text = crate::text(path).expect("a manifest is text");
        if text.contains("workspace = true") {
            findings.push(path.display().to_string());
        }
        let paths = text.matches("path = ").count();
        if paths != 1 {
            findings.push(format!("{}: {paths} paths; the tutorial promises one", path.display()));
        }
    }
    none("examples that do not build where they are copied to", findings);
}
