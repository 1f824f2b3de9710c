//! Development folders: reading, refusals, modes, packing, saving.

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use modberth_package::folder::check_access;
use modberth_package::save::{Saved, save};
use modberth_package::{Archive, Folder, Problems, pack, pack_folder};
use modberth_protocol::Blame;
use serde_json::json;
use support::{contents, edited, files};
use tempfile::TempDir;

const MAIN: &[u8] = b"print('hello')\n";

/// A folder with the plain manifest and its entry.
fn echo() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("manifest.json"), edited(|_| {})).unwrap();
    fs::create_dir(folder.path().join("payload")).unwrap();
    fs::write(folder.path().join("payload/main.py"), MAIN).unwrap();
    folder
}

#[track_caller]
fn refused(folder: &TempDir, expected: &[(&str, &str)]) -> Problems {
    let problems = Folder::open(folder.path()).unwrap_err();
    assert_eq!(files(&problems), expected, "{problems:?}");
    problems
}

#[test]
fn a_folder_has_the_digest_of_the_archive_it_packs_to() {
    let source = echo();
    let folder = Folder::open(source.path()).unwrap();
    let packed = pack_folder(source.path()).unwrap();
    assert_eq!(folder.package.digest, packed.package.digest);
    assert_eq!(folder.package.digest, Archive::inspect(&packed.bytes).unwrap().package.digest);
    assert_eq!(packed.bytes, pack(&edited(|_| {}), &contents([("main.py", MAIN)])).unwrap().bytes);
    assert_eq!(folder.size, packed.bytes.len());
    assert_eq!(folder.payload, source.path().join("payload"));
    assert_eq!(folder.package.members[0].path, "main.py");
    assert_eq!(folder.package.members[0].size, 15);
}

