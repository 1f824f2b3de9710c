//! The structure of a ZIP archive, read from the end record to the local headers.
//!
//! What ZIP readers disagree about is refused, so that every reader finds the same members in an archive that passes.

use std::collections::BTreeSet;
use std::ops::Range;

use modberth_protocol::{Code, Violation};

use super::bytes::{Bytes, END, LOCAL, ZIP64_LOCATOR, refuse};
use super::entry::{Entry, Method, central};
use super::local::local;
use crate::fields::shown;
use crate::limits::{EXPANDED_BYTES, MANIFEST_BYTES, MANIFEST_NAME, MEMBER_BYTES, MEMBERS};
use crate::member;

const END_BYTES: usize = 22;
const ZIP64_LOCATOR_BYTES: usize = 20;
const COMMENT_BYTES: usize = 65_535;

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

/// Finds the one end record: its comment ends where the file ends, and holds no signature of another.
///
/// Readers look for the signature from the end of the file. Some take the first they meet whatever it says of its
/// comment, others go on to one whose comment fits: a comment with the signature would show them different members.
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
    let two = |first: usize, second: usize| {
        refuse(
            Code::PackageArchiveEnd,
            first,
            format!("There are two end records, at bytes {first} and {second}: readers would disagree."),
        )
    };
    let mut found = None;
    let mut misfit = None;
    // A signature behind `last` has no room for a record, but readers meet it first all the same.
    for at in (first..archive.len()).rev().filter(|at| bytes.starts(*at, END)) {
        let fits = at <= last && bytes.u16(at + 20).map(usize::from) == Some(last - at);
        match found {
            Some(other) if fits => return Err(two(at, other)),
            // What stands before the record is the data of a member, such as an archive in the archive.
            Some(_) => {}
            None if fits => found = Some(at),
            None => misfit = misfit.or(Some(at)),
        }
    }
    match (found, misfit) {
        (Some(at), None) => Ok(at),
        (Some(at), Some(other)) => Err(two(at, other)),
        (None, Some(at)) => Err(refuse(
            Code::PackageArchiveEnd,
            at,
            "The end record and its comment do not end where the file ends.",
        )),
        (None, None) if bytes.starts(0, LOCAL) => Err(refuse(
            Code::PackageArchiveEnd,
            archive.len(),
            "The archive has no end record: it may be cut short.",
        )),
        (None, None) => Err(refuse(Code::PackageArchiveFormat, 0, "This is no ZIP archive.")),
    }
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
