//! The kernel's larger interfaces.

use modberth_sandbox::Layer::{ResourceLimits, Seccomp};

use crate::row::Shown::{Stopped, StoppedAfter, ThroughUnless};
use crate::row::{Row, always, attack, outcome};

/// What the other convention of x86_64 is answered with.
const INT80: &[&str] = if cfg!(target_arch = "x86_64") { &["SIGSYS"] } else { &["absent"] };
const X32: &[&str] = if cfg!(target_arch = "x86_64") { &["ENOSYS"] } else { &["absent"] };
const ON_X86: &[&str] = if cfg!(target_arch = "x86_64") { &["EPERM"] } else { &["absent"] };

pub(crate) const ROWS: &[Row] = &[
    // Some machines have switched it off.
    attack("io-uring", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["ENOSYS", "EBADF+EPERM"])),
    attack("aio", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["ENOSYS"])),
    attack("userfaultfd", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["ENOSYS"])),
    attack("keyring", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["ENOSYS"])),
    always("bpf", &["EPERM"]).then(ThroughUnless(&["ENOSYS"])),
    always("perf", &["EPERM"]).then(ThroughUnless(&["ENOSYS"])),
    attack("seccomp-again", &["EPERM"], &[Seccomp]),
    attack("landlock-again", &["ENOSYS"], &[Seccomp]).then(ThroughUnless(&["ENOSYS", "EOPNOTSUPP"])),
    // Without the layer: a kernel that has no such convention answers with a fault.
    attack("int80", INT80, &[Seccomp]).then(ThroughUnless(&["SIGSEGV", "absent"])),
    outcome("x32", Stopped(X32)),
    attack("new-calls", &["ENOSYS"], &[Seccomp]).then(ThroughUnless(&["ENOSYS"])),
    attack("old-calls", &["EPERM"], &[Seccomp]),
    attack("modify-ldt", ON_X86, &[Seccomp]).then(ThroughUnless(&["ENOSYS", "absent"])),
    always("io-ports", ON_X86).then(ThroughUnless(&["ENOSYS", "absent"])),
    attack("vmsplice", &["EPERM"], &[Seccomp]),
    attack("numa", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["ENOSYS"])),
    attack("personality", &["EPERM"], &[Seccomp]),
    // The streams are pipes, so the kernel would refuse it too.
    attack("tiocsti", &["EPERM"], &[Seccomp]).then(Stopped(&["ENOTTY"])),
    attack("dumpable", &["EPERM"], &[Seccomp]),
    attack("prctl-rest", &["EPERM"], &[Seccomp]),
    attack("core-dump", &["no-core"], &[ResourceLimits, Seccomp]).by_any(&[ResourceLimits]),
    attack("core-limit", &["EPERM"], &[Seccomp]),
    outcome("rlimit-raise", Stopped(&["EPERM"])),
    outcome("epoll-nesting", StoppedAfter("ELOOP", 4, 5)),
    outcome("restartable", Stopped(&["ended"])),
];
