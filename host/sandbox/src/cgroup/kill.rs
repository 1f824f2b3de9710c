//! Members of a group, and killing them by signals where the kernel cannot kill a group at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, Signal};

use super::file;

pub(super) const PROCS: &str = "cgroup.procs";

/// Bytes of a list of members that are read at most; some 150,000 processes.
const LONGEST_LIST: usize = 1 << 20;

/// Processes that are held by a descriptor at one time.
const HELD: usize = 16;

/// Rounds of looking and killing before a group counts as one that cannot be killed.
const ROUNDS: usize = 64;

/// Goes through the members of a group until `each` says `false`. A process of another pid namespace is 0.
///
/// The file is opened anew each time: in version 1 an open one goes on to show the list that it showed first.
pub(super) fn members(directory: BorrowedFd<'_>, each: impl FnMut(i32) -> bool) -> io::Result<()> {
    members_of(file::open(directory, PROCS, OFlags::RDONLY)?.as_fd(), each)
}

/// The same with a file that was opened before, which is right in version 2.
pub(super) fn members_of(file: BorrowedFd<'_>, mut each: impl FnMut(i32) -> bool) -> io::Result<()> {
    let mut buffer = [0; 1024];
    let (mut number, mut digits, mut offset) = (0i32, false, 0usize);
    loop {
        let length = retry_on_intr(|| rustix::io::pread(file, &mut buffer, offset as u64))?;
        for &byte in &buffer[..length] {
            if byte.is_ascii_digit() {
                number = number.saturating_mul(10).saturating_add(i32::from(byte - b'0'));
                digits = true;
            } else if digits {
                if !each(number) {
                    return Ok(());
                }
                (number, digits) = (0, false);
            }
        }
        offset += length;
        if length == 0 {
            return Ok(());
        }
        if offset > LONGEST_LIST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "more than 1 MiB of members"));
        }
    }
}

/// The members of a group, in order.
pub(super) fn list(directory: BorrowedFd<'_>) -> io::Result<Vec<i32>> {
    let mut found = Vec::new();
    members(directory, |pid| {
        found.push(pid);
        true
    })?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Kills the members of one group by signals, in rounds, until a round finds none that was not killed already.
/// Processes that are on their way to their end may still be members then.
///
/// A pid that was read may belong to another process by the time of the signal. So a process is held by a descriptor
/// first, and is killed only if the group lists its pid after that.
///
/// # Errors
/// A member of another pid namespace cannot be named; a member may not be this user's to kill; a group can make
/// processes faster than they are killed, for as long as its limit of tasks lets it.
pub(super) fn by_signals(directory: BorrowedFd<'_>) -> io::Result<()> {
    let mut killed = Vec::new();
    for _ in 0..ROUNDS {
        let found = list(directory)?;
        if found.first() == Some(&0) {
            return Err(io::Error::other("a member is in another process namespace and cannot be named"));
        }
        let new: Vec<i32> = found.iter().copied().filter(|pid| killed.binary_search(pid).is_err()).collect();
        if new.is_empty() {
            return Ok(());
        }
        for some in new.chunks(HELD) {
            signal(directory, some)?;
        }
        killed = found;
    }
    Err(io::Error::other(format!("new members kept coming in {ROUNDS} rounds of killing")))
}

fn signal(directory: BorrowedFd<'_>, pids: &[i32]) -> io::Result<()> {
    let mut held: Vec<(i32, OwnedFd)> = Vec::with_capacity(pids.len());
    for &raw in pids {
        let Some(pid) = Pid::from_raw(raw) else { continue };
        match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => held.push((raw, process)),
            Err(Errno::SRCH) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let now = list(directory)?;
    for (pid, process) in held {
        if now.binary_search(&pid).is_err() {
            continue;
        }
        match rustix::process::pidfd_send_signal(&process, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}
