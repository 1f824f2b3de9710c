//! What the filter lets through: the list people read and change. `compile.rs` makes instructions of it.
//!
//! A call that stands nowhere here is refused with EPERM, one the kernel got later than [`super::numbers::END`] with
//! ENOSYS.

/// Which socket families a profile opens. The action profile opens none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sockets {
    /// AF_UNIX.
    pub(super) unix: bool,
    /// AF_INET and AF_INET6.
    pub(super) internet: bool,
}

/// In which profiles a line of the list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// In all of them.
    Always,
    /// Where AF_UNIX is open.
    Unix,
    /// Where AF_INET and AF_INET6 are open.
    Internet,
    /// Where any family is open.
    AnySocket,
}

impl Scope {
    /// Whether a line of this scope counts in a profile with `sockets`.
    pub(super) fn holds(self, sockets: Sockets) -> bool {
        match self {
            Self::Always => true,
            Self::Unix => sockets.unix,
            Self::Internet => sockets.internet,
            Self::AnySocket => sockets.unix || sockets.internet,
        }
    }
}

/// One condition on the arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// The low 32 bits of an argument, masked, are one of the values. Only for arguments that the kernel itself
    /// cuts to 32 bits (`int`, `unsigned int` and modes, and the flags of `clone`) or whose bits in question lie there (the
    /// flags of `mmap`): nothing can hide in the high half.
    Word {
        /// Which argument, 0 to 5.
        argument: u8,
        /// The bits that are looked at.
        mask: u32,
        /// What they may be, sorted.
        one_of: &'static [u32],
    },
    /// All 64 bits of an argument are zero: a pointer that is not given.
    Zero {
        /// Which argument, 0 to 5.
        argument: u8,
    },
}

/// All bits of a [`Check::Word`].
const ALL: u32 = u32::MAX;

/// Calls that are let through whatever their arguments are, by what they are for.
pub(super) struct Group {
    /// In which profiles.
    pub(super) scope: Scope,
    /// The calls, sorted.
    pub(super) names: &'static [&'static str],
}

/// A call that is let through where all `checks` hold. Several lines for one name: any of them is enough.
pub(super) struct Conditional {
    /// The call.
    pub(super) name: &'static str,
    /// In which profiles.
    pub(super) scope: Scope,
    /// What its arguments must be.
    pub(super) checks: &'static [Check],
}

