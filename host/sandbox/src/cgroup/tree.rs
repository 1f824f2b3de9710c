//! The place of one host among the groups: a directory in each hierarchy, and the lock that says it lives.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::fixes::{Missing, Unavailable};
use super::group::Group;
use super::knobs::{LEAST_MEMORY, LimitFault};
use super::layout::{self, Hierarchy, LEAF, Layout, Sources};
use super::remains::{self, Remains};
use super::{Controller, Kind, Version, file, kill};
use crate::Limits;

/// Hosts at one time on one machine.
pub(crate) const INDEXES: u32 = 1024;

/// How often a place is looked for, if somebody comes into it each time before it is taken.
const LOOKS: u32 = 3;

/// How long to wait for other hosts that are starting.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// How long to take for the trees of hosts that are gone, all together.
const STALE_PATIENCE: Duration = Duration::from_secs(5);

/// How long to take for this host's own tree.
const DROP_PATIENCE: Duration = Duration::from_secs(5);

const GUARDIAN: &str = "guardian";

/// One hierarchy of a tree.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) version: Version,
    pub(super) controllers: Vec<Controller>,
    /// The group that the tree lies in, and its path.
    parent: OwnedFd,
    base: PathBuf,
    /// The tree, its path, and its name in the kernel.
    pub(super) directory: OwnedFd,
    pub(super) path: PathBuf,
    pub(super) group: PathBuf,
}

/// What the tree and its groups have in common.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) all: Vec<Part>,
    pub(super) kind: Kind,
    pub(super) sources: Sources,
}

impl Parts {
    /// The number of the hierarchy that has this controller.
    pub(super) fn of(&self, controller: Controller) -> Option<usize> {
        self.all.iter().position(|part| part.controllers.contains(&controller))
    }

    pub(super) fn unified(&self) -> Option<usize> {
        self.all.iter().position(|part| part.version == Version::V2)
    }
}

/// This host's groups: `modberth-<index>-<pid>-<random>` under the host's own group in each hierarchy.
///
/// The tree's directories are locked as long as the value lives, or as long as a process lives that got its
/// descriptors by a fork; a tree whose lock is free belongs to nobody and is removed by the next [`Tree::make`].
/// Dropping it kills what lives in it and removes it.
#[derive(Debug)]
pub(crate) struct Tree {
    parts: Arc<Parts>,
    name: String,
    /// Held, not used.
    _locks: Vec<OwnedFd>,
}

impl Tree {
    /// Makes a tree. Removes first what hosts have left that are gone; what cannot be removed is logged.
    ///
    /// In version 2 this process moves to the group `modberth-host` below its own where that is needed to hand
    /// controllers on: a group that does so can hold no processes itself, the topmost one excepted.
    ///
    /// # Errors
    /// What is missing for limits to hold, seen by making a group and setting its limits.
    pub(crate) fn make(layout: &Layout) -> Result<Self, Unavailable> {
        Self::make_within(layout, LOCK_PATIENCE)
    }

    /// Finds the place for a tree and makes it there. A process that comes into the host's group meanwhile, such as one
    /// that another thread of the host starts, makes it look again.
    ///
    /// # Errors
    /// As [`Layout::find`] and [`Tree::make`].
    pub(crate) fn here() -> Result<Self, Unavailable> {
        let mut layout = Layout::find()?;
        if let Some(why) = layout.unused() {
            tracing::debug!(why, "version 2 of control groups is not used, and groups are killed by signals");
        }
        for _ in 1..LOOKS {
            let unavailable = match Self::make(&layout) {
                Ok(tree) => return Ok(tree),
                Err(unavailable) => unavailable,
            };
            let again = Layout::find()?;
            // The same place fails the same way.
            if again.places() == layout.places() {
                return Err(unavailable);
            }
            layout = again;
        }
        Self::make(&layout)
    }

