//! A running module and how it ended.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::SendFlags;
use rustix::process::Signal;

use crate::keeper::{PENDING, Shared};
use crate::profile::Confinement;

/// Blocks SIGPIPE in the calling thread, for as long as the thread lives.
///
/// A thread that writes to [`Process::stdin`] calls this once. A module that closed its input then gives an error
/// (EPIPE); otherwise, in a program that has set SIGPIPE to its default, it would end the host.
pub fn block_sigpipe() {
    // SAFETY: changes the mask of this thread only; the set lives for the call.
    unsafe {
        let mut pipe: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut pipe);
        libc::sigaddset(&mut pipe, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &pipe, std::ptr::null_mut());
    }
}

/// How a module's own process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It ended with this status, 0 to 255.
    Status(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// The signal's name, such as `SIGSEGV`; `None` for a status and for signals without a common name.
    pub fn signal_name(&self) -> Option<&'static str> {
        let Self::Signal(number) = *self else { return None };
        const NAMES: [(i32, &str); 18] = [
            (libc::SIGHUP, "SIGHUP"),
            (libc::SIGINT, "SIGINT"),
            (libc::SIGQUIT, "SIGQUIT"),
            (libc::SIGILL, "SIGILL"),
            (libc::SIGTRAP, "SIGTRAP"),
            (libc::SIGABRT, "SIGABRT"),
            (libc::SIGBUS, "SIGBUS"),
            (libc::SIGFPE, "SIGFPE"),
            (libc::SIGKILL, "SIGKILL"),
            (libc::SIGUSR1, "SIGUSR1"),
            (libc::SIGSEGV, "SIGSEGV"),
            (libc::SIGUSR2, "SIGUSR2"),
            (libc::SIGPIPE, "SIGPIPE"),
            (libc::SIGALRM, "SIGALRM"),
            (libc::SIGTERM, "SIGTERM"),
            (libc::SIGXCPU, "SIGXCPU"),
            (libc::SIGXFSZ, "SIGXFSZ"),
            (libc::SIGSYS, "SIGSYS"),
        ];
        NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.signal_name()) {
            (Self::Status(status), _) => write!(f, "exit status {status}"),
            (Self::Signal(number), Some(name)) => write!(f, "signal {number} ({name})"),
            (Self::Signal(number), None) => write!(f, "signal {number}"),
        }
    }
}

/// What a module used, as far as the kernel says it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Processor time of the module's own process and of the children it waited for.
    pub cpu: Duration,
}

/// The end of a module and of everything it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// How the module's own process ended. SIGKILL where [`Process::stop`] ended it.
    pub exit: Option<Exit>,
    /// What it used.
    pub usage: Option<Usage>,
    /// The profile's backstop passed and everything was killed.
    pub backstop: bool,
}

/// A module, or something it started, could not be seen to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StopError {
    /// Not gone in time. The keeper goes on killing it.
    #[error("a process of the module was still there {} ms after it was killed", .0.as_millis())]
    Late(Duration),
    /// The keeper ended before its module, so what the module started may live on.
    #[error("the process that keeps the module was killed, so what the module started may live on")]
    KeeperLost,
    /// The machine refused the waiting.
    #[error("cannot wait for the module's end: {0}")]
    Wait(#[from] io::Error),
}

pub(crate) struct Parts {
    pub(crate) shared: Arc<Shared>,
    pub(crate) keeper: OwnedFd,
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) control: OwnedFd,
    pub(crate) ended: OwnedFd,
    pub(crate) confinement: Confinement,
    pub(crate) launched: Instant,
}

/// A running module. Dropping it kills the module and everything it started and waits for that, ten seconds at most.
pub struct Process {
    shared: Option<Arc<Shared>>,
    keeper: OwnedFd,
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
    /// A byte on it, or its end, tells the keeper to kill.
    control: Option<OwnedFd>,
    ended: OwnedFd,
    confinement: Confinement,
    launched: Instant,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("keeper", &self.keeper)
            .field("exit", &self.exit())
            .field("confinement", &self.confinement)
            .finish_non_exhaustive()
    }
}

/// How long a keeper that was told to kill is waited for, before it is killed itself where that is as good.
const FORCED_AFTER: Duration = Duration::from_secs(1);
/// How often a keeper that was told to kill is looked after.
const HELPED_EVERY: Duration = Duration::from_millis(20);
/// How long a dropped process is waited for.
const DROP_PATIENCE: Duration = Duration::from_secs(10);

