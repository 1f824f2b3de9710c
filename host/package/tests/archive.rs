//! Archives: what is packed, and every refusal when one is read.

mod support;

use std::io::{Cursor, Read as _};

use modberth_package::{Archive, Digest, Packed, Problems, pack};
use modberth_protocol::Violation;
use serde_json::{Value, json};
use support::zip::{Entry, Zip};
use support::{contents, edited, files};

const MAIN: &[u8] = b"print('hello')\n";

/// The plain package as two members.
fn members() -> Vec<Entry> {
    let digest = Digest::of(MAIN).to_string();
    let manifest = edited(|m| m["files"] = json!({"main.py": digest}));
    vec![Entry::stored("main.py", MAIN), Entry::stored("manifest.json", &manifest)]
}

/// The plain package with more members, listed in its files.
fn members_with(more: Vec<Entry>, listed: &[(&str, &[u8])]) -> Vec<Entry> {
    let mut list = serde_json::Map::new();
    for (path, bytes) in [("main.py", MAIN)].iter().chain(listed) {
        list.insert((*path).to_owned(), json!(Digest::of(bytes).to_string()));
    }
    let manifest = edited(|m| m["files"] = Value::Object(list));
    let mut all = vec![Entry::stored("main.py", MAIN), Entry::stored("manifest.json", &manifest)];
    all.extend(more);
    all
}

#[track_caller]
fn accepted(zip: &Zip) -> Archive {
    Archive::inspect(&zip.bytes()).unwrap_or_else(|problems| panic!("{problems}"))
}

#[track_caller]
fn refused(code: &str, zip: &Zip) -> Violation {
    let problem = Archive::inspect(&zip.bytes()).unwrap_err().into_first();
    assert_eq!(problem.code.as_str(), code, "{problem}");
    problem
}

/// The archive after an edit of its first member, `main.py`.
#[track_caller]
fn refused_member(code: &str, edit: impl FnOnce(&mut Entry)) -> Violation {
    let mut entries = members();
    edit(&mut entries[0]);
    refused(code, &Zip::of(entries))
}

fn echo() -> Packed {
    pack(&edited(|_| {}), &contents([("main.py", MAIN)])).unwrap()
}

#[test]
fn packing_fills_the_inventory_and_reads_back() {
    let packed = echo();
    let archive = Archive::inspect(&packed.bytes).unwrap();
    assert_eq!(archive.package.digest, Digest::of(&packed.bytes));
    assert_eq!(archive.package.digest, packed.package.digest);
    assert_eq!(archive.contents, contents([("main.py", MAIN)]));
    assert_eq!(archive.package.manifest.files["main.py"], Digest::of(MAIN));
    assert!(archive.warnings.is_empty());
    // What was unpacked packs to the same bytes.
    assert_eq!(pack(&archive.manifest, &archive.contents).unwrap().bytes, packed.bytes);
}

