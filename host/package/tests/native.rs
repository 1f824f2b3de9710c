//! Admission of native entries.

mod support;

use std::os::unix::fs::PermissionsExt as _;

use modberth_package::manifest::Architecture;
use modberth_package::native::Program;
use modberth_package::{Archive, pack};
use serde_json::json;
use support::elf::{AARCH64, Elf, LOAD, X86_64};
use support::{contents, edited};

fn read(elf: &Elf) -> Result<Program, String> {
    Program::read(&elf.bytes(), Architecture::X86_64).map_err(|fault| fault.code.as_str().to_owned())
}

#[track_caller]
fn refused(edit: impl FnOnce(&mut Elf)) {
    let mut elf = Elf::new();
    edit(&mut elf);
    assert_eq!(read(&elf), Err("package.native_format".to_owned()));
}

#[test]
fn programs_are_admitted() {
    assert_eq!(read(&Elf::new()).unwrap().loader, None);
    for (kind, os) in [(2, 0), (3, 3)] {
        let mut elf = Elf::new();
        elf.kind = kind;
        elf.ident[7] = os;
        read(&elf).unwrap();
    }
    let elf = Elf::with_loader(b"/lib64/ld-linux-x86-64.so.2\0");
    assert_eq!(read(&elf).unwrap().loader.as_deref(), Some("/lib64/ld-linux-x86-64.so.2"));
    let mut elf = Elf::new();
    elf.headers = vec![(LOAD, 0, 0); 1024];
    read(&elf).unwrap();
}

