//! Unpacking by staging and rename, and the check that nothing changed since.

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use modberth_package::install::{remove, unpack, verify, verify_owned_by};
use modberth_package::{Archive, pack};
use serde_json::json;
use support::elf::Elf;
use support::{contents, edited, files};
use tempfile::TempDir;

/// A native package with members in folders.
fn archive() -> Archive {
    let manifest = edited(|m| {
        m["runtime"] = json!({
            "kind": "native", "language": "c", "entry": "bin/echo", "platform": "linux", "architecture": "x86_64"
        });
    });
    let members =
        contents([("bin/echo", &Elf::new().bytes()), ("lib/deep/x.so", b"x"), ("notice.txt", b"n")]);
    Archive::inspect(&pack(&manifest, &members).unwrap().bytes).unwrap()
}

/// The store folder, removed at the end although unpacked folders are closed to their owner.
struct Store(TempDir);

impl Store {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn entries(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for name in self.entries() {
            remove(&self.0.path().join(name));
        }
    }
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

#[test]
fn modes_names_and_bytes() {
    let (archive, store) = (archive(), Store::new());
    let path = unpack(&archive, store.0.path()).unwrap();
    assert_eq!(store.entries(), [archive.package.digest.to_string()]);
    assert_eq!(path, store.0.path().join(archive.package.digest.to_string()));
    for (member, wanted) in [
        ("", 0o555),
        ("bin", 0o555),
        ("bin/echo", 0o555),
        ("lib", 0o555),
        ("lib/deep", 0o555),
        ("lib/deep/x.so", 0o444),
        ("manifest.json", 0o444),
        ("notice.txt", 0o444),
    ] {
        assert_eq!(mode(&path.join(member)), wanted, "{member}");
    }
    assert_eq!(fs::read(path.join("manifest.json")).unwrap(), archive.manifest);
    assert_eq!(fs::read(path.join("lib/deep/x.so")).unwrap(), b"x");
    verify(&archive.package, &archive.manifest, &path).unwrap();
}

#[test]
fn unpacking_again_uses_what_is_there_if_it_is_whole() {
    let (archive, store) = (archive(), Store::new());
    let path = unpack(&archive, store.0.path()).unwrap();
    let inode = path.metadata().unwrap().ino();
    assert_eq!(unpack(&archive, store.0.path()).unwrap(), path);
    assert_eq!(path.metadata().unwrap().ino(), inode);
    change(&path, "notice.txt", |file| fs::write(file, b"changed").unwrap());
    let problems = unpack(&archive, store.0.path()).unwrap_err();
    assert_eq!(files(&problems), [("package.member_digest", "notice.txt")]);
    assert_eq!(store.entries().len(), 1, "no stage stays behind");
}

#[test]
fn unpacking_at_once_from_many_threads_gives_one_folder() {
    let (archive, store) = (archive(), Store::new());
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| unpack(&archive, store.0.path()).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(paths.iter().all(|path| *path == paths[0]));
    assert_eq!(store.entries(), [archive.package.digest.to_string()]);
}

/// Whatever the umask of the host: others who can write into the store could exchange what was checked.
#[test]
fn a_store_that_has_to_be_made_is_writable_for_nobody_else() {
    let (archive, store) = (archive(), Store::new());
    let outer = store.0.path().join("outer");
    let before = rustix::process::umask(rustix::fs::Mode::empty());
    let unpacked = unpack(&archive, &outer.join("inner"));
    rustix::process::umask(before);
    unpacked.unwrap();
    assert_eq!((mode(&outer), mode(&outer.join("inner"))), (0o755, 0o755));
}

/// What a link leads to is not what was unpacked, however equal: it can be exchanged after the check.
#[test]
fn an_unpacked_package_is_no_link() {
    let (archive, store, elsewhere) = (archive(), Store::new(), Store::new());
    let real = unpack(&archive, elsewhere.0.path()).unwrap();
    let link = store.0.path().join(archive.package.digest.to_string());
    symlink(&real, &link).unwrap();
    assert_eq!(files(&unpack(&archive, store.0.path()).unwrap_err()), [("package.file_link", ".")]);
    assert_eq!(
        files(&verify(&archive.package, &archive.manifest, &link).unwrap_err()),
        [("package.file_link", ".")]
    );
    let gone = verify(&archive.package, &archive.manifest, &store.0.path().join("gone")).unwrap_err();
    assert_eq!(gone.first().code.as_str(), "package.not_found");
}

/// Opens the way to a member, changes it, and closes it again with the modes of before.
fn change(root: &Path, member: &str, change: impl FnOnce(&Path)) {
    let path = root.join(member);
    let parent = path.parent().unwrap().to_owned();
    let before = path.symlink_metadata().ok().filter(|m| m.is_file()).map(|m| m.permissions());
    fs::set_permissions(&parent, Permissions::from_mode(0o755)).unwrap();
    if before.is_some() {
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    }
    change(&path);
    if let Some(before) = before
        && path.symlink_metadata().is_ok_and(|m| m.is_file())
    {
        fs::set_permissions(&path, before).unwrap();
    }
    fs::set_permissions(&parent, Permissions::from_mode(0o555)).unwrap();
}

type Change = fn(&Path);

#[test]
fn every_change_is_found() {
    let changes: [(&str, Change, &str, &str); 14] = [
        ("notice.txt", |p| fs::write(p, b"N").unwrap(), "package.member_digest", "notice.txt"),
        ("manifest.json", |p| fs::write(p, b"{}").unwrap(), "package.member_digest", "manifest.json"),
        ("manifest.json", |p| fs::remove_file(p).unwrap(), "package.manifest_missing", ""),
        ("notice.txt", |p| fs::remove_file(p).unwrap(), "package.member_missing", "notice.txt"),
        ("bin/new", |p| closed(p, b""), "package.member_unlisted", "bin/new"),
        ("empty", |p| closed_folder(p), "package.member_unlisted", "empty"),
        ("bin/echo", |p| replace(p, |p| symlink("/bin/sh", p).unwrap()), "package.file_link", "bin/echo"),
        ("lib/deep", |p| replace(p, |p| symlink("/usr", p).unwrap()), "package.file_link", "lib/deep"),
        ("notice.txt", |p| fs::hard_link(p, p.with_file_name("n")).unwrap(), "package.file_hard_link", "n"),
        (
            "notice.txt",
            |p| replace(p, |p| rustix::fs::mkfifoat(rustix::fs::CWD, p, rustix::fs::Mode::RUSR).unwrap()),
            "package.file_special",
            "notice.txt",
        ),
        ("bin", |p| chmod(p, 0o755), "package.installed_mode", "bin"),
        ("bin/echo", |p| chmod(p, 0o444), "package.installed_mode", "bin/echo"),
        ("lib/deep/x.so", |p| chmod(p, 0o555), "package.installed_mode", "lib/deep/x.so"),
        ("lib/deep/x.so", |p| chmod(p, 0o4444), "package.installed_mode", "lib/deep/x.so"),
    ];
    for (member, how, code, file) in changes {
        let (archive, store) = (archive(), Store::new());
        let path = unpack(&archive, store.0.path()).unwrap();
        if code == "package.installed_mode" {
            how(&path.join(member));
        } else {
            change(&path, member, how);
        }
        let problems = verify(&archive.package, &archive.manifest, &path).unwrap_err();
        assert_eq!(files(&problems)[0], (code, file), "{member}: {problems:?}");
    }
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn closed(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    chmod(path, 0o444);
}

fn closed_folder(path: &Path) {
    fs::create_dir(path).unwrap();
    chmod(path, 0o555);
}

fn replace(path: &Path, how: impl FnOnce(&Path)) {
    if path.is_dir() {
        remove(path)
    } else {
        fs::remove_file(path).unwrap()
    }
    how(path);
}

#[test]
fn another_owner_is_found() {
    let (archive, store) = (archive(), Store::new());
    let path = unpack(&archive, store.0.path()).unwrap();
    let owner = rustix::process::geteuid().as_raw();
    verify_owned_by(&archive.package, &archive.manifest, &path, owner).unwrap();
    let problems = verify_owned_by(&archive.package, &archive.manifest, &path, owner + 1).unwrap_err();
    assert!(problems.iter().all(|problem| problem.code.as_str() == "package.installed_owner"));
    // The folder itself, three below, three members and the manifest.
    assert_eq!(problems.iter().count(), 8);
}

#[test]
fn a_stage_that_cannot_be_finished_is_removed() {
    let (mut archive, store) = (archive(), Store::new());
    // A member that its own parent makes impossible: the file system refuses half way.
    archive.contents.insert("notice.txt/x".to_owned(), Vec::new());
    assert_eq!(unpack(&archive, store.0.path()).unwrap_err().first().code.as_str(), "package.io");
    assert!(store.entries().is_empty());
}

#[test]
fn removing_follows_no_link() {
    let store = Store::new();
    let outside = store.0.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), b"").unwrap();
    chmod(&outside, 0o500);
    let folder = store.0.path().join("folder");
    fs::create_dir(&folder).unwrap();
    symlink(&outside, folder.join("link")).unwrap();
    remove(&folder);
    assert!(folder.symlink_metadata().is_err());
    assert!(outside.join("kept").exists());
    assert_eq!(mode(&outside), 0o500);
}
