//! Descriptors that are handed to other processes.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::fs::OFlags;
use rustix::io::{Errno, FdFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::process::PidfdFlags;

/// Descriptors that another process is to find at low numbers lie at or above this, so that putting them there
/// overwrites none.
pub(crate) const LOWEST: RawFd = 32;

/// This process, to be watched for its end.
pub(crate) fn host_process(lowest: RawFd) -> io::Result<OwnedFd> {
    let host = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    raised(host, lowest)
}

/// A duplicate at `lowest` or above. Where no number that high is permitted, the machine says "invalid argument"; that
/// it has too few descriptors is what it means.
pub(crate) fn raised(fd: OwnedFd, lowest: RawFd) -> io::Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(fd, lowest).map_err(|errno| match errno {
        Errno::INVAL => Errno::MFILE.into(),
        errno => errno.into(),
    })
}

/// The same descriptor at a number that is no standard stream's. A host may have closed those, and what some part of
/// it then prints must not get into a pipe of a module.
///
/// # Errors
/// What the machine says to duplicating it.
pub fn above_streams(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() < 3 { raised(fd, 3) } else { Ok(fd) }
}

/// The host's end, which does not block and is no standard stream, and the other end, at `lowest` or above. Both are
/// closed on exec.
pub(crate) struct Ends {
    pub(crate) host: OwnedFd,
    pub(crate) other: OwnedFd,
}

impl Ends {
    fn new(host: OwnedFd, other: OwnedFd, lowest: RawFd) -> io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(&host)?;
        rustix::fs::fcntl_setfl(&host, flags | OFlags::NONBLOCK)?;
        debug_assert!(rustix::io::fcntl_getfd(&host)?.contains(FdFlags::CLOEXEC));
        Ok(Self { host: above_streams(host)?, other: raised(other, lowest)? })
    }

    /// A pipe that the host writes to.
    pub(crate) fn to_other(lowest: RawFd) -> io::Result<Self> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        Self::new(write, read, lowest)
    }

    /// A pipe that the host reads from.
    pub(crate) fn from_other(lowest: RawFd) -> io::Result<Self> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        Self::new(read, write, lowest)
    }

    /// A pair of sockets, which can be written to without SIGPIPE.
    pub(crate) fn line(lowest: RawFd) -> io::Result<Self> {
        let (host, other) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Self::new(host, other, lowest)
    }
}
