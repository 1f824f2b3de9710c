//! Whether a process is a member of a group, on the path of every action.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::file::{self, ROOM};
use super::{Controller, Version};
use crate::descriptors::above_streams;

/// The names of a group, as `/proc/<pid>/cgroup` gives them to this process.
///
/// That one file tells of all hierarchies, in half the time that it takes to open the list of members in each. It is
/// only ever taken for a yes: where it does not say so, or cannot be read, the lists decide.
#[derive(Debug)]
pub(super) struct Names {
    process: OwnedFd,
    /// Controllers (none: version 2) and name, for each hierarchy.
    wanted: Vec<(Vec<Controller>, Vec<u8>)>,
}

impl Names {
    /// `None` where version 2 alone is used, whose list of members can stay open, and where there is no `/proc`.
    pub(super) fn new<'p>(
        hierarchies: impl Iterator<Item = (Version, &'p [Controller], &'p Path)>,
        below: &Path,
    ) -> Option<Self> {
        let wanted: Vec<_> = hierarchies
            .map(|(version, controllers, base)| {
                let controllers = if version == Version::V2 { Vec::new() } else { controllers.to_vec() };
                (controllers, base.join(below).as_os_str().as_bytes().to_vec())
            })
            .collect();
        if wanted.iter().all(|(controllers, _)| controllers.is_empty()) {
            return None;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let process = above_streams(rustix::fs::open("/proc", flags, Mode::empty()).ok()?).ok()?;
        Some(Self { process, wanted })
    }

    /// Whether the process is a member in every hierarchy, as far as this file tells.
    pub(super) fn say_so(&self, pid: i32) -> bool {
        let mut name = [0u8; 32];
        let mut rest = name.as_mut_slice();
        if write!(rest, "{pid}/cgroup").is_err() {
            return false;
        }
        let left = rest.len();
        let length = name.len() - left;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(&self.process, &name[..length], flags, Mode::empty()) else {
            return false;
        };
        let mut buffer = [0; ROOM];
        file::read(file.as_fd(), &mut buffer).is_ok_and(|content| self.agree(content))
    }

    /// Whether a text of `/proc/<pid>/cgroup` has every name in its hierarchy.
    pub(super) fn agree(&self, content: &[u8]) -> bool {
        self.wanted.iter().all(|(controllers, name)| {
            content.split(|&byte| byte == b'\n').any(|line| {
                let mut fields = line.splitn(3, |&byte| byte == b':');
                let (Some(number), Some(names), Some(group)) = (fields.next(), fields.next(), fields.next())
                else {
                    return false;
                };
                let right = match controllers.first() {
                    None => number == b"0" && names.is_empty(),
                    Some(one) => names.split(|&byte| byte == b',').any(|name| name == one.name().as_bytes()),
                };
                right && group == name
            })
        })
    }
}
