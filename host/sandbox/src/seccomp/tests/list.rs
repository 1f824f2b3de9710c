//! The list itself: its names, its numbers, and what must and must not stand on it.

use libseccomp::{ScmpArch, ScmpSyscall};

use super::evaluate::run;
use super::{ARCHITECTURES, Call, PROFILES};
use crate::seccomp::compile::compile;
use crate::seccomp::numbers::{Architecture, END, NUMBERS};
use crate::seccomp::policy::{ABSENT, ALLOWED, CONDITIONAL, Check, Sockets};

const ALLOW: u32 = 0x7FFF_0000;
const EPERM: u32 = 0x0005_0001;
const ENOSYS: u32 = 0x0005_0000 | 38;

/// What libseccomp calls an architecture.
pub(super) fn scmp(architecture: Architecture) -> ScmpArch {
    match architecture {
        Architecture::X86_64 => ScmpArch::X8664,
        Architecture::Aarch64 => ScmpArch::Aarch64,
    }
}

/// The number libseccomp gives; `None` where the architecture has no such call.
fn system_number(name: &str, architecture: Architecture) -> Option<u32> {
    let found = ScmpSyscall::from_name_by_arch(name, scmp(architecture));
    let call = found.unwrap_or_else(|error| panic!("libseccomp does not know {name}: {error}"));
    u32::try_from(call.as_raw_syscall()).ok()
}

#[test]
fn names_are_sorted_and_numbers_are_those_of_the_system() {
    assert!(NUMBERS.is_sorted_by(|left, right| left.0 < right.0), "sorted, and no name twice");
    for (name, x86_64, aarch64) in NUMBERS {
        assert_eq!(*x86_64, system_number(name, Architecture::X86_64), "{name} on x86_64");
        assert_eq!(*aarch64, system_number(name, Architecture::Aarch64), "{name} on aarch64");
        assert!((*x86_64).max(*aarch64).is_some_and(|number| number < END), "{name} lies below the end");
    }
}

#[test]
fn every_name_stands_in_one_place_and_has_a_number() {
    for group in ALLOWED {
        assert!(group.names.is_sorted(), "{:?}", group.names);
    }
    let mut conditional: Vec<&str> = CONDITIONAL.iter().map(|row| row.name).collect();
    conditional.dedup();
    let names = ALLOWED.iter().flat_map(|group| group.names).chain(ABSENT).copied().chain(conditional);
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    // Equal to a list without duplicates: no name stands twice, and the lines of a conditional call stand together.
    let numbered: Vec<&str> = NUMBERS.iter().map(|row| row.0).collect();
    assert_eq!(names, numbered);
}

#[test]
fn arguments_exist_and_values_are_sorted_and_within_their_masks() {
    for row in CONDITIONAL {
        for check in row.checks {
            match *check {
                Check::Word { argument, mask, one_of } => {
                    assert!(argument < 6 && !one_of.is_empty(), "{}", row.name);
                    assert!(one_of.is_sorted_by(|left, right| left < right), "{} is sorted", row.name);
                    assert!(one_of.iter().all(|value| value & !mask == 0), "{} can never match", row.name);
                }
                Check::Zero { argument } => assert!(argument < 6, "{}", row.name),
            }
        }
    }
}

/// The verdict on a call by its name, with all arguments zero.
fn verdict(name: &str, architecture: Architecture, sockets: Sockets) -> Option<u32> {
    let number = system_number(name, architecture)?;
    let call = Call { number, audit: architecture.audit(), arguments: [0; 6] };
    Some(run(&compile(architecture, sockets), call))
}