    /// The same with a wait for other hosts that is chosen.
    pub(super) fn make_within(layout: &Layout, patience: Duration) -> Result<Self, Unavailable> {
        let parents = parents(layout)?;
        let locked = lock_all(layout, &parents, patience)?;
        if let Some(at) = layout.hierarchies().iter().position(|one| one.version == Version::V2) {
            hand_on(&layout.hierarchies()[at], parents[at].as_fd()).map_err(|one| layout.unavailable(one))?;
        }
        let index = free_index(layout, &parents).map_err(|one| layout.unavailable(one))?;
        let name = name(index).map_err(|error| {
            let missing = Missing::new("groups", "no random number", "getrandom");
            layout.unavailable(missing.because(error))
        })?;
        let made = make_parts(layout, &parents, &name);
        drop(locked);
        let (parts, locks) = made.map_err(|one| layout.unavailable(one))?;
        let tree = Self { parts: Arc::new(parts), name, _locks: locks };
        tree.try_out().map_err(|one| layout.unavailable(one))?;
        Ok(tree)
    }

    /// The name of the tree's directory, the same in each hierarchy.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The tree's directory, once for each hierarchy. The groups of slots lie directly below, named
    /// `slot<slot>.<generation>`, which [`Tree::group_name`] gives.
    pub(crate) fn directories(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.parts.all.iter().map(|part| part.directory.as_fd())
    }

    /// The name of the directories of a group.
    pub(crate) fn group_name(slot: u32, generation: u32) -> String {
        format!("slot{slot}.{generation}")
    }

    /// Makes the group of a slot: a directory in each hierarchy. One of that name that is there is killed and
    /// removed first. Its limits are not set yet: see [`Group::set`].
    ///
    /// A group that was killed must not be used again, because some kernels then kill whatever is cloned into it;
    /// its slot goes on with the next generation.
    pub(crate) fn group(&self, slot: u32, generation: u32) -> io::Result<Group> {
        Group::make(&self.parts, &Self::group_name(slot, generation)).map_err(io::Error::other)
    }

    /// The tree's directory in version 2, where a group has `cgroup.kill` (since Linux 5.14), and `cpu.max` where
    /// version 2 bounds the processor.
    pub(crate) fn unified(&self) -> Option<BorrowedFd<'_>> {
        self.parts.unified().map(|at| self.parts.all[at].directory.as_fd())
    }

    /// The tree's directory in the hierarchy of version 1 that bounds the processor (`cpu.cfs_quota_us`).
    pub(crate) fn v1_cpu(&self) -> Option<BorrowedFd<'_>> {
        self.version_1(Controller::Cpu)
    }

    /// A group without limits for the process that guards this host's groups: in version 2 where that is there, else
    /// beside the groups that bound tasks. So a kill of the host's own group does not take the guardian along.
    /// Dropping the tree kills whoever is in it.
    pub(crate) fn guardian(&self) -> io::Result<GuardianGroup> {
        let at = self.parts.unified().or_else(|| self.parts.of(Controller::Pids));
        let part = at.map(|at| &self.parts.all[at]).ok_or(io::ErrorKind::NotFound)?;
        match rustix::fs::mkdirat(&part.directory, GUARDIAN, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let directory = file::directory(part.directory.as_fd(), GUARDIAN)?;
        prepare_cpuset(part, directory.as_fd())?;
        Ok(GuardianGroup { directory, version: part.version })
    }

    fn version_1(&self, controller: Controller) -> Option<BorrowedFd<'_>> {
        let part = &self.parts.all[self.parts.of(controller)?];
        (part.version == Version::V1).then(|| part.directory.as_fd())
    }

    /// Makes a group and sets the smallest limits, so that a file that this kernel lacks is found now.
    fn try_out(&self) -> Result<(), Missing> {
        let mut limits = Limits::default();
        (limits.memory_bytes, limits.tasks, limits.cpu_percent) = (LEAST_MEMORY, 1, 1);
        let failed = |fault: LimitFault| {
            if fault.limit == "swap" && fault.errno.is_none() && fault.file == self.parts.sources.swaps {
                return layout::without_swap_accounting(fault.file);
            }
            let what = match fault.limit {
                "swap" => "swap accounting",
                "tasks" => "pids",
                other => other,
            };
            let why = if fault.errno.is_some() { "cannot be used" } else { "does not hold what was written" };
            let missing = Missing::new(what, why, fault.file);
            match fault.errno {
                Some(errno) => missing.because(errno),
                None => missing,
            }
        };
        let mut group = Group::make(&self.parts, "trial").map_err(failed)?;
        let set = group.set(&limits);
        let path = self.parts.all[0].path.join("trial");
        group.retire().map_err(|error| Missing::new("groups", "cannot be removed", path).because(error))?;
        set.map_err(failed)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        for (path, error) in remove(&self.parts.all, &self.name) {
            tracing::warn!(path = %path.display(), %error, "a control group could not be removed");
        }
    }
}

