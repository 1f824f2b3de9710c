//! Memory without end, in all the places where the kernel keeps it.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::attempt::{Refusal, Verdict, Ways, at, call, counted, fork, into, only, wait};
use crate::{Behaviour, Ground};

/// Memory at one time, at most.
const MOST: u64 = 256 << 20;
const PAGE: usize = 4096;
/// Children among which a hoard is split, below the number of tasks that a module has.
const HOARDERS: u64 = 28;

pub(crate) const ALL: &[Behaviour] = &[
    ("memory-bomb", memory_bomb),
    ("memory-bomb-children", memory_bomb_children),
    ("shared-memory-bomb", shared_memory_bomb),
    ("page-tables", page_tables),
    ("many-maps", many_maps),
    ("pipe-memory", pipe_memory),
    ("socketpair-memory", socketpair_memory),
    ("memfd", memfd),
    ("memfd-secret", memfd_secret),
    ("sysv-shm", sysv_shm),
    ("sysv-sem", sysv_sem),
    ("sysv-msg", sysv_msg),
    ("posix-mq", posix_mq),
    ("mlock", mlock),
    ("huge-pages", huge_pages),
    ("ksm", ksm),
    ("madvise-rest", madvise_rest),
];

/// Anonymous memory.
fn map(length: usize, protection: libc::c_int, flags: libc::c_int) -> Result<*mut u8, Refusal> {
    // SAFETY: new memory, at a place of the kernel's choice.
    let place =
        unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags | libc::MAP_ANONYMOUS, -1, 0) };
    if place == libc::MAP_FAILED { Err(Refusal::last()) } else { Ok(place.cast()) }
}

const BOTH: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

/// Takes memory and writes to every page of it. Gives how much it got.
fn take(bytes: u64, flags: libc::c_int, note: impl Fn(u64)) -> Result<(), Refusal> {
    const CHUNK: usize = 1 << 20;
    for _ in 0..bytes / CHUNK as u64 {
        let place = map(CHUNK, BOTH, flags)?;
        for offset in (0..CHUNK).step_by(PAGE) {
            // SAFETY: inside the memory that was just made.
            unsafe { place.add(offset).write_volatile(1) };
        }
        note(CHUNK as u64);
    }
    Ok(())
}

fn memory_bomb(_: &Ground) -> Verdict {
    let got = AtomicU64::new(0);
    let refusal = take(MOST, libc::MAP_PRIVATE, |bytes| {
        got.fetch_add(bytes, Relaxed);
    })
    .err();
    counted(got.into_inner(), refusal)
}

/// Pages that belong to no process.
fn shared_memory_bomb(_: &Ground) -> Verdict {
    let got = AtomicU64::new(0);
    let refusal = take(MOST, libc::MAP_SHARED, |bytes| {
        got.fetch_add(bytes, Relaxed);
    });
    counted(got.into_inner(), refusal.err())
}

/// Takes so many bytes of something, and says each time how many more it has.
type Work = fn(u64, &dyn Fn(u64)) -> Result<(), Refusal>;

/// Several children take something at once; each does `work` for its part of [`MOST`] and says how much it got. They
/// keep all of it until every one of them has what it wanted or is dead. Only what the living hold counts.
fn hoard(work: Work) -> Verdict {
    let held = match map(PAGE, BOTH, libc::MAP_SHARED) {
        // SAFETY: a page of zeros, larger than the array, that lives to the end of the process.
        Ok(place) => unsafe { &*place.cast::<[AtomicU64; HOARDERS as usize]>() },
        Err(refusal) => return counted(0, Some(refusal)),
    };
    let mut line = [0 as RawFd; 2];
    if let Err(refusal) = call(libc::SYS_pipe2, [into(&mut line), 0]) {
        return counted(0, Some(refusal));
    }
    let [read, write] = line;
    let mut children = Vec::new();
    let mut refusal = None;
    for own in held {
        match fork() {
            -1 => refusal = Some(Refusal::last()),
            0 => {
                let _ = work(MOST / HOARDERS, &|bytes| {
                    own.fetch_add(bytes, Relaxed);
                });
                let _ = call(libc::SYS_close, [write as usize]);
                crate::lives::live()
            }
            child => children.push((child, own)),
        }
    }
    let _ = call(libc::SYS_close, [write as usize]);
    // It ends when the last child has closed its end or died.
    let mut byte = 0u8;
    while matches!(call(libc::SYS_read, [read as usize, into(&mut byte), 1]), Ok(1)) {}
    let mut total = 0;
    for (child, own) in children {
        // Not the signal that the kernel ends one with for its memory.
        let _ = call(libc::SYS_kill, [child as usize, libc::SIGTERM as usize]);
        if wait(child)
            .is_ok_and(|status| libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGTERM)
        {
            total += own.load(Relaxed);
        }
    }
    // Parts are rounded down to whole pieces.
    if total < MOST / 10 * 8 {
        refusal = refusal.or_else(|| Some(Refusal::other("short")));
    }
    counted(total, refusal)
}

