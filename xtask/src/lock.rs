//! Locks between several xtask processes: a file that one of them holds, freed by the kernel when the process ends.

use crate::workspace::Workspace;
use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;

/// Held until it is dropped.
pub(crate) struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl Lock {
    /// Waits for the lock of this name.
    pub(crate) fn take(workspace: &Workspace, name: &str) -> Result<Self> {
        let path = workspace.own(format!("{name}.lock"))?;
        let file = File::options().create(true).append(true).open(&path).context("lock file")?;
        flock(&file, FlockOperation::LockExclusive).with_context(|| format!("lock {}", path.display()))?;
        Ok(Lock(file))
    }
}
