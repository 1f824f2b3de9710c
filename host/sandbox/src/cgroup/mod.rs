//! Control groups: the kernel's bounds on what a module and all it starts may use together, and the way to end all
//! of it at once (P1-HOST-26, P1-HOST-27).
//!
//! * [`layout::Layout`] finds out what this machine has, and changes nothing.
//! * [`Tree`] is the place of one host: a directory in each hierarchy, locked while the host lives. A host that was
//!   killed leaves a tree whose lock is free; the next one to start removes it.
//! * [`Group`] is the group of one slot below the tree. It keeps its files open, so that an action costs reads and
//!   no look-ups.
//!
//! Which hierarchy bounds memory, tasks and processor is decided for each of them, so machines that have moved only
//! some controllers to version 2 are served too.

mod file;
mod fixes;
mod group;
mod kill;
mod knobs;
mod layout;
mod membership;
mod parse;
mod remains;
mod tree;

use std::fmt;

pub use fixes::Unavailable;
pub(crate) use group::{Counters, Group};
pub use knobs::LimitFault;
pub(crate) use layout::{Layout, Place, swap_in_use};
pub(crate) use tree::{GuardianGroup, Tree};

/// How a machine has its control groups arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Version 2 bounds memory, tasks and processor.
    V2,
    /// At least one of them is bounded by version 1, and version 2 is there beside it.
    Hybrid,
    /// Version 1 alone, or a version 2 hierarchy that this host may not use.
    V1,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V2 => "v2",
            Self::Hybrid => "hybrid",
            Self::V1 => "v1",
        })
    }
}

/// Which interface a hierarchy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One hierarchy for each controller, or for a few together.
    V1,
    /// The unified hierarchy.
    V2,
}

/// The controllers that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    /// Memory and swap.
    Memory,
    /// Processes and threads.
    Pids,
    /// Processor time.
    Cpu,
    /// Counts processor time, in version 1.
    Cpuacct,
    /// Places processes on processors. Version 1 wants it set up wherever it shares a hierarchy with another.
    Cpuset,
}

impl Controller {
    /// Those without which there are no limits.
    pub(crate) const NEEDED: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];
    const ALL: [Self; 5] = [Self::Memory, Self::Pids, Self::Cpu, Self::Cpuacct, Self::Cpuset];

    /// The kernel's name for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
            Self::Cpuacct => "cpuacct",
            Self::Cpuset => "cpuset",
        }
    }

    fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|controller| controller.name().as_bytes() == name)
    }
}

#[cfg(test)]
mod tests;
