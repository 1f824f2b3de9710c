//! The project's own files: all of them, and which parts of which are tests.

use crate::run::Job;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The language of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rust.
    Rust,
    /// C or C++.
    C,
    /// Python.
    Python,
    /// JavaScript or TypeScript.
    Script,
    /// A case as data.
    Case,
}

/// A test file, or the test part of a source file.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    /// Relative to the root.
    pub(crate) path: PathBuf,
    /// Its language.
    pub(crate) kind: Kind,
    /// The text that belongs to tests.
    pub(crate) text: String,
}

/// Every file of the project, relative to the root: what git tracks, and new files it does not ignore.
pub(crate) fn all(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let list = Job::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .dir(&workspace.root)
        .capture()
        .context("git ls-files")?;
    let mut files: Vec<PathBuf> = list
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|path| workspace.at(path).is_file())
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Every test of the project.
pub(crate) fn tests(workspace: &Workspace) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for path in all(workspace)? {
        let Some(kind) = kind(&path) else { continue };
        // xtask judges the tests of the others and is no witness itself.
        if path.starts_with("xtask") {
            continue;
        }
        let whole = is_test_file(&path);
        if !whole && kind != Kind::Rust {
            continue;
        }
        let text = fs::read_to_string(workspace.at(&path)).with_context(|| path.display().to_string())?;
        // A unit test module is the last part of a Rust source.
        let text = if whole {
            text
        } else {
            match text.find("#[cfg(test)]\nmod ") {
                Some(at) => text[at..].to_owned(),
                None => continue,
            }
        };
        tests.push(Test { path, kind, text });
    }
    Ok(tests)
}

fn kind(path: &Path) -> Option<Kind> {
    let extension = path.extension()?.to_str()?;
    Some(match extension {
        "rs" => Kind::Rust,
        "c" | "h" | "cpp" | "hpp" | "cc" | "cmake" => Kind::C,
        "py" => Kind::Python,
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => Kind::Script,
        "json" if path.starts_with("conformance/cases") => Kind::Case,
        _ => return None,
    })
}

/// Whether a whole file is test code: it stands below a folder `tests`, or is named as one, or is the module of unit tests.
fn is_test_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.parent().is_some_and(|parent| {
        parent.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "test" | "cases")))
    }) || name == "tests.rs"
        || name.starts_with("test_")
        || name.contains(".test.")
        || name.ends_with("_test.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_from_sources() {
        for path in [
            "host/engine/tests/play.rs",
            "sdk-python/tests/test_frames.py",
            "sdk-js/tests/frames.test.js",
            "host/protocol/src/json/tests.rs",
            "conformance/cases/frame.json",
        ] {
            assert!(is_test_file(Path::new(path)), "{path}");
        }
        for path in ["host/engine/src/lib.rs", "sdk-c/src/modberth_sdk.c", "docs/errors.md"] {
            assert!(!is_test_file(Path::new(path)), "{path}");
        }
        assert_eq!(kind(Path::new("docs/errors.md")), None);
        assert_eq!(kind(Path::new("conformance/errors.json")), None);
    }
}
