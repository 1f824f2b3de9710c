//! What the work tree holds and what it never holds.

use crate::{none, project_files, root, text};
use std::path::Path;

/// This folder names what it looks for.
fn is_self(path: &Path) -> bool {
    path.starts_with("xtask/tests/invariants")
}

#[test]
fn no_file_names_a_private_place() {
    // Home folders, and the folder of this very clone.
    let clone = format!("{}/", root().display());
    let places = ["/root/", "/home/", "/tmp/target", clone.as_str()];
    let mut findings = Vec::new();
    for path in project_files().iter().filter(|path| !is_self(path)) {
        let Some(text) = text(path) else { continue };
        for place in places {
            if let Some(line) = text.lines().position(|line| line.contains(place)) {
                findings.push(format!("{}:{}: {place}", path.display(), line + 1));
            }
        }
    }
    none("places of one machine", findings);
}

#[test]
fn nothing_is_left_for_later() {
    let mut findings = Vec::new();
    for path in project_files().iter().filter(|path| !is_self(path)) {
        let Some(text) = text(path) else { continue };
        for word in ["TODO", "FIXME", "XXX", "#[ignore", "unimplemented!(", "todo!("] {
            if let Some(line) = text.lines().position(|line| has_word(line, word)) {
                findings.push(format!("{}:{}: {word}", path.display(), line + 1));
            }
        }
    }
    none("unfinished work", findings);
}

/// Whether a word stands in a line by itself.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !line[..at].ends_with(letter) && !line[at + word.len()..].starts_with(letter)
    })
}

#[test]
fn the_root_holds_the_manifests_of_cargo_only() {
    for name in ["package.json", "pyproject.toml", "CMakeLists.txt", "Makefile", "go.mod"] {
        assert!(!root().join(name).exists(), "{name} stands at the root");
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"]
    {
        assert!(root().join(name).exists(), "{name} is missing");
    }
}

#[test]
fn every_sdk_has_the_same_skeleton() {
    let mut findings = Vec::new();
    for language in ["c", "cpp", "rust", "python", "js", "ts"] {
        for part in ["README.md", "CHANGELOG.md", "tests/faulty-module"] {
            let path = format!("sdk-{language}/{part}");
            if !root().join(&path).exists() {
                findings.push(path);
            }
        }
        for part in ["manifest.json", "modberth.json"] {
            let path = format!("examples/echo/{language}/{part}");
            if !root().join(&path).exists() {
                findings.push(path);
            }
        }
    }
    none("missing parts", findings);
}

#[test]
fn the_architecture_fits_three_pages() {
    let text = text(Path::new("ARCHITECTURE.md")).expect("text");
    let lines: usize = text.lines().map(|line| line.chars().count() / 110 + 1).sum();
    assert!(lines <= 180, "ARCHITECTURE.md has {lines} lines of 110 characters; three pages are about 180");
}
