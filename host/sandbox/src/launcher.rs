//! Launchers: from a [`Launch`] to a running [`Process`].

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::{Errno, FdFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::process::PidfdFlags;
use rustix::thread::futex;

use crate::command::Command;
use crate::keeper::{self, FAILED, PENDING, Plan, Program, Report, Shared, Step, Strings};
use crate::process::{Parts, Process};
use crate::profile::{Confinement, Profile};
use crate::raw;
use crate::region::Stack;

/// How long a keeper may take to start its module. It is a few dozen system calls; this guards against a machine
/// that hangs.
const START_PATIENCE: Duration = Duration::from_secs(5);

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

/// How the descendants of a module are reached when it is stopped. See the crate's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reach {
    /// The module lives in a process namespace that ends with its keeper. `user`: inside a user namespace, because
    /// the host has no CAP_SYS_ADMIN.
    PidNamespace {
        /// Inside a user namespace.
        user: bool,
    },
    /// The keeper is a child subreaper.
    Subreaper,
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
    reach: Reach,
}

impl Launcher {
    /// The plain launcher: starts and stops modules, and does not confine them.
    ///
    /// Tries out how this machine lets it stop descendants, best way first.
    ///
    /// # Errors
    /// [`LaunchError::Unstoppable`] where no way works.
    pub fn plain() -> Result<Self, LaunchError> {
        let mut refused = String::new();
        for reach in [Reach::PidNamespace { user: false }, Reach::PidNamespace { user: true }] {
            match try_out(reach) {
                Ok(()) => return Ok(Self { reach }),
                Err(error) => refused = error.to_string(),
            }
        }
        tracing::debug!(why = %refused, "no process namespace; descendants are found as a subreaper");
        Self::plain_with(Reach::Subreaper)
            .map_err(|error| LaunchError::Unstoppable { namespace: refused, subreaper: error.to_string() })
    }

    /// The plain launcher with a chosen way to reach descendants, for tests and for machines where the first way
    /// that works is not wanted.
    ///
    /// # Errors
    /// Where this way does not work here.
    pub fn plain_with(reach: Reach) -> Result<Self, LaunchError> {
        if reach == Reach::Subreaper {
            std::fs::File::open("/proc/thread-self/children").map_err(|source| LaunchError::Machine {
                doing: "opening /proc/thread-self/children",
                source,
            })?;
        }
        try_out(reach)?;
        Ok(Self { reach })
    }

    /// How this launcher reaches the descendants of a module.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// What this launcher keeps a module from.
    pub fn confinement(&self) -> Confinement {
        Confinement::None {
            why: "the plain launcher was used: the module had the host's rights over files, network, memory and processor"
                .into(),
        }
    }

    /// The command line that [`Launcher::launch`] runs, as a person would type it.
    pub fn command_line(&self, launch: &Launch<'_>) -> Vec<OsString> {
        launch.command.line(&std::path::absolute(&launch.package).unwrap_or_else(|_| launch.package.clone()))
    }

    /// Starts a module and returns when its program runs. It is given three pipes, exactly the profile's
    /// environment, the package folder as working directory, a session of its own, default signal dispositions, an
    /// empty signal mask, umask 077 and no other descriptor; it leaves no core file.
    ///
    /// The calling thread is held for as long as the machine needs to start a process (at most five seconds).
    ///
    /// # Errors
    /// What the machine refused. No process is left then.
    pub fn launch(&self, launch: &Launch<'_>) -> Result<Process, LaunchError> {
        let confinement = self.confinement();
        tracing::warn!(package = %launch.package.display(), "the module is {confinement}");
        let program = prepare(launch)?;
        start(self.reach, Some(program), launch.profile.backstop, confinement)
    }
}

