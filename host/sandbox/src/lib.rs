//! Launching and stopping module processes for Modberth.
//!
//! A [`Launcher`] starts one module from a [`Launch`]: a package folder, a [`Command`] and a [`Profile`] that says
//! what the module may see and use. It gives back a [`Process`]: three pipes, two descriptors to poll (the module
//! has ended; the module and everything it started is gone) and [`Process::stop`], after which no descendant lives
//! (P1-HOST-27, P1-HOST-32).
//!
//! The only launcher today is the **plain** one. It starts the module with exact arguments, environment and
//! descriptors, and it stops all of it again, but it **does not confine**: the module runs with the rights of the
//! host. Every process it starts says so ([`Confinement::None`]) and every launch logs a warning.
//!
//! ```
//! use std::time::Duration;
//! use modberth_sandbox::{Command, Exit, Launch, Launcher, Profile, Word};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let launcher = Launcher::plain()?;
//! let command = Command::new(Word::text("/bin/sh")).arg(Word::text("-c")).arg(Word::text("exit 3"));
//! let process = launcher.launch(&Launch::new("/tmp", &command, &Profile::action()))?;
//! process.wait_gone(Some(Duration::from_secs(60)))?;
//! let ended = process.stop(Duration::from_secs(60))?;
//! assert_eq!(ended.exit, Some(Exit::Status(3)));
//! # Ok(())
//! # }
//! ```
//!
//! # How a module and its descendants are stopped
//!
//! Between the host and the module stands a **keeper**: a process of a few dozen system calls that shares the
//! host's memory, holds none of its descriptors, and does four things. It starts the module; it reaps whatever the
//! module leaves; it kills everything when the host says so, when the host is gone, or when the profile's backstop
//! passes; and it ends when nothing is left. So "the keeper has ended" is the one fact the host waits for.
//!
//! How the keeper gets hold of descendants that have forked twice, begun a session of their own and ignore every
//! signal depends on the machine ([`Reach`]):
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
