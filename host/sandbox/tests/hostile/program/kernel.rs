//! The kernel's larger interfaces, and what it keeps between filters.

use crate::attempt::{Answer, Refusal, Verdict, Ways, at, call, in_child, into, only};
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("io-uring", io_uring),
    ("aio", aio),
    ("userfaultfd", userfaultfd),
    ("keyring", keyring),
    ("bpf", bpf),
    ("perf", perf),
    ("seccomp-again", seccomp_again),
    ("landlock-again", landlock_again),
    ("int80", int80),
    ("x32", x32),
    ("new-calls", new_calls),
    ("old-calls", old_calls),
    ("modify-ldt", modify_ldt),
    ("io-ports", io_ports),
    ("vmsplice", vmsplice),
    ("numa", numa),
    ("personality", personality),
    ("tiocsti", tiocsti),
    ("dumpable", dumpable),
    ("prctl-rest", prctl_rest),
    ("core-dump", core_dump),
    ("core-limit", core_limit),
    ("rlimit-raise", rlimit_raise),
    ("epoll-nesting", epoll_nesting),
    ("restartable", restartable),
];

fn io_uring(_: &Ground) -> Verdict {
    let mut parameters = [0u8; 120];
    Ways::default()
        .by("setup", || call(libc::SYS_io_uring_setup, [1, into(&mut parameters)]))
        .by("enter", || call(libc::SYS_io_uring_enter, [usize::MAX, 0, 0, 0, 0, 0]))
        .by("register", || call(libc::SYS_io_uring_register, [usize::MAX, 0, 0, 0]))
        .verdict()
}

fn aio(_: &Ground) -> Verdict {
    let mut context = 0usize;
    only("io_setup", || {
        call(libc::SYS_io_setup, [1, into(&mut context)])?;
        call(libc::SYS_io_destroy, [context])
    })
}

fn userfaultfd(_: &Ground) -> Verdict {
    /// UFFD_USER_MODE_ONLY, with which ordinary users may.
    const USER_ONLY: usize = 1;
    only("userfaultfd", || call(libc::SYS_userfaultfd, [USER_ONLY]))
}

/// Keys outlive processes and are shared by all of a user.
fn keyring(_: &Ground) -> Verdict {
    /// KEY_SPEC_PROCESS_KEYRING, KEYCTL_GET_KEYRING_ID.
    const PROCESS: usize = (-2isize) as usize;
    const GET_ID: usize = 0;
    Ways::default()
        .by("add_key", || call(libc::SYS_add_key, [at(c"user"), at(c"modberth"), at(b"x"), 1, PROCESS]))
        .by("keyctl", || call(libc::SYS_keyctl, [GET_ID, PROCESS, 1]))
        .by("request_key", || {
            match call(libc::SYS_request_key, [at(c"user"), at(c"modberth-none"), 0, PROCESS]) {
                // ENOKEY: the kernel has looked.
                Err(refusal) if refusal == Refusal::errno(libc::ENOKEY) => Ok(0),
                answer => answer,
            }
        })
        .verdict()
}

