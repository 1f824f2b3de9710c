//! Making processes that share the host's memory.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use crate::raw;
use crate::region::Stack;

/// linux/sched.h; libc's constant of this name is cut to 32 bits.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// A new process: its id in the host's namespace, and a descriptor for it.
pub(crate) struct Made {
    pub(crate) pid: i32,
    pub(crate) fd: OwnedFd,
}

/// Makes a process that shares the host's memory and runs `entry(argument)` on `stack`, with all signals blocked, in
/// the new `namespaces` (CLONE_NEW… flags) and in the control group `group`.
///
/// The host gets no SIGCHLD, and an embedding program's own wait() does not find this child, until it runs a program:
/// then the kernel makes it a child like others.
///
/// # Safety
/// `stack` and whatever `argument` leads to live until the process has ended or runs another program. `entry` keeps to
/// system calls and to memory that is made for it.
pub(crate) unsafe fn clone(
    entry: raw::Entry,
    argument: *mut c_void,
    stack: &Stack,
    namespaces: libc::c_int,
    group: Option<BorrowedFd<'_>>,
) -> io::Result<Made> {
    let mut pidfd: RawFd = -1;
    // SAFETY: plain data for which all zeros is a value.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = (libc::CLONE_VM | libc::CLONE_PIDFD) as u64 | namespaces as u32 as u64;
    if let Some(group) = group {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = group.as_raw_fd() as u64;
    }
    arguments.pidfd = &raw mut pidfd as u64;
    arguments.exit_signal = 0;
    arguments.stack = stack.lowest();
    arguments.stack_size = Stack::SIZE as u64;
    // SAFETY: all signals are blocked in this thread while the process is made, so that no handler of the host runs
    // on its stack; the mask is put back as it was. libc's own functions would leave out the two signals that libc
    // uses itself. The rest is the caller's promise.
    let pid = unsafe {
        let (all, mut before) = (u64::MAX, 0u64);
        let mask = |new: &u64, old: *mut u64| {
            let arguments =
                [libc::SIG_SETMASK as usize, std::ptr::from_ref(new) as usize, old as usize, 8, 0, 0];
            raw::syscall(libc::SYS_rt_sigprocmask, arguments)
        };
        mask(&all, &raw mut before);
        let pid = raw::clone3(&arguments, entry, argument);
        mask(&before, std::ptr::null_mut());
        pid
    };
    if pid < 0 {
        return Err(io::Error::from_raw_os_error(-pid as i32));
    }
    // SAFETY: the kernel put a fresh descriptor there.
    let fd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // Without a second descriptor the first is right too: the process must not be lost.
    let fd = if pidfd < 3 { rustix::io::fcntl_dupfd_cloexec(&fd, 3).unwrap_or(fd) } else { fd };
    Ok(Made { pid: pid as i32, fd })
}
