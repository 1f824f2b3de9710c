//! Launchers: from a [`Launch`] to a running [`Process`].

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cgroup::LimitFault;
use crate::child::{Program, Strings};
use crate::command::Command;
use crate::confined::{Options, Sandbox, Unavailable, resources};
use crate::plain::{self, Reach};
use crate::process::Process;
use crate::profile::{Confinement, Profile};

/// How long it may take to start a module. It is a few dozen system calls; this guards against a machine that hangs.
pub(crate) const START_PATIENCE: Duration = Duration::from_secs(5);

/// What to launch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Launch<'a> {
    /// The package folder: the working directory of the module. A relative path is taken from the host's.
    pub package: PathBuf,
    /// What to run.
    pub command: &'a Command,
    /// What the module may see and use.
    pub profile: &'a Profile,
}

impl<'a> Launch<'a> {
    /// A launch of `command` in the package folder `package` under `profile`.
    pub fn new(package: impl Into<PathBuf>, command: &'a Command, profile: &'a Profile) -> Self {
        Self { package: package.into(), command, profile }
    }
}

/// Why a module could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A word of the command, the folder or the environment holds NUL, which no program can be given.
    #[error("{what} holds a NUL byte")]
    Nul {
        /// Which.
        what: &'static str,
    },
    /// The machine refused something the launcher needs.
    #[error("{doing}: {source}")]
    Machine {
        /// What was being done.
        doing: &'static str,
        /// The machine's answer.
        source: io::Error,
    },
    /// The program could not be run.
    #[error("cannot run {program:?}: {source}")]
    Program {
        /// The program.
        program: OsString,
        /// The machine's answer.
        source: io::Error,
    },
    /// The module's process did not come up in time.
    #[error("the process had not started after {} ms", .0.as_millis())]
    Late(Duration),
    /// A limit of the module's own control group is not what it must be, or cannot be read (P1-HOST-26). Nothing was
    /// sent to the module, and it was killed.
    #[error("{0}; nothing was sent to the module")]
    Limit(#[from] LimitFault),
    /// The launch asks for what no launcher gives.
    #[error("{what}: {why}")]
    Profile {
        /// What was asked for.
        what: String,
        /// Why it is not given.
        why: &'static str,
    },
    /// A folder that the module may write to could not be given to its user.
    #[error("giving {} to the module's user: {source}", folder.display())]
    Give {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The keeper ended before it had said anything, so what the module started may live on.
    #[error("the process that keeps the module was killed, so what the module started may live on")]
    KeeperLost,
    /// This machine has no way to stop what a module leaves behind.
    #[error(
        "this machine offers no way to stop what a module leaves behind: no process namespace ({namespace}), no subreaper ({subreaper})"
    )]
    Unstoppable {
        /// Why the module cannot live in a process namespace.
        namespace: String,
        /// Why its keeper cannot be a subreaper that lists its children.
        subreaper: String,
    },
}

/// Starts modules. Cheap to clone and to share between threads.
#[derive(Debug, Clone)]
pub struct Launcher {
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    Confined(Arc<Sandbox>),
    Plain { reach: Reach, limited: bool },
}

