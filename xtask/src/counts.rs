//! How many tests passed and failed, read from what the runners print for machines.

use std::ops::AddAssign;

/// Sums over one or more runners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Tests that a runner skipped or ignored.
    pub(crate) skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl Counts {
    /// Whether no runner counted anything.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Counts::default()
    }
}

/// Sums the lines `test result: ok. 3 passed; 0 failed; 0 ignored; …` of cargo test.
pub(crate) fn cargo(output: &str) -> Counts {
    let mut sum = Counts::default();
    for line in output.lines().filter(|line| line.starts_with("test result: ")) {
        for part in line.split([';', '.']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word)) = (words.next().and_then(|n| n.parse::<u64>().ok()), words.next())
            else {
                continue;
            };
            match word {
                "passed" => sum.passed += number,
                "failed" => sum.failed += number,
                "ignored" => sum.skipped += number,
                _ => {}
            }
        }
    }
    sum
}

/// Sums the lines `# pass 3` (tap) or `ℹ pass 3` (spec) of node --test.
pub(crate) fn node(output: &str) -> Counts {
    let mut sum = Counts::default();
    for line in output.lines() {
        let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) else { continue };
        let Some((word, number)) = rest.trim().split_once(' ') else { continue };
        let Ok(number) = number.parse::<u64>() else { continue };
        match word {
            "pass" => sum.passed += number,
            "fail" | "cancelled" => sum.failed += number,
            "skipped" | "todo" => sum.skipped += number,
            _ => {}
        }
    }
    sum
}

/// Sums the `testsuite` elements of a JUnit report (pytest, ctest).
pub(crate) fn junit(report: &str) -> Counts {
    let mut sum = Counts::default();
    for element in report.split("<testsuite ").skip(1) {
        let element = element.split('>').next().unwrap_or_default();
        // Attributes stand between spaces or line ends; a name inside another value does not begin one.
        let number = |name: &str| -> u64 {
            element
                .split_whitespace()
                .find_map(|word| {
                    word.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix('"')?.parse().ok()
                })
                .unwrap_or(0)
        };
        let (tests, failed) = (number("tests"), number("failures") + number("errors"));
        let skipped = number("skipped") + number("disabled");
        sum += Counts { passed: tests.saturating_sub(failed + skipped), failed, skipped };
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64) -> Counts {
        Counts { passed, failed, skipped }
    }

    #[test]
    fn cargo_lines_are_summed_over_all_binaries() {
        let output = "running 2 tests\ntest a ... ok\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
            test result: FAILED. 3 passed; 4 failed; 0 ignored; 0 measured; 9 filtered out; finished in 12.34s\n";
        assert_eq!(cargo(output), counts(5, 4, 1));
        assert!(cargo("error: could not compile").is_empty());
    }

    #[test]
    fn both_reporters_of_node_are_read() {
        let tap = "TAP version 13\n# tests 5\n# suites 0\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 0\n# todo 0\n";
        let spec = "ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ duration_ms 33.1\n";
        assert_eq!(node(tap), counts(3, 2, 0));
        assert_eq!(node(&format!("{tap}{spec}")), counts(5, 2, 0));
    }

    #[test]
    fn reports_of_pytest_and_ctest_are_read() {
        let pytest = r#"<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="2" skipped="0" tests="10" time="0.5"><testcase name="tests=&quot;9"/></testsuite></testsuites>"#;
        let ctest = "<testsuite name=\"Linux-c++\"\n\ttests=\"7\"\n\tfailures=\"0\"\n\tdisabled=\"0\"\n\tskipped=\"1\"\n>";
        assert_eq!(junit(pytest), counts(7, 3, 0));
        assert_eq!(junit(ctest), counts(6, 0, 1));
    }
}
