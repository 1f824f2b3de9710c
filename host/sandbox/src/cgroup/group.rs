//! The group of one slot.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::file::{self, ROOM};
use super::knobs::{Directory, Knobs, LimitFault, errno};
use super::membership::Names;
use super::remains::{self, Remains};
use super::tree::{Parts, prepare_cpuset};
use super::{Controller, Kind, Version, kill};
use crate::Limits;

/// How long to take for a group of the same name that is in the way.
const REMAKE_PATIENCE: Duration = Duration::from_secs(2);

/// How long the directories of an empty group may stay busy.
const RETIRE_PATIENCE: Duration = Duration::from_millis(500);

/// How far apart looks at the members are where the kernel does not tell of their end.
const LOOKS: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

/// What a group has used since it was made. `None`: this kernel does not count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub(crate) struct Counters {
    /// Processor time of all members.
    pub(crate) cpu: Option<Duration>,
    /// Members that were killed because the group was out of memory.
    pub(crate) oom_kills: Option<u64>,
    /// Periods (of 100 ms) in which the quota of processor time was used up.
    pub(crate) throttled_periods: Option<u64>,
    /// Time for which members had to wait because of that, all processors together.
    pub(crate) throttled: Option<Duration>,
    /// Processes and threads that were refused because the limit of tasks was reached.
    pub(crate) refused_tasks: Option<u64>,
}

/// The control group of one slot, with its files open. It may hold processes of one action at a time.
#[derive(Debug)]
pub(crate) struct Group {
    parts: Arc<Parts>,
    name: String,
    /// One for each hierarchy, in the order of `parts`.
    directories: Vec<OwnedFd>,
    names: Option<Names>,
    /// `cgroup.procs` where an open file stays right: in version 2.
    procs: Vec<Option<OwnedFd>>,
    knobs: Knobs,
    meters: Meters,
    events: Option<OwnedFd>,
    kill: Option<OwnedFd>,
}

impl Group {
    /// Makes the directories and opens the files. After a failure no directory is left.
    pub(super) fn make(parts: &Arc<Parts>, name: &str) -> Result<Self, LimitFault> {
        let mut directories = Vec::with_capacity(parts.all.len());
        let made = parts.all.iter().try_for_each(|part| {
            let failed = |error: io::Error| LimitFault {
                limit: "membership",
                file: part.path.join(name),
                wanted: "made".into(),
                actual: if error.raw_os_error().is_some() { String::new() } else { error.to_string() },
                errno: error.raw_os_error().map(Errno::from_raw_os_error),
            };
            directories.push(make_directory(part.directory.as_fd(), &part.path, name).map_err(failed)?);
            let made = directories[directories.len() - 1].as_fd();
            prepare_cpuset(part, made).map_err(failed)
        });
        let group = made.and_then(|()| Self::open(parts, name, directories));
        if group.is_err() {
            for part in &parts.all {
                // Not made, or made a moment ago and empty.
                let _ = rustix::fs::unlinkat(&part.directory, name, AtFlags::REMOVEDIR);
            }
        }
        group
    }

    fn open(parts: &Arc<Parts>, name: &str, directories: Vec<OwnedFd>) -> Result<Self, LimitFault> {
        let paths: Vec<PathBuf> = parts.all.iter().map(|part| part.path.join(name)).collect();
        let fault = |at: usize, file: &str, error: &io::Error| LimitFault {
            limit: "membership",
            file: paths[at].join(file),
            wanted: "there".into(),
            actual: String::new(),
            errno: Some(errno(error)),
        };
        let directory = |controller| {
            let at = parts.of(controller).unwrap_or(0);
            Directory { fd: directories[at].as_fd(), path: &paths[at], version: parts.all[at].version }
        };
        let (memory, pids, cpu) =
            (directory(Controller::Memory), directory(Controller::Pids), directory(Controller::Cpu));
        let knobs = Knobs::open(memory, pids, cpu, &parts.sources)?;
        let mut procs = Vec::with_capacity(directories.len());
        for (at, directory) in directories.iter().enumerate() {
            let kept = parts.all[at].version == Version::V2;
            let open = || file::open(directory.as_fd(), kill::PROCS, OFlags::RDWR);
            procs.push(kept.then(open).transpose().map_err(|error| fault(at, kill::PROCS, &error))?);
        }
        let unified = parts.unified();
        let mut events = None;
        let mut kill = None;
        if let Some(at) = unified {
            let fd = directories[at].as_fd();
            let name = "cgroup.events";
            events = Some(file::open(fd, name, OFlags::RDONLY).map_err(|error| fault(at, name, &error))?);
            let name = "cgroup.kill";
            kill = file::open_if_there(fd, name, OFlags::WRONLY).map_err(|error| fault(at, name, &error))?;
        }
        let count = parts.of(Controller::Cpuacct).map(|at| directories[at].as_fd());
        let meters = Meters::open(memory, pids, cpu, unified.map(|at| directories[at].as_fd()), count);
        drop(paths);
        let hierarchies =
            parts.all.iter().map(|part| (part.version, part.controllers.as_slice(), part.group.as_path()));
        Ok(Self {
            names: Names::new(hierarchies, Path::new(name)),
            parts: Arc::clone(parts),
            name: name.to_owned(),
            directories,
            procs,
            knobs,
            meters,
            events,
            kill,
        })
    }

