//! What control groups this machine has, and which of them this host may use. Nothing is changed here.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, Mode, OFlags};

use super::file::{self, ROOM};
use super::fixes::{Missing, Mount, Unavailable};
use super::parse::{self, Found};
use super::{Controller, Kind, Version};

/// The leaf that a host moves itself to: in version 2 a group that hands controllers on holds no processes.
pub(super) const LEAF: &str = "modberth-host";

/// Bytes read of each file below `/proc` at most. A machine with thousands of mounts has some hundred KiB.
const LONGEST: u64 = 16 << 20;

const CGROUP_MAGIC: u64 = 0x0027_e0eb;
const CGROUP2_MAGIC: u64 = 0x6367_7270;

/// The files that tell it.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub(super) mountinfo: PathBuf,
    pub(super) cgroup: PathBuf,
    pub(super) swaps: PathBuf,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            mountinfo: "/proc/self/mountinfo".into(),
            cgroup: "/proc/self/cgroup".into(),
            swaps: "/proc/swaps".into(),
        }
    }
}

/// A hierarchy that the host uses.
#[derive(Debug, Clone)]
pub(super) struct Hierarchy {
    pub(super) version: Version,
    /// Those that are used here.
    pub(super) controllers: Vec<Controller>,
    /// Where the hierarchy is mounted.
    pub(super) mount: PathBuf,
    /// The host's own group.
    pub(super) own: PathBuf,
    /// Where the host's tree goes: its own group, or the group above where the host sits in its leaf.
    pub(super) base: PathBuf,
    /// The same as the kernel names it to this process.
    pub(super) group: PathBuf,
}

impl Hierarchy {
    fn mount(&self) -> Mount {
        mount(self.version, &self.controllers, Some(&self.mount))
    }
}

/// A mount for the commands that a person is told. Where there is none, it is put where it usually is.
fn mount(version: Version, controllers: &[Controller], point: Option<&Path>) -> Mount {
    let names: Vec<&str> = controllers.iter().map(|one| one.name()).collect();
    let controllers = names.join(",");
    let usual = match version {
        Version::V1 => Path::new("/sys/fs/cgroup").join(&controllers),
        Version::V2 => "/sys/fs/cgroup".into(),
    };
    Mount { absent: point.is_none(), point: point.map_or(usual, Path::to_owned), version, controllers }
}

/// Where one limit of this host's modules is kept, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// `memory`, `pids`, `cpu`, or `kill` for the hierarchy that ends a group at once.
    pub(crate) what: &'static str,
    /// The interface.
    pub(crate) version: Version,
    /// The group below which this host makes its own.
    pub(crate) path: PathBuf,
}

/// What this machine has: hierarchies, and the host's own group in each. Every needed limit has a place in it that
/// the host may write to.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    kind: Kind,
    hierarchies: Vec<Hierarchy>,
    sources: Sources,
    unused: Option<String>,
}

impl Layout {
    /// Looks at the mounts and the groups of this process.
    ///
    /// # Errors
    /// Everything that is missing for limits to hold, and how to get it.
    pub(crate) fn find() -> Result<Self, Unavailable> {
        Self::find_from(Sources::default())
    }

    pub(super) fn find_from(sources: Sources) -> Result<Self, Unavailable> {
        let read = |path: &Path| {
            content(path).map_err(|error| Unavailable {
                kind: None,
                missing: vec![Missing::new("groups", "cannot be read", path).because(error)],
                mounts: Vec::new(),
            })
        };
        let (mountinfo, cgroup) = (read(&sources.mountinfo)?, read(&sources.cgroup)?);
        let parsed = parse::hierarchies(&mountinfo, &cgroup);
        Search::default().run(&parsed, sources)
    }

