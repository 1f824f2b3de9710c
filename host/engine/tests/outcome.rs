//! The outcome as JSON: one shape, `conformance/schema/outcome.v1.schema.json`, for every kind of outcome.

mod support;

use modberth_host::{Invocation, Outcome};
use serde_json::{Value, json};
use support::{Scripted, hello, honest, honest_then, host, plain, play, play_in, result, short_host};

/// Asserts that the outcome has the documented shape, and gives it.
fn checked(outcome: &Outcome) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/schema/outcome.v1.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document: Value = serde_json::from_str(&outcome.to_json()).unwrap();
    let faults: Vec<String> =
        validator.iter_errors(&document).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{faults:?}\n{document:#}");
    // A field that the schema does not name would be a promise that nobody wrote down.
    let known = |object: &Value, names: &[&str]| {
        for name in object.as_object().unwrap().keys() {
            assert!(names.contains(&name.as_str()), "{name}");
        }
    };
    known(
        &document,
        &[
            "format", "ok", "id", "caller", "package", "action", "outcome", "results", "failure", "process",
            "wall_ms",
        ],
    );
    if document["process"].is_object() {
        known(
            &document["process"],
            &[
                "exit",
                "confined",
                "confinement",
                "stderr",
                "cpu_ms",
                "peak_memory_bytes",
                "oom_kills",
                "throttled_periods",
                "throttled_ms",
                "refused_tasks",
            ],
        );
    }
    document
}

#[test]
fn results() {
    let outcome = play(&[
        json!({"read": true}),
        hello(),
        result(r#"{"target":"a","error":{"code":"not_found","message":"no \"such\" thing\n"}}"#),
        json!({"stderr": "a line\n\u{1b}[31m"}),
    ]);
    let document = checked(&outcome);
    assert_eq!(
        document["results"],
        json!([{"target": "a", "error": {"code": "not_found", "message": "no \"such\" thing\n"}}])
    );
    assert_eq!((&document["ok"], &document["outcome"]), (&json!(false), &json!("results")));
    assert_eq!(checked(&play(&honest()))["ok"], true);
    assert_eq!(document["process"]["exit"], json!({"status": 0}));
    if support::confines() {
        assert_eq!(document["process"]["confined"], json!(true));
        assert_eq!(document["process"]["confinement"], "confined");
    }
    assert_eq!(
        document["process"]["stderr"],
        json!({"text": "a line\n\u{1b}[31m", "bytes": 12, "cut": false})
    );
    assert_eq!(document["package"]["id"], "org.example.scripted");
    assert_eq!(outcome.to_string(), "1 results, 1 of them errors");
}

#[test]
fn failures() {
    let document = checked(&play_in(plain(), &honest_then([json!({"signal": 15})])));
    assert_eq!(document["process"]["exit"], json!({"signal": 15, "name": "SIGTERM"}));
    assert_eq!(document["failure"]["notes"], json!([]));
    assert_eq!(document["process"]["confined"], json!(false));
    assert!(document["process"]["confinement"].as_str().unwrap().starts_with("NOT CONFINED"));

    let document = checked(&play(&[json!({"exit": 2})]));
    assert_eq!(document["failure"]["notes"][0]["code"], "frame.missing");
    assert_eq!(document["failure"]["remedy"], "Read the module's standard error.");

    let document = checked(&play(&[json!({"text": "no frame"}), json!({"hang": true})]));
    assert_eq!(document["process"]["exit"], Value::Null);

    let document = checked(&play(&[json!({"stderr_fill": 100_000}), json!({"hang": true})]));
    assert_eq!(document["process"]["stderr"]["cut"], true);
    assert_eq!(document["process"]["stderr"]["text"].as_str().unwrap().len(), 65_536);
}

#[test]
fn refusals_and_cancellations() {
    let scripted = Scripted::new(&honest());
    let document = checked(&host().invoke(Invocation::new(scripted.module.clone(), "no \"such\"")).wait());
    assert_eq!((&document["process"], &document["failure"]["path"]), (&Value::Null, &json!("action")));
    let invocation =
        Invocation::new(scripted.module.clone(), "typed").target("a").parameters(r#"{"text":"123456"}"#);
    let document = checked(&host().invoke(invocation).wait());
    assert_eq!(document["failure"]["parameter"], "text");
    assert_eq!((&document["failure"]["limit"], &document["failure"]["actual"]), (&json!(5), &json!(6)));

    let scripted = Scripted::new(&[json!({"hang": true})]);
    let running = host().invoke(scripted.play());
    running.cancel();
    assert_eq!(checked(&running.wait())["failure"]["code"], "process.cancelled");
    checked(&short_host(100, 100).invoke(scripted.play()).wait());
}

// The data of a result stands in the outcome byte for byte: no number is read and written again.
#[test]
fn data_is_passed_on_unread() {
    let data = r#"{ "big": 1e20, "exact": 9007199254740991, "zero": -0.0, "long": 0.10000000000000000555, "s": "\u00e9\/" }"#;
    let outcome =
        play(&[json!({"read": true}), hello(), result(&format!(r#"{{"target":"a","data":{data}}}"#))]);
    assert!(outcome.to_json().contains(data));
}
