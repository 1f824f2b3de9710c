//! What the machine said: its console, read by the marked lines of `init.sh`.

use crate::counts::{self, Counts};

/// What begins a marked line.
const MARK: &str = "@vm ";

/// How many lines of a console that breaks off are shown.
const SHOWN: usize = 50;

/// The rounds, in the order of `init.sh`.
pub(crate) const ROUNDS: [&str; 2] = ["root", "user"];

/// One run of one test program.
#[derive(Debug, PartialEq)]
pub(crate) struct Ran {
    /// Who ran it: one of [`ROUNDS`].
    pub(crate) round: String,
    /// Its name in the plan.
    pub(crate) name: String,
    /// Its tests, and one failure more when it failed in another way.
    pub(crate) counts: Counts,
    /// From its begin to its end; `None` when it did not end.
    pub(crate) seconds: Option<f64>,
}

/// What a console says.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Release of the kernel, and seconds from its start to ours.
    pub(crate) started: Option<(String, f64)>,
    /// Every run that began, in order.
    pub(crate) ran: Vec<Ran>,
    /// All tests, and one failure for each problem that is no failed test.
    pub(crate) counts: Counts,
    /// What failed, a text each.
    pub(crate) problems: Vec<String>,
}

impl Report {
    fn fail(&mut self, problem: String) {
        self.counts.failed += 1;
        self.problems.push(problem);
    }
}

/// A program that has begun.
struct Open {
    round: String,
    name: String,
    began: f64,
    output: String,
}

/// Reads a console. Every program of `plan` must have run in every round and ended with status 0 and a result line, and the
/// machine must have said that it is done.
pub(crate) fn read(console: &str, plan: &[&str]) -> Report {
    let mut report = Report::default();
    let mut open: Option<Open> = None;
    let mut done = false;
    for line in console.lines() {
        let line = line.trim_end_matches('\r');
        let words: Vec<&str> = match line.strip_prefix(MARK) {
            Some(rest) => rest.split_whitespace().collect(),
            None => Vec::new(),
        };
        match words[..] {
            ["start", release, at] => report.started = Some((release.to_owned(), seconds(at))),
            ["begin", round, name, at] => {
                abandon(&mut report, open.take());
                open = Some(Open {
                    round: round.to_owned(),
                    name: name.to_owned(),
                    began: seconds(at),
                    output: String::new(),
                });
            }
            ["end", round, name, status, at] => match open.take() {
                Some(program) if program.round == round && program.name == name => {
                    let took = seconds(at) - program.began;
                    close(&mut report, program, status, took);
                }
                other => {
                    abandon(&mut report, other);
                    report.fail(format!("{round}: {name} ended without having begun"));
                }
            },
            ["done", _] => done = true,
            _ => {
                if let Some(program) = &mut open {
                    program.output.push_str(line);
                    program.output.push('\n');
                }
            }
        }
    }
    abandon(&mut report, open.take());
    for round in ROUNDS {
        for name in plan {
            if !report.ran.iter().any(|ran| ran.round == round && ran.name == *name) {
                report.fail(format!("{round}: {name} did not run"));
            }
        }
    }
    if !done {
        let lines: Vec<&str> = console.lines().collect();
        let end = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
        report.fail(format!("the machine did not come to its end; its console ends with\n{end}"));
    }
    report
}

/// A number of seconds; what is none counts as 0, since it is only shown.
fn seconds(text: &str) -> f64 {
    text.parse().unwrap_or(0.0)
}

/// A program that ended: its tests are counted, and its status must agree with them.
fn close(report: &mut Report, program: Open, status: &str, took: f64) {
    let Open { round, name, output, .. } = program;
    let mut counts = counts::cargo(&output);
    let end = match status {
        // The word that `init.sh` has instead of a status.
        "late" => "did not end in time and was killed".to_owned(),
        status => format!("ended with status {status}"),
    };
    if !output.lines().any(|line| line.starts_with("test result: ")) {
        counts.failed += 1;
        report.problems.push(format!("{round}: {name} printed no result and {end}"));
    } else if status != "0" {
        counts.failed += u64::from(counts.failed == 0);
        report.problems.push(format!("{round}: {name} {end}"));
    } else if counts.failed > 0 {
        report.problems.push(format!("{round}: {name} has failed tests but ended with status 0"));
    }
    report.counts += counts;
    report.ran.push(Ran { round, name, counts, seconds: Some(took) });
}

