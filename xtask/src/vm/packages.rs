//! Kernel and busybox of the test machine, taken out of Debian's packages and kept below the target directory.

use crate::stamp::{Inputs, Stamp};
use crate::tools::apt::{self, Candidate};
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Where they are.
pub(crate) struct Packages {
    /// The kernel's image.
    pub(crate) kernel: PathBuf,
    /// A busybox that needs no library.
    pub(crate) busybox: PathBuf,
}

/// Fetches both unless those at hand are current. Without a network an older pair serves.
///
/// # Errors
///
/// One of them cannot be had.
pub(crate) fn get(workspace: &Workspace) -> Result<Packages> {
    let kernel = || apt::behind("linux-image-cloud-amd64", "linux-image-");
    let busybox = || apt::candidate("busybox-static");
    Ok(Packages {
        kernel: file(workspace, "kernel", &kernel, "boot", "vmlinuz")?,
        busybox: file(workspace, "busybox", &busybox, "bin", "busybox")?,
    })
}

/// One file out of one package: the first below `folder` whose name begins with `prefix`, kept as `name`.
fn file(
    workspace: &Workspace,
    name: &str,
    find: &dyn Fn() -> Result<Candidate>,
    folder: &str,
    prefix: &str,
) -> Result<PathBuf> {
    let kept = workspace.built("vm").join(name);
    let fresh = apt::with_lists(|| {
        let candidate = find()?;
        let inputs = Inputs::default().value(&candidate.package).value(&candidate.version);
        let stamp = Stamp::new(workspace, &format!("vm-{name}"), inputs)?;
        if stamp.is_current(std::slice::from_ref(&kept)) {
            return Ok(());
        }
        stamp.clear()?;
        let work = workspace.built(format!("vm/{name}.part"));
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| work.display().to_string())?;
        }
        fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
        let content = apt::unpack(&candidate, &work)?;
        let found = begins_with(&content.join(folder), prefix)
            .or_else(|_| begins_with(&content.join("usr").join(folder), prefix))?;
        fs::rename(&found, &kept).with_context(|| kept.display().to_string())?;
        // A kernel's package is a hundred megabytes of modules that nothing here loads.
        fs::remove_dir_all(&work).with_context(|| work.display().to_string())?;
        stamp.set()
    });
    match fresh {
        Err(problem) if !kept.exists() => Err(problem),
        _ => Ok(kept),
    }
}

fn begins_with(folder: &Path, prefix: &str) -> Result<PathBuf> {
    fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .with_context(|| format!("{} holds no {prefix}", folder.display()))
}
