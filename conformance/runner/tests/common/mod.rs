//! What the six-language tests share: where the modules are, and what a right answer and a right refusal look like.
//!
//! `MODBERTH_EXAMPLES` and `MODBERTH_FAULTY` name JSON files that `cargo xtask test` writes: lists of objects with at
//! least `language` (`c cpp rust python js ts`) and `command` (the module's command line, from any folder); a list of
//! examples also has `name`, and only `echo` of protocol 1 is used here.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fmt::Display;

use modberth_conformance::compare;
use modberth_conformance::message::MODULE_HELLO;
use modberth_conformance::subject::{End, Feed, Observed, Subject};
use modberth_protocol::{frame, json};
use serde_json::{Value, json};

/// Declares one test per language and group, named `language::group`, so that a failure names both.
macro_rules! in_six_languages {
    ($($group:ident),* $(,)?) => {
        in_languages!([c, cpp, rust, python, js, ts] [$($group),*]);
    };
}

macro_rules! in_languages {
    ([$($language:ident),*] $groups:tt) => {
        $(in_language!($language $groups);)*
    };
}

macro_rules! in_language {
    ($language:ident [$($group:ident),*]) => {
        mod $language {
            $(
                #[test]
                fn $group() {
                    super::$group(stringify!($language));
                }
            )*
        }
    };
}

/// The echo example in one language.
pub(crate) fn echo(language: &str) -> Subject {
    subject("MODBERTH_EXAMPLES", |entry| {
        entry["name"] == "echo" && entry["protocol"] == 1 && entry["language"] == language
    })
}

/// The faulty module in one language.
pub(crate) fn faulty(language: &str) -> Subject {
    subject("MODBERTH_FAULTY", |entry| entry["language"] == language)
}

fn subject(variable: &str, wanted: impl Fn(&Value) -> bool) -> Subject {
    let advice =
        "run these tests through `cargo xtask test`, which builds the modules and sets this variable";
    let path = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: {advice}"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{variable}: {path:?}: {error}: {advice}"));
    let list: Vec<Value> = serde_json::from_slice(&text)
        .unwrap_or_else(|error| panic!("{variable}: {path:?} is no JSON list: {error}: {advice}"));
    let entry = list
        .iter()
        .find(|entry| wanted(entry))
        .unwrap_or_else(|| panic!("{variable}: {path:?} lists no such module: {advice}"));
    let command: Vec<String> = serde_json::from_value(entry["command"].clone())
        .unwrap_or_else(|error| panic!("{variable}: {entry}: the command is no list of strings: {error}"));
    Subject::new(&command).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs a module, whatever it does.
pub(crate) fn run(subject: &Subject, feed: &Feed) -> Observed {
    subject.feed(feed).unwrap_or_else(|error| panic!("{subject}: {error}"))
}

/// The failures of one group, shown together: one run tells everything that is wrong.
#[derive(Default)]
pub(crate) struct Report {
    checked: usize,
    failures: Vec<String>,
}

/// The most failures of one group that are shown.
const SHOWN: usize = 15;

impl Report {
    /// Notes one case.
    pub(crate) fn check(&mut self, case: impl Display, verdict: Result<(), String>) {
        self.checked += 1;
        if let Err(reason) = verdict {
            self.failures.push(format!("\n* {case}: {reason}"));
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let shown = self.failures.iter().take(SHOWN).map(String::as_str).collect::<String>();
        assert!(self.failures.is_empty(), "{} of {} cases:{shown}", self.failures.len(), self.checked);
        assert!(self.checked > 0, "the group has no case");
    }
}

fn summary(seen: &Observed) -> String {
    let text = seen.stderr_text();
    let start = text.char_indices().rev().nth(400).map_or(0, |(at, _)| at);
    format!("{}, {} bytes of stdout, stderr: {}", seen.end, seen.stdout.len(), &text[start..])
}

/// What one target got: data, or an error's code and message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Data(Value),
    Error { code: String, message: String },
}

/// The outcomes by target of a right answer: exit status 0, exactly the two frames, both strictly legal, the
/// request id and each target of the request once (P1-SDK-04).
pub(crate) fn outcomes(seen: &Observed, targets: &[&str]) -> Result<BTreeMap<String, Outcome>, String> {
    let fault = |what: String| format!("{what} ({})", summary(seen));
    if seen.end != End::Exited(0) {
        return Err(fault("the module did not answer".to_owned()));
    }
    let [hello, result] = frames(&seen.stdout).map_err(fault)?;
    let wanted: Value = serde_json::from_str(MODULE_HELLO).map_err(|error| error.to_string())?;
    if let Some(difference) = compare::difference(&wanted, &hello) {
        return Err(fault(format!("hello: {difference}")));
    }
    let wanted = json!({"version": 1, "type": "result", "id": "request-id", "results": result["results"]});
    if let Some(difference) = compare::difference(&wanted, &result) {
        return Err(fault(format!("result: {difference}")));
    }
    let rows = result["results"].as_array().ok_or_else(|| fault("the results are no list".to_owned()))?;
    let mut outcomes = BTreeMap::new();
    for row in rows {
        let (target, outcome) = outcome(row).ok_or_else(|| fault(format!("no legal row: {row}")))?;
        if outcomes.insert(target.clone(), outcome).is_some() {
            return Err(fault(format!("two rows for {target:?}")));
        }
    }
    let missing = targets.iter().find(|target| !outcomes.contains_key(**target));
    if missing.is_some() || outcomes.len() != targets.len() {
        return Err(fault(format!("{} rows for {} targets, missing {missing:?}", rows.len(), targets.len())));
    }
    Ok(outcomes)
}