impl Launcher {
    /// The launcher that confines modules: every layer is put up, and memory, swap, tasks and processor time are
    /// bounded and read back, or nothing starts.
    ///
    /// Makes the host's control groups and one slot, so that a machine that lacks something is found out here.
    ///
    /// Where modules get users of their own, the host's memory is closed to other processes from here on
    /// (PR_SET_DUMPABLE is 0): no debugger without CAP_SYS_PTRACE can attach to it, and it leaves no core file. Do not
    /// open it again: processes that wait for modules share it under those users.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    pub fn confined(options: Options) -> Result<Self, Unavailable> {
        Ok(Self { way: Way::Confined(Sandbox::new(options, true)?) })
    }

    /// The launcher for machines where control groups are not to be had: all other layers where the machine has
    /// them, limits of each process in place of those of the whole module, and a module that says so
    /// ([`Confinement::WithoutGroups`]). Where namespaces are missing too, a plain launcher with those limits.
    ///
    /// It does not conform: memory and processor time of the module as a whole are not bounded.
    ///
    /// # Errors
    /// [`LaunchError::Unstoppable`] where not even descendants can be stopped.
    pub fn rlimits_only(options: Options) -> Result<Self, LaunchError> {
        match Sandbox::new(options, false) {
            Ok(sandbox) => Ok(Self { way: Way::Confined(sandbox) }),
            Err(error) => {
                tracing::warn!(%error, "no namespaces either");
                Ok(Self { way: Way::Plain { reach: Reach::find()?, limited: true } })
            }
        }
    }

    /// As [`Launcher::rlimits_only`], where namespaces are to be had.
    pub(crate) fn without_groups(options: Options) -> Result<Self, Unavailable> {
        Ok(Self { way: Way::Confined(Sandbox::new(options, false)?) })
    }

    /// The plain launcher: starts and stops modules, and does not confine them.
    ///
    /// Tries out how this machine lets it stop descendants, best way first.
    ///
    /// # Errors
    /// [`LaunchError::Unstoppable`] where no way works.
    pub fn plain() -> Result<Self, LaunchError> {
        Ok(Self { way: Way::Plain { reach: Reach::find()?, limited: false } })
    }

    /// The plain launcher with a chosen way to reach descendants, for tests and for machines where the first way
    /// that works is not wanted.
    ///
    /// # Errors
    /// Where this way does not work here.
    pub fn plain_with(reach: Reach) -> Result<Self, LaunchError> {
        reach.check()?;
        Ok(Self { way: Way::Plain { reach, limited: false } })
    }

    /// How a plain launcher reaches the descendants of a module; `None` for one that confines.
    pub fn reach(&self) -> Option<Reach> {
        match &self.way {
            Way::Confined(_) => None,
            Way::Plain { reach, .. } => Some(*reach),
        }
    }

    /// What this launcher keeps a module from.
    pub fn confinement(&self) -> Confinement {
        match &self.way {
            Way::Confined(sandbox) => sandbox.confinement(),
            Way::Plain { limited: true, .. } => Confinement::None {
                why: "this machine has neither control groups nor namespaces for it: only each process of the module was limited"
                    .into(),
            },
            Way::Plain { limited: false, .. } => Confinement::None {
                why: "the plain launcher was used: the module had the host's rights over files, network, memory and processor"
                    .into(),
            },
        }
    }

    /// The command line that [`Launcher::launch`] runs, as a person would type it outside a sandbox.
    pub fn command_line(&self, launch: &Launch<'_>) -> Vec<OsString> {
        launch.command.line(&std::path::absolute(&launch.package).unwrap_or_else(|_| launch.package.clone()))
    }

    /// The user and group that a module's files must be readable for; `None`: those of the host.
    pub fn module_user(&self) -> Option<u32> {
        match &self.way {
            Way::Confined(sandbox) => sandbox.module_user(),
            Way::Plain { .. } => None,
        }
    }

    /// Starts a module and returns when its program runs and its limits have been read back. It is given three pipes,
    /// exactly the profile's environment, the package folder as working directory, a session of its own, default
    /// signal dispositions, an empty signal mask, umask 077 and no other descriptor; it leaves no core file.
    ///
    /// The calling thread is held for as long as the machine needs to start a process (at most five seconds).
    ///
    /// # Errors
    /// What the machine refused. No process is left then.
    pub fn launch(&self, launch: &Launch<'_>) -> Result<Process, LaunchError> {
        match &self.way {
            Way::Confined(sandbox) => Sandbox::launch(sandbox, launch),
            Way::Plain { reach, limited } => {
                let confinement = self.confinement();
                tracing::warn!(package = %launch.package.display(), "the module is {confinement}");
                // The module's process enters the folder before it runs the program.
                let package =
                    std::path::absolute(&launch.package).map_err(machine("finding the package folder"))?;
                let program = program(launch, &package)?;
                let resources = if *limited { resources(launch.profile, false) } else { Vec::new() };
                plain::start(*reach, Some(program), resources, launch.profile.backstop, confinement)
            }
        }
    }
}

/// The program of a launch whose module sees the package at `package`.
pub(crate) fn program(launch: &Launch<'_>, package: &Path) -> Result<Program, LaunchError> {
    let line = launch.command.line(package);
    let arguments = line.iter().map(|word| c_string(word, "the command")).collect::<Result<_, _>>()?;
    let mut environment = Vec::with_capacity(launch.profile.environment.len());
    for (name, value) in &launch.profile.environment {
        let mut entry = name.clone();
        entry.push("=");
        entry.push(value);
        environment.push(c_string(&entry, "the environment")?);
    }
    Ok(Program {
        directory: c_string(package.as_os_str(), "the package folder")?,
        arguments: Strings::new(arguments),
        environment: Strings::new(environment),
    })
}

pub(crate) fn c_string(text: &OsStr, what: &'static str) -> Result<CString, LaunchError> {
    CString::new(text.as_bytes()).map_err(|_| LaunchError::Nul { what })
}

pub(crate) fn machine(doing: &'static str) -> impl Fn(io::Error) -> LaunchError {
    move |source| LaunchError::Machine { doing, source }
}