    /// The arrangement.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Where each limit is kept, and where a group can be killed at once, if it can.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for hierarchy in &self.hierarchies {
            let whats = Controller::NEEDED.into_iter().filter(|one| hierarchy.controllers.contains(one));
            let kill = (hierarchy.version == Version::V2).then_some("kill");
            places.extend(whats.map(Controller::name).chain(kill).map(|what| Place {
                what,
                version: hierarchy.version,
                path: hierarchy.base.clone(),
            }));
        }
        places
    }

    /// Why a version 2 hierarchy that is there is not used. Groups are then killed by signals.
    pub(crate) fn unused(&self) -> Option<&str> {
        self.unused.as_deref()
    }

    pub(super) fn hierarchies(&self) -> &[Hierarchy] {
        &self.hierarchies
    }

    pub(super) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// An error of this arrangement.
    pub(super) fn unavailable(&self, missing: Missing) -> Unavailable {
        let needed =
            |one: &&Hierarchy| one.version == Version::V2 || one.controllers != [Controller::Cpuacct];
        let mounts = self.hierarchies.iter().filter(needed).map(Hierarchy::mount).collect();
        Unavailable::one(self.kind, mounts, missing)
    }
}

fn parent(group: &Path) -> PathBuf {
    group.parent().unwrap_or(group).to_owned()
}

/// The whole of a file below `/proc`.
pub(super) fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    std::fs::File::open(path)?.take(LONGEST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("longer than {} MiB", LONGEST >> 20)));
    }
    Ok(content)
}

/// Whether the text of `/proc/swaps` lists none: its first line is a heading.
pub(super) fn no_swap(content: &[u8]) -> bool {
    content.starts_with(b"Filename") && content.split(|&byte| byte == b'\n').skip(1).all(<[u8]>::is_empty)
}

/// Whether the machine has swap in use; `None` where that cannot be read.
pub(crate) fn swap_in_use() -> Option<bool> {
    content(&Sources::default().swaps).ok().map(|swaps| !no_swap(&swaps))
}

/// Collects what can be used and what is missing.
#[derive(Default)]
struct Search {
    hierarchies: Vec<Hierarchy>,
    missing: Vec<Missing>,
    mounts: Vec<Mount>,
    unused: Option<String>,
}

impl Search {
    fn run(mut self, parsed: &[parse::Hierarchy], sources: Sources) -> Result<Layout, Unavailable> {
        let bound = |version: Version| parsed.iter().filter(move |one| one.version == version);
        let mut needed: Vec<Controller> = Controller::NEEDED.to_vec();
        for hierarchy in bound(Version::V1) {
            needed.retain(|one| !hierarchy.controllers.contains(one));
        }
        // What version 1 does not hold must be in version 2.
        let kind = match (needed.len(), bound(Version::V2).next()) {
            (_, None) => Kind::V1,
            (3, Some(_)) => Kind::V2,
            (_, Some(unified)) if unified.places.is_empty() => Kind::V1,
            _ => Kind::Hybrid,
        };
        let unified = match bound(Version::V2).next() {
            Some(hierarchy) => self.unified(hierarchy, &needed),
            None => {
                for one in &needed {
                    let path = &sources.cgroup;
                    self.missing.push(Missing::new(one.name(), "this kernel has no such controller", path));
                }
                false
            }
        };
        for hierarchy in bound(Version::V1) {
            // Version 2 counts processor time by itself.
            let optional = hierarchy.controllers.iter().all(|one| !Controller::NEEDED.contains(one));
            if optional && (unified || !hierarchy.controllers.contains(&Controller::Cpuacct)) {
                continue;
            }
            self.version_1(hierarchy, optional);
        }
        let kind = if kind == Kind::Hybrid && !unified { Kind::V1 } else { kind };
        self.swap(&sources);
        if !self.missing.is_empty() {
            return Err(Unavailable { kind: Some(kind), missing: self.missing, mounts: self.mounts });
        }
        Ok(Layout { kind, hierarchies: self.hierarchies, sources, unused: self.unused })
    }

