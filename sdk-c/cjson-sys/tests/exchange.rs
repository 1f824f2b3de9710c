//! A whole exchange of the C SDK against the host's own rules.

use modberth_cjson_sys::{answer, read_request};
use modberth_protocol::process::{Exit, HostSession, ModuleSession, Request};
use modberth_protocol::{frame, json};
use proptest::prelude::*;

const HELLO: &str = r#"{"version":1,"type":"hello","host_api":1}"#;

fn invoke(targets: &str, parameters: &str) -> String {
    format!(
        r#"{{"version":1,"type":"invoke","id":"r1","action":"echo","targets":{targets},"parameters":{parameters}}}"#
    )
}

/// The verdict of the Rust SDK's reader.
fn module_session(hello: &str, invoke: &str) -> Option<String> {
    let mut session = ModuleSession::new();
    let read = || {
        session.input(&frame::encode(hello.as_bytes())?)?;
        session.input(&frame::encode(invoke.as_bytes())?)?;
        session.end().map(drop)
    };
    let read: Result<(), modberth_protocol::Violation> = { read }();
    read.err().map(|violation| violation.code.as_str().to_owned())
}

fn expect_same_verdict(hello: &str, invoke: &str) {
    let code = read_request(hello.as_bytes(), invoke.as_bytes()).err().map(|refusal| refusal.code);
    assert_eq!(code, module_session(hello, invoke), "{hello} {invoke}");
}

/// P1-SDK-01, P1-SDK-02: both readers refuse the same messages with the same codes
#[test]
fn requests_are_judged_as_the_rust_sdk_does() {
    for hello in [
        HELLO,
        r#"{"version":2,"type":"hello","host_api":1}"#,
        r#"{"version":1.0,"type":"hello","host_api":1}"#,
        r#"{"version":true,"type":"hello","host_api":1}"#,
        r#"{"version":1,"type":"hello","host_api":2}"#,
        r#"{"version":2,"type":"hello","host_api":2}"#,
        r#"{"version":1,"type":"invoke","host_api":1}"#,
        r#"{"version":1,"type":"hello"}"#,
        r#"{"version":1,"type":"hello","host_api":1,"more":1}"#,
        "[]",
    ] {
        expect_same_verdict(hello, &invoke(r#"["a"]"#, "{}"));
    }
    let many =
        |count: usize| format!("[{}]", (0..count).map(|i| format!("\"{i}\"")).collect::<Vec<_>>().join(","));
    for targets in [
        "[]".to_owned(),
        "{}".to_owned(),
        "1".to_owned(),
        many(64),
        many(65),
        r#"["a",1]"#.to_owned(),
        r#"["a","a"]"#.to_owned(),
        r#"["a","\u0061"]"#.to_owned(),
        r#"["a/b"]"#.to_owned(),
        r#"["a\\b"]"#.to_owned(),
        r#"["a:b"]"#.to_owned(),
        r#"["a\u0000b"]"#.to_owned(),
        r#"[""]"#.to_owned(),
        format!("[\"{}\"]", "\u{1f600}".repeat(128)),
        format!("[\"{}\"]", "\u{1f600}".repeat(129)),
        r#"["__proto__"," a ","..","b\nc"]"#.to_owned(),
    ] {
        expect_same_verdict(HELLO, &invoke(&targets, "{}"));
    }
    for parameters in ["[]", "null", "1", "{}", r#"{"a":{"b":[1]}}"#, r#"{"a":1,"a":1}"#] {
        expect_same_verdict(HELLO, &invoke(r#"["a"]"#, parameters));
    }
}

/// What the SDK lets through, the host accepts; what the SDK refuses, the host would refuse by the same code (P1-SDK-05).
fn expect_same_results(targets: &[&str], results: &str) {
    let ids = serde_json::to_string(targets).unwrap();
    let request = Request::new(
        "r1",
        "echo",
        targets.iter().map(|&target| target.to_owned()).collect(),
        json::RawJson::empty_object(),
    )
    .unwrap();
    let ours = answer(HELLO.as_bytes(), invoke(&ids, "{}").as_bytes(), results.as_bytes());
    let mut host = HostSession::new(request);
    let by_hand = [
        frame::encode(br#"{"version":1,"type":"hello","protocol":1}"#).unwrap(),
        frame::encode(format!(r#"{{"version":1,"type":"result","id":"r1","results":{results}}}"#).as_bytes())
            .unwrap(),
    ]
    .concat();
    let output = ours.as_ref().map_or(&by_hand, |output| output);
    let judged = host.output(output).and_then(|()| host.output_end());
    let verdict = judged.err().map(|violation| violation.code.as_str().to_owned());
    assert_eq!(ours.as_ref().err().map(|refusal| refusal.code.clone()), verdict, "{results}");
    if ours.is_ok() {
        assert!(host.finish(Exit::Code(0)).is_ok());
    }
}

#[test]
fn results_are_judged_as_the_host_does() {
    for results in [
        r#"[{"target":"a","data":1},{"target":"b","data":{"x":[]}}]"#,
        r#"[{"target":"b","data":1},{"target":"a","error":{"code":"no","message":""}}]"#,
        r#"[{"target":"a","data":1}]"#,
        r#"[{"target":"a","data":1},{"target":"a","data":1}]"#,
        r#"[{"target":"a","data":1},{"target":"c","data":1}]"#,
        r#"[{"target":"a","data":1,"error":{"code":"no","message":""}},{"target":"b","data":1}]"#,
        r#"[{"target":"a"},{"target":"b","data":1}]"#,
        r#"[{"data":1},{"target":"b","data":1}]"#,
        r#"[{"target":1,"data":1},{"target":"b","data":1}]"#,
        r#"[{"target":"a","data":1,"more":1},{"target":"b","data":1}]"#,
        r#"[{"target":"a","error":{"code":"No","message":""}},{"target":"b","data":1}]"#,
        r#"[{"target":"a","error":{"code":"no"}},{"target":"b","data":1}]"#,
        r#"[{"target":"a","error":{"code":"no","message":1}},{"target":"b","data":1}]"#,
        r#"[{"target":"a","error":"no"},{"target":"b","data":1}]"#,
        r#"[1,{"target":"b","data":1}]"#,
        r#"{"a":1}"#,
        "[]",
    ] {
        expect_same_results(&["a", "b"], results);
    }
    let long = |count: usize| {
        format!(r#"[{{"target":"a","error":{{"code":"no","message":"{}"}}}}]"#, "\u{e9}".repeat(count))
    };
    expect_same_results(&["a"], &long(1024));
    expect_same_results(&["a"], &long(1025));
}

proptest! {
    /// P1-SDK-08: any text passes unchanged as data, and the host takes the frames.
    #[test]
    fn any_text_passes_unchanged(text in any::<String>(), id in "[^/\\\\:\0]{1,128}") {
        let text = text.replace('\0', " ");
        let ids = serde_json::to_string(&[&id]).unwrap();
        let results = serde_json::json!([{"target": id, "data": text}]).to_string();
        let output = answer(HELLO.as_bytes(), invoke(&ids, "{}").as_bytes(), results.as_bytes()).unwrap();
        let request = Request::new("r1", "echo", vec![id], json::RawJson::empty_object()).unwrap();
        let mut host = HostSession::new(request);
        host.output(&output).unwrap();
        host.output_end().unwrap();
        let given = host.finish(Exit::Code(0)).unwrap();
        let given: serde_json::Value = serde_json::from_slice(&given.to_json()).unwrap();
        prop_assert_eq!(&given["results"][0]["data"], &serde_json::Value::from(text));
    }
}
