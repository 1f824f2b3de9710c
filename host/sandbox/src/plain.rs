//! The plain launcher: it starts and stops modules and does not confine them.

mod keeper;
mod kept;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use rustix::thread::futex;

use crate::child::Program;
use crate::clone::clone;
use crate::descriptors::{Ends, host_process};
use crate::launcher::{LaunchError, START_PATIENCE, machine};
use crate::process::{Body, Process, Streams};
use crate::profile::Confinement;
use crate::region::Stack;

use keeper::{FAILED, PENDING, Plan, Report, Shared, Step};
pub(crate) use kept::Kept;

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

impl Reach {
    /// Tries out how this machine lets a launcher stop descendants, best way first.
    ///
    /// # Errors
    /// [`LaunchError::Unstoppable`] where no way works.
    pub(crate) fn find() -> Result<Self, LaunchError> {
        let mut refused = String::new();
        for reach in [Self::PidNamespace { user: false }, Self::PidNamespace { user: true }] {
            match reach.check() {
                Ok(()) => return Ok(reach),
                Err(error) => refused = error.to_string(),
            }
        }
        tracing::debug!(why = %refused, "no process namespace; descendants are found as a subreaper");
        match Self::Subreaper.check() {
            Ok(()) => Ok(Self::Subreaper),
            Err(error) => Err(LaunchError::Unstoppable { namespace: refused, subreaper: error.to_string() }),
        }
    }

    /// Whether this machine permits this way.
    pub(crate) fn check(self) -> Result<(), LaunchError> {
        if self == Self::Subreaper {
            std::fs::File::open("/proc/thread-self/children").map_err(|source| LaunchError::Machine {
                doing: "opening /proc/thread-self/children",
                source,
            })?;
        }
        try_out(self)
    }
}

/// Sets a keeper up and lets it end, to see whether this machine permits it.
fn try_out(reach: Reach) -> Result<(), LaunchError> {
    let process = start(reach, None, Vec::new(), None, Confinement::None { why: String::new() })?;
    process.stop(START_PATIENCE).map(drop).map_err(|error| LaunchError::Machine {
        doing: "ending a trial process",
        source: io::Error::other(error.to_string()),
    })
}

/// Starts a module below a keeper. `resources` are RLIMIT_ numbers and values.
pub(crate) fn start(
    reach: Reach,
    program: Option<Program>,
    resources: Vec<(u32, u64)>,
    backstop: Option<Duration>,
    confinement: Confinement,
) -> Result<Process, LaunchError> {
    let name = program.as_ref().map(|program| program.arguments.first());
    let lowest = Plan::LOWEST;
    let pipe = |made: io::Result<Ends>| made.map_err(machine("making pipes"));
    let stdin = pipe(Ends::to_other(lowest))?;
    let stdout = pipe(Ends::from_other(lowest))?;
    let stderr = pipe(Ends::from_other(lowest))?;
    let (control, ended) = (pipe(Ends::line(lowest))?, pipe(Ends::from_other(lowest))?);
    let host = host_process(lowest).map_err(machine("making a descriptor of the host"))?;
    let others = [stdin.other, stdout.other, stderr.other, control.other, ended.other, host];
    let stack = || Stack::new().map_err(machine("making a stack"));
    let shared = Arc::new(Shared {
        plan: Plan {
            program,
            descriptors: others.each_ref().map(|end| end.as_raw_fd()),
            resources,
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
    let kept = Kept::new(Arc::clone(&shared), keeper, control.host, ended.host);
    let streams = Streams::new(stdin.host, stdout.host, stderr.host);
    let process = Process::new(streams, Body::Kept(kept), confinement, launched);
    drop(others);
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
    let namespaces = match reach {
        Reach::PidNamespace { user: false } => libc::CLONE_NEWPID,
        Reach::PidNamespace { user: true } => libc::CLONE_NEWPID | libc::CLONE_NEWUSER,
        Reach::Subreaper => 0,
    };
    let argument = Arc::as_ptr(shared).cast_mut().cast();
    // SAFETY: the stack lives in `shared`, which `Process` keeps until the keeper is reaped, or leaks. `keeper` keeps
    // to system calls, the plan and the atomics of the report.
    let made = unsafe { clone(keeper::keeper, argument, &shared.keeper_stack, namespaces, None)? };
    Ok(made.fd)
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