/// Both payloads of a legal output, strictly checked (P1-HOST-04, P1-HOST-17 to -22).
fn frames(stdout: &[u8]) -> Result<[Value; 2], String> {
    let mut rest = stdout;
    let mut decoder = frame::Decoder::new();
    let mut payloads = Vec::new();
    while !rest.is_empty() {
        payloads.extend(decoder.push(&mut rest).map_err(|violation| violation.to_string())?);
    }
    decoder.end().map_err(|violation| violation.to_string())?;
    let documents = payloads
        .iter()
        .map(|payload| {
            json::check(payload, &json::Profile::PROCESS).map_err(|violation| violation.to_string())?;
            serde_json::from_slice(payload).map_err(|error| error.to_string())
        })
        .collect::<Result<Vec<Value>, String>>()?;
    let count = documents.len();
    documents.try_into().map_err(|_| format!("{count} frames instead of two"))
}

fn outcome(row: &Value) -> Option<(String, Outcome)> {
    let row = row.as_object().filter(|row| row.len() == 2)?;
    let target = row.get("target")?.as_str()?.to_owned();
    if let Some(data) = row.get("data") {
        return Some((target, Outcome::Data(data.clone())));
    }
    let error = row.get("error")?.as_object().filter(|error| error.len() == 2)?;
    let text = |name| Some(error.get(name)?.as_str()?.to_owned());
    Some((target, Outcome::Error { code: text("code")?, message: text("message")? }))
}

/// Checks that every target got exactly this outcome, in the order of the targets.
pub(crate) fn expect_outcomes(seen: &Observed, wanted: &[(&str, Outcome)]) -> Result<(), String> {
    let targets: Vec<&str> = wanted.iter().map(|(target, _)| *target).collect();
    let found = outcomes(seen, &targets)?;
    for (target, wanted) in wanted {
        let found = &found[*target];
        let same = match (wanted, found) {
            (Outcome::Data(wanted), Outcome::Data(found)) => match compare::difference(wanted, found) {
                Some(difference) => return Err(format!("target {target:?}: data {difference}")),
                None => true,
            },
            (wanted, found) => wanted == found,
        };
        if !same {
            return Err(format!("target {target:?}: wanted {wanted:?}, found {found:?}"));
        }
    }
    Ok(())
}

/// Checks that every target got an error with this code.
pub(crate) fn expect_error_code(seen: &Observed, targets: &[&str], wanted: &str) -> Result<(), String> {
    for (target, found) in outcomes(seen, targets)? {
        match found {
            Outcome::Error { code, .. } if code == wanted => {}
            found => return Err(format!("target {target:?}: wanted the error {wanted}, found {found:?}")),
        }
    }
    Ok(())
}

/// The longest refusal line, its line feed included.
const LINE_BYTES: usize = 2_048;

/// The JSON strings in a line, unescaped.
fn strings(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('"') {
        rest = &rest[start..];
        let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let read = reader.next();
        let end = reader.byte_offset().max(1);
        found.extend(read.and_then(Result::ok));
        rest = &rest[end..];
    }
    found
}

/// Checks a refusal (P1-SDK-01, P1-SDK-07): exit status 1, nothing on standard output, and as the last line of
/// standard error the only one that begins `modberth: `, naming one of these codes and all of these texts
/// (a JSON string is found however it is escaped).
/// Returns the code that was named.
pub(crate) fn expect_refusal(seen: &Observed, codes: &[&str], named: &[&str]) -> Result<String, String> {
    let fault = |what: String| format!("{what} ({})", summary(seen));
    if seen.end != End::Exited(1) {
        return Err(fault(format!("wanted exit status 1 and {codes:?}")));
    }
    if !seen.stdout.is_empty() {
        return Err(fault("something stands on standard output".to_owned()));
    }
    let text =
        std::str::from_utf8(&seen.stderr).map_err(|_| fault("standard error is not UTF-8".to_owned()))?;
    if text.lines().filter(|line| line.starts_with("modberth: ")).count() != 1 {
        return Err(fault("standard error has not exactly one line that begins `modberth: `".to_owned()));
    }
    let line = text.strip_suffix('\n').and_then(|text| text.split('\n').next_back()).unwrap_or_default();
    let Some((code, message)) = line.strip_prefix("modberth: ").and_then(|line| line.split_once(": ")) else {
        return Err(fault("the last line of standard error is not `modberth: CODE: TEXT`".to_owned()));
    };
    if line.len() >= LINE_BYTES {
        return Err(fault(format!("the line has {} bytes", line.len())));
    }
    if line.chars().any(|found| found.is_control() || matches!(found, '\u{2028}' | '\u{2029}')) {
        return Err(fault("the line holds a raw control character".to_owned()));
    }
    if !codes.contains(&code) {
        return Err(fault(format!("wanted {codes:?}, found {code}")));
    }
    let plain = message.replace(',', "");
    for text in named {
        let there = match serde_json::from_str::<String>(text) {
            Ok(string) => strings(message).contains(&string),
            Err(_) => message.contains(text) || plain.contains(text),
        };
        if !there {
            return Err(fault(format!("the line does not name {text}")));
        }
    }
    Ok(code.to_owned())
}