fn memory_bomb_children(_: &Ground) -> Verdict {
    hoard(|bytes, note| take(bytes, libc::MAP_PRIVATE, note))
}

/// Memory that is only tables: one page of them for each two megabytes that are looked at.
fn page_tables(_: &Ground) -> Verdict {
    const SPAN: usize = 2 << 20;
    let count = MOST as usize / PAGE;
    let flags = libc::MAP_PRIVATE | libc::MAP_NORESERVE;
    let place = match map(count * SPAN, libc::PROT_READ, flags) {
        Ok(place) => place,
        Err(refusal) => return counted(0, Some(refusal)),
    };
    // Else one huge page of zeros stands for each span, without a table.
    let _ = call(libc::SYS_madvise, [place as usize, count * SPAN, libc::MADV_NOHUGEPAGE as usize]);
    let mut sum = 0u64;
    for index in 0..count {
        // SAFETY: inside the memory that was just made.
        sum += u64::from(unsafe { place.add(index * SPAN).read_volatile() });
    }
    counted((count * PAGE) as u64 + sum, None)
}

/// As many separate pieces of memory as there can be.
fn many_maps(_: &Ground) -> Verdict {
    const PIECES: u64 = 100_000;
    for count in 0..PIECES {
        // Neighbours that differ are not merged.
        let protection = if count % 2 == 0 { libc::PROT_NONE } else { libc::PROT_READ };
        if let Err(refusal) = map(PAGE, protection, libc::MAP_PRIVATE | libc::MAP_NORESERVE) {
            return counted(count, Some(refusal));
        }
    }
    counted(PIECES, None)
}

/// What a pipe holds.
fn pipe_memory(_: &Ground) -> Verdict {
    hoard(|bytes, note| {
        let mut got = 0;
        let page = [1u8; PAGE];
        while got < bytes {
            let mut line = [0 as RawFd; 2];
            call(libc::SYS_pipe2, [into(&mut line), libc::O_NONBLOCK as usize])?;
            let [_, write] = line;
            // Refused beyond what the machine grants a user; the pipe then keeps its first size.
            let _ = call(libc::SYS_fcntl, [write as usize, libc::F_SETPIPE_SZ as usize, 1 << 20]);
            while got < bytes {
                match call(libc::SYS_write, [write as usize, at(&page), PAGE]) {
                    Ok(more) => {
                        note(more as u64);
                        got += more as u64;
                    }
                    Err(_) => break,
                }
            }
        }
        Ok(())
    })
}

/// What a pair of sockets holds.
fn socketpair_memory(_: &Ground) -> Verdict {
    hoard(|bytes, note| {
        let mut got = 0;
        let page = [1u8; PAGE];
        while got < bytes {
            let mut pair = [0 as RawFd; 2];
            let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK;
            call(libc::SYS_socketpair, [libc::AF_UNIX as usize, kind as usize, 0, into(&mut pair)])?;
            let before = got;
            for end in pair {
                let most = 8usize << 20;
                let _ = call(
                    libc::SYS_setsockopt,
                    [
                        end as usize,
                        libc::SOL_SOCKET as usize,
                        libc::SO_SNDBUF as usize,
                        at(&(most as u32)),
                        4,
                    ],
                );
                while got < bytes {
                    match call(libc::SYS_sendto, [end as usize, at(&page), PAGE, 0, 0, 0]) {
                        Ok(more) => {
                            note(more as u64);
                            got += more as u64;
                        }
                        Err(_) => break,
                    }
                }
            }
            if got == before {
                return Err(Refusal::other("full"));
            }
        }
        Ok(())
    })
}

