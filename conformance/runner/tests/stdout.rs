//! Standard output carries frames only, whatever a handler or its child prints (P1-SDK-06), in six languages.

#[macro_use]
mod common;

use common::{Outcome, Report, expect_outcomes, faulty, run};
use modberth_conformance::message::Invoke;
use modberth_conformance::subject::Feed;
use serde_json::json;

in_six_languages!(a_stray_print, a_stray_print_of_a_child);

fn stray(language: &str, action: &str, text: &str) {
    let mut report = Report::default();
    let targets = ["first", "second"];
    let feed = Feed::whole(Invoke::new(action, &targets, &json!({})).exchange());
    let seen = run(&faulty(language), &feed);
    let wanted: Vec<_> =
        targets.iter().enumerate().map(|(index, id)| (*id, Outcome::Data(json!({"index": index})))).collect();
    report.check("the frames", expect_outcomes(&seen, &wanted));
    let found =
        seen.stderr_text().contains(text).then_some(()).ok_or(format!("stderr: {:?}", seen.stderr_text()));
    report.check("the text on standard error", found);
}

// P1-SDK-06
fn a_stray_print(language: &str) {
    stray(language, "print", "stray print");
}

// P1-SDK-06
fn a_stray_print_of_a_child(language: &str) {
    stray(language, "child-print", "stray child");
}
