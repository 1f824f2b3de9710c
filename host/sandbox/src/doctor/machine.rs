//! What this machine has.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cgroup::{Layout, Unavailable, Version};
use crate::child::call;
use crate::landlock;

/// What this machine has, as far as it concerns the confinement of modules.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Machine {
    /// The kernel's release, such as `6.1.0-18-amd64`.
    pub kernel: String,
    /// The architecture as the kernel names it, such as `x86_64`.
    pub architecture: String,
    /// The user who runs the host; 0 is root.
    pub user: u32,
    /// How control groups are arranged: `v1`, `hybrid` or `v2`; `None` where that cannot be told.
    pub groups: Option<String>,
    /// Where the host may make control groups, one for each limit; empty where it may not.
    pub places: Vec<Place>,
    /// Why a version 2 hierarchy that is there is not used: groups are then killed by signals.
    pub unused: Option<String>,
    /// Whether the kernel counts swap for a group; `None` where that shows only in groups yet to be made.
    pub swap_counted: Option<bool>,
    /// Whether any swap is in use on the machine; `None` where that cannot be read.
    pub swap_in_use: Option<bool>,
    /// Settings of the kernel that decide who may make user namespaces.
    pub user_namespaces: Vec<Setting>,
    /// Whether the kernel filters system calls.
    pub seccomp: bool,
    /// The version of Landlock, from 1; `None` where the kernel has none or did not switch it on.
    pub landlock: Option<u32>,
}

/// Where one limit is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// `memory`, `pids`, `cpu`, or `kill` for the hierarchy that ends a group at once.
    pub limit: &'static str,
    /// The version of control groups, 1 or 2.
    pub version: u8,
    /// The group below which the host makes its own.
    pub path: PathBuf,
}

/// A setting of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// Its name, as `sysctl` takes it.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// What it would have to be for an ordinary user to make user namespaces; `None` where it permits them already.
    pub wanted: Option<u64>,
}

/// A setting about user namespaces: its name, whether a value permits them, and one that does.
type Known = (&'static str, fn(u64) -> bool, u64);

const SETTINGS: [Known; 3] = [
    ("user.max_user_namespaces", |value| value > 0, 15_000),
    // Debian and others.
    ("kernel.unprivileged_userns_clone", |value| value != 0, 1),
    // Ubuntu.
    ("kernel.apparmor_restrict_unprivileged_userns", |value| value == 0, 0),
];

impl Machine {
    /// Looks at this machine. `layout`: what its control groups are, or why they cannot be used.
    pub(super) fn look(layout: Result<&Layout, &Unavailable>) -> Self {
        let system = rustix::system::uname();
        let kind = layout.map_or_else(|unavailable| unavailable.kind, |layout| Some(layout.kind()));
        let layout = layout.ok();
        let memory =
            layout.and_then(|layout| layout.places().into_iter().find(|place| place.what == "memory"));
        Self {
            kernel: system.release().to_string_lossy().into_owned(),
            architecture: system.machine().to_string_lossy().into_owned(),
            user: rustix::process::geteuid().as_raw(),
            groups: kind.map(|kind| kind.to_string()),
            places: layout.map(places).unwrap_or_default(),
            unused: layout.and_then(|layout| layout.unused().map(str::to_owned)),
            swap_counted: memory.and_then(|memory| counts_swap(memory.version, &memory.path)),
            swap_in_use: crate::cgroup::swap_in_use(),
            user_namespaces: SETTINGS.iter().filter_map(setting).collect(),
            seccomp: has_filter(),
            landlock: landlock::abi(),
        }
    }
}

fn places(layout: &Layout) -> Vec<Place> {
    let number = |version| match version {
        Version::V1 => 1,
        Version::V2 => 2,
    };
    let place = |place: crate::cgroup::Place| Place {
        limit: place.what,
        version: number(place.version),
        path: place.path,
    };
    layout.places().into_iter().map(place).collect()
}

/// The topmost group of version 2 has no limits, so it does not tell.
fn counts_swap(version: Version, group: &Path) -> Option<bool> {
    match version {
        Version::V1 => Some(group.join("memory.memsw.limit_in_bytes").exists()),
        Version::V2 if group.join("memory.max").exists() => Some(group.join("memory.swap.max").exists()),
        Version::V2 => None,
    }
}

fn setting(&(name, permits, wanted): &Known) -> Option<Setting> {
    let path = Path::new("/proc/sys").join(name.replace('.', "/"));
    let value = fs::read_to_string(path).ok()?.trim().parse().ok()?;
    Some(Setting { name, value, wanted: (!permits(value)).then_some(wanted) })
}

/// Asks whether the kernel knows the answer that the filter gives most.
fn has_filter() -> bool {
    const GET_ACTION_AVAIL: usize = 2;
    let action = libc::SECCOMP_RET_ERRNO;
    call(libc::SYS_seccomp, [GET_ACTION_AVAIL, 0, &raw const action as usize, 0, 0, 0]) == 0
}
