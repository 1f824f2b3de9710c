//! A running module and how it ended.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::confined::Confined;
use crate::plain::Kept;
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

/// Gives SIGCHLD its default disposition where the program was started with that signal ignored.
///
/// The kernel tells nobody how a child has ended whose parent ignores SIGCHLD, and whoever started the program may have
/// ignored it. [`crate::Launcher::confined`] refuses then. A program calls this at its start.
pub fn heed_children() {
    if !children_are_heeded() {
        // SAFETY: sets the default; no handler of the program is replaced, as there was none.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

/// Whether the kernel keeps how children have ended until somebody asks.
pub(crate) fn children_are_heeded() -> bool {
    // SAFETY: plain data for which all zeros is a value; the call writes there.
    let (answer, now) = unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(libc::SIGCHLD, std::ptr::null(), &mut now), now)
    };
    answer != 0 || (now.sa_sigaction != libc::SIG_IGN && now.sa_flags & libc::SA_NOCLDWAIT == 0)
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
    /// From the fields si_code and si_status of a siginfo_t.
    pub(crate) fn new(code: i32, status: i32) -> Self {
        match code {
            libc::CLD_EXITED => Self::Status(status),
            _ => Self::Signal(status),
        }
    }

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

/// What a module used, from the kernel's own counters. What the kernel does not count for this action alone is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Processor time. Of a confined module: of all its processes. Of a plain one: of its own process and of the
    /// children it waited for.
    pub cpu: Duration,
    /// The most memory it had at one time, in bytes.
    pub peak_memory: Option<u64>,
    /// Processes that the kernel killed because the memory limit was reached.
    pub oom_kills: Option<u64>,
    /// Periods of 100 ms in which it was held up because it had used its processor time.
    pub throttled_periods: Option<u64>,
    /// How long it was held up, summed over processors.
    pub throttled: Option<Duration>,
    /// New processes and threads that were refused because the task limit was reached.
    pub refused_tasks: Option<u64>,
}

/// The end of a module and of everything it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// How the module's own process ended. SIGKILL where [`Process::stop`] ended it. `None` where another part of the
    /// program has waited for it.
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

/// The host's ends of the three streams.
pub(crate) struct Streams {
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

impl Streams {
    pub(crate) fn new(stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd) -> Self {
        Self { stdin: Some(stdin), stdout, stderr }
    }
}

/// What stands between the host and the module.
pub(crate) enum Body {
    Kept(Kept),
    Confined(Box<Confined>),
}

/// A running module. Dropping it kills the module and everything it started and waits for that, ten seconds at most.
/// Only the process that launched it does so: dropping a copy that a fork has made changes nothing.
pub struct Process {
    /// The process that launched it.
    host: u32,
    streams: Streams,
    body: Body,
    confinement: Confinement,
    launched: Instant,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("gone", &self.gone())
            .field("exit", &self.exit())
            .field("confinement", &self.confinement)
            .finish_non_exhaustive()
    }
}

/// How long a dropped process is waited for.
const DROP_PATIENCE: Duration = Duration::from_secs(10);

impl Process {
    pub(crate) fn new(streams: Streams, body: Body, confinement: Confinement, launched: Instant) -> Self {
        Self { host: std::process::id(), streams, body, confinement, launched }
    }

    /// The host's end of the module's standard input; `None` once closed. It does not block.
    pub fn stdin(&self) -> Option<BorrowedFd<'_>> {
        self.streams.stdin.as_ref().map(OwnedFd::as_fd)
    }

    /// Closes the module's standard input.
    pub fn close_stdin(&mut self) {
        self.streams.stdin = None;
    }

    /// The host's end of the module's standard output. It does not block.
    pub fn stdout(&self) -> BorrowedFd<'_> {
        self.streams.stdout.as_fd()
    }

    /// The host's end of the module's standard error. It does not block.
    pub fn stderr(&self) -> BorrowedFd<'_> {
        self.streams.stderr.as_fd()
    }

    /// Polls as ready (POLLIN or POLLHUP) once the module's own process has ended; see [`Process::exit`]. Below a
    /// keeper, descendants may still run then; of a confined module nothing does.
    pub fn ended(&self) -> BorrowedFd<'_> {
        match &self.body {
            Body::Kept(kept) => kept.ended(),
            Body::Confined(confined) => confined.gone(),
        }
    }

    /// Polls as readable (POLLIN) once the module and everything it started is gone.
    pub fn gone(&self) -> BorrowedFd<'_> {
        match &self.body {
            Body::Kept(kept) => kept.gone(),
            Body::Confined(confined) => confined.gone(),
        }
    }

    /// How the module's own process ended; `None` while it runs.
    pub fn exit(&self) -> Option<Exit> {
        match &self.body {
            Body::Kept(kept) => kept.exit(),
            Body::Confined(confined) => confined.exit(),
        }
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
        wait_readable(self.gone(), patience)
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
        match &mut self.body {
            Body::Kept(kept) => kept.end(patience),
            Body::Confined(confined) => confined.end(patience),
        }
    }

    fn leak(&mut self) {
        match &mut self.body {
            Body::Kept(kept) => kept.leak(),
            Body::Confined(confined) => confined.leak(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let over = match &self.body {
            Body::Kept(kept) => kept.is_over(),
            Body::Confined(confined) => confined.is_over(),
        };
        if over || std::process::id() != self.host {
            return;
        }
        if let Err(error) = self.end(DROP_PATIENCE) {
            tracing::error!(%error, "a module could not be stopped");
        }
        self.leak();
    }
}

/// The moment after this span, or in a hundred years if that is sooner: a clock has an end.
pub(crate) fn after(span: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 366 * 24 * 3600);
    Instant::now() + span.min(CENTURY)
}

/// Waits until a descriptor is readable. `false` when `patience` ran out first; `None` waits without end.
pub(crate) fn wait_readable(fd: BorrowedFd<'_>, patience: Option<Duration>) -> io::Result<bool> {
    let until = patience.map(after);
    loop {
        let mut polled = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
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
