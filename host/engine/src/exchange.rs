//! The exchange with one process: its pipes on one side, the protocol's session on the other.
//!
//! One loop polls everything at once, so no side can hold up another: a module that never reads its input, one that
//! never stops writing, one whose output stays open after its end, one that closes its output and lives on.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use modberth_protocol::process::{self, Failure, HostSession, Results};
use modberth_protocol::{Blame, Code, Violation};
use modberth_sandbox::{Exit, Limits as Resources, Process, StopError};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::explain::Bounds;
use crate::limits::{Limits, millis};
use crate::outcome::{ProcessReport, Stderr};

/// Bytes read or written at once: what a pipe holds by default.
const CHUNK: usize = 65_536;

/// What an exchange needs besides its process and session.
pub(crate) struct Terms<'a> {
    /// When the action must have finished.
    pub(crate) deadline: Instant,
    /// The time from the invocation to the deadline, for messages.
    pub(crate) allowed: Duration,
    /// Readable when the caller cancels.
    pub(crate) cancel: BorrowedFd<'a>,
    pub(crate) limits: &'a Limits,
    /// How much of the machine the module may use.
    pub(crate) resources: &'a Resources,
    /// How much this host gives a module at most.
    pub(crate) ceiling: &'a Resources,
}

/// Why an exchange was cut off.
enum Cut {
    /// The session has seen a violation and holds it.
    Violation,
    Deadline,
    Cancelled,
    /// Descendants outlived the module.
    LeftBehind,
    /// A process that the module did not start holds its pipes open, for longer than a moment.
    Held,
    /// The host's own side failed.
    Host(Violation),
}

/// Speaks with the process until it and everything it started is gone, by itself or by force, and judges it.
pub(crate) fn run(
    process: Process,
    session: HostSession,
    terms: &Terms<'_>,
) -> (Result<Results, Failure>, ProcessReport) {
    let mut exchange = Exchange::new(process, session);
    let cut = exchange.talk(terms);
    exchange.end(cut, terms)
}

struct Exchange {
    process: Process,
    session: HostSession,
    input: Vec<u8>,
    written: usize,
    stdout_open: bool,
    stderr_open: bool,
    stderr: Stderr,
    /// When the module's own process was seen to have ended.
    ended: Option<Instant>,
    /// When everything was seen to be gone.
    gone: Option<Instant>,
    buffer: Vec<u8>,
}

impl Exchange {
    fn new(process: Process, mut session: HostSession) -> Self {
        Self {
            process,
            input: session.take_input(),
            session,
            written: 0,
            stdout_open: true,
            stderr_open: true,
            stderr: Stderr::default(),
            ended: None,
            gone: None,
            buffer: vec![0; CHUNK],
        }
    }

    /// Until everything is gone (`None`), or there is a reason to end it by force.
    fn talk(&mut self, terms: &Terms<'_>) -> Option<Cut> {
        loop {
            let now = Instant::now();
            if now >= terms.deadline {
                return Some(if self.gone.is_some() { Cut::Held } else { Cut::Deadline });
            }
            let linger = self.gone.or(self.ended).map(|since| since + terms.limits.linger);
            if linger.is_some_and(|linger| now >= linger) {
                return Some(if self.gone.is_some() { Cut::Held } else { Cut::LeftBehind });
            }
            let until = linger.map_or(terms.deadline, |linger| linger.min(terms.deadline));
            let ready = match self.poll(terms.cancel, until - now) {
                Ok(ready) => ready,
                Err(errno) => return Some(Cut::Host(host_io("polling the module's pipes", errno))),
            };
            if ready.cancel {
                return Some(Cut::Cancelled);
            }
            if let Err(cut) = self.carry(&ready) {
                return Some(cut);
            }
            if ready.ended && self.ended.is_none() {
                self.ended = Some(Instant::now());
            }
            if ready.gone {
                self.gone = Some(Instant::now());
            }
            if self.gone.is_some() {
                match self.drain() {
                    Ok(true) => return None,
                    Ok(false) => {}
                    Err(cut) => return Some(cut),
                }
            }
        }
    }

