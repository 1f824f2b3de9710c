//! Processes and threads. The limit is 32 tasks with the module's own process.

use modberth_sandbox::Layer::{CpuLimit, Seccomp, TaskLimit};

use crate::drive::Drive;
use crate::row::Shown::{Outside, Stopped, StoppedAfter};
use crate::row::{
    Row, always, attack, gone_by_itself, killed_by_host, left_behind, outcome, stormed, throttled,
    unthrottled,
};

pub(crate) const ROWS: &[Row] = &[
    attack("fork-bomb", &[], &[TaskLimit]).sees(StoppedAfter("EAGAIN", 31, 31)),
    attack("clone-bomb", &[], &[TaskLimit]).sees(StoppedAfter("EAGAIN", 31, 31)),
    attack("thread-bomb", &[], &[TaskLimit]).sees(StoppedAfter("EAGAIN", 31, 31)),
    outcome("setsid-storm", Outside(stormed)).driven(Drive::UntilLine),
    always("daemon-holds-stdout", &[])
        .sees(Outside(gone_by_itself))
        .then(Outside(left_behind))
        .driven(Drive::UntilEnded),
    // Nobody is left with a user of this host's at the end of all rows: `main.rs` looks.
    always("disguise", &[])
        .sees(Outside(gone_by_itself))
        .then(Outside(left_behind))
        .driven(Drive::UntilEnded),
    // Process 1 of a namespace has no sisters.
    outcome("clone-parent", Stopped(&["EINVAL"])),
    outcome("exec-chain", Outside(killed_by_host)).driven(Drive::UntilLine),
    // A twentieth of a processor, so that it is held up on a busy machine too.
    attack("spin-8", &[], &[CpuLimit])
        .sees(Outside(throttled))
        .then(Outside(unthrottled))
        .tuned(|profile| profile.limits.cpu_percent = 5),
    attack("spin-threads", &[], &[CpuLimit])
        .sees(Outside(throttled))
        .then(Outside(unthrottled))
        .tuned(|profile| profile.limits.cpu_percent = 5),
    attack("pdeathsig", &["EPERM"], &[Seccomp]),
    attack("subreaper", &["EPERM"], &[Seccomp]),
];
