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

/// The interpreters of all kinds; where there is none, why.
type Found = Vec<(InterpreterKind, Result<Interpreter, Violation>)>;

/// Everything that was found out.
struct Diagnosis {
    found: Examination,
    interpreters: Found,
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
fn interpreters(launcher: Option<Launcher>) -> Result<Found, Violation> {
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A diagnosis whose first probe was answered by a script in place of this program.
    fn answered(script: &str) -> Diagnosis {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let found = examine(Options::new(1, Limits::default()));
        let prover = Prover::new(&program, &found.limits).unwrap();
        let check = checks().iter().find(|check| check.name() == "seccomp").unwrap();
        let proofs = vec![prover.prove(check, found.launcher.as_ref().unwrap())];
        Diagnosis { found, interpreters: Vec::new(), proofs }
    }

    #[test]
    fn a_layer_that_does_not_hold_is_the_machines_fault_and_loud() {
        for (script, outcome) in [
            ("echo 'got through: ptrace'; exit 1", "got_through"),
            ("echo 'unclear: ptrace'; exit 3", "failed"),
            // The line and the exit status disagree.
            ("echo 'stopped: ptrace'; exit 1", "failed"),
            ("printf 'stopped: ptrace, and mo'", "failed"),
            ("exit 0", "failed"),
        ] {
            let diagnosis = answered(script);
            assert_eq!(diagnosis.exit(), Exit::Host, "{script}");
            let document = document::document(&diagnosis);
            assert_eq!((&document["ok"], &document["confined"]), (&false.into(), &false.into()));
            let layers = document["layers"].as_array().unwrap();
            let seccomp = layers.iter().find(|layer| layer["name"] == "seccomp").unwrap();
            assert_eq!(seccomp["outcome"], outcome, "{script}: {seccomp}");
            let loud = text::loud(&diagnosis).unwrap();
            assert!(loud.contains("NOT CONFINED") && loud.contains("seccomp"), "{loud}");
        }
        let diagnosis = answered("echo 'stopped: all'");
        assert_eq!(diagnosis.exit(), Exit::Success);
        assert_eq!(text::loud(&diagnosis), None);
    }
}
