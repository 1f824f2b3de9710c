//! Where things are: the root of the work tree and cargo's target directory, below which everything built stands.

use crate::run::Job;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The two folders every verb works with.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    /// Root of the work tree.
    pub(crate) root: PathBuf,
    /// The target directory as cargo gives it, so `CARGO_TARGET_DIR` holds for every language.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Finds both. The manifest folder is asked for at run time first, so a moved clone works.
    pub(crate) fn find() -> Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest.parent().context("xtask stands in no folder")?.canonicalize()?;
        let metadata = Job::new("cargo")
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .dir(&root)
            .capture()
            .context("cargo metadata")?;
        let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
        let target = metadata["target_directory"].as_str().context("cargo names no target directory")?;
        Ok(Workspace { root, target: target.into() })
    }

    /// A path below the root.
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// A path below the target directory.
    pub(crate) fn built(&self, path: impl AsRef<Path>) -> PathBuf {
        self.target.join(path)
    }

    /// The folder of xtask's own stamps, locks and logs. Made when it is missing.
    pub(crate) fn own(&self, path: impl AsRef<Path>) -> Result<PathBuf> {
        let path = self.target.join("xtask").join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        Ok(path)
    }

    /// How a path is shown: relative to the root where it stands below it.
    pub(crate) fn shown<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}