#[test]
fn a_program_of_this_machine_is_admitted() {
    let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let program = Program::read(&bytes, Architecture::of_this_machine().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(program.find_loader(folder.path()).unwrap().unwrap().is_file());
}

#[test]
fn what_is_no_program_is_refused() {
    for bytes in [b"".as_slice(), b"#!/bin/sh\n", b"\x7fELF", &Elf::new().bytes()[..63]] {
        let fault = Program::read(bytes, Architecture::X86_64).unwrap_err();
        assert_eq!(fault.code.as_str(), "package.native_format");
    }
    refused(|elf| elf.ident[4] = 1);
    refused(|elf| elf.ident[5] = 2);
    refused(|elf| elf.ident[6] = 2);
    refused(|elf| elf.version = 2);
    for os in [1, 2, 6, 9, 255] {
        refused(|elf| elf.ident[7] = os);
    }
    for kind in [0, 1, 4, 0xff00] {
        refused(|elf| elf.kind = kind);
    }
    refused(|elf| elf.header_size = 52);
    refused(|elf| elf.entry_size = 32);
    refused(|elf| elf.headers.clear());
    refused(|elf| elf.headers = vec![(LOAD, 0, 0); 1025]);
    refused(|elf| elf.count = Some(2));
    refused(|elf| elf.offset = 1 << 40);
    refused(|elf| elf.offset = u64::MAX);
    refused(|elf| elf.headers[0].0 = 4);
}

#[test]
fn the_name_of_the_loader_is_whole() {
    let mut long = vec![b'x'; 4096];
    long[4095] = 0;
    read(&Elf::with_loader(&long)).unwrap();
    long.insert(0, b'/');
    for name in [b"\0".as_slice(), b"/lib/ld", b"/lib\0/ld\0", b"\xff\0", &long] {
        assert_eq!(read(&Elf::with_loader(name)), Err("package.native_format".to_owned()));
    }
    for (offset, size) in [(u64::MAX, 10), (10, u64::MAX), (1 << 20, 10)] {
        let mut elf = Elf::with_loader(b"/lib/ld\0");
        (elf.headers[1].1, elf.headers[1].2) = (offset, size);
        assert_eq!(read(&elf), Err("package.native_format".to_owned()));
    }
    let mut elf = Elf::with_loader(b"/lib/ld\0");
    elf.headers.push(elf.headers[1]);
    assert_eq!(read(&elf), Err("package.native_format".to_owned()));
}

/// P1-HOST-29
#[test]
fn the_program_is_of_the_declared_architecture() {
    for (machine, architecture, right) in [
        (X86_64, Architecture::X86_64, true),
        (AARCH64, Architecture::Aarch64, true),
        (AARCH64, Architecture::X86_64, false),
        (X86_64, Architecture::Aarch64, false),
        (3, Architecture::X86_64, false),
    ] {
        let mut elf = Elf::new();
        elf.machine = machine;
        let found = Program::read(&elf.bytes(), architecture).map_err(|fault| fault.code.as_str());
        assert_eq!(found.is_ok(), right);
        if !right {
            assert_eq!(found, Err("package.native_machine"));
        }
    }
}

#[test]
fn the_loader_comes_from_the_system_or_the_package() {
    let folder = tempfile::tempdir().unwrap();
    let payload = folder.path().join("payload");
    std::fs::create_dir_all(payload.join("lib")).unwrap();
    std::fs::write(payload.join("lib/ld.so"), b"").unwrap();
    std::fs::write(folder.path().join("outside"), b"").unwrap();
    std::os::unix::fs::symlink(folder.path().join("outside"), payload.join("lib/link")).unwrap();
    let find = |name: &str| {
        let program = read(&Elf::with_loader(format!("{name}\0").as_bytes())).unwrap();
        program.find_loader(&payload).map_err(|fault| fault.code.as_str())
    };
    assert_eq!(find("/module/lib/ld.so").unwrap(), Some(payload.canonicalize().unwrap().join("lib/ld.so")));
    assert!(find("/bin/sh").unwrap().is_some());
    let outside = folder.path().join("outside");
    for name in [
        "/module/lib/none",
        "/module/lib/link",
        "/module/../outside",
        "/module/lib",
        "/lib/no-such-loader.so",
        "lib/ld.so",
        "/proc/self/exe",
        outside.to_str().unwrap(),
    ] {
        assert_eq!(find(name), Err("package.native_loader"), "{name}");
    }
    assert_eq!(read(&Elf::new()).unwrap().find_loader(&payload), Ok(None));
}

fn native(architecture: &str) -> Vec<u8> {
    edited(|m| {
        m["runtime"] = json!({
            "kind": "native", "language": "c", "entry": "bin/echo", "platform": "linux", "architecture": architecture
        });
    })
}

#[test]
fn native_packages_are_checked_whenever_they_are_read() {
    let packed = pack(&native("x86_64"), &contents([("bin/echo", &Elf::new().bytes())])).unwrap();
    assert!(Archive::inspect(&packed.bytes).unwrap().package.program.is_some());
    let script = pack(&native("x86_64"), &contents([("bin/echo", b"#!/bin/sh\n")])).unwrap_err();
    assert_eq!(support::files(&script), [("package.native_format", "bin/echo")]);
    let other = pack(&native("aarch64"), &contents([("bin/echo", &Elf::new().bytes())])).unwrap_err();
    assert_eq!(support::files(&other), [("package.native_machine", "bin/echo")]);
}

/// P1-HOST-29: refused on another machine, before anything starts.
#[test]
fn a_package_runs_on_its_own_architecture_only() {
    let here = Architecture::of_this_machine().unwrap();
    let other = if here == Architecture::X86_64 { Architecture::Aarch64 } else { Architecture::X86_64 };
    for (architecture, right) in [(here, true), (other, false)] {
        let mut elf = Elf::new();
        elf.machine = if architecture == Architecture::X86_64 { X86_64 } else { AARCH64 };
        let packed = pack(&native(architecture.as_str()), &contents([("bin/echo", &elf.bytes())])).unwrap();
        match packed.package.runnable() {
            Ok(process) => assert!(right && process.entry == "bin/echo"),
            Err(fault) => {
                assert!(!right);
                assert_eq!(fault.code.as_str(), "package.architecture");
                assert!(
                    fault.message.contains(here.as_str()) && fault.message.contains(other.as_str()),
                    "{fault}"
                );
            }
        }
    }
    // Interpreted packages may name an exact one, too.
    let python = edited(|m| m["runtime"]["architecture"] = json!(other.as_str()));
    let packed = pack(&python, &contents([("main.py", b"")])).unwrap();
    assert_eq!(packed.package.runnable().unwrap_err().code.as_str(), "package.architecture");
    let any = pack(&edited(|_| {}), &contents([("main.py", b"")])).unwrap();
    any.package.runnable().unwrap();
}

#[test]
fn declarative_packages_have_nothing_to_run() {
    let manifest = edited(|m| m["runtime"] = json!({"kind": "declarative", "language": "none"}));
    let packed = pack(&manifest, &contents([])).unwrap();
    assert_eq!(packed.package.runnable().unwrap_err().code.as_str(), "package.declarative");
}

#[test]
fn the_mode_of_a_native_entry_in_a_folder_lets_it_start() {
    let folder = tempfile::tempdir().unwrap();
    let entry = folder.path().join("payload/bin/echo");
    std::fs::create_dir_all(entry.parent().unwrap()).unwrap();
    std::fs::write(folder.path().join("manifest.json"), native("x86_64")).unwrap();
    std::fs::write(&entry, Elf::new().bytes()).unwrap();
    std::fs::set_permissions(&entry, std::fs::Permissions::from_mode(0o644)).unwrap();
    let problems = modberth_package::Folder::open(folder.path()).unwrap_err();
    assert_eq!(support::files(&problems), [("package.file_mode", "payload/bin/echo")]);
    assert!(problems.first().message.contains("0644"), "{problems}");
    std::fs::set_permissions(&entry, std::fs::Permissions::from_mode(0o755)).unwrap();
    modberth_package::Folder::open(folder.path()).unwrap();
}
