//! Running other programs: no standard input, a deadline, output captured or sent to a log, and the whole process group killed
//! when the time is up or a signal ends xtask itself.

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

/// Longest time one program may take unless it is given another: a guard against a hang, not a measure.
const DEADLINE: Duration = Duration::from_secs(20 * 60);

/// The process groups that run now, for the signal handler.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Ends all running programs, then xtask, when SIGINT or SIGTERM arrives. They run in groups of their own, so a terminal's
/// interrupt does not reach them by itself.
pub(crate) fn watch_signals() -> Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            for group in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                // A group that is already gone needs no kill.
                let _ = kill_process_group(*group, Signal::KILL);
            }
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// A program to run.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    program: OsString,
    args: Vec<OsString>,
    dir: Option<PathBuf>,
    env: Vec<(OsString, Option<OsString>)>,
    deadline: Duration,
}

impl Job {
    /// A program by name or path.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Job {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            dir: None,
            env: Vec::new(),
            deadline: DEADLINE,
        }
    }

    /// One argument more.
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Several arguments more.
    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// The working directory.
    pub(crate) fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Sets one environment variable.
    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Another deadline, in minutes.
    pub(crate) fn minutes(mut self, minutes: u64) -> Self {
        self.deadline = Duration::from_secs(minutes * 60);
        self
    }

    /// How the command is shown to people.
    pub(crate) fn shown(&self) -> String {
        let mut text = self.program.to_string_lossy().into_owned();
        for arg in &self.args {
            let arg = arg.to_string_lossy();
            text.push(' ');
            if arg.is_empty() || arg.contains(|c: char| c.is_whitespace() || "\"'$&|;<>()*?".contains(c)) {
                text.push_str(&format!("'{arg}'"));
            } else {
                text.push_str(&arg);
            }
        }
        text
    }

    /// Runs it and returns what it wrote to standard output.
    ///
    /// # Errors
    ///
    /// It cannot be started, does not end in time, or ends with a status that is not 0; the message carries the end of
    /// both its outputs.
    pub(crate) fn capture(&self) -> Result<String> {
        let (out, err) = (Spool::new()?, Spool::new()?);
        let status = self.finish(self.command(out.writer()?, err.writer()?))?;
        if !status.success() {
            // Some compilers write their errors to standard output while a wrapper complains on standard error.
            let (out, err) = (out.text()?, err.text()?);
            let trace = [tail(&out, 8_000), tail(&err, 8_000)].join("\n");
            bail!("`{}` ended with {status}\n{}", self.shown(), trace.trim());
        }
        out.text()
    }

    /// Runs it with both output streams appended to `log`, and returns what this run added.
    ///
    /// # Errors
    ///
    /// As [`Job::capture`]; the output stands in the log then.
    pub(crate) fn log(&self, log: &Path) -> (String, Result<()>) {
        let run = || -> Result<(u64, ExitStatus)> {
            let mut file = OpenOptions::new().create(true).append(true).open(log)?;
            writeln!(file, "$ {}", self.shown())?;
            let begin = file.metadata()?.len();
            let status = self.finish(self.command(file.try_clone()?, file))?;
            Ok((begin, status))
        };
        match run().with_context(|| format!("`{}`", self.shown())) {
            Ok((begin, status)) => {
                let added = read_from(log, begin).unwrap_or_default();
                let result = if status.success() {
                    Ok(())
                } else {
                    Err(anyhow::anyhow!("`{}` ended with {status}", self.shown()))
                };
                (added, result)
            }
            Err(error) => (String::new(), Err(error)),
        }
    }

    fn command(&self, out: File, err: File) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        // What `cargo run` sets for xtask itself must not reach other builds.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"].iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn finish(&self, mut command: Command) -> Result<ExitStatus> {
        let child =
            command.spawn().with_context(|| format!("cannot start {}", self.program.to_string_lossy()))?;
        // The command holds our ends of the output files.
        drop(command);
        wait(child, self.deadline).with_context(|| format!("`{}`", self.shown()))
    }
}

/// Waits for the end or the deadline; at the deadline the whole group is killed.
fn wait(mut child: Child, deadline: Duration) -> Result<ExitStatus> {
    let group = Pid::from_child(&child);
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).push(group);
    let (done, ended) = mpsc::channel();
    let waiter = std::thread::spawn(move || {
        // The receiver is gone after a deadline; nobody needs the status then.
        let _ = done.send(child.wait());
    });
    let result = match ended.recv_timeout(deadline) {
        Ok(status) => status.context("wait"),
        Err(_) => {
            // A group that is already gone needs no kill.
            let _ = kill_process_group(group, Signal::KILL);
            Err(anyhow::anyhow!("did not end within {} minutes and was killed", deadline.as_secs() / 60))
        }
    };
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|running| *running != group);
    if waiter.join().is_err() {
        bail!("the thread that waits for the program panicked");
    }
    result
}

