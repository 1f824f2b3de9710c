//! What is missing for limits to hold, and what a person can do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::{Controller, Kind, Version};

/// One thing that is missing.
#[derive(Debug)]
pub(crate) struct Missing {
    /// Which: `memory`, `swap accounting`, `pids`, `cpu`, or `groups` for all of them.
    pub(crate) what: &'static str,
    /// Why it cannot be used.
    pub(crate) why: String,
    /// The file or directory that this was seen at.
    pub(crate) path: PathBuf,
    /// What the kernel answered.
    pub(crate) source: Option<io::Error>,
}

impl Missing {
    pub(super) fn new(what: &'static str, why: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { what, why: why.into(), path: path.into(), source: None }
    }

    pub(super) fn because(mut self, source: impl Into<io::Error>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.what, self.why, self.path.display())?;
        match &self.source {
            Some(source) => write!(f, " ({source})"),
            None => Ok(()),
        }
    }
}

/// Why this machine, as it is now, cannot bound what a module uses. Its text names everything that is missing and
/// two ways to get it.
#[derive(Debug)]
pub struct Unavailable {
    /// The arrangement, where so much could be told.
    pub(crate) kind: Option<Kind>,
    /// Everything that is missing; never empty.
    pub(crate) missing: Vec<Missing>,
    /// Where the groups of each hierarchy begin, for the commands of the second way.
    pub(super) mounts: Vec<Mount>,
}

/// Where a hierarchy is mounted, or could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) point: PathBuf,
    pub(super) version: Version,
    /// Controllers of version 1, with commas.
    pub(super) controllers: String,
    /// It has to be mounted first.
    pub(super) absent: bool,
}

impl Unavailable {
    pub(super) fn one(kind: Kind, mounts: Vec<Mount>, missing: Missing) -> Self {
        Self { kind: Some(kind), missing: vec![missing], mounts }
    }

    /// The first way: systemd gives the host a group of its own.
    pub(crate) fn systemd(&self) -> String {
        let user = match self.kind {
            // systemd hands controllers of version 1 to nobody but root.
            Some(Kind::Hybrid | Kind::V1) => String::new(),
            Some(Kind::V2) | None => {
                "systemd-run --user --scope -p 'Delegate=memory pids cpu' COMMAND   # as an ordinary user\n"
                    .into()
            }
        };
        format!(
            "{user}systemd-run --scope -p 'Delegate=memory pids cpu' COMMAND   # as root\n\
             or in the unit of the host, section [Service]: Delegate=memory pids cpu"
        )
    }

    /// The second way: root makes groups and gives them to the host's user. Shell commands, one a line.
    pub(crate) fn by_hand(&self) -> String {
        if self.mounts.is_empty() {
            return "install a kernel with the controllers memory, pids and cpu".into();
        }
        let user = rustix::process::geteuid().as_raw();
        let mut text = String::new();
        for mount in &self.mounts {
            let point = quoted(&mount.point);
            let group = quoted(&mount.point.join("modberth"));
            let (kind, options, files) = match mount.version {
                Version::V1 => ("cgroup", format!("-o {} ", mount.controllers), "cgroup.procs"),
                Version::V2 => {
                    ("cgroup2", String::new(), "cgroup.procs cgroup.subtree_control cgroup.threads")
                }
            };
            if mount.absent {
                text += &format!("mkdir -p {point} && mount -t {kind} {options}{kind} {point}\n");
            }
            if mount.version == Version::V2 && self.kind == Some(Kind::V2) {
                text += &format!("echo '+memory +pids +cpu' > {point}/cgroup.subtree_control\n");
            }
            text += &format!("mkdir -p {group}\nchown {user} {group}");
            for file in files.split(' ') {
                text += &format!(" {group}/{file}");
            }
            text += "\n";
            if mount.controllers.split(',').any(|name| name == Controller::Cpuset.name()) {
                for file in ["cpuset.cpus", "cpuset.mems"] {
                    text += &format!("cat {point}/{file} > {group}/{file}\n");
                }
            }
            text += &format!("echo $$ > {group}/cgroup.procs\n");
        }
        text + "and start the host from this shell, as its user"
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-,@+:=".contains(&byte);
    if text.bytes().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => writeln!(f, "the control groups of this machine ({kind}) cannot hold modules:")?,
            None => writeln!(f, "the control groups of this machine cannot hold modules:")?,
        }
        for missing in &self.missing {
            writeln!(f, "  {missing}")?;
        }
        let indented = |text: String| text.replace('\n', "\n    ");
        writeln!(f, "  Either let systemd make a group for the host:\n    {}", indented(self.systemd()))?;
        write!(f, "  Or as root, in the shell that then starts the host:\n    {}", indented(self.by_hand()))
    }
}

impl std::error::Error for Unavailable {}
