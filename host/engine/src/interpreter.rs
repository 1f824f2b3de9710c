//! Interpreters: which program runs a Python or JavaScript module, found once.

use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use modberth_protocol::{Code, Violation};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::access::{self, Wanted};

/// A language whose modules need an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterpreterKind {
    /// CPython, 3.11 or later.
    Python,
    /// Node.js, 20 or later.
    Node,
}

impl InterpreterKind {
    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Node => "Node.js",
        }
    }

    /// The lowest version that is used.
    pub const fn lowest(self) -> (u32, u32) {
        match self {
            Self::Python => (3, 11),
            Self::Node => (20, 0),
        }
    }

    /// The program's name, looked for in `/usr/bin`, then `/usr/local/bin`, then along PATH.
    const fn program(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Node => "node",
        }
    }

    /// Arguments that make it print its own path and its version, a line each; then the folders it takes its library
    /// from.
    const fn question(self) -> &'static [&'static str] {
        match self {
            Self::Python => &[
                "-I",
                "-S",
                "-c",
                "import os,sys\nfor line in (sys.executable,'%d.%d.%d'%sys.version_info[:3],os.path.dirname(os.__file__),sys.base_prefix+'/lib',sys.base_exec_prefix+'/'+sys.platlibdir):print(line)",
            ],
            Self::Node => &["-p", "process.execPath+'\\n'+process.versions.node"],
        }
    }
}

/// An interpreter: the program itself, with every link and shim followed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interpreter {
    /// Which.
    pub kind: InterpreterKind,
    /// Its absolute path.
    pub path: PathBuf,
    /// Its version, such as `3.11.2`.
    pub version: String,
    /// What of it lies outside the machine's program folders (`/usr`, `/bin`, `/lib` and their kind), so that a
    /// confined module sees it only because it is put there: the program itself, and of Python its library.
    pub binds: Vec<PathBuf>,
}

impl fmt::Display for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {}", self.kind.name(), self.version, self.path.display())
    }
}

/// How long somebody who needs an interpreter waits for it at most, and what ends the wait before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wait<'a> {
    pub(crate) until: Option<Instant>,
    /// Readable when it is no longer needed.
    pub(crate) cancel: Option<BorrowedFd<'a>>,
}

/// How modules see the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sight {
    /// They see its program folders and what is put there for them; else all that the host sees.
    pub(crate) hidden: bool,
    /// The user they run under, where it is another than the host's.
    pub(crate) user: Option<u32>,
}

/// Finds interpreters and remembers them.
#[derive(Debug)]
pub(crate) struct Interpreters {
    patience: Duration,
    sight: Sight,
    python: Place,
    node: Place,
}

#[derive(Debug, Default)]
struct Place {
    /// The only path that is tried, where one is configured.
    configured: Option<PathBuf>,
    found: Mutex<Option<Interpreter>>,
}

impl Interpreters {
    /// `configured`: the paths for Python and Node.js, where there are any.
    pub(crate) fn new(configured: [Option<PathBuf>; 2], patience: Duration, sight: Sight) -> Self {
        let [python, node] = configured.map(|configured| Place { configured, found: Mutex::new(None) });
        Self { patience, sight, python, node }
    }

    /// The interpreter of this kind. Once found it is remembered; a failed search is repeated. Nobody waits for the
    /// search of another, whose time may be longer than his own.
    pub(crate) fn get(&self, kind: InterpreterKind, wait: Wait<'_>) -> Result<Interpreter, Violation> {
        let place = match kind {
            InterpreterKind::Python => &self.python,
            InterpreterKind::Node => &self.node,
        };
        let lock = || place.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(interpreter) = &*lock() {
            return Ok(interpreter.clone());
        }
        let interpreter = self.search(kind, place.configured.as_deref(), wait)?;
        tracing::debug!(%interpreter, "interpreter found");
        Ok(lock().get_or_insert(interpreter).clone())
    }

    fn search(
        &self,
        kind: InterpreterKind,
        configured: Option<&Path>,
        wait: Wait<'_>,
    ) -> Result<Interpreter, Violation> {
        let candidates = match configured {
            Some(path) => vec![path.to_owned()],
            None => candidates(kind),
        };
        let mut refused = Vec::new();
        for candidate in &candidates {
            let asked = ask(kind, candidate, self.patience, wait);
            match asked.and_then(|found| self.sight.check(&found).map(|()| found)) {
                Ok(interpreter) => return Ok(interpreter),
                Err(why) => refused.push(format!("{}: {why}", candidate.display())),
            }
        }
        let (major, minor) = kind.lowest();
        let mut message = format!("{} {major}.{minor} or later is needed", kind.name());
        if refused.is_empty() {
            message.push_str(&format!(
                "; there is no {} in /usr/bin, in /usr/local/bin or along PATH.",
                kind.program()
            ));
        } else {
            message.push_str(&format!("; tried {}.", refused.join("; ")));
        }
        Err(Violation::new(Code::HostInterpreter, message))
    }
}

/// Existing programs of the right name, fixed places first.
fn candidates(kind: InterpreterKind) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let fixed = ["/usr/bin", "/usr/local/bin"].map(PathBuf::from);
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in fixed.into_iter().chain(std::env::split_paths(&path)) {
        let candidate = folder.join(kind.program());
        if folder.is_absolute() && candidate.is_file() && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found
}