fn prepare(launch: &Launch<'_>) -> Result<Program, LaunchError> {
    // The module's process enters the folder before it runs the program.
    let package = std::path::absolute(&launch.package).map_err(machine("finding the package folder"))?;
    let line = launch.command.line(&package);
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

fn c_string(text: &OsStr, what: &'static str) -> Result<CString, LaunchError> {
    CString::new(text.as_bytes()).map_err(|_| LaunchError::Nul { what })
}

/// Sets a keeper up and lets it end, to see whether this machine permits it.
fn try_out(reach: Reach) -> Result<(), LaunchError> {
    let process = start(reach, None, None, Confinement::None { why: String::new() })?;
    process.stop(START_PATIENCE).map(drop).map_err(|error| LaunchError::Machine {
        doing: "ending a trial process",
        source: io::Error::other(error.to_string()),
    })
}

fn start(
    reach: Reach,
    program: Option<Program>,
    backstop: Option<Duration>,
    confinement: Confinement,
) -> Result<Process, LaunchError> {
    let name = program.as_ref().map(|program| program.arguments.first());
    let pipes = Pipes::new().map_err(machine("making pipes"))?;
    let host = host_process().map_err(machine("making a descriptor of the host"))?;
    let [stdin, stdout, stderr, control, ended] = pipes.module.each_ref().map(|end| end.as_raw_fd());
    let stack = || Stack::new().map_err(machine("making a stack"));
    let shared = Arc::new(Shared {
        plan: Plan {
            program,
            descriptors: [stdin, stdout, stderr, control, ended, host.as_raw_fd()],
            namespace: matches!(reach, Reach::PidNamespace { .. }),
            maps: matches!(reach, Reach::PidNamespace { user: true }).then(id_maps),
            backstop: backstop.map(monotonic_after),
        },
        report: Report::default(),
        keeper_stack: stack()?,
        module_stack: stack()?,
    });
    let launched = Instant::now();
    let keeper = clone_keeper(reach, &shared).map_err(machine("making a process"))?;
    let [stdin, stdout, stderr, control, ended] = pipes.host;
    let process = Process::new(Parts {
        shared: Arc::clone(&shared),
        keeper,
        stdin,
        stdout,
        stderr,
        control,
        ended,
        confinement,
        launched,
    });
    drop((pipes.module, host));
    match wait_started(&shared.report, &process, launched + START_PATIENCE) {
        FAILED => {}
        PENDING if process.wait_gone(Some(Duration::ZERO)).unwrap_or(false) => {
            return Err(LaunchError::KeeperLost);
        }
        PENDING => return Err(LaunchError::Late(START_PATIENCE)),
        _ => return Ok(process),
    }
    drop(process);
    let step = shared.report.step.load(SeqCst);
    let source = io::Error::from_raw_os_error(shared.report.errno.load(SeqCst));
    match name {
        Some(program) if step == Step::Execute as u32 => Err(LaunchError::Program { program, source }),
        _ => Err(LaunchError::Machine { doing: Step::describe(step), source }),
    }
}

fn machine(doing: &'static str) -> impl Fn(io::Error) -> LaunchError {
    move |source| LaunchError::Machine { doing, source }
}

/// Waits on the futex in `report` and gives its value; `PENDING` when the time ran out or the keeper is gone.
fn wait_started(report: &Report, process: &Process, until: Instant) -> u32 {
    loop {
        // Looked at before the state: a keeper that is gone has said all it had to say.
        let gone = process.wait_gone(Some(Duration::ZERO)).unwrap_or(false);
        let state = report.state.load(SeqCst);
        let left = until.saturating_duration_since(Instant::now());
        if state != PENDING || gone || left.is_zero() {
            return state;
        }
        // A keeper that is killed wakes nobody, so it is looked for now and then.
        let slice = rustix::thread::Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        // Whatever ends the wait, the loop looks again.
        let _ = futex::wait(&report.state, futex::Flags::PRIVATE, PENDING, Some(&slice));
        if report.state.load(SeqCst) == PENDING {
            // A module that is quick can stop its keeper before the keeper has said that it runs. One that is gone
            // takes no signal, which the loop sees.
            let _ = rustix::process::pidfd_send_signal(process.gone(), rustix::process::Signal::CONT);
        }
    }
}

fn clone_keeper(reach: Reach, shared: &Arc<Shared>) -> io::Result<OwnedFd> {
    let mut pidfd: RawFd = -1;
    // SAFETY: plain data for which all zeros is a value.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    let namespaces = match reach {
        Reach::PidNamespace { user: false } => libc::CLONE_NEWPID,
        Reach::PidNamespace { user: true } => libc::CLONE_NEWPID | libc::CLONE_NEWUSER,
        Reach::Subreaper => 0,
    };
    arguments.flags = (libc::CLONE_VM | libc::CLONE_PIDFD | namespaces) as u64;
    arguments.pidfd = &raw mut pidfd as u64;
    // No SIGCHLD to the host: an embedding program's own wait() must not find this child.
    arguments.exit_signal = 0;
    arguments.stack = shared.keeper_stack.lowest();
    arguments.stack_size = Stack::SIZE as u64;
    let argument = Arc::as_ptr(shared).cast_mut().cast();
    // SAFETY: all signals are blocked in this thread while the keeper is made, so that no handler of the host runs
    // on the keeper's stack, nor any signal but KILL and STOP ever reaches it; the mask is put back as it was. libc's
    // own functions would leave out the two signals that libc uses itself.
    let pid = unsafe {
        let (all, mut before) = (u64::MAX, 0u64);
        let mask = |new: &u64, old: *mut u64| {
            let arguments =
                [libc::SIG_SETMASK as usize, std::ptr::from_ref(new) as usize, old as usize, 8, 0, 0];
            raw::syscall(libc::SYS_rt_sigprocmask, arguments)
        };
        mask(&all, &raw mut before);
        // SAFETY of the clone: the stack lives in `shared`, which `Process` keeps until the keeper is reaped, or
        // leaks. `keeper` keeps to system calls, the plan and the atomics of the report.
        let pid = raw::clone3(&arguments, keeper::keeper, argument);
        mask(&before, std::ptr::null_mut());
        pid
    };
    if pid < 0 {
        return Err(io::Error::from_raw_os_error(-pid as i32));
    }
    // SAFETY: the kernel put a fresh descriptor there.
    let keeper = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // Without a second descriptor the first is right too: the keeper must not be lost.
    Ok(if pidfd < 3 { rustix::io::fcntl_dupfd_cloexec(&keeper, 3).unwrap_or(keeper) } else { keeper })
}