/// The group of a guardian process. See [`Tree::guardian`].
#[derive(Debug)]
pub(crate) struct GuardianGroup {
    directory: OwnedFd,
    version: Version,
}

impl GuardianGroup {
    /// For CLONE_INTO_CGROUP, in version 2.
    #[expect(clippy::wrong_self_convention, reason = "it names what is done with the descriptor")]
    pub(crate) fn into_fd(&self) -> Option<BorrowedFd<'_>> {
        (self.version == Version::V2).then(|| self.directory.as_fd())
    }

    /// Moves a process into it.
    pub(crate) fn adopt(&self, pid: i32) -> io::Result<()> {
        file::write_at(self.directory.as_fd(), kill::PROCS, pid.to_string().as_bytes())
    }
}

/// The groups that the tree goes into, opened.
fn parents(layout: &Layout) -> Result<Vec<OwnedFd>, Unavailable> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |one: &Hierarchy| {
        rustix::fs::open(&one.base, flags, Mode::empty()).map_err(|errno| {
            layout.unavailable(Missing::new("groups", "cannot be opened", &one.base).because(errno))
        })
    };
    layout.hierarchies().iter().map(open).collect()
}

/// Locks the parents against other hosts that are starting. All hosts take them in the same order.
fn lock_all(layout: &Layout, parents: &[OwnedFd], patience: Duration) -> Result<Vec<OwnedFd>, Unavailable> {
    let until = Instant::now() + patience;
    let fault = |at: usize, why: &str, error: io::Error| {
        let missing = Missing::new("groups", why, &layout.hierarchies()[at].base);
        layout.unavailable(missing.because(error))
    };
    let mut order = Vec::with_capacity(parents.len());
    for (at, parent) in parents.iter().enumerate() {
        let stat =
            rustix::fs::fstat(parent).map_err(|errno| fault(at, "cannot be looked at", errno.into()))?;
        order.push((stat.st_dev, stat.st_ino, at));
    }
    order.sort_unstable();
    let mut locks = Vec::with_capacity(parents.len());
    for (_, _, at) in order {
        let lock = file::directory(parents[at].as_fd(), ".")
            .map_err(|error| fault(at, "cannot be opened for a lock", error))?;
        while !try_lock(&lock).map_err(|error| fault(at, "cannot be locked", error))? {
            if Instant::now() >= until {
                let why = format!("still locked by another process after {} ms", patience.as_millis());
                return Err(fault(at, &why, io::ErrorKind::TimedOut.into()));
            }
            // A lock that is waited for with a deadline has to be asked for again and again.
            std::thread::sleep(Duration::from_millis(2));
        }
        locks.push(lock);
    }
    Ok(locks)
}

