//! What a module may see and use.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What a module may see and use, and how long it may live at most.
///
/// A launcher applies the profile or says what it does not apply: see [`Confinement`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The whole environment of the module, in order. Nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// Paths of the machine that the module sees besides its package: what its interpreter needs, folders to keep things
    /// in, sockets to connect to. At most 11.
    pub binds: Vec<Bind>,
    /// Socket families the module may connect with. Empty: no sockets.
    pub socket_families: Vec<SocketFamily>,
    /// Whether the module sees the machine's network, with the machine's resolv.conf, hosts, nsswitch.conf and ssl.
    /// Loopback and abstract sockets are the machine's too then. `false`: no network.
    pub network: bool,
    /// How much of the machine the module may use.
    pub limits: Limits,
    /// The module is killed this long after its launch by a process other than the host, so also when the host is
    /// stopped (P1-HOST-25). `None`: it may live as long as its host.
    pub backstop: Option<Duration>,
    /// How long the module may go on when its host has ended. Zero: it ends at once, by the kernel.
    pub grace: Duration,
}

impl Profile {
    /// The profile of one action: no network, no sockets, nothing bound, the default limits, and the environment
    /// `PATH=/usr/bin LANG=C.UTF-8 TMPDIR=/tmp`. Its backstop is 12 seconds, that of protocol 1.
    pub fn action() -> Self {
        Self {
            environment: [("PATH", "/usr/bin"), ("LANG", "C.UTF-8"), ("TMPDIR", "/tmp")]
                .map(|(name, value)| (name.into(), value.into()))
                .to_vec(),
            binds: Vec::new(),
            socket_families: Vec::new(),
            network: false,
            limits: Limits::default(),
            backstop: Some(Duration::from_secs(12)),
            grace: Duration::ZERO,
        }
    }

    /// The profile of a long-lived backend: as an action's, but it may connect with AF_UNIX, has 512 MiB, 128 tasks,
    /// one processor and 1,024 open files, lives as long as its host, and has three seconds for its own cleanup when the
    /// host has ended. The caller adds its folders and sockets as binds.
    pub fn service() -> Self {
        Self {
            socket_families: vec![SocketFamily::Unix],
            limits: Limits { memory_bytes: 512 << 20, tasks: 128, open_files: 1024, ..Limits::default() },
            backstop: None,
            grace: Duration::from_secs(3),
            ..Self::action()
        }
    }
}

/// A path of the machine that the module sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// Where it is on the machine.
    pub source: PathBuf,
    /// Where the module sees it.
    pub target: PathBuf,
    /// Whether the module may write there. Where a root host gives modules users of their own, the folder and all in it
    /// becomes that user's at each launch.
    pub writable: bool,
}

/// A socket family that a profile can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SocketFamily {
    /// AF_UNIX.
    Unix,
}

/// How much of the machine a module may use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Memory of the module and all it starts, in bytes. Default 128 MiB.
    pub memory_bytes: u64,
    /// Swap, in bytes. Default 0.
    pub swap_bytes: u64,
    /// Processes and threads at one time. Default 32.
    pub tasks: u32,
    /// Processor time per time, in percent of one processor. Default 100.
    pub cpu_percent: u32,
    /// Bytes the module can have in its scratch space, rounded up to whole pages, one page at least. Default 8 MiB.
    pub scratch_bytes: u64,
    /// Files and folders the module can have in its scratch space. Default 1,024.
    pub scratch_inodes: u64,
    /// Open files of each of its processes. Default 64.
    pub open_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 128 << 20,
            swap_bytes: 0,
            tasks: 32,
            cpu_percent: 100,
            scratch_bytes: 8 << 20,
            scratch_inodes: 1024,
            open_files: 64,
        }
    }
}

/// What kept the module apart from the machine. Every [`crate::Process`] carries one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confinement {
    /// Every layer was up, and the limits of the module as a whole were in force and read back.
    Full,
    /// Every layer but the limits of the module as a whole.
    WithoutGroups {
        /// Why, in words for people.
        why: String,
    },
    /// Nothing: the module ran with the rights of the host.
    None {
        /// Why, in words for people.
        why: String,
    },
}

impl Confinement {
    /// Whether the module was confined as its profile says.
    pub fn is_confined(&self) -> bool {
        matches!(self, Self::Full)
    }
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("confined"),
            Self::WithoutGroups { why } => write!(f, "NOT FULLY CONFINED: {why}"),
            Self::None { why } => write!(f, "NOT CONFINED: {why}"),
        }
    }
}
