//! `modberth.json`: examples and resource hints.

mod support;

use modberth_package::hints::Hints;
use modberth_protocol::Violation;
use serde_json::{Value, json};
use support::{good, text};

fn read(hints: Value) -> Result<Hints, Vec<Violation>> {
    Hints::parse(hints.to_string().as_bytes(), &good(|_| {})).map_err(modberth_package::Problems::into_vec)
}

#[track_caller]
fn refused(code: &str, path: &str, hints: Value) -> Violation {
    let mut problems = read(hints).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let problem = problems.remove(0);
    let found = (problem.code.as_str(), problem.place.path.as_deref().unwrap_or_default());
    assert_eq!(found, (code, path), "{problem}");
    assert_eq!(problem.place.file.as_deref(), Some("modberth.json"));
    problem
}

fn example(targets: Value, parameters: Value) -> Value {
    json!({"examples": {"echo": [{"targets": targets, "parameters": parameters}]}})
}

#[test]
fn examples_and_limits_are_read() {
    let hints = read(json!({
        "examples": {"echo": [{"targets": ["a", "b"], "parameters": {"message": "Hello"}}]},
        "limits": {"memory_mib": 64, "tasks": 8, "cpu_percent": 50}
    }))
    .unwrap();
    let example = &hints.examples["echo"][0];
    assert_eq!(example.targets, ["a", "b"]);
    assert_eq!(example.parameters.as_str(), r#"{"message":"Hello"}"#);
    assert_eq!(hints.limits.memory_mib, Some(64));
    assert_eq!((hints.limits.tasks, hints.limits.cpu_percent), (Some(8), Some(50)));
    assert_eq!(read(json!({})).unwrap(), Hints::default());
}

#[test]
fn unknown_fields_are_refused() {
    refused("package.field_unknown", "example", json!({"example": {}}));
    refused("package.field_unknown", "limits.disk", json!({"limits": {"disk": 1}}));
    refused("package.field_unknown", "examples.echo[0].note", {
        json!({"examples": {"echo": [{"targets": ["a"], "parameters": {"message": ""}, "note": 1}]}})
    });
    refused(
        "package.field_missing",
        "examples.echo[0].parameters",
        json!({"examples": {"echo": [{"targets": ["a"]}]}}),
    );
}

#[test]
fn limits_are_integers_within_bounds() {
    for (name, least, most) in [("memory_mib", 16, 16_384), ("tasks", 1, 1_024), ("cpu_percent", 5, 1_600)] {
        let path = format!("limits.{name}");
        for right in [least, most] {
            read(json!({"limits": {name: right}})).unwrap();
        }
        let low = refused("package.number", &path, json!({"limits": {name: least - 1}}));
        assert_eq!((low.limit, low.actual), (u64::try_from(least).ok(), u64::try_from(least - 1).ok()));
        let high = refused("package.number", &path, json!({"limits": {name: most + 1}}));
        assert_eq!((high.limit, high.actual), (u64::try_from(most).ok(), u64::try_from(most + 1).ok()));
        refused("package.field_type", &path, json!({"limits": {name: 64.0}}));
        refused("package.field_type", &path, json!({"limits": {name: "64"}}));
    }
}

#[test]
fn examples_are_legal_requests() {
    let hello = || json!({"message": "Hello"});
    let unknown = refused("package.example", "examples.other", json!({"examples": {"other": []}}));
    assert!(unknown.remedy().starts_with("Mend the name"), "{}", unknown.remedy());
    let short = refused("package.example", "examples.echo[0].targets[0]", example(json!([""]), hello()));
    assert_eq!((short.limit, short.actual), (Some(1), Some(0)));
    refused("package.count", "examples.echo", json!({"examples": {"echo": []}}));
    refused("package.count", "examples.echo[0].targets", example(json!([]), hello()));
    let many: Vec<_> = (0..65).map(|i| i.to_string()).collect();
    refused("package.count", "examples.echo[0].targets", example(json!(many), hello()));
    refused("package.example", "examples.echo[0].targets[1]", example(json!(["a", "a"]), hello()));
    refused("package.example", "examples.echo[0].targets[0]", example(json!(["a/b"]), hello()));
    refused("package.field_type", "examples.echo[0].targets[0]", example(json!([1]), hello()));
    let long =
        refused("package.example", "examples.echo[0].targets[0]", example(json!([text(129)]), hello()));
    assert_eq!((long.limit, long.actual), (Some(128), Some(129)));
    let missing =
        refused("package.example", "examples.echo[0].parameters.message", example(json!(["a"]), json!({})));
    assert_eq!(missing.place.parameter.as_deref(), Some("message"));
    refused(
        "package.example",
        "examples.echo[0].parameters.message",
        example(json!(["a"]), json!({"message": 1})),
    );
    refused("package.example", "examples.echo[0].parameters", example(json!(["a"]), json!([])));
    read(example(json!(["__proto__", " a ", "..", "b\nc"]), hello())).unwrap();
}

#[test]
fn the_document_is_strict_and_bounded() {
    let manifest = good(|_| {});
    let refused = |bytes: &[u8]| Hints::parse(bytes, &manifest).unwrap_err().into_first();
    assert_eq!(refused(br#"{"limits":{},"limits":{}}"#).code.as_str(), "json.duplicate_key");
    let mut bytes = b"{}".to_vec();
    bytes.resize(1_048_576, b' ');
    assert!(Hints::parse(&bytes, &manifest).is_ok());
    bytes.push(b' ');
    let over = refused(&bytes);
    assert_eq!(over.code.as_str(), "package.hints_too_large");
    assert_eq!((over.limit, over.actual), (Some(1_048_576), Some(1_048_577)));
}
