//! Tests of the filter: its bytes run by an evaluator, compared with the list and with the system's libseccomp, and
//! loaded for real.

mod evaluate;
mod instructions;
mod list;
mod live;
mod oracle;
mod programs;

pub(crate) use live::fork;

use super::numbers::Architecture;
use super::policy::Sockets;

/// Every profile there is.
const PROFILES: [Sockets; 4] = [
    Sockets { unix: false, internet: false },
    Sockets { unix: true, internet: false },
    Sockets { unix: false, internet: true },
    Sockets { unix: true, internet: true },
];

const ARCHITECTURES: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

/// One system call as the kernel shows it to a filter.
#[derive(Debug, Clone, Copy)]
struct Call {
    number: u32,
    audit: u32,
    arguments: [u64; 6],
}