impl Sight {
    /// Whether modules can use it.
    fn check(self, interpreter: &Interpreter) -> Result<(), String> {
        if let Some(place) = interpreter.binds.iter().find(|place| self.hidden && is_taken(place)) {
            return Err(format!(
                "{} lies where a confined module has something else; install it outside {}",
                place.display(),
                TAKEN.join(" ")
            ));
        }
        let Some(user) = self.user else { return Ok(()) };
        for place in std::iter::once(&interpreter.path).chain(&interpreter.binds) {
            let told = |why: String| format!("{}: {why}", place.display());
            let data = std::fs::metadata(place).map_err(|error| told(error.to_string()))?;
            let wanted = if data.is_dir() { Wanted::Enter } else { Wanted::Start };
            if let Some(why) = access::closed(&data, wanted, user) {
                return Err(told(why));
            }
        }
        Ok(())
    }
}

/// The folders of programs that every confined module sees.
const PROGRAMS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Where a confined module has its scratch space, its package and its devices.
const TAKEN: [&str; 3] = ["/tmp", "/module", "/dev"];

fn is_taken(path: &Path) -> bool {
    TAKEN.iter().any(|place| path.starts_with(place))
}

/// Those of the paths that are there and that no confined module sees by itself. One below another is left out.
fn unseen(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut unseen: Vec<PathBuf> = Vec::new();
    for path in paths {
        let is_seen = PROGRAMS.iter().map(Path::new).any(|place| path.starts_with(place));
        if is_seen || unseen.iter().any(|above| path.starts_with(above)) || !path.exists() {
            continue;
        }
        unseen.retain(|below| !below.starts_with(&path));
        unseen.push(path);
    }
    unseen
}

/// Bytes that an answer has at most: five short lines.
const ANSWER: u64 = 8192;

/// Starts the candidate and lets it say where it really is. Only this follows a shim that is a script.
fn ask(
    kind: InterpreterKind,
    candidate: &Path,
    patience: Duration,
    wait: Wait<'_>,
) -> Result<Interpreter, String> {
    let left = wait.until.map(|until| until.saturating_duration_since(Instant::now()));
    let patience = left.map_or(patience, |left| left.min(patience));
    if patience.is_zero() {
        return Err("no time was left to ask it".to_owned());
    }
    let child = Command::new(candidate)
        .args(kind.question())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut child = Guard(child);
    let until = Instant::now() + patience;
    let late = || format!("no answer after {} ms", patience.as_millis());
    let text = read_answer(&mut child.0, until, wait.cancel)?.ok_or_else(late)?;
    let status =
        wait_ended(&mut child.0, until, wait.cancel).map_err(|error| error.to_string())?.ok_or_else(late)?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    let mut lines = text.lines();
    let (path, version) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default().trim());
    let path = std::fs::canonicalize(path).map_err(|error| format!("it says it is at {path:?}: {error}"))?;
    let (major, minor) = kind.lowest();
    match parse_version(version) {
        Some(found) if found >= (major, minor) => {
            // By the names it will use itself, and without links, which may be how it finds them.
            let folders = lines.map(PathBuf::from).filter(|folder| folder.is_absolute());
            let all = folders.flat_map(|folder| [std::fs::canonicalize(&folder).ok(), Some(folder)]);
            let binds = unseen(all.flatten().chain([path.clone()]));
            Ok(Interpreter { kind, path, version: version.to_owned(), binds })
        }
        Some(_) => Err(format!("version {version} is older than {major}.{minor}")),
        None => Err(format!("it gives {version:?} as its version")),
    }
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Polls one descriptor for input; `false` when the time is over or `cancel` is readable.
fn readable(fd: BorrowedFd<'_>, until: Instant, cancel: Option<BorrowedFd<'_>>) -> Result<bool, Errno> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut polled = [fd, cancel.unwrap_or(fd)].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        match rustix::event::poll(&mut polled, Timespec::try_from(left).ok().as_ref()) {
            Err(Errno::INTR) => {}
            Ok(_) if cancel.is_some() && !polled[1].revents().is_empty() => return Ok(false),
            answer => return answer.map(|ready| ready != 0),
        }
    }
}

/// Waits for the child's end; `None` when the time is over.
fn wait_ended(
    child: &mut Child,
    until: Instant,
    cancel: Option<BorrowedFd<'_>>,
) -> io::Result<Option<ExitStatus>> {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return child.try_wait() };
    let ended = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    if readable(ended.as_fd(), until, cancel)? { child.wait().map(Some) } else { Ok(None) }
}

/// Reads the whole answer, bounded in bytes and time; `None` when the time is over.
fn read_answer(
    child: &mut Child,
    until: Instant,
    cancel: Option<BorrowedFd<'_>>,
) -> Result<Option<String>, String> {
    let Some(mut output) = child.stdout.take() else { return Err("it has no output".to_owned()) };
    let mut text = Vec::new();
    loop {
        match readable(output.as_fd(), until, cancel) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(errno) => return Err(errno.to_string()),
        }
        let mut chunk = [0; 1024];
        let got = output.read(&mut chunk).map_err(|error| error.to_string())?;
        if got == 0 {
            return String::from_utf8(text).map(Some).map_err(|_| "its answer is not UTF-8".to_owned());
        }
        text.extend_from_slice(&chunk[..got]);
        if text.len() as u64 > ANSWER {
            return Err(format!("its answer has more than {ANSWER} bytes"));
        }
    }
}

/// A child that is killed with its group, and reaped, however its questioning ends.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // After a wait the number may be another process's; try_wait knows.
        if matches!(self.0.try_wait(), Ok(None)) {
            if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process_group(pid, Signal::KILL);
            }
            let _ = self.0.wait();
        }
    }
}
