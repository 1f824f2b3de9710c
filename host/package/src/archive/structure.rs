//! The structure of a ZIP archive, read from the end record to the local headers.
//!
//! What ZIP readers disagree about is refused, so that every reader finds the same members in an archive that passes.

use std::collections::BTreeSet;
use std::ops::Range;

use modberth_protocol::{Code, Violation};

use crate::fields::shown;
use crate::limits::{EXPANDED_BYTES, MANIFEST_BYTES, MANIFEST_NAME, MEMBER_BYTES, MEMBERS};
use crate::member;

pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(super) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
pub(super) const END: [u8; 4] = *b"PK\x05\x06";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
const ZIP64_LOCATOR: [u8; 4] = *b"PK\x06\x07";

const LOCAL_BYTES: usize = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;
const ZIP64_LOCATOR_BYTES: usize = 20;
const COMMENT_BYTES: usize = 65_535;

const FLAG_ENCRYPTED: u16 = 1;
const FLAG_DESCRIPTOR: u16 = 1 << 3;
const FLAG_STRONG_ENCRYPTION: u16 = 1 << 6;
const FLAG_HIDDEN_HEADERS: u16 = 1 << 13;
/// Bits 1 and 2 tell how deflate was done, bit 11 that the name is UTF-8.
const FLAGS_KNOWN: u16 = 1 << 1 | 1 << 2 | FLAG_DESCRIPTOR | 1 << 11;

const EXTRA_ZIP64: u16 = 0x0001;
const EXTRA_UNICODE_PATH: u16 = 0x7075;

/// Version 2.0 of the format: the newest that stored and deflated members need.
const VERSION_MOST: u16 = 20;

const MODE_TYPE: u32 = 0o170_000;
const MODE_REGULAR: u32 = 0o100_000;
const MODE_FOLDER: u32 = 0o040_000;
const MODE_LINK: u32 = 0o120_000;
const MODE_SPECIAL_BITS: u32 = 0o7_000;
const DOS_FOLDER: u32 = 0x10;

/// How a member is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflated,
}

/// One member of the archive.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) path: String,
    pub(super) method: Method,
    pub(super) crc: u32,
    /// Bytes when expanded; within the bound of a member.
    pub(super) size: usize,
    /// Where its data stands in the archive.
    pub(super) data: Range<usize>,
}

/// The members, and how many bytes belong to none of them.
#[derive(Debug)]
pub(super) struct Structure {
    pub(super) members: Vec<Member>,
    pub(super) hidden: usize,
    pub(super) first_hidden: usize,
}

/// Little-endian numbers at checked places.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn slice(self, at: usize, length: usize) -> Option<&'a [u8]> {
        self.0.get(at..at.checked_add(length)?)
    }

    fn u16(self, at: usize) -> Option<u16> {
        self.slice(at, 2).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes)
    }

    fn u32(self, at: usize) -> Option<u32> {
        self.slice(at, 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
    }

    fn size(self, at: usize) -> Option<usize> {
        self.u32(at).and_then(|value| usize::try_from(value).ok())
    }

    fn starts(self, at: usize, signature: [u8; 4]) -> bool {
        self.slice(at, 4).is_some_and(|bytes| bytes == signature)
    }
}

fn refuse(code: Code, at: usize, message: impl AsRef<str>) -> Violation {
    Violation::new(code, message).offset(at)
}

/// Reads the structure of a whole archive.
pub(super) fn read(archive: &[u8]) -> Result<Structure, Violation> {
    let bytes = Bytes(archive);
    let end = end_record(archive)?;
    if !bytes.starts(0, LOCAL) {
        return Err(refuse(
            Code::PackageArchiveFormat,
            0,
            "An archive begins with the local header of a member.",
        ));
    }
    let (directory, count) = directory(bytes, end)?;
    let mut entries = Vec::with_capacity(count);
    let mut at = directory;
    for _ in 0..count {
        let entry = central(bytes, at, end)?;
        at = entry.end;
        entries.push(entry);
    }
    if at != end {
        return Err(refuse(
            Code::PackageArchiveDirectory,
            at,
            format!("The central directory ends at byte {at}; the end record stands at byte {end}."),
        ));
    }
    names(&entries)?;
    sizes(&entries)?;
    let mut owned = Vec::with_capacity(count);
    let mut members = Vec::with_capacity(count);
    for entry in entries {
        let (data, whole) = local(bytes, &entry, directory)?;
        owned.push((whole, entry.path.clone()));
        members.push(Member {
            path: entry.path,
            method: entry.method,
            crc: entry.crc,
            size: entry.size,
            data,
        });
    }
    let (hidden, first_hidden) = overlaps(owned, directory)?;
    Ok(Structure { members, hidden, first_hidden })
}

