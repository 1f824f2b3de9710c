//! `modberth doctor`: what this machine has, what a module gets on it, and the proof that it holds.

mod document;
mod text;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use modberth_host::{Host, Interpreter, InterpreterKind};
use modberth_protocol::{Code, Violation};
use modberth_sandbox::doctor::{Examination, Proof, Prover, checks, examine};
use modberth_sandbox::{Launcher, Limits, Options};

use crate::exit::{Exit, Stop};
use crate::report::Report;
use crate::run::heard;

/// Everything that was found out.
struct Diagnosis {
    found: Examination,
    interpreters: Vec<(InterpreterKind, Result<Interpreter, Violation>)>,
    /// Empty where modules are refused.
    proofs: Vec<Proof>,
}

impl Diagnosis {
    /// Whether modules are confined here: nothing that is needed is missing, and every probe was stopped.
    fn is_confined(&self) -> bool {
        !self.proofs.is_empty() && self.proofs.iter().all(Proof::is_fine)
    }

    fn exit(&self) -> Exit {
        match (&self.found.launcher, self.is_confined()) {
            (None, _) => Exit::Refused,
            (Some(_), true) => Exit::Success,
            (Some(_), false) => Exit::Host,
        }
    }
}

pub(crate) fn doctor(report: &mut Report) -> Result<Exit, Stop> {
    let interrupted = interrupted()?;
    let found = examine(Options::new(1, Limits::default()));
    let interpreters = interpreters(found.launcher.clone())?;
    let mut proofs = Vec::new();
    if let Some(launcher) = &found.launcher {
        // The program that runs, whatever stands in its place by now.
        let prover = Prover::new(Path::new("/proc/self/exe"), &found.limits).map_err(|error| {
            Violation::new(Code::HostIo, format!("Cannot prepare the probes: {error}."))
                .advise("Give a folder with room for a copy of this program, from which programs can be run, in TMPDIR.")
        })?;
        for check in checks() {
            proofs.push(prover.prove(check, launcher));
            if interrupted.load(Ordering::SeqCst) {
                return Err(Violation::new(Code::ProcessCancelled, "The doctor was interrupted.").into());
            }
        }
    }
    let diagnosis = Diagnosis { found, interpreters, proofs };
    let exit = diagnosis.exit();
    if report.is_json() {
        report.document(&document::document(&diagnosis))?;
    } else {
        text::text(&diagnosis, report)?;
    }
    Ok(exit)
}

/// The interpreters that modules are run with.
fn interpreters(
    launcher: Option<Launcher>,
) -> Result<Vec<(InterpreterKind, Result<Interpreter, Violation>)>, Violation> {
    let launcher = match launcher {
        Some(launcher) => launcher,
        // Nothing is launched; what programs there are is to be said all the same.
        None => Launcher::plain()
            .map_err(|error| Violation::new(Code::SandboxUnavailable, format!("{error}.")))?,
    };
    let host = Host::builder().actions(1).launcher(launcher).build()?;
    let kinds = [InterpreterKind::Python, InterpreterKind::Node];
    Ok(kinds.into_iter().map(|kind| (kind, host.interpreter(kind))).collect())
}

/// Set by the first signal that would end this command, so that it takes its temporary folder away first. The second
/// ends it.
fn interrupted() -> Result<Arc<AtomicBool>, Violation> {
    let flag = Arc::new(AtomicBool::new(false));
    let deaf = |error| Violation::new(Code::HostIo, format!("Cannot listen for signals: {error}."));
    for signal in heard().map_err(deaf)? {
        let status = i32::from(Exit::Interrupted.code());
        signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(&flag)).map_err(deaf)?;
        signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(deaf)?;
    }
    Ok(flag)
}

/// A word of the command for each kind, in JSON.
fn kind(kind: InterpreterKind) -> &'static str {
    match kind {
        InterpreterKind::Python => "python",
        InterpreterKind::Node => "node",
        _ => "other",
    }
}