fn try_lock(directory: &OwnedFd) -> io::Result<bool> {
    match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Hands the controllers of version 2 that are needed on to the groups below `base`.
fn hand_on(hierarchy: &Hierarchy, base: BorrowedFd<'_>) -> Result<(), Missing> {
    let path = hierarchy.base.join("cgroup.subtree_control");
    let failed =
        |error: io::Error| Missing::new("groups", "controllers cannot be enabled", &path).because(error);
    if enabled(base, &hierarchy.controllers).map_err(failed)? {
        return Ok(());
    }
    match enable(base, &hierarchy.controllers) {
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) && hierarchy.own == hierarchy.base => {}
        other => return other.map_err(failed),
    }
    // Processes in the group forbid it. This one can go to a leaf.
    let leaf = hierarchy.base.join(LEAF);
    let stuck =
        |error: io::Error| Missing::new("groups", "the host cannot move into its leaf", &leaf).because(error);
    match rustix::fs::mkdirat(base, LEAF, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(stuck(errno.into())),
    }
    let directory = file::directory(base, LEAF).map_err(stuck)?;
    file::write_at(directory.as_fd(), kill::PROCS, b"0").map_err(stuck)?;
    enable(base, &hierarchy.controllers).map_err(|error| {
        let others: Vec<String> = kill::list(base).unwrap_or_default().iter().map(i32::to_string).collect();
        if error.raw_os_error() != Some(libc::EBUSY) || others.is_empty() {
            return failed(error);
        }
        let why = format!("the host needs a group of its own; other processes in it: {}", others.join(", "));
        Missing::new("groups", why, hierarchy.base.join(kill::PROCS))
    })
}

/// Whether a group hands all of these controllers on.
pub(super) fn enabled(directory: BorrowedFd<'_>, controllers: &[Controller]) -> io::Result<bool> {
    let mut buffer = [0; file::ROOM];
    let content = file::read_at(directory, "cgroup.subtree_control", &mut buffer)?;
    let has =
        |one: &Controller| content.split(|&byte| byte == b' ').any(|name| name == one.name().as_bytes());
    Ok(controllers.iter().all(has))
}

fn enable(directory: BorrowedFd<'_>, controllers: &[Controller]) -> io::Result<()> {
    let names: Vec<String> = controllers.iter().map(|one| format!("+{}", one.name())).collect();
    if names.is_empty() {
        return Ok(());
    }
    file::write_at(directory, "cgroup.subtree_control", names.join(" ").as_bytes())
}

/// The smallest index that no tree has, after trees of hosts that are gone were removed.
fn free_index(layout: &Layout, parents: &[OwnedFd]) -> Result<u32, Missing> {
    let mut stale = Vec::new();
    let mut locks = Vec::new();
    let mut listed = Vec::new();
    for (hierarchy, parent) in layout.hierarchies().iter().zip(parents) {
        let failed = |error| Missing::new("groups", "cannot be listed", &hierarchy.base).because(error);
        for name in remains::directories(parent.as_fd()).map_err(failed)? {
            let Some(index) = index_of(&name) else { continue };
            listed.push((parent.as_fd(), name.clone(), index));
            // A tree that is just being removed by its host is none of this host's business.
            let Ok(lock) = file::directory(parent.as_fd(), &name) else { continue };
            if try_lock(&lock).unwrap_or(false)
                && let Ok(one) = Remains::open(parent.as_fd(), &name, &hierarchy.base)
            {
                stale.push(one);
                locks.push(lock);
            }
        }
    }
    for (path, error) in remains::clear(stale, Instant::now() + STALE_PATIENCE) {
        tracing::warn!(path = %path.display(), %error, "the control group of a host that is gone could not be removed");
    }
    drop(locks);
    let there = |parent: BorrowedFd<'_>, name: &str| {
        rustix::fs::accessat(parent, name, rustix::fs::Access::EXISTS, rustix::fs::AtFlags::empty()).is_ok()
    };
    let taken: Vec<u32> = listed
        .into_iter()
        .filter(|(parent, name, _)| there(*parent, name))
        .map(|(_, _, index)| index)
        .collect();
    (0..INDEXES).find(|index| !taken.contains(index)).ok_or_else(|| {
        let base = layout.hierarchies().first().map_or(Path::new(""), |one| &one.base);
        Missing::new(
            "groups",
            format!("{INDEXES} hosts run on this machine already, the most there can be"),
            base,
        )
    })
}