/// Calls by which a module would look at others, leave its confinement or load the machine.
#[rustfmt::skip]
const HOSTILE: &[&str] = &[
    // Other processes.
    "kcmp", "pidfd_getfd", "process_madvise", "process_mrelease", "process_vm_readv", "process_vm_writev", "ptrace",
    "move_pages", "migrate_pages", "get_robust_list",
    // Large interfaces of the kernel.
    "bpf", "fanotify_init", "fanotify_mark", "io_cancel", "io_destroy", "io_getevents", "io_setup", "io_submit",
    "io_uring_enter", "io_uring_register", "io_uring_setup", "perf_event_open", "seccomp", "userfaultfd", "vmsplice",
    // Keys.
    "add_key", "keyctl", "request_key",
    // Mounts, roots, namespaces.
    "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_tree",
    "pivot_root", "setns", "umount2", "unshare",
    // Memory and messages outside the scratch space.
    "memfd_create", "memfd_secret", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend",
    "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl",
    "shmdt", "shmget",
    // Channels between modules.
    "fadvise64", "flock", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch", "mincore",
    "readahead", "lookup_dcookie",
    // The machine.
    "acct", "adjtimex", "clock_adjtime", "clock_settime", "create_module", "delete_module", "finit_module",
    "init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "modify_ldt", "nfsservctl", "personality",
    "quotactl", "quotactl_fd", "reboot", "setdomainname", "sethostname", "settimeofday", "swapoff", "swapon", "sync",
    "syncfs", "syslog", "vhangup", "sysfs", "uselib", "ustat",
    // Files that are none.
    "mknod", "mknodat", "name_to_handle_at", "open_by_handle_at",
    // Other identities, priorities, attributes.
    "capset", "ioprio_set", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler", "setfsgid",
    "setfsuid", "setgid", "setgroups", "setregid", "setresgid", "setresuid", "setreuid", "setrlimit", "setuid",
    "setxattr", "fsetxattr", "lsetxattr", "removexattr",
];

#[test]
fn what_is_hostile_is_refused_in_every_profile() {
    for architecture in ARCHITECTURES {
        for sockets in PROFILES {
            for name in HOSTILE {
                let verdict = verdict(name, architecture, sockets);
                assert!(
                    verdict.is_none_or(|verdict| verdict == EPERM),
                    "{name} {architecture:?} {sockets:?}: {verdict:x?}"
                );
            }
            for name in ["clone3", "execveat", "preadv2", "pwritev2", "landlock_restrict_self"] {
                let verdict = verdict(name, architecture, sockets);
                assert_eq!(verdict, Some(ENOSYS), "{name} {architecture:?} {sockets:?}");
            }
        }
    }
}

#[test]
fn addresses_are_for_profiles_with_sockets() {
    for architecture in ARCHITECTURES {
        for sockets in PROFILES {
            let expected = if sockets.unix || sockets.internet { ALLOW } else { EPERM };
            for name in ["accept", "accept4", "bind", "connect", "listen"] {
                assert_eq!(verdict(name, architecture, sockets), Some(expected), "{name} {sockets:?}");
            }
            for name in ["recvmsg", "sendmsg", "getsockopt", "shutdown"] {
                assert_eq!(verdict(name, architecture, sockets), Some(ALLOW), "{name} {sockets:?}");
            }
        }
    }
}

/// The verdict on a call with arguments, on x86_64 by its number there.
fn x86_64(number: u32, arguments: &[u64], sockets: Sockets) -> u32 {
    let mut six = [0; 6];
    six[..arguments.len()].copy_from_slice(arguments);
    let call = Call { number, audit: 0xC000_003E, arguments: six };
    run(&compile(Architecture::X86_64, sockets), call)
}

#[test]
fn clone_makes_threads_and_children_but_no_namespaces() {
    const CLONE: u32 = 56;
    // A thread and a child as glibc makes them.
    assert_eq!(x86_64(CLONE, &[0x003d_0f00], PROFILES[0]), ALLOW);
    assert_eq!(x86_64(CLONE, &[0x0120_0011], PROFILES[0]), ALLOW);
    let namespaces = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    for flag in namespaces {
        assert_eq!(x86_64(CLONE, &[flag as u64 | 17], PROFILES[0]), EPERM, "{flag:#x}");
        // The kernel looks at the low half only, so nothing in the high half helps.
        assert_eq!(x86_64(CLONE, &[flag as u64 | 1 << 40], PROFILES[0]), EPERM, "{flag:#x}");
    }
}

