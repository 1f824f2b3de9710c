//! Bounded reading of folders that others may have written: no link is followed below the folder that was named.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use modberth_protocol::{Code, Violation};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use crate::fields::shown;
use crate::limits::{EXPANDED_BYTES, FOLDER_ENTRIES, MEMBER_BYTES, MEMBERS};
use crate::member;
use crate::problem::{Problems, Sink, failed_at_named};

/// An open folder.
pub(crate) struct Open(OwnedFd);

/// One file of a folder, read.
pub(crate) struct Entry {
    /// Its path below the folder that was walked.
    pub(crate) path: String,
    /// The lower twelve bits of its mode.
    pub(crate) mode: u32,
    /// Its owner.
    pub(crate) owner: u32,
    /// Its bytes.
    pub(crate) contents: Vec<u8>,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens the folder of a package. The path itself is the caller's and may be a link.
pub(crate) fn open_folder(path: &Path) -> Result<Open, Violation> {
    rustix::fs::open(path, FOLDER, Mode::empty()).map(Open).map_err(|error| no_folder(path, error))
}

/// Opens the folder of an unpacked package, which is no link itself: what a link leads to can be exchanged.
pub(crate) fn open_unpacked(path: &Path) -> Result<Open, Violation> {
    rustix::fs::open(path, FOLDER | OFlags::NOFOLLOW, Mode::empty()).map(Open).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR if path.is_symlink() => link("."),
        error => no_folder(path, error),
    })
}

fn no_folder(path: &Path, error: Errno) -> Violation {
    match error {
        Errno::NOENT => Violation::new(
            Code::PackageNotFound,
            format!("There is no folder {}.", shown(&path.to_string_lossy())),
        )
        .file(path.to_string_lossy())
        .advise("Check the path; a package folder is the one that holds manifest.json."),
        Errno::NOTDIR => {
            Violation::new(Code::PackageNotFound, format!("{} is no folder.", shown(&path.to_string_lossy())))
                .file(path.to_string_lossy())
                .advise("Give the folder that holds manifest.json.")
        }
        error => failed_at_named("open", path, &error.into()),
    }
}

pub(crate) fn system(error: Errno, what: &str, path: &str) -> Violation {
    Violation::new(Code::PackageIo, format!("Could not {what} {}: {error}.", shown(path)))
}

impl Open {
    /// Opens a folder below; `None` if there is none of this name.
    pub(super) fn folder(&self, name: &str) -> Result<Option<Self>, Violation> {
        match openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(folder) => Ok(Some(Self(folder))),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                let kind = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map(|stat| FileType::from_raw_mode(stat.st_mode));
                Err(match kind {
                    Ok(FileType::Symlink) => link(name),
                    _ => Violation::new(Code::PackageFileSpecial, "This is not a folder.").file(name),
                })
            }
            Err(Errno::ACCESS) => Err(closed(self, name, name, "it cannot be entered and read")),
            Err(error) => Err(system(error, "open", name)),
        }
    }

    /// What the system knows of the folder.
    pub(crate) fn stat(&self, path: &str) -> Result<Stat, Violation> {
        fstat(&self.0).map_err(|error| system(error, "look at", path))
    }

    pub(crate) fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn link(path: &str) -> Violation {
    Violation::new(Code::PackageFileLink, "This is a symbolic link; packages hold files alone.").file(path)
}

/// Reads one ordinary file, at most `most` bytes; `None` if there is none of this name. `path` is for messages.
pub(crate) fn read_file(
    folder: &Open,
    name: &str,
    path: &str,
    most: usize,
    too_large: Code,
) -> Result<Option<Entry>, Violation> {
    // Without NONBLOCK the open of a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(&folder.0, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(link(path)),
        // A socket, or a device without a driver.
        Err(Errno::NXIO) => return Err(special(path)),
        Err(Errno::ACCESS) => return Err(closed(folder, name, path, "it cannot be read")),
        Err(error) => return Err(system(error, "open", path)),
    };
    let before = fstat(&file).map_err(|error| system(error, "look at", path))?;
    if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
        return Err(special(path));
    }
    if before.st_nlink > 1 {
        return Err(Violation::new(
            Code::PackageFileHardLink,
            format!("This file has {} names (hard links); packages hold files with one.", before.st_nlink),
        )
        .file(path)
        .limit(1_u64)
        .actual(before.st_nlink));
    }
    let size = u64::try_from(before.st_size).unwrap_or(u64::MAX);
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    if size > limit {
        return Err(Violation::new(too_large, format!("This file has at most {most} bytes; found {size}."))
            .file(path)
            .limit(limit)
            .actual(size));
    }
    let mut contents = Vec::new();
    let mut file = File::from(file);
    (&mut file).take(limit + 1).read_to_end(&mut contents).map_err(|error| {
        Violation::new(Code::PackageIo, format!("Could not read {}: {error}.", shown(path)))
    })?;
    let after = fstat(&file).map_err(|error| system(error, "look at", path))?;
    let same =
        |stat: &Stat| (stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec);
    if same(&before) != same(&after) || u64::try_from(contents.len()) != Ok(size) {
        return Err(
            Violation::new(Code::PackageFileChanged, "This file changed while it was read.").file(path)
        );
    }
    Ok(Some(Entry { path: name.to_owned(), mode: before.st_mode & 0o7_777, owner: before.st_uid, contents }))
}

fn special(path: &str) -> Violation {
    Violation::new(Code::PackageFileSpecial, "This is no ordinary file.").file(path)
}

