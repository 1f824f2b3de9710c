//! The diagnosis for people.

use std::io;

use comfy_table::{Cell, Color};
use modberth_sandbox::doctor::{Examination, Outcome, Proof};

use super::Diagnosis;
use crate::report::{BAD, DIM, GOOD, Report, WARN, clean};

pub(super) fn text(diagnosis: &Diagnosis, report: &mut Report) -> io::Result<()> {
    let found = &diagnosis.found;
    machine(found, report)?;
    for (kind, interpreter) in &diagnosis.interpreters {
        let told = match interpreter {
            Ok(interpreter) => format!("{} at {}", interpreter.version, interpreter.path.display()),
            Err(violation) => format!("none: {}", violation.message),
        };
        row(report, kind.name(), &told)?;
    }
    if !diagnosis.proofs.is_empty() {
        let rows = diagnosis.proofs.iter().map(|proof| cells(proof, found));
        report.table(&["layer", "what it is for", "proof", "result"], rows.collect())?;
    }
    missing(found, report)?;
    verdict(diagnosis, report)
}

fn row(report: &mut Report, what: &str, value: &str) -> io::Result<()> {
    report.line(&format!("{DIM}{what:<15}{DIM:#} {}", clean(value)))
}

fn machine(found: &Examination, report: &mut Report) -> io::Result<()> {
    let machine = &found.machine;
    row(report, "kernel", &format!("Linux {} {}", machine.kernel, machine.architecture))?;
    let user = if machine.user == 0 { "root".to_owned() } else { format!("{}, not root", machine.user) };
    row(report, "user", &user)?;
    let kind = machine.groups.as_deref().unwrap_or("unknown");
    let delegated = if machine.places.is_empty() { ", none that this user may divide" } else { "" };
    row(report, "control groups", &format!("{kind}{delegated}"))?;
    for place in &machine.places {
        row(
            report,
            "",
            &format!("{:<6} version {} at {}", place.limit, place.version, place.path.display()),
        )?;
    }
    let counted = match machine.swap_counted {
        Some(true) => "counted",
        Some(false) => "not counted",
        None => "not known whether counted",
    };
    let in_use = match machine.swap_in_use {
        Some(true) => "in use",
        Some(false) => "none in use",
        None => "unknown whether in use",
    };
    row(report, "swap", &format!("{counted}, {in_use}"))?;
    for setting in &machine.user_namespaces {
        let wanted =
            setting.wanted.map(|wanted| format!(", an ordinary user needs {wanted}")).unwrap_or_default();
        row(report, "namespaces", &format!("{}={}{wanted}", setting.name, setting.value))?;
    }
    let filter = if machine.seccomp { "yes" } else { "no" };
    row(report, "seccomp", filter)?;
    let landlock = machine.landlock.map_or_else(|| "none".to_owned(), |version| format!("version {version}"));
    row(report, "Landlock", &landlock)?;
    let each: Vec<String> =
        found.process_limits.iter().map(|(name, value)| format!("{name} {value}")).collect();
    row(report, "each process", &each.join(", "))
}

fn cells(proof: &Proof, found: &Examination) -> Vec<Cell> {
    let check = proof.check;
    let value = check.value(&found.limits, found.machine.landlock);
    let (word, color) = match proof.outcome {
        Outcome::Stopped => ("stopped", Color::Green),
        Outcome::Absent => ("absent", Color::Yellow),
        Outcome::GotThrough => ("GOT THROUGH", Color::Red),
        _ => ("FAILED", Color::Red),
    };
    vec![
        Cell::new(format!("{}: {value}", check.name().replace('_', " "))),
        Cell::new(check.purpose()),
        Cell::new(check.proof()),
        Cell::new(format!("{word}: {}", clean(&proof.seen))).fg(color),
    ]
}

fn missing(found: &Examination, report: &mut Report) -> io::Result<()> {
    for one in &found.missing {
        let (style, word) = if one.needed { (BAD, "missing") } else { (WARN, "lacking") };
        let path = one.path.as_ref().map(|path| format!(": {}", path.display())).unwrap_or_default();
        let told = clean(&format!("{}: {}{path}", one.what, one.why));
        report.line(&format!("{style}{word}{style:#} {told}"))?;
    }
    for (index, fix) in found.fixes.iter().enumerate() {
        let other = index > 0 && found.fixes[index - 1].brings == fix.brings;
        let word = if other { "or" } else { "to get" };
        report.line(&format!("{DIM}{word} {}, {}:{DIM:#}", fix.brings, fix.way))?;
        for step in &fix.steps {
            report.line(&format!("    {}", clean(step)))?;
        }
    }
    Ok(())
}

/// The last line on standard output, and a loud one on standard error where it is bad news.
fn verdict(diagnosis: &Diagnosis, report: &mut Report) -> io::Result<()> {
    let proofs = &diagnosis.proofs;
    let line = match loud(diagnosis) {
        None => {
            let stopped = proofs.iter().filter(|proof| proof.outcome == Outcome::Stopped).count();
            let total = proofs.len();
            format!("{GOOD}confined{GOOD:#} {DIM}{stopped} of {total} layers stopped their probe{DIM:#}")
        }
        Some(line) => {
            report.note(&line)?;
            let why = match diagnosis.found.launcher {
                Some(_) => "a layer does not hold",
                None => "modules are refused on this machine",
            };
            format!("{BAD}not confined{BAD:#} {DIM}{why}{DIM:#}")
        }
    };
    report.line(&line)
}

/// What has to be noticed; `None` where modules are confined.
pub(super) fn loud(diagnosis: &Diagnosis) -> Option<String> {
    if diagnosis.is_confined() {
        return None;
    }
    if diagnosis.found.launcher.is_none() {
        return Some(format!("{BAD}REFUSED:{BAD:#} this machine cannot confine modules as it is now"));
    }
    let bad: Vec<String> = diagnosis
        .proofs
        .iter()
        .filter(|proof| !proof.is_fine())
        .map(|proof| proof.check.name().replace('_', " "))
        .collect();
    let names = bad.join(", ");
    Some(format!("{BAD}NOT CONFINED:{BAD:#} {names}. Run no module on this machine that you do not trust"))
}
