//! Whether another user can read a development folder: the module runs under a user of its own.

use modberth_protocol::{Code, Violation};
use rustix::fs::{AtFlags, FileType, statat};

use super::Folder;
use super::read::{Open, open_folder, system};
use crate::limits::PAYLOAD_NAME;
use crate::manifest::ProcessKind;
use crate::problem::{Problems, Sink};

const READ: u32 = 0o004;
const ENTER: u32 = 0o001;

pub(super) fn mode_problem(path: &str, mode: u32, what: &str) -> Violation {
    Violation::new(Code::PackageFileMode, format!("This has the mode {mode:04o}: {what}.")).file(path)
}

/// Checks that a user who is neither the owner nor in the group can read every member of the payload, enter every
/// folder and start a native entry.
///
/// A host that runs modules under a user of their own asks this before it starts one from a development folder.
///
/// # Errors
/// `package.file_mode` with file and mode, for everything that is closed.
pub fn check_access(folder: &Folder) -> Result<(), Problems> {
    let mut sink = Sink::new("");
    let root = open_folder(&folder.payload)?;
    let mode = root.stat(PAYLOAD_NAME)?.st_mode & 0o7_777;
    check_folder(mode, PAYLOAD_NAME, &mut sink);
    let native = folder
        .package
        .manifest
        .runtime
        .process()
        .filter(|process| process.kind == ProcessKind::Native)
        .map(|process| process.entry.as_str());
    let mut folders: Vec<&str> = Vec::new();
    for member in &folder.package.members {
        for parent in crate::member::parents(&member.path) {
            if !folders.contains(&parent) {
                folders.push(parent);
                let (mode, kind) = look(&root, parent)?;
                if kind == FileType::Directory {
                    check_folder(mode, &format!("{PAYLOAD_NAME}/{parent}"), &mut sink);
                }
            }
        }
        let (mode, _) = look(&root, &member.path)?;
        let path = format!("{PAYLOAD_NAME}/{}", member.path);
        if mode & READ == 0 {
            sink.add(mode_problem(&path, mode, "other users cannot read it"));
        } else if native == Some(&member.path) && mode & ENTER == 0 {
            sink.add(mode_problem(&path, mode, "other users cannot start it"));
        }
    }
    sink.finish(Some(()))
}

fn check_folder(mode: u32, path: &str, sink: &mut Sink) {
    if mode & (READ | ENTER) != READ | ENTER {
        sink.add(mode_problem(path, mode, "other users cannot enter and read it"));
    }
}

fn look(root: &Open, path: &str) -> Result<(u32, FileType), Violation> {
    let stat = statat(root.as_fd(), path, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| system(error, "look at", path))?;
    Ok((stat.st_mode & 0o7_777, FileType::from_raw_mode(stat.st_mode)))
}