/// This process, to be watched for its end.
fn host_process() -> io::Result<OwnedFd> {
    let host = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    raised(host, Plan::LOWEST)
}

/// A duplicate at `lowest` or above. Where no number that high is permitted, the machine says "invalid argument"; that
/// it has too few descriptors is what it means.
fn raised(fd: OwnedFd, lowest: RawFd) -> io::Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(fd, lowest).map_err(|errno| match errno {
        Errno::INVAL => Errno::MFILE.into(),
        errno => errno.into(),
    })
}

/// The same descriptor at a number that is no standard stream's. A host may have closed those, and what some part of
/// it then prints must not get into a pipe of a module.
///
/// # Errors
/// What the machine says to duplicating it.
pub fn above_streams(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() < 3 { raised(fd, 3) } else { Ok(fd) }
}

/// Maps of one id each: the module sees the ids of the host.
fn id_maps() -> (Vec<u8>, Vec<u8>) {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    (format!("{user} {user} 1").into_bytes(), format!("{group} {group} 1").into_bytes())
}

fn monotonic_after(duration: Duration) -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let now = Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0));
    now.saturating_add(duration).as_nanos().try_into().unwrap_or(u64::MAX)
}

/// The lines between host and module: four pipes and, for control, a pair of sockets, which can be written to without
/// SIGPIPE. All descriptors are closed on exec; the host's ends do not block.
struct Pipes {
    /// The host's ends: to standard input, from output, from error, to control, from the "ended" pipe.
    host: [OwnedFd; 5],
    /// The other ends, in the same order.
    module: [OwnedFd; 5],
}

impl Pipes {
    fn new() -> io::Result<Self> {
        let ends = |host: OwnedFd, module: OwnedFd| -> io::Result<(OwnedFd, OwnedFd)> {
            let flags = rustix::fs::fcntl_getfl(&host)?;
            rustix::fs::fcntl_setfl(&host, flags | OFlags::NONBLOCK)?;
            debug_assert!(rustix::io::fcntl_getfd(&host)?.contains(FdFlags::CLOEXEC));
            Ok((above_streams(host)?, raised(module, Plan::LOWEST)?))
        };
        let make = |host_writes: bool| -> io::Result<(OwnedFd, OwnedFd)> {
            let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            let (host, module) = if host_writes { (write, read) } else { (read, write) };
            ends(host, module)
        };
        let (stdin, stdout, stderr) = (make(true)?, make(false)?, make(false)?);
        let (host, keeper) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let (control, ended) = (ends(host, keeper)?, make(false)?);
        Ok(Self {
            host: [stdin.0, stdout.0, stderr.0, control.0, ended.0],
            module: [stdin.1, stdout.1, stderr.1, control.1, ended.1],
        })
    }
}