/// A program that never ended: what it counted so far holds, and it failed.
fn abandon(report: &mut Report, program: Option<Open>) {
    let Some(Open { round, name, output, .. }) = program else { return };
    let mut counts = counts::cargo(&output);
    counts.failed += 1;
    report.problems.push(format!("{round}: {name} did not end"));
    report.counts += counts;
    report.ran.push(Ran { round, name, counts, seconds: None });
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: &str = "\n@vm start 6.1.0-57-cloud-amd64 3.40\r\n";
    const PASSED: &str = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\r\n";
    const FAILED: &str = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured\r\n";

    fn ran(round: &str, name: &str, output: &str, status: impl std::fmt::Display) -> String {
        format!("\r\n@vm begin {round} {name} 4.00\r\n{output}\r\n@vm end {round} {name} {status} 6.50\r\n")
    }

    fn console(parts: &[String]) -> String {
        format!("{BOOT}{}@vm done 9.00\r\n", parts.concat())
    }

    fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
        Counts { passed, failed, skipped }
    }

    #[test]
    fn both_rounds_are_counted() {
        let report = read(&console(&[ran("root", "a", PASSED, 0), ran("user", "a", PASSED, 0)]), &["a"]);
        assert_eq!(report.problems, Vec::<String>::new());
        assert_eq!(report.counts, counts(6, 0, 2));
        assert_eq!(report.started, Some(("6.1.0-57-cloud-amd64".to_owned(), 3.4)));
        let first = Ran {
            round: "root".to_owned(),
            name: "a".to_owned(),
            counts: counts(3, 0, 1),
            seconds: Some(2.5),
        };
        assert_eq!(report.ran[0], first);
        assert_eq!(report.ran[1].round, "user");
    }

    #[test]
    fn failed_tests_are_counted_once() {
        let report = read(&console(&[ran("root", "a", FAILED, 101), ran("user", "a", PASSED, 0)]), &["a"]);
        assert_eq!(report.counts, counts(4, 2, 1));
        assert_eq!(report.problems, ["root: a ended with status 101"]);
    }

    #[test]
    fn a_status_that_does_not_agree_with_the_result_is_a_failure() {
        let report = read(&console(&[ran("root", "a", PASSED, 137), ran("user", "a", FAILED, 0)]), &["a"]);
        assert_eq!(report.counts, counts(4, 3, 1));
        assert_eq!(
            report.problems,
            ["root: a ended with status 137", "user: a has failed tests but ended with status 0"]
        );
    }

    #[test]
    fn a_program_without_a_result_line_failed_whatever_its_status() {
        let report = read(&console(&[ran("root", "a", "no tests", 0), ran("user", "a", "", 139)]), &["a"]);
        assert_eq!(report.counts, counts(0, 2, 0));
        assert_eq!(
            report.problems,
            [
                "root: a printed no result and ended with status 0",
                "user: a printed no result and ended with status 139"
            ]
        );
    }

    #[test]
    fn a_program_that_was_killed_at_its_limit_failed_even_after_its_tests() {
        let report =
            read(&console(&[ran("root", "a", "", "late"), ran("user", "a", PASSED, "late")]), &["a"]);
        assert_eq!(report.counts, counts(3, 2, 1));
        assert_eq!(
            report.problems,
            [
                "root: a printed no result and did not end in time and was killed",
                "user: a did not end in time and was killed"
            ]
        );
    }

    #[test]
    fn a_console_that_breaks_off_is_a_failure_and_its_end_is_shown() {
        let noise: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let text = format!("{BOOT}{}@vm begin user a 7.00\r\n{noise}", ran("root", "a", PASSED, 0));
        let report = read(&text, &["a"]);
        assert_eq!(report.counts, counts(3, 2, 1));
        assert_eq!(report.ran[1].seconds, None);
        assert_eq!(report.problems[0], "user: a did not end");
        let end: Vec<&str> = report.problems[1].lines().skip(1).collect();
        assert_eq!((end.len(), end[0], end[49]), (50, "line 50", "line 99"));
    }

    #[test]
    fn a_program_that_did_not_run_is_a_failure() {
        let report = read(&console(&[ran("root", "a", PASSED, 0)]), &["a", "b"]);
        assert_eq!(report.counts, counts(3, 3, 1));
        assert_eq!(report.problems, ["root: b did not run", "user: a did not run", "user: b did not run"]);
    }

    #[test]
    fn a_machine_that_says_nothing_failed() {
        let report = read("", &["a"]);
        assert_eq!(report.counts, counts(0, 3, 0));
        assert!(report.started.is_none() && report.ran.is_empty());
    }

    #[test]
    fn ends_that_fit_no_begin_are_failures() {
        let text = format!("{BOOT}@vm begin root a 4.00\n{PASSED}@vm end root b 0 5.00\n@vm done 6.00\n");
        let report = read(&text, &[]);
        assert_eq!(report.counts, counts(3, 2, 1));
        assert_eq!(report.problems, ["root: a did not end", "root: b ended without having begun"]);
    }
}
