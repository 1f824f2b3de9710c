//! The list of checks: one for each layer.

use std::fmt;

use crate::confined::Layer;
use crate::profile::Limits;

/// One layer of the confinement, what it is for, and how it is proven.
#[derive(Debug)]
pub struct Check {
    name: &'static str,
    purpose: &'static str,
    proof: &'static str,
    layers: &'static [Layer],
    value: fn(&Limits, Option<u32>) -> String,
    pub(super) way: Way,
}

/// How a probe is run and judged, where that is more than reading its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The line alone.
    Line,
    /// The files that it tried to write to are looked at.
    Files,
    /// The listeners that it tried to reach are asked.
    Listeners,
    /// The kernel has counted a kill.
    Memory,
    /// The kernel has counted refusals.
    Tasks,
    /// The kernel has counted periods in which it was held up.
    Processor,
    /// The name of the machine says nothing where it is that of the sandbox.
    HostName,
    /// Not every kernel has it.
    Landlock,
}

impl Check {
    /// The name of the layer: lower-case letters and `_`. It never changes its meaning.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What the layer is for, for people.
    pub fn purpose(&self) -> &'static str {
        self.purpose
    }

    /// What the probe tries, for people.
    pub fn proof(&self) -> &'static str {
        self.proof
    }

    /// The layers that stop the probe. Each of them would do; without all of them it gets through. None: what stops it
    /// cannot be left out.
    pub fn layers(&self) -> &'static [Layer] {
        self.layers
    }

    /// What a module gets of it, for people. `landlock`: the version of Landlock that the kernel has.
    pub fn value(&self, limits: &Limits, landlock: Option<u32>) -> String {
        (self.value)(limits, landlock)
    }
}

/// Every check, in the order in which they are run. The names are those of the probes.
pub fn checks() -> &'static [Check] {
    &CHECKS
}

/// A number of bytes for people.
pub(super) fn bytes(number: u64) -> impl fmt::Display {
    const MIB: u64 = 1 << 20;
    let whole = number != 0 && number.is_multiple_of(MIB);
    fmt::from_fn(move |f| if whole { write!(f, "{} MiB", number / MIB) } else { write!(f, "{number} bytes") })
}

const CHECKS: [Check; 17] = [
    Check {
        name: "mount_namespace",
        purpose: "no file of the machine but its programs",
        proof: "reads and writes a file of the host, reads /etc/passwd, /proc and /sys, leaves the package through ..",
        layers: &[Layer::MountNamespace, Layer::Landlock],
        value: |_, _| "/usr, /module, /tmp and three devices".to_owned(),
        way: Way::Files,
    },
    Check {
        name: "read_only_files",
        purpose: "package and programs stay as they are",
        proof: "writes to a file of the package, makes files in the package and in /usr",
        layers: &[Layer::ReadOnlyFiles, Layer::Landlock],
        value: |_, _| "all but /tmp".to_owned(),
        way: Way::Files,
    },
    Check {
        name: "landlock",
        purpose: "a second lock on files, sockets and signals",
        proof: "lists /, which the mounts alone would show",
        layers: &[Layer::Landlock],
        value: |_, landlock| {
            landlock.map_or_else(|| "none".to_owned(), |version| format!("version {version}"))
        },
        way: Way::Landlock,
    },
    Check {
        name: "scratch_limit",
        purpose: "a bound on what it stores",
        proof: "writes twice the bytes and makes twice the files",
        layers: &[Layer::ScratchLimit],
        value: |limits, _| format!("{}, {} files", bytes(limits.scratch_bytes), limits.scratch_inodes),
        way: Way::Line,
    },
    Check {
        name: "network_namespace",
        purpose: "no network",
        proof: "connects to listeners of the host over TCP and by an abstract name, makes an AF_VSOCK socket",
        layers: &[Layer::NetworkNamespace, Layer::Seccomp, Layer::Landlock],
        value: |_, _| "empty".to_owned(),
        way: Way::Listeners,
    },
    Check {
        name: "ipc_namespace",
        purpose: "no memory shared with others",
        proof: "attaches to shared memory of the host by its key",
        layers: &[Layer::IpcNamespace, Layer::Seccomp],
        value: |_, _| "empty".to_owned(),
        way: Way::Line,
    },
    Check {
        name: "uts_namespace",
        purpose: "the machine's name stays unknown",
        proof: "asks for the host name",
        layers: &[Layer::UtsNamespace],
        value: |_, _| "modberth".to_owned(),
        way: Way::HostName,
    },
    Check {
        name: "process_namespace",
        purpose: "no process but its own; all end with it",
        proof: "signals the host, looks for its parent and for other processes",
        layers: &[],
        value: |_, _| "its own".to_owned(),
        way: Way::Line,
    },
    Check {
        name: "death_signal",
        purpose: "it ends when the host does",
        proof: "takes back the signal at its host's end",
        layers: &[Layer::Seccomp],
        value: |_, _| "SIGKILL".to_owned(),
        way: Way::Line,
    },
    Check {
        name: "ordinary_user",
        purpose: "no power over the kernel",
        proof: "looks for capabilities and for the user 0",
        layers: &[Layer::OrdinaryUser],
        value: |_, _| "user 1000 of its own namespace".to_owned(),
        way: Way::Line,
    },
    Check {
        name: "no_new_privileges",
        purpose: "set-user-id programs give nothing",
        proof: "reads no_new_privs",
        layers: &[Layer::NoNewPrivileges, Layer::Landlock, Layer::Seccomp],
        value: |_, _| "on".to_owned(),
        way: Way::Line,
    },
    Check {
        name: "seccomp",
        purpose: "only the system calls that programs need",
        proof: "calls ptrace, mount, unshare, setns, bpf, io_uring, keyctl and others",
        layers: &[Layer::Seccomp],
        value: |_, _| "a list of allowed calls".to_owned(),
        way: Way::Line,
    },
    Check {
        name: "environment",
        purpose: "nothing of the host's environment",
        proof: "reads its environment",
        layers: &[],
        value: |_, _| "PATH, LANG, TMPDIR".to_owned(),
        way: Way::Line,
    },
    Check {
        name: "memory_limit",
        purpose: "memory of all its processes together",
        proof: "takes twice as much",
        layers: &[Layer::MemoryLimit],
        value: |limits, _| match limits.swap_bytes {
            0 => format!("{}, no swap", bytes(limits.memory_bytes)),
            swap => format!("{}, swap {}", bytes(limits.memory_bytes), bytes(swap)),
        },
        way: Way::Memory,
    },
    Check {
        name: "task_limit",
        purpose: "processes and threads at one time",
        proof: "starts twice as many",
        layers: &[Layer::TaskLimit],
        value: |limits, _| limits.tasks.to_string(),
        way: Way::Tasks,
    },
    Check {
        name: "cpu_limit",
        purpose: "processor time of all its processes together",
        proof: "spins, with a tenth of a processor at most",
        layers: &[Layer::CpuLimit],
        value: |limits, _| format!("{} % of one processor", limits.cpu_percent),
        way: Way::Processor,
    },
    Check {
        name: "resource_limits",
        purpose: "open files, core dumps and more of each process",
        proof: "opens twice as many files, reads the core limit",
        layers: &[Layer::ResourceLimits],
        value: |limits, _| format!("{} open files, no core dump", limits.open_files),
        way: Way::Line,
    },
];
