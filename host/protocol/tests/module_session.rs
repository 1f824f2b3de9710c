//! The module's end of protocol 1: what it refuses to read, and what it refuses to write.

use modberth_protocol::frame::{encode, encode_into};
use modberth_protocol::json::{Profile, Raw, RawJson, parse};
use modberth_protocol::process::{
    Exit, HostSession, ModuleSession, Request, TargetResult, check_error, check_results,
};
use modberth_protocol::{Blame, Code, Violation};

const HELLO: &str = r#"{"version":1,"type":"hello","host_api":1}"#;
const INVOKE: &str = r#"{"version":1,"type":"invoke","id":"request-id","action":"echo","targets":["target-a","target-b"],"parameters":{"message":"Hello"}}"#;

fn frames(payloads: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for payload in payloads {
        encode_into(payload.as_bytes(), &mut bytes).unwrap();
    }
    bytes
}

fn read(bytes: &[u8]) -> Result<Request, Violation> {
    let mut session = ModuleSession::new();
    session.input(bytes)?;
    session.end()
}

fn refuse(bytes: &[u8]) -> Violation {
    let violation = read(bytes).unwrap_err();
    assert_eq!(violation.blame, Blame::Host);
    violation
}

fn place(violation: Violation) -> (Code, Option<u32>, String) {
    (violation.code, violation.place.frame, violation.place.path.unwrap_or_default())
}

fn at(code: Code, frame: u32, path: &str) -> (Code, Option<u32>, String) {
    (code, Some(frame), path.to_owned())
}

/// What is wrong with an invoke message, one field of which is replaced.
fn invoke(field: &str, value: &str) -> (Code, Option<u32>, String) {
    let mut message: Vec<(&str, &str)> = vec![
        ("version", "1"),
        ("type", "\"invoke\""),
        ("id", "\"r\""),
        ("action", "\"echo\""),
        ("targets", "[\"a\"]"),
        ("parameters", "{}"),
    ];
    match message.iter_mut().find(|(name, _)| *name == field) {
        Some(known) => known.1 = value,
        None => message.push((field, value)),
    }
    let members: Vec<_> = message
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    place(refuse(&frames(&[HELLO, &format!("{{{}}}", members.join(","))])))
}

