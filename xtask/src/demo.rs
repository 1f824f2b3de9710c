//! `cargo xtask demo`: everything from nothing to six modules that answered, in one table.

use crate::examples::{self, Example};
use crate::run::Job;
use crate::tools::Tools;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// Builds the host and the examples, runs each echo module through the host, and prints what came back.
pub(crate) fn run(workspace: &Workspace, tools: &Tools) -> Result<()> {
    println!("building the host");
    Job::new("cargo").args(["build", "--quiet", "--package", "modberth"]).dir(&workspace.root).capture()?;
    let host = workspace.built("debug/modberth");
    let examples = examples::build_telling(workspace, tools, |name| println!("building {name}"))?;
    let echoes: Vec<_> = examples.iter().filter(|example| example.name == "echo").collect();
    let flags = flags(workspace, &host, echoes.first().copied());
    println!("\n{:<10} {:<10} {:<8} {:<58} {:>7}  confined", "language", "targets", "result", "data", "time");
    let mut failed = 0;
    for example in echoes {
        let begin = Instant::now();
        let answer = ask(workspace, &host, example, flags);
        let millis = begin.elapsed().as_secs_f64() * 1000.0;
        let (verdict, data, confined) = match &answer {
            Ok(answer) => judge(answer),
            Err(problem) => ("failed", format!("{problem:#}"), "-"),
        };
        failed += usize::from(verdict != "ok");
        println!(
            "{:<10} {:<10} {verdict:<8} {data:<58} {millis:>4.0} ms  {confined}",
            example.language, "a, b"
        );
    }
    println!("\n{}", hint(workspace, &examples));
    if failed > 0 {
        bail!("{failed} of the modules did not answer as they should");
    }
    Ok(())
}

/// Runs one example through the host.
fn ask(workspace: &Workspace, host: &Path, example: &Example, flags: &[&str]) -> Result<Value> {
    Job::new(host)
        .args(["run", "--json"])
        .args(flags)
        .arg(&example.dir)
        .args(["echo", "--target", "a", "--target", "b", "-p", "message=Hello"])
        .dir(&workspace.root)
        .minutes(1)
        .capture()
        .and_then(|text| serde_json::from_str(&text).context("the host's answer"))
}

/// What the host needs on a machine that does not let modules be confined; said loudly.
fn flags(workspace: &Workspace, host: &Path, example: Option<&Example>) -> &'static [&'static str] {
    match example.map(|example| ask(workspace, host, example, &[])) {
        Some(Err(problem)) if format!("{problem:#}").contains("sandbox.unavailable") => {
            eprintln!(
                "\nNOT CONFINED: this machine does not let modules be confined (modberth doctor says why), so these run \
                 with --unsafe-rlimits-only"
            );
            &["--unsafe-rlimits-only"]
        }
        _ => &[],
    }
}

/// What the table says about one answer of the host.
fn judge(answer: &Value) -> (&'static str, String, &'static str) {
    let rows = answer["results"].as_array().cloned().unwrap_or_default();
    let right = rows.len() == 2
        && rows.iter().enumerate().all(|(index, row)| {
            row["target"] == ["a", "b"][index]
                && row["data"]["message"] == "Hello"
                && row["data"]["index"] == index
        });
    let data = rows.iter().map(|row| row["data"].to_string()).collect::<Vec<_>>().join(" ");
    let confined = match answer["process"]["confined"].as_bool() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    (if right { "ok" } else { "wrong" }, data, confined)
}

fn hint(workspace: &Workspace, examples: &[Example]) -> String {
    let python = examples.iter().find(|example| example.language == "python");
    let folder = python.map(|example| workspace.shown(&example.dir).to_string()).unwrap_or_default();
    let host = workspace.built("debug/modberth");
    format!(
        "Next: change {folder}/main.py, then build and run it yourself:\n\n  \
         cargo xtask examples\n  {} run {folder} echo --target a -p message=Hello\n\n\
         The tutorial is docs/tutorial.md.",
        workspace.shown(&host)
    )
}

#[cfg(test)]
mod tests {
    use super::judge;
    use serde_json::json;

    #[test]
    fn an_answer_is_right_only_when_both_targets_echo_in_order() {
        let row = |target: &str, index: i32| json!({"target": target, "data": {"message": "Hello", "index": index}});
        let right = json!({"results": [row("a", 0), row("b", 1)], "process": {"confined": false}});
        assert_eq!((judge(&right).0, judge(&right).2), ("ok", "no"));
        assert_eq!(judge(&json!({"results": [row("b", 1), row("a", 0)]})).0, "wrong");
        assert_eq!(judge(&json!({"results": [row("a", 0)]})).0, "wrong");
        assert_eq!(judge(&json!({})).0, "wrong");
    }
}
