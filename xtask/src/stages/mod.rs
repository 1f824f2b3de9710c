//! Stages: each runs quietly, prints one line with its counts and minutes, and shows its output when it fails. A stage that
//! fails does not stop the others.

pub(crate) mod build;
pub(crate) mod docs;
mod faulty;
pub(crate) mod fuzz;
pub(crate) mod lint;
pub(crate) mod test;
mod vm;

use crate::counts::Counts;
use crate::run::{Job, excerpt};
use crate::tools::Tools;
use crate::workspace::Workspace;
use anyhow::{Result, bail};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// How much of a failed stage's log is shown.
const SHOWN: usize = 24_000;

/// How many characters of a reason stand in a line.
const REASON: usize = 300;

/// One stage.
pub(crate) struct Stage {
    /// The name that `--only` takes.
    pub(crate) name: &'static str,
    /// One line about it.
    pub(crate) about: &'static str,
    /// Left out with `--fast`.
    pub(crate) slow: bool,
    /// Does the work.
    pub(crate) run: fn(&mut Run<'_>) -> Result<()>,
}

/// What a running stage works with.
pub(crate) struct Run<'a> {
    /// Where things are.
    pub(crate) workspace: &'a Workspace,
    /// What set-up found.
    pub(crate) tools: &'a Tools,
    log: PathBuf,
    counts: Counts,
    problems: Vec<String>,
    said: Vec<String>,
}

impl Run<'_> {
    /// Runs a program that must succeed; it counts as no test. What it printed is returned.
    ///
    /// # Errors
    ///
    /// It failed, which ends the stage unless the caller goes on.
    pub(crate) fn step(&mut self, job: Job) -> Result<String> {
        let (output, result) = job.log(&self.log);
        result.map(|()| output)
    }

    /// Runs one check: a program that counts as one test. A failure is noted and the stage goes on.
    pub(crate) fn check(&mut self, job: Job) {
        let (_, result) = job.log(&self.log);
        self.judge(result);
    }

    /// Counts a check of our own: one test.
    pub(crate) fn judge(&mut self, result: Result<()>) {
        match result {
            Ok(()) => self.counts.passed += 1,
            Err(problem) => {
                self.counts.failed += 1;
                self.problems.push(format!("{problem:#}"));
            }
        }
    }

    /// Runs a test runner, and adds what `read` finds in its output.
    pub(crate) fn tests(&mut self, job: Job, read: impl Fn(&str) -> Result<Counts>) {
        let (output, result) = job.log(&self.log);
        let counted = read(&output).and_then(|counts| {
            if counts.is_empty() {
                bail!("`{}` ran no test", job.shown());
            }
            Ok(counts)
        });
        match (counted, result) {
            (Ok(counts), Ok(())) => self.counts += counts,
            (Ok(counts), Err(problem)) => {
                self.counts += counts;
                self.problems.push(format!("{problem:#}"));
                // A runner that fails after its tests passed is a failure of its own.
                self.counts.failed += u64::from(counts.failed == 0);
            }
            (Err(problem), result) => {
                self.counts.failed += 1;
                self.problems.push(format!("{:#}", result.err().unwrap_or(problem)));
            }
        }
    }

    /// Says loudly that something was left out, and why, on one line; the log has all of a long reason.
    pub(crate) fn not_run(&mut self, what: &str, why: &str) {
        self.note(why);
        let words: Vec<&str> = why.split_whitespace().collect();
        let mut why: String = words.join(" ").chars().take(REASON).collect();
        if why.chars().count() == REASON {
            why.push('\u{2026}');
        }
        self.say(format!("not run: {what} ({why})"));
    }

    /// A line below the stage's own.
    pub(crate) fn say(&mut self, line: String) {
        self.said.push(line);
    }

    /// Adds what was counted in another way, with the problems behind its failures.
    pub(crate) fn add(&mut self, counts: Counts, problems: Vec<String>) {
        self.counts += counts;
        self.problems.extend(problems);
    }

    /// Lines for the log only.
    pub(crate) fn note(&self, text: &str) {
        if let Ok(mut file) = fs::OpenOptions::new().create(true).append(true).open(&self.log) {
            // A log that cannot be written shows in the stage's own steps.
            let _ = writeln!(file, "{text}");
        }
    }
}

