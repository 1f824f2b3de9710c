//! `modberth run`: one action of a module on a batch of targets.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use comfy_table::{Cell, Color};
use modberth_host::{Canceller, Exit as ModuleExit, Host, Invocation, Limits, Outcome};
use modberth_protocol::limits::FRAME_PAYLOAD;
use modberth_protocol::process;
use modberth_protocol::{Code, Violation};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::args::Run;
use crate::exit::{Exit, Stop};
use crate::json::compact;
use crate::report::{BAD, DIM, Detail, GOOD, Report, clean, clean_lines, name, shortened};
use crate::source;

/// Most bytes of a file of limits.
const LIMITS_BYTES: usize = 65_536;
/// Most characters of a target's data in the table.
const CELL: usize = 2_000;
/// Most lines of the module's standard error below a failure.
const TAIL_LINES: usize = 40;
/// Most bytes of it.
const TAIL_BYTES: usize = 4_096;

pub(crate) fn run(arguments: &Run, report: &mut Report) -> Result<Exit, Stop> {
    let Some(action) = &arguments.action else { return Err(no_action(arguments)) };
    let runnable = source::open(&arguments.path)?;
    let invocation = Invocation::new(runnable.module.clone(), action).targets(&arguments.targets);
    let mut invocation = match &arguments.params {
        Some(path) => invocation.parameters_of_file(
            source::read_file(path, FRAME_PAYLOAD, Code::RequestTooLarge)?,
            source::label(path),
        ),
        None => invocation.parameter_texts(arguments.parameters.iter().cloned()),
    };
    if let Some(deadline) = arguments.deadline {
        invocation =
            invocation.deadline(Limits::deadline(deadline).map_err(|fault| fault.path("--deadline"))?);
    }
    let mut builder = Host::builder().rlimits_only(arguments.unsafe_rlimits_only);
    if let Some(path) = &arguments.limits {
        let bytes = source::read_file(path, LIMITS_BYTES, Code::HostLimits)?;
        builder = builder.limits(Limits::from_json(&bytes).map_err(|fault| fault.file(source::label(path)))?);
    }
    let host = builder.build()?;
    let deaf = |error| Violation::new(Code::HostIo, format!("Cannot listen for signals: {error}."));
    // From here on a signal cancels the action instead of ending this process before its clean-up.
    let signals = Signals::new(heard().map_err(deaf)?).map_err(deaf)?;
    let running = host.invoke(invocation);
    let interrupt = Interrupt::new(signals, running.canceller()).map_err(deaf)?;
    let outcome = running.wait();
    // First, as a signal may end the command while it prints.
    drop(runnable);
    let interrupted = interrupt.is_over();
    let exit = exit_of(&outcome, interrupted);
    if report.is_json() {
        report.line(&outcome.to_json())?;
    }
    // Of what happened; where no process ran, nothing was unconfined.
    if let Some(process) = outcome.process.as_ref().filter(|process| !process.confinement.is_confined()) {
        report.warning(&process.confinement.to_string())?;
    }
    match outcome.failure() {
        Some(failure) => {
            let code = failure.violation.code;
            let reason = (code == Code::ProcessExitStatus).then(|| last_refusal(&outcome)).flatten();
            let said = reason.map(|reason| Detail("said", clean(&reason)));
            report.failure(&failure.violation, said.as_ref(), &details(&outcome))?;
            // A module that ended badly gave no answer; that says nothing more.
            let ended_badly = matches!(code, Code::ProcessExitStatus | Code::ProcessSignal);
            for note in failure.notes.iter().filter(|note| !(ended_badly && note.code == Code::FrameMissing))
            {
                report.note(&format!("  {DIM}{:<8}{DIM:#} {}", "also", clean(&note.to_string())))?;
            }
            stderr(&outcome, report, true)?;
        }
        None => {
            // The JSON document holds all of this.
            if !report.is_json() {
                results(&outcome, report)?;
                stderr(&outcome, report, false)?;
            }
        }
    }
    Ok(exit)
}

/// The action is missing on the command line: says which the package has, if that can be read.
fn no_action(arguments: &Run) -> Stop {
    let known = match source::read(&arguments.path) {
        Ok(source) => {
            let actions: Vec<_> =
                source.package.manifest.actions.iter().map(|action| clean(&action.id)).collect();
            format!("; the actions of {}: {}", source.package.manifest.id, actions.join(", "))
        }
        Err(_) => String::new(),
    };
    Stop::Usage(format!("the argument <ACTION> is missing{known}"))
}

/// The last line in which an SDK says why it refused to go on.
fn last_refusal(outcome: &Outcome) -> Option<String> {
    let text = outcome.process.as_ref()?.stderr.text();
    text.lines().rev().find(|line| line.starts_with("modberth: ")).map(str::to_owned)
}

fn exit_of(outcome: &Outcome, interrupted: bool) -> Exit {
    match &outcome.verdict {
        Ok(results) if results.all_data() => Exit::Success,
        Ok(_) => Exit::Partial,
        Err(failure) if interrupted && failure.violation.code == Code::ProcessCancelled => Exit::Interrupted,
        Err(failure) => Exit::of(&failure.violation, outcome.is_launched()),
    }
}