/// Finds the one end record: the one whose comment ends where the file ends.
fn end_record(archive: &[u8]) -> Result<usize, Violation> {
    let bytes = Bytes(archive);
    let Some(last) = archive.len().checked_sub(END_BYTES) else {
        return Err(refuse(
            Code::PackageArchiveFormat,
            0,
            format!("{} bytes are too few for a ZIP archive.", archive.len()),
        ));
    };
    let first = last.saturating_sub(COMMENT_BYTES);
    let mut seen = None;
    let mut found = None;
    for at in (first..=last).rev().filter(|at| bytes.starts(*at, END)) {
        seen = Some(at);
        let comment = bytes.u16(at + 20).map(usize::from);
        if comment != Some(archive.len() - at - END_BYTES) {
            continue;
        }
        if let Some(other) = found {
            return Err(refuse(
                Code::PackageArchiveEnd,
                at,
                format!("There are two end records, at bytes {at} and {other}: readers would disagree."),
            ));
        }
        found = Some(at);
    }
    found.ok_or_else(|| match seen {
        Some(at) => refuse(
            Code::PackageArchiveEnd,
            at,
            "The end record and its comment do not end where the file ends.",
        ),
        None if bytes.starts(0, LOCAL) => refuse(
            Code::PackageArchiveEnd,
            archive.len(),
            "The archive has no end record: it may be cut short.",
        ),
        None => refuse(Code::PackageArchiveFormat, 0, "This is no ZIP archive."),
    })
}

/// Where the central directory begins, and how many members it has.
fn directory(bytes: Bytes<'_>, end: usize) -> Result<(usize, usize), Violation> {
    let cut = || refuse(Code::PackageArchiveEnd, end, "The end record is cut short.");
    let zip64 = || refuse(Code::PackageArchiveZip64, end, "The archive uses the ZIP64 form.");
    if end.checked_sub(ZIP64_LOCATOR_BYTES).is_some_and(|at| bytes.starts(at, ZIP64_LOCATOR)) {
        return Err(zip64());
    }
    let field = |at| bytes.u16(end + at).ok_or_else(cut);
    let (disk, first_disk, here, all) = (field(4)?, field(6)?, field(8)?, field(10)?);
    let size = bytes.u32(end + 12).ok_or_else(cut)?;
    let offset = bytes.u32(end + 16).ok_or_else(cut)?;
    if [disk, first_disk, here, all].contains(&u16::MAX) || size == u32::MAX || offset == u32::MAX {
        return Err(zip64());
    }
    if disk != 0 || first_disk != 0 || here != all {
        return Err(refuse(Code::PackageArchiveDisks, end, "The archive is split over several disks."));
    }
    let count = usize::from(all);
    if count > MEMBERS {
        return Err(Violation::new(
            Code::PackageMembers,
            format!("A package has at most {MEMBERS} members; this one has {count}."),
        )
        .limit(MEMBERS)
        .actual(count));
    }
    let (Ok(size), Ok(offset)) = (usize::try_from(size), usize::try_from(offset)) else {
        return Err(zip64());
    };
    if offset.checked_add(size) != Some(end) {
        return Err(refuse(
            Code::PackageArchiveDirectory,
            end,
            format!(
                "The central directory of {size} bytes at byte {offset} does not end at the end record, byte {end}."
            ),
        ));
    }
    Ok((offset, count))
}

/// One entry of the central directory.
struct Entry {
    path: String,
    flags: u16,
    method: Method,
    raw_method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    local: usize,
    /// Where the entry begins.
    start: usize,
    /// Where the next entry begins.
    end: usize,
}