    /// Looks at version 2, which has to supply `needed`. Whether it can be used.
    fn unified(&mut self, hierarchy: &parse::Hierarchy, needed: &[Controller]) -> bool {
        let mut problems = Vec::new();
        let point = hierarchy.places.first().map(|found| found.mount.as_path());
        if point.is_some() || !needed.is_empty() {
            self.mounts.push(mount(Version::V2, &[], point));
        }
        let whats: Vec<&'static str> = needed.iter().map(|one| one.name()).collect();
        let result = locate(hierarchy).and_then(|(found, own)| {
            // What lies above a mount point is no group.
            let leaf = found.directory != found.mount
                && found.directory.file_name().is_some_and(|name| name == LEAF);
            let mut group = if leaf { parent(&hierarchy.group) } else { hierarchy.group.clone() };
            let (mut base, mut directory) = match found.directory.parent() {
                Some(parent) if leaf => (parent.to_owned(), open(parent)?),
                _ => (found.directory.clone(), own),
            };
            // Others may be in the way beside a leaf as well.
            if is_crowded(directory.as_fd(), &base, &found.mount, needed)
                && let Some(steps) = room_above(&base, &found.mount, needed)
            {
                for _ in 0..steps {
                    (base, group) = (parent(&base), parent(&group));
                }
                directory = open(&base)?;
            }
            for name in [".", "cgroup.procs"] {
                writable(directory.as_fd(), name, &base)?;
            }
            problems = handed_on(directory.as_fd(), &base, needed);
            self.hierarchies.push(Hierarchy {
                version: Version::V2,
                controllers: needed.to_vec(),
                mount: found.mount.clone(),
                own: found.directory.clone(),
                base,
                group,
            });
            Ok(())
        });
        let usable = result.is_ok();
        match result {
            Ok(()) => self.missing.append(&mut problems),
            Err(fault) if whats.is_empty() => self.unused = Some(fault.missing("version 2").to_string()),
            Err(fault) => self.missing.extend(whats.into_iter().map(|what| fault.missing(what))),
        }
        usable
    }

    fn version_1(&mut self, hierarchy: &parse::Hierarchy, optional: bool) {
        if !optional {
            let point = hierarchy.places.first().map(|found| found.mount.as_path());
            self.mounts.push(mount(Version::V1, &hierarchy.controllers, point));
        }
        let result = locate(hierarchy).and_then(|(found, directory)| {
            writable(directory.as_fd(), ".", &found.directory)?;
            self.hierarchies.push(Hierarchy {
                version: Version::V1,
                controllers: hierarchy.controllers.clone(),
                mount: found.mount.clone(),
                own: found.directory.clone(),
                base: found.directory.clone(),
                group: hierarchy.group.clone(),
            });
            Ok(())
        });
        if let (Err(fault), false) = (result, optional) {
            let needed = Controller::NEEDED.into_iter().filter(|one| hierarchy.controllers.contains(one));
            self.missing.extend(needed.map(|one| fault.missing(one.name())));
        }
    }

    /// Swap must be counted, or there must be none.
    fn swap(&mut self, sources: &Sources) {
        let Some(memory) = self.hierarchies.iter().find(|one| one.controllers.contains(&Controller::Memory))
        else {
            return;
        };
        let name = match memory.version {
            Version::V1 => "memory.memsw.limit_in_bytes",
            // The topmost group has no limits; what the kernel can do shows in the groups made below it.
            Version::V2 if !memory.base.join("memory.max").exists() => return,
            Version::V2 => "memory.swap.max",
        };
        let path = memory.base.join(name);
        if !path.exists() && !content(&sources.swaps).is_ok_and(|swaps| no_swap(&swaps)) {
            self.missing.push(without_swap_accounting(path));
        }
    }
}

pub(super) fn without_swap_accounting(path: PathBuf) -> Missing {
    let why = "the kernel does not count swap (start it with swapaccount=1), and the machine has swap in use";
    Missing::new("swap accounting", why, path)
}

/// Whether a group holds processes beside this one, so that it cannot be made to hand controllers on.
fn is_crowded(directory: BorrowedFd<'_>, base: &Path, mount: &Path, needed: &[Controller]) -> bool {
    let own = std::process::id() as i32;
    base != mount
        && !super::tree::enabled(directory, needed).unwrap_or(true)
        && super::kill::list(directory).is_ok_and(|members| members.iter().any(|pid| *pid != own))
}

/// How far above a crowded group there is one that this host may use all the same: it holds no processes itself, and
/// hands the controllers on or can be made to. Root finds one in most machines; an ordinary user does not.
fn room_above(group: &Path, mount: &Path, needed: &[Controller]) -> Option<usize> {
    let above = group.ancestors().skip(1).take_while(|path| path.starts_with(mount));
    for (step, path) in above.enumerate() {
        let Ok(directory) = open(path) else { return None };
        let fd = directory.as_fd();
        let may = [".", "cgroup.procs"].into_iter().all(|name| writable(fd, name, path).is_ok());
        if may && handed_on(fd, path, needed).is_empty() && !is_crowded(fd, path, mount, needed) {
            return Some(step + 1);
        }
    }
    None
}

