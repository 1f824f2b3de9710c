//! Local headers: what stands before, and behind, the data of a member. They say what the central directory says.

use std::ops::Range;

use modberth_protocol::{Code, Violation};

use super::bytes::{Bytes, DESCRIPTOR, LOCAL, refuse};
use super::entry::{Entry, FLAG_DESCRIPTOR, check_extra};

const LOCAL_BYTES: usize = 30;

/// Compares the local header with the entry. Gives where the data stands, and everything that belongs to the member.
pub(super) fn local(
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
