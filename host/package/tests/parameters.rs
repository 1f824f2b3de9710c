//! Schemas of parameters, the check of a request's parameters, and parameters given as text.

mod support;

use modberth_package::parameters::Schema;
use modberth_protocol::json::{self, Profile};
use modberth_protocol::{Blame, Violation};
use serde_json::{Value, json};
use support::{good, one, one_bound, text};

fn declare(m: &mut Value, spec: Value) {
    m["actions"][0]["parameters"] = json!({ "p": spec });
}

fn schema(spec: Value) -> Schema {
    good(|m| declare(m, spec)).actions[0].parameters.clone()
}

/// The declaration gives this one problem at this place below it.
#[track_caller]
fn refused(code: &str, below: &str, spec: Value) -> Violation {
    let place = format!("actions[0].parameters.p{below}");
    one(code, &place, |m| declare(m, spec))
}

#[track_caller]
fn refused_bound(code: &str, below: &str, limit: u64, actual: u64, spec: Value) {
    let place = format!("actions[0].parameters.p{below}");
    one_bound(code, &place, limit, actual, |m| declare(m, spec));
}

/// Checks the value of the parameter p.
fn check(schema: &Schema, value: &str) -> Result<(), Violation> {
    check_all(schema, &format!("{{\"p\":{value}}}"))
}

fn check_all(schema: &Schema, parameters: &str) -> Result<(), Violation> {
    schema.check(json::parse(parameters.as_bytes(), &Profile::PROCESS).unwrap())
}

/// The value is refused with this code, naming the parameter and the place (PM-PARAM-02).
#[track_caller]
fn fault(schema: &Schema, value: &str, code: &str, place: &str) -> Violation {
    let fault = check(schema, value).unwrap_err();
    assert_eq!((fault.code.as_str(), fault.place.path.as_deref()), (code, Some(place)), "{fault}");
    assert_eq!(fault.place.parameter.as_deref(), Some("p"));
    assert_eq!(fault.blame, Blame::Caller);
    fault
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    json!(items.into_iter().collect::<Vec<_>>()).to_string()
}

