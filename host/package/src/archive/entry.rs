//! Entries of the central directory: one member each, with every rule on what it says of itself.

use modberth_protocol::{Code, Violation};

use super::bytes::{Bytes, CENTRAL, refuse};
use crate::fields::shown;
use crate::member;

const CENTRAL_BYTES: usize = 46;

const FLAG_ENCRYPTED: u16 = 1;
/// The local header may leave checksum and sizes to a data descriptor.
pub(super) const FLAG_DESCRIPTOR: u16 = 1 << 3;
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

/// One entry of the central directory.
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) flags: u16,
    pub(super) method: Method,
    pub(super) raw_method: u16,
    pub(super) crc: u32,
    pub(super) packed: usize,
    pub(super) size: usize,
    pub(super) local: usize,
    /// Where the entry begins.
    pub(super) start: usize,
    /// Where the next entry begins.
    pub(super) end: usize,
}

/// Reads the entry at `at`; `limit` is where the central directory ends.
pub(super) fn central(bytes: Bytes<'_>, at: usize, limit: usize) -> Result<Entry, Violation> {
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
pub(super) fn check_extra(extra: &[u8], offset: usize) -> Result<(), Violation> {
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