/// A map of one element.
fn bpf(_: &Ground) -> Verdict {
    let create = [2u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    only("map", || call(libc::SYS_bpf, [0, at(&create), 72]))
}

/// A software counter of its own process.
fn perf(_: &Ground) -> Verdict {
    let mut event = [0u64; 16];
    // Type 1 (software), size 128; counts nothing of the kernel (exclude_kernel and exclude_hv).
    event[0] = 1 | 128 << 32;
    event[5] = 1 << 5 | 1 << 6;
    only("perf_event_open", || call(libc::SYS_perf_event_open, [at(&event), 0, usize::MAX, usize::MAX, 0]))
}

/// Another filter above the first, which could answer in its place.
fn seccomp_again(_: &Ground) -> Verdict {
    let mut allow = libc::sock_filter { code: 6, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
    let program = libc::sock_fprog { len: 1, filter: &raw mut allow };
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as usize;
    let mode = libc::SECCOMP_SET_MODE_FILTER as usize;
    let (program, none) = (at(&program), libc::SECCOMP_MODE_FILTER as usize);
    Ways::default()
        .by("seccomp", || in_child(|| call(libc::SYS_seccomp, [mode, 0, program])))
        .by("listener", || in_child(|| call(libc::SYS_seccomp, [mode, listener, program])))
        .by("prctl", || in_child(|| call(libc::SYS_prctl, [libc::PR_SET_SECCOMP as usize, none, program])))
        .verdict()
}

/// Rulesets of its own, up to the number that the kernel stacks.
fn landlock_again(_: &Ground) -> Verdict {
    only("create", || call(libc::SYS_landlock_create_ruleset, [0, 0, 1]))
}

/// A call by the convention of 32 bits, which has numbers of its own: 20 is getpid there and writev here.
#[cfg(target_arch = "x86_64")]
fn int80(_: &Ground) -> Verdict {
    only("getpid", || {
        in_child(|| {
            let answer: isize;
            // SAFETY: getpid takes nothing and changes nothing but its answer.
            unsafe { core::arch::asm!("int 0x80", inlateout("rax") 20isize => answer) };
            usize::try_from(answer).map_err(|_| Refusal::errno(-answer as i32))
        })
    })
}

/// The third convention: a bit in the number.
#[cfg(target_arch = "x86_64")]
fn x32(_: &Ground) -> Verdict {
    const BIT: libc::c_long = 0x4000_0000;
    Ways::default()
        .by("getpid", || call(BIT | libc::SYS_getpid, []))
        .by("execve of x32", || call(BIT | 520, [0, 0, 0]))
        .by("ioctl of x32", || call(BIT | 514, [0, 0x5401, 0]))
        .by("ptrace of x32", || call(BIT | 521, [0, 0, 0, 0]))
        .verdict()
}

#[cfg(not(target_arch = "x86_64"))]
fn int80(_: &Ground) -> Verdict {
    Verdict::Stopped("absent".into())
}

#[cfg(not(target_arch = "x86_64"))]
fn x32(_: &Ground) -> Verdict {
    Verdict::Stopped("absent".into())
}

/// Calls that are younger than any filter of today knows: from cachestat (Linux 6.5) on.
fn new_calls(_: &Ground) -> Verdict {
    (451..560)
        .fold(Ways::default(), |ways, number| {
            ways.by(number.to_string(), || match call(number, [usize::MAX, 0, 0, 0, usize::MAX, 0]) {
                Err(refusal) if refusal == Refusal::errno(libc::ENOSYS) => Err(refusal),
                // Whatever it says to arguments that make no sense: the kernel was asked.
                _ => Ok(0),
            })
        })
        .verdict()
}

/// Calls that no program of today makes, with arguments that make no sense.
fn old_calls(_: &Ground) -> Verdict {
    #[cfg(target_arch = "x86_64")]
    const CALLS: &[(&str, libc::c_long)] = &[
        ("uselib", 134),
        ("ustat", 136),
        ("sysfs", 139),
        ("remap_file_pages", 216),
        ("lookup_dcookie", 212),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    const CALLS: &[(&str, libc::c_long)] = &[("remap_file_pages", 234), ("lookup_dcookie", 18)];
    CALLS
        .iter()
        .fold(Ways::default(), |ways, (name, number)| {
            ways.by(*name, || match call(*number, [usize::MAX; 6]) {
                Err(refusal) if [libc::EPERM, libc::ENOSYS].map(Refusal::errno).contains(&refusal) => {
                    Err(refusal)
                }
                // The kernel has looked at them.
                _ => Ok(0),
            })
        })
        .verdict()
}

#[cfg(target_arch = "x86_64")]
fn modify_ldt(_: &Ground) -> Verdict {
    let mut table = [0u8; 16];
    only("read", || call(libc::SYS_modify_ldt, [0, into(&mut table), 16]))
}

/// A port that nothing is behind, given back at once.
#[cfg(target_arch = "x86_64")]
fn io_ports(_: &Ground) -> Verdict {
    let take = |port: usize| {
        call(libc::SYS_ioperm, [port, 1, 1])?;
        call(libc::SYS_ioperm, [port, 1, 0])
    };
    Ways::default()
        .by("ioperm", || take(0x80))
        .by("iopl", || match call(libc::SYS_iopl, [4]) {
            // No such level: the kernel was asked.
            Err(refusal) if refusal == Refusal::errno(libc::EINVAL) => Ok(0),
            answer => answer,
        })
        .verdict()
}

#[cfg(not(target_arch = "x86_64"))]
fn modify_ldt(_: &Ground) -> Verdict {
    Verdict::Stopped("absent".into())
}

#[cfg(not(target_arch = "x86_64"))]
fn io_ports(_: &Ground) -> Verdict {
    Verdict::Stopped("absent".into())
}

/// Pages that lie in a pipe and in memory at once.
fn vmsplice(_: &Ground) -> Verdict {
    let page = [0u8; 64];
    let part = libc::iovec { iov_base: page.as_ptr().cast_mut().cast(), iov_len: 64 };
    let mut line = [0i32; 2];
    only("vmsplice", || {
        call(libc::SYS_pipe2, [into(&mut line), 0])?;
        call(libc::SYS_vmsplice, [line[1] as usize, at(&part), 1, 0])
    })
}

/// Where memory lies.
fn numa(_: &Ground) -> Verdict {
    let mut mode = 0i32;
    Ways::default()
        .by("set_mempolicy", || call(libc::SYS_set_mempolicy, [0, 0, 0]))
        .by("get_mempolicy", || call(libc::SYS_get_mempolicy, [into(&mut mode), 0, 0, 0, 0]))
        .by("migrate_pages", || call(libc::SYS_migrate_pages, [0, 0, 0, 0]))
        .verdict()
}

/// Asks what it is, and sets that; memory without random places is what an exploit wants.
fn personality(_: &Ground) -> Verdict {
    Ways::default()
        .by("ask", || call(libc::SYS_personality, [0xffff_ffff]))
        .by("set", || in_child(|| call(libc::SYS_personality, [libc::ADDR_NO_RANDOMIZE as usize]).map(|_| 0)))
        .verdict()
}

/// Types into the terminal of whoever started it.
fn tiocsti(_: &Ground) -> Verdict {
    let mut letter = b'x';
    let selection = [1u8, 3, 0, 0];
    let mut to =
        |fd: usize, request: libc::c_ulong| call(libc::SYS_ioctl, [fd, request as usize, into(&mut letter)]);
    let answers = [0, 1, 2].map(|fd| (format!("type into {fd}"), to(fd, libc::TIOCSTI)));
    let steal = to(0, libc::TIOCSCTTY);
    answers
        .into_iter()
        .fold(Ways::default(), |ways, (name, answer)| ways.by(name, || answer))
        .by("take", || steal)
        .by("paste", || call(libc::SYS_ioctl, [0, TIOCLINUX, at(&selection)]))
        .by("high bits", || {
            // The kernel cuts the request to 32 bits; so must a filter.
            call(libc::SYS_ioctl, [0, 1 << 32 | libc::TIOCSTI as usize, at(&selection)])
        })
        .verdict()
}

const TIOCLINUX: usize = 0x541C;

/// Hides its memory from whoever reads limits and counters of it.
fn dumpable(_: &Ground) -> Verdict {
    only("off", || call(libc::SYS_prctl, [libc::PR_SET_DUMPABLE as usize, 0]))
}

/// All that prctl can set, with values that do no harm: what is stopped is asking.
fn prctl_rest(_: &Ground) -> Verdict {
    let options = [
        ("PR_SET_UNALIGN", 6, 0),
        ("PR_SET_KEEPCAPS", 8, 0),
        ("PR_SET_TIMING", 14, 0),
        ("PR_SET_SECCOMP", 22, 0),
        ("PR_CAPBSET_DROP", 24, 40),
        ("PR_SET_TSC", 26, 1),
        ("PR_SET_SECUREBITS", 28, 0),
        ("PR_SET_TIMERSLACK", 29, 50_000),
        ("PR_MCE_KILL", 33, 0),
        ("PR_SET_MM", 35, 1),
        ("PR_SET_CHILD_SUBREAPER", 36, 0),
        ("PR_SET_THP_DISABLE", 41, 0),
        ("PR_CAP_AMBIENT", 47, 4),
        ("PR_SET_SPECULATION_CTRL", 53, 0),
        ("PR_SET_IO_FLUSHER", 57, 0),
        ("PR_SCHED_CORE", 62, 0),
        ("PR_SET_MDWE", 65, 0),
        ("PR_SET_PTRACER", 0x5961_6d61, 0),
    ];
    let named = options.iter().fold(Ways::default(), |ways, (name, option, value)| {
        ways.by(*name, || {
            in_child(|| match call(libc::SYS_prctl, [*option, *value, 0, 0, 0]) {
                Err(refusal) if refusal == Refusal::errno(libc::EPERM) => Err(refusal),
                _ => Ok(0),
            })
        })
    });
    named.verdict()
}

/// An image of its memory on the machine's disk, or in whatever the machine hands it to.
fn core_dump(ground: &Ground) -> Verdict {
    let _ = std::env::set_current_dir(ground.scratch());
    let most = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    let soft = {
        let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        let _ = call(libc::SYS_prlimit64, [0, libc::RLIMIT_CORE as usize, 0, into(&mut now)]);
        libc::rlimit { rlim_cur: now.rlim_max, rlim_max: now.rlim_max }
    };
    for limit in [most, soft] {
        let _ = call(libc::SYS_prlimit64, [0, libc::RLIMIT_CORE as usize, at(&limit), 0]);
    }
    let child = match crate::attempt::fork() {
        0 => std::process::abort(),
        child => child,
    };
    match crate::attempt::wait(child) {
        Ok(status) if libc::WCOREDUMP(status) => Verdict::Through("dumped".into()),
        Ok(_) => Verdict::Stopped("no-core".into()),
        Err(refusal) => Verdict::Stopped(refusal.to_string()),
    }
}

/// A limit of 0 on core files starts the machine's program for them, if there is one.
fn core_limit(_: &Ground) -> Verdict {
    let zero = [0u64; 2];
    Ways::default()
        .by("prlimit", || {
            in_child(|| call(libc::SYS_prlimit64, [0, libc::RLIMIT_CORE as usize, at(&zero), 0]))
        })
        .by("setrlimit", || in_child(|| call(libc::SYS_setrlimit, [libc::RLIMIT_CORE as usize, at(&zero)])))
        .verdict()
}

/// Limits above what it was given.
fn rlimit_raise(_: &Ground) -> Verdict {
    let limits = [
        ("open files", libc::RLIMIT_NOFILE),
        ("file size", libc::RLIMIT_FSIZE),
        ("processor", libc::RLIMIT_CPU),
        ("locked", libc::RLIMIT_MEMLOCK),
        ("signals", libc::RLIMIT_SIGPENDING),
        ("queues", libc::RLIMIT_MSGQUEUE),
        ("nice", libc::RLIMIT_NICE),
        ("realtime", libc::RLIMIT_RTPRIO),
    ];
    let raise = |resource: usize| -> Answer {
        let mut now = [0u64; 2];
        call(libc::SYS_prlimit64, [0, resource, 0, into(&mut now)])?;
        let [soft, hard] = now;
        if hard == u64::MAX {
            // A profile without this limit: there is nothing to raise.
            return Err(Refusal::errno(libc::EPERM));
        }
        in_child(|| call(libc::SYS_prlimit64, [0, resource, at(&[soft, hard + 1]), 0]))
    };
    limits
        .iter()
        .fold(Ways::default(), |ways, (name, resource)| ways.by(*name, || raise(*resource as usize)))
        .verdict()
}

/// Descriptors that wait for descriptors that wait for …
fn epoll_nesting(_: &Ground) -> Verdict {
    let mut last = match call(libc::SYS_epoll_create1, [0]) {
        Ok(fd) => fd,
        Err(refusal) => return crate::attempt::counted(0, Some(refusal)),
    };
    for depth in 0..32 {
        let next = call(libc::SYS_epoll_create1, [0]).and_then(|next| {
            let event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
            call(libc::SYS_epoll_ctl, [next, libc::EPOLL_CTL_ADD as usize, last, at(&event)])?;
            Ok(next)
        });
        match next {
            Ok(fd) => last = fd,
            Err(refusal) => return crate::attempt::counted(depth, Some(refusal)),
        }
    }
    crate::attempt::counted(32, None)
}

/// A thread's list of locks that leads nowhere: the kernel walks it when the thread ends.
fn restartable(_: &Ground) -> Verdict {
    let child = in_child(|| {
        // A list whose only element is itself, so it has no end.
        let mut head = [0usize; 3];
        head[0] = at(&head);
        call(libc::SYS_set_robust_list, [at(&head), 24])
    });
    match child {
        Ok(_) => Verdict::Stopped("ended".into()),
        Err(refusal) => Verdict::Stopped(refusal.to_string()),
    }
}
