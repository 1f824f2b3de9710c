//! Taking a whole tree apart: killing what lives in it and removing its directories.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::{file, kill};

/// Directories that are looked at in one tree, at most. A host has two for each slot.
const MOST: usize = 65_536;

/// How deep a tree may be. A host makes one level.
const DEEPEST: usize = 8;

/// The longest pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// A tree, or one group, in one hierarchy.
pub(super) struct Remains {
    parent: OwnedFd,
    name: String,
    directory: OwnedFd,
    path: PathBuf,
}

impl Remains {
    pub(super) fn open(parent: BorrowedFd<'_>, name: &str, path: &Path) -> io::Result<Self> {
        Ok(Self {
            parent: parent.try_clone_to_owned()?,
            name: name.to_owned(),
            directory: file::directory(parent, name)?,
            path: path.join(name),
        })
    }

    /// Takes the bound on processor time away and kills every member.
    fn kill(&self) -> io::Result<()> {
        let groups = self.groups()?;
        for group in &groups {
            let Ok(directory) = file::directory(self.directory.as_fd(), group) else { continue };
            for (name, text) in [("cpu.max", "max"), ("cpu.cfs_quota_us", "-1"), ("pids.max", "0")] {
                // In most hierarchies there is no such file; without it the kill takes longer, no more.
                let _ = file::write_at(directory.as_fd(), name, text.as_bytes());
            }
        }
        match file::write_at(self.directory.as_fd(), "cgroup.kill", b"1") {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        for group in &groups {
            match file::directory(self.directory.as_fd(), group) {
                Ok(directory) => kill::by_signals(directory.as_fd())?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes what has no members. `true` when nothing is left.
    fn remove(&self) -> io::Result<bool> {
        for group in self.groups()? {
            if group != "." && !gone(self.directory.as_fd(), &group)? {
                return Ok(false);
            }
        }
        gone(self.parent.as_fd(), &self.name)
    }

    /// Paths of all groups, those below before those above, the tree itself (`.`) last.
    fn groups(&self) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        below(self.directory.as_fd(), "", 0, &mut found)?;
        found.push(".".into());
        Ok(found)
    }
}

fn below(directory: BorrowedFd<'_>, prefix: &str, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    if depth > DEEPEST {
        return Err(io::Error::other(format!("groups lie more than {DEEPEST} deep below {prefix:?}")));
    }
    for name in directories(directory)? {
        match file::directory(directory, &name) {
            Ok(inner) => below(inner.as_fd(), &format!("{prefix}{name}/"), depth + 1, found)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        }
        if found.len() >= MOST {
            return Err(io::Error::other(format!("more than {MOST} groups")));
        }
        found.push(format!("{prefix}{name}"));
    }
    Ok(())
}

/// Names of the directories in a directory. Groups made by others may have names that are no text: left out.
pub(super) fn directories(directory: BorrowedFd<'_>) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if entry.file_type() == FileType::Directory && name != "." && name != ".." {
            if found.len() >= MOST {
                return Err(io::Error::other(format!("more than {MOST} groups")));
            }
            found.push(name.to_owned());
        }
    }
    Ok(found)
}

/// Removes a group. `false`: it has members or groups below it.
fn gone(parent: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
    match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::BUSY | Errno::NOTEMPTY) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Kills and removes all of these, in the time there is. What is left comes back with the reason.
pub(super) fn clear(mut remains: Vec<Remains>, until: Instant) -> Vec<(PathBuf, io::Error)> {
    let mut faults: Vec<(PathBuf, io::Error)> = Vec::new();
    let mut pause = Duration::from_micros(200);
    loop {
        let last = Instant::now() >= until;
        // All are killed before the first is waited for: the quota of one hierarchy slows the end in another.
        let killed: Vec<io::Result<()>> = remains.iter().map(Remains::kill).collect();
        let mut killed = killed.into_iter();
        remains.retain(|one| {
            let killed = killed.next().unwrap_or(Ok(()));
            let fault = match one.remove() {
                Ok(true) => return false,
                Ok(false) => killed.err().filter(hopeless),
                Err(error) => Some(error).filter(|error| last || hopeless(error)),
            };
            let late =
                || io::Error::new(io::ErrorKind::TimedOut, "members were still alive when time was up");
            match fault.or_else(|| last.then(late)) {
                Some(fault) => faults.push((one.path.clone(), fault)),
                None => return true,
            }
            false
        });
        if remains.is_empty() {
            return faults;
        }
        std::thread::sleep(pause.min(until.saturating_duration_since(Instant::now())));
        pause = (pause * 2).min(PAUSE);
    }
}

/// Whether trying again leads nowhere: the groups are another user's.
fn hopeless(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
