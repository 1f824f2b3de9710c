//! Reading and writing the small files of a group, without allocation.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::descriptors::above_streams;

/// Room for any of the small files read here; the longest, `cpu.stat`, has a few hundred bytes.
pub(super) const ROOM: usize = 4096;

/// Opens a file of a group, never as a standard stream: what a host prints that has closed its own must not get there.
pub(super) fn open(directory: BorrowedFd<'_>, name: &str, flags: OFlags) -> io::Result<OwnedFd> {
    above_streams(rustix::fs::openat(directory, name, flags | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a directory.
pub(super) fn directory(parent: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    open(parent, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW)
}

/// Like [`open`], with `None` where this kernel has no such file.
pub(super) fn open_if_there(
    directory: BorrowedFd<'_>,
    name: &str,
    flags: OFlags,
) -> io::Result<Option<OwnedFd>> {
    match open(directory, name, flags) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// The content of a small file from its start, without white space at the end.
pub(super) fn read<'b>(file: BorrowedFd<'_>, buffer: &'b mut [u8; ROOM]) -> io::Result<&'b [u8]> {
    let length = retry_on_intr(|| rustix::io::pread(file, buffer.as_mut_slice(), 0))?;
    if length == buffer.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is longer than 4095 bytes"));
    }
    Ok(buffer[..length].trim_ascii_end())
}

/// Writes a small file in one piece, as the kernel wants it.
pub(super) fn write(file: BorrowedFd<'_>, text: &[u8]) -> io::Result<()> {
    // Not repeated when interrupted: the only writes that wait are bounded by the caller.
    let length = rustix::io::pwrite(file, text, 0)?;
    if length == text.len() { Ok(()) } else { Err(Errno::IO.into()) }
}

/// Opens, writes and closes a file.
pub(super) fn write_at(directory: BorrowedFd<'_>, name: &str, text: &[u8]) -> io::Result<()> {
    write(rustix::fd::AsFd::as_fd(&open(directory, name, OFlags::WRONLY)?), text)
}

/// Opens, reads and closes a file.
pub(super) fn read_at<'b>(
    directory: BorrowedFd<'_>,
    name: &str,
    buffer: &'b mut [u8; ROOM],
) -> io::Result<&'b [u8]> {
    read(rustix::fd::AsFd::as_fd(&open(directory, name, OFlags::RDONLY)?), buffer)
}

/// A whole number as the kernel prints it. `max` and anything else: `None`.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The number behind `key` in a file of lines `key number`.
pub(super) fn keyed(content: &[u8], key: &str) -> Option<u64> {
    content.split(|&byte| byte == b'\n').find_map(|line| {
        let value = line.strip_prefix(key.as_bytes())?.strip_prefix(b" ")?;
        number(value.trim_ascii())
    })
}
