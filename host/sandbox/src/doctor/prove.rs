//! Runs one probe in a sandbox and judges what is seen of it, from outside where that is possible.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use super::check::{Check, Way, bytes};
use super::probe::Verdict;
use super::stage::{PROGRAM, Stage, WRITABLE};
use crate::command::{Command, Word};
use crate::landlock;
use crate::launcher::{Launch, LaunchError, Launcher};
use crate::process::{Exit, Process, Usage};
use crate::profile::{Limits, Profile};

/// How long one probe may take. The longest needs a second; the profile's own backstop comes later.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long its end may take.
const END: Duration = Duration::from_secs(5);
/// How long the program may be busy; see [`start`].
const BUSY: Duration = Duration::from_secs(2);
/// Bytes of a probe's output that are read.
const MOST_OUTPUT: u64 = 4096;

/// The largest limits that a probe passes; it takes twice of each.
const MEMORY: u64 = 128 << 20;
const TASKS: u32 = 32;
const SCRATCH: (u64, u64) = (16 << 20, 2048);
const FILES: u64 = 1024;
/// Processor time, in percent, that the spinning probe gets, and in milliseconds that it wants.
const PERCENT: u32 = 10;
const SPIN: u64 = 40;
/// A machine that has other things to do may not let it spin fast enough to be held up.
const SPINS: usize = 3;

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The probe was stopped.
    Stopped,
    /// It got through: the layer does not hold.
    GotThrough,
    /// The layer is not there, or nothing can show it on this machine; modules run without it.
    Absent,
    /// The probe did not run, or did not find out.
    Failed,
}

impl Outcome {
    /// The outcome in lower-case letters and `_`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::GotThrough => "got_through",
            Self::Absent => "absent",
            Self::Failed => "failed",
        }
    }
}

/// What came of a check, and what that rests on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Proof {
    /// The check.
    pub check: &'static Check,
    /// What came of it.
    pub outcome: Outcome,
    /// What was seen, one line for people.
    pub seen: String,
    /// How long it took.
    pub took: Duration,
}

impl Proof {
    /// Whether modules are confined as far as this check goes.
    pub fn is_fine(&self) -> bool {
        matches!(self.outcome, Outcome::Stopped | Outcome::Absent)
    }
}

/// Runs probes. It keeps a copy of the program in a temporary folder, two listeners and a page of shared memory, and
/// takes them away when it is dropped.
#[derive(Debug)]
pub struct Prover {
    stage: Stage,
    limits: Limits,
}

/// What was seen of one probe.
struct Seen {
    /// Its own verdict and why; `None` where it gave none.
    line: Option<(Verdict, String)>,
    /// What it printed instead.
    output: String,
    exit: Option<Exit>,
    usage: Usage,
}

type Judgement = (Outcome, String);

impl Prover {
    /// Prepares to run `program` with the words `probe LAYER FACT=VALUE…`, which it has to pass on to
    /// [`super::probe::run`] while it has one thread. `limits`: what modules get; where they are larger than what a probe
    /// may take (128 MiB, 32 tasks, 16 MiB and 2,048 files of scratch space, 1,024 open files) it is tried with that.
    ///
    /// # Errors
    /// The program cannot be copied, or there is no folder to run it from.
    pub fn new(program: &Path, limits: &Limits) -> io::Result<Self> {
        let mut limits = limits.clone();
        limits.memory_bytes = limits.memory_bytes.min(MEMORY);
        limits.tasks = limits.tasks.min(TASKS);
        limits.scratch_bytes = limits.scratch_bytes.min(SCRATCH.0);
        limits.scratch_inodes = limits.scratch_inodes.min(SCRATCH.1);
        limits.open_files = limits.open_files.min(FILES);
        Ok(Self { stage: Stage::new(program)?, limits })
    }

    /// Runs the probe of `check` in a sandbox of `launcher`, 10 seconds at most (30 for `cpu_limit`, which is tried again
    /// on a busy machine).
    pub fn prove(&self, check: &'static Check, launcher: &Launcher) -> Proof {
        let begun = Instant::now();
        let (outcome, seen) = match check.way {
            Way::Landlock if landlock::abi().is_none() => {
                (Outcome::Absent, "this kernel has no Landlock; the other layers hold without it".to_owned())
            }
            Way::HostName if rustix::system::uname().nodename() == c"modberth" => {
                (Outcome::Absent, "the machine has the same name as every sandbox".to_owned())
            }
            Way::Processor => self.spin(check, launcher),
            _ => self.judge(check, launcher),
        };
        Proof { check, outcome, seen, took: begun.elapsed() }
    }