/// One row per target, in the order of the request.
fn results(outcome: &Outcome, report: &mut Report) -> io::Result<()> {
    let Some(results) = outcome.results() else { return Ok(()) };
    let rows = results.results.iter().map(|row| {
        let target = Cell::new(name(&row.target));
        match &row.outcome {
            process::Outcome::Data(data) => vec![
                target,
                Cell::new("data").fg(Color::Green),
                Cell::new(clean(&shortened(&compact(data.as_str()), CELL))),
            ],
            process::Outcome::Error(error) => vec![
                target,
                Cell::new("error").fg(Color::Red),
                Cell::new(format!("{}: {}", error.code, clean(&error.message))),
            ],
        }
    });
    report.table(&["target", "outcome", "data or error"], rows.collect())?;
    let errors =
        results.results.iter().filter(|row| matches!(row.outcome, process::Outcome::Error(_))).count();
    let style = if errors == 0 { GOOD } else { BAD };
    let used = used(outcome).map(|used| format!(", {used}")).unwrap_or_default();
    report.line(&format!(
        "{style}{} of {} targets with data{style:#} {DIM}{} {} {}, {} ms{used}{DIM:#}",
        results.results.len() - errors,
        results.results.len(),
        outcome.package,
        outcome.version,
        outcome.action,
        outcome.wall.as_millis()
    ))?;
    // Also where only standard output is kept.
    match outcome.process.as_ref().filter(|process| !process.confinement.is_confined()) {
        Some(process) => report.line(&format!("{BAD}{}{BAD:#}", clean(&process.confinement.to_string()))),
        None => Ok(()),
    }
}

/// What is known of the process of a failed action.
fn details(outcome: &Outcome) -> Vec<Detail<'static>> {
    let exit = match outcome.process.as_ref().map(|process| process.exit) {
        None => return vec![Detail("process", "none was started".to_owned())],
        Some(None) => "killed by the host".to_owned(),
        Some(Some(ModuleExit::Status(status))) => format!("exit status {status}"),
        Some(Some(exit @ ModuleExit::Signal(number))) => match exit.signal_name() {
            Some(name) => format!("signal {number} ({name})"),
            None => format!("signal {number}"),
        },
    };
    let mut details = vec![Detail("process", exit)];
    details.extend(used(outcome).map(|used| Detail("used", used)));
    details
}

/// What the module used, as far as the kernel counted it.
fn used(outcome: &Outcome) -> Option<String> {
    let usage = outcome.process.as_ref()?.usage.as_ref()?;
    let memory = usage
        .peak_memory
        .map(|bytes| format!("{:.1} MiB of memory at most, ", bytes as f64 / f64::from(1 << 20)))
        .unwrap_or_default();
    Some(format!("{memory}{} ms of processor time", usage.cpu.as_millis()))
}

/// What the module wrote to standard error, or the end of it.
fn stderr(outcome: &Outcome, report: &mut Report, only_end: bool) -> io::Result<()> {
    let Some(stderr) = outcome.process.as_ref().map(|process| &process.stderr) else { return Ok(()) };
    if stderr.kept.is_empty() {
        return Ok(());
    }
    let text = stderr.text();
    let (end, mut part) = if only_end { tail(&text) } else { (&*text, String::new()) };
    if stderr.is_cut() {
        part.push_str(&format!(", of which the first {} bytes were kept", stderr.kept.len()));
    }
    report.note(&format!("{DIM}standard error of the module{part}:{DIM:#}"))?;
    for line in clean_lines(end) {
        report.note(&format!("{DIM}|{DIM:#} {line}"))?;
    }
    Ok(())
}

/// The end of a text, and which part it is: a bounded number of lines, and of bytes.
fn tail(text: &str) -> (&str, String) {
    let lines = text.lines().count();
    let skipped = text.split_inclusive('\n').take(lines.saturating_sub(TAIL_LINES)).map(str::len).sum();
    let least = text.len().saturating_sub(TAIL_BYTES);
    match (least..=text.len()).find(|at| text.is_char_boundary(*at)) {
        Some(at) if at > skipped => {
            let end = &text[at..];
            (end, format!(", the last {} of {} bytes (--json shows more)", end.len(), text.len()))
        }
        _ if skipped > 0 => {
            (&text[skipped..], format!(", the last {TAIL_LINES} of {lines} lines (--json shows more)"))
        }
        _ => (text, String::new()),
    }
}

/// The signals that cancel an action: those that end a process, without those that whoever started this one has it
/// ignore, as `nohup` and shells do.
pub(crate) fn heard() -> io::Result<Vec<i32>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    Ok([SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect())
}

/// Cancels the action at the first signal and ends the command at the second, or at the first once the action is over.
struct Interrupt {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    last: Arc<AtomicBool>,
}

impl Interrupt {
    fn new(mut signals: Signals, canceller: Canceller) -> io::Result<Self> {
        let handle = signals.handle();
        let last = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&last);
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for _ in signals.forever() {
                if told.swap(true, Ordering::SeqCst) {
                    // The host's backstop kills what is left when this process is gone.
                    std::process::exit(i32::from(Exit::Interrupted.code()));
                }
                canceller.cancel();
            }
        })?;
        Ok(Self { handle, thread: Some(thread), last })
    }

    /// The action is over: the next signal ends the command, which may wait long for who reads its output. True if a
    /// signal came before.
    fn is_over(&self) -> bool {
        self.last.swap(true, Ordering::SeqCst)
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that could panic.
            let _ = thread.join();
        }
    }
}