/// A nameless temporary file that takes a program's output, so no reader thread is needed and no pipe can fill.
struct Spool(File);

impl Spool {
    fn new() -> Result<Self> {
        use rustix::fs::{MemfdFlags, memfd_create};
        Ok(Spool(memfd_create("output", MemfdFlags::CLOEXEC).context("temporary file")?.into()))
    }

    fn writer(&self) -> Result<File> {
        Ok(self.0.try_clone()?)
    }

    fn text(self) -> Result<String> {
        let mut file = self.0;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn read_from(path: &Path, begin: u64) -> Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last `limit` bytes of a text, cut at a line.
pub(crate) fn tail(text: &str, limit: usize) -> &str {
    let text = text.trim_end();
    if text.len() <= limit {
        return text;
    }
    let mut begin = text.len() - limit;
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    let cut = &text[begin..];
    cut.find('\n').map_or(cut, |line| &cut[line + 1..])
}

/// What begins a failure in the output of the tools that are run here.
const FAULTS: &[&str] =
    &["not ok ", "error", "FAILED", "panicked at", "---- ", "E  ", "\u{2716}", "warning:", "FAIL "];

/// The part of a log that tells why it failed: all of it when it is short, else each failure with the lines around it.
pub(crate) fn excerpt(log: &str, limit: usize) -> String {
    if log.len() <= limit {
        return log.trim_end().to_owned();
    }
    let lines: Vec<&str> = log.lines().collect();
    let mut shown = String::new();
    let mut next = 0;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let fault = FAULTS.iter().any(|fault| text.starts_with(fault)) || text.contains(" ... FAILED");
        if !fault || at < next {
            continue;
        }
        let begin = at.saturating_sub(2).max(next);
        if begin > next {
            shown.push_str("[...]\n");
        }
        next = (at + 20).min(lines.len());
        for line in &lines[begin..next] {
            shown.push_str(line);
            shown.push('\n');
        }
        if shown.len() > limit {
            shown.push_str("[more in the log]\n");
            break;
        }
    }
    shown.push_str("[the end]\n");
    shown.push_str(tail(log, limit / 8));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_of_a_long_log_shows_its_failures_and_its_end() {
        let mut log = "ok - fine\n".repeat(1000);
        log.push_str("not ok 7 - broken\n  reason\n");
        log.push_str(&"ok - fine\n".repeat(1000));
        log.push_str("# fail 1\n");
        let shown = excerpt(&log, 4000);
        assert!(shown.contains("not ok 7 - broken\n  reason\n") && shown.ends_with("# fail 1"), "{shown}");
        assert!(shown.len() < 5000);
        assert_eq!(excerpt("short\n", 4000), "short");
    }

    #[test]
    fn output_is_captured_and_a_failure_shows_both_outputs() {
        assert_eq!(Job::new("sh").args(["-c", "echo out; echo err >&2"]).capture().unwrap(), "out\n");
        let error = Job::new("sh").args(["-c", "echo out; echo reason >&2; exit 3"]).capture().unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("\nout\nreason") && text.contains('3'), "{text}");
    }

    #[test]
    fn a_program_has_no_standard_input() {
        assert_eq!(Job::new("cat").capture().unwrap(), "");
    }

    #[test]
    fn at_the_deadline_the_whole_group_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let mut job = Job::new("sh").arg("-c").arg(format!("sleep 600 & echo $! > {}; wait", file.display()));
        job.deadline = Duration::from_millis(1500);
        let error = format!("{:#}", job.capture().unwrap_err());
        assert!(error.contains("was killed"), "{error}");
        let pid = std::fs::read_to_string(&file).unwrap();
        // The grandchild is killed with its group; it may linger as a zombie until its new parent collects it.
        let gone = (0..1000).any(|_| {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            std::thread::yield_now();
            state.is_empty() || state.contains(") Z ") || state.contains(") X ")
        });
        assert!(gone, "process {pid} still runs");
    }

    #[test]
    fn a_log_takes_both_streams_and_names_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let (added, result) = Job::new("sh").args(["-c", "echo one; echo two >&2; exit 1"]).log(&log);
        assert!(result.is_err());
        assert_eq!(added, "one\ntwo\n");
        assert!(std::fs::read_to_string(&log).unwrap().starts_with("$ sh -c 'echo one"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = format!("{:#}", Job::new("no-such-program-anywhere").capture().unwrap_err());
        assert!(error.contains("no-such-program-anywhere"), "{error}");
    }

    #[test]
    fn a_tail_is_cut_at_a_line_and_never_inside_a_character() {
        assert_eq!(tail("aaaa\nbbbb\ncccc\n", 9), "cccc");
        assert_eq!(tail("ééé", 3), "é");
        assert_eq!(tail("short", 100), "short");
    }
}
