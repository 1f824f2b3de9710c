//! Unpacked packages: a folder named by the digest, written whole or not at all, and the check that nothing changed.
//!
//! Files have the mode 0444, a native entry 0555, folders 0555; everything belongs to the user of the host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use modberth_protocol::{Code, Violation};
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::archive::Archive;
use crate::folder::{Entry, open_unpacked, walk_unpacked};
use crate::limits::MANIFEST_NAME;
use crate::member;
use crate::package::Package;
use crate::problem::{Problems, Sink, failed};

/// Mode of unpacked files.
pub const FILE_MODE: u32 = 0o444;
/// Mode of an unpacked native entry.
pub const ENTRY_MODE: u32 = 0o555;
/// Mode of unpacked folders, the outermost included.
pub const FOLDER_MODE: u32 = 0o555;
/// Mode of the store if it has to be made.
const STORE_MODE: u32 = 0o755;
/// How the name of a folder begins while it is being written. A host removes such folders when it starts.
pub const STAGE_PREFIX: &str = ".stage-";

/// Unpacks an archive into `store/DIGEST` and gives that path. The folder appears whole or not at all. One that is there
/// already is verified and used.
///
/// # Errors
/// `package.io` if the file system refuses; everything that [`verify`] refuses.
pub fn unpack(archive: &Archive, store: &Path) -> Result<PathBuf, Problems> {
    let target = store.join(archive.package.digest.to_string());
    if target.symlink_metadata().is_ok() {
        verify(&archive.package, &archive.manifest, &target)?;
        return Ok(target);
    }
    // Whoever can write here can exchange a package after its check, so the umask does not decide that alone.
    DirBuilder::new()
        .recursive(true)
        .mode(STORE_MODE)
        .create(store)
        .map_err(|error| failed("make", store, &error))?;
    let stage = Stage::new(store).map_err(|error| failed("make a folder in", store, &error))?;
    fill(archive, &stage.path).map_err(|error| failed("unpack into", &stage.path, &error))?;
    verify(&archive.package, &archive.manifest, &stage.path)?;
    let cwd = rustix::fs::CWD;
    match renameat_with(cwd, &stage.path, cwd, &target, RenameFlags::NOREPLACE) {
        Ok(()) => stage.keep(),
        // Another process was faster.
        Err(Errno::EXIST | Errno::NOTEMPTY) => verify(&archive.package, &archive.manifest, &target)?,
        Err(error) => return Err(failed("rename to", &target, &error.into()).into()),
    }
    File::open(store).and_then(|folder| folder.sync_all()).map_err(|error| failed("write", store, &error))?;
    Ok(target)
}

/// A folder that is removed again unless it is kept.
struct Stage {
    path: PathBuf,
    kept: bool,
}

impl Stage {
    fn new(store: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(STAGE_PREFIX)
            .rand_bytes(8)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(store)?;
        Ok(Self { path: folder.keep(), kept: false })
    }

    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.kept {
            remove(&self.path);
        }
    }
}

/// Removes an unpacked package. Its folders are made writable first, as they are closed even to their owner.
///
/// Links below are removed, never followed. What cannot be removed stays.
pub fn remove(path: &Path) {
    fn open_up(path: &Path, depth: usize) {
        // No member path has more than 120 parts.
        const DEEPEST: usize = 130;
        let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        if !is_folder || depth > DEEPEST {
            return;
        }
        if fs::set_permissions(path, Permissions::from_mode(0o700)).is_ok()
            && let Ok(entries) = fs::read_dir(path)
        {
            for entry in entries.flatten() {
                open_up(&entry.path(), depth + 1);
            }
        }
    }
    open_up(path, 0);
    // The caller has nothing to do about what stays; the next start of a host tries again.
    let _ = fs::remove_dir_all(path);
}

fn mode_of(package: &Package, path: &str) -> u32 {
    let native = package.program.is_some()
        && package.manifest.runtime.process().is_some_and(|process| process.entry == path);
    if native { ENTRY_MODE } else { FILE_MODE }
}

