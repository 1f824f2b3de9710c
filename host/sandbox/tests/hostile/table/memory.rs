//! Memory. The limit is 128 MiB, and each bomb wants twice that.

use modberth_sandbox::Layer::{Landlock, MemoryLimit, ResourceLimits, Seccomp};

use crate::row::Shown::{Outside, Stopped, ThroughUnless};
use crate::row::{
    Row, always, attack, bounded_memory, killed_for_memory, out_of_memory, outcome, within_memory,
};

pub(crate) const ROWS: &[Row] = &[
    attack("memory-bomb", &[], &[MemoryLimit]).sees(Outside(killed_for_memory)),
    attack("memory-bomb-children", &[], &[MemoryLimit]).sees(Outside(out_of_memory)),
    attack("shared-memory-bomb", &[], &[MemoryLimit]).sees(Outside(killed_for_memory)),
    attack("page-tables", &[], &[MemoryLimit]).sees(Outside(killed_for_memory)),
    outcome("many-maps", Outside(bounded_memory)),
    // The machine has a limit of its own for what the pipes of one ordinary user hold.
    always("pipe-memory", &[]).sees(Outside(within_memory)),
    attack("socketpair-memory", &[], &[MemoryLimit]).sees(Outside(within_memory)),
    attack("memfd", &["EPERM"], &[Seccomp]),
    attack("memfd-secret", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["ENOSYS"])),
    attack("sysv-shm", &["EPERM"], &[Seccomp]),
    attack("sysv-sem", &["EPERM"], &[Seccomp]),
    attack("sysv-msg", &["EPERM"], &[Seccomp]),
    attack("posix-mq", &["EPERM"], &[Seccomp, ResourceLimits, Landlock]).by_any(&[
        Seccomp,
        ResourceLimits,
        Landlock,
    ]),
    attack("mlock", &["EAGAIN+ENOMEM"], &[ResourceLimits]),
    outcome("huge-pages", Stopped(&["ENOMEM", "EPERM"])),
    attack("madvise-rest", &["EPERM"], &[Seccomp]),
    attack("ksm", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["EINVAL"])),
];