fn central(bytes: Bytes<'_>, at: usize, limit: usize) -> Result<Entry, Violation> {
    let cut = || refuse(Code::PackageArchiveDirectory, at, "The central directory is damaged or cut short.");
    if !bytes.starts(at, CENTRAL) {
        return Err(cut());
    }
    let short = |offset: usize| bytes.u16(at + offset).ok_or_else(cut);
    let long = |offset: usize| bytes.u32(at + offset).ok_or_else(cut);
    let (version, flags, raw_method) = (short(6)?, short(8)?, short(10)?);
    let crc = long(16)?;
    let (packed, size, local) = (long(20)?, long(24)?, long(42)?);
    let (name, extra, comment) = (short(28)?, short(30)?, short(32)?);
    let disk = short(34)?;
    let mode = long(38)?;
    let name_at = at + CENTRAL_BYTES;
    let extra_at = name_at + usize::from(name);
    let comment_at = extra_at + usize::from(extra);
    let end = comment_at + usize::from(comment);
    if end > limit {
        return Err(cut());
    }
    let name = bytes.slice(name_at, usize::from(name)).ok_or_else(cut)?;
    let extra = bytes.slice(extra_at, usize::from(extra)).ok_or_else(cut)?;
    // The name of a folder ends with a slash; that is a better answer than one about the path.
    let path = check_name(name, mode, at)?;
    let place = |violation: Violation| violation.file(&path);
    if flags & (FLAG_ENCRYPTED | FLAG_STRONG_ENCRYPTION | FLAG_HIDDEN_HEADERS) != 0 {
        return Err(place(refuse(Code::PackageArchiveEncrypted, at, "This member is encrypted.")));
    }
    if flags & !FLAGS_KNOWN != 0 {
        return Err(place(refuse(
            Code::PackageArchiveFlags,
            at,
            format!("This member has the ZIP flags {:#06x}.", flags & !FLAGS_KNOWN),
        )));
    }
    if packed == u32::MAX || size == u32::MAX || local == u32::MAX || disk == u16::MAX {
        return Err(place(refuse(Code::PackageArchiveZip64, at, "This member uses the ZIP64 form.")));
    }
    if disk != 0 {
        return Err(place(refuse(Code::PackageArchiveDisks, at, "This member begins on another disk.")));
    }
    check_extra(extra, extra_at).map_err(place)?;
    let method = match raw_method {
        0 => Method::Stored,
        8 => Method::Deflated,
        other => {
            return Err(place(refuse(
                Code::PackageArchiveMethod,
                at,
                format!(
                    "This member is compressed by method {other}; only stored (0) and deflate (8) are read."
                ),
            )));
        }
    };
    if version & 0xff > VERSION_MOST {
        return Err(place(
            refuse(
                Code::PackageArchiveMethod,
                at,
                format!(
                    "This member needs version {} of the format; 20 is the newest allowed.",
                    version & 0xff
                ),
            )
            .limit(VERSION_MOST)
            .actual(version & 0xff),
        ));
    }
    check_mode(mode, at).map_err(place)?;
    let usize_of = |value: u32| usize::try_from(value).map_err(|_| cut());
    Ok(Entry {
        flags,
        method,
        raw_method,
        crc,
        packed: usize_of(packed)?,
        size: usize_of(size)?,
        local: usize_of(local)?,
        start: at,
        end,
        path,
    })
}

fn check_name(name: &[u8], mode: u32, at: usize) -> Result<String, Violation> {
    let text = String::from_utf8_lossy(name);
    if name.ends_with(b"/") || (mode >> 16) & MODE_TYPE == MODE_FOLDER || mode & DOS_FOLDER != 0 {
        return Err(refuse(
            Code::PackageArchiveFolder,
            at,
            format!("The archive holds an entry for the folder {}.", shown(&text)),
        ));
    }
    // The lossy form of a name that is no UTF-8 holds U+FFFD and so never passes.
    match member::check_path(&text) {
        Ok(()) => Ok(text.into_owned()),
        Err(fault) => Err(refuse(
            Code::PackageMemberPath,
            at,
            format!("{} is no member path: {}.", shown(&text), fault.rule()),
        )),
    }
}