/// Controllers of `needed` that `base` neither hands on nor can be made to.
fn handed_on(directory: BorrowedFd<'_>, base: &Path, needed: &[Controller]) -> Vec<Missing> {
    let names = |file: &str| -> Result<Vec<Controller>, Missing> {
        let mut buffer = [0; ROOM];
        let content = file::read_at(directory, file, &mut buffer)
            .map_err(|error| Missing::new("groups", "cannot be read", base.join(file)).because(error))?;
        Ok(content.split(|&byte| byte == b' ').filter_map(Controller::from_name).collect())
    };
    let (present, enabled) = match (names("cgroup.controllers"), names("cgroup.subtree_control")) {
        (Ok(present), Ok(enabled)) => (present, enabled),
        (Err(missing), _) | (_, Err(missing)) => {
            return if needed.is_empty() { vec![] } else { vec![missing] };
        }
    };
    let may_enable = writable(directory, "cgroup.subtree_control", base);
    let mut missing = Vec::new();
    for one in needed {
        if !present.contains(one) {
            let why = "not delegated: the group above the host's does not hand this controller on";
            missing.push(Missing::new(one.name(), why, base.join("cgroup.controllers")));
        } else if !enabled.contains(one)
            && let Err(fault) = &may_enable
        {
            let path = base.join("cgroup.subtree_control");
            missing
                .push(Missing::new(one.name(), "not enabled, and not writable", path).because(fault.errno()));
        }
    }
    missing
}

/// Why a group cannot be used.
struct Fault {
    why: &'static str,
    path: PathBuf,
    raw: Option<i32>,
}

impl Fault {
    fn missing(&self, what: &'static str) -> Missing {
        let missing = Missing::new(what, self.why, &self.path);
        match self.raw {
            Some(raw) => missing.because(io::Error::from_raw_os_error(raw)),
            None => missing,
        }
    }

    fn errno(&self) -> io::Error {
        self.raw.map_or_else(|| io::ErrorKind::PermissionDenied.into(), io::Error::from_raw_os_error)
    }
}

/// The place of a hierarchy's group that is there and is what it should be.
fn locate(hierarchy: &parse::Hierarchy) -> Result<(&Found, OwnedFd), Fault> {
    let mut fault = match hierarchy.elsewhere.first() {
        Some(mount) => Fault {
            why: "the mount does not show the host's own group (another cgroup namespace, or a part of the hierarchy)",
            path: mount.clone(),
            raw: None,
        },
        None => {
            Fault { why: "not mounted; the host's own group is", path: hierarchy.group.clone(), raw: None }
        }
    };
    for found in &hierarchy.places {
        match check(hierarchy.version, found) {
            Ok(directory) => return Ok((found, directory)),
            Err(other) => fault = other,
        }
    }
    Err(fault)
}

fn open(path: &Path) -> Result<OwnedFd, Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| Fault {
        why: "the host's own group cannot be opened",
        path: path.to_owned(),
        raw: Some(errno.raw_os_error()),
    })
}

fn check(version: Version, found: &Found) -> Result<OwnedFd, Fault> {
    let fault = |why| Fault { why, path: found.directory.clone(), raw: None };
    let directory = open(&found.directory)?;
    let failed =
        |errno: rustix::io::Errno| Fault { raw: Some(errno.raw_os_error()), ..fault("cannot be looked at") };
    let system = rustix::fs::fstatfs(&directory).map_err(failed)?;
    let magic = match version {
        Version::V1 => CGROUP_MAGIC,
        Version::V2 => CGROUP2_MAGIC,
    };
    let stat = rustix::fs::fstat(&directory).map_err(failed)?;
    let device = (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
    if system.f_type as u64 != magic || device != found.device {
        return Err(fault("another mount lies over it"));
    }
    Ok(directory)
}

fn writable(directory: BorrowedFd<'_>, name: &str, path: &Path) -> Result<(), Fault> {
    rustix::fs::accessat(directory, name, Access::WRITE_OK, AtFlags::EACCESS).map_err(|errno| Fault {
        why: "not delegated to the host's user, or mounted read-only",
        path: if name == "." { path.to_owned() } else { path.join(name) },
        raw: Some(errno.raw_os_error()),
    })
}