/// This host's number in the name of its tree, the smallest that was free: `modberth-<index>-<pid>-<random>`.
pub(super) fn index_of(name: &str) -> Option<u32> {
    let mut parts = name.strip_prefix("modberth-")?.split('-');
    let (index, pid, random) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let hex = random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    let right = digits(index) && digits(pid) && hex && parts.next().is_none();
    index.parse().ok().filter(|index| right && *index < INDEXES)
}

fn name(index: u32) -> io::Result<String> {
    let mut random = [0u8; 8];
    // SAFETY: the kernel writes at most the given length into the buffer.
    let length = unsafe { libc::getrandom(random.as_mut_ptr().cast(), random.len(), 0) };
    if length != random.len() as isize {
        return Err(io::Error::last_os_error());
    }
    Ok(format!("modberth-{index}-{}-{:016x}", std::process::id(), u64::from_ne_bytes(random)))
}

/// Makes and locks the directories. After a failure none is left.
fn make_parts(layout: &Layout, parents: &[OwnedFd], name: &str) -> Result<(Parts, Vec<OwnedFd>), Missing> {
    let mut all = Vec::with_capacity(parents.len());
    let mut locks = Vec::with_capacity(parents.len());
    for (hierarchy, parent) in layout.hierarchies().iter().zip(parents) {
        match make_part(hierarchy, parent, name) {
            Ok((part, lock)) => {
                all.push(part);
                locks.push(lock);
            }
            Err(error) => {
                // What stays after a failure is removed as a stale tree by the next host.
                let _ = remove(&all, name);
                let _ = rustix::fs::unlinkat(parent, name, rustix::fs::AtFlags::REMOVEDIR);
                let why = "a group for the host cannot be made";
                return Err(Missing::new("groups", why, hierarchy.base.join(name)).because(error));
            }
        }
    }
    Ok((Parts { all, kind: layout.kind(), sources: layout.sources().clone() }, locks))
}

fn make_part(hierarchy: &Hierarchy, parent: &OwnedFd, name: &str) -> io::Result<(Part, OwnedFd)> {
    rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
    let directory = file::directory(parent.as_fd(), name)?;
    let lock = file::directory(parent.as_fd(), name)?;
    if !try_lock(&lock)? {
        return Err(io::Error::other("another process has locked it"));
    }
    if hierarchy.version == Version::V2 {
        enable(directory.as_fd(), &hierarchy.controllers)?;
    }
    let part = Part {
        version: hierarchy.version,
        controllers: hierarchy.controllers.clone(),
        parent: parent.try_clone()?,
        base: hierarchy.base.clone(),
        path: hierarchy.base.join(name),
        group: hierarchy.group.join(name),
        directory,
    };
    inherit_cpuset(&part, parent.as_fd(), part.directory.as_fd())?;
    Ok((part, lock))
}

/// A group of version 1 that shares its hierarchy with `cpuset` takes no process before it was told its processors.
pub(super) fn prepare_cpuset(part: &Part, group: BorrowedFd<'_>) -> io::Result<()> {
    inherit_cpuset(part, part.directory.as_fd(), group)
}

fn inherit_cpuset(part: &Part, parent: BorrowedFd<'_>, group: BorrowedFd<'_>) -> io::Result<()> {
    if part.version == Version::V2 || !part.controllers.contains(&Controller::Cpuset) {
        return Ok(());
    }
    for name in ["cpuset.cpus", "cpuset.mems"] {
        let mut buffer = [0; file::ROOM];
        let content = file::read_at(parent, name, &mut buffer)?;
        file::write_at(group, name, content)?;
    }
    Ok(())
}

/// Kills and removes a tree in all its hierarchies. What is left comes back with the reason.
fn remove(parts: &[Part], name: &str) -> Vec<(PathBuf, io::Error)> {
    let mut faults = Vec::new();
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        match Remains::open(part.parent.as_fd(), name, &part.base) {
            Ok(one) => all.push(one),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => faults.push((part.path.clone(), error)),
        }
    }
    faults.extend(remains::clear(all, Instant::now() + DROP_PATIENCE));
    faults
}
