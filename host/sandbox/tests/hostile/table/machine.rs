//! The machine itself. What is asked for makes no sense, so a machine that does nothing about it finds that out; the
//! sandbox does not look so far.

use modberth_sandbox::Layer::{OrdinaryUser, Seccomp};

use crate::row::Shown::{Stopped, StoppedOtherwise, ThroughUnless};
use crate::row::{Row, always, attack};

pub(crate) const ROWS: &[Row] = &[
    always("reboot", &["EPERM"]).then(StoppedOtherwise("EPERM")),
    always("kexec", &["EPERM"]).then(StoppedOtherwise("EPERM")),
    always("kernel-modules", &["EPERM"]).then(StoppedOtherwise("EPERM")),
    always("swap", &["EPERM"]).then(StoppedOtherwise("EPERM")),
    always("acct", &["EPERM"]).then(StoppedOtherwise("EPERM")),
    always("quota", &["EPERM"]).then(StoppedOtherwise("EPERM")),
    attack("clock", &["EPERM"], &[Seccomp]).then(Stopped(&["EINVAL"])),
    attack("clock-adjust", &["EPERM"], &[Seccomp]),
    attack("hostname", &["EPERM"], &[Seccomp, OrdinaryUser]).by_any(&[Seccomp, OrdinaryUser]),
    always("syslog", &["EPERM"]),
    attack("affinity", &["EPERM"], &[Seccomp]),
    attack("scheduler", &["EPERM"], &[Seccomp]),
    always("realtime", &["EPERM"]),
    always("nice", &["EACCES"]),
    attack("io-priority", &["EPERM"], &[Seccomp]),
    // A machine without such a clock has none of it.
    always("wake-alarm", &["EPERM", "EOPNOTSUPP+EPERM"]).then(ThroughUnless(&["EOPNOTSUPP"])),
];
