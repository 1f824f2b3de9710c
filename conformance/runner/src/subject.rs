//! One module process under test: started, fed, observed and removed.
//!
//! The process gets the environment a host gives it and nothing else, stands in a process group of its own and
//! works in the root folder. Its streams are pipes that one loop serves, so a module can neither block the
//! runner nor outlive the call.

use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// The environment of a module, exactly (variable, value).
pub const ENVIRONMENT: [(&str, &str); 3] = [("PATH", "/usr/bin"), ("LANG", "C.UTF-8"), ("TMPDIR", "/tmp")];

/// The most bytes of one output stream that are kept; reading goes on behind it, keeping does not.
pub const KEPT_BYTES: usize = 4 << 20;

/// How long a module may take before it is stopped and reported as late. A guard against a hang, no measure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How a module is started.
#[derive(Debug, Clone)]
pub struct Subject {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Subject {
    /// A subject from a command line: the program, then its arguments.
    ///
    /// A program without a slash is looked up in the `PATH` of the runner, because the module's own `PATH` holds
    /// `/usr/bin` only.
    ///
    /// # Errors
    ///
    /// An empty command line, or a program that no folder of `PATH` holds.
    pub fn new<S: AsRef<str>>(command: &[S]) -> io::Result<Self> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the command line of the module is empty",
            ));
        };
        Ok(Self {
            program: find(program.as_ref())?,
            arguments: arguments.iter().map(|argument| argument.as_ref().to_owned()).collect(),
        })
    }

    /// The same subject started through another program, which gets the module's command line as its last arguments
    /// (a tracer, for example).
    ///
    /// # Errors
    ///
    /// As [`Subject::new`].
    pub fn through<S: AsRef<str>>(&self, wrapper: &[S]) -> io::Result<Self> {
        let mut wrapped = Self::new(wrapper)?;
        wrapped.arguments.push(self.program.to_string_lossy().into_owned());
        wrapped.arguments.extend(self.arguments.iter().cloned());
        Ok(wrapped)
    }

    /// Starts the module, feeds it and waits until it has ended and both its output streams have, at most
    /// [`PATIENCE`]. Its whole process group is gone when this returns.
    ///
    /// # Errors
    ///
    /// What the system says when the program cannot be started or a pipe fails. Whatever the module itself does is
    /// no error but an [`Observed`].
    pub fn feed(&self, feed: &Feed) -> io::Result<Observed> {
        self.feed_within(feed, PATIENCE)
    }

    /// [`Subject::feed`] with another patience.
    ///
    /// # Errors
    ///
    /// As [`Subject::feed`].
    pub fn feed_within(&self, feed: &Feed, patience: Duration) -> io::Result<Observed> {
        let child = self
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.program.display())))?;
        let mut group = Group { child: Some(child) };
        observe(&mut group, feed, patience)
    }

    /// How the module is started, for those who bring its standard streams themselves: environment, folder and process
    /// group as in [`Subject::feed`].
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().envs(ENVIRONMENT).current_dir("/").process_group(0);
        command
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.display())?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
    }
}

fn find(program: &str) -> io::Result<PathBuf> {
    if program.contains('/') {
        return std::path::absolute(program);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| Path::is_file(path))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no folder of PATH holds {program}")))
}

/// What a module is fed, and in which pieces.
#[derive(Debug, Clone)]
pub struct Feed {
    bytes: Vec<u8>,
    /// Where a piece ends, ascending; the end of `bytes` is implied.
    cuts: Vec<usize>,
    stays_open: bool,
}

impl Feed {
    /// All bytes at once (as many as the pipe takes), then end of input.
    #[must_use]
    pub fn whole(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), cuts: Vec::new(), stays_open: false }
    }

    /// Pieces of `size` bytes, each of them sent when the module has read the one before.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    #[must_use]
    pub fn every(mut self, size: usize) -> Self {
        self.cuts = (size..self.bytes.len()).step_by(size).collect();
        self
    }

    /// Cuts at these offsets. Offsets behind the end, and repeated ones, cut nothing.
    #[must_use]
    pub fn cut_at(mut self, offsets: &[usize]) -> Self {
        self.cuts = offsets.iter().copied().filter(|&at| at > 0 && at < self.bytes.len()).collect();
        self.cuts.sort_unstable();
        self.cuts.dedup();
        self
    }

    /// Leaves the input open after the last byte, until the module has ended.
    #[must_use]
    pub fn stays_open(mut self) -> Self {
        self.stays_open = true;
        self
    }

    /// The end of the piece that begins at `from`.
    fn piece_end(&self, from: usize) -> usize {
        let next = self.cuts.partition_point(|&cut| cut <= from);
        self.cuts.get(next).copied().unwrap_or(self.bytes.len())
    }
}

/// How a module ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It had not ended, or something still held its output, when the patience was over; it was killed.
    Late,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exit status {status}"),
            Self::Signalled(signal) => write!(f, "signal {signal}"),
            Self::Late => f.write_str("stopped after the deadline"),
        }
    }
}

/// All that could be seen of one module process from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Its standard output, at most [`KEPT_BYTES`].
    pub stdout: Vec<u8>,
    /// Its standard error, at most [`KEPT_BYTES`].
    pub stderr: Vec<u8>,
    /// How it ended.
    pub end: End,
    /// How many bytes of the feed could not be written because the module no longer read.
    pub unread: usize,
}

