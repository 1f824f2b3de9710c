//! The limits of one group: files that stay open, written and read back.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::Version;
use super::file::{self, ROOM};
use super::layout::{Sources, no_swap};
use crate::Limits;
use crate::descriptors::above_streams;

/// The least memory a group is given, in bytes. A child that has not yet run its program shares the host's memory,
/// and the kernel kills everyone who shares the memory of a process that ran out of it.
pub(crate) const LEAST_MEMORY: u64 = 16 << 20;

/// Microseconds over which processor time is counted.
const PERIOD: u64 = 100_000;

/// A limit of a module's control group that is not as it should be (P1-HOST-26).
#[derive(Debug)]
#[non_exhaustive]
pub struct LimitFault {
    /// `memory`, `swap`, `tasks`, `cpu` or `membership`.
    pub limit: &'static str,
    /// The file that says so.
    pub file: PathBuf,
    /// What it should hold.
    pub wanted: String,
    /// What it holds; empty when it could not be read or written.
    pub actual: String,
    /// Why it could not be read or written.
    pub(crate) errno: Option<Errno>,
}

impl fmt::Display for LimitFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, file, wanted, actual, errno } = self;
        match *limit {
            "membership" => f.write_str("the module's group")?,
            limit => write!(f, "the {limit} limit of the module's group")?,
        }
        write!(f, ": {} should be {wanted}", file.display())?;
        match errno {
            Some(errno) => write!(f, " and could not be read or written: {}", io::Error::from(*errno)),
            None => write!(f, " and is {actual:?}"),
        }
    }
}

impl std::error::Error for LimitFault {}

/// The error number of an error of the machine; EIO for one that has none.
pub(super) fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

/// A file that holds one limit.
#[derive(Debug)]
struct Knob {
    limit: &'static str,
    file: OwnedFd,
    path: PathBuf,
}

impl Knob {
    fn open(
        limit: &'static str,
        directory: BorrowedFd<'_>,
        path: &Path,
        name: &'static str,
    ) -> Result<Self, LimitFault> {
        let path = path.join(name);
        match file::open(directory, name, OFlags::RDWR) {
            Ok(file) => Ok(Self { limit, file, path }),
            Err(error) => Err(LimitFault {
                limit,
                file: path,
                wanted: "there and writable".into(),
                actual: String::new(),
                errno: Some(errno(&error)),
            }),
        }
    }

    fn fault(&self, wanted: &[u8], actual: Result<&[u8], io::Error>) -> LimitFault {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (actual, errno) = match actual {
            Ok(actual) => (text(actual), None),
            Err(error) => (String::new(), Some(errno(&error))),
        };
        LimitFault { limit: self.limit, file: self.path.clone(), wanted: text(wanted), actual, errno }
    }

    fn check(&self, wanted: &[u8]) -> Result<(), LimitFault> {
        let mut buffer = [0; ROOM];
        match file::read(self.file.as_fd(), &mut buffer) {
            Ok(actual) if actual == wanted => Ok(()),
            Ok(actual) => Err(self.fault(wanted, Ok(actual))),
            Err(error) => Err(self.fault(wanted, Err(error))),
        }
    }

    /// Writes the value unless the file holds it already, and reads it back.
    fn set(&self, wanted: &[u8]) -> Result<(), LimitFault> {
        if self.check(wanted).is_ok() {
            return Ok(());
        }
        file::write(self.file.as_fd(), wanted).map_err(|error| self.fault(wanted, Err(error)))?;
        self.check(wanted)
    }

    fn number(&self) -> Option<u64> {
        let mut buffer = [0; ROOM];
        file::number(file::read(self.file.as_fd(), &mut buffer).ok()?)
    }
}

/// Where swap is bounded.
#[derive(Debug)]
enum Swap {
    /// Version 2: swap alone.
    Alone(Knob),
    /// Version 1: memory and swap together.
    Together(Knob),
    /// The kernel does not count swap. There must be none, which is looked up each time.
    NoneInUse { swaps: OwnedFd, path: PathBuf },
}