/// Extra fields are a list of (id, length, data). None may change what the rest of the entry says.
fn check_extra(extra: &[u8], offset: usize) -> Result<(), Violation> {
    let fields = Bytes(extra);
    let mut at = 0;
    while at < extra.len() {
        let next = fields.u16(at).zip(fields.u16(at + 2)).and_then(|(id, length)| {
            let end = at + 4 + usize::from(length);
            (end <= extra.len()).then_some((id, end))
        });
        match next {
            Some((EXTRA_ZIP64, _)) => {
                return Err(refuse(
                    Code::PackageArchiveZip64,
                    offset + at,
                    "This member has an extra field of the ZIP64 form.",
                ));
            }
            Some((EXTRA_UNICODE_PATH, _)) => {
                return Err(refuse(
                    Code::PackageArchiveExtra,
                    offset + at,
                    "An extra field gives this member a second name.",
                ));
            }
            Some((_, end)) => at = end,
            None => {
                return Err(refuse(
                    Code::PackageArchiveExtra,
                    offset + at,
                    "An extra field of this member is damaged.",
                ));
            }
        }
    }
    Ok(())
}

/// The Unix mode in the upper half of the external attributes: an ordinary file, or no type at all.
fn check_mode(attributes: u32, at: usize) -> Result<(), Violation> {
    let mode = attributes >> 16;
    match mode & MODE_TYPE {
        0 | MODE_REGULAR => {}
        MODE_LINK => {
            return Err(refuse(Code::PackageArchiveLink, at, "This member is a symbolic link."));
        }
        kind => {
            return Err(refuse(
                Code::PackageArchiveSpecial,
                at,
                format!("This member is no ordinary file: its mode says {kind:07o}."),
            ));
        }
    }
    if mode & MODE_SPECIAL_BITS != 0 {
        return Err(refuse(
            Code::PackageArchiveMode,
            at,
            format!(
                "This member has the mode {:04o}: setuid, setgid and sticky are refused.",
                mode & 0o7_777
            ),
        ));
    }
    Ok(())
}

/// No two paths may be equal in any case, and no file may stand where another member needs a folder.
fn names(entries: &[Entry]) -> Result<(), Violation> {
    let mut folded = BTreeSet::new();
    for entry in entries {
        if !folded.insert(member::folded(&entry.path)) {
            return Err(refuse(
                Code::PackageMemberDuplicate,
                entry.start,
                "Another member has this path, or one that differs only in case.",
            )
            .file(&entry.path));
        }
    }
    for entry in entries {
        if let Some(parent) =
            member::parents(&entry.path).find(|parent| folded.contains(&member::folded(parent)))
        {
            return Err(refuse(
                Code::PackageMemberPrefix,
                entry.start,
                format!("{} is a file, so this member cannot stand below it.", shown(parent)),
            )
            .file(&entry.path));
        }
    }
    Ok(())
}

fn sizes(entries: &[Entry]) -> Result<(), Violation> {
    let mut total = 0_u64;
    for entry in entries {
        let size = u64::try_from(entry.size).unwrap_or(u64::MAX);
        total = total.saturating_add(size);
        if entry.path == MANIFEST_NAME && entry.size > MANIFEST_BYTES {
            return Err(refuse(
                Code::PackageManifestTooLarge,
                entry.start,
                format!("manifest.json has at most {MANIFEST_BYTES} bytes; found {size}."),
            )
            .file(&entry.path)
            .limit(MANIFEST_BYTES)
            .actual(size));
        }
        if size > MEMBER_BYTES {
            return Err(refuse(
                Code::PackageMemberTooLarge,
                entry.start,
                format!("A member has at most {MEMBER_BYTES} bytes; this one has {size}."),
            )
            .file(&entry.path)
            .limit(MEMBER_BYTES)
            .actual(size));
        }
        if entry.method == Method::Stored && entry.packed != entry.size {
            return Err(refuse(
                Code::PackageArchiveData,
                entry.start,
                format!(
                    "This member is stored, but its two sizes differ: {} and {}.",
                    entry.packed, entry.size
                ),
            )
            .file(&entry.path));
        }
    }
    if total > EXPANDED_BYTES {
        return Err(Violation::new(
            Code::PackageExpandedTooLarge,
            format!("The members have at most {EXPANDED_BYTES} bytes together; these have {total}."),
        )
        .limit(EXPANDED_BYTES)
        .actual(total));
    }
    Ok(())
}