impl Process {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { shared, keeper, stdin, stdout, stderr, control, ended, confinement, launched } = parts;
        Self {
            shared: Some(shared),
            keeper,
            stdin: Some(stdin),
            stdout,
            stderr,
            control: Some(control),
            ended,
            confinement,
            launched,
        }
    }

    /// The host's end of the module's standard input; `None` once closed. It does not block.
    pub fn stdin(&self) -> Option<BorrowedFd<'_>> {
        self.stdin.as_ref().map(OwnedFd::as_fd)
    }

    /// Closes the module's standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The host's end of the module's standard output. It does not block.
    pub fn stdout(&self) -> BorrowedFd<'_> {
        self.stdout.as_fd()
    }

    /// The host's end of the module's standard error. It does not block.
    pub fn stderr(&self) -> BorrowedFd<'_> {
        self.stderr.as_fd()
    }

    /// Polls as hung up (POLLHUP) once the module's own process has ended; see [`Process::exit`]. Descendants may
    /// still run.
    pub fn ended(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }

    /// Polls as readable (POLLIN) once the module and everything it started is gone.
    pub fn gone(&self) -> BorrowedFd<'_> {
        self.keeper.as_fd()
    }

    /// How the module's own process ended; `None` while it runs.
    pub fn exit(&self) -> Option<Exit> {
        let report = &self.shared.as_ref()?.report;
        if report.ended.load(SeqCst) == 0 {
            return None;
        }
        let status = report.status.load(SeqCst);
        Some(match report.code.load(SeqCst) {
            libc::CLD_EXITED => Exit::Status(status),
            _ => Exit::Signal(status),
        })
    }

    /// What kept the module apart from the machine.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// When the module was launched.
    pub fn launched(&self) -> Instant {
        self.launched
    }

    /// Waits until the module and everything it started is gone by itself. `false` when `patience` ran out first;
    /// `None` waits without end.
    ///
    /// # Errors
    /// What the machine says to poll.
    pub fn wait_gone(&self, patience: Option<Duration>) -> io::Result<bool> {
        let until = patience.map(|patience| Instant::now() + patience);
        loop {
            let mut polled = [PollFd::new(&self.keeper, PollFlags::IN)];
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let timeout = left.and_then(|left| Timespec::try_from(left).ok());
            match rustix::event::poll(&mut polled, timeout.as_ref()) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Kills the module and everything it started, if they still run, and returns when all of it is gone
    /// (P1-HOST-27, P1-HOST-32).
    ///
    /// # Errors
    /// [`StopError::Late`] after `patience`; [`StopError::KeeperLost`] when somebody killed the keeper.
    pub fn stop(mut self, patience: Duration) -> Result<Ended, StopError> {
        let ended = self.end(patience);
        if ended.is_err() {
            // It has been waited for; dropping it must not wait again.
            self.leak();
        }
        ended
    }

    fn end(&mut self, patience: Duration) -> Result<Ended, StopError> {
        // Its input stays open until it is gone: it is killed, not asked to end. A process that the host has forked
        // may hold a copy of the control line, so closing it is not enough.
        if let Some(control) = self.control.take() {
            // It fails only when the keeper is gone.
            let _ = rustix::net::send(&control, b"k", SendFlags::NOSIGNAL);
        }
        if !self.wait_stopped(patience)? {
            return Err(StopError::Late(patience));
        }
        self.reap()?;
        let exit = self.exit();
        let Some(shared) = self.shared.take() else { return Err(StopError::KeeperLost) };
        let report = &shared.report;
        if report.clean.load(SeqCst) == 0 && shared.plan.program.is_some() && report.step.load(SeqCst) == 0 {
            // In a namespace the kernel has killed the rest, whoever killed the keeper.
            if !shared.plan.namespace {
                if report.state.load(SeqCst) == PENDING {
                    // The module's process may still be on its way to its program, in this memory.
                    std::mem::forget(shared);
                }
                return Err(StopError::KeeperLost);
            }
        }
        let usage = exit.map(|_| Usage { cpu: Duration::from_micros(report.cpu_micros.load(SeqCst)) });
        Ok(Ended { exit, usage, backstop: report.backstop.load(SeqCst) == 1 })
    }

    /// Waits for the end of a keeper that was told to kill, and helps one that does not get to it.
    fn wait_stopped(&self, patience: Duration) -> io::Result<bool> {
        let start = Instant::now();
        let forced = FORCED_AFTER.min(patience / 2);
        loop {
            let waited = start.elapsed();
            // A module that is its keeper's neighbour can stop it.
            let mut signal = Signal::CONT;
            if let Some(shared) = &self.shared {
                let pending = shared.report.state.load(SeqCst) == PENDING;
                // Before the module's program runs there is nothing below the keeper but the module's process, which
                // dies with it; the keeper sleeps until then and hears nothing.
                if pending || (shared.plan.namespace && waited >= forced) {
                    signal = Signal::KILL;
                }
            }
            // It fails only when the keeper is gone.
            let _ = rustix::process::pidfd_send_signal(&self.keeper, signal);
            let left = patience.saturating_sub(waited);
            if self.wait_gone(Some(left.min(HELPED_EVERY)))? {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }

    /// Gives up the memory that a keeper may still run on. Losing a few pages is right then.
    fn leak(&mut self) {
        if let Some(shared) = self.shared.take() {
            std::mem::forget(shared);
        }
    }

    /// Takes the ended keeper off the process table.
    fn reap(&self) -> io::Result<()> {
        loop {
            // SAFETY: plain data for which all zeros is a value; the descriptor is this process's own.
            let answer = unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                libc::waitid(
                    libc::P_PIDFD,
                    self.keeper.as_raw_fd() as libc::id_t,
                    &mut info,
                    libc::WEXITED | libc::__WALL,
                )
            };
            if answer == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                // Somebody else's wait has taken it: it is gone all the same.
                Some(libc::ECHILD) => return Ok(()),
                _ => return Err(error),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.shared.is_none() {
            return;
        }
        if let Err(error) = self.end(DROP_PATIENCE) {
            tracing::error!(%error, "a module could not be stopped");
        }
        self.leak();
    }
}