/// Where processor time is bounded.
#[derive(Debug)]
enum Cpu {
    /// Version 2: quota and period in one file.
    Max(Knob),
    /// Version 1.
    Quota { quota: Knob, period: Knob },
}

/// All limits of one group.
#[derive(Debug)]
pub(super) struct Knobs {
    memory: Knob,
    swap: Swap,
    tasks: Knob,
    cpu: Cpu,
}

/// A directory of a group: its descriptor, its path for messages, its interface.
#[derive(Clone, Copy)]
pub(super) struct Directory<'a> {
    pub(super) fd: BorrowedFd<'a>,
    pub(super) path: &'a Path,
    pub(super) version: Version,
}

impl Knobs {
    pub(super) fn open(
        memory: Directory<'_>,
        pids: Directory<'_>,
        cpu: Directory<'_>,
        sources: &Sources,
    ) -> Result<Self, LimitFault> {
        let (limit, name) = match memory.version {
            Version::V1 => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
            Version::V2 => ("memory.max", "memory.swap.max"),
        };
        let swap = match Knob::open("swap", memory.fd, memory.path, name) {
            Ok(knob) if memory.version == Version::V1 => Swap::Together(knob),
            Ok(knob) => Swap::Alone(knob),
            Err(fault) if fault.errno == Some(Errno::NOENT) => Swap::none_in_use(sources)?,
            Err(fault) => return Err(fault),
        };
        let knob = |name| Knob::open("cpu", cpu.fd, cpu.path, name);
        let processor = match cpu.version {
            Version::V1 => {
                Cpu::Quota { quota: knob("cpu.cfs_quota_us")?, period: knob("cpu.cfs_period_us")? }
            }
            Version::V2 => Cpu::Max(knob("cpu.max")?),
        };
        Ok(Self {
            memory: Knob::open("memory", memory.fd, memory.path, limit)?,
            swap,
            tasks: Knob::open("tasks", pids.fd, pids.path, "pids.max")?,
            cpu: processor,
        })
    }

    pub(super) fn set(&self, limits: &Limits) -> Result<(), LimitFault> {
        self.refuse_too_low(limits)?;
        let memory = pages(limits.memory_bytes);
        let memory_text = Text::of(memory);
        match &self.swap {
            Swap::Together(both) => {
                let wanted = memory.saturating_add(pages(limits.swap_bytes));
                // The kernel wants the sum to be the larger at every moment.
                if both.number().is_none_or(|now| wanted >= now) {
                    both.set(Text::of(wanted).bytes())?;
                    self.memory.set(memory_text.bytes())?;
                } else {
                    self.memory.set(memory_text.bytes())?;
                    both.set(Text::of(wanted).bytes())?;
                }
            }
            Swap::Alone(swap) => {
                self.memory.set(memory_text.bytes())?;
                swap.set(Text::of(pages(limits.swap_bytes)).bytes())?;
            }
            Swap::NoneInUse { .. } => {
                self.memory.set(memory_text.bytes())?;
                self.check_swap(limits)?;
            }
        }
        self.tasks.set(Text::of(limits.tasks.into()).bytes())?;
        match &self.cpu {
            Cpu::Max(knob) => knob.set(Text::quota_and_period(limits).bytes()),
            Cpu::Quota { quota, period } => {
                period.set(Text::of(PERIOD).bytes())?;
                quota.set(Text::of(quota_of(limits)).bytes())
            }
        }
    }

    /// Reads all of it back (P1-HOST-26).
    pub(super) fn verify(&self, limits: &Limits) -> Result<(), LimitFault> {
        self.memory.check(Text::of(pages(limits.memory_bytes)).bytes())?;
        self.check_swap(limits)?;
        self.tasks.check(Text::of(limits.tasks.into()).bytes())?;
        match &self.cpu {
            Cpu::Max(knob) => knob.check(Text::quota_and_period(limits).bytes()),
            Cpu::Quota { quota, period } => {
                period.check(Text::of(PERIOD).bytes())?;
                quota.check(Text::of(quota_of(limits)).bytes())
            }
        }
    }