/// Compares the local header with the entry. Gives where the data stands, and everything that belongs to the member.
fn local(
    bytes: Bytes<'_>,
    entry: &Entry,
    directory: usize,
) -> Result<(Range<usize>, Range<usize>), Violation> {
    let at = entry.local;
    let wrong = |message: String| refuse(Code::PackageArchiveLocal, at, message).file(&entry.path);
    let cut = || wrong("The local header of this member is missing or cut short.".to_owned());
    if !bytes.starts(at, LOCAL) || at >= directory {
        return Err(cut());
    }
    let short = |offset: usize| bytes.u16(at + offset).ok_or_else(cut);
    let long = |offset: usize| bytes.size(at + offset).ok_or_else(cut);
    let differs = |what: &str| {
        wrong(format!("The local header of this member has another {what} than the central directory."))
    };
    if short(6)? != entry.flags {
        return Err(differs("set of flags"));
    }
    if short(8)? != entry.raw_method {
        return Err(differs("compression method"));
    }
    let (crc, packed, size) = (bytes.u32(at + 14).ok_or_else(cut)?, long(18)?, long(22)?);
    let (name, extra) = (usize::from(short(26)?), usize::from(short(28)?));
    let name_at = at + LOCAL_BYTES;
    if bytes.slice(name_at, name).ok_or_else(cut)? != entry.path.as_bytes() {
        return Err(differs("name"));
    }
    let extra_at = name_at + name;
    check_extra(bytes.slice(extra_at, extra).ok_or_else(cut)?, extra_at)
        .map_err(|fault| fault.file(&entry.path))?;
    let streamed = entry.flags & FLAG_DESCRIPTOR != 0;
    // A streamed member may leave these at zero and tell them behind its data.
    for (what, local, central) in [("size", size, entry.size), ("compressed size", packed, entry.packed)] {
        if local != central && !(streamed && local == 0) {
            return Err(differs(what));
        }
    }
    if crc != entry.crc && !(streamed && crc == 0) {
        return Err(differs("checksum"));
    }
    let data_at = extra_at + extra;
    let data_end = data_at + entry.packed;
    let end = if streamed { descriptor(bytes, entry, data_end)? } else { data_end };
    if end > directory {
        return Err(refuse(
            Code::PackageArchiveOverlap,
            at,
            "The data of this member reaches into the central directory.",
        )
        .file(&entry.path));
    }
    Ok((data_at..data_end, at..end))
}

/// The data descriptor behind a streamed member: checksum and sizes, with or without a signature. Gives its end.
fn descriptor(bytes: Bytes<'_>, entry: &Entry, at: usize) -> Result<usize, Violation> {
    // A checksum can look like the signature, so both forms are tried.
    let matches = |at: usize| {
        bytes.u32(at) == Some(entry.crc)
            && bytes.size(at + 4) == Some(entry.packed)
            && bytes.size(at + 8) == Some(entry.size)
    };
    if bytes.starts(at, DESCRIPTOR) && matches(at + 4) {
        Ok(at + 16)
    } else if matches(at) {
        Ok(at + 12)
    } else {
        Err(refuse(
            Code::PackageArchiveLocal,
            at,
            "The data descriptor of this member is missing or differs from the central directory.",
        )
        .file(&entry.path))
    }
}

/// Refuses members that share bytes, and counts the bytes that belong to none.
fn overlaps(mut owned: Vec<(Range<usize>, String)>, directory: usize) -> Result<(usize, usize), Violation> {
    owned.sort_unstable_by_key(|(range, _)| range.start);
    let mut reached = 0;
    let mut hidden = 0;
    let mut first_hidden = 0;
    for (range, path) in owned {
        if range.start < reached {
            return Err(refuse(
                Code::PackageArchiveOverlap,
                range.start,
                "This member shares bytes with another one.",
            )
            .file(path));
        }
        if range.start > reached && hidden == 0 {
            first_hidden = reached;
        }
        hidden += range.start - reached;
        reached = range.end;
    }
    if reached < directory && hidden == 0 {
        first_hidden = reached;
    }
    Ok((hidden + (directory - reached), first_hidden))
}
