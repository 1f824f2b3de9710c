//! Folders that are given to a module to keep.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid};

/// Most files and folders that are given at one start.
const MOST: u32 = 100_000;
/// Deepest folder, the given one being 0.
const DEEPEST: u32 = 64;

/// Makes `user` the owner of a folder and everything in it. Links are not followed.
///
/// # Errors
/// What the machine refused; a folder that holds more than 100,000 files or is deeper than 64.
pub(crate) fn give(folder: &Path, user: u32) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let mut left = MOST;
    rustix::fs::fchown(&folder, Some(Uid::from_raw(user)), Some(Gid::from_raw(user)))?;
    give_below(folder.as_fd(), user, &mut left, 0)
}

fn give_below(folder: BorrowedFd<'_>, user: u32, left: &mut u32, depth: u32) -> io::Result<()> {
    if depth >= DEEPEST {
        return Err(io::Error::other(format!("a folder is deeper than {DEEPEST}")));
    }
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        *left = left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other(format!("it holds more than {MOST} files")))?;
        let owner = (Some(Uid::from_raw(user)), Some(Gid::from_raw(user)));
        rustix::fs::chownat(folder, name, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW)?;
        if matches!(entry.file_type(), FileType::Directory | FileType::Unknown) {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(folder, name, flags, Mode::empty()) {
                Ok(inner) => give_below(inner.as_fd(), user, left, depth + 1)?,
                Err(rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(())
}