    /// Directory for CLONE_INTO_CGROUP, where there is version 2.
    #[expect(clippy::wrong_self_convention, reason = "it names what is done with the descriptor")]
    pub(crate) fn into_fd(&self) -> Option<BorrowedFd<'_>> {
        self.parts.unified().map(|at| self.directories[at].as_fd())
    }

    /// Whether CLONE_INTO_CGROUP alone puts a child under all limits. Otherwise see [`Group::adopt`].
    pub(crate) fn is_complete_by_clone(&self) -> bool {
        self.parts.kind == Kind::V2
    }

    /// Writes the limits that are not in force yet, and reads all of them back. Memory and swap count in whole
    /// pages, rounded down; swap counts in addition to memory; a period of processor time has 100 ms.
    ///
    /// # Errors
    /// The first limit that the kernel does not hold. Less than 16 MiB of memory, no task and no processor time are
    /// refused: see [`super::knobs::LEAST_MEMORY`].
    pub(crate) fn set(&mut self, limits: &Limits) -> Result<(), LimitFault> {
        self.knobs.set(limits)
    }

    /// Puts a process into the groups of version 1, or into all of them when `all`.
    ///
    /// After an idle pause the kernel takes up to 20 ms for it: nothing for the path of an action.
    pub(crate) fn adopt(&self, pid: i32, all: bool) -> Result<(), LimitFault> {
        let text = pid.to_string();
        for (at, part) in self.parts.all.iter().enumerate() {
            if part.version == Version::V2 && !all {
                continue;
            }
            file::write_at(self.directories[at].as_fd(), kill::PROCS, text.as_bytes())
                .map_err(|error| self.not_member(at, pid, Some(errno(&error))))?;
        }
        Ok(())
    }

    /// Reads every limit back and checks that `pid` is a member in every hierarchy (P1-HOST-26).
    ///
    /// # Errors
    /// The first limit that is not as it should be, or `membership`.
    pub(crate) fn verify(&self, limits: &Limits, pid: i32) -> Result<(), LimitFault> {
        self.knobs.verify(limits)?;
        if self.names.as_ref().is_some_and(|names| names.say_so(pid)) {
            return Ok(());
        }
        for at in 0..self.directories.len() {
            let mut found = false;
            let look = |member| {
                found = member == pid;
                !found
            };
            let read = match &self.procs[at] {
                Some(file) => kill::members_of(file.as_fd(), look),
                None => kill::members(self.directories[at].as_fd(), look),
            };
            read.map_err(|error| self.not_member(at, pid, Some(errno(&error))))?;
            if !found {
                return Err(self.not_member(at, pid, None));
            }
        }
        Ok(())
    }

    /// What the group has used since it was made.
    pub(crate) fn counters(&self) -> Counters {
        self.meters.counters()
    }

    /// Lets [`Group::peak_memory`] begin anew. `false`: this kernel cannot.
    pub(crate) fn reset_peak(&self) -> bool {
        self.meters.reset_peak()
    }

    /// The most memory in use at one time since the last reset, in bytes, the page cache included. `None` where the
    /// kernel cannot reset it: it would be the history of the slot.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.meters.peak_memory()
    }

    /// Memory in use, in bytes, the page cache included.
    pub(crate) fn memory_in_use(&self) -> Option<u64> {
        number(self.meters.in_use.as_ref())
    }

    /// Takes the bound on processor time away, so that what is killed gets to its end at once. [`Group::set`] puts
    /// it back.
    pub(crate) fn lift_quota(&self) -> io::Result<()> {
        self.knobs.lift_quota()
    }

    /// Kills all members (P1-HOST-27). They may be on their way to their end when this returns; see
    /// [`Group::wait_empty`]. The group must be retired then.
    ///
    /// Where the kernel cannot kill a group at once, it may make no more tasks, and its members are killed by
    /// signals in bounded rounds.
    pub(crate) fn kill(&self) -> io::Result<()> {
        if let Some(kill) = &self.kill {
            file::write(kill.as_fd(), b"1")?;
        }
        let Some(at) = self.parts.of(Controller::Pids) else { return Ok(()) };
        if self.kill.is_some() {
            if self.parts.all[at].version == Version::V1 {
                // Whoever was moved out of version 2 alone is in this hierarchy still. As a rule nobody is, and all
                // who are here are killed already; a member that stays keeps the group from being retired.
                let _ = kill::by_signals(self.directories[at].as_fd());
            }
            return Ok(());
        }
        let stopped = self.knobs.stop_forks();
        let mut killed = kill::by_signals(self.directories[at].as_fd());
        if let Some(unified) = self.parts.unified().filter(|unified| *unified != at) {
            killed = killed.and(kill::by_signals(self.directories[unified].as_fd()));
        }
        killed.and(stopped)
    }

    /// Whether no process is left. One that has ended and was not reaped yet does not count.
    pub(crate) fn is_empty(&self) -> io::Result<bool> {
        match &self.events {
            Some(events) => unpopulated(events.as_fd()),
            None => {
                let at = self.parts.of(Controller::Pids).ok_or(io::ErrorKind::NotFound)?;
                let mut empty = true;
                kill::members(self.directories[at].as_fd(), |_| {
                    empty = false;
                    false
                })?;
                Ok(empty)
            }
        }
    }

    /// Waits until no process is left, at most until then. `false`: time was up.
    pub(crate) fn wait_empty(&self, until: Instant) -> io::Result<bool> {
        let mut pause = LOOKS.0;
        loop {
            if self.is_empty()? {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            match &self.events {
                // The file was read above; any change since then ends the wait.
                Some(events) => {
                    let mut file = [PollFd::new(events, PollFlags::PRI)];
                    let time = Timespec {
                        tv_sec: left.as_secs().min(3600) as i64,
                        tv_nsec: left.subsec_nanos().into(),
                    };
                    match rustix::event::poll(&mut file, Some(&time)) {
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(errno) => return Err(errno.into()),
                    }
                }
                None => {
                    std::thread::sleep(pause.min(left));
                    pause = (pause * 2).min(LOOKS.1);
                }
            }
        }
    }

    /// Removes the group, which must be empty, in every hierarchy. What could not be removed goes with the tree.
    ///
    /// # Errors
    /// The first directory that could not be removed in half a second, by name.
    pub(crate) fn retire(self) -> io::Result<()> {
        let until = Instant::now() + RETIRE_PATIENCE;
        let mut result = Ok(());
        for part in &self.parts.all {
            let mut pause = LOOKS.0;
            let removed = loop {
                match rustix::fs::unlinkat(&part.directory, self.name.as_str(), AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT) => break Ok(()),
                    // The last member may be leaving.
                    Err(Errno::BUSY) if Instant::now() < until => {
                        std::thread::sleep(pause);
                        pause = (pause * 2).min(LOOKS.1);
                    }
                    Err(errno) => break Err(io::Error::from(errno)),
                }
            };
            if let (Err(error), true) = (removed, result.is_ok()) {
                let path = part.path.join(&self.name);
                result = Err(io::Error::new(error.kind(), format!("removing {}: {error}", path.display())));
            }
        }
        result
    }

    fn not_member(&self, at: usize, pid: i32, errno: Option<Errno>) -> LimitFault {
        LimitFault {
            limit: "membership",
            file: self.parts.all[at].path.join(&self.name).join(kill::PROCS),
            wanted: format!("the group of process {pid}"),
            actual: if errno.is_some() { String::new() } else { "without it".into() },
            errno,
        }
    }
}