/// P1-HOST-03, P1-SDK-01
#[test]
fn the_frames_of_the_reference_text_are_read() {
    let request = read(&frames(&[HELLO, INVOKE])).unwrap();
    assert_eq!((request.id(), request.action()), ("request-id", "echo"));
    assert_eq!(request.targets(), ["target-a", "target-b"]);
    assert_eq!(request.parameters().as_str(), r#"{"message":"Hello"}"#);
    let output = request
        .respond(&[
            TargetResult::data("target-a", data(r#"{"message":"Hello","index":0}"#)),
            TargetResult::data("target-b", data(r#"{"message":"Hello","index":1}"#)),
        ])
        .unwrap();
    // The bytes that the reference text shows.
    assert_eq!(
        output,
        frames(&[
            r#"{"version":1,"type":"hello","protocol":1}"#,
            r#"{"version":1,"type":"result","id":"request-id","results":[{"target":"target-a","data":{"message":"Hello","index":0}},{"target":"target-b","data":{"message":"Hello","index":1}}]}"#
        ])
    );
}

/// P1-FRAME-06
#[test]
fn input_in_single_bytes_reads_the_same() {
    let bytes = frames(&[HELLO, INVOKE]);
    let mut session = ModuleSession::new();
    for byte in bytes.chunks(1) {
        session.input(byte).unwrap();
    }
    assert_eq!(session.end(), read(&bytes));
}

/// P1-SDK-01
#[test]
fn incomplete_input_and_extra_frames_are_refused() {
    let whole = frames(&[HELLO, INVOKE]);
    let first = frames(&[HELLO]).len();
    for cut in 0..whole.len() {
        let expected = if cut == 0 || cut == first { Code::FrameMissing } else { Code::FrameTruncated };
        assert_eq!(refuse(&whole[..cut]).code, expected, "cut at {cut}");
    }
    assert_eq!(refuse(&whole[..first]).place.frame, Some(2));
    for tail in [&b"\n"[..], &encode(b"{}").unwrap()] {
        let violation = refuse(&[&whole, tail].concat());
        assert_eq!((violation.code, violation.place.frame), (Code::FrameExtra, Some(3)));
    }
    assert_eq!(refuse(b"\0\0\0\0").code, Code::FrameEmpty);
    assert_eq!(refuse(b"\0\x10\0\x01").code, Code::FrameTooLarge);
    let mut session = ModuleSession::new();
    let violation = session.input(b"\0\0\0\0").unwrap_err();
    assert_eq!(session.input(b"more"), Err(violation.clone()));
    assert_eq!(session.end(), Err(violation));
}

/// P1-SDK-01: versions and fields of the hello, version before host_api.
#[test]
fn the_hello_is_exact() {
    let hello = |payload: &str| place(refuse(&frames(&[payload])));
    for version in ["2", "0", "-1", "1.0", "true", "\"1\"", "null"] {
        let payload = format!(r#"{{"version":{version},"type":"hello","host_api":2}}"#);
        assert_eq!(hello(&payload), at(Code::RequestVersion, 1, "version"), "{version}");
    }
    for api in ["2", "1.0", "true", "\"1\""] {
        let payload = format!(r#"{{"version":1,"type":"hello","host_api":{api}}}"#);
        assert_eq!(hello(&payload), at(Code::RequestHostApi, 1, "host_api"), "{api}");
    }
    for payload in [
        r#"{"version":1,"type":"hello"}"#,
        r#"{"type":"hello","host_api":1}"#,
        r#"{"version":1,"type":"hello","host_api":1,"x":1}"#,
        INVOKE,
    ] {
        assert_eq!(hello(payload), at(Code::RequestMessage, 1, ""), "{payload}");
    }
    assert_eq!(hello(r#"{"version":1,"type":"hallo","host_api":1}"#), at(Code::RequestMessage, 1, "type"));
    assert_eq!(hello("[]"), at(Code::JsonNotObject, 1, ""));
}

/// P1-SDK-01, P1-SDK-02
#[test]
fn the_invoke_message_is_exact() {
    for version in ["2", "1.0", "true"] {
        assert_eq!(invoke("version", version), at(Code::RequestVersion, 2, "version"));
    }
    assert_eq!(invoke("type", "\"hello\""), at(Code::RequestMessage, 2, "type"));
    for field in ["version", "type", "id", "action", "targets", "parameters"] {
        assert_eq!(invoke(field, ""), at(Code::RequestMessage, 2, ""), "without {field}");
    }
    assert_eq!(invoke("extra", "1"), at(Code::RequestMessage, 2, ""));
    let long = format!("\"{}\"", "é".repeat(129));
    for id in ["\"\"", "1", "null", &long] {
        assert_eq!(invoke("id", id), at(Code::RequestId, 2, "id"), "{id}");
    }
    for action in ["\"\"", "\"Echo\"", "1", "null"] {
        assert_eq!(invoke("action", action), at(Code::RequestMessage, 2, "action"), "{action}");
    }
    for parameters in ["[]", "null", "\"x\"", "1"] {
        assert_eq!(invoke("parameters", parameters), at(Code::RequestParametersType, 2, "parameters"));
    }
    assert_eq!(invoke("parameters", "{\"a\":1,\"a\":2}"), at(Code::JsonDuplicateKey, 2, "parameters.a"));
}

/// P1-SDK-02
#[test]
fn bad_batches_are_refused() {
    let many = format!("[{}]", (0..65).map(|index| format!("\"t{index}\"")).collect::<Vec<_>>().join(","));
    let long = format!("[\"ok\",\"{}\"]", "😀".repeat(129));
    for (targets, code, path) in [
        ("{}", Code::RequestMessage, "targets"),
        ("\"a\"", Code::RequestMessage, "targets"),
        ("[]", Code::RequestTargetCount, "targets"),
        (many.as_str(), Code::RequestTargetCount, "targets"),
        ("[\"a\",1]", Code::RequestTargetType, "targets[1]"),
        ("[null]", Code::RequestTargetType, "targets[0]"),
        ("[\"\"]", Code::RequestTargetLength, "targets[0]"),
        (long.as_str(), Code::RequestTargetLength, "targets[1]"),
        ("[\"a/b\"]", Code::RequestTargetCharacter, "targets[0]"),
        (r#"["a\\b"]"#, Code::RequestTargetCharacter, "targets[0]"),
        ("[\"a:b\"]", Code::RequestTargetCharacter, "targets[0]"),
        (r#"["a","\u0061"]"#, Code::RequestTargetDuplicate, "targets[1]"),
        // Target by target, the first fault wins.
        ("[\"a\",\"a\",1]", Code::RequestTargetDuplicate, "targets[1]"),
        (r#"["a\u0000"]"#, Code::JsonNul, "targets[0]"),
    ] {
        assert_eq!(invoke("targets", targets), at(code, 2, path), "{targets}");
    }
}

fn data(text: &str) -> RawJson {
    // Looser than any frame, so that `respond` has something to refuse.
    RawJson::new(text, &Profile { object_root: false, ..Profile::WIRE }).unwrap()
}

fn request(targets: &[&str]) -> Request {
    let targets = targets.iter().map(|target| (*target).to_owned()).collect();
    Request::new("r1", "echo", targets, RawJson::empty_object()).unwrap()
}

/// P1-SDK-05: results are held to the host's rules before a byte is written.
#[test]
fn results_are_checked_before_they_are_written() {
    let one = data("1");
    let respond = |rows: &[TargetResult]| {
        let violation = request(&["a", "b"]).respond(rows).unwrap_err();
        assert_eq!(violation.blame, Blame::Module);
        assert_eq!(violation.place.offset, None);
        let place = *violation.place;
        (violation.code, place.path.unwrap_or_default(), place.target.unwrap_or_default())
    };
    let expect = |code, path: &str, target: &str| (code, path.to_owned(), target.to_owned());
    let (a, b) = (TargetResult::data("a", one.clone()), TargetResult::data("b", one.clone()));
    assert_eq!(respond(&[]), expect(Code::OutputTargetMissing, "results", "a"));
    assert_eq!(respond(std::slice::from_ref(&a)), expect(Code::OutputTargetMissing, "results", "b"));
    assert_eq!(
        respond(&[a.clone(), TargetResult::data("c", one)]),
        expect(Code::OutputTargetUnknown, "results[1]", "c")
    );
    assert_eq!(respond(&[a.clone(), a.clone()]), expect(Code::OutputTargetDuplicate, "results[1]", "a"));
    assert_eq!(
        respond(&[a.clone(), TargetResult::error("b", "Not Found", "x")]),
        expect(Code::OutputErrorCode, "results[1].error.code", "b")
    );
    assert_eq!(
        respond(&[a.clone(), TargetResult::error("b", "x", "é".repeat(1025))]),
        expect(Code::OutputErrorMessage, "results[1].error.message", "b")
    );
    // Values are judged after the rows.
    assert_eq!(
        respond(&[b.clone(), TargetResult::error("a", "x", "nul \0")]),
        expect(Code::JsonNul, "results[1].error.message", "a")
    );
    let deep = data("[[[[[[[[[[1]]]]]]]]]]");
    assert_eq!(
        respond(&[b.clone(), TargetResult::data("a", deep)]),
        expect(Code::JsonDepth, "results[1].data[0][0][0][0][0][0][0][0][0][0]", "a")
    );
    let wide = data(&format!("[{}]", vec!["0"; 257].join(",")));
    assert_eq!(
        respond(&[b.clone(), TargetResult::data("a", wide)]),
        expect(Code::JsonEntries, "results[1].data[256]", "a")
    );
    let large = data(&format!("[{}]", vec![format!("\"{}\"", "x".repeat(60_000)); 64].join(",")));
    let violation = request(&["a", "b"]).respond(&[b, TargetResult::data("a", large)]).unwrap_err();
    assert_eq!(
        (violation.code, violation.place.frame, violation.limit),
        (Code::FrameTooLarge, Some(2), Some(1_048_576))
    );
}

/// P1-SDK-04, P1-HOST-12: any order is legal, and the host puts it right.
#[test]
fn what_a_module_writes_the_host_reads() {
    let sent = request(&["a", "b\nc", "😀"]);
    let mut host = HostSession::new(sent.clone());
    let got = read(host.input()).unwrap();
    assert_eq!(got, sent);
    let rows = [
        TargetResult::error("😀", "not_found", "\u{1}\"\u{2028}"),
        TargetResult::data("b\nc", data("\"\\u00e9\"")),
        TargetResult::data("a", data("null")),
    ];
    host.output(&got.respond(&rows).unwrap()).unwrap();
    let mut results = host.finish(Exit::Code(0)).unwrap().results;
    results.reverse();
    assert_eq!(results, rows);
}

/// P1-SDK-05: results of another make are judged by the same function, rows before values.
#[test]
fn results_of_another_make_are_judged_alike() {
    let text = r#"[{"target":"a","data":[1]},{"target":"b","data":2}]"#;
    let results = parse(text.as_bytes(), &Profile::PROCESS.below(1)).unwrap();
    let write = |out: &mut String| {
        out.push_str(text);
        Ok(())
    };
    assert!(request(&["a", "b"]).respond_with(results, write).is_ok());
    let violation = request(&["a"]).respond_with(results, write).unwrap_err();
    assert_eq!(violation.code, Code::OutputTargetUnknown);
    // What the writer adds is judged too, and its own refusal is passed on.
    let spoil = |out: &mut String| {
        out.push_str(r#"[{"target":"a","data":[1]},{"target":"b","data":9007199254740992}]"#);
        Ok(())
    };
    let violation = request(&["a", "b"]).respond_with(results, spoil).unwrap_err();
    assert_eq!((violation.code, violation.place.target.as_deref()), (Code::JsonIntegerRange, Some("b")));
    let refuse = |_: &mut String| Err(Violation::new(Code::OutputValue, "A function."));
    let violation = request(&["a", "b"]).respond_with(results, refuse).unwrap_err();
    assert_eq!(violation.code, Code::OutputValue);
}

#[test]
fn errors_can_be_checked_alone() {
    assert_eq!(check_error("not_found", ""), Ok(()));
    assert_eq!(check_error("not found", "").unwrap_err().code, Code::OutputErrorCode);
    assert_eq!(check_error("a", &"x".repeat(1025)).unwrap_err().actual, Some(1025));
    let results: Raw<'_> = parse(b"[]", &Profile::PROCESS.below(1)).unwrap();
    assert_eq!(check_results(results, &[]).unwrap(), vec![]);
}
