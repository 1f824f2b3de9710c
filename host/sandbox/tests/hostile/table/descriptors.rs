//! Descriptors. The limit is 64 for each process.

use modberth_sandbox::Layer::ResourceLimits;

use crate::row::Shown::{Stopped, StoppedAfter};
use crate::row::{Row, attack, outcome};

pub(crate) const ROWS: &[Row] = &[
    attack("descriptor-exhaustion", &[], &[ResourceLimits]).sees(StoppedAfter("EMFILE", 61, 61)),
    attack("descriptors-in-flight", &[], &[ResourceLimits]).sees(StoppedAfter("ETOOMANYREFS", 64, 65)),
    outcome("inherited-descriptors", Stopped(&["none"])),
    outcome("stream-as-folder", Stopped(&["ENOTDIR"])),
    outcome("stdout-options", Stopped(&["its-own"])),
];