/// Makes a directory; one that is in the way is taken apart first.
fn make_directory(parent: BorrowedFd<'_>, path: &Path, name: &str) -> io::Result<OwnedFd> {
    let make = || rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o755));
    match make() {
        Err(Errno::EXIST) => {
            let old = Remains::open(parent, name, path)?;
            if let Some((_, error)) = remains::clear(vec![old], Instant::now() + REMAKE_PATIENCE).pop() {
                return Err(error);
            }
            make()?;
        }
        other => other?,
    }
    file::directory(parent, name)
}

fn unpopulated(events: BorrowedFd<'_>) -> io::Result<bool> {
    let mut buffer = [0; ROOM];
    match file::keyed(file::read(events, &mut buffer)?, "populated") {
        Some(number) => Ok(number == 0),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "cgroup.events without a line \"populated\"")),
    }
}

fn number(file: Option<&OwnedFd>) -> Option<u64> {
    let mut buffer = [0; ROOM];
    file::number(file::read(file?.as_fd(), &mut buffer).ok()?)
}

/// Files that count. One that this kernel lacks is `None`.
#[derive(Debug)]
struct Meters {
    in_use: Option<OwnedFd>,
    /// Each writable, or absent. The first is memory alone.
    peaks: Vec<OwnedFd>,
    oom: Option<OwnedFd>,
    tasks: Option<OwnedFd>,
    throttle: Option<OwnedFd>,
    usage: Usage,
}