/// The folders of a package, the outermost first.
fn folders(package: &Package) -> BTreeSet<&str> {
    package.members.iter().flat_map(|found| member::parents(&found.path)).collect()
}

fn fill(archive: &Archive, stage: &Path) -> io::Result<()> {
    let folders = folders(&archive.package);
    for folder in &folders {
        DirBuilder::new().mode(0o700).create(stage.join(folder))?;
    }
    let manifest = std::iter::once((MANIFEST_NAME, &archive.manifest));
    let members = archive.contents.iter().map(|(path, bytes)| (path.as_str(), bytes));
    for (path, bytes) in manifest.chain(members) {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(stage.join(path))?;
        file.write_all(bytes)?;
        file.set_permissions(Permissions::from_mode(mode_of(&archive.package, path)))?;
        file.sync_all()?;
    }
    // The innermost first: a closed folder takes no more entries.
    for folder in folders.iter().rev().map(|folder| stage.join(folder)).chain([stage.to_owned()]) {
        let file = File::open(&folder)?;
        file.set_permissions(Permissions::from_mode(FOLDER_MODE))?;
        file.sync_all()?;
    }
    Ok(())
}

/// Verifies an unpacked package in full: exactly its files and folders, their modes, one name each, every byte, and that
/// all of it belongs to the user of this process. `manifest` holds the bytes of `manifest.json` as they stood in the
/// archive.
///
/// # Errors
/// Everything that differs.
pub fn verify(package: &Package, manifest: &[u8], folder: &Path) -> Result<(), Problems> {
    verify_owned_by(package, manifest, folder, rustix::process::geteuid().as_raw())
}

/// As [`verify`], for a package that the user `owner` unpacked.
///
/// # Errors
/// Everything that differs.
pub fn verify_owned_by(
    package: &Package,
    manifest: &[u8],
    folder: &Path,
    owner: u32,
) -> Result<(), Problems> {
    let root = open_unpacked(folder)?;
    let (files, found_folders) = walk_unpacked(&root)?;
    let mut sink = Sink::new("");
    let mut look = |path: &str, mode: u32, wanted: u32, found: u32| {
        if mode != wanted {
            sink.add(
                Violation::new(
                    Code::PackageInstalledMode,
                    format!("This has the mode {mode:04o}; it was unpacked with {wanted:04o}."),
                )
                .file(path),
            );
        }
        if found != owner {
            sink.add(
                Violation::new(
                    Code::PackageInstalledOwner,
                    format!("This belongs to user {found}; the host is user {owner}."),
                )
                .file(path),
            );
        }
    };
    let stat = root.stat(".")?;
    look(".", stat.st_mode & 0o7_777, FOLDER_MODE, stat.st_uid);
    for found in &found_folders {
        look(&found.path, found.mode, FOLDER_MODE, found.owner);
    }
    for file in &files {
        look(&file.path, file.mode, mode_of(package, &file.path), file.owner);
    }
    let expected = folders(package);
    for found in found_folders.iter().filter(|found| !expected.contains(found.path.as_str())) {
        sink.add(
            Violation::new(Code::PackageMemberUnlisted, "This folder does not belong to the package.")
                .file(&found.path),
        );
    }
    let mut files: BTreeMap<String, Entry> =
        files.into_iter().map(|file| (file.path.clone(), file)).collect();
    match files.remove(MANIFEST_NAME) {
        None => sink.add(Violation::new(Code::PackageManifestMissing, "manifest.json is gone.")),
        Some(found) if found.contents != manifest => {
            sink.add(
                Violation::new(Code::PackageMemberDigest, "manifest.json was changed.").file(MANIFEST_NAME),
            );
        }
        Some(_) => {}
    }
    let contents = files.into_iter().map(|(path, file)| (path, file.contents)).collect();
    if let Err(problems) = crate::package::compare(&package.manifest.files, &contents) {
        sink.extend(problems);
    }
    sink.finish(Some(()))
}