/// A file that lies in no file system, written and run.
fn memfd(_: &Ground) -> Verdict {
    let make = || call(libc::SYS_memfd_create, [at(c"m"), 0]);
    Ways::default()
        .by("write", || {
            let fd = make()?;
            call(libc::SYS_write, [fd, at(&[1u8; PAGE]), PAGE])
        })
        .by("run", || {
            let fd = make()?;
            let program = std::fs::read("/usr/bin/true")?;
            call(libc::SYS_write, [fd, program.as_ptr() as usize, program.len()])?;
            crate::attempt::in_child(|| {
                let line = [at(c"true"), 0];
                call(
                    libc::SYS_execveat,
                    [fd, at(c""), at(&line), at(&[0usize]), libc::AT_EMPTY_PATH as usize],
                )
            })
        })
        .verdict()
}

fn memfd_secret(_: &Ground) -> Verdict {
    only("memfd_secret", || call(libc::SYS_memfd_secret, [0]))
}

/// Memory that stays when all processes are gone.
fn sysv_shm(_: &Ground) -> Verdict {
    only("shmget", || {
        let id = call(libc::SYS_shmget, [libc::IPC_PRIVATE as usize, 1 << 20, 0o600])?;
        call(libc::SYS_shmctl, [id, libc::IPC_RMID as usize, 0])
    })
}

fn sysv_sem(_: &Ground) -> Verdict {
    only("semget", || {
        let id = call(libc::SYS_semget, [libc::IPC_PRIVATE as usize, 1, 0o600])?;
        call(libc::SYS_semctl, [id, 0, libc::IPC_RMID as usize])
    })
}

fn sysv_msg(_: &Ground) -> Verdict {
    only("msgget", || {
        let id = call(libc::SYS_msgget, [libc::IPC_PRIVATE as usize, 0o600])?;
        call(libc::SYS_msgctl, [id, libc::IPC_RMID as usize, 0])
    })
}

fn posix_mq(_: &Ground) -> Verdict {
    only("mq_open", || {
        let name = c"modberth-hostile";
        let flags = libc::O_CREAT | libc::O_RDWR;
        call(libc::SYS_mq_open, [at(name), flags as usize, 0o600, 0])?;
        call(libc::SYS_mq_unlink, [at(name)])
    })
}

/// Memory that cannot be moved away.
fn mlock(_: &Ground) -> Verdict {
    const LENGTH: usize = 1 << 20;
    let lock = || {
        let place = map(LENGTH, BOTH, libc::MAP_PRIVATE)?;
        call(libc::SYS_mlock, [place as usize, LENGTH])?;
        call(libc::SYS_munlock, [place as usize, LENGTH])
    };
    Ways::default()
        .by("mlock", lock)
        .by("MAP_LOCKED", || map(LENGTH, BOTH, libc::MAP_PRIVATE | libc::MAP_LOCKED).map(drop))
        .verdict()
}

/// Pages of a pool that no memory limit counts.
fn huge_pages(_: &Ground) -> Verdict {
    only("MAP_HUGETLB", || map(2 << 20, BOTH, libc::MAP_PRIVATE | libc::MAP_HUGETLB).map(drop))
}

/// Merges pages with those of other processes, which tells what those hold.
fn ksm(_: &Ground) -> Verdict {
    let advice = || {
        let place = map(PAGE, BOTH, libc::MAP_PRIVATE)?;
        call(libc::SYS_madvise, [place as usize, PAGE, libc::MADV_MERGEABLE as usize])
    };
    /// PR_SET_MEMORY_MERGE.
    const MERGE: usize = 67;
    Ways::default().by("madvise", advice).by("prctl", || call(libc::SYS_prctl, [MERGE, 1])).verdict()
}

/// Advice that reaches beyond its own pages: what the machine swaps, merges, and takes for broken. That last one is
/// given for no page at all.
fn madvise_rest(_: &Ground) -> Verdict {
    let page = match map(PAGE, BOTH, libc::MAP_PRIVATE) {
        Ok(place) => place as usize,
        Err(refusal) => return Verdict::Stopped(refusal.to_string()),
    };
    let advice = [
        ("UNMERGEABLE", 13, PAGE),
        ("COLD", 20, PAGE),
        ("PAGEOUT", 21, PAGE),
        ("COLLAPSE", 25, PAGE),
        ("HWPOISON", 100, 0),
        ("SOFT_OFFLINE", 101, 0),
        ("GUARD_INSTALL", 102, PAGE),
    ];
    advice
        .iter()
        .fold(Ways::default(), |ways, (name, number, length)| {
            ways.by(*name, || call(libc::SYS_madvise, [page, *length, *number]))
        })
        .verdict()
}
