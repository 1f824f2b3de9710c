//! Processes and threads without end, and processes that outlive their parent.

use std::time::{Duration, Instant};

use crate::attempt::{Refusal, Verdict, Ways, at, call, counted, end, fork, leave, only, wait};
use crate::lives::{close_streams, detach, live};
use crate::{Behaviour, Ground};

/// Processes at one time, at most.
const MOST: u64 = 64;

pub(crate) const ALL: &[Behaviour] = &[
    ("fork-bomb", fork_bomb),
    ("clone-bomb", clone_bomb),
    ("thread-bomb", thread_bomb),
    ("setsid-storm", setsid_storm),
    ("daemon-holds-stdout", daemon_holds_stdout),
    ("disguise", disguise),
    ("exec-chain", exec_chain),
    ("clone-parent", clone_parent),
    ("spin-8", spin_8),
    ("spin-threads", spin_threads),
    ("pdeathsig", pdeathsig),
    ("subreaper", subreaper),
];

fn fork_bomb(_: &Ground) -> Verdict {
    let mut children = Vec::new();
    let mut refusal = None;
    while (children.len() as u64) < MOST {
        match fork() {
            -1 => {
                refusal = Some(Refusal::last());
                break;
            }
            0 => {
                detach();
                live()
            }
            child => children.push(child),
        }
    }
    let count = children.len() as u64;
    end(&children);
    counted(count, refusal)
}

/// The same by the raw call that shares nothing with libc.
fn clone_bomb(_: &Ground) -> Verdict {
    let mut children = Vec::new();
    let mut refusal = None;
    while (children.len() as u64) < MOST {
        // A fork that tells its parent nothing at its end and is waited for with __WALL only.
        match call(libc::SYS_clone, [libc::CLONE_FS as usize]) {
            Err(error) => {
                refusal = Some(error);
                break;
            }
            Ok(0) => {
                detach();
                live()
            }
            Ok(child) => children.push(child as libc::pid_t),
        }
    }
    let count = children.len() as u64;
    end(&children);
    counted(count, refusal)
}

fn thread_bomb(_: &Ground) -> Verdict {
    let mut refusal = None;
    let mut count = 0;
    while count < MOST {
        // They end with the process.
        let made = std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(|| std::thread::sleep(Duration::from_secs(120)));
        match made {
            Ok(_) => count += 1,
            Err(error) => {
                refusal = Some(error.into());
                break;
            }
        }
    }
    counted(count, refusal)
}

/// Processes that keep starting others, each in a session of its own, until they are killed. It says so once there
/// are as many as it gets.
fn setsid_storm(_: &Ground) -> Verdict {
    for _ in 0..MOST / 2 {
        match fork() {
            -1 => break,
            0 => {
                close_streams();
                storm()
            }
            _ => {}
        }
    }
    println!("storming");
    close_streams();
    storm()
}

fn storm() -> ! {
    let start = Instant::now();
    detach();
    while start.elapsed() < Duration::from_secs(120) {
        match fork() {
            // Gone again at once, so that numbers keep changing.
            0 => leave(0),
            -1 => std::thread::yield_now(),
            child => drop(wait(child)),
        }
    }
    leave(0)
}

/// A child that is not its own but its parent's, outside.
fn clone_parent(_: &Ground) -> Verdict {
    only("clone", || {
        match call(libc::SYS_clone, [(libc::CLONE_PARENT | libc::SIGCHLD) as usize, 0, 0, 0, 0])? {
            0 => leave(0),
            child => Ok(child),
        }
    })
}

/// Ends, and leaves a grandchild in a session of its own that keeps standard output open.
fn daemon_holds_stdout(_: &Ground) -> Verdict {
    if fork() == 0 {
        detach();
        if fork() == 0 {
            detach();
            live();
        }
        leave(0);
    }
    Verdict::Through("left something behind".into())
}

/// The same, as another program with nothing on its command line that tells where it came from.
fn disguise(_: &Ground) -> Verdict {
    if fork() == 0 {
        detach();
        if fork() == 0 {
            detach();
            let line = [at(c"[kworker/0:1]"), at(c"60"), 0];
            let environment = [0usize];
            let _ = call(libc::SYS_execve, [at(c"/usr/bin/sleep"), at(&line), at(&environment)]);
            live();
        }
        leave(0);
    }
    Verdict::Through("left something behind".into())
}

/// Each process starts the next and ends, so that no list of processes is ever right; 2 seconds.
fn exec_chain(_: &Ground) -> Verdict {
    println!("running away");
    close_streams();
    let start = Instant::now();
    if fork() == 0 {
        detach();
        while start.elapsed() < Duration::from_secs(2) {
            if fork() > 0 {
                leave(0);
            }
            detach();
        }
        leave(0);
    }
    live()
}

/// Eight processes that only use the processor, for 2 seconds. The counters outside tell what they got.
fn spin_8(_: &Ground) -> Verdict {
    let children: Vec<_> = (0..8)
        .map(|_| match fork() {
            0 => {
                spin();
                leave(0)
            }
            child => child,
        })
        .collect();
    children.iter().filter(|child| **child > 0).for_each(|child| drop(wait(*child)));
    Verdict::Through("spun".into())
}

/// The same with threads.
fn spin_threads(_: &Ground) -> Verdict {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(spin);
        }
    });
    Verdict::Through("spun".into())
}

fn spin() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        std::hint::spin_loop();
    }
}

/// Cuts the tie to whoever started it.
fn pdeathsig(_: &Ground) -> Verdict {
    let set = |signal: libc::c_int| {
        move || call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, signal as usize])
    };
    Ways::default().by("none", set(0)).by("a harmless one", set(libc::SIGCONT)).verdict()
}

/// Collects orphans that somebody else means to reap.
fn subreaper(_: &Ground) -> Verdict {
    Ways::default()
        .by("prctl", || call(libc::SYS_prctl, [libc::PR_SET_CHILD_SUBREAPER as usize, 1]))
        .verdict()
}