    fn poll(&self, cancel: BorrowedFd<'_>, wait: Duration) -> Result<Ready, Errno> {
        let process = &self.process;
        let watched = [
            Some((cancel, PollFlags::IN)),
            self.gone.is_none().then(|| (process.gone(), PollFlags::IN)),
            (self.ended.is_none() && self.gone.is_none()).then(|| (process.ended(), PollFlags::empty())),
            process.stdin().map(|stdin| (stdin, PollFlags::OUT)),
            self.stdout_open.then(|| (process.stdout(), PollFlags::IN)),
            self.stderr_open.then(|| (process.stderr(), PollFlags::IN)),
        ];
        let mut polled: Vec<PollFd<'_>> =
            watched.iter().flatten().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        match rustix::event::poll(&mut polled, Timespec::try_from(wait).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        let mut answers = polled.iter();
        let [cancel, gone, ended, stdin, stdout, stderr] = watched.map(|watched| {
            watched.is_some() && answers.next().is_some_and(|answer| !answer.revents().is_empty())
        });
        Ok(Ready { cancel, gone, ended, stdin, stdout, stderr })
    }

    /// Moves what can be moved without waiting.
    fn carry(&mut self, ready: &Ready) -> Result<(), Cut> {
        if ready.stdin {
            self.write_input()?;
        }
        if ready.stdout {
            self.read_stdout()?;
        }
        if ready.stderr {
            self.read_stderr()?;
        }
        Ok(())
    }

    fn write_input(&mut self) -> Result<(), Cut> {
        let Some(stdin) = self.process.stdin() else { return Ok(()) };
        let end = self.input.len().min(self.written + CHUNK);
        match rustix::io::write(stdin, &self.input[self.written..end]) {
            Ok(count) => self.written += count,
            Err(Errno::AGAIN | Errno::INTR) => {}
            // The module reads no more. That is its business: it is judged by what it answers.
            Err(Errno::PIPE) => self.process.close_stdin(),
            Err(errno) => return Err(Cut::Host(host_io("writing to the module's standard input", errno))),
        }
        if self.written == self.input.len() {
            self.process.close_stdin();
        }
        Ok(())
    }

    /// Reads once; false when there is nothing now.
    fn read_stdout(&mut self) -> Result<bool, Cut> {
        match rustix::io::read(self.process.stdout(), &mut self.buffer) {
            Ok(0) => {
                self.stdout_open = false;
                // Output that is short is judged at the end, beside the exit status.
                let _ = self.session.output_end();
            }
            Ok(count) => self.session.output(&self.buffer[..count]).map_err(|_| Cut::Violation)?,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(false),
            Err(errno) => return Err(Cut::Host(host_io("reading the module's standard output", errno))),
        }
        Ok(self.stdout_open)
    }

    /// Reads once; false when there is nothing now.
    fn read_stderr(&mut self) -> Result<bool, Cut> {
        match rustix::io::read(self.process.stderr(), &mut self.buffer) {
            Ok(0) => self.stderr_open = false,
            Ok(count) => {
                let room = usize::try_from(self.session.stderr_room()).unwrap_or(usize::MAX);
                self.stderr.kept.extend_from_slice(&self.buffer[..count.min(room)]);
                self.stderr.bytes += count as u64;
                self.session.stderr(count as u64).map_err(|_| Cut::Violation)?;
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(false),
            Err(errno) => return Err(Cut::Host(host_io("reading the module's standard error", errno))),
        }
        Ok(self.stderr_open)
    }

    /// Reads what the pipes still hold when everything is gone; true when they have ended. Pipes that have not are held
    /// by a process that the module handed them to, or for a moment by one that the host itself is just starting: it
    /// has copies of all descriptors until it runs its program.
    fn drain(&mut self) -> Result<bool, Cut> {
        while self.stdout_open && self.read_stdout()? {}
        while self.stderr_open && self.read_stderr()? {}
        Ok(!self.stdout_open && !self.stderr_open)
    }

    /// Ends the process, if it has not ended, and judges.
    fn end(mut self, cut: Option<Cut>, terms: &Terms<'_>) -> (Result<Results, Failure>, ProcessReport) {
        // What it had done by itself before it is killed.
        let mut exit = self.process.exit();
        let confinement = self.process.confinement().clone();
        let late = Late::new(&self);
        if !matches!(cut, None | Some(Cut::Host(_))) {
            // Last words. Whatever else comes is too late, so its verdict is not asked for.
            while self.stderr_open && self.stderr.bytes <= modberth_protocol::limits::STDERR_BYTES {
                if !matches!(self.read_stderr(), Ok(true)) {
                    break;
                }
            }
        }
        let ran = self.process.launched().elapsed();
        let stopped = self.process.stop(terms.limits.stop);
        let (mut usage, mut backstop) = (None, false);
        if let Ok(ended) = &stopped {
            usage = ended.usage;
            backstop = ended.backstop;
        }
        if backstop {
            exit = None;
        }
        let verdict = match cut {
            // The backstop is a deadline like the other, only kept by somebody else.
            None | Some(Cut::LeftBehind) if backstop => {
                let violation = deadline(millis(terms.limits.process_1_backstop), &late, "its backstop");
                Err(with_notes(violation, self.session.violations()))
            }
            None => match exit.or(stopped.as_ref().ok().and_then(|ended| ended.exit)) {
                Some(exit) => self.session.finish(session_exit(exit)),
                None => Err(lost().into()),
            },
            Some(Cut::Violation) => {
                let mut all = self.session.violations().iter().cloned();
                match all.next() {
                    Some(violation) => Err(with_rest(violation, all.collect())),
                    None => Err(lost().into()),
                }
            }
            Some(Cut::Deadline) => Err(with_notes(
                deadline(millis(terms.allowed), &late, "its deadline"),
                self.session.violations(),
            )),
            Some(Cut::Cancelled) => {
                let violation = Violation::new(Code::ProcessCancelled, "The action was cancelled.");
                Err(with_notes(violation, self.session.violations()))
            }
            Some(Cut::LeftBehind) => {
                let linger = millis(terms.limits.linger);
                let message = format!(
                    "A process that the module started still ran {linger} ms after the module had ended, and was killed."
                );
                let violation = Violation::new(Code::ProcessLeftBehind, message).limit(linger);
                Err(left_behind(self.session, exit, violation))
            }
            Some(Cut::Held) => {
                let message = "The module handed its output to a process that it had not started.";
                Err(left_behind(self.session, exit, Violation::new(Code::ProcessLeftBehind, message)))
            }
            Some(Cut::Host(violation)) => Err(with_notes(violation, self.session.violations())),
        };
        let mut verdict = match stopped {
            Ok(_) => verdict,
            Err(error) => Err(unstopped(&error, verdict.err())),
        };
        if let (Err(failure), Some(usage)) = (&mut verdict, usage) {
            Bounds { limits: terms.resources, ceiling: terms.ceiling, usage, ran }.explain(failure);
        }
        (verdict, ProcessReport { exit, confinement, stderr: self.stderr, usage })
    }
}

/// Which descriptors have something.
struct Ready {
    cancel: bool,
    gone: bool,
    ended: bool,
    stdin: bool,
    stdout: bool,
    stderr: bool,
}

/// What a module had and had not done at its deadline: for the message.
struct Late {
    unread: usize,
    input: usize,
    stdout_open: bool,
    ended: bool,
}

impl Late {
    fn new(exchange: &Exchange) -> Self {
        Self {
            unread: exchange.process.stdin().map_or(0, |_| exchange.input.len() - exchange.written),
            input: exchange.input.len(),
            stdout_open: exchange.stdout_open,
            ended: exchange.ended.is_some(),
        }
    }

    fn describe(&self) -> String {
        if self.ended {
            return "its own process had ended, but something it started had not".to_owned();
        }
        if !self.stdout_open {
            return "it had closed its standard output, but not ended".to_owned();
        }
        if self.unread > 0 {
            return format!(
                "it had left at least {} of {} bytes of its input unread",
                self.unread, self.input
            );
        }
        "its standard output was still open".to_owned()
    }
}

fn deadline(limit: u64, late: &Late, name: &str) -> Violation {
    let message = format!("The module had not finished at {name} of {limit} ms: {}.", late.describe());
    Violation::new(Code::ProcessDeadline, message).limit(limit)
}

/// The module's own process ended and something lived on: what that means beside its exit status.
fn left_behind(session: HostSession, exit: Option<Exit>, violation: Violation) -> Failure {
    match exit.map(|exit| session.finish(session_exit(exit))) {
        // A module that failed by itself has failed for that reason first.
        Some(Err(mut failure)) if is_exit(failure.violation.code) => {
            failure.notes.insert(0, violation);
            failure
        }
        Some(Err(failure)) => {
            let mut notes = vec![failure.violation];
            notes.extend(failure.notes);
            with_rest(violation, notes)
        }
        Some(Ok(_)) | None => violation.into(),
    }
}

fn is_exit(code: Code) -> bool {
    matches!(code, Code::ProcessExitStatus | Code::ProcessSignal)
}

fn unstopped(error: &StopError, before: Option<Failure>) -> Failure {
    let violation = Violation::new(Code::HostIo, format!("The module could not be stopped: {error}."));
    let violation = match error {
        StopError::KeeperLost => violation.blame(Blame::Module),
        _ => violation,
    };
    let mut notes = Vec::new();
    if let Some(failure) = before {
        notes.push(failure.violation);
        notes.extend(failure.notes);
    }
    with_rest(violation, notes)
}

fn with_notes(violation: Violation, notes: &[Violation]) -> Failure {
    with_rest(violation, notes.to_vec())
}

fn with_rest(violation: Violation, notes: Vec<Violation>) -> Failure {
    let mut failure = Failure::from(violation);
    failure.notes = notes;
    failure
}

fn session_exit(exit: Exit) -> process::Exit {
    match exit {
        Exit::Status(status) => process::Exit::Code(status),
        Exit::Signal(signal) => process::Exit::Signal(signal),
    }
}

fn lost() -> Violation {
    let message = "It is not known how the module ended: another part of this program has waited for it, or the program \
                   ignores SIGCHLD.";
    Violation::new(Code::HostIo, message)
}

fn host_io(doing: &str, errno: Errno) -> Violation {
    Violation::new(Code::HostIo, format!("{doing}: {errno}."))
}
