//! Launching and stopping module processes for Modberth.
//!
//! A [`Launcher`] starts one module from a [`Launch`]: a package folder, a [`Command`] and a [`Profile`] that says
//! what the module may see and use. It gives back a [`Process`]: three pipes, two descriptors to poll (the module
//! has ended; the module and everything it started is gone) and [`Process::stop`], after which no descendant lives
//! (P1-HOST-27, P1-HOST-32).
//!
//! ```no_run
//! use std::time::Duration;
//! use modberth_sandbox::{Command, Exit, Launch, Launcher, Options, Profile, Word};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let launcher = Launcher::confined(Options::default())?;
//! let command = Command::new(Word::text("/bin/sh")).arg(Word::text("-c")).arg(Word::text("exit 3"));
//! let process = launcher.launch(&Launch::new("/srv/package", &command, &Profile::action()))?;
//! process.wait_gone(Some(Duration::from_secs(60)))?;
//! let ended = process.stop(Duration::from_secs(60))?;
//! assert_eq!(ended.exit, Some(Exit::Status(3)));
//! # Ok(())
//! # }
//! ```
//!
//! # What confines a module
//!
//! [`Launcher::confined`] puts up every layer or refuses:
//!
//! | layer | what the module has |
//! |---|---|
//! | mounts | `/module` (its package) and `/usr` read-only, `/tmp` of its own with a bound on bytes and files, `/dev/null`, `/dev/zero`, `/dev/urandom`; no `/proc`, `/sys`, `/etc` |
//! | namespaces | user, pid (it is process 1), mount, network (nothing in it), ipc, uts, cgroup |
//! | user | one of its own on the machine for each slot where the host is root; an ordinary user with no capability inside |
//! | control group | memory, swap, tasks, processor time; written and read back before it runs (P1-HOST-26) |
//! | resource limits | open files, file size, processor time, locked memory, queues, pending signals, no core dump |
//! | Landlock | the same files once more, where the kernel has it; no TCP, no signals to outside |
//! | system calls | a list; everything else is refused. No socket, no new namespace, no mount, no tracing |
//! | environment | the profile's, and nothing of the host's; three pipes and no other descriptor |
//!
//! # Slots, spares and the guardian
//!
//! A launcher has **slots**, each with a control group and a network namespace that are used by one module after the
//! other. In each waits a **spare**: a process that shares the host's memory, has gone into its namespaces and group, and
//! sleeps. A launch reads the limits back, hands the spare the package (as a mount) and the program, and the spare
//! becomes the module. So what is slow lies before the action: moving a process between groups alone can take the kernel
//! milliseconds. One thread, which lives as long as the launcher, makes all spares.
//!
//! The module is process 1 of its namespace: when it ends or is killed, the kernel ends everything in it. It also ends
//! with the thread that made it (PR_SET_PDEATHSIG, which the filter does not let it take back), so with the host. A
//! **guardian** process, in a session and a group of its own, ends what is late when the host is stopped, gives a
//! backend its time when the host has died, and removes the groups of a dead host; a host whose guardian died starts
//! another before its next launch (P1-HOST-25).
//!
//! Where the host may not make mounts (an ordinary user), each spare builds its root in its user namespace; the control
//! groups have to be delegated to the user then. `docs/operating.md` says how.
//!
//! # The plain launcher
//!
//! [`Launcher::plain`] does not confine: it starts and stops modules exactly, for tests and for authors on machines that
//! cannot do more. Between host and module stands a **keeper**: a process of a few dozen system calls that shares the
//! host's memory, holds none of its descriptors, and does four things. It starts the module; it reaps whatever the
//! module leaves; it kills everything when the host says so, when the host is gone, or when the profile's backstop
//! passes; and it ends when nothing is left. How it gets hold of descendants that have forked twice, begun a session of
//! their own and ignore every signal depends on the machine ([`Reach`]):
//!
//! * [`Reach::PidNamespace`]: the keeper is process 1 of a new process namespace, made directly (with
//!   CAP_SYS_ADMIN) or inside a new user namespace. When it ends, the kernel kills the whole namespace before
//!   anyone sees it end. Nothing in the namespace can outlive it, outrun it or signal it.
//! * [`Reach::Subreaper`]: where namespaces are refused, the keeper is a child subreaper. Orphans become its
//!   children, so it kills its children in rounds until it has none. A module that forks faster than it can be
//!   killed, or kills its keeper, is reported ([`StopError`]), not waited for.
//!
//! A keeper that was stopped by a signal is set going again. One that does not answer all the same is killed where
//! that takes everything below it along: in a namespace, and before the module's program runs.
#![cfg_attr(not(target_os = "linux"), allow(unused))]

#[cfg(not(target_os = "linux"))]
compile_error!("modberth-sandbox works on Linux only");

mod cgroup;
mod child;
mod clone;
mod command;
mod confined;
mod descriptors;
pub mod doctor;
mod landlock;
mod launcher;
mod plain;
mod process;
mod profile;
mod raw;
mod region;
mod seccomp;

pub use cgroup::{LimitFault, Unavailable as GroupsUnavailable};
pub use command::{Command, Word};
pub use confined::{Layer, Options, Unavailable};
pub use descriptors::above_streams;
pub use launcher::{Launch, LaunchError, Launcher};
pub use plain::Reach;
pub use process::{Ended, Exit, Process, StopError, Usage, block_sigpipe};
pub use profile::{Bind, Confinement, Limits, Profile, SocketFamily};
