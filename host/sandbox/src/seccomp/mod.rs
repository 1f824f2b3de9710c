//! Which system calls a module may make: a filter that the kernel runs before every one of them (P1-HOST-28).
//!
//! It is an **allow list** (`policy.rs`): what a C program, CPython and Node need for files, memory, threads,
//! children, pipes, signals and timers. Namespaces and mounts decide what these calls reach; the filter takes away the
//! parts of the kernel that no module needs and that have no other lock. It answers as follows, and the first line
//! that fits counts.
//!
//! | a call | answer |
//! |---|---|
//! | of another architecture's convention (`int 0x80` on x86_64) | the process is killed by SIGSYS |
//! | with x32's bit, or with a number from 451 on (Linux 5.18 and later) | ENOSYS |
//! | that the list allows | allowed |
//! | that the list allows with conditions (below) | allowed where they hold, otherwise EPERM |
//! | that libc does without on older kernels: `clone3`, `execveat`, `preadv2`, `pwritev2`, `landlock_*` | ENOSYS |
//! | any other | EPERM |
//!
//! | conditions | allowed | why not the rest |
//! |---|---|---|
//! | `clone` | no `CLONE_NEW…` flag | root of a namespace reaches kernel code that nobody else does |
//! | `mmap` | no MAP_HUGETLB | reserved huge pages count against no memory limit |
//! | `ioctl` | TCGETS, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX | TIOCSTI types into the operator's terminal |
//! | `fcntl` | descriptors, flags, pipe sizes; record locks with AF_UNIX | F_NOTIFY and leases watch files that others use; locks on them are seen by others |
//! | `prctl` | nine that name, read, or give up | PR_SET_PDEATHSIG would outlive the keeper |
//! | `prlimit64` | reading; lowering all but RLIMIT_CORE and scheduling limits | a core of 0 bytes starts the machine's handler |
//! | `madvise` | all usual advice | MADV_MERGEABLE compares memory with that of others |
//! | `arch_prctl` | the FS and GS bases | |
//! | `socketpair` | AF_UNIX streams and packets | a datagram end sends to any address |
//! | `setsockopt` | the usual options of SOL_SOCKET | socket filters, marks, kernel TLS |
//! | `socket`, `bind`, `connect`, … | none, unless the profile opens a family | AF_VSOCK and others know no network namespace |
//!
//! Refused by being on no list, among others:
//!
//! | what | calls |
//! |---|---|
//! | looking into other processes | `ptrace`, `process_vm_*`, `pidfd_getfd`, `kcmp`, `process_madvise`, `move_pages` |
//! | the kernel's large interfaces | `io_uring_*`, `bpf`, `perf_event_open`, `userfaultfd`, `io_*`, `fanotify_*` |
//! | keys | `add_key`, `request_key`, `keyctl` |
//! | mounts, roots, namespaces | `mount` and its family, `chroot`, `pivot_root`, `unshare`, `setns` |
//! | memory beside the scratch space | System V IPC, POSIX queues, `memfd_create`, `memfd_secret` |
//! | channels between modules | `flock`, `inotify_*`, `mincore`, `fadvise64`, `readahead`, `vmsplice` |
//! | the machine | `reboot`, `kexec_*`, modules, swap, clocks, host names, `syslog`, `personality`, `quotactl`, `sync` |
//! | files that are none | `mknod`, `mknodat`, `name_to_handle_at`, `open_by_handle_at` |
//! | other identities | `set*uid`, `set*gid`, `capset`, `sched_set*`, `ioprio_*`, `setxattr` |
//!
//! Arguments are checked as wide as the kernel reads them: those that it cuts to 32 bits by their low half, pointers
//! by both halves. What lies behind a pointer is never looked at, for the module could change it after the look.

mod compile;
mod numbers;
mod policy;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::fork;

use numbers::Architecture;
use policy::Sockets;

/// A filter, ready for `SECCOMP_SET_MODE_FILTER`. Making it takes microseconds; a host makes each one once and keeps
/// it.
#[derive(Clone)]
pub(crate) struct Filter {
    instructions: Vec<libc::sock_filter>,
}

impl Filter {
    /// The filter of a profile on this machine's architecture.
    ///
    /// `unix`: AF_UNIX sockets may be made, connected and listened on. `internet`: TCP and UDP sockets of AF_INET and
    /// AF_INET6 may. With neither, the module has no sockets but those of `socketpair`.
    pub(crate) fn new(unix: bool, internet: bool) -> Self {
        Self { instructions: compile::compile(Architecture::NATIVE, Sockets { unix, internet }) }
    }

    /// What the kernel is given. It points into `self` and must not be used longer than `self` lives; the kernel only
    /// reads it.
    pub(crate) fn program(&self) -> libc::sock_fprog {
        libc::sock_fprog {
            // At most a few hundred: the tests count them.
            len: self.instructions.len() as libc::c_ushort,
            filter: self.instructions.as_ptr().cast_mut(),
        }
    }
}