/// Calls without conditions.
#[rustfmt::skip]
pub(super) const ALLOWED: &[Group] = &[
    // Files and folders. Which ones there are is for mounts and Landlock to say. Not here: `flock`, whose exclusive
    // locks on read-only files that all modules share would let one module stop another; `inotify_*`, by which they
    // would watch each other; `fadvise64`, `readahead` and `mincore`, which tell and steer what the machine caches;
    // `sync` and `syncfs`, which reach every file of the machine.
    Group {
        scope: Scope::Always,
        names: &[
            "access", "chdir", "chown", "close", "close_range", "copy_file_range", "dup", "dup2",
            "dup3", "faccessat", "faccessat2", "fallocate", "fchdir", "fchown", "fchownat",
            "fdatasync", "fgetxattr", "flistxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futimesat", "getcwd",
            "getdents", "getdents64", "getxattr", "lchown", "lgetxattr", "link", "linkat", "listxattr",
            "llistxattr", "lseek", "lstat", "newfstatat",
            "pread64", "preadv", "pwrite64", "pwritev", "read", "readlink", "readlinkat", "readv", "rename",
            "renameat", "renameat2", "rmdir", "sendfile", "stat", "statfs", "statx", "symlink", "symlinkat",
            "truncate", "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes", "write", "writev",
        ],
    },
    // Memory of the process itself. `mprotect` with PROT_EXEC is what a just-in-time compiler lives on.
    Group {
        scope: Scope::Always,
        names: &[
            "brk", "membarrier", "mlock", "mlock2", "mlockall", "mprotect", "mremap", "msync", "munlock",
            "munlockall", "munmap", "pkey_alloc", "pkey_free", "pkey_mprotect",
        ],
    },
    // Processes and threads, and what they may know about themselves.
    Group {
        scope: Scope::Always,
        names: &[
            "capget", "execve", "exit", "exit_group", "fork", "futex", "futex_waitv", "getcpu", "getegid",
            "geteuid", "getgid", "getgroups", "getpgid", "getpgrp", "getpid", "getppid", "getpriority",
            "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid", "getuid", "pidfd_open",
            "rseq", "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr",
            "sched_getparam", "sched_getscheduler", "sched_rr_get_interval", "sched_yield", "set_robust_list",
            "set_tid_address", "setpgid", "setpriority", "setsid", "vfork", "wait4", "waitid",
        ],
    },
    // Signals. The process namespace says who can be reached.
    Group {
        scope: Scope::Always,
        names: &[
            "kill", "pause", "pidfd_send_signal", "restart_syscall", "rt_sigaction", "rt_sigpending",
            "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
            "rt_tgsigqueueinfo", "sigaltstack", "signalfd", "signalfd4", "tgkill", "tkill",
        ],
    },
    // Pipes and waiting.
    Group {
        scope: Scope::Always,
        names: &[
            "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd",
            "eventfd2", "pipe", "pipe2", "poll", "ppoll", "pselect6", "select", "splice", "tee",
        ],
    },
    // Clocks and timers: reading, never setting.
    Group {
        scope: Scope::Always,
        names: &[
            "alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "gettimeofday", "nanosleep",
            "setitimer", "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
            "timer_settime", "timerfd_create", "timerfd_gettime", "timerfd_settime", "times",
        ],
    },
    // What the machine tells everybody.
    Group { scope: Scope::Always, names: &["getrandom", "sysinfo", "uname"] },
    // Traffic on sockets that exist already, such as the two of `socketpair`.
    Group {
        scope: Scope::Always,
        names: &[
            "getpeername", "getsockname", "getsockopt", "recvfrom", "recvmmsg", "recvmsg", "sendmmsg", "sendmsg",
            "sendto", "shutdown",
        ],
    },
    // Addresses.
    Group { scope: Scope::AnySocket, names: &["accept", "accept4", "bind", "connect", "listen"] },
];

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET`. `CLONE_NEWTIME` lies in the byte
/// that `clone` takes for the exit signal, so only `clone3` and `unshare` have it.
pub(super) const NAMESPACES: u32 = 0x7E02_0000;

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
/// Of a socket's type, without `SOCK_NONBLOCK` and `SOCK_CLOEXEC`.
const TYPE: u32 = 0xf;
const STREAM: u32 = 1;
const DGRAM: u32 = 2;
const SEQPACKET: u32 = 5;

/// Bits of a mode that make a program run as its owner or group. A backend's folder outlives it, and whoever ran such a
/// file there later would be the module's user.
const SET_ID: u32 = 0o6000;
const O_CREAT: u32 = 0o100;
const O_TMPFILE: u32 = 0o20_000_000;
const MAP_HUGETLB: u32 = 0x4_0000;

/// Calls that depend on their arguments. The lines of one name stand together.
#[rustfmt::skip]
pub(super) const CONDITIONAL: &[Conditional] = &[
    // Memory, but no huge pages of the machine's pool: a group's memory limit does not count them. First,
    // because programs call it most.
    Conditional { name: "mmap", scope: Scope::Always, checks: &[
        Check::Word { argument: 3, mask: MAP_HUGETLB, one_of: &[0] },
    ] },
    // Making files and changing their modes, without set-user-id and set-group-id. A mode counts where a file is made.
    Conditional { name: "openat", scope: Scope::Always, checks: &[
        Check::Word { argument: 2, mask: O_CREAT | O_TMPFILE, one_of: &[0] },
    ] },
    Conditional { name: "openat", scope: Scope::Always, checks: &[
        Check::Word { argument: 3, mask: SET_ID, one_of: &[0] },
    ] },
    Conditional { name: "open", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: O_CREAT | O_TMPFILE, one_of: &[0] },
    ] },
    Conditional { name: "open", scope: Scope::Always, checks: &[
        Check::Word { argument: 2, mask: SET_ID, one_of: &[0] },
    ] },
    Conditional { name: "creat", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: SET_ID, one_of: &[0] },
    ] },
    Conditional { name: "mkdir", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: SET_ID, one_of: &[0] },
    ] },
    Conditional { name: "mkdirat", scope: Scope::Always, checks: &[
        Check::Word { argument: 2, mask: SET_ID, one_of: &[0] },
    ] },
    Conditional { name: "chmod", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: SET_ID, one_of: &[0] },
    ] },
    Conditional { name: "fchmod", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: SET_ID, one_of: &[0] },
    ] },
    Conditional { name: "fchmodat", scope: Scope::Always, checks: &[
        Check::Word { argument: 2, mask: SET_ID, one_of: &[0] },
    ] },
    // Advice on memory, except MERGEABLE: merging pages with other processes tells what they hold. In order:
    // NORMAL RANDOM SEQUENTIAL WILLNEED DONTNEED FREE REMOVE DONTFORK DOFORK HUGEPAGE NOHUGEPAGE DONTDUMP DODUMP
    // WIPEONFORK KEEPONFORK POPULATE_READ POPULATE_WRITE.
    Conditional { name: "madvise", scope: Scope::Always, checks: &[
        Check::Word { argument: 2, mask: ALL, one_of: &[0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23] },
    ] },
    // DUPFD GETFD SETFD GETFL SETFL DUPFD_CLOEXEC SETPIPE_SZ GETPIPE_SZ. Not here: leases, F_NOTIFY, signals to an owner.
    Conditional { name: "fcntl", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: ALL, one_of: &[0, 1, 2, 3, 4, 1030, 1031, 1032] },
    ] },
    // GETLK SETLK SETLKW. A backend's database needs them. On files that all modules can read they are seen by all, so
    // two actions could talk by them.
    Conditional { name: "fcntl", scope: Scope::Unix, checks: &[
        Check::Word { argument: 1, mask: ALL, one_of: &[5, 6, 7] },
    ] },
    // TCGETS (is this a terminal?) FIONREAD FIONBIO FIONCLEX FIOCLEX. Nothing that types into a terminal.
    Conditional { name: "ioctl", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: ALL, one_of: &[0x5401, 0x541B, 0x5421, 0x5450, 0x5451] },
    ] },
    // No new namespace.
    Conditional { name: "clone", scope: Scope::Always, checks: &[
        Check::Word { argument: 0, mask: NAMESPACES, one_of: &[0] },
    ] },
    // GET_PDEATHSIG GET_DUMPABLE SET_NAME GET_NAME GET_SECCOMP CAPBSET_READ GET_TIMERSLACK SET_NO_NEW_PRIVS
    // GET_NO_NEW_PRIVS. SET_PDEATHSIG would cut the tie to the keeper; SET_DUMPABLE decides on dumps and on who may look
    // into the process.
    Conditional { name: "prctl", scope: Scope::Always, checks: &[
        Check::Word { argument: 0, mask: ALL, one_of: &[2, 3, 15, 16, 21, 23, 30, 38, 39] },
    ] },
    // Reading any limit.
    Conditional { name: "prlimit64", scope: Scope::Always, checks: &[Check::Zero { argument: 2 }] },
    // Lowering CPU FSIZE DATA STACK NPROC NOFILE MEMLOCK AS. Not CORE: at 0 a crash starts the core handler of the
    // machine where it is a program, at the 1 that is set for the module it does not.
    Conditional { name: "prlimit64", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: ALL, one_of: &[0, 1, 2, 3, 6, 7, 8, 9] },
    ] },
    // SET_GS SET_FS GET_FS GET_GS: how a thread finds its own memory.
    Conditional { name: "arch_prctl", scope: Scope::Always, checks: &[
        Check::Word { argument: 0, mask: ALL, one_of: &[0x1001, 0x1002, 0x1003, 0x1004] },
    ] },
    // Two ends that know each other. A datagram socket could still be sent from to any address, so not that.
    Conditional { name: "socketpair", scope: Scope::Always, checks: &[
        Check::Word { argument: 0, mask: ALL, one_of: &[AF_UNIX] },
        Check::Word { argument: 1, mask: TYPE, one_of: &[STREAM, SEQPACKET] },
    ] },
    Conditional { name: "socketpair", scope: Scope::Unix, checks: &[
        Check::Word { argument: 0, mask: ALL, one_of: &[AF_UNIX] },
        Check::Word { argument: 1, mask: TYPE, one_of: &[DGRAM] },
    ] },
    Conditional { name: "socket", scope: Scope::Unix, checks: &[
        Check::Word { argument: 0, mask: ALL, one_of: &[AF_UNIX] },
        Check::Word { argument: 1, mask: TYPE, one_of: &[STREAM, DGRAM, SEQPACKET] },
    ] },
    // TCP and UDP, and no other protocol of the two families.
    Conditional { name: "socket", scope: Scope::Internet, checks: &[
        Check::Word { argument: 0, mask: ALL, one_of: &[AF_INET, AF_INET6] },
        Check::Word { argument: 1, mask: TYPE, one_of: &[STREAM] },
        Check::Word { argument: 2, mask: ALL, one_of: &[0, 6] },
    ] },
    Conditional { name: "socket", scope: Scope::Internet, checks: &[
        Check::Word { argument: 0, mask: ALL, one_of: &[AF_INET, AF_INET6] },
        Check::Word { argument: 1, mask: TYPE, one_of: &[DGRAM] },
        Check::Word { argument: 2, mask: ALL, one_of: &[0, 17] },
    ] },
    // SOL_SOCKET: REUSEADDR BROADCAST SNDBUF RCVBUF KEEPALIVE LINGER REUSEPORT PASSCRED RCVLOWAT RCVTIMEO SNDTIMEO.
    // No filters of its own, no marks, no devices.
    Conditional { name: "setsockopt", scope: Scope::Always, checks: &[
        Check::Word { argument: 1, mask: ALL, one_of: &[1] },
        Check::Word { argument: 2, mask: ALL, one_of: &[2, 6, 7, 8, 9, 13, 15, 16, 18, 20, 21] },
    ] },
    // IPPROTO_TCP: NODELAY CORK KEEPIDLE KEEPINTVL KEEPCNT DEFER_ACCEPT QUICKACK USER_TIMEOUT NOTSENT_LOWAT
    // FASTOPEN_CONNECT. No upper-layer protocols in the kernel.
    Conditional { name: "setsockopt", scope: Scope::Internet, checks: &[
        Check::Word { argument: 1, mask: ALL, one_of: &[6] },
        Check::Word { argument: 2, mask: ALL, one_of: &[1, 3, 4, 5, 6, 9, 12, 18, 25, 30] },
    ] },
    // IPPROTO_IP: TOS TTL PKTINFO MTU_DISCOVER RECVERR BIND_ADDRESS_NO_PORT, MULTICAST_IF to DROP_MEMBERSHIP.
    Conditional { name: "setsockopt", scope: Scope::Internet, checks: &[
        Check::Word { argument: 1, mask: ALL, one_of: &[0] },
        Check::Word { argument: 2, mask: ALL, one_of: &[1, 2, 8, 10, 11, 24, 32, 33, 34, 35, 36] },
    ] },
    // IPPROTO_IPV6: UNICAST_HOPS, MULTICAST_IF to LEAVE_GROUP, MTU_DISCOVER RECVERR V6ONLY RECVPKTINFO TCLASS.
    Conditional { name: "setsockopt", scope: Scope::Internet, checks: &[
        Check::Word { argument: 1, mask: ALL, one_of: &[41] },
        Check::Word { argument: 2, mask: ALL, one_of: &[16, 17, 18, 19, 20, 21, 23, 25, 26, 49, 67] },
    ] },
];

/// Calls that answer ENOSYS, as an older kernel would, because programs then do without them:
/// `clone3` keeps its flags where a filter cannot look, and libc falls back on `clone`; `execveat` would start a
/// program that no path leads to; `preadv2` and `pwritev2` tell what the machine caches; a module that wants to
/// confine itself further by Landlock takes ENOSYS for "not here"; `openat2` keeps its mode where a filter cannot look.
pub(super) const ABSENT: &[&str] = &[
    "clone3",
    "execveat",
    "landlock_add_rule",
    "landlock_create_ruleset",
    "landlock_restrict_self",
    "openat2",
    "preadv2",
    "pwritev2",
];
