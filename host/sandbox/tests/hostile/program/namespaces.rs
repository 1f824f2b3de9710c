//! Out of the namespaces, into new ones, and at what lies in the same one.

use std::fs;
use std::os::fd::RawFd;

use crate::attempt::{Answer, Refusal, Verdict, Ways, at, call, fork, in_child, into, only, reap, text};
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("mount", mount),
    ("umount", umount),
    ("remount", remount),
    ("chroot", chroot),
    ("pivot-root", pivot_root),
    ("unshare", unshare),
    ("clone-newuser", clone_newuser),
    ("clone3", clone3),
    ("setns", setns),
    ("cgroup-escape", cgroup_escape),
    ("other-processes", other_processes),
    ("parent", parent),
    ("ptrace", ptrace),
    ("process-vm", process_vm),
    ("pidfd-getfd", pidfd_getfd),
    ("kcmp", kcmp),
    ("process-madvise", process_madvise),
    ("host-name-seen", host_name_seen),
];

const FOLDER: &std::ffi::CStr = c"/tmp";

/// A file system of the module's own, by the old calls and by the new ones.
fn mount(ground: &Ground) -> Verdict {
    let folder = text(ground.scratch());
    let place = folder.as_bytes_with_nul();
    let mounted = |answer: Answer| {
        answer?;
        // Nothing is left on a machine that lets it happen.
        call(libc::SYS_umount2, [at(place), libc::MNT_DETACH as usize])
    };
    Ways::default()
        .by("tmpfs", || mounted(call(libc::SYS_mount, [at(c"none"), at(place), at(c"tmpfs"), 0, 0])))
        .by("bind", || mounted(call(libc::SYS_mount, [at(c"/usr"), at(place), 0, libc::MS_BIND as usize, 0])))
        .by("proc", || mounted(call(libc::SYS_mount, [at(c"none"), at(place), at(c"proc"), 0, 0])))
        .by("fsopen", || call(libc::SYS_fsopen, [at(c"tmpfs"), 0]))
        .by("open_tree", || {
            const CLONE: usize = 1;
            call(libc::SYS_open_tree, [libc::AT_FDCWD as usize, at(c"/usr"), CLONE])
        })
        .by("fspick", || call(libc::SYS_fspick, [libc::AT_FDCWD as usize, at(FOLDER), 0]))
        .by("move_mount", || {
            // From nowhere: who refuses it is the question.
            match call(libc::SYS_move_mount, [usize::MAX, at(c""), usize::MAX, at(c""), 0]) {
                Err(refusal) if refusal != Refusal::errno(libc::EPERM) => Ok(0),
                answer => answer,
            }
        })
        .verdict()
}

/// Takes a mount away that hides something. Of a path that leads nowhere, so that no machine loses one.
fn umount(_: &Ground) -> Verdict {
    only("umount2", || call(libc::SYS_umount2, [at(c"/nowhere"), libc::MNT_DETACH as usize]))
}

/// Makes a read-only mount writable. Of a path that leads nowhere.
fn remount(_: &Ground) -> Verdict {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        namespace: u64,
    }
    let clear = Attributes { set: 0, clear: libc::MOUNT_ATTR_RDONLY, propagation: 0, namespace: 0 };
    let flags = (libc::MS_REMOUNT | libc::MS_BIND) as usize;
    Ways::default()
        .by("mount", || call(libc::SYS_mount, [0, at(c"/nowhere"), 0, flags, 0]))
        .by("mount_setattr", || {
            call(libc::SYS_mount_setattr, [libc::AT_FDCWD as usize, at(c"/nowhere"), 0, at(&clear), 32])
        })
        .verdict()
}

fn chroot(ground: &Ground) -> Verdict {
    let folder = text(ground.scratch());
    only("chroot", || in_child(|| call(libc::SYS_chroot, [at(folder.as_bytes_with_nul())])))
}

/// To a place that leads nowhere.
fn pivot_root(_: &Ground) -> Verdict {
    only("pivot_root", || call(libc::SYS_pivot_root, [at(c"/nowhere"), at(c"/nowhere")]))
}