#[test]
fn an_action_has_at_most_32_parameters_with_identifiers_for_names() {
    let many = |count: usize| -> Value {
        (0..count)
            .map(|i| (format!("p{i}"), json!({"type": "boolean"})))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    good(|m| m["actions"][0]["parameters"] = many(32));
    one_bound("package.count", "actions[0].parameters", 32, 33, |m| m["actions"][0]["parameters"] = many(33));
    good(|m| m["actions"][0]["parameters"] = json!({"constructor": {"type": "boolean"}}));
    one("package.identifier", "actions[0].parameters.__proto__", |m| {
        m["actions"][0]["parameters"] = json!({"__proto__": {"type": "boolean"}});
    });
}

#[test]
fn declarations_have_known_fields_of_the_right_type() {
    refused("package.field_missing", ".type", json!({}));
    refused("package.field_type", ".type", json!({"type": 1}));
    refused("package.field_type", "", json!("string"));
    for unknown in ["object", "list", "String", ""] {
        refused("package.schema_type", ".type", json!({"type": unknown}));
    }
    for unknown in ["default", "pattern", "min_length", "items"] {
        refused("package.field_unknown", &format!(".{unknown}"), json!({"type": "string", unknown: 1}));
    }
    for wrong in [json!("yes"), json!(1), json!(null)] {
        refused("package.field_type", ".required", json!({"type": "string", "required": wrong}));
    }
}

#[test]
fn every_bound_belongs_to_its_types() {
    let types = ["string", "string-list", "integer", "number", "boolean"];
    let bounds = [
        ("max_length", json!(5), ["string", "string-list"].as_slice()),
        ("choices", json!(["a"]), &["string", "string-list"]),
        ("max_items", json!(5), &["string-list"]),
        ("min", json!(0), &["integer", "number"]),
        ("max", json!(5), &["integer", "number"]),
    ];
    for (bound, value, having) in bounds {
        for kind in types {
            let spec = json!({"type": kind, bound: value});
            if having.contains(&kind) {
                schema(spec);
            } else {
                refused("package.schema_field", &format!(".{bound}"), spec);
            }
        }
    }
}

/// PM-PARAM-01, PM-PARAM-02: bounds outside their ranges are refused at inspection.
#[test]
fn lengths_and_items_have_ranges() {
    for (kind, bound, most) in [
        ("string", "max_length", 8192),
        ("string-list", "max_length", 8192),
        ("string-list", "max_items", 128),
    ] {
        let place = format!(".{bound}");
        schema(json!({"type": kind, bound: 1}));
        schema(json!({"type": kind, bound: most}));
        refused_bound("package.number", &place, 1, 0, json!({"type": kind, bound: 0}));
        refused_bound("package.number", &place, most, most + 1, json!({"type": kind, bound: most + 1}));
        refused("package.number", &place, json!({"type": kind, bound: -1}));
        for wrong in [json!(5.0), json!(true), json!("5"), json!(null)] {
            refused("package.field_type", &place, json!({"type": kind, bound: wrong}));
        }
    }
}

#[test]
fn contradictory_choices_are_refused() {
    for kind in ["string", "string-list"] {
        refused_bound("package.schema_choices", ".choices", 1, 0, json!({"type": kind, "choices": []}));
        refused_bound(
            "package.schema_choices",
            ".choices[1]",
            3,
            4,
            json!({"type": kind, "max_length": 3, "choices": ["abc", "éééé"]}),
        );
        refused("package.duplicate", ".choices[1]", json!({"type": kind, "choices": ["a", "a"]}));
        refused_bound("package.text_length", ".choices[0]", 1, 0, json!({"type": kind, "choices": [""]}));
        refused("package.field_type", ".choices[0]", json!({"type": kind, "choices": [1]}));
        refused("package.field_type", ".choices", json!({"type": kind, "choices": "a"}));
        let many = |count: usize| (0..count).map(|i| format!("c{i}")).collect::<Vec<_>>();
        schema(json!({"type": kind, "choices": many(64)}));
        refused_bound("package.count", ".choices", 64, 65, json!({"type": kind, "choices": many(65)}));
    }
    // A choice is judged by the length that holds when none is declared, too.
    schema(json!({"type": "string", "choices": [text(8192)]}));
    refused_bound(
        "package.text_length",
        ".choices[0]",
        8192,
        8193,
        json!({"type": "string", "choices": [text(8193)]}),
    );
    schema(json!({"type": "string-list", "choices": [text(128)]}));
    refused_bound(
        "package.schema_choices",
        ".choices[0]",
        128,
        129,
        json!({"type": "string-list", "choices": [text(129)]}),
    );
}

#[test]
fn contradictory_ranges_are_refused() {
    for kind in ["integer", "number"] {
        refused("package.schema_range", ".min", json!({"type": kind, "min": 2, "max": 1}));
        refused("package.field_type", ".min", json!({"type": kind, "min": true}));
        refused("package.field_type", ".max", json!({"type": kind, "max": "1"}));
        schema(json!({"type": kind, "min": 1, "max": 1}));
        schema(json!({"type": kind, "min": -9_007_199_254_740_991_i64, "max": 9_007_199_254_740_991_i64}));
    }
    schema(json!({"type": "integer", "min": 0.5, "max": 1.5}));
    refused("package.schema_range", ".min", json!({"type": "integer", "min": 1.2, "max": 1.8}));
    schema(json!({"type": "number", "min": 1.2, "max": 1.8}));
    refused("package.schema_range", ".max", json!({"type": "integer", "max": 1e300}));
    refused("package.schema_range", ".min", json!({"type": "integer", "min": -9_007_199_254_740_992.0}));
    schema(json!({"type": "number", "max": 1e300}));
}

/// PM-PARAM-01
#[test]
fn string_lists() {
    let plain = schema(json!({"type": "string-list"}));
    let numbers = |count: usize| list((0..count).map(|i| i.to_string()));
    assert!(check(&plain, "[]").is_ok(), "the empty list is allowed");
    assert!(check(&plain, &numbers(64)).is_ok());
    let over = fault(&plain, &numbers(65), "parameter.items", "parameters.p");
    assert_eq!((over.limit, over.actual), (Some(64), Some(65)));
    assert!(check(&plain, &list([text(128)])).is_ok());
    let over = fault(&plain, &list(["a".to_owned(), text(129)]), "parameter.length", "parameters.p[1]");
    assert_eq!((over.limit, over.actual), (Some(128), Some(129)));
    fault(&plain, r#"["a",""]"#, "parameter.item_empty", "parameters.p[1]");
    fault(&plain, r#"["a","b","a"]"#, "parameter.item_duplicate", "parameters.p[2]");
    fault(&plain, r#"["\u0061","a"]"#, "parameter.item_duplicate", "parameters.p[1]");
    assert!(check(&plain, "[\"e\u{301}\",\"é\"]").is_ok(), "nothing is normalised");
    for scalar in [r#""a""#, "1", "true", "null", "{}"] {
        fault(&plain, scalar, "parameter.type", "parameters.p");
    }
    fault(&plain, r#"["a",1]"#, "parameter.type", "parameters.p[1]");
    fault(&plain, "[null]", "parameter.type", "parameters.p[0]");

    let widest = schema(json!({"type": "string-list", "max_items": 128, "max_length": 8192}));
    assert!(check(&widest, &numbers(128)).is_ok());
    fault(&widest, &numbers(129), "parameter.items", "parameters.p");
    assert!(check(&widest, &list([text(8192)])).is_ok());
    fault(&widest, &list([text(8193)]), "parameter.length", "parameters.p[0]");

    let chosen = schema(json!({"type": "string-list", "choices": ["a", "b"]}));
    assert!(check(&chosen, r#"["b","a"]"#).is_ok());
    let wrong = fault(&chosen, r#"["a","c"]"#, "parameter.choice", "parameters.p[1]");
    assert!(wrong.message.contains(r#""a", "b""#) && wrong.message.contains(r#""c""#), "{wrong}");
}

/// PM-PARAM-02
#[test]
fn strings() {
    let plain = schema(json!({"type": "string"}));
    assert!(check(&plain, r#""""#).is_ok());
    assert!(check(&plain, &json!(text(8192)).to_string()).is_ok());
    let over = fault(&plain, &json!(text(8193)).to_string(), "parameter.length", "parameters.p");
    assert_eq!((over.limit, over.actual), (Some(8192), Some(8193)));
    // Four bytes and two UTF-16 units are one code point.
    let short = schema(json!({"type": "string", "max_length": 1}));
    assert!(check(&short, "\"\u{1f600}\"").is_ok());
    for wrong in ["1", "true", "null", "[]", "{}"] {
        fault(&plain, wrong, "parameter.type", "parameters.p");
    }
    let chosen = schema(json!({"type": "string", "choices": ["a"]}));
    assert!(check(&chosen, r#""a""#).is_ok());
    fault(&chosen, r#""""#, "parameter.choice", "parameters.p");
    fault(&chosen, r#""A""#, "parameter.choice", "parameters.p");
}

/// PM-PARAM-02
#[test]
fn integers() {
    let plain = schema(json!({"type": "integer"}));
    for right in ["0", "-0", "-5", "9007199254740991", "-9007199254740991"] {
        assert!(check(&plain, right).is_ok(), "{right}");
    }
    for wrong in ["1.0", "1e2", "true", "\"1\"", "null", "[]"] {
        fault(&plain, wrong, "parameter.type", "parameters.p");
    }
    let ranged = schema(json!({"type": "integer", "min": 1.5, "max": 10}));
    assert!(check(&ranged, "2").is_ok());
    assert!(check(&ranged, "10").is_ok());
    fault(&ranged, "1", "parameter.range", "parameters.p");
    let over = fault(&ranged, "11", "parameter.range", "parameters.p");
    assert_eq!((over.limit, over.actual), (Some(10), Some(11)));
    assert_eq!(over.message, "The parameter p is 11; max is 10.");
}

/// PM-PARAM-02
#[test]
fn numbers() {
    let plain = schema(json!({"type": "number"}));
    for right in ["0", "1.5", "1e300", "-0.0", "1e20"] {
        assert!(check(&plain, right).is_ok(), "{right}");
    }
    for wrong in ["true", "\"1\"", "null", "{}"] {
        fault(&plain, wrong, "parameter.type", "parameters.p");
    }
    let ranged = schema(json!({"type": "number", "min": -0.5, "max": 0.5}));
    assert!(check(&ranged, "0.5").is_ok());
    let under = fault(&ranged, "-0.6", "parameter.range", "parameters.p");
    assert_eq!(under.message, "The parameter p is -0.6; min is -0.5.");
    fault(&ranged, "1", "parameter.range", "parameters.p");
}

/// PM-PARAM-02
#[test]
fn booleans() {
    let plain = schema(json!({"type": "boolean"}));
    assert!(check(&plain, "true").is_ok());
    assert!(check(&plain, "false").is_ok());
    for wrong in ["0", "1", "\"true\"", "null"] {
        fault(&plain, wrong, "parameter.type", "parameters.p");
    }
}

/// P1-HOST-16, PM-PARAM-02
#[test]
fn unknown_and_missing_parameters_are_named() {
    let schema = good(|m| {
        m["actions"][0]["parameters"] =
            json!({"a": {"type": "string", "required": true}, "b": {"type": "integer"}});
    })
    .actions[0]
        .parameters
        .clone();
    assert!(check_all(&schema, r#"{"a":"x"}"#).is_ok(), "an optional parameter may be absent");
    let unknown = check_all(&schema, r#"{"a":"x","c":1}"#).unwrap_err();
    assert_eq!(unknown.code.as_str(), "parameter.unknown");
    assert_eq!(unknown.place.parameter.as_deref(), Some("c"));
    assert!(unknown.message.contains("a, b"), "{unknown}");
    let missing = check_all(&schema, r#"{"b":1}"#).unwrap_err();
    assert_eq!(missing.code.as_str(), "parameter.missing");
    assert_eq!(missing.place.parameter.as_deref(), Some("a"));
    assert_eq!(missing.place.path.as_deref(), Some("parameters.a"));
    let array = schema.check(json::parse(br#"{"x":[]}"#, &Profile::PROCESS).unwrap().get("x").unwrap());
    assert_eq!(array.unwrap_err().code.as_str(), "request.parameters_type");
}

/// A message is a line, whatever the number; the digits of 1e300 would fill four.
#[test]
fn numbers_are_shown_short() {
    let found = |max: f64, given: &str| {
        let schema = schema(json!({"type": "number", "max": max}));
        check_all(&schema, &format!(r#"{{"p":{given}}}"#)).unwrap_err().message
    };
    assert_eq!(found(5.0, "1e300"), "The parameter p is 1e300; max is 5.");
    assert_eq!(found(-1.5e-320, "0.25"), "The parameter p is 0.25; max is -1.5e-320.");
    assert_eq!(found(0.0, "9007199254740991"), "The parameter p is 9007199254740991; max is 0.");
    let bounds =
        schema(json!({"type": "number", "min": -1e300, "max": 1e-7})).get("p").unwrap().kind.bounds();
    assert_eq!(bounds, "-1e300 to 1e-7");
}

fn texts(spec: Value, texts: &[(&str, &str)]) -> Result<String, Violation> {
    schema(spec).read_texts(texts.iter().copied()).map(|json| json.as_str().to_owned())
}

#[test]
fn texts_are_read_by_the_declared_type() {
    for (spec, given, wanted) in [
        ("string", "Hello \"you\"\n\u{1f600}", "{\"p\":\"Hello \\\"you\\\"\\n\u{1f600}\"}"),
        ("string", "5", r#"{"p":"5"}"#),
        ("string", "", r#"{"p":""}"#),
        ("integer", "-5", r#"{"p":-5}"#),
        ("number", "1e3", r#"{"p":1e3}"#),
        ("number", "7", r#"{"p":7}"#),
        ("boolean", "false", r#"{"p":false}"#),
        ("string-list", "a,b", r#"{"p":["a,b"]}"#),
        ("string-list", "[]", r#"{"p":[]}"#),
        ("string-list", r#"["[x", "y"]"#, r#"{"p":["[x","y"]}"#),
    ] {
        assert_eq!(texts(json!({"type": spec}), &[("p", given)]).unwrap(), wanted, "{given}");
    }
    assert_eq!(
        texts(json!({"type": "string-list"}), &[("p", "a"), ("p", r#"["b"]"#), ("p", "c")]).unwrap(),
        r#"{"p":["a","b","c"]}"#
    );
    assert_eq!(texts(json!({"type": "string"}), &[]).unwrap(), "{}");
}

#[test]
fn texts_that_are_no_value_are_refused_by_name() {
    for (spec, given, code) in [
        ("integer", "1.0", "parameter.type"),
        ("integer", "five", "parameter.type"),
        ("integer", "", "parameter.type"),
        ("integer", "1}", "parameter.type"),
        ("integer", "1,\"x\":2", "parameter.type"),
        ("integer", "true", "parameter.type"),
        ("integer", "9007199254740992", "json.integer_range"),
        ("number", "1e400", "json.nonfinite"),
        ("number", "NaN", "parameter.type"),
        ("number", " 1", "parameter.type"),
        ("boolean", "True", "parameter.type"),
        ("boolean", "1", "parameter.type"),
        ("string-list", "[1]", "parameter.type"),
        ("string-list", r#"["a"],"q":["b"]"#, "json.trailing"),
        ("string-list", r#"["a","a"]"#, "parameter.item_duplicate"),
        // As long as a text may be on a command line; no bound of the parameter, but of all JSON.
        ("string", &"x".repeat(65_537), "json.string_length"),
        ("string-list", &"x".repeat(65_537), "json.string_length"),
        ("string-list", "[", "json.truncated"),
    ] {
        let fault = texts(json!({"type": spec}), &[("p", given)]).unwrap_err();
        assert_eq!(fault.code.as_str(), code, "{given}: {fault}");
        assert_eq!(fault.place.parameter.as_deref(), Some("p"), "{given}: {fault}");
        let path = fault.place.path.as_deref().unwrap_or_default();
        let known = path.strip_prefix("parameters.p").unwrap_or_else(|| panic!("{given}: {fault}"));
        assert!(known.is_empty() || known.starts_with('['), "a place that nobody wrote: {fault}");
    }
    let fault = texts(json!({"type": "string"}), &[("p", &"x".repeat(65_537))]).unwrap_err();
    assert_eq!((fault.limit, fault.actual), (Some(65_536), Some(65_537)));
    // The byte of the text that was given, counted from 0.
    for (given, byte, code) in [
        (r#"["a",]"#, 5, "json.syntax"),
        ("[", 1, "json.truncated"),
        (r#"["a""#, 4, "json.truncated"),
        (r#"["a" 1]"#, 5, "json.syntax"),
        (r#"["a"]}"#, 5, "json.trailing"),
    ] {
        let fault = texts(json!({"type": "string-list"}), &[("p", given)]).unwrap_err();
        assert_eq!((fault.place.offset, fault.code.as_str()), (Some(byte), code), "{given}: {fault}");
        assert!(given.contains('}') || !fault.message.contains('}'), "{given}: {fault}");
    }
    // How the value is written stands in the remedy.
    for (spec, given, remedy) in [
        ("number", ".5", "0.5"),
        ("integer", "1.0", "whole number"),
        ("boolean", "yes", "true or false"),
        ("string-list", "[1]", r#"["a","b"]"#),
    ] {
        let fault = texts(json!({"type": spec}), &[("p", given)]).unwrap_err();
        assert_eq!(fault.code.as_str(), "parameter.type");
        assert!(fault.remedy().contains(remedy), "{given}: {}", fault.remedy());
    }
    let fault = texts(json!({"type": "string"}), &[("p", "a"), ("p", "b")]).unwrap_err();
    assert_eq!(fault.code.as_str(), "parameter.repeated");
    let fault = texts(json!({"type": "string"}), &[("q", "a")]).unwrap_err();
    assert_eq!(fault.code.as_str(), "parameter.unknown");
    let fault = texts(json!({"type": "string", "required": true}), &[]).unwrap_err();
    assert_eq!(fault.code.as_str(), "parameter.missing");
    assert!(fault.remedy().contains("-p p=TEXT"), "{}", fault.remedy());
}