/// Runs stages one after the other, prints a line for each and the sum of all at the end, alone on its line.
///
/// # Errors
///
/// Any stage failed.
pub(crate) fn run(workspace: &Workspace, tools: &Tools, stages: &[&Stage]) -> Result<()> {
    let mut sum = Counts::default();
    let mut failed = Vec::new();
    let begin = Instant::now();
    for stage in stages {
        let log = workspace.own(format!("logs/{}.log", stage.name))?;
        fs::write(&log, "")?;
        print!("{:<14} ", stage.name);
        std::io::stdout().flush()?;
        let started = Instant::now();
        let mut run =
            Run { workspace, tools, log, counts: Counts::default(), problems: Vec::new(), said: Vec::new() };
        if let Err(problem) = (stage.run)(&mut run) {
            run.counts.failed += 1;
            run.problems.push(format!("{problem:#}"));
        }
        let minutes = started.elapsed().as_secs_f64() / 60.0;
        let verdict = if run.counts.failed == 0 { "ok" } else { "FAILED" };
        let mut numbers = format!("{} passed", run.counts.passed);
        if run.counts.failed > 0 {
            numbers.push_str(&format!(", {} failed", run.counts.failed));
        }
        if run.counts.skipped > 0 {
            numbers.push_str(&format!(", {} skipped", run.counts.skipped));
        }
        println!("{verdict:<7} {minutes:>5.1} min   {numbers:<24} {}", stage.about);
        for line in &run.said {
            println!("{line}");
        }
        if run.counts.failed > 0 {
            failed.push(stage.name);
            let log = fs::read_to_string(&run.log).unwrap_or_default();
            println!("{:-^100}", format!(" {} ", workspace.shown(&run.log)));
            println!("{}", excerpt(&log, SHOWN));
            println!("{:-^100}", " what failed ");
            println!("{}", run.problems.join("\n"));
            println!("{:-^100}", "");
        }
        sum += run.counts;
    }
    println!("all stages took {:.1} min", begin.elapsed().as_secs_f64() / 60.0);
    if !failed.is_empty() {
        println!("failed: {} (again with --only)", failed.join(", "));
    }
    if sum.skipped > 0 {
        println!("{} passed, {} failed, {} skipped", sum.passed, sum.failed, sum.skipped);
    } else {
        println!("{} passed, {} failed", sum.passed, sum.failed);
    }
    if sum.failed > 0 { Err(Quiet.into()) } else { Ok(()) }
}

/// A failure about which everything was already printed.
#[derive(Debug)]
pub(crate) struct Quiet;

impl std::fmt::Display for Quiet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("something failed")
    }
}

impl std::error::Error for Quiet {}

/// The stages of these names, in the order of `all`.
///
/// # Errors
///
/// A name is no stage, or no stage is left.
pub(crate) fn choose<'a>(all: &'a [&'a Stage], only: &[String], fast: bool) -> Result<Vec<&'a Stage>> {
    if let Some(name) = only.iter().find(|name| all.iter().all(|stage| stage.name != name.as_str())) {
        let known: Vec<_> = all.iter().map(|stage| stage.name).collect();
        bail!("there is no stage \"{name}\"; the stages are {}", known.join(", "));
    }
    let chosen: Vec<_> = all
        .iter()
        .copied()
        .filter(|stage| only.is_empty() || only.iter().any(|name| name == stage.name))
        .filter(|stage| !(fast && stage.slow))
        .collect();
    if chosen.is_empty() {
        bail!("nothing is left to run: --fast leaves out {}", only.join(", "));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts;
    use std::path::Path;

    fn tools() -> Tools {
        let python = crate::tools::python::Python {
            path: "/none".into(),
            version: (3, 11),
            cache_tag: "cpython-311".to_owned(),
        };
        Tools {
            venv: PathBuf::new(),
            python,
            pythons: Vec::new(),
            node: PathBuf::new(),
            node_version: String::new(),
        }
    }

    fn cargo(output: &str) -> Result<Counts> {
        Ok(counts::cargo(output))
    }

    fn outcome(root: &Path, run: fn(&mut Run<'_>) -> Result<()>) -> bool {
        let workspace = Workspace { root: root.to_owned(), target: root.join("target") };
        super::run(&workspace, &tools(), &[&Stage { name: "one", about: "", slow: false, run }]).is_ok()
    }

    #[test]
    fn a_stage_fails_by_a_failing_check_a_failing_step_and_a_runner_without_tests() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(outcome(root, |run| {
            run.check(Job::new("true"));
            Ok(())
        }));
        assert!(!outcome(root, |run| {
            run.check(Job::new("false"));
            Ok(())
        }));
        assert!(!outcome(root, |run| run.step(Job::new("false")).map(drop)));
        assert!(!outcome(root, |run| {
            run.tests(Job::new("true"), cargo);
            Ok(())
        }));
        assert!(outcome(root, |run| {
            run.tests(Job::new("echo").arg("test result: ok. 1 passed; 0 failed; 0 ignored"), cargo);
            Ok(())
        }));
        assert!(!outcome(root, |run| {
            let line = "echo 'test result: ok. 1 passed; 0 failed; 0 ignored'; exit 1";
            run.tests(Job::new("sh").args(["-c", line]), cargo);
            Ok(())
        }));
    }

    #[test]
    fn a_stage_is_chosen_by_name_and_slow_ones_are_left_out() {
        let stage = |name, slow| Stage { name, about: "", slow, run: |_| Ok(()) };
        let (quick, slow) = (stage("quick", false), stage("slow", true));
        let all = [&quick, &slow];
        let names = |only: &[&str], fast| -> Vec<&str> {
            let only: Vec<_> = only.iter().map(|name| (*name).to_owned()).collect();
            choose(&all, &only, fast).unwrap().iter().map(|stage| stage.name).collect()
        };
        assert_eq!(names(&[], false), ["quick", "slow"]);
        assert_eq!(names(&[], true), ["quick"]);
        assert_eq!(names(&["slow"], false), ["slow"]);
        assert!(choose(&all, &["none".to_owned()], false).is_err());
        // A run without a single test is no success.
        assert!(choose(&all, &["slow".to_owned()], true).is_err());
    }
}