    fn spin(&self, check: &Check, launcher: &Launcher) -> Judgement {
        let mut judgement = self.judge(check, launcher);
        for _ in 1..SPINS {
            if judgement.0 != Outcome::Failed {
                break;
            }
            judgement = self.judge(check, launcher);
        }
        judgement
    }

    fn judge(&self, check: &Check, launcher: &Launcher) -> Judgement {
        let restored = self.stage.restore();
        // Whoever came before has nothing to do with this probe.
        self.stage.visitors();
        let seen = match restored.and_then(|()| self.run(check, launcher)) {
            Ok(seen) => seen,
            Err(error) => return (Outcome::Failed, error.to_string()),
        };
        match check.way {
            Way::Files => match self.stage.changed() {
                Some(path) => (Outcome::GotThrough, format!("{} was changed", path.display())),
                None => seen.by_line(),
            },
            Way::Listeners => match self.stage.visitors() {
                0 => seen.by_line(),
                visitors => (Outcome::GotThrough, format!("{visitors} connections reached the host")),
            },
            Way::Memory => seen.by_kills(),
            Way::Tasks => seen.by_refusals(),
            Way::Processor => seen.by_throttling(),
            Way::Line | Way::HostName | Way::Landlock => seen.by_line(),
        }
    }

    fn run(&self, check: &Check, launcher: &Launcher) -> io::Result<Seen> {
        let mut profile = Profile::action();
        profile.limits = self.limits.clone();
        if check.way == Way::Processor {
            profile.limits.cpu_percent = profile.limits.cpu_percent.min(PERCENT);
        }
        let mut command =
            Command::new(Word::package(PROGRAM)).arg(Word::text("probe")).arg(Word::text(check.name()));
        for fact in self.facts(check.name(), &profile) {
            command = command.arg(Word::text(fact));
        }
        let launch = Launch::new(self.stage.package(), &command, &profile);
        let mut process = start(launcher, &launch)?;
        process.close_stdin();
        if !process.wait_gone(Some(PATIENCE))? {
            process.stop(END).map_err(io::Error::other)?;
            return Err(io::Error::other(format!("it still ran after {} s", PATIENCE.as_secs())));
        }
        let output = text(process.stdout())?;
        let errors = text(process.stderr())?;
        let ended = process.stop(END).map_err(io::Error::other)?;
        let line = Verdict::ALL.into_iter().find_map(|verdict| {
            let rest = output.strip_prefix(verdict.words())?.strip_prefix(": ")?;
            // Both must agree, so that half a line is none.
            let whole = rest.strip_suffix('\n')?;
            (ended.exit == Some(Exit::Status(i32::from(verdict.status()))))
                .then(|| (verdict, whole.to_owned()))
        });
        let output = format!("{}{}", output.trim_end(), errors.trim_end());
        Ok(Seen { line, output, exit: ended.exit, usage: ended.usage.unwrap_or_default() })
    }

