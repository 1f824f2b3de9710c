//! The layers of the confinement, one by one.

use std::fmt;

/// One layer of what keeps a module apart from the machine. `SECURITY.md` says what each is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// The module sees the package, `/usr` and its scratch space, and nothing else of the machine's files.
    MountNamespace,
    /// A network of its own, with nothing in it.
    NetworkNamespace,
    /// System V and POSIX message queues, semaphores and shared memory of its own.
    IpcNamespace,
    /// A host name of its own.
    UtsNamespace,
    /// Memory and swap of the module and all it starts.
    MemoryLimit,
    /// Processes and threads at one time.
    TaskLimit,
    /// Processor time per time.
    CpuLimit,
    /// Bytes and files in the scratch space.
    ScratchLimit,
    /// The package and the machine's programs cannot be written.
    ReadOnlyFiles,
    /// Limits of each process: open files, file size, processor time, core dumps, locked memory and more.
    ResourceLimits,
    /// Set-user-id programs and file capabilities give nothing.
    NoNewPrivileges,
    /// The module is an ordinary user inside its user namespace and has no capability there.
    OrdinaryUser,
    /// File access by path once more, below the mounts.
    Landlock,
    /// System calls outside the list are refused.
    Seccomp,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MountNamespace => "mount namespace",
            Self::NetworkNamespace => "network namespace",
            Self::IpcNamespace => "ipc namespace",
            Self::UtsNamespace => "uts namespace",
            Self::MemoryLimit => "memory limit",
            Self::TaskLimit => "task limit",
            Self::CpuLimit => "cpu limit",
            Self::ScratchLimit => "scratch limit",
            Self::ReadOnlyFiles => "read-only files",
            Self::ResourceLimits => "resource limits",
            Self::NoNewPrivileges => "no new privileges",
            Self::OrdinaryUser => "ordinary user",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
        })
    }
}

/// Which layers a launcher puts up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layers {
    off: Vec<Layer>,
}

impl Layers {
    /// Whether this layer is put up. All are, but for tests that were built to leave some out.
    pub(crate) fn has(&self, layer: Layer) -> bool {
        !self.off.contains(&layer)
    }

    #[cfg(feature = "weaken")]
    pub(crate) fn remove(&mut self, layers: &[Layer]) {
        self.off.extend_from_slice(layers);
    }
}
