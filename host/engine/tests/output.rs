//! What a module may write: every refusal of its output with its own code and place, by real processes that use no SDK.

mod support;

use modberth_host::Exit;
use serde_json::{Value, json};
use support::{
    ROW, Scripted, code, exit, failure, hello, honest, honest_then, host, notes, plain, play, play_in,
    result, rows,
};

/// Plays a script that must fail with this code; gives the violation as JSON.
fn refused(script: &[Value], expected: &str) -> Value {
    let outcome = play(script);
    let document: Value = serde_json::from_str(&outcome.to_json()).unwrap();
    assert_eq!(document["failure"]["code"], expected, "{document}");
    assert_eq!(document["failure"]["blame"], "module", "{document}");
    document["failure"].clone()
}

/// Reads the request, then says hello and the given result frame.
fn answering(frame: &str) -> Vec<Value> {
    vec![json!({"read": true}), hello(), json!({"frame": frame})]
}

/// Reads the request, says hello and gives these rows.
fn rowing(rows: &str) -> Vec<Value> {
    vec![json!({"read": true}), hello(), result(rows)]
}

// P1-HOST-02, P1-HOST-03: exactly these two frames reach the module, then the end of its input.
#[test]
fn the_module_reads_exactly_hello_and_invoke() {
    let script = [json!({"show": true}), hello(), result(r#"{"target":"a/","data":null}"#)];
    let scripted = Scripted::new(&script);
    let invocation = modberth_host::Invocation::new(scripted.module.clone(), "typed")
        .targets(["é", " a "])
        .parameters(" {\"text\" : \"h\\u00e9\", \"count\":9} ");
    let outcome = host().invoke(invocation).wait();
    let input = outcome.process.as_ref().unwrap().stderr.kept.clone();
    let mut expected = Vec::new();
    for payload in [
        r#"{"version":1,"type":"hello","host_api":1}"#.to_owned(),
        format!(
            "{{\"version\":1,\"type\":\"invoke\",\"id\":\"{}\",\"action\":\"typed\",\"targets\":[\"é\",\" a \"],\
             \"parameters\":{{\"text\" : \"h\\u00e9\", \"count\":9}}}}",
            outcome.id
        ),
    ] {
        expected.extend((payload.len() as u32).to_be_bytes());
        expected.extend(payload.as_bytes());
    }
    assert_eq!(String::from_utf8_lossy(&input), String::from_utf8_lossy(&expected));
    assert!(
        outcome.id.len() == 32 && outcome.id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    );
}

#[test]
fn an_honest_module_is_accepted() {
    let outcome = play(&honest());
    assert_eq!(rows(&outcome), json!([{"target": "a", "data": 1}]));
    assert_eq!(exit(&outcome), Some(Exit::Status(0)));
    let process = outcome.process.unwrap();
    assert_eq!(process.confinement.is_confined(), support::confines());
    assert_eq!(process.stderr.bytes, 0);
}

// P1-FRAME-06
#[test]
fn output_byte_by_byte_is_the_same() {
    let script: Vec<Value> = [json!({"slow": true})].into_iter().chain(honest()).collect();
    assert_eq!(rows(&play(&script)), json!([{"target": "a", "data": 1}]));
}

// P1-HOST-04
#[test]
fn exactly_two_frames() {
    for (script, place) in
        [(vec![json!({"read": true})], 1), (vec![json!({"read": true}), hello()], 2), (vec![], 1)]
    {
        let failure = refused(&script, "frame.missing");
        assert_eq!(failure["frame"], place);
        assert_eq!((&failure["limit"], &failure["actual"]), (&json!(2), &json!(place - 1)));
    }
    assert_eq!(refused(&honest_then([hello()]), "frame.extra")["frame"], 3);
    assert_eq!(refused(&honest_then([json!({"text": "\n"})]), "frame.extra")["frame"], 3);
}

// P1-HOST-05: 65,536 bytes pass, one more fails, and the first 65,536 are kept.
#[test]
fn standard_error_is_bounded() {
    let outcome = play(&honest_then([json!({"stderr_fill": 65_536})]));
    assert_eq!(rows(&outcome), json!([{"target": "a", "data": 1}]));
    let stderr = outcome.process.unwrap().stderr;
    assert_eq!((stderr.kept.len(), stderr.bytes, stderr.is_cut()), (65_536, 65_536, false));

    let outcome = play(&honest_then([json!({"stderr": "first"}), json!({"stderr_fill": 65_532})]));
    assert_eq!(code(&outcome), "output.stderr_limit");
    assert_eq!(failure(&outcome).violation.limit, Some(65_536));
    assert_eq!(failure(&outcome).violation.actual, Some(65_537));
    let stderr = &outcome.process.as_ref().unwrap().stderr;
    assert_eq!((stderr.kept.len(), stderr.bytes, stderr.is_cut()), (65_536, 65_537, true));
    assert!(stderr.text().starts_with("firsteeee"));

    // A flood is cut off, not read to its end.
    let outcome = play(&[json!({"stderr_fill": 50_000_000}), json!({"hang": true})]);
    assert_eq!(code(&outcome), "output.stderr_limit");
    assert!(outcome.process.unwrap().stderr.bytes < 1_000_000);
}

// P1-HOST-06
#[test]
fn text_on_standard_output_is_no_frame() {
    let failure = refused(&[json!({"text": "Starting up...\n"}), json!({"hang": true})], "frame.too_large");
    assert_eq!(failure["frame"], 1);
    // P1-FRAME-02: judged on the four bytes of the header, "Star".
    assert_eq!((&failure["limit"], &failure["actual"]), (&json!(1_048_576), &json!(0x5374_6172)));
    refused(&[json!({"bytes": [0, 0, 0, 0]}), json!({"hang": true})], "frame.empty");
    refused(&[json!({"bytes": [0, 0, 0, 9]}), json!({"text": "{"})], "frame.truncated");
    refused(&[json!({"bytes": [0, 0]})], "frame.truncated");
    // One byte more than a frame holds, declared and sent.
    let failure = refused(&[json!({"bytes": [0, 16, 0, 1]}), json!({"fill": 1_048_577})], "frame.too_large");
    assert_eq!(failure["actual"], 1_048_577);
}

// P1-HOST-07
#[test]
fn the_hello_is_exact() {
    for frame in [
        r#"{"version":2,"type":"hello","protocol":1}"#,
        r#"{"version":1,"type":"hello","protocol":2}"#,
        r#"{"version":true,"type":"hello","protocol":1}"#,
        r#"{"version":1.0,"type":"hello","protocol":1}"#,
        r#"{"version":1,"type":"hello"}"#,
        r#"{"version":1,"type":"hello","protocol":1,"name":"x"}"#,
        r#"{"version":1,"type":"hello","host_api":1}"#,
    ] {
        let failure =
            refused(&[json!({"read": true}), json!({"frame": frame}), json!({"hang": true})], "output.hello");
        assert_eq!(failure["frame"], 1);
    }
    // P1-HOST-31: a result where the hello is due.
    let failure = refused(&[json!({"read": true}), result(ROW)], "output.type");
    assert_eq!((&failure["frame"], &failure["path"]), (&json!(1), &json!("type")));
}

// P1-HOST-08
#[test]
fn the_result_is_exact() {
    for (frame, expected) in [
        (r#"{"version":2,"type":"result","id":"$id","results":[]}"#, "output.version"),
        (r#"{"version":1.0,"type":"result","id":"$id","results":[]}"#, "output.version"),
        (r#"{"version":1,"type":"result","id":"$id "  ,"results":[]}"#, "output.id"),
        (r#"{"version":1,"type":"result","id":1,"results":[]}"#, "output.message"),
        (r#"{"version":1,"type":"result","id":"$id"}"#, "output.message"),
        (r#"{"version":1,"type":"result","id":"$id","results":[],"done":true}"#, "output.message"),
        (r#"{"version":1,"type":"result","id":"$id","results":{}}"#, "output.results_type"),
        (r#"{"version":1,"type":"result","id":"$id","results":[1]}"#, "output.results_type"),
    ] {
        assert_eq!(refused(&answering(frame), expected)["frame"], 2, "{frame}");
    }
}

// P1-HOST-09
#[test]
fn each_target_has_exactly_one_result() {
    let failure = refused(&rowing(""), "output.target_missing");
    assert_eq!((&failure["target"], &failure["frame"]), (&json!("a"), &json!(2)));
    let failure =
        refused(&rowing(r#"{"target":"a","data":1},{"target":"b","data":1}"#), "output.target_unknown");
    assert_eq!((&failure["target"], &failure["path"]), (&json!("b"), &json!("results[1]")));
    let failure = refused(&rowing(&format!("{ROW},{ROW}")), "output.target_duplicate");
    assert_eq!((&failure["target"], &failure["path"]), (&json!("a"), &json!("results[1]")));
    // Ids are opaque: another form of the same letter is another target.
    refused(&rowing(r#"{"target":"A","data":1}"#), "output.target_unknown");
}

// P1-HOST-10
#[test]
fn a_result_has_one_outcome() {
    for (row, expected) in [
        (r#"{"target":"a","data":1,"error":{"code":"x","message":""}}"#, "output.outcome_both"),
        (r#"{"target":"a"}"#, "output.outcome_missing"),
        (r#"{"target":"a","data":1,"note":""}"#, "output.result_fields"),
        (r#"{"data":1}"#, "output.result_fields"),
        (r#"{"target":7,"data":1}"#, "output.result_fields"),
    ] {
        assert_eq!(refused(&rowing(row), expected)["path"], "results[0]", "{row}");
    }
}

// P1-HOST-11
#[test]
fn a_target_error_is_bounded() {
    let row = |code: &str, message: &str| {
        json!({"target": "a", "error": {"code": code, "message": message}}).to_string()
    };
    let longest = format!("a{}", "b".repeat(95));
    // P1-HOST-24: an error of a target is a valid result.
    let outcome = play(&rowing(&row(&longest, &"é".repeat(1_024))));
    assert_eq!(rows(&outcome)[0]["error"]["code"], longest);
    let failure = refused(&rowing(&row("x", &"é".repeat(1_025))), "output.error_message");
    assert_eq!((&failure["limit"], &failure["actual"]), (&json!(1_024), &json!(1_025)));
    for code in ["Not found", "", "1a", &format!("a{}", "b".repeat(96))] {
        assert_eq!(refused(&rowing(&row(code, "")), "output.error_code")["target"], "a");
    }
    for error in
        [r#"{"code":"x"}"#, r#"{"code":"x","message":"","more":1}"#, r#"{"code":1,"message":""}"#, "\"x\""]
    {
        refused(&rowing(&format!(r#"{{"target":"a","error":{error}}}"#)), "output.error_fields");
    }
}

// P1-HOST-12
#[test]
fn results_come_in_request_order() {
    let ids: Vec<String> = (0..64).map(|number| format!("t{number}")).collect();
    let reversed: Vec<String> =
        ids.iter().rev().map(|id| format!(r#"{{"target":"{id}","data":"{id}"}}"#)).collect();
    let scripted = Scripted::new(&rowing(&reversed.join(",")));
    let invocation = modberth_host::Invocation::new(scripted.module.clone(), "play").targets(&ids);
    let outcome = host().invoke(invocation).wait();
    let expected: Vec<Value> = ids.iter().map(|id| json!({"target": id, "data": id})).collect();
    assert_eq!(rows(&outcome), Value::from(expected));
}

// P1-HOST-17 to P1-HOST-22 and P1-HOST-35, each by a real frame.
#[test]
fn output_is_strict_json() {
    let data = |text: &str| format!(r#"{{"target":"a","data":{text}}}"#);
    let long_list = format!("[{}1]", "1,".repeat(256));
    let long_name = format!(r#"{{"{}":1}}"#, "n".repeat(241));
    let long_text = format!("\"{}\"", "é".repeat(65_537));
    // Data stands at depth 3, so ten lists put the innermost value at depth 13.
    let deep = format!("{}1{}", "[".repeat(10), "]".repeat(10));
    for (text, expected) in [
        (r#"{"x":1,"\u0078":2}"#, "json.duplicate_key"),
        (r#""a\u0000b""#, "json.nul"),
        ("NaN", "json.syntax"),
        ("1e999", "json.nonfinite"),
        ("9007199254740992", "json.integer_range"),
        ("-9007199254740992", "json.integer_range"),
        (&deep, "json.depth"),
        (r#""\ud800""#, "json.surrogate"),
        ("01", "json.number"),
        ("\"\t\"", "json.control"),
        (r#""\x""#, "json.escape"),
        (&long_list, "json.entries"),
        (&long_name, "json.name_length"),
        (&long_text, "json.string_length"),
        (r#"{"$serde_json::private::Number":"1"}"#, "json.reserved_key"),
    ] {
        let failure = refused(&rowing(&data(text)), expected);
        assert_eq!(failure["frame"], 2);
        assert!(failure["offset"].as_u64().unwrap() > 40, "{failure}");
    }
    for text in ["9007199254740991", "-9007199254740991", "1e20", &deep[1..deep.len() - 1]] {
        assert!(play(&rowing(&data(text))).results().is_some(), "{text}");
    }
    refused(&answering("[]"), "json.not_object");
    refused(&answering("\u{feff}{}"), "json.not_object");
    refused(&answering("{} x"), "json.trailing");
    refused(&answering("{"), "json.truncated");
    refused(&[json!({"read": true}), hello(), json!({"bytes": [0, 0, 0, 4, 123, 34, 255, 34]})], "json.utf8");
    // 100,000 levels are refused like 13.
    refused(&answering(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), "json.not_object");
    let levels = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    refused(&answering(&levels), "json.depth");
}

// P1-HOST-31
#[test]
fn no_invented_frames() {
    for kind in ["broker", "stream", "subscribe", "cancel", "hello", "ui-code"] {
        let frame = format!(r#"{{"version":1,"type":"{kind}","id":"$id","results":[]}}"#);
        let failure = refused(&answering(&frame), "output.type");
        assert_eq!((&failure["frame"], &failure["path"]), (&json!(2), &json!("type")));
    }
}

// P1-HOST-23
#[test]
fn exit_status_and_signal_fail_a_perfect_answer() {
    let outcome = play(&honest_then([json!({"exit": 3})]));
    assert_eq!(code(&outcome), "process.exit_status");
    assert_eq!(failure(&outcome).violation.actual, Some(3));
    assert_eq!(exit(&outcome), Some(Exit::Status(3)));
    // The first process of a namespace is deaf to its own signals, so these are sent without one.
    for signal in [6, 8, 9, 15] {
        let outcome = play_in(plain(), &honest_then([json!({"signal": signal})]));
        assert_eq!(code(&outcome), "process.signal");
        assert_eq!(failure(&outcome).violation.actual, Some(signal));
        assert_eq!(exit(&outcome), Some(Exit::Signal(i32::try_from(signal).unwrap())));
    }
    // A real crash is told everywhere. Which signal it is differs: the first process of a namespace is deaf to SIGABRT.
    let outcome = play(&honest_then([json!({"abort": true})]));
    assert_eq!(code(&outcome), "process.signal");
    assert!(matches!(exit(&outcome), Some(Exit::Signal(4 | 5 | 6 | 11))), "{:?}", exit(&outcome));
}

// P1-HOST-23: a crash is told as a crash; that output is missing then is a note.
#[test]
fn a_crash_explains_missing_output() {
    let outcome = play(&[json!({"stderr": "Traceback: boom\n"}), json!({"exit": 1})]);
    assert_eq!(code(&outcome), "process.exit_status");
    assert_eq!(notes(&outcome), ["frame.missing"]);
    assert_eq!(outcome.process.unwrap().stderr.text(), "Traceback: boom\n");
}

// P1-HOST-34: data is passed on byte for byte, of any size that fits.
#[test]
fn a_million_bytes_are_ordinary() {
    let text = "x".repeat(65_000);
    let data = format!("[{}\"\"]", format!("\"{text}\",").repeat(16));
    assert!(data.len() > 1_000_000);
    let outcome = play(&rowing(&format!(r#"{{"target":"a","data": {data} }}"#)));
    let results = outcome.results().unwrap();
    assert_eq!(results.results.len(), 1);
    assert!(outcome.to_json().contains(&data));
}
