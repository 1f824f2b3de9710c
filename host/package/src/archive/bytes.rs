//! Little-endian numbers at checked places, and the signatures of the format.

use modberth_protocol::{Code, Violation};

/// A local header, before the data of a member.
pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// An entry of the central directory.
pub(super) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
/// The end record.
pub(super) const END: [u8; 4] = *b"PK\x05\x06";
/// A data descriptor, behind the data of a streamed member.
pub(super) const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// What stands before the end record in the ZIP64 form.
pub(super) const ZIP64_LOCATOR: [u8; 4] = *b"PK\x06\x07";

/// Little-endian numbers at checked places.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn slice(self, at: usize, length: usize) -> Option<&'a [u8]> {
        self.0.get(at..at.checked_add(length)?)
    }

    pub(super) fn u16(self, at: usize) -> Option<u16> {
        self.slice(at, 2).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes)
    }

    pub(super) fn u32(self, at: usize) -> Option<u32> {
        self.slice(at, 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
    }

    pub(super) fn size(self, at: usize) -> Option<usize> {
        self.u32(at).and_then(|value| usize::try_from(value).ok())
    }

    pub(super) fn starts(self, at: usize, signature: [u8; 4]) -> bool {
        self.slice(at, 4).is_some_and(|bytes| bytes == signature)
    }
}

/// A refusal at a byte of the archive.
pub(super) fn refuse(code: Code, at: usize, message: impl AsRef<str>) -> Violation {
    Violation::new(code, message).offset(at)
}