#[test]
fn only_manifest_and_payload_count() {
    let source = echo();
    let before = Folder::open(source.path()).unwrap().package.digest;
    fs::write(source.path().join("README.md"), b"x").unwrap();
    fs::create_dir(source.path().join("src")).unwrap();
    symlink("/etc", source.path().join("link")).unwrap();
    fs::create_dir_all(source.path().join("payload/empty/folder")).unwrap();
    // Modes, times and the name of the folder are no part of the identity.
    fs::set_permissions(source.path().join("payload/main.py"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(Folder::open(source.path()).unwrap().package.digest, before);
    fs::write(source.path().join("payload/data.txt"), b"").unwrap();
    assert_ne!(Folder::open(source.path()).unwrap().package.digest, before);
}

#[test]
fn a_source_that_differs_from_the_payload_gives_a_warning() {
    let source = echo();
    let payload = source.path().join("payload");
    fs::create_dir(payload.join("lib")).unwrap();
    fs::write(payload.join("lib/own.py"), b"1").unwrap();
    let warnings = || {
        let folder = Folder::open(source.path()).unwrap();
        folder.warnings.into_iter().map(|warning| (warning.name, warning.message)).collect::<Vec<_>>()
    };
    // None: there are no sources, they are the same, or what stands there is no file.
    assert_eq!(warnings(), []);
    fs::write(source.path().join("main.py"), MAIN).unwrap();
    symlink("/etc", source.path().join("lib")).unwrap();
    assert_eq!(warnings(), []);

    fs::write(source.path().join("main.py"), b"changed").unwrap();
    let [(name, message)] = &warnings()[..] else { panic!("{:?}", warnings()) };
    assert_eq!(*name, "payload_differs");
    assert!(message.starts_with("main.py differs from payload/main.py"), "{message}");
    fs::write(source.path().join("main.py"), MAIN).unwrap();
    fs::remove_file(source.path().join("lib")).unwrap();
    fs::create_dir(source.path().join("lib")).unwrap();
    fs::write(source.path().join("lib/own.py"), b"2").unwrap();
    assert!(warnings()[0].1.starts_with("lib/own.py differs"), "{:?}", warnings());
    fs::remove_file(source.path().join("lib/own.py")).unwrap();

    fs::write(source.path().join("modberth.json"), b"{}\n").unwrap();
    fs::write(payload.join("modberth.json"), b"{}").unwrap();
    assert!(warnings()[0].1.starts_with("modberth.json differs"), "{:?}", warnings());
}

#[test]
fn a_listed_inventory_must_match() {
    let source = echo();
    let packed = pack_folder(source.path()).unwrap();
    let manifest = Archive::inspect(&packed.bytes).unwrap().manifest;
    fs::write(source.path().join("manifest.json"), &manifest).unwrap();
    assert_eq!(Folder::open(source.path()).unwrap().package.digest, packed.package.digest);
    fs::write(source.path().join("payload/main.py"), b"changed").unwrap();
    refused(&source, &[("package.member_digest", "payload/main.py")]);
}

#[test]
fn what_is_missing_is_named() {
    let none = Folder::open(Path::new("/nonexistent/package")).unwrap_err();
    assert_eq!(none.first().code.as_str(), "package.not_found");
    assert_eq!(none.first().place.file.as_deref(), Some("/nonexistent/package"));
    let file = Folder::open(Path::new("/proc/self/status")).unwrap_err().into_first();
    assert_eq!(
        (file.code.as_str(), file.message.as_str()),
        ("package.not_found", "\"/proc/self/status\" is no folder.")
    );
    assert_eq!(file.remedy(), "Give the folder that holds manifest.json.");
    let empty = tempfile::tempdir().unwrap();
    let empty = Folder::open(empty.path()).unwrap_err().into_first();
    assert_eq!(
        (empty.code.as_str(), empty.place.file.as_deref()),
        ("package.manifest_missing", Some("manifest.json"))
    );

    let source = echo();
    fs::remove_file(source.path().join("payload/main.py")).unwrap();
    let problems = refused(&source, &[("package.payload_missing", "payload/main.py")]);
    assert!(problems.first().message.ends_with("has no payload/main.py."), "{problems}");
    let remedy = problems.first().remedy();
    assert!(remedy.contains("payload/main.py exists") && remedy.contains("cargo xtask examples"), "{remedy}");
    fs::remove_dir(source.path().join("payload")).unwrap();
    let problems = refused(&source, &[("package.payload_missing", "payload/main.py")]);
    assert!(problems.first().remedy().contains("Build the module"), "{problems}");

    // An entry is a path inside the payload.
    let manifest = fs::read_to_string(source.path().join("manifest.json")).unwrap();
    fs::write(source.path().join("manifest.json"), manifest.replace("\"main.py\"", "\"payload/main.py\""))
        .unwrap();
    let problems = refused(&source, &[("package.payload_missing", "payload/payload/main.py")]);
    assert_eq!(
        problems.first().remedy(),
        "The entry is relative to payload/: write main.py in runtime.entry."
    );
}

#[test]
fn a_file_that_is_no_package_is_the_callers() {
    let work = tempfile::tempdir().unwrap();
    let path = work.path().join("main.py");
    let none = Archive::open(&path).unwrap_err().into_first();
    assert_eq!(none.code.as_str(), "package.not_found");
    assert!(none.message.starts_with("There is no folder and no archive "), "{none}");
    fs::write(&path, b"print(1)").unwrap();
    let fault = Archive::open(&path).unwrap_err().into_first();
    assert_eq!((fault.code.as_str(), fault.blame.as_str()), ("package.archive_format", "caller"));
    assert_eq!((fault.place.file.as_deref(), fault.place.offset), (path.to_str(), Some(0)));
    assert!(fault.remedy().contains("folder that holds manifest.json"), "{}", fault.remedy());
    // What was meant as an archive names itself where no member is named.
    fs::write(&path, b"PK\x03\x04").unwrap();
    let fault = Archive::open(&path).unwrap_err().into_first();
    assert_eq!((fault.blame.as_str(), fault.place.file.as_deref()), ("module", path.to_str()));
}

#[test]
fn a_declarative_folder_needs_no_payload() {
    let source = tempfile::tempdir().unwrap();
    let manifest = edited(|m| m["runtime"] = json!({"kind": "declarative", "language": "none"}));
    fs::write(source.path().join("manifest.json"), manifest).unwrap();
    assert_eq!(Folder::open(source.path()).unwrap().package.members.len(), 0);
}

#[test]
fn links_and_special_files_are_refused_all_at_once() {
    let source = echo();
    let payload = source.path().join("payload");
    symlink("main.py", payload.join("link.py")).unwrap();
    symlink("/etc", payload.join("links")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, payload.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(payload.join("socket")).unwrap();
    fs::hard_link(payload.join("main.py"), source.path().join("main.py")).unwrap();
    let problems = refused(
        &source,
        &[
            ("package.file_link", "payload/link.py"),
            ("package.file_link", "payload/links"),
            ("package.file_hard_link", "payload/main.py"),
            ("package.file_special", "payload/pipe"),
            ("package.file_special", "payload/socket"),
        ],
    );
    assert_eq!(problems.iter().nth(2).unwrap().actual, Some(2));
}

#[test]
fn the_payload_and_the_manifest_are_no_links() {
    let source = echo();
    let payload = source.path().join("payload");
    fs::rename(&payload, source.path().join("elsewhere")).unwrap();
    symlink("elsewhere", &payload).unwrap();
    refused(&source, &[("package.file_link", "payload")]);
    fs::remove_file(&payload).unwrap();
    fs::write(&payload, b"a file").unwrap();
    refused(&source, &[("package.file_special", "payload")]);

    let source = echo();
    let manifest = source.path().join("manifest.json");
    fs::rename(&manifest, source.path().join("other.json")).unwrap();
    symlink("other.json", &manifest).unwrap();
    refused(&source, &[("package.file_link", "manifest.json")]);
    fs::remove_file(&manifest).unwrap();
    fs::create_dir(&manifest).unwrap();
    refused(&source, &[("package.file_special", "manifest.json")]);
    // The folder itself is the caller's, by whatever path.
    let source = echo();
    let way = tempfile::tempdir().unwrap();
    symlink(source.path(), way.path().join("link")).unwrap();
    Folder::open(&way.path().join("link")).unwrap();
}

#[test]
fn names_that_no_archive_can_hold_are_refused() {
    let source = echo();
    let payload = source.path().join("payload");
    fs::create_dir(payload.join("__pycache__")).unwrap();
    fs::create_dir(payload.join(".hidden")).unwrap();
    fs::write(payload.join("a b"), b"").unwrap();
    refused(&source, &[("package.member_path", "payload/.hidden"), ("package.member_path", "payload/a b")]);
    fs::remove_dir(payload.join(".hidden")).unwrap();
    fs::remove_file(payload.join("a b")).unwrap();
    fs::write(payload.join("manifest.json"), b"{}").unwrap();
    refused(&source, &[("package.files_manifest", "payload/manifest.json")]);
}

#[test]
fn problems_name_files_as_they_stand_in_the_folder() {
    let source = echo();
    let hints = source.path().join("payload/modberth.json");
    fs::write(hints, br#"{"examples":{"other":[]}}"#).unwrap();
    refused(&source, &[("package.example", "payload/modberth.json")]);
    fs::write(source.path().join("manifest.json"), edited(|m| m["id"] = json!("X"))).unwrap();
    refused(&source, &[("package.identifier", "manifest.json")]);
}

#[test]
fn sizes_and_numbers_are_bounded() {
    let source = echo();
    let payload = source.path().join("payload");
    let file = fs::File::create(payload.join("large")).unwrap();
    file.set_len(16 * 1024 * 1024 + 1).unwrap();
    let problems = refused(&source, &[("package.member_too_large", "payload/large")]);
    assert_eq!((problems.first().limit, problems.first().actual), (Some(16_777_216), Some(16_777_217)));
    fs::remove_file(payload.join("large")).unwrap();

    for i in 1..255 {
        fs::write(payload.join(format!("f{i}")), b"").unwrap();
    }
    assert_eq!(Folder::open(source.path()).unwrap().package.members.len(), 255);
    fs::write(payload.join("one-more"), b"").unwrap();
    let problems = Folder::open(source.path()).unwrap_err();
    assert_eq!(problems.first().code.as_str(), "package.members");
    assert_eq!((problems.first().limit, problems.first().actual), (Some(256), Some(257)));

    let source = echo();
    fs::write(source.path().join("manifest.json"), vec![b' '; 65_537]).unwrap();
    refused(&source, &[("package.manifest_too_large", "manifest.json")]);
}

/// A module runs under a user of its own, which must be able to read the payload.
#[test]
fn files_closed_to_others_are_named_with_their_mode() {
    let source = echo();
    let payload = source.path().join("payload");
    fs::create_dir(payload.join("lib")).unwrap();
    fs::write(payload.join("lib/x.py"), b"").unwrap();
    for (path, mode) in
        [("payload", 0o755), ("payload/lib", 0o755), ("payload/main.py", 0o644), ("payload/lib/x.py", 0o444)]
    {
        fs::set_permissions(source.path().join(path), Permissions::from_mode(mode)).unwrap();
    }
    let folder = Folder::open(source.path()).unwrap();
    check_access(&folder).unwrap();
    for (path, mode) in
        [("payload", 0o711), ("payload/lib", 0o744), ("payload/main.py", 0o640), ("payload/lib/x.py", 0o600)]
    {
        let path = source.path().join(path);
        let before = path.metadata().unwrap().permissions();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let problems = check_access(&folder).unwrap_err();
        let name = path.strip_prefix(source.path()).unwrap().to_str().unwrap();
        assert_eq!(files(&problems), [("package.file_mode", name)]);
        assert!(problems.first().message.contains(&format!("{mode:04o}")), "{problems}");
        fs::set_permissions(&path, before).unwrap();
    }
}

#[test]
fn an_archive_is_saved_whole_and_never_over_something_else() {
    let source = echo();
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("echo.zip");
    let packed = pack_folder(source.path()).unwrap();
    assert_eq!(save(&packed.bytes, &path, false).unwrap(), Saved::Written);
    assert_eq!(fs::read(&path).unwrap(), packed.bytes);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o644);
    assert_eq!(save(&packed.bytes, &path, false).unwrap(), Saved::Same);
    assert_eq!(Archive::open(&path).unwrap().package.digest, packed.package.digest);

    let other = save(b"other", &path, false).unwrap_err();
    assert_eq!(other.code.as_str(), "package.output_exists");
    assert_eq!(fs::read(&path).unwrap(), packed.bytes);
    assert_eq!(save(b"other", &path, true).unwrap(), Saved::Written);
    assert_eq!(fs::read(&path).unwrap(), b"other");
    // No half-written file stays behind.
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);

    let gone = save(b"x", &out.path().join("none/echo.zip"), false).unwrap_err();
    assert_eq!((gone.code.as_str(), gone.blame), ("package.io", Blame::Caller));
    assert!(gone.message.ends_with("/none\" does not exist."), "{gone}");
    assert!(gone.remedy().starts_with("Make the folder"), "{}", gone.remedy());
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(out.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let closed = save(b"x", &out.path().join("closed.zip"), false).unwrap_err();
        fs::set_permissions(out.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!closed.message.contains(".modberth-"), "a name that nobody gave: {closed}");
    }
    // A link that leads nowhere is no file, but its name is taken: as if another process had just taken it.
    let link = out.path().join("link.zip");
    symlink("nowhere", &link).unwrap();
    let taken = save(b"x", &link, false).unwrap_err();
    assert_eq!((taken.code.as_str(), taken.blame), ("package.output_exists", Blame::Caller));
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("nowhere"));
    let folder = save(b"x", out.path(), true).unwrap_err();
    assert_eq!((folder.code.as_str(), folder.blame), ("package.file_special", Blame::Caller));
}

#[test]
fn saving_the_same_at_once_from_many_threads_is_no_conflict() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("echo.zip");
    let saved: Vec<Saved> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| save(b"bytes", &path, false).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(saved.iter().filter(|saved| **saved == Saved::Written).count(), 1);
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
}

#[test]
fn archives_are_opened_within_their_bound() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("x.zip");
    assert_eq!(Archive::open(&path).unwrap_err().first().code.as_str(), "package.not_found");
    let file = fs::File::create(&path).unwrap();
    file.set_len(16 * 1024 * 1024 + 5).unwrap();
    let over = Archive::open(&path).unwrap_err().into_first();
    assert_eq!((over.code.as_str(), over.actual), ("package.archive_too_large", Some(16_777_221)));
    let special = |path: &Path| {
        let refused = Archive::open(path).unwrap_err().into_first();
        assert_eq!((refused.code.as_str(), refused.blame), ("package.file_special", Blame::Caller));
    };
    special(out.path());
    // A path that leads nowhere is the caller's, whatever the system calls it.
    let circle = out.path().join("circle");
    symlink("circle", &circle).unwrap();
    for path in [circle, out.path().join("x".repeat(300))] {
        for refused in [Archive::open(&path).unwrap_err(), Folder::open(&path).unwrap_err()] {
            assert_eq!((refused.first().code.as_str(), refused.first().blame), ("package.io", Blame::Caller));
        }
    }
    let pipe = out.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    special(&pipe);
}
