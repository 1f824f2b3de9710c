//! Descriptors. The limit is 64 for each process.

use modberth_sandbox::Layer::{ResourceLimits, Seccomp};

use crate::row::Shown::{Stopped, StoppedAfter};
use crate::row::{Row, attack, outcome};

pub(crate) const ROWS: &[Row] = &[
    attack("descriptor-exhaustion", &[], &[ResourceLimits]).sees(StoppedAfter("EMFILE", 61, 61)),
    // Counted for all modules of one user, which they share below a host that is an ordinary user's.
    attack("descriptors-in-flight", &[], &[ResourceLimits]).sees(StoppedAfter("ETOOMANYREFS", 1, 65)),
    outcome("inherited-descriptors", Stopped(&["none"])),
    outcome("stream-as-folder", Stopped(&["ENOTDIR"])),
    attack("fcntl-rest", &["EPERM"], &[Seccomp]),
    attack("ioctl-rest", &["EPERM"], &[Seccomp]),
    outcome("stdout-options", Stopped(&["its-own"])),
];
