//! `conformance/requirements.json`: every requirement, whether it is covered, and the tests that name it.
//!
//! Ids, levels, parties, texts and statuses are written by hand. The lists of tests are found by a search through the project, so a
//! requirement is covered only while a test names it.

use crate::sources;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Where the list stands.
pub(crate) const FILE: &str = "conformance/requirements.json";

/// One requirement.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Requirement {
    id: String,
    level: Level,
    party: Party,
    text: String,
    status: Status,
    tests: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Must,
    May,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Party {
    Host,
    Sdk,
    Both,
    Backend,
    Tester,
}

/// Whether tests of this project show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Covered,
    Pending,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    about: String,
    requirements: Vec<Requirement>,
}

fn load(workspace: &Workspace) -> Result<List> {
    let text = fs::read_to_string(workspace.at(FILE)).context(FILE)?;
    serde_json::from_str(&text).context(FILE)
}

/// The list with its tests searched anew.
pub(crate) fn with_tests(workspace: &Workspace) -> Result<String> {
    let mut list = load(workspace)?;
    let named = named(workspace)?;
    for requirement in &mut list.requirements {
        requirement.tests =
            named.get(&requirement.id).map(|paths| paths.iter().cloned().collect()).unwrap_or_default();
    }
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

/// What is wrong with the list and with the ids that the project names.
pub(crate) fn problems(workspace: &Workspace) -> Result<Vec<String>> {
    let list = load(workspace)?;
    let mut problems = judge(&list);
    for requirement in &list.requirements {
        for test in &requirement.tests {
            let text = fs::read_to_string(workspace.at(test)).unwrap_or_default();
            if !ids(&text).contains(&requirement.id) {
                problems.push(format!("{}: {test} is missing or does not name it", requirement.id));
            }
        }
    }
    let known: BTreeSet<&str> = list.requirements.iter().map(|requirement| requirement.id.as_str()).collect();
    for path in sources::all(workspace)? {
        if path == Path::new(FILE) || path.starts_with("xtask") {
            continue;
        }
        let Ok(text) = fs::read_to_string(workspace.at(&path)) else { continue };
        for id in ids(&text) {
            if !known.contains(id.as_str()) {
                problems.push(format!("{}: {id} is no requirement", path.display()));
            }
        }
    }
    Ok(problems)
}

/// What is wrong with the list by itself.
fn judge(list: &List) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for requirement in &list.requirements {
        let id = &requirement.id;
        if !seen.insert(id) {
            problems.push(format!("{id}: stands twice"));
        }
        if ids(id).len() != 1 || !ids(id).contains(id) {
            problems.push(format!("{id}: is not formed like P1-FRAME-01"));
        }
        if requirement.text.len() < 10 || requirement.text.contains('\n') {
            problems.push(format!("{id}: its text is missing or has several lines"));
        }
        if requirement.status == Status::Covered && requirement.tests.is_empty() {
            problems.push(format!("{id}: is covered, but no test names it"));
        }
    }
    problems
}

/// The tests that name each id, as paths.
fn named(workspace: &Workspace) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for test in sources::tests(workspace)? {
        for id in ids(&test.text) {
            named.entry(id).or_default().insert(test.path.display().to_string());
        }
    }
    Ok(named)
}

/// Every requirement id in a text: `P1-FRAME-01` and its like. `P1-HOST-04 to -24` names the first only; tests spell out what they prove.
fn ids(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for family in ["P1-", "P2-", "PM-", "W1-"] {
        for (at, _) in text.match_indices(family) {
            if text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-') {
                continue;
            }
            let rest = &text[at + family.len()..];
            let area: String = rest.chars().take_while(char::is_ascii_uppercase).collect();
            let Some(number) = rest[area.len()..].strip_prefix('-') else { continue };
            let number: String = number.chars().take_while(char::is_ascii_digit).collect();
            if area.len() >= 2 && number.len() == 2 {
                found.insert(format!("{family}{area}-{number}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requirement(id: &str, status: Status, tests: &[&str]) -> Requirement {
        Requirement {
            id: id.to_owned(),
            level: Level::Must,
            party: Party::Host,
            text: "A sentence about it.".to_owned(),
            status,
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
        }
    }

    #[test]
    fn ids_are_found_and_lookalikes_are_not() {
        let text = "// P1-FRAME-01, W1-HELLO-10; XP1-FRAME-02 P1-FRAME-3 P9-AAA-01 P1-x-01 P1-HOST-123";
        assert_eq!(ids(text).into_iter().collect::<Vec<_>>(), ["P1-FRAME-01", "W1-HELLO-10"]);
    }

    #[test]
    fn a_covered_requirement_without_a_test_is_a_problem() {
        let list = |requirements| List { about: String::new(), requirements };
        assert_eq!(judge(&list(vec![requirement("P1-FRAME-01", Status::Covered, &[])])).len(), 1);
        assert!(judge(&list(vec![requirement("P1-FRAME-01", Status::Covered, &["a"])])).is_empty());
        assert!(judge(&list(vec![requirement("P2-SEL-01", Status::Pending, &[])])).is_empty());
    }

    #[test]
    fn a_bad_or_repeated_id_is_a_problem() {
        let list = List {
            about: String::new(),
            requirements: ["P1-FRAME-01", "P1-FRAME-01", "X-1"]
                .map(|id| requirement(id, Status::Pending, &[]))
                .to_vec(),
        };
        assert_eq!(judge(&list).len(), 2);
    }
}