/// The identity of packages must not change with a library: this digest is of the bytes described in `pack`.
#[test]
fn the_bytes_of_an_archive_are_fixed() {
    let packed = echo();
    let manifest = Archive::inspect(&packed.bytes).unwrap().manifest;
    let mut expected = Vec::new();
    let mut central = Vec::new();
    for (name, bytes) in [("main.py", MAIN), ("manifest.json", manifest.as_slice())] {
        let mut common = Vec::new();
        // Version 2.0, no flags, stored, midnight, 1980-01-01.
        common.extend([20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]);
        common.extend(support::zip::crc(bytes).to_le_bytes());
        common.extend((bytes.len() as u32).to_le_bytes());
        common.extend((bytes.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        let offset = expected.len() as u32;
        expected.extend(b"PK\x03\x04");
        expected.extend(&common);
        expected.extend(name.as_bytes());
        expected.extend(bytes);
        // Made by version 2.0 on Unix; an ordinary file of mode 0644.
        central.extend(b"PK\x01\x02\x14\x03");
        central.extend(&common);
        central.extend([0; 6]);
        central.extend([0, 0]);
        central.extend((0o100_644_u32 << 16).to_le_bytes()[2..].iter());
        central.extend(offset.to_le_bytes());
        central.extend(name.as_bytes());
    }
    let offset = expected.len() as u32;
    expected.extend(&central);
    expected.extend(b"PK\x05\x06\0\0\0\0\x02\0\x02\0");
    expected.extend((central.len() as u32).to_le_bytes());
    expected.extend(offset.to_le_bytes());
    expected.extend([0, 0]);
    assert_eq!(packed.bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn another_reader_finds_the_same_members() {
    let packed = echo();
    let mut archive = zip::ZipArchive::new(Cursor::new(&packed.bytes)).unwrap();
    let names: Vec<_> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["main.py", "manifest.json"]);
    let mut member = archive.by_name("main.py").unwrap();
    assert_eq!(member.unix_mode(), Some(0o100_644));
    let mut bytes = Vec::new();
    member.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, MAIN);
}

#[test]
fn the_order_of_the_source_does_not_matter() {
    let source = br#"{"version":"1.0.0", "id":"a","format_version":1,"host_api":1,"contract_version":1,
        "files":{},"ui":{"type":"column"},"actions":[],"dependencies":[],"capabilities":[],
        "runtime":{"kind":"declarative","language":"none"},"category":"productivity","description":"\u00e9"}"#;
    let other = "{\"description\":\"é\",\"category\":\"productivity\",\"runtime\":{\"language\":\"none\",\"kind\":\"declarative\"},\
        \"capabilities\":[],\"dependencies\":[],\"actions\":[],\"ui\":{\"type\":\"column\"},\"files\":{},\
        \"contract_version\":1,\"host_api\":1,\"format_version\":1,\"id\":\"a\",\"version\":\"1.0.0\"}";
    let packed = pack(source, &contents([])).unwrap();
    assert_eq!(packed.bytes, pack(other.as_bytes(), &contents([])).unwrap().bytes);
    let manifest = Archive::inspect(&packed.bytes).unwrap().manifest;
    assert!(manifest.starts_with(br#"{"actions":[],"capabilities":[],"category":"productivity","contract_version":1,"dependencies":[],"description":"\u00e9","#));
}

#[test]
fn a_listed_inventory_must_agree_with_the_payload() {
    let listed = |digest: Digest| edited(|m| m["files"] = json!({"main.py": digest.to_string()}));
    assert_eq!(pack(&listed(Digest::of(MAIN)), &contents([("main.py", MAIN)])).unwrap().bytes, echo().bytes);
    let found = |result: Result<Packed, Problems>| result.unwrap_err();
    assert_eq!(
        files(&found(pack(&listed(Digest::of(b"")), &contents([("main.py", MAIN)])))),
        [("package.member_digest", "main.py")]
    );
    assert_eq!(
        files(&found(pack(&listed(Digest::of(MAIN)), &contents([("main.py", MAIN), ("x.py", b"")])))),
        [("package.member_unlisted", "x.py")]
    );
    assert_eq!(
        files(&found(pack(&listed(Digest::of(MAIN)), &contents([])))),
        [("package.member_missing", "main.py")]
    );
    assert_eq!(
        found(pack(&edited(|_| {}), &contents([("x.py", b"")]))).into_first().code.as_str(),
        "package.entry"
    );
}

#[test]
fn payloads_that_no_archive_can_hold_are_refused() {
    let found = |members| pack(&edited(|_| {}), &members).unwrap_err();
    assert_eq!(
        files(&found(contents([("main.py", MAIN), ("../x", b""), ("Main.py", b""), ("Manifest.json", b"")]))),
        [
            ("package.member_path", "../x"),
            ("package.files_manifest", "Manifest.json"),
            ("package.member_duplicate", "main.py")
        ]
    );
    assert_eq!(
        files(&found(contents([("main.py", MAIN), ("a", b""), ("A/b", b"")]))),
        [("package.member_prefix", "A/b")]
    );
    let mut many = contents([("main.py", MAIN)]);
    many.extend((1..255).map(|i| (format!("f{i}"), Vec::new())));
    assert_eq!(pack(&edited(|_| {}), &many).unwrap().package.members.len(), 255);
    many.insert("one-more".to_owned(), Vec::new());
    let over = found(many).into_first();
    assert_eq!((over.code.as_str(), over.limit, over.actual), ("package.members", Some(256), Some(257)));
    let over = found(contents([("main.py", &vec![0; 16 * 1024 * 1024 + 1])])).into_first();
    assert_eq!(over.code.as_str(), "package.member_too_large");
    let over = found(contents([("main.py", &vec![0; 16 * 1024 * 1024])])).into_first();
    assert_eq!((over.code.as_str(), over.limit), ("package.archive_too_large", Some(16_777_216)));
}

#[test]
fn a_manifest_that_grows_too_large_with_its_inventory_is_refused() {
    let mut many = contents([("main.py", MAIN)]);
    many.extend(
        (1..255)
            .map(|i| (format!("{}/{i}", vec!["x".repeat(60); 3].join("/") + &"/y".repeat(26)), Vec::new())),
    );
    let over = pack(&edited(|_| {}), &many).unwrap_err().into_first();
    assert_eq!(over.code.as_str(), "package.manifest_too_large");
    assert!(over.actual > Some(65_536), "{over}");
}

#[test]
fn a_main_folder_is_packed_with_a_warning() {
    let manifest = edited(|m| m["runtime"]["entry"] = json!("app/__main__.py"));
    let packed = pack(&manifest, &contents([("app/__main__.py", MAIN)])).unwrap();
    assert_eq!(packed.warnings.len(), 1);
    assert_eq!(packed.warnings[0].name, "main_folder");
    assert!(packed.warnings[0].message.contains("app/__main__.py"));
}

#[test]
fn what_the_format_allows_is_accepted() {
    let plain = Zip::of(members());
    assert!(accepted(&plain).warnings.is_empty());
    // A comment, any order, deflate, no mode, exec bits, DOS as the maker's system is not looked at.
    accepted(&Zip { comment: b"hello".to_vec(), ..plain.clone() });
    accepted(&Zip { comment: vec![b'x'; 65_535], ..plain.clone() });
    let mut entries = members();
    entries.reverse();
    accepted(&Zip::of(entries));
    for mode in [0, 0o644, 0o100_755, 0o100_000] {
        let mut entries = members();
        entries[0].mode = mode;
        accepted(&Zip::of(entries));
    }
    let mut entries = members();
    entries[0] = Entry::deflated("main.py", MAIN);
    accepted(&Zip::of(entries));
    for signature in [true, false] {
        let mut entries = members();
        entries[0] = Entry::streamed("main.py", MAIN, signature);
        assert_eq!(accepted(&Zip::of(entries)).contents["main.py"], MAIN);
    }
    // Times of Unix in an extra field, different in both headers; a comment of the member; the flag for UTF-8 names.
    let mut entries = members();
    entries[0].extra = b"UT\x05\x00\x01abcd".to_vec();
    entries[0].local_extra = b"UT\x09\x00\x03abcdefgh".to_vec();
    entries[0].comment = b"x".to_vec();
    entries[0].flags = 1 << 11;
    accepted(&Zip::of(entries));
    for version in [0, 10, 20] {
        let mut entries = members();
        entries[0].version = version;
        accepted(&Zip::of(entries));
    }
}

#[test]
fn hidden_bytes_are_accepted_with_a_warning() {
    let plain = Zip::of(members());
    let hidden = accepted(&Zip { before_directory: b"hidden!".to_vec(), ..plain });
    assert_eq!(hidden.warnings.len(), 1);
    assert_eq!(hidden.warnings[0].name, "hidden_bytes");
    assert!(hidden.warnings[0].message.starts_with("7 bytes"), "{}", hidden.warnings[0].message);
    // Between two members, and a whole local entry that the directory does not know.
    let mut entries = members();
    entries[0].after = b"between".to_vec();
    assert_eq!(accepted(&Zip::of(entries)).warnings[0].name, "hidden_bytes");
}

#[test]
fn only_archives_are_archives() {
    let refused = |bytes: &[u8]| Archive::inspect(bytes).unwrap_err().into_first().code.as_str();
    assert_eq!(refused(b""), "package.archive_format");
    assert_eq!(refused(b"PK"), "package.archive_format");
    assert_eq!(refused(&[0; 1000]), "package.archive_format");
    assert_eq!(refused(b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "package.archive_format");
    let plain = Zip::of(members());
    assert_eq!(
        refused(&Zip { prefix: b"#!/bin/sh\n".to_vec(), ..plain.clone() }.bytes()),
        "package.archive_format"
    );
    let bytes = plain.bytes();
    assert_eq!(refused(&bytes[..bytes.len() - 22]), "package.archive_end");
    assert_eq!(refused(&bytes[..bytes.len() - 1]), "package.archive_end");
    assert_eq!(refused(&Zip { after: vec![0], ..plain.clone() }.bytes()), "package.archive_end");
    let over = Archive::inspect(&vec![0; 16 * 1024 * 1024 + 1]).unwrap_err().into_first();
    assert_eq!(over.code.as_str(), "package.archive_too_large");
    assert_eq!((over.limit, over.actual), (Some(16_777_216), Some(16_777_217)));
}

#[test]
fn two_end_records_are_refused() {
    // A second end record inside the comment, which a reader that looks from the end would take.
    let plain = Zip::of(members());
    let second = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    let problem = refused("package.archive_end", &Zip { comment: second, ..plain.clone() });
    assert!(problem.message.contains("two end records"), "{problem}");
    // Readers that do not look at the comment's length take a record whose length is wrong, too, or stop at a signature
    // without a record.
    let misfit = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0xx".to_vec();
    for comment in [misfit, b"PK\x05\x06".to_vec()] {
        let problem = refused("package.archive_end", &Zip { comment, ..plain.clone() });
        assert!(problem.message.contains("two end records"), "{problem}");
    }
}

/// What stands before the end record is data: a package may carry an archive.
#[test]
fn an_archive_in_an_archive_is_no_second_end_record() {
    let inner = Zip::of(members()).bytes();
    let carried = members_with(vec![Entry::stored("inner.zip", &inner)], &[("inner.zip", &inner)]);
    assert_eq!(accepted(&Zip::of(carried)).contents["inner.zip"], inner);
}

#[test]
fn the_central_directory_ends_at_the_end_record() {
    let plain = Zip::of(members());
    refused("package.archive_directory", &Zip { before_end: vec![0], ..plain.clone() });
    refused("package.archive_directory", &Zip { directory_offset: Some(0), ..plain.clone() });
    refused("package.archive_directory", &Zip { directory_size: Some(10), ..plain.clone() });
    refused("package.archive_directory", &Zip { count: Some(1), ..plain.clone() });
    refused("package.archive_directory", &Zip { count: Some(3), ..plain.clone() });
    refused("package.archive_directory", &Zip { directory_offset: Some(0xffff_fffe), ..plain });
}

#[test]
fn disks_and_zip64_are_refused() {
    let plain = Zip::of(members());
    refused("package.archive_disks", &Zip { disk: 1, ..plain.clone() });
    refused_member("package.archive_disks", |entry| entry.disk = 1);
    for zip in [
        Zip { disk: 0xffff, ..plain.clone() },
        Zip { count: Some(0xffff), ..plain.clone() },
        Zip { directory_size: Some(u32::MAX), ..plain.clone() },
        Zip { directory_offset: Some(u32::MAX), ..plain.clone() },
        Zip { before_end: [b"PK\x06\x07".as_slice(), &[0; 16]].concat(), ..plain },
    ] {
        refused("package.archive_zip64", &zip);
    }
    refused_member("package.archive_zip64", |entry| entry.extra = b"\x01\0\x08\0abcdefgh".to_vec());
    refused_member("package.archive_zip64", |entry| entry.local_extra = b"\x01\0\x08\0abcdefgh".to_vec());
    refused_member("package.archive_zip64", |entry| entry.size = u32::MAX);
    refused_member("package.archive_zip64", |entry| entry.local_offset = Some(u32::MAX));
}

#[test]
fn extra_fields_are_whole_and_give_no_second_name() {
    refused_member("package.archive_extra", |entry| entry.extra = b"UT\x05".to_vec());
    refused_member("package.archive_extra", |entry| entry.extra = b"UT\x05\x00\x01".to_vec());
    refused_member("package.archive_extra", |entry| entry.local_extra = b"UT\xff\xff".to_vec());
    refused_member("package.archive_extra", |entry| entry.extra = b"up\x06\x00\x01abcdx".to_vec());
}

#[test]
fn methods_flags_and_versions() {
    for method in [1, 6, 9, 12, 14, 93, 95, 98, 99] {
        refused_member("package.archive_method", |entry| entry.method = method);
    }
    refused_member("package.archive_method", |entry| entry.version = 21);
    refused_member("package.archive_method", |entry| entry.version = 45);
    for bit in [0, 6, 13] {
        refused_member("package.archive_encrypted", |entry| entry.flags = 1 << bit);
    }
    for bit in [4, 5, 7, 12, 15] {
        refused_member("package.archive_flags", |entry| entry.flags = 1 << bit);
    }
}

#[test]
fn folders_links_devices_and_setuid() {
    refused_member("package.archive_folder", |entry| entry.name = b"lib/".to_vec());
    refused_member("package.archive_folder", |entry| entry.mode = 0o040_755);
    refused_member("package.archive_folder", |entry| entry.dos = 0x10);
    refused_member("package.archive_link", |entry| entry.mode = 0o120_777);
    for kind in [0o010_000, 0o020_000, 0o060_000, 0o140_000] {
        refused_member("package.archive_special", |entry| entry.mode = kind | 0o644);
    }
    for bits in [0o4000, 0o2000, 0o1000] {
        let problem = refused_member("package.archive_mode", |entry| entry.mode = 0o100_755 | bits);
        assert_eq!(problem.place.file.as_deref(), Some("main.py"));
    }
}

#[test]
fn names_of_members() {
    for name in ["../main.py", "/main.py", "a\\b", "a//b", ".x", "C:x", "caf\u{e9}"] {
        refused_member("package.member_path", |entry| entry.name = name.as_bytes().to_vec());
    }
    refused_member("package.member_path", |entry| entry.name = b"a\xff".to_vec());
    refused_member("package.member_path", |entry| entry.name = Vec::new());
    let again = |name: &str| members_with(vec![Entry::stored(name, b"")], &[(name, b"")]);
    refused("package.member_duplicate", &Zip::of(again("main.py")));
    refused("package.member_duplicate", &Zip::of(again("MAIN.py")));
    refused("package.member_duplicate", &Zip::of(again("Manifest.json")));
    let problem = refused("package.member_prefix", &Zip::of(again("main.py/x")));
    assert_eq!(problem.place.file.as_deref(), Some("main.py/x"));
    refused("package.member_prefix", &Zip::of(again("MAIN.py/x")));
}

#[test]
fn local_headers_agree_with_the_directory() {
    let edits: [fn(&mut Entry); 9] = [
        |entry| entry.local_name = Some(b"evil.py".to_vec()),
        |entry| entry.local_name = Some(b"MAIN.py".to_vec()),
        |entry| entry.local_method = Some(8),
        |entry| entry.local_flags = Some(1 << 11),
        |entry| entry.local_crc = Some(0),
        |entry| entry.local_packed = Some(0),
        |entry| entry.local_size = Some(5),
        |entry| entry.local_offset = Some(1),
        |entry| entry.local = false,
    ];
    for (index, edit) in edits.into_iter().enumerate() {
        let problem = refused_member("package.archive_local", |entry| {
            edit(entry);
            if index == 8 {
                entry.local_offset = Some(5);
            }
        });
        assert_eq!(problem.place.file.as_deref(), Some("main.py"), "{index}: {problem}");
    }
    // A descriptor that is missing or says something else.
    for edit in [
        (|entry: &mut Entry| entry.after.clear()) as fn(&mut Entry),
        |entry| entry.after[4] ^= 1,
        |entry| {
            entry.after.truncate(10);
        },
    ] {
        let mut entries = members();
        entries[0] = Entry::streamed("main.py", MAIN, true);
        edit(&mut entries[0]);
        refused("package.archive_local", &Zip::of(entries));
    }
}

#[test]
fn members_do_not_share_bytes() {
    // Both entries name the first local header; the second has the same name in another case-insensitive way.
    let mut entries = members_with(vec![Entry::stored("copy.py", MAIN)], &[("copy.py", MAIN)]);
    entries[2].local = false;
    entries[2].local_offset = Some(0);
    refused("package.archive_local", &Zip::of(entries));
    // One member's data holds the local header of another.
    let inner = Zip::of(vec![Entry::stored("inner.py", b"x")]).bytes();
    let inner = &inner[..30 + 8 + 1];
    let mut entries = members_with(
        vec![Entry::stored("outer.bin", inner), Entry::stored("inner.py", b"x")],
        &[("outer.bin", inner), ("inner.py", b"x")],
    );
    let before = Zip::of(entries[..2].to_vec());
    let offset = before.bytes().windows(4).position(|w| w == b"PK\x01\x02").unwrap() + 30 + 9;
    entries[3].local = false;
    entries[3].local_offset = Some(offset as u32);
    refused("package.archive_overlap", &Zip::of(entries));
    // Data that reaches into the central directory.
    refused("package.archive_overlap", &{
        let mut entries = members();
        let last = entries.last_mut().unwrap();
        (last.packed, last.size) = (last.packed + 10, last.size + 10);
        Zip::of(entries)
    });
}

#[test]
fn data_has_the_declared_size_and_checksum() {
    refused_member("package.archive_data", |entry| entry.data[0] ^= 1);
    refused_member("package.archive_data", |entry| entry.crc ^= 1);
    refused_member("package.archive_data", |entry| entry.size -= 1);
    let deflated = |edit: fn(&mut Entry)| {
        let mut entries = members();
        entries[0] = Entry::deflated("main.py", &MAIN.repeat(100));
        edit(&mut entries[0]);
        refused("package.archive_data", &Zip::of(entries))
    };
    let more = deflated(|entry| entry.size -= 1);
    assert!(more.message.contains("more than"), "{more}");
    deflated(|entry| entry.size += 1);
    deflated(|entry| entry.data[0] ^= 0xff);
    deflated(|entry| {
        entry.data.pop();
        entry.packed -= 1;
    });
    deflated(|entry| {
        entry.data.push(0);
        entry.packed += 1;
    });
    deflated(|entry| {
        entry.data.clear();
        entry.packed = 0;
    });
}

#[test]
fn sizes_are_bounded_before_anything_is_inflated() {
    let mib = 1024 * 1024;
    let zeros = |size: usize| Entry::deflated("zeros", &vec![0; size]);
    let listed = |size: usize| members_with(vec![zeros(size)], &[("zeros", &vec![0; size])]);
    accepted(&Zip::of(listed(16 * mib)));
    let over = refused("package.member_too_large", &Zip::of(listed(16 * mib + 1)));
    assert_eq!((over.limit, over.actual), (Some(16_777_216), Some(16_777_217)));
    // A bomb that declares little.
    let mut bomb = zeros(16 * mib);
    bomb.size = 100;
    let problem = refused("package.archive_data", &Zip::of(members_with(vec![bomb], &[])));
    assert_eq!((problem.limit, problem.actual), (Some(100), Some(101)));
    // Five members of 16 MiB are over the sum.
    let five: Vec<_> =
        (0..5).map(|i| Entry { name: format!("zeros{i}").into_bytes(), ..zeros(16 * mib) }).collect();
    let over = refused("package.expanded_too_large", &Zip::of(members_with(five, &[])));
    assert_eq!(over.limit, Some(67_108_864));
    let mut entries = members();
    entries[1] = Entry::deflated("manifest.json", &vec![b' '; 65_537]);
    let over = refused("package.manifest_too_large", &Zip::of(entries));
    assert_eq!((over.limit, over.actual), (Some(65_536), Some(65_537)));
}

#[test]
fn at_most_256_members() {
    let names: Vec<_> = (0..255).map(|i| format!("f{i}")).collect();
    let with = |count: usize| {
        let listed: Vec<(&str, &[u8])> =
            names[..count].iter().map(|name| (name.as_str(), [].as_slice())).collect();
        Zip::of(members_with(names[..count].iter().map(|name| Entry::stored(name, b"")).collect(), &listed))
    };
    assert_eq!(accepted(&with(254)).package.members.len(), 255);
    let over = refused("package.members", &with(255));
    assert_eq!((over.limit, over.actual), (Some(256), Some(257)));
}

#[test]
fn the_inventory_is_exact() {
    let found = |entries| Archive::inspect(&Zip::of(entries).bytes()).unwrap_err();
    assert_eq!(
        files(&found(members_with(vec![Entry::stored("extra.py", b"")], &[]))),
        [("package.member_unlisted", "extra.py")]
    );
    assert_eq!(
        files(&found(members_with(vec![], &[("gone.py", b"")]))),
        [("package.member_missing", "gone.py")]
    );
    assert_eq!(
        files(&found(members_with(vec![Entry::stored("x.py", b"2")], &[("x.py", b"1")]))),
        [("package.member_digest", "x.py")]
    );
    let mut entries = members();
    entries.pop();
    refused("package.manifest_missing", &Zip::of(entries));
    let mut entries = members();
    entries[1] = Entry::stored("manifest.json", b"{}");
    assert!(found(entries).iter().all(|problem| problem.code.as_str() == "package.field_missing"));
    // Nothing listed and nothing there agree, but leave nothing to start.
    let problem = refused("package.entry", &Zip::of(vec![Entry::stored("manifest.json", &edited(|_| {}))]));
    assert_eq!(problem.place.path.as_deref(), Some("runtime.entry"));
    let problem = pack(&edited(|_| {}), &contents([])).unwrap_err().into_first();
    assert_eq!(problem.code.as_str(), "package.entry");
    // An archive lists its files: an empty inventory is that of a source folder.
    let mut entries = members();
    entries[1] = Entry::stored("manifest.json", &edited(|_| {}));
    assert_eq!(files(&found(entries)), [("package.member_unlisted", "main.py")]);
}

#[test]
fn modberth_json_is_checked_in_archives() {
    let hints = br#"{"examples":{"echo":[{"targets":["a"],"parameters":{}}]}}"#;
    let zip = Zip::of(members_with(vec![Entry::stored("modberth.json", hints)], &[("modberth.json", hints)]));
    let problem = refused("package.example", &zip);
    assert_eq!(problem.place.file.as_deref(), Some("modberth.json"));
    let hints = br#"{"limits":{"tasks":4}}"#;
    let packed = pack(&edited(|_| {}), &contents([("main.py", MAIN), ("modberth.json", hints)])).unwrap();
    assert_eq!(packed.package.hints.limits.tasks, Some(4));
}

#[test]
fn members_hints_and_program_are_judged_together() {
    let hints = br#"{"limits":{"tasks":0}}"#;
    let manifest = edited(|m| {
        m["runtime"] = json!({
            "kind": "native", "language": "c", "entry": "main.py", "platform": "linux", "architecture": "x86_64"
        });
    });
    let problems = pack(&manifest, &contents([("main.py", MAIN), ("modberth.json", hints)])).unwrap_err();
    assert_eq!(files(&problems), [("package.number", "modberth.json"), ("package.native_format", "main.py")]);
}

#[test]
fn every_cut_of_an_archive_is_refused() {
    let bytes = echo().bytes;
    for length in 0..bytes.len() {
        assert!(Archive::inspect(&bytes[..length]).is_err(), "{length}");
    }
}