const KINDS: [(&str, libc::c_int); 8] = [
    ("user", libc::CLONE_NEWUSER),
    ("mount", libc::CLONE_NEWNS),
    ("pid", libc::CLONE_NEWPID),
    ("net", libc::CLONE_NEWNET),
    ("ipc", libc::CLONE_NEWIPC),
    ("uts", libc::CLONE_NEWUTS),
    ("cgroup", libc::CLONE_NEWCGROUP),
    ("time", 0x80),
];

fn unshare(_: &Ground) -> Verdict {
    KINDS
        .iter()
        .fold(Ways::default(), |ways, (name, flag)| {
            ways.by(*name, || in_child(|| call(libc::SYS_unshare, [*flag as usize])))
                .by(format!("{name} in a user namespace"), || {
                    in_child(|| call(libc::SYS_unshare, [(flag | libc::CLONE_NEWUSER) as usize]))
                })
        })
        .verdict()
}

/// New namespaces for a child; a flag in the upper half of the register is none.
fn clone_newuser(_: &Ground) -> Verdict {
    let made = |flags: usize| -> Answer {
        match call(libc::SYS_clone, [flags | libc::SIGCHLD as usize, 0, 0, 0, 0])? {
            0 => crate::attempt::leave(0),
            child => reap(child as libc::pid_t),
        }
    };
    KINDS
        .iter()
        .filter(|(name, _)| *name != "time")
        .fold(Ways::default(), |ways, (name, flag)| ways.by(*name, || made(*flag as usize)))
        .by("all", || made(0x7E02_0000))
        .verdict()
}

/// The call whose flags lie in memory, where a filter cannot look.
fn clone3(_: &Ground) -> Verdict {
    let made = |flags: libc::c_int, group: u64| -> Answer {
        let arguments: [u64; 11] = [flags as u64, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0, 0, 0, group];
        match call(libc::SYS_clone3, [at(&arguments), size_of_val(&arguments)])? {
            0 => crate::attempt::leave(0),
            child => reap(child as libc::pid_t),
        }
    };
    Ways::default()
        .by("plain", || made(0, 0))
        .by("user", || made(libc::CLONE_NEWUSER, 0))
        .by("another clock", || made(0x80 | libc::CLONE_NEWUSER, 0))
        .verdict()
}

/// Into the namespaces of a process that it may look at: its own.
fn setns(_: &Ground) -> Verdict {
    only("setns", || {
        in_child(|| {
            let own = call(libc::SYS_pidfd_open, [std::process::id() as usize, 0])?;
            call(libc::SYS_setns, [own, libc::CLONE_NEWUTS as usize])
        })
    })
}

/// Opens what would move it to another group. Nothing is written.
fn cgroup_escape(_: &Ground) -> Verdict {
    let write = |path: &str| Ok::<_, Refusal>(fs::OpenOptions::new().write(true).open(path)?);
    let files = [
        "/sys/fs/cgroup/cgroup.procs",
        "/sys/fs/cgroup/unified/cgroup.procs",
        "/sys/fs/cgroup/memory/cgroup.procs",
        "/sys/fs/cgroup/pids/tasks",
        "/sys/fs/cgroup/release_agent",
        "/proc/self/oom_score_adj",
        "/proc/sys/kernel/core_pattern",
    ];
    Ways::default().each(files, write).verdict()
}

/// Processes that are not its own: those that it could signal.
fn other_processes(_: &Ground) -> Verdict {
    let own = std::process::id() as usize;
    let seen = (1..100_000usize).filter(|pid| *pid != own);
    let seen: Vec<String> = seen
        .filter(|pid| call(libc::SYS_kill, [*pid, 0]) != Err(Refusal::errno(libc::ESRCH)))
        .map(|pid| pid.to_string())
        .collect();
    if seen.is_empty() { Verdict::Stopped("alone".into()) } else { Verdict::Through(seen.join(" ")) }
}