fn closed(folder: &Open, name: &str, path: &str, what: &str) -> Violation {
    let mode = statat(&folder.0, name, AtFlags::SYMLINK_NOFOLLOW).map_or(0, |stat| stat.st_mode & 0o7_777);
    super::access::mode_problem(path, mode, what)
}

/// Reads every file below a folder, sorted by path. `label` stands before the paths in messages.
///
/// Stops at once where going on would cost more than a package may: too many entries, members or bytes. Links and
/// special files are collected, so that all of them are named.
pub(crate) fn walk(folder: &Open, label: &str) -> Result<Vec<Entry>, Problems> {
    let mut walk = Walk { most: MEMBERS - 1, ..Walk::default() };
    walk.folder(folder, "", label)?;
    let Walk { sink, mut files, .. } = walk;
    files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    sink.finish(Some(files))
}

/// Reads every file of an unpacked package, the manifest included, and lists its folders.
pub(crate) fn walk_unpacked(folder: &Open) -> Result<(Vec<Entry>, Vec<Found>), Problems> {
    let mut walk = Walk { most: MEMBERS, ..Walk::default() };
    walk.folder(folder, "", "")?;
    let Walk { sink, files, folders, .. } = walk;
    sink.finish(Some((files, folders)))
}

/// A folder that was walked.
pub(crate) struct Found {
    /// Its path below the folder where the walk began.
    pub(crate) path: String,
    /// The lower twelve bits of its mode.
    pub(crate) mode: u32,
    /// Its owner.
    pub(crate) owner: u32,
}

#[derive(Default)]
struct Walk {
    sink: Sink,
    files: Vec<Entry>,
    folders: Vec<Found>,
    /// How many files there may be.
    most: usize,
    entries: usize,
    bytes: u64,
}

impl Walk {
    /// The recursion is bounded: every level needs a legal path of at most 240 characters.
    fn folder(&mut self, folder: &Open, prefix: &str, label: &str) -> Result<(), Violation> {
        let mut names = Vec::new();
        let dir = Dir::read_from(folder.as_fd()).map_err(|error| system(error, "list", label))?;
        for entry in dir {
            let entry = entry.map_err(|error| system(error, "list", label))?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            self.entries += 1;
            if self.entries > FOLDER_ENTRIES {
                return Err(Violation::new(
                    Code::PackageMembers,
                    format!("The folder has more than {FOLDER_ENTRIES} entries; a package has at most {MEMBERS} members."),
                )
                .file(label)
                .limit(FOLDER_ENTRIES)
                .actual(self.entries));
            }
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        names.sort_unstable();
        for name in names {
            let below = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            let shown_path = if label.is_empty() { name.clone() } else { format!("{label}/{name}") };
            if let Err(fault) = member::check_path(&below) {
                self.sink.add(
                    Violation::new(
                        Code::PackageMemberPath,
                        format!("{} is no member path: {}.", shown(&below), fault.rule()),
                    )
                    .file(shown_path),
                );
                continue;
            }
            self.entry(folder, &name, below, &shown_path)?;
        }
        Ok(())
    }

    fn entry(&mut self, folder: &Open, name: &str, below: String, path: &str) -> Result<(), Violation> {
        let stat = statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| system(error, "look at", path))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => match folder.folder(name) {
                Ok(Some(inner)) => {
                    // Of the folder that is open, as the name may have got another one since.
                    let stat = inner.stat(path)?;
                    self.folders.push(Found {
                        path: below.clone(),
                        mode: stat.st_mode & 0o7_777,
                        owner: stat.st_uid,
                    });
                    self.folder(&inner, &below, path)
                }
                Ok(None) => {
                    Err(Violation::new(Code::PackageFileChanged, "This folder went away.").file(path))
                }
                Err(fault) => Err(fault.file(path)),
            },
            FileType::RegularFile => {
                if self.files.len() == self.most {
                    return Err(Violation::new(
                        Code::PackageMembers,
                        format!("A package has at most {MEMBERS} members, manifest.json included; there is one more."),
                    )
                    .file(path)
                    .limit(MEMBERS)
                    .actual(MEMBERS + 1));
                }
                let most = usize::try_from(MEMBER_BYTES).unwrap_or(usize::MAX);
                match read_file(folder, name, path, most, Code::PackageMemberTooLarge) {
                    Ok(Some(file)) => {
                        self.bytes += u64::try_from(file.contents.len()).unwrap_or(u64::MAX);
                        if self.bytes > EXPANDED_BYTES {
                            return Err(Violation::new(
                                Code::PackageExpandedTooLarge,
                                format!("The members have at most {EXPANDED_BYTES} bytes together; these have more."),
                            )
                            .file(path)
                            .limit(EXPANDED_BYTES)
                            .actual(self.bytes));
                        }
                        self.files.push(Entry { path: below, ..file });
                    }
                    Ok(None) => {
                        self.sink
                            .add(Violation::new(Code::PackageFileChanged, "This file went away.").file(path));
                    }
                    Err(fault) => self.sink.add(fault),
                }
                Ok(())
            }
            FileType::Symlink => {
                self.sink.add(link(path));
                Ok(())
            }
            _ => {
                self.sink.add(special(path));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grows_while_it_is_read_is_refused() {
        // The kernel makes these bytes up while they are read: the file says that it has none.
        let folder = open_folder(Path::new("/proc/self")).unwrap();
        let fault = read_file(&folder, "status", "payload/status", 1_000_000, Code::PackageMemberTooLarge);
        let fault = fault.err().unwrap();
        assert_eq!(fault.code.as_str(), "package.file_changed");
        assert_eq!(fault.place.file.as_deref(), Some("payload/status"));
    }
}
