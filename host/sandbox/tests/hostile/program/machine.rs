//! The machine itself: its power, clocks, names, modules, accounts. All of it with values that a machine which lets it
//! happen refuses, or that are what they were.

use crate::attempt::{Answer, Refusal, Verdict, Ways, at, call, into, only};
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("reboot", reboot),
    ("kexec", kexec),
    ("kernel-modules", kernel_modules),
    ("swap", swap),
    ("acct", acct),
    ("quota", quota),
    ("clock", clock),
    ("clock-adjust", clock_adjust),
    ("hostname", hostname),
    ("syslog", syslog),
    ("affinity", affinity),
    ("scheduler", scheduler),
    ("realtime", realtime),
    ("nice", nice),
    ("io-priority", io_priority),
    ("wake-alarm", wake_alarm),
];

/// With a magic number that is none.
fn reboot(_: &Ground) -> Verdict {
    only("reboot", || call(libc::SYS_reboot, [1, 2, 3, 0]))
}

/// A kernel of no pieces for a machine that is none.
fn kexec(_: &Ground) -> Verdict {
    Ways::default()
        .by("load", || call(libc::SYS_kexec_load, [0, 1 << 20, 0, 0xffff_0000]))
        .by("file", || call(libc::SYS_kexec_file_load, [usize::MAX, usize::MAX, 0, 0, 0xffff]))
        .verdict()
}

/// Modules that are none.
fn kernel_modules(_: &Ground) -> Verdict {
    Ways::default()
        .by("init", || call(libc::SYS_init_module, [at(b"none"), 4, at(c"")]))
        .by("finit", || call(libc::SYS_finit_module, [usize::MAX, at(c""), 0]))
        .by("delete", || call(libc::SYS_delete_module, [at(c"modberth_none"), libc::O_NONBLOCK as usize]))
        .verdict()
}

/// A swap file that is none.
fn swap(_: &Ground) -> Verdict {
    Ways::default()
        .by("on", || call(libc::SYS_swapon, [at(c"/nowhere"), 0]))
        .by("off", || call(libc::SYS_swapoff, [at(c"/nowhere")]))
        .verdict()
}

/// Accounts in a file that is none.
fn acct(_: &Ground) -> Verdict {
    only("acct", || call(libc::SYS_acct, [at(c"/nowhere/accounts")]))
}

/// A command that is none.
fn quota(_: &Ground) -> Verdict {
    only("quotactl", || call(libc::SYS_quotactl, [0x00ff_ff00, at(c"/nowhere"), 0, 0]))
}

/// To a time that is none.
fn clock(_: &Ground) -> Verdict {
    let wrong = libc::timespec { tv_sec: 0, tv_nsec: 2_000_000_000 };
    let wrong_too = libc::timeval { tv_sec: 0, tv_usec: 2_000_000 };
    Ways::default()
        .by("clock_settime", || call(libc::SYS_clock_settime, [libc::CLOCK_REALTIME as usize, at(&wrong)]))
        .by("settimeofday", || call(libc::SYS_settimeofday, [at(&wrong_too), 0]))
        .verdict()
}

/// Reads how the clock is steered.
fn clock_adjust(_: &Ground) -> Verdict {
    // SAFETY: plain data for which all zeros is a value.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    Ways::default()
        .by("adjtimex", || call(libc::SYS_adjtimex, [into(&mut state)]))
        .by("clock_adjtime", || call(libc::SYS_clock_adjtime, [libc::CLOCK_REALTIME as usize, at(&state)]))
        .verdict()
}

/// The name that it has.
fn hostname(_: &Ground) -> Verdict {
    // SAFETY: plain data for which all zeros is a value.
    let mut names: libc::utsname = unsafe { std::mem::zeroed() };
    if let Err(refusal) = call(libc::SYS_uname, [into(&mut names)]) {
        return Verdict::Stopped(refusal.to_string());
    }
    let length = |name: &[libc::c_char]| name.iter().take_while(|byte| **byte != 0).count();
    let (host, domain) = (length(&names.nodename), length(&names.domainname));
    Ways::default()
        .by("host", || call(libc::SYS_sethostname, [at(&names.nodename), host]))
        .by("domain", || call(libc::SYS_setdomainname, [at(&names.domainname), domain]))
        .verdict()
}

/// The kernel's messages: how many there are.
fn syslog(_: &Ground) -> Verdict {
    const SIZE_UNREAD: usize = 9;
    only("syslog", || call(libc::SYS_syslog, [SIZE_UNREAD, 0, 0]))
}

/// The processors that it has already.
fn affinity(_: &Ground) -> Verdict {
    let mut set = [0u8; 128];
    only("sched_setaffinity", || {
        let length = call(libc::SYS_sched_getaffinity, [0, 128, into(&mut set)])?;
        call(libc::SYS_sched_setaffinity, [0, length, at(&set)])
    })
}

fn policy(policy: libc::c_int, priority: i32) -> Answer {
    call(libc::SYS_sched_setscheduler, [0, policy as usize, at(&priority)])
}

/// As it is.
fn scheduler(_: &Ground) -> Verdict {
    let mut now = [0u8; 48];
    Ways::default()
        .by("policy", || policy(libc::SCHED_OTHER, 0))
        .by("parameters", || call(libc::SYS_sched_setparam, [0, at(&0i32)]))
        .by("attributes", || {
            call(libc::SYS_sched_getattr, [0, into(&mut now), 48, 0])?;
            call(libc::SYS_sched_setattr, [0, at(&now), 0])
        })
        .verdict()
}

/// Before everybody else, for a moment.
fn realtime(_: &Ground) -> Verdict {
    Ways::default()
        .by("first in first out", || {
            policy(libc::SCHED_FIFO, 1)?;
            policy(libc::SCHED_OTHER, 0)
        })
        .by("round robin", || {
            policy(libc::SCHED_RR, 1)?;
            policy(libc::SCHED_OTHER, 0)
        })
        .verdict()
}

/// More weight than others of the same kind, for a moment.
fn nice(_: &Ground) -> Verdict {
    let set = |value: i32| call(libc::SYS_setpriority, [libc::PRIO_PROCESS as usize, 0, value as usize]);
    only("setpriority", || {
        set(-1)?;
        set(0)
    })
}

/// The ordinary one.
fn io_priority(_: &Ground) -> Verdict {
    const PROCESS: usize = 1;
    const BEST_EFFORT_4: usize = 2 << 13 | 4;
    only("ioprio_set", || match call(libc::SYS_ioprio_set, [PROCESS, 0, BEST_EFFORT_4]) {
        Err(refusal) if refusal == Refusal::errno(libc::EINVAL) => Ok(0),
        answer => answer,
    })
}

/// Timers that wake a machine that sleeps. None is set.
fn wake_alarm(_: &Ground) -> Verdict {
    let mut timer = 0i32;
    Ways::default()
        .by("timerfd", || call(libc::SYS_timerfd_create, [libc::CLOCK_REALTIME_ALARM as usize, 0]))
        .by("timer", || {
            call(libc::SYS_timer_create, [libc::CLOCK_BOOTTIME_ALARM as usize, 0, into(&mut timer)])
        })
        .verdict()
}
