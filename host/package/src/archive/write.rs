//! Writing archives.
//!
//! By hand, because the bytes are the identity of the package: no new version of a library may change them.

use modberth_protocol::{Code, Violation};

use super::bytes::{CENTRAL, END, LOCAL};
use super::{Contents, too_large};
use crate::limits::{ARCHIVE_BYTES, MANIFEST_NAME};

/// Version 2.0 of the format, made on Unix.
const MADE_BY: [u8; 2] = [20, 3];
const NEEDS: [u8; 2] = [20, 0];
/// No flags, stored, midnight of 1980-01-01: the earliest time that the format has.
const PLAIN: [u8; 8] = [0, 0, 0, 0, 0, 0, 0x21, 0];
/// An ordinary file of mode 0644, in the upper half of the external attributes.
const ATTRIBUTES: u32 = 0o100_644 << 16;

/// The archive of a canonical manifest and its contents: members stored, sorted by path.
pub(crate) fn write(manifest: &[u8], contents: &Contents) -> Result<Vec<u8>, Violation> {
    let mut members: Vec<(&str, &[u8])> =
        contents.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    members.push((MANIFEST_NAME, manifest));
    members.sort_unstable();
    let headers: usize = members.iter().map(|(path, _)| 2 * path.len() + 30 + 46).sum();
    let size = members.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() + headers + 22;
    if size > ARCHIVE_BYTES {
        return Err(too_large(size));
    }
    let mut out = Vec::with_capacity(size);
    let mut directory = Vec::with_capacity(headers);
    for (path, bytes) in &members {
        let offset = number(out.len())?;
        let mut common = Vec::with_capacity(26);
        common.extend(NEEDS);
        common.extend(PLAIN);
        common.extend(checksum(bytes).to_le_bytes());
        common.extend(number(bytes.len())?.to_le_bytes());
        common.extend(number(bytes.len())?.to_le_bytes());
        common.extend(short(path.len())?.to_le_bytes());
        // No extra field.
        common.extend([0; 2]);
        out.extend(LOCAL);
        out.extend(&common);
        out.extend(path.as_bytes());
        out.extend(*bytes);
        directory.extend(CENTRAL);
        directory.extend(MADE_BY);
        directory.extend(&common);
        // No comment, first disk, no internal attributes.
        directory.extend([0; 6]);
        directory.extend(ATTRIBUTES.to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(path.as_bytes());
    }
    let offset = number(out.len())?;
    let count = short(members.len())?;
    out.extend(&directory);
    out.extend(END);
    // One disk.
    out.extend([0; 4]);
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(number(directory.len())?.to_le_bytes());
    out.extend(offset.to_le_bytes());
    // No comment.
    out.extend([0; 2]);
    Ok(out)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The size has been checked, so these conversions hold; a refusal is better than a wrong archive.
fn number(value: usize) -> Result<u32, Violation> {
    u32::try_from(value).map_err(|_| too_large(value))
}

fn short(value: usize) -> Result<u16, Violation> {
    u16::try_from(value).map_err(|_| {
        Violation::new(Code::PackageMembers, format!("{value} does not fit into the format.")).actual(value)
    })
}