/// Its parent, by every call that takes a process. Nothing is changed.
fn parent(_: &Ground) -> Verdict {
    // SAFETY: asks for a number.
    let parent = unsafe { libc::getppid() } as usize;
    if parent == 0 {
        return Verdict::Stopped("none 0".into());
    }
    Ways::default()
        .by("kill", || call(libc::SYS_kill, [parent, 0]))
        .by("pidfd", || call(libc::SYS_pidfd_open, [parent, 0]))
        .by("prlimit", || {
            let mut now = [0u64; 2];
            call(libc::SYS_prlimit64, [parent, libc::RLIMIT_NOFILE as usize, 0, into(&mut now)])
        })
        .by("session", || call(libc::SYS_getsid, [parent]))
        .verdict()
}

/// A child that waits for its end, for others to look into.
struct Victim(libc::pid_t);

impl Victim {
    fn new() -> Result<Self, Refusal> {
        match fork() {
            -1 => Err(Refusal::last()),
            0 => crate::lives::live(),
            child => Ok(Self(child)),
        }
    }

    fn pid(&self) -> usize {
        self.0 as usize
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        crate::attempt::end(&[self.0]);
    }
}

fn ptrace(_: &Ground) -> Verdict {
    Ways::default()
        .by("seize", || {
            let victim = Victim::new()?;
            call(libc::SYS_ptrace, [libc::PTRACE_SEIZE as usize, victim.pid(), 0, 0])
        })
        .by("attach", || {
            let victim = Victim::new()?;
            call(libc::SYS_ptrace, [libc::PTRACE_ATTACH as usize, victim.pid(), 0, 0])
        })
        .by("be traced", || in_child(|| call(libc::SYS_ptrace, [libc::PTRACE_TRACEME as usize, 0, 0, 0])))
        .verdict()
}

fn process_vm(_: &Ground) -> Verdict {
    let mut taken = [0u8; 8];
    let there = [7u8; 8];
    let here = libc::iovec { iov_base: taken.as_mut_ptr().cast(), iov_len: 8 };
    let other = libc::iovec { iov_base: there.as_ptr().cast_mut().cast(), iov_len: 8 };
    let go = |number| {
        let (here, other) = (at(&here), at(&other));
        move || {
            let victim = Victim::new()?;
            call(number, [victim.pid(), here, 1, other, 1, 0])
        }
    };
    Ways::default()
        .by("read", go(libc::SYS_process_vm_readv))
        .by("write", go(libc::SYS_process_vm_writev))
        .verdict()
}

fn pidfd_getfd(_: &Ground) -> Verdict {
    only("pidfd_getfd", || {
        let victim = Victim::new()?;
        let fd = call(libc::SYS_pidfd_open, [victim.pid(), 0])?;
        call(libc::SYS_pidfd_getfd, [fd, 1, 0])
    })
}

fn kcmp(_: &Ground) -> Verdict {
    only("kcmp", || {
        let victim = Victim::new()?;
        call(libc::SYS_kcmp, [std::process::id() as usize, victim.pid(), 0, 1, 1])
    })
}

fn process_madvise(_: &Ground) -> Verdict {
    let page = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
    let mut line = [0 as RawFd; 2];
    Ways::default()
        .by("process_madvise", || {
            let own = call(libc::SYS_pidfd_open, [std::process::id() as usize, 0])?;
            call(libc::SYS_process_madvise, [own, at(&page), 0, libc::MADV_COLD as usize, 0])
        })
        .by("process_mrelease", || {
            let victim = Victim::new()?;
            let fd = call(libc::SYS_pidfd_open, [victim.pid(), 0])?;
            // Not dying, so the kernel refuses it with EINVAL; asking it at all is the question.
            match call(libc::SYS_process_mrelease, [fd, 0]) {
                Err(refusal) if refusal == Refusal::errno(libc::EINVAL) => Ok(0),
                answer => answer,
            }
        })
        .by("move_pages", || call(libc::SYS_move_pages, [0, 0, 0, 0, into(&mut line), 0]))
        .verdict()
}

/// The machine's own name.
fn host_name_seen(ground: &Ground) -> Verdict {
    // SAFETY: plain data for which all zeros is a value.
    let mut names: libc::utsname = unsafe { std::mem::zeroed() };
    let _ = call(libc::SYS_uname, [into(&mut names)]);
    let name: String =
        names.nodename.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8 as char).collect();
    if name == ground.fact("host") { Verdict::Through(name) } else { Verdict::Stopped(name) }
}
