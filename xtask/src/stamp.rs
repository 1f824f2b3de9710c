//! Stamps: a step whose inputs did not change since it last succeeded is not done again.

use crate::workspace::Workspace;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are made by builds and never are inputs.
const BUILT: &[&str] = &["node_modules", "dist", "build", "payload", "target", "__pycache__"];

/// Collects what a step depends on.
#[derive(Default)]
pub(crate) struct Inputs(Sha256);

impl Inputs {
    /// A value, such as a version or a command.
    pub(crate) fn value(mut self, value: impl AsRef<[u8]>) -> Self {
        self.put(value.as_ref());
        self
    }

    /// A file, or a folder with everything below it except what builds make there. A missing one counts as missing.
    pub(crate) fn path(mut self, path: impl AsRef<Path>) -> Result<Self> {
        for file in files(path.as_ref())? {
            self.put(file.as_os_str().as_encoded_bytes());
            self.put(&fs::read(&file).with_context(|| file.display().to_string())?);
        }
        Ok(self)
    }

    fn put(&mut self, bytes: &[u8]) {
        // Every part carries its length, so no two lists of parts give the same bytes.
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    /// The digest in hexadecimal.
    pub(crate) fn digest(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Every file below a path in sorted order, except what builds make there; the path itself when it is a file; nothing when it
/// is missing.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    walk(path, |name| !BUILT.contains(&name) && !name.starts_with('.'))
}

/// Every file below a path in sorted order.
pub(crate) fn all_files(path: &Path) -> Result<Vec<PathBuf>> {
    walk(path, |_| true)
}

fn walk(path: &Path, enter: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = Vec::new();
    match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => folders.push(path.to_owned()),
        Ok(data) if data.is_file() => found.push(path.to_owned()),
        _ => {}
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() && enter(&name) {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The stamp of one step.
pub(crate) struct Stamp {
    path: PathBuf,
    digest: String,
}

impl Stamp {
    /// The stamp called `name` for these inputs.
    pub(crate) fn new(workspace: &Workspace, name: &str, inputs: Inputs) -> Result<Self> {
        Ok(Stamp { path: workspace.own(format!("stamps/{name}"))?, digest: inputs.digest() })
    }

    /// Whether the step succeeded with exactly these inputs and every output still exists.
    pub(crate) fn is_current(&self, outputs: &[PathBuf]) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|text| text == self.digest)
            && outputs.iter().all(|output| output.exists())
    }

    /// Forgets an earlier success, so a step that is broken off is done again.
    pub(crate) fn clear(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Notes the success.
    pub(crate) fn set(&self) -> Result<()> {
        fs::write(&self.path, &self.digest).with_context(|| self.path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(root: &Path) -> Workspace {
        Workspace { root: root.to_owned(), target: root.join("target") }
    }

    #[test]
    fn a_stamp_holds_until_an_input_changes_or_an_output_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let ws = workspace(folder.path());
        let (input, output) = (folder.path().join("src"), folder.path().join("out"));
        fs::create_dir(&input).unwrap();
        fs::write(input.join("a"), "1").unwrap();
        fs::write(&output, "").unwrap();
        let stamp = || Stamp::new(&ws, "step", Inputs::default().path(&input).unwrap()).unwrap();
        let outputs = [output.clone()];
        assert!(!stamp().is_current(&outputs));
        stamp().set().unwrap();
        assert!(stamp().is_current(&outputs));
        fs::write(input.join("a"), "2").unwrap();
        assert!(!stamp().is_current(&outputs));
        stamp().set().unwrap();
        fs::remove_file(&output).unwrap();
        assert!(!stamp().is_current(&outputs));
        stamp().clear().unwrap();
        stamp().clear().unwrap();
    }

    #[test]
    fn what_builds_make_is_no_input() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["src", "node_modules", "dist", ".hidden"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("file"), "").unwrap();
        }
        assert_eq!(files(folder.path()).unwrap(), [folder.path().join("src/file")]);
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(
            Inputs::default().value("ab").value("c").digest(),
            Inputs::default().value("a").value("bc").digest()
        );
    }
}
