//! The invariants of ARCHITECTURE.md that a program can prove: what depends on what, where unsafe code and I/O stand, and what the
//! work tree never holds. Each finding names the file, so that the sentence it breaks can be looked up there.

mod dependencies;
mod files;
mod rust_code;
mod sdks;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Root of the work tree.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask stands below the root").to_owned()
}

/// Every file of the project that is there, relative to the root: tracked by git, or new and not ignored.
fn project_files() -> Vec<PathBuf> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).expect("file names are UTF-8");
    let mut files: Vec<PathBuf> = list
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|path| root().join(path).is_file())
        .collect();
    files.sort();
    files.dedup();
    assert!(files.len() > 50, "only {} files: the search itself is broken", files.len());
    files
}

/// A file of the project as text; `None` for one that is no UTF-8.
fn text(path: &Path) -> Option<String> {
    let bytes =
        std::fs::read(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8(bytes).ok()
}

/// The files below a folder that end so.
fn ending(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let found: Vec<PathBuf> = project_files()
        .into_iter()
        .filter(|path| path.starts_with(folder))
        .filter(|path| path.extension().is_some_and(|end| endings.iter().any(|wanted| end == *wanted)))
        .collect();
    assert!(!found.is_empty(), "{folder} holds no {endings:?}: the search itself is broken");
    found
}

/// Fails with all findings at once.
fn none(what: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "{what}:\n{}", findings.join("\n"));
}
