//! Signals: too many, to others, and none taken.

use crate::attempt::{Verdict, Ways, at, call, counted, fork, into};
use crate::lives::{close_streams, detach, ignore_signals, live};
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("stop-self", stop_self),
    ("stopped-child-left", stopped_child_left),
    ("ignore-signals", ignore),
    ("outlive-backstop", ignore),
    ("close-streams", close),
    ("signal-flood", signal_flood),
    ("timers-flood", timers_flood),
    ("kill-everybody", kill_everybody),
    ("host-signalled", host_signalled),
];

/// A process that does not run cannot be asked anything. Process 1 of a namespace cannot do that to itself.
fn stop_self(_: &Ground) -> Verdict {
    let own = std::process::id() as usize;
    if own != 1 {
        return Verdict::Through("not process 1".into());
    }
    for signal in [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGKILL] {
        let _ = call(libc::SYS_kill, [own, signal as usize]);
    }
    Verdict::Stopped("unheard".into())
}

/// Ends and leaves a child that stopped itself.
fn stopped_child_left(_: &Ground) -> Verdict {
    if fork() == 0 {
        detach();
        close_streams();
        // SAFETY: stops this process.
        unsafe { libc::raise(libc::SIGSTOP) };
        live();
    }
    Verdict::Through("left something behind".into())
}

fn ignore(_: &Ground) -> Verdict {
    println!("ignoring");
    ignore_signals();
    live()
}

/// End of output is not the end.
fn close(_: &Ground) -> Verdict {
    close_streams();
    live()
}

/// Signals that wait.
fn signal_flood(_: &Ground) -> Verdict {
    const MOST: u64 = 1000;
    let own = std::process::id() as usize;
    let blocked = [1u64 << (REALTIME - 1)];
    let _ = call(libc::SYS_rt_sigprocmask, [libc::SIG_BLOCK as usize, at(&blocked), 0, 8]);
    // si_code: SI_QUEUE.
    let mut info = [0i32; 32];
    info[0] = REALTIME;
    info[2] = -1;
    for count in 0..MOST {
        if let Err(refusal) = call(libc::SYS_rt_sigqueueinfo, [own, REALTIME as usize, at(&info)]) {
            return counted(count, Some(refusal));
        }
    }
    counted(MOST, None)
}

/// The first that libc leaves alone.
const REALTIME: i32 = 35;

fn timers_flood(_: &Ground) -> Verdict {
    const MOST: u64 = 1000;
    for count in 0..MOST {
        let mut timer = 0i32;
        if let Err(refusal) =
            call(libc::SYS_timer_create, [libc::CLOCK_MONOTONIC as usize, 0, into(&mut timer)])
        {
            return counted(count, Some(refusal));
        }
    }
    counted(MOST, None)
}

/// Everybody whom it can reach: two children that ignore what can be ignored, and nobody else. Where it is not process
/// 1 of its namespace nothing is sent, because that could be anybody.
fn kill_everybody(_: &Ground) -> Verdict {
    if std::process::id() != 1 {
        return Verdict::Through("not process 1".into());
    }
    let children = [fork_ignoring(), fork_ignoring()];
    let _ = call(libc::SYS_kill, [usize::MAX, libc::SIGKILL as usize]);
    let dead = children.iter().filter(|child| crate::attempt::wait(**child).is_ok()).count();
    Verdict::Stopped(format!("its-own {dead}"))
}

fn fork_ignoring() -> libc::pid_t {
    match fork() {
        0 => {
            detach();
            live()
        }
        child => child,
    }
}

/// The host, by the number that it has outside. Signal 0 asks only.
fn host_signalled(ground: &Ground) -> Verdict {
    let host: usize = ground.fact("pid").parse().unwrap_or(0);
    let group = host.wrapping_neg();
    Ways::default()
        .by("kill", || call(libc::SYS_kill, [host, 0]))
        .by("its group", || call(libc::SYS_kill, [group, 0]))
        .by("thread", || call(libc::SYS_tkill, [host, 0]))
        .by("pidfd", || call(libc::SYS_pidfd_open, [host, 0]))
        .by("limits", || {
            let mut now = [0u64; 2];
            call(libc::SYS_prlimit64, [host, libc::RLIMIT_NOFILE as usize, 0, into(&mut now)])
        })
        .by("scheduler", || call(libc::SYS_sched_getscheduler, [host]))
        .verdict()
}
