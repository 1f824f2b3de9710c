//! What `/proc/self/mountinfo` and `/proc/self/cgroup` say, as values. No file is opened here.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::{Controller, Version};

/// One hierarchy that this process is a member of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) version: Version,
    /// Those of version 1 that the kernel names; empty for version 2, which tells them in a file.
    pub(super) controllers: Vec<Controller>,
    /// The process's own group, as the kernel names it.
    pub(super) group: PathBuf,
    /// Where the group may be found, the mount made last first.
    pub(super) places: Vec<Found>,
    /// Mounts of this hierarchy that do not show the group.
    pub(super) elsewhere: Vec<PathBuf>,
}

/// A directory that should be the process's own group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) mount: PathBuf,
    pub(super) directory: PathBuf,
    /// Device numbers of the mount, to notice that another mount hides it.
    pub(super) device: (u32, u32),
}

/// A mount of a control group file system.
struct Mount {
    version: Version,
    device: (u32, u32),
    root: PathBuf,
    point: PathBuf,
    controllers: Vec<Controller>,
}

/// The hierarchies of a process with its groups, version 2 first. Hierarchies of version 1 without a controller that
/// matters here are left out.
pub(super) fn hierarchies(mountinfo: &[u8], cgroup: &[u8]) -> Vec<Hierarchy> {
    let mounts: Vec<Mount> = lines(mountinfo).filter_map(mount).collect();
    let mut found: Vec<Hierarchy> = lines(cgroup).filter_map(membership).collect();
    found.sort_by_key(|hierarchy| hierarchy.version == Version::V1);
    for hierarchy in &mut found {
        for mount in mounts.iter().rev() {
            let same = mount.version == hierarchy.version
                && (mount.version == Version::V2
                    || mount.controllers.iter().any(|one| hierarchy.controllers.contains(one)));
            if !same {
                continue;
            }
            match below(&mount.root, &hierarchy.group) {
                Some(rest) => hierarchy.places.push(Found {
                    mount: mount.point.clone(),
                    directory: if rest.as_os_str().is_empty() {
                        mount.point.clone()
                    } else {
                        mount.point.join(rest)
                    },
                    device: mount.device,
                }),
                None => hierarchy.elsewhere.push(mount.point.clone()),
            }
        }
    }
    found
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

/// A line of `/proc/self/cgroup`: `hierarchy:controllers:group`.
fn membership(line: &[u8]) -> Option<Hierarchy> {
    let mut fields = line.splitn(3, |&byte| byte == b':');
    let (number, names, group) = (fields.next()?, fields.next()?, fields.next()?);
    let version = if number == b"0" && names.is_empty() { Version::V2 } else { Version::V1 };
    let controllers = controllers(names);
    if version == Version::V1 && controllers.is_empty() {
        return None;
    }
    let group = PathBuf::from(OsString::from_vec(group.to_vec()));
    Some(Hierarchy { version, controllers, group, places: Vec::new(), elsewhere: Vec::new() })
}

/// A line of `/proc/self/mountinfo`, when it is a control group file system:
/// `id parent major:minor root point options [optional…] - type source options`.
fn mount(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let dash = 6 + fields.get(6..)?.iter().position(|field| *field == b"-")?;
    let version = match *fields.get(dash + 1)? {
        b"cgroup" => Version::V1,
        b"cgroup2" => Version::V2,
        _ => return None,
    };
    let (major, minor) = std::str::from_utf8(fields[2]).ok()?.split_once(':')?;
    Some(Mount {
        version,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root: unescape(fields[3]),
        point: unescape(fields[4]),
        controllers: controllers(fields.get(dash + 3)?),
    })
}

fn controllers(names: &[u8]) -> Vec<Controller> {
    names.split(|&byte| byte == b',').filter_map(Controller::from_name).collect()
}

/// Space, tab, line feed and backslash stand in mountinfo as three octal digits behind a backslash.
fn unescape(field: &[u8]) -> PathBuf {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'\\', [high @ b'0'..=b'3', mid @ b'0'..=b'7', low @ b'0'..=b'7', tail @ ..]) => {
                plain.push((high - b'0') * 64 + (mid - b'0') * 8 + (low - b'0'));
                rest = tail;
            }
            _ => plain.push(*first),
        }
    }
    PathBuf::from(OsString::from_vec(plain))
}

/// Where `group` lies below the mount's root. A mount made outside of this process's cgroup namespace has a root
/// that begins `/..`; whatever then has to be named to get from there to the group is unknown, so only what is equal
/// on both sides counts.
fn below<'g>(root: &Path, group: &'g Path) -> Option<&'g Path> {
    let rest = group.strip_prefix(root).ok()?;
    rest.components().all(|part| part.as_os_str().as_bytes() != b"..").then_some(rest)
}
