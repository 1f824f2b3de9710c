//! `conformance/errors.json`: the one list of codes, and the check that a test asserts each of them.

use crate::sources::{self, Kind};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;

/// One code.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// `area.name`.
    pub(crate) code: String,
    /// Where it can occur.
    pub(crate) protocols: Vec<String>,
    /// Who has to change something.
    pub(crate) blame: String,
    /// Who produces it: `host`, `sdk`, `command`.
    pub(crate) by: Vec<String>,
    /// The coarser name of the FICC family.
    pub(crate) ficc: String,
    /// One sentence.
    pub(crate) meaning: String,
    /// One sentence for the one who is to blame.
    pub(crate) remedy: String,
}

#[derive(Deserialize)]
struct File {
    format: u32,
    codes: Vec<Entry>,
}

/// Reads the list and checks its form.
pub(crate) fn load(workspace: &Workspace) -> Result<Vec<Entry>> {
    let path = workspace.at("conformance/errors.json");
    let text = fs::read_to_string(&path).context("conformance/errors.json")?;
    let file: File = serde_json::from_str(&text).context("conformance/errors.json")?;
    if file.format != 1 {
        bail!("conformance/errors.json: format {} is not known", file.format);
    }
    let mut seen = BTreeSet::new();
    for entry in &file.codes {
        let form = entry.code.split_once('.').is_some_and(|(area, name)| {
            [area, name].iter().all(|part| {
                part.starts_with(|c: char| c.is_ascii_lowercase())
                    && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            })
        });
        let texts = [&entry.meaning, &entry.remedy, &entry.ficc];
        if !form || !seen.insert(&entry.code) {
            bail!("conformance/errors.json: \"{}\" is not area.name, or stands twice", entry.code);
        }
        if texts.iter().any(|text| text.is_empty() || text.contains('\n'))
            || entry.by.is_empty()
            || entry.protocols.is_empty()
        {
            bail!("conformance/errors.json: {} lacks a field, or a text has several lines", entry.code);
        }
    }
    Ok(file.codes)
}

/// Codes that no test asserts. A code of the host must stand in a Rust test or a case; a code of the SDKs must stand in the tests
/// of every language that makes its own checks, or in a case, which runs in all of them.
pub(crate) fn unasserted(workspace: &Workspace) -> Result<Vec<String>> {
    let codes = load(workspace)?;
    let tests: Vec<_> = sources::tests(workspace)?;
    Ok(missing(&codes, &tests))
}

fn missing(codes: &[Entry], tests: &[sources::Test]) -> Vec<String> {
    let mut problems = Vec::new();
    for entry in codes {
        let quoted = [format!("\"{}\"", entry.code), format!("'{}'", entry.code)];
        let camel: String =
            entry.code.split(['.', '_']).map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        let constant = format!("Code::{camel}");
        let named = |test: &sources::Test| {
            quoted.iter().any(|text| test.text.contains(text.as_str()))
                || (test.kind == Kind::Rust && has_word(&test.text, &constant))
        };
        let host = tests.iter().filter(|test| matches!(test.kind, Kind::Rust | Kind::Case));
        if entry.by.iter().any(|by| by != "sdk") && !host.clone().any(named) {
            problems.push(format!("{}: no test of the host asserts it", entry.code));
        }
        if entry.by.iter().any(|by| by == "sdk") && !tests.iter().any(named) {
            problems.push(format!("{}: no test of an SDK asserts it", entry.code));
        }
    }
    problems
}

/// Whether a name stands in a text and is not the beginning of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(at, _)| !text[at + word.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(code: &str, by: &[&str]) -> Entry {
        Entry {
            code: code.to_owned(),
            protocols: vec!["process-1".to_owned()],
            blame: "module".to_owned(),
            by: by.iter().map(|by| (*by).to_owned()).collect(),
            ficc: "x".to_owned(),
            meaning: "x".to_owned(),
            remedy: "x".to_owned(),
        }
    }

    fn test(kind: Kind, text: &str) -> sources::Test {
        sources::Test { path: "t".into(), kind, text: text.to_owned() }
    }

    #[test]
    fn a_code_without_a_test_is_found() {
        let codes = [entry("area.one", &["host"]), entry("area.two", &["sdk"])];
        assert_eq!(missing(&codes, &[]).len(), 2);
        let tests = [test(Kind::Rust, "Code::AreaOne"), test(Kind::Python, "'area.two'")];
        assert_eq!(missing(&codes, &tests), Vec::<String>::new());
    }

    #[test]
    fn a_longer_name_does_not_stand_for_a_shorter_one() {
        let codes = [entry("area.one", &["host"])];
        assert_eq!(missing(&codes, &[test(Kind::Rust, "Code::AreaOneMore \"area.one_more\"")]).len(), 1);
    }

    #[test]
    fn a_test_of_an_sdk_does_not_cover_the_host() {
        let codes = [entry("area.one", &["host", "sdk"])];
        let problems = missing(&codes, &[test(Kind::Python, "\"area.one\"")]);
        assert_eq!(problems, ["area.one: no test of the host asserts it"]);
    }
}