    fn check_swap(&self, limits: &Limits) -> Result<(), LimitFault> {
        match &self.swap {
            Swap::Alone(knob) => knob.check(Text::of(pages(limits.swap_bytes)).bytes()),
            Swap::Together(knob) => {
                let both = pages(limits.memory_bytes).saturating_add(pages(limits.swap_bytes));
                knob.check(Text::of(both).bytes())
            }
            Swap::NoneInUse { swaps, path } => {
                let mut buffer = [0; ROOM];
                let (actual, errno) = match file::read(swaps.as_fd(), &mut buffer) {
                    Ok(content) if no_swap(content) => return Ok(()),
                    Ok(content) => (String::from_utf8_lossy(content).into_owned(), None),
                    Err(error) => (String::new(), Some(errno(&error))),
                };
                Err(LimitFault {
                    limit: "swap",
                    file: path.clone(),
                    wanted: "without swap, which this kernel does not count for a group".into(),
                    actual,
                    errno,
                })
            }
        }
    }

    /// Takes the bound on processor time away, so that a group that is killed gets to its end at once.
    pub(super) fn lift_quota(&self) -> io::Result<()> {
        match &self.cpu {
            Cpu::Max(knob) => file::write(knob.file.as_fd(), b"max"),
            Cpu::Quota { quota, .. } => file::write(quota.file.as_fd(), b"-1"),
        }
    }

    /// Lets the group make no more processes.
    pub(super) fn stop_forks(&self) -> io::Result<()> {
        file::write(self.tasks.file.as_fd(), b"0")
    }

    fn refuse_too_low(&self, limits: &Limits) -> Result<(), LimitFault> {
        let lowest = |knob: &Knob, lowest: u64, asked: u64| LimitFault {
            limit: knob.limit,
            file: knob.path.clone(),
            wanted: format!("at least {lowest}"),
            actual: asked.to_string(),
            errno: None,
        };
        if limits.memory_bytes < LEAST_MEMORY {
            return Err(lowest(&self.memory, LEAST_MEMORY, limits.memory_bytes));
        }
        if limits.tasks == 0 {
            return Err(lowest(&self.tasks, 1, 0));
        }
        if limits.cpu_percent == 0 {
            let (Cpu::Max(knob) | Cpu::Quota { quota: knob, .. }) = &self.cpu;
            return Err(lowest(knob, quota_of(&Limits { cpu_percent: 1, ..Limits::default() }), 0));
        }
        Ok(())
    }
}

impl Swap {
    fn none_in_use(sources: &Sources) -> Result<Self, LimitFault> {
        let path = sources.swaps.clone();
        let opened = rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        match opened.map_err(io::Error::from).and_then(above_streams) {
            Ok(swaps) => Ok(Self::NoneInUse { swaps, path }),
            Err(error) => Err(LimitFault {
                limit: "swap",
                file: path,
                wanted: "readable".into(),
                actual: String::new(),
                errno: Some(errno(&error)),
            }),
        }
    }
}

/// Bytes as the kernel keeps them: whole pages, rounded down.
fn pages(bytes: u64) -> u64 {
    // SAFETY: a number comes in, a number goes out.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as u64;
    // The kernel holds no more than a signed 64-bit number of bytes.
    bytes.min(i64::MAX as u64) / page * page
}

/// Microseconds of processor time in each period.
fn quota_of(limits: &Limits) -> u64 {
    u64::from(limits.cpu_percent) * (PERIOD / 100)
}

/// A short text without allocation.
struct Text {
    bytes: [u8; 48],
    length: usize,
}

impl Text {
    fn of(number: u64) -> Self {
        let mut text = Self { bytes: [0; 48], length: 0 };
        text.push(number);
        text
    }

    fn quota_and_period(limits: &Limits) -> Self {
        let mut text = Self::of(quota_of(limits));
        text.bytes[text.length] = b' ';
        text.length += 1;
        text.push(PERIOD);
        text
    }

    /// At most 20 digits, so two numbers and a space fit.
    fn push(&mut self, number: u64) {
        let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
        let mut rest = number;
        for place in self.bytes[self.length..self.length + digits].iter_mut().rev() {
            *place = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.length += digits;
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