    /// What a probe has to know. Each takes what it needs.
    fn facts(&self, name: &str, profile: &Profile) -> Vec<OsString> {
        let (stage, limits) = (&self.stage, &profile.limits);
        let fact = |name: &str, value: &dyn std::fmt::Display| OsString::from(format!("{name}={value}"));
        let place = |name: &str, value: &std::ffi::OsStr| {
            let mut word = OsString::from(format!("{name}="));
            word.push(value);
            word
        };
        match name {
            "mount_namespace" => vec![place("canary", stage.canary().as_os_str())],
            "read_only_files" => vec![fact("file", &WRITABLE), fact("folder", &"/usr")],
            "scratch_limit" => vec![
                fact("scratch", &"/tmp"),
                fact("bytes", &(limits.scratch_bytes * 2)),
                fact("files", &(limits.scratch_inodes * 2)),
            ],
            "network_namespace" => std::iter::once(place("abstract", stage.local_name()))
                .chain(stage.tcp().map(|address| fact("tcp", &address)))
                .collect(),
            "ipc_namespace" => vec![fact("key", &stage.memory_key())],
            "uts_namespace" => {
                let system = rustix::system::uname();
                vec![fact("name", &system.nodename().to_string_lossy())]
            }
            "process_namespace" => vec![fact("host", &std::process::id())],
            "environment" => {
                let variable = |(name, value): &(OsString, OsString)| {
                    let mut word = place("variable", name);
                    word.push("=");
                    word.push(value);
                    word
                };
                // What every action gets, whatever this profile says.
                Profile::action().environment.iter().map(variable).collect()
            }
            "memory_limit" => vec![fact("bytes", &limits.memory_bytes)],
            "task_limit" => vec![fact("tasks", &limits.tasks)],
            "cpu_limit" => vec![fact("percent", &limits.cpu_percent), fact("milliseconds", &SPIN)],
            "resource_limits" => vec![fact("files", &limits.open_files)],
            _ => Vec::new(),
        }
    }
}

/// Launches the program. Its copy was open for writing a moment ago, and a process that was made at that moment holds it
/// open until it runs its own program; nothing that is open for writing can be run.
fn start(launcher: &Launcher, launch: &Launch<'_>) -> io::Result<Process> {
    let until = Instant::now() + BUSY;
    loop {
        match launcher.launch(launch) {
            Err(LaunchError::Program { source, .. })
                if source.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < until =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other.map_err(io::Error::other),
        }
    }
}

/// What is in a pipe of a module that is gone: a probe prints one line.
fn text(pipe: BorrowedFd<'_>) -> io::Result<String> {
    let mut bytes = Vec::new();
    match File::from(pipe.try_clone_to_owned()?).take(MOST_OUTPUT).read_to_end(&mut bytes) {
        // Somebody whom this process has just made holds a copy of the other end for a moment. It writes nothing.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        other => drop(other?),
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Seen {
    fn by_line(self) -> Judgement {
        match self.line {
            Some((Verdict::Stopped, because)) => (Outcome::Stopped, because),
            Some((Verdict::GotThrough, because)) => (Outcome::GotThrough, because),
            Some((Verdict::Unclear, because)) => (Outcome::Failed, because),
            None => (Outcome::Failed, self.silence()),
        }
    }

    fn silence(&self) -> String {
        let exit = self.exit.map_or_else(|| "no exit status".to_owned(), |exit| exit.to_string());
        if self.output.is_empty() {
            format!("no verdict, {exit}")
        } else {
            format!("no verdict, {exit}, output {:?}", self.output)
        }
    }

    /// P1-HOST-26: it had to be killed for its memory.
    fn by_kills(self) -> Judgement {
        let killed = self.exit == Some(Exit::Signal(libc::SIGKILL));
        let peak = self.usage.peak_memory.map_or_else(String::new, |peak| format!(" at {}", bytes(peak)));
        match self.usage.oom_kills {
            Some(kills @ 1..) if killed => {
                (Outcome::Stopped, format!("killed{peak}, kernel counted {kills}"))
            }
            None if killed => (Outcome::Stopped, format!("killed{peak}")),
            _ => self.by_line(),
        }
    }

    /// P1-HOST-26: the kernel must have counted what it refused.
    fn by_refusals(self) -> Judgement {
        let refused = self.usage.refused_tasks;
        match (self.by_line(), refused) {
            ((Outcome::Stopped, because), Some(0)) => {
                (Outcome::Failed, format!("{because}, but the kernel counted no refusal by the limit"))
            }
            ((Outcome::Stopped, because), Some(count)) => {
                (Outcome::Stopped, format!("{because}, kernel counted {count}"))
            }
            (other, _) => other,
        }
    }

    /// P1-HOST-26: it was held up.
    fn by_throttling(self) -> Judgement {
        let periods = self.usage.throttled_periods;
        match (self.by_line(), periods) {
            ((Outcome::Stopped, because), Some(0)) => {
                (Outcome::Failed, format!("{because}: too busy a machine to tell; try again"))
            }
            ((Outcome::Stopped, because), Some(periods)) => {
                (Outcome::Stopped, format!("{because}, held up in {periods} periods"))
            }
            (other, _) => other,
        }
    }
}