#[test]
fn sockets_are_those_of_the_profile_and_never_of_another_family() {
    const SOCKET: u32 = 41;
    const SOCKETPAIR: u32 = 53;
    for sockets in PROFILES {
        let unix = if sockets.unix { ALLOW } else { EPERM };
        let internet = if sockets.internet { ALLOW } else { EPERM };
        // With SOCK_CLOEXEC | SOCK_NONBLOCK, as runtimes ask for it.
        for kind in [1, 2, 0x8_0801, 0x8_0802] {
            assert_eq!(x86_64(SOCKET, &[1, kind, 0], sockets), unix, "AF_UNIX {kind:#x}");
            assert_eq!(x86_64(SOCKET, &[2, kind, 0], sockets), internet, "AF_INET {kind:#x}");
            assert_eq!(x86_64(SOCKET, &[10, kind, 0], sockets), internet, "AF_INET6 {kind:#x}");
        }
        // Raw and packet sockets, ICMP, SCTP, MPTCP.
        for (kind, protocol) in [(3, 0), (3, 255), (10, 0), (2, 1), (1, 132), (5, 132), (1, 262), (2, 136)] {
            assert_eq!(
                x86_64(SOCKET, &[2, kind, protocol], sockets),
                EPERM,
                "type {kind} protocol {protocol}"
            );
        }
        let others = (0..64).filter(|family| ![1, 2, 10].contains(family));
        for family in others.chain([0x101, 0xFFFF_FFFF, 1 << 31]) {
            for kind in [1, 2, 3, 5] {
                assert_eq!(x86_64(SOCKET, &[family, kind, 0], sockets), EPERM, "family {family} type {kind}");
                assert_eq!(
                    x86_64(SOCKETPAIR, &[family, kind, 0], sockets),
                    EPERM,
                    "family {family} type {kind}"
                );
            }
        }
        assert_eq!(x86_64(SOCKETPAIR, &[1, 0x8_0801, 0], sockets), ALLOW);
        assert_eq!(x86_64(SOCKETPAIR, &[1, 5, 0], sockets), ALLOW);
        assert_eq!(x86_64(SOCKETPAIR, &[1, 2, 0], sockets), unix, "a datagram end sends to any address");
        assert_eq!(x86_64(SOCKETPAIR, &[1, 3, 0], sockets), EPERM, "SOCK_RAW is a datagram by another name");
    }
}

