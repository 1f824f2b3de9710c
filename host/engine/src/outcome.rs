//! What came of an invocation.

use std::fmt;
use std::time::Duration;

use modberth_protocol::Violation;
use modberth_protocol::json::quote_into;
use modberth_protocol::process::{self, Failure, Results, TargetResult};
use modberth_sandbox::{Confinement, Exit, Usage};

use crate::limits::millis;

/// What came of an invocation: the results in request order, or why there are none, and everything an author or
/// operator needs to see why.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The invocation's id, 32 lower-case hexadecimal digits. It is also the request id that the module sees.
    pub id: String,
    /// Who asked.
    pub caller: String,
    /// The package's id.
    pub package: String,
    /// The package's version.
    pub version: String,
    /// The package's digest, 64 lower-case hexadecimal digits. That of a development folder is the one of the archive
    /// it packs to.
    pub digest: String,
    /// The action's id, as the caller gave it.
    pub action: String,
    /// One result for every target of the batch in request order (P1-HOST-12), or the failure of the action.
    /// A target's error is part of valid results (P1-HOST-24).
    pub verdict: Result<Results, Failure>,
    /// The module's process; `None` when none was started.
    pub process: Option<ProcessReport>,
    /// From the call of [`Host::invoke`](crate::Host::invoke) to this outcome.
    pub wall: Duration,
}

/// What is known of the process of an action.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProcessReport {
    /// How the module's own process ended; `None` when the host killed it.
    pub exit: Option<Exit>,
    /// What kept it apart from the machine.
    pub confinement: Confinement,
    /// What it wrote to standard error.
    pub stderr: Stderr,
    /// What the module used, as far as the kernel counts it for this action alone; `None` when it did not say.
    pub usage: Option<Usage>,
}

/// What a module wrote to standard error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stderr {
    /// The first 65,536 bytes of it (P1-HOST-05).
    pub kept: Vec<u8>,
    /// Bytes that the host has read. More than were kept when the module was stopped for writing too much.
    pub bytes: u64,
}

impl Stderr {
    /// What was kept, as text: bytes that are not UTF-8 stand as U+FFFD.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.kept)
    }

    /// Whether more was written than was kept.
    pub fn is_cut(&self) -> bool {
        self.bytes > self.kept.len() as u64
    }
}

impl Outcome {
    /// The results; `None` when the action failed.
    pub fn results(&self) -> Option<&Results> {
        self.verdict.as_ref().ok()
    }

    /// The failure; `None` when there are results.
    pub fn failure(&self) -> Option<&Failure> {
        self.verdict.as_ref().err()
    }

    /// Whether a process was started. `false` means that the request was refused before (or never had its turn).
    pub fn is_launched(&self) -> bool {
        self.process.is_some()
    }

    /// The outcome as one compact JSON object, shape `outcome.v1`: `conformance/schema/outcome.v1.schema.json` in
    /// the repository says what each field holds. Data stands in it byte for byte as the module wrote it.
    pub fn to_json(&self) -> String {
        let ok = self.results().is_some_and(Results::all_data);
        let mut out = format!("{{\"format\":1,\"ok\":{ok}");
        text(&mut out, "id", &self.id);
        text(&mut out, "caller", &self.caller);
        out.push_str(",\"package\":{\"id\":");
        quote_into(&self.package, &mut out);
        text(&mut out, "version", &self.version);
        text(&mut out, "digest", &self.digest);
        out.push('}');
        text(&mut out, "action", &self.action);
        match &self.verdict {
            Ok(results) => {
                text(&mut out, "outcome", "results");
                out.push_str(",\"results\":");
                write_rows(&results.results, &mut out);
            }
            Err(failure) => {
                text(&mut out, "outcome", "failure");
                out.push_str(",\"failure\":");
                write_failure(failure, &mut out);
            }
        }
        out.push_str(",\"process\":");
        match &self.process {
            Some(process) => process.write_json(&mut out),
            None => out.push_str("null"),
        }
        out.push_str(&format!(",\"wall_ms\":{}}}", millis(self.wall)));
        out
    }
}

impl ProcessReport {
    fn write_json(&self, out: &mut String) {
        out.push_str("{\"exit\":");
        match self.exit {
            Some(Exit::Status(status)) => out.push_str(&format!("{{\"status\":{status}}}")),
            Some(exit @ Exit::Signal(signal)) => {
                out.push_str(&format!("{{\"signal\":{signal}"));
                if let Some(name) = exit.signal_name() {
                    text(out, "name", name);
                }
                out.push('}');
            }
            None => out.push_str("null"),
        }
        out.push_str(if self.confinement.is_confined() {
            ",\"confined\":true"
        } else {
            ",\"confined\":false"
        });
        text(out, "confinement", &self.confinement.to_string());
        out.push_str(",\"stderr\":{\"text\":");
        quote_into(&self.stderr.text(), out);
        out.push_str(&format!(",\"bytes\":{},\"cut\":{}}}", self.stderr.bytes, self.stderr.is_cut()));
        if let Some(usage) = &self.usage {
            for (name, value) in [
                ("cpu_ms", Some(millis(usage.cpu))),
                ("peak_memory_bytes", usage.peak_memory),
                ("oom_kills", usage.oom_kills),
                ("throttled_periods", usage.throttled_periods),
                ("throttled_ms", usage.throttled.map(millis)),
                ("refused_tasks", usage.refused_tasks),
            ] {
                if let Some(value) = value {
                    out.push_str(&format!(",\"{name}\":{value}"));
                }
            }
        }
        out.push('}');
    }
}

/// Appends the violation that counts, with the others as its `notes`.
fn write_failure(failure: &Failure, out: &mut String) {
    // A violation is strings and numbers under fixed names: this cannot fail.
    let json = |violation: &Violation| serde_json::to_string(violation).unwrap_or_else(|_| "{}".to_owned());
    out.push_str(&json(&failure.violation));
    if out.ends_with('}') {
        out.pop();
    }
    let notes: Vec<String> = failure.notes.iter().map(json).collect();
    out.push_str(&format!(",\"notes\":[{}]}}", notes.join(",")));
}

/// Appends the results, data as the module wrote it.
fn write_rows(rows: &[TargetResult], out: &mut String) {
    for (index, row) in rows.iter().enumerate() {
        out.push_str(if index == 0 { "[{\"target\":" } else { ",{\"target\":" });
        quote_into(&row.target, out);
        match &row.outcome {
            process::Outcome::Data(data) => {
                out.push_str(",\"data\":");
                out.push_str(data.as_str());
            }
            process::Outcome::Error(error) => {
                out.push_str(",\"error\":{\"code\":");
                quote_into(&error.code, out);
                text(out, "message", &error.message);
                out.push('}');
            }
        }
        out.push('}');
    }
    // A batch has at least one target, so the list is never empty and its bracket is open.
    out.push(']');
}

/// Appends `,"name":"value"`.
fn text(out: &mut String, name: &str, value: &str) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    quote_into(value, out);
}

impl fmt::Display for Outcome {
    /// One line: the failure, or how many results and target errors there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Ok(results) => {
                let is_error = |row: &&TargetResult| matches!(row.outcome, process::Outcome::Error(_));
                let errors = results.results.iter().filter(is_error).count();
                write!(f, "{} results, {errors} of them errors", results.results.len())
            }
            Err(failure) => failure.fmt(f),
        }
    }
}