/// Where processor time is counted.
#[derive(Debug)]
enum Usage {
    /// `usage_usec` of this `cpu.stat`.
    Stat(OwnedFd),
    /// The file with the limits is the one.
    Throttle,
    /// A number of nanoseconds.
    Nanoseconds(OwnedFd),
    Unknown,
}

impl Meters {
    fn open(
        memory: Directory<'_>,
        pids: Directory<'_>,
        cpu: Directory<'_>,
        unified: Option<BorrowedFd<'_>>,
        count: Option<BorrowedFd<'_>>,
    ) -> Self {
        let read = |fd, name| file::open(fd, name, OFlags::RDONLY).ok();
        let (in_use, peaks, oom): (_, &[&str], _) = match memory.version {
            Version::V1 => (
                "memory.usage_in_bytes",
                &["memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes"],
                "memory.oom_control",
            ),
            Version::V2 => ("memory.current", &["memory.peak"], "memory.events"),
        };
        // A kernel that cannot reset it says so to the first write.
        let peak = |name: &&str| {
            let file = file::open(memory.fd, name, OFlags::RDWR).ok()?;
            file::write(file.as_fd(), b"0").is_ok().then_some(file)
        };
        let usage = match (cpu.version, unified, count) {
            (Version::V2, _, _) => Usage::Throttle,
            (_, Some(fd), _) => read(fd, "cpu.stat").map_or(Usage::Unknown, Usage::Stat),
            (_, None, Some(fd)) => read(fd, "cpuacct.usage").map_or(Usage::Unknown, Usage::Nanoseconds),
            (_, None, None) => Usage::Unknown,
        };
        Self {
            in_use: read(memory.fd, in_use),
            peaks: peaks.iter().map_while(peak).collect(),
            oom: read(memory.fd, oom),
            tasks: read(pids.fd, "pids.events"),
            throttle: read(cpu.fd, "cpu.stat"),
            usage,
        }
    }

    fn counters(&self) -> Counters {
        let value = |file: Option<&OwnedFd>, key: &str| {
            let mut buffer = [0; ROOM];
            file::keyed(file::read(file?.as_fd(), &mut buffer).ok()?, key)
        };
        let mut buffer = [0; ROOM];
        let throttle = self.throttle.as_ref().and_then(|file| file::read(file.as_fd(), &mut buffer).ok());
        let throttle = |key: &str| file::keyed(throttle?, key);
        Counters {
            cpu: match &self.usage {
                Usage::Stat(file) => value(Some(file), "usage_usec").map(Duration::from_micros),
                Usage::Throttle => throttle("usage_usec").map(Duration::from_micros),
                Usage::Nanoseconds(file) => number(Some(file)).map(Duration::from_nanos),
                Usage::Unknown => None,
            },
            oom_kills: value(self.oom.as_ref(), "oom_kill"),
            throttled_periods: throttle("nr_throttled"),
            throttled: throttle("throttled_usec")
                .map(Duration::from_micros)
                .or_else(|| throttle("throttled_time").map(Duration::from_nanos)),
            refused_tasks: value(self.tasks.as_ref(), "max"),
        }
    }

    fn reset_peak(&self) -> bool {
        !self.peaks.is_empty() && self.peaks.iter().all(|file| file::write(file.as_fd(), b"0").is_ok())
    }

    fn peak_memory(&self) -> Option<u64> {
        number(self.peaks.first())
    }
}
