//! One measured claim: the form that `cargo xtask bench --json` prints, one object a line.

use serde::Serialize;

/// Which side of the bar is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Want {
    /// The ratio must reach the bar.
    AtLeast,
    /// The ratio must not pass the bar.
    AtMost,
}

/// One row. Fields that a row does not have are left out of the JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// `bench/case`, such as `strict-json/nested-64k`.
    pub(crate) name: String,
    /// What the bar judges. With a baseline: the quotient of the medians that the bench documents. Without: value / bar.
    pub(crate) ratio: f64,
    /// The bar of the ratio, or of the value where there is no baseline; absent for rows that only inform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bar: Option<f64>,
    /// Which side of the bar is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) want: Option<Want>,
    /// Whether the bar is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) met: Option<bool>,
    /// What the subject is compared with, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// The baseline's command or call, exactly as it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_command: Option<String>,
    /// The subject's command or call, exactly as it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// How many times each side ran.
    pub(crate) runs: usize,
    /// Median of the baseline, in `unit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_median: Option<f64>,
    /// Median of the subject, in `unit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) median: Option<f64>,
    /// The measured value of a row without a baseline, in `unit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<f64>,
    /// Unit of the medians or the value.
    pub(crate) unit: &'static str,
    /// What else the run found, or what made the row fail besides its bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// Why nothing was measured. `ratio` is null then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_run: Option<String>,
}

impl Row {
    /// A row that compares two interleaved series. `ratio` is computed by the caller, because benches differ in what they divide.
    pub(crate) fn compared(
        name: impl Into<String>,
        ratio: f64,
        runs: usize,
        base: f64,
        subject: f64,
    ) -> Self {
        Row {
            name: name.into(),
            ratio: round(ratio),
            bar: None,
            want: None,
            met: None,
            base: None,
            base_command: None,
            command: None,
            runs,
            base_median: Some(round(base)),
            median: Some(round(subject)),
            value: None,
            unit: "us",
            note: None,
            not_run: None,
        }
    }

    /// A row without a baseline: `ratio` is value / bar, and the value must not pass the bar.
    pub(crate) fn plain(
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        bar: f64,
        runs: usize,
    ) -> Self {
        Row {
            name: name.into(),
            ratio: round(value / bar),
            bar: Some(bar),
            want: Some(Want::AtMost),
            met: Some(value <= bar),
            base: None,
            base_command: None,
            command: None,
            runs,
            base_median: None,
            median: None,
            value: Some(round(value)),
            unit,
            note: None,
            not_run: None,
        }
    }

    /// A row that this machine cannot measure.
    pub(crate) fn not_run(name: impl Into<String>, why: impl Into<String>) -> Self {
        let mut row = Row::compared(name, f64::NAN, 0, 0.0, 0.0);
        (row.base_median, row.median, row.not_run) = (None, None, Some(why.into()));
        row
    }

    /// Adds what else the run found.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Has the row fail, whatever its bar says.
    pub(crate) fn failed(mut self, why: impl Into<String>) -> Self {
        self.met = Some(false);
        self.note(why)
    }

    /// Names the two sides.
    pub(crate) fn sides(
        mut self,
        base: impl Into<String>,
        base_command: impl Into<String>,
        command: impl Into<String>,
    ) -> Self {
        self.base = Some(base.into());
        self.base_command = Some(base_command.into());
        self.command = Some(command.into());
        self
    }

    /// Sets the bar of the ratio and judges it. The rounded ratio is judged, so the printed row agrees with its verdict.
    pub(crate) fn bar(mut self, want: Want, bar: f64) -> Self {
        self.met = Some(match want {
            Want::AtLeast => self.ratio >= bar,
            Want::AtMost => self.ratio <= bar,
        });
        self.want = Some(want);
        self.bar = Some(bar);
        self
    }
}

/// Three decimals are more than a run can tell apart.
fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_a_baseline_has_the_documented_fields() {
        let row = Row::compared("strict-json/nested-64k", 7.1, 100, 710.0, 100.0)
            .sides("serde_json Value", "serde_json::from_slice::<Value>", "check")
            .bar(Want::AtLeast, 5.0);
        let json: serde_json::Value = serde_json::to_value(&row).unwrap();
        for field in ["name", "ratio", "base", "base_command", "runs", "base_median", "median"] {
            assert!(json.get(field).is_some(), "{field}");
        }
        assert_eq!(json["met"], true);
        assert!(json.get("value").is_none());
    }

    #[test]
    fn a_row_without_a_baseline_is_value_over_bar() {
        let row = Row::plain("scratch", 32.0, "KiB", 64.0, 1);
        assert_eq!((row.ratio, row.met), (0.5, Some(true)));
        let json: serde_json::Value = serde_json::to_value(&row).unwrap();
        assert!(json.get("base").is_none() && json["value"] == 32.0 && json["bar"] == 64.0);
    }

    #[test]
    fn a_row_that_was_not_run_has_no_verdict() {
        let json = serde_json::to_value(Row::not_run("sandbox/x", "there is no bwrap")).unwrap();
        assert!(json["ratio"].is_null() && json.get("met").is_none() && json.get("median").is_none());
        assert_eq!(json["not_run"], "there is no bwrap");
    }

    #[test]
    fn a_row_can_fail_within_its_bar() {
        let row = Row::plain("a", 1.0, "ms", 2.0, 1).failed("1 survivor");
        assert_eq!((row.met, row.note.as_deref()), (Some(false), Some("1 survivor")));
    }

    #[test]
    fn a_bar_that_is_passed_is_not_met() {
        assert_eq!(Row::compared("a", 0.46, 1, 1.0, 1.0).bar(Want::AtMost, 0.45).met, Some(false));
        assert_eq!(Row::compared("a", 4.9, 1, 1.0, 1.0).bar(Want::AtLeast, 5.0).met, Some(false));
    }
}
