//! The whole strict JSON profile, held against the reader and the writer of every SDK: all vectors of
//! `conformance/cases/json`, in six languages (P1-HOST-17 to P1-HOST-22 and P1-HOST-35, which bind an SDK's reader too).

#[macro_use]
mod common;

use common::{Outcome, Report, echo, expect_outcomes, expect_refusal, faulty, run};
use modberth_conformance::message::{Invoke, after_hello, frame};
use modberth_conformance::subject::Feed;
use modberth_conformance::vectors::{Bounds, Vector, all};
use modberth_protocol::json::{Profile, check};
use serde_json::{Value, json};

in_six_languages!(refused_second, refused_first, accepted, accepted_inside_parameters, given_back);

/// A vector and the code of its first fault under the bounds of the process protocols.
fn refused() -> Vec<(Vector, String)> {
    let vectors = all().expect("the vectors can be read");
    vectors
        .into_iter()
        .filter_map(|vector| {
            // A frame cannot carry an empty document: that is an empty frame.
            let code = if vector.bytes.is_empty() { "frame.empty" } else { vector.code(Bounds::Process)? };
            let code = code.to_owned();
            Some((vector, code))
        })
        .collect()
}

/// The vectors that the process protocols accept.
fn legal() -> Vec<Vector> {
    let vectors = all().expect("the vectors can be read");
    vectors.into_iter().filter(|vector| vector.code(Bounds::Process).is_none()).collect()
}

fn named(code: &str, frame: &'static str) -> Vec<&'static str> {
    if code.starts_with("json.") { vec![frame, "byte "] } else { vec![frame] }
}

// P1-SDK-01: the invoke is checked as strictly as a host checks.
fn refused_second(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for (vector, code) in refused() {
        let seen = run(&module, &Feed::whole(after_hello(&vector.bytes)));
        report.check(&vector.name, expect_refusal(&seen, &[&code], &named(&code, "frame 2")));
    }
}

// P1-SDK-01: and so is the hello.
fn refused_first(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let invoke = frame(Invoke::new("echo", &["a"], &json!({"message": "x"})).json());
    for (vector, code) in refused() {
        let seen = run(&module, &Feed::whole([frame(&vector.bytes), invoke.clone()].concat()));
        report.check(&vector.name, expect_refusal(&seen, &[&code], &named(&code, "frame 1")));
    }
}

// A legal document that is no invoke is refused as a message, not as JSON.
fn accepted(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for vector in legal() {
        let seen = run(&module, &Feed::whole(after_hello(&vector.bytes)));
        report.check(&vector.name, expect_refusal(&seen, &["request.message"], &["frame 2"]));
    }
}

/// A document put between two texts.
fn between(before: &str, document: &[u8], after: &str) -> Vec<u8> {
    [before.as_bytes(), document, after.as_bytes()].concat()
}

/// The code of the first fault of a frame, as the reference checker has it.
fn fault(payload: &[u8]) -> Option<String> {
    check(payload, &Profile::PROCESS).err().map(|violation| violation.code.as_str().to_owned())
}

/// The invoke frame with this document as a parameter.
fn carrying(action: &str, name: &str, document: &[u8]) -> Vec<u8> {
    let before = format!(
        r#"{{"version":1,"type":"invoke","id":"request-id","action":"{action}","targets":["a"],"parameters":{{"message":"x","{name}":"#
    );
    between(&before, document, "}}")
}

// What is legal where it stands does not disturb the module.
fn accepted_inside_parameters(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for vector in legal() {
        let payload = carrying("echo", "other", &vector.bytes);
        let code = fault(&payload);
        let seen = run(&module, &Feed::whole(after_hello(payload)));
        let verdict = match code {
            None => expect_outcomes(&seen, &[("a", Outcome::Data(json!({"message": "x", "index": 0})))]),
            Some(code) => expect_refusal(&seen, &[&code], &["frame 2"]),
        };
        report.check(&vector.name, verdict);
    }
}

// P1-SDK-08: it comes back unchanged, names, text and numbers, unless it would stand too deep in the result.
fn given_back(language: &str) {
    let module = faulty(language);
    let mut report = Report::default();
    for vector in legal() {
        let payload = carrying("number-echo", "value", &vector.bytes);
        if fault(&payload).is_some() {
            continue;
        }
        let result = between(r#"{"version":1,"results":[{"target":"a","data":"#, &vector.bytes, "}]}");
        let code = fault(&result);
        let seen = run(&module, &Feed::whole(after_hello(payload)));
        let verdict = match code {
            None => {
                let value: Value = serde_json::from_slice(&vector.bytes).expect("a legal document");
                expect_outcomes(&seen, &[("a", Outcome::Data(value))])
            }
            Some(code) => expect_refusal(&seen, &[&code], &[r#""a""#]),
        };
        report.check(&vector.name, verdict);
    }
}