#[test]
fn commands_beside_the_listed_ones_are_refused() {
    const MMAP: u32 = 9;
    const IOCTL: u32 = 16;
    const MKDIR: u32 = 83;
    const CHMOD: u32 = 90;
    const OPENAT: u32 = 257;
    const FCHMODAT: u32 = 268;
    const FCNTL: u32 = 72;
    const PRCTL: u32 = 157;
    const PRLIMIT64: u32 = 302;
    const MADVISE: u32 = 28;
    const ARCH_PRCTL: u32 = 158;
    let anonymous = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    let refused: &[(u32, &[u64])] = &[
        (MMAP, &[0, 4096, 3, 0x4_0022]),
        (OPENAT, &[0, 0, libc::O_CREAT as u64, 0o4755]),
        (OPENAT, &[0, 0, libc::O_TMPFILE as u64, 0o2755]),
        (CHMOD, &[0, 0o4755]),
        (FCHMODAT, &[0, 0, 0o2755]),
        (MKDIR, &[0, 0o2755]),
        (IOCTL, &[0, libc::TIOCSTI]),
        (IOCTL, &[0, 0x541C]),
        (IOCTL, &[0, libc::TIOCSCTTY]),
        // FICLONE
        (IOCTL, &[0, 0x4004_9409]),
        (IOCTL, &[0, libc::TIOCSTI | 1 << 32]),
        (FCNTL, &[0, libc::F_NOTIFY as u64]),
        (FCNTL, &[0, libc::F_SETLEASE as u64]),
        (FCNTL, &[0, libc::F_SETOWN as u64]),
        (FCNTL, &[0, libc::F_ADD_SEALS as u64]),
        (PRCTL, &[libc::PR_SET_PDEATHSIG as u64]),
        (PRCTL, &[libc::PR_SET_DUMPABLE as u64, 1]),
        (PRCTL, &[libc::PR_SET_SECCOMP as u64, 2]),
        (PRCTL, &[libc::PR_SET_MM as u64]),
        (PRCTL, &[libc::PR_SET_PTRACER as u64]),
        (PRCTL, &[libc::PR_CAP_AMBIENT as u64]),
        (PRCTL, &[libc::PR_SET_CHILD_SUBREAPER as u64, 1]),
        (PRLIMIT64, &[0, libc::RLIMIT_CORE as u64, 0x1000]),
        // A pointer whose low half is zero is a pointer all the same.
        (PRLIMIT64, &[0, libc::RLIMIT_CORE as u64, 1 << 32]),
        (PRLIMIT64, &[0, libc::RLIMIT_RTPRIO as u64, 0x1000]),
        (MADVISE, &[0, 0x1000, libc::MADV_MERGEABLE as u64]),
        (MADVISE, &[0, 0x1000, libc::MADV_HWPOISON as u64]),
        (MMAP, &[0, 0x20_0000, 3, anonymous | libc::MAP_HUGETLB as u64]),
        // Pages of 1 GiB: their size stands in the highest bits.
        (MMAP, &[0, 0x4000_0000, 3, anonymous | libc::MAP_HUGETLB as u64 | 30 << 26]),
        // ARCH_REQ_XCOMP_PERM, ARCH_SHSTK_ENABLE
        (ARCH_PRCTL, &[0x1023]),
        (ARCH_PRCTL, &[0x5001]),
    ];
    let allowed: &[(u32, &[u64])] = &[
        (MMAP, &[0, 4096, 3, 0x22]),
        (OPENAT, &[0, 0, 0, 0o4755]),
        (OPENAT, &[0, 0, libc::O_CREAT as u64, 0o755]),
        (CHMOD, &[0, 0o1777]),
        (IOCTL, &[0, libc::TCGETS]),
        (IOCTL, &[0, libc::FIONREAD]),
        (IOCTL, &[0, libc::FIONBIO]),
        (IOCTL, &[0, libc::FIOCLEX]),
        (IOCTL, &[0, libc::FIONCLEX]),
        (FCNTL, &[0, libc::F_DUPFD_CLOEXEC as u64]),
        (FCNTL, &[0, libc::F_SETPIPE_SZ as u64]),
        (PRCTL, &[libc::PR_SET_NAME as u64]),
        (PRCTL, &[libc::PR_CAPBSET_READ as u64]),
        (PRLIMIT64, &[0, libc::RLIMIT_CORE as u64, 0]),
        (PRLIMIT64, &[0, libc::RLIMIT_NOFILE as u64, 0x7FFF_0000_1000]),
        (MADVISE, &[0, 0x1000, libc::MADV_DONTNEED as u64]),
        (ARCH_PRCTL, &[0x1002]),
        (MMAP, &[0, 0x1000, 3, anonymous]),
        (MMAP, &[0, 0x1000, 5, (libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_DENYWRITE) as u64]),
    ];
    for sockets in PROFILES {
        for (number, arguments) in refused {
            assert_eq!(x86_64(*number, arguments, sockets), EPERM, "{number} {arguments:x?}");
        }
        for (number, arguments) in allowed {
            assert_eq!(x86_64(*number, arguments, sockets), ALLOW, "{number} {arguments:x?}");
        }
        // Record locks on shared files are a way to talk; a backend's database needs them.
        for command in [libc::F_GETLK, libc::F_SETLK, libc::F_SETLKW] {
            let wanted = if sockets.unix { ALLOW } else { EPERM };
            assert_eq!(x86_64(FCNTL, &[0, command as u64], sockets), wanted, "{command}");
        }
        assert_eq!(x86_64(FCNTL, &[0, libc::F_OFD_SETLK as u64], sockets), EPERM);
    }
}

#[test]
fn socket_options_are_those_of_the_profile() {
    const SETSOCKOPT: u32 = 54;
    for sockets in PROFILES {
        let internet = if sockets.internet { ALLOW } else { EPERM };
        // SO_REUSEADDR; TCP_NODELAY, IP_RECVERR, IPV6_V6ONLY.
        assert_eq!(x86_64(SETSOCKOPT, &[3, 1, 2], sockets), ALLOW);
        for (level, option) in [(6, 1), (0, 11), (41, 26)] {
            assert_eq!(x86_64(SETSOCKOPT, &[3, level, option], sockets), internet, "{level} {option}");
        }
        // SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_MARK, SO_BINDTODEVICE; TCP_ULP, TCP_REPAIR; packet filters of IP.
        for (level, option) in
            [(1, 26), (1, 50), (1, 36), (1, 25), (6, 31), (6, 19), (0, 64), (41, 64), (255, 1)]
        {
            assert_eq!(x86_64(SETSOCKOPT, &[3, level, option], sockets), EPERM, "{level} {option}");
        }
    }
}
