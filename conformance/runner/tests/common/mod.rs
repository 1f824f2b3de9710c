//! What the six-language tests share: where the modules are, and what a right answer and a right refusal look like.
//!
//! `MODBERTH_EXAMPLES` and `MODBERTH_FAULTY` name JSON files that `cargo xtask test` writes: lists of objects with at
//! least `language` (`c cpp rust python js ts`) and `command` (the module's command line, from any folder); a list of
//! examples also has `name`, and only `echo` of protocol 1 is used here.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fmt::Display;

use modberth_conformance::answer::{self, Refusal};
use modberth_conformance::compare;
use modberth_conformance::subject::{Feed, Observed, Subject};
use serde_json::Value;

pub(crate) use modberth_conformance::answer::Outcome;

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

/// The outcomes by target of a right answer.
pub(crate) fn outcomes(seen: &Observed, targets: &[&str]) -> Result<BTreeMap<String, Outcome>, String> {
    answer::outcomes(seen, "request-id", targets).map_err(|reason| format!("{reason} ({})", summary(seen)))
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

/// Checks a refusal (P1-SDK-01, P1-SDK-07) with one of these codes, whose line names all of these texts.
pub(crate) fn expect_refusal(seen: &Observed, codes: &[&str], named: &[&str]) -> Result<(), String> {
    let fault = |reason: String| format!("{reason} ({})", summary(seen));
    let refusal = Refusal::read(seen).map_err(|reason| fault(format!("wanted {codes:?}, but {reason}")))?;
    if !codes.contains(&refusal.code.as_str()) {
        return Err(fault(format!("wanted {codes:?}, found {}", refusal.code)));
    }
    match named.iter().find(|text| !refusal.names(text)) {
        Some(text) => Err(fault(format!("the line does not name {text}"))),
        None => Ok(()),
    }
}