impl Observed {
    /// Standard error as text, invalid UTF-8 replaced.
    #[must_use]
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// A started process that takes its group down with it, whatever happens.
struct Group {
    child: Option<Child>,
}

impl Group {
    /// Kills the group, then collects the process. The group is killed first: until then the process, though it may
    /// have ended, still holds the number of the group.
    fn finish(&mut self) -> io::Result<Option<ExitStatus>> {
        let Some(mut child) = self.child.take() else { return Ok(None) };
        // It fails only when nothing is left to kill.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        child.wait().map(Some)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// One output stream of the module.
struct Stream<R> {
    source: Option<R>,
    kept: Vec<u8>,
}

impl<R: Read + AsFd> Stream<R> {
    fn new(source: R) -> io::Result<Self> {
        ioctl_fionbio(&source, true)?;
        Ok(Self { source: Some(source), kept: Vec::new() })
    }

    /// Reads once. The end of the stream closes it.
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<()> {
        let Some(source) = &mut self.source else { return Ok(()) };
        match source.read(scratch) {
            Ok(0) => self.source = None,
            Ok(count) => {
                let room = KEPT_BYTES.saturating_sub(self.kept.len());
                self.kept.extend_from_slice(&scratch[..count.min(room)]);
            }
            Err(error) if again(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// The input of the module: what is still to be written, and where.
struct Input<'a> {
    pipe: Option<ChildStdin>,
    feed: &'a Feed,
    written: usize,
}

impl<'a> Input<'a> {
    fn new(pipe: ChildStdin, feed: &'a Feed) -> io::Result<Self> {
        ioctl_fionbio(&pipe, true)?;
        if !feed.cuts.is_empty() {
            // A pipe of one page is writable again only when the reader has emptied it. That is what keeps two
            // pieces from melting into one.
            fcntl_setpipe_size(&pipe, 1)?;
        }
        let mut input = Self { pipe: Some(pipe), feed, written: 0 };
        input.close_at_end();
        Ok(input)
    }

    fn is_due(&self) -> bool {
        self.pipe.is_some() && self.written < self.feed.bytes.len()
    }

    /// Writes the rest of the piece in hand, as far as the pipe takes it.
    fn write(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        let end = self.feed.piece_end(self.written);
        match pipe.write(&self.feed.bytes[self.written..end]) {
            Ok(count) => self.written += count,
            Err(error) if again(&error) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.pipe = None,
            Err(error) => return Err(error),
        }
        self.close_at_end();
        Ok(())
    }

    fn close_at_end(&mut self) {
        if self.written == self.feed.bytes.len() && !self.feed.stays_open {
            self.pipe = None;
        }
    }
}

fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ready {
    Input,
    Stdout,
    Stderr,
    Ended,
}

fn observe(group: &mut Group, feed: &Feed, patience: Duration) -> io::Result<Observed> {
    let missing = || io::Error::other("a stream of the module is no pipe");
    let child = group.child.as_mut().ok_or_else(missing)?;
    let mut input = Input::new(child.stdin.take().ok_or_else(missing)?, feed)?;
    let mut stdout = Stream::new(child.stdout.take().ok_or_else(missing)?)?;
    let mut stderr = Stream::new(child.stderr.take().ok_or_else(missing)?)?;
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let deadline = Instant::now() + patience;
    let mut scratch = vec![0; 64 << 10];
    let mut ended = false;
    let mut late = false;
    while !(ended && stdout.source.is_none() && stderr.source.is_none()) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            late = true;
            break;
        }
        let ready = {
            let mut watched = Vec::with_capacity(4);
            let mut names = Vec::with_capacity(4);
            if let Some(pipe) = input.pipe.as_ref().filter(|_| input.is_due()) {
                watched.push(PollFd::new(pipe, PollFlags::OUT));
                names.push(Ready::Input);
            }
            if let Some(source) = &stdout.source {
                watched.push(PollFd::new(source, PollFlags::IN));
                names.push(Ready::Stdout);
            }
            if let Some(source) = &stderr.source {
                watched.push(PollFd::new(source, PollFlags::IN));
                names.push(Ready::Stderr);
            }
            if !ended {
                watched.push(PollFd::new(&process, PollFlags::IN));
                names.push(Ready::Ended);
            }
            match poll(&mut watched, Some(&timespec(left))) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let fired = watched.iter().map(|fd| !fd.revents().is_empty());
            names.into_iter().zip(fired).filter(|(_, fired)| *fired).map(|(name, _)| name).collect::<Vec<_>>()
        };
        for name in ready {
            match name {
                Ready::Input => input.write()?,
                Ready::Stdout => stdout.read(&mut scratch)?,
                Ready::Stderr => stderr.read(&mut scratch)?,
                Ready::Ended => ended = true,
            }
        }
    }
    let unread = feed.bytes.len() - input.written;
    drop(input);
    let status = group.finish()?.ok_or_else(missing)?;
    let end = match (late, status.code(), status.signal()) {
        (true, ..) => End::Late,
        (false, Some(code), _) => End::Exited(code),
        (false, None, signal) => End::Signalled(signal.unwrap_or_default()),
    };
    Ok(Observed { stdout: stdout.kept, stderr: stderr.kept, end, unread })
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
