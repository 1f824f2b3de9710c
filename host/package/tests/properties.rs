//! Properties: what is packed reads back; what is damaged never panics and never passes as something else.

mod support;

use std::collections::BTreeMap;

use modberth_package::manifest::Architecture;
use modberth_package::native::Program;
use modberth_package::{Archive, Manifest, Problems, hints::Hints, pack};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use support::elf::Elf;
use support::zip::{Entry, Zip};
use support::{contents, edited, good, plain};

fn payload() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    btree_map("[a-z][a-z0-9_.-]{0,8}[a-z0-9](/[a-z]{1,8}){0,2}", vec(any::<u8>(), 0..200), 0..12).prop_map(
        |mut found| {
            found.insert("main.py".to_owned(), b"x".to_vec());
            found
        },
    )
}

fn echo() -> Vec<u8> {
    let hints = br#"{"limits":{"tasks":4}}"#;
    pack(&edited(|_| {}), &contents([("main.py", b"print()"), ("modberth.json", hints)])).unwrap().bytes
}

proptest! {
    #[test]
    fn packing_reads_back(payload in payload()) {
        match pack(&edited(|_| {}), &payload) {
            Ok(packed) => {
                let archive = Archive::inspect(&packed.bytes).unwrap();
                prop_assert_eq!(&archive.contents, &payload);
                prop_assert_eq!(archive.package.digest, packed.package.digest);
                prop_assert_eq!(&pack(&archive.manifest, &archive.contents).unwrap().bytes, &packed.bytes);
            }
            Err(problems) => {
                prop_assert!(problems.iter().all(|p| {
                    matches!(p.code.as_str(), "package.member_prefix" | "package.files_manifest")
                        // A hints file of random bytes.
                        || p.place.file.as_deref() == Some("modberth.json")
                }), "{problems:?}");
            }
        }
    }

    #[test]
    fn a_changed_byte_never_panics_and_never_changes_a_member(at in any::<prop::sample::Index>(), bits in 1_u8..) {
        let whole = echo();
        let before = Archive::inspect(&whole).unwrap();
        let mut bytes = whole;
        let at = at.index(bytes.len());
        bytes[at] ^= bits;
        if let Ok(archive) = Archive::inspect(&bytes) {
            prop_assert_eq!(archive.contents, before.contents);
            prop_assert_ne!(archive.package.digest, before.package.digest);
        }
    }

    #[test]
    fn splices_never_panic(
        at in any::<prop::sample::Index>(),
        length in 0_usize..60,
        insert in vec(any::<u8>(), 0..40),
    ) {
        let mut bytes = echo();
        let at = at.index(bytes.len());
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, insert);
        let _ = Archive::inspect(&bytes);
    }

    #[test]
    fn wild_headers_never_panic(
        flags in any::<u16>(), method in prop::sample::select(vec![0_u16, 8]), packed in any::<u32>(), size in any::<u32>(),
        offset in prop::option::of(any::<u32>()), extra in vec(any::<u8>(), 0..20), mode in any::<u16>(),
        count in prop::option::of(any::<u16>()), directory in prop::option::of(any::<u32>()),
    ) {
        let mut entry = Entry::deflated("main.py", b"print('hello')");
        (entry.flags, entry.method, entry.mode) = (flags & 0x080e, method, u32::from(mode));
        (entry.local_offset, entry.extra) = (offset, extra.clone());
        if flags & 1 == 0 {
            (entry.packed, entry.size) = (packed, size);
        }
        let zip = Zip { count, directory_offset: directory, ..Zip::of(vec![entry]) };
        let _ = Archive::inspect(&zip.bytes());
    }

    #[test]
    fn random_bytes_are_no_archive(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(Archive::inspect(&bytes).is_err());
    }

    #[test]
    fn an_edited_manifest_never_panics(at in any::<prop::sample::Index>(), insert in "[\\[\\]{}:,\"0-9a-z.\\-]{0,6}", cut in 0_usize..6) {
        let mut bytes = plain().to_string().into_bytes();
        let at = at.index(bytes.len());
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, insert.into_bytes());
        let found: Result<Manifest, Problems> = Manifest::parse(&bytes);
        if let Err(problems) = found {
            prop_assert!(problems.iter().count() > 0);
        }
    }

    #[test]
    fn an_edited_program_never_panics(at in any::<prop::sample::Index>(), bits in 1_u8..) {
        let mut bytes = Elf::with_loader(b"/lib64/ld-linux-x86-64.so.2\0").bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= bits;
        if let Ok(program) = Program::read(&bytes, Architecture::X86_64) {
            let _ = program.find_loader(std::path::Path::new("/nonexistent"));
        }
    }

    #[test]
    fn random_hints_never_panic(text in "[\\[\\]{}:,\"0-9a-z ]{0,60}") {
        let _ = Hints::parse(text.as_bytes(), &good(|_| {}));
    }

    #[test]
    fn texts_of_parameters_come_out_as_they_went_in(text in ".{0,40}") {
        let manifest = good(|_| {});
        let schema = &manifest.actions[0].parameters;
        match schema.read_texts([("message", text.as_str())]) {
            Ok(json) => {
                let found = json.raw().get("message").unwrap().as_str().unwrap().into_owned();
                prop_assert_eq!(found, text);
            }
            Err(fault) => prop_assert!(text.contains('\0'), "{}", fault),
        }
    }
}
