//! The host's end of protocol 1 against modules that do right and wrong.

use modberth_protocol::frame::{encode, encode_into};
use modberth_protocol::json::RawJson;
use modberth_protocol::process::{Exit, Failure, HostSession, Outcome, Request, Results};
use modberth_protocol::{Blame, Code, Violation};
use proptest::collection::vec;
use proptest::prelude::*;

const HELLO: &str = r#"{"version":1,"type":"hello","protocol":1}"#;

fn session(targets: &[&str]) -> HostSession {
    let targets = targets.iter().map(|target| (*target).to_owned()).collect();
    HostSession::new(Request::new("r1", "echo", targets, RawJson::empty_object()).unwrap())
}

fn frames(payloads: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for payload in payloads {
        encode_into(payload.as_bytes(), &mut bytes).unwrap();
    }
    bytes
}

fn result(rows: &str) -> String {
    format!(r#"{{"version":1,"type":"result","id":"r1","results":{rows}}}"#)
}

/// The whole of what a module writes, and a clean exit.
fn run(targets: &[&str], output: &[u8]) -> Result<Results, Failure> {
    let mut session = session(targets);
    let _ = session.output(output);
    session.finish(Exit::Code(0))
}

fn refuse(targets: &[&str], output: &[u8]) -> Violation {
    let failure = run(targets, output).unwrap_err();
    assert!(failure.notes.is_empty(), "{failure:?}");
    assert_eq!(failure.violation.blame, Blame::Module);
    failure.violation
}

/// Code, frame and path of what is wrong with a hello, and with rows for the targets a and b.
fn hello(payload: &str) -> (Code, Option<u32>, String) {
    place(refuse(&["a", "b"], &frames(&[payload])))
}

fn rows(rows: &str) -> (Code, Option<u32>, String) {
    place(refuse(&["a", "b"], &frames(&[HELLO, &result(rows)])))
}

fn place(violation: Violation) -> (Code, Option<u32>, String) {
    (violation.code, violation.place.frame, violation.place.path.unwrap_or_default())
}

fn at(code: Code, frame: u32, path: &str) -> (Code, Option<u32>, String) {
    (code, Some(frame), path.to_owned())
}

const GOOD: &str = r#"[{"target":"a","data":1},{"target":"b","data":2}]"#;

/// P1-HOST-12, P1-HOST-24: results come in request order, data unchanged to the byte, errors beside it.
#[test]
fn results_are_given_in_request_order_and_data_passes_unchanged() {
    let data = r#"{ "n":1.50, "e":1E+2, "u":"\u00e9\/", "z":-0 }"#;
    let output = result(&format!(
        r#"[{{"error":{{"message":"no such","code":"not_found"}},"target":"b"}},{{"target":"\u0061","data":{data}}},{{"target":"c","data":null}}]"#
    ));
    let results = run(&["a", "b", "c"], &frames(&[HELLO, &output])).unwrap();
    assert_eq!(results.results.iter().map(|row| row.target.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(!results.all_data());
    assert_eq!(
        String::from_utf8(results.to_json()).unwrap(),
        format!(
            r#"{{"version":1,"id":"r1","results":[{{"target":"a","data":{data}}},{{"target":"b","error":{{"code":"not_found","message":"no such"}}}},{{"target":"c","data":null}}]}}"#
        )
    );
    let Outcome::Data(raw) = &results.results[0].outcome else { panic!("{results:?}") };
    assert_eq!(raw.as_str(), data);
    let value = serde_json::to_value(&results).unwrap();
    assert_eq!(value["results"][1]["error"]["code"], "not_found");
    assert_eq!(value["results"][0]["data"]["n"], 1.5);
}

/// P1-HOST-04: a missing frame, a third one, and any byte after the second.
#[test]
fn exactly_two_frames_are_accepted() {
    let whole = frames(&[HELLO, &result(GOOD)]);
    assert!(run(&["a", "b"], &whole).is_ok());
    for (output, frame, actual) in [(vec![], 1, 0), (frames(&[HELLO]), 2, 1)] {
        let violation = refuse(&["a", "b"], &output);
        assert_eq!(
            (violation.code, violation.limit, violation.actual),
            (Code::FrameMissing, Some(2), Some(actual))
        );
        assert_eq!(violation.place.frame, Some(frame));
    }
    // An author who forgot the call writes no frames; the SDK would have.
    let silent = session(&["a"]).finish(Exit::Code(0)).unwrap_err().violation;
    assert!(silent.message.contains("without an answer"), "{silent}");
    assert!(silent.remedy().contains("run()"), "{}", silent.remedy());
    let half = refuse(&["a", "b"], &frames(&[HELLO]));
    assert_eq!(half.remedy(), Code::FrameMissing.remedy());
    for tail in [&b"\n"[..], b"\0", b"bye", &encode(b"{}").unwrap()] {
        let violation = refuse(&["a", "b"], &[&whole, tail].concat());
        assert_eq!((violation.code, violation.place.frame), (Code::FrameExtra, Some(3)));
    }
}

/// P1-FRAME-05, P1-HOST-23
#[test]
fn output_cut_short_anywhere_is_refused() {
    let whole = frames(&[HELLO, &result(GOOD)]);
    let first = frames(&[HELLO]).len();
    for cut in 0..whole.len() {
        let violation = refuse(&["a", "b"], &whole[..cut]);
        let expected = if cut == 0 || cut == first { Code::FrameMissing } else { Code::FrameTruncated };
        assert_eq!(violation.code, expected, "cut at {cut}");
        assert_eq!(violation.place.frame, Some(if cut < first { 1 } else { 2 }));
    }
}

/// P1-HOST-06, P1-FRAME-02
#[test]
fn output_that_is_no_frame_is_refused_at_once() {
    let mut session = session(&["a"]);
    session.output(b"Sta").unwrap();
    let violation = session.output(b"r").unwrap_err();
    assert_eq!(
        (violation.code, violation.limit, violation.place.frame),
        (Code::FrameTooLarge, Some(1_048_576), Some(1))
    );
    assert_eq!(session.violations(), std::slice::from_ref(&violation));
    assert_eq!(session.output(b"ting up"), Err(violation.clone()));
    assert_eq!(session.finish(Exit::Code(0)).unwrap_err(), Failure::from(violation));
    assert_eq!(refuse(&["a"], b"\0\0\0\0").code, Code::FrameEmpty);
}

/// P1-HOST-07
#[test]
fn the_hello_is_exact() {
    for payload in [
        r#"{"version":2,"type":"hello","protocol":1}"#,
        r#"{"version":1.0,"type":"hello","protocol":1}"#,
        r#"{"version":true,"type":"hello","protocol":1}"#,
        r#"{"version":"1","type":"hello","protocol":1}"#,
    ] {
        assert_eq!(hello(payload), at(Code::OutputHello, 1, "version"), "{payload}");
    }
    for protocol in ["2", "1.0", "true", "\"1\"", "null", "[1]", "1e0"] {
        let payload = format!(r#"{{"version":1,"type":"hello","protocol":{protocol}}}"#);
        assert_eq!(hello(&payload), at(Code::OutputHello, 1, "protocol"), "{payload}");
    }
    for payload in [
        r#"{"version":1,"type":"hello"}"#,
        r#"{"version":1,"protocol":1}"#,
        r#"{"version":1,"type":"hello","protocol":1,"host_api":1}"#,
        r#"{}"#,
    ] {
        assert_eq!(hello(payload), at(Code::OutputHello, 1, ""), "{payload}");
    }
    assert_eq!(hello(r#"{"version":1,"type":1,"protocol":1}"#), at(Code::OutputHello, 1, "type"));
    assert_eq!(hello("[]"), at(Code::JsonNotObject, 1, ""));
}

/// P1-HOST-31
#[test]
fn invented_frames_are_refused() {
    assert_eq!(hello(&result(GOOD)), at(Code::OutputType, 1, "type"));
    for kind in ["hello", "broker", "stream", "event", "subscribe", "cancel", "Result", ""] {
        let payload = format!(r#"{{"version":1,"type":"{kind}","id":"r1","results":{GOOD}}}"#);
        let violation = refuse(&["a", "b"], &frames(&[HELLO, &payload]));
        assert_eq!(place(violation), at(Code::OutputType, 2, "type"));
    }
    let broker = r#"{"version":1,"type":"broker","id":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","invocation_id":"r1","primitive":"system.resources.read","targets":["a"],"parameters":{}}"#;
    assert_eq!(place(refuse(&["a", "b"], &frames(&[HELLO, broker]))), at(Code::OutputType, 2, "type"));
}

/// P1-HOST-08
#[test]
fn the_result_is_exact() {
    let refuse = |payload: &str| place(refuse(&["a", "b"], &frames(&[HELLO, payload])));
    for id in ["r2", "", "R1", "r1 ", "\\u0072\\u0031\\u0031"] {
        let payload = format!(r#"{{"version":1,"type":"result","id":"{id}","results":{GOOD}}}"#);
        assert_eq!(refuse(&payload), at(Code::OutputId, 2, "id"), "{id}");
    }
    for version in ["2", "0", "1.0", "true", "\"1\"", "null"] {
        let payload = format!(r#"{{"version":{version},"type":"result","id":"r1","results":{GOOD}}}"#);
        assert_eq!(refuse(&payload), at(Code::OutputVersion, 2, "version"), "{version}");
    }
    for (payload, path) in [
        (format!(r#"{{"version":1,"type":"result","results":{GOOD}}}"#), ""),
        (format!(r#"{{"version":1,"id":"r1","results":{GOOD}}}"#), ""),
        (r#"{"version":1,"type":"result","id":"r1"}"#.to_owned(), ""),
        (format!(r#"{{"version":1,"type":"result","id":"r1","results":{GOOD},"more":1}}"#), ""),
        (format!(r#"{{"version":1,"type":"result","id":1,"results":{GOOD}}}"#), "id"),
        (format!(r#"{{"version":1,"type":null,"id":"r1","results":{GOOD}}}"#), "type"),
    ] {
        assert_eq!(refuse(&payload), at(Code::OutputMessage, 2, path), "{payload}");
    }
    // The same id in another spelling is the same id.
    let payload = format!(r#"{{"version":1,"type":"result","id":"\u00721","results":{GOOD}}}"#);
    assert!(run(&["a", "b"], &frames(&[HELLO, &payload])).is_ok());
}

/// P1-HOST-09
#[test]
fn each_target_has_exactly_one_result() {
    for none in ["{}", "null", "\"a\"", "1"] {
        assert_eq!(rows(none), at(Code::OutputResultsType, 2, "results"));
    }
    assert_eq!(rows("[1]"), at(Code::OutputResultsType, 2, "results[0]"));
    assert_eq!(rows(r#"[{"target":"a","data":1},[]]"#), at(Code::OutputResultsType, 2, "results[1]"));
    assert_eq!(rows("[]"), at(Code::OutputTargetMissing, 2, "results"));
    assert_eq!(rows(r#"[{"target":"a","data":1}]"#), at(Code::OutputTargetMissing, 2, "results"));
    assert_eq!(
        rows(r#"[{"target":"a","data":1},{"target":"a ","data":1}]"#),
        at(Code::OutputTargetUnknown, 2, "results[1]")
    );
    assert_eq!(
        rows(r#"[{"target":"a","data":1},{"target":"\u0061","data":1}]"#),
        at(Code::OutputTargetDuplicate, 2, "results[1]")
    );
    let violation = refuse(&["x", "y"], &frames(&[HELLO, &result(r#"[{"target":"y","data":1}]"#)]));
    assert_eq!((violation.code, violation.place.target.as_deref()), (Code::OutputTargetMissing, Some("x")));
    let violation = refuse(&["x"], &frames(&[HELLO, &result(r#"[{"target":"stranger","data":1}]"#)]));
    assert_eq!(violation.place.target.as_deref(), Some("stranger"));
}

/// P1-HOST-14: ids are told apart to the code point.
#[test]
fn ids_that_only_look_alike_are_distinct() {
    let ids = ["\u{e9}", "e\u{301}", "A", "a", " a", "__proto__", "b\nc"];
    let row = |id: &str| serde_json::json!({"target": id, "data": id});
    let reversed: Vec<_> = ids.iter().rev().map(|id| row(id)).collect();
    let results =
        run(&ids, &frames(&[HELLO, &result(&serde_json::Value::from(reversed).to_string())])).unwrap();
    for (id, row) in ids.iter().zip(&results.results) {
        let Outcome::Data(data) = &row.outcome else { panic!("{row:?}") };
        assert_eq!((row.target.as_str(), &*data.raw().as_str().unwrap()), (*id, *id));
    }
    let swapped = r#"[{"target":"é","data":1}]"#;
    assert_eq!(refuse(&["e\u{301}"], &frames(&[HELLO, &result(swapped)])).code, Code::OutputTargetUnknown);
}

/// P1-HOST-10
#[test]
fn a_result_has_data_or_error_and_nothing_else() {
    let one = |row: &str| {
        let violation = refuse(&["a"], &frames(&[HELLO, &result(&format!("[{row}]"))]));
        (violation.code, violation.place.path.unwrap(), violation.place.target.unwrap_or_default())
    };
    let expect = |code, target: &str| (code, "results[0]".to_owned(), target.to_owned());
    assert_eq!(one(r#"{"data":1}"#), expect(Code::OutputResultFields, ""));
    assert_eq!(one(r#"{"target":1,"data":1}"#), expect(Code::OutputResultFields, ""));
    assert_eq!(one(r#"{"target":"a","data":1,"x":1}"#), expect(Code::OutputResultFields, "a"));
    assert_eq!(
        one(r#"{"target":"a","data":1,"error":{"code":"x","message":""}}"#),
        expect(Code::OutputOutcomeBoth, "a")
    );
    assert_eq!(one(r#"{"target":"a"}"#), expect(Code::OutputOutcomeMissing, "a"));
}

/// P1-HOST-11
#[test]
fn an_error_is_exactly_an_identifier_and_a_bounded_message() {
    let error = |error: &str| {
        let output = frames(&[HELLO, &result(&format!(r#"[{{"target":"a","error":{error}}}]"#))]);
        run(&["a"], &output).map_err(|failure| failure.violation)
    };
    for message in ["", "plain", &"é".repeat(1024), &"😀".repeat(1024), "\\u0001\\n"] {
        assert!(error(&format!(r#"{{"code":"a","message":"{message}"}}"#)).is_ok());
    }
    assert!(error(&format!(r#"{{"code":"{}","message":"x"}}"#, "a".repeat(96))).is_ok());
    for code in ["", "A", "Not Found", "9", "a b", &"a".repeat(97)] {
        let violation = error(&format!(r#"{{"code":"{code}","message":"x"}}"#)).unwrap_err();
        assert_eq!(violation.code, Code::OutputErrorCode, "{code}");
        assert_eq!(violation.place.path.as_deref(), Some("results[0].error.code"));
        assert_eq!(violation.place.target.as_deref(), Some("a"));
    }
    for unit in ["x", "é", "😀", "\\n"] {
        let violation = error(&format!(r#"{{"code":"a","message":"{}"}}"#, unit.repeat(1025))).unwrap_err();
        assert_eq!(
            (violation.code, violation.limit, violation.actual),
            (Code::OutputErrorMessage, Some(1024), Some(1025))
        );
        assert_eq!(violation.place.path.as_deref(), Some("results[0].error.message"));
    }
    for fields in [
        "null",
        "\"x\"",
        "{}",
        r#"{"code":"a"}"#,
        r#"{"message":"x"}"#,
        r#"{"code":"a","message":"x","detail":1}"#,
        r#"{"code":1,"message":"x"}"#,
        r#"{"code":"a","message":null}"#,
    ] {
        let violation = error(fields).unwrap_err();
        assert_eq!(violation.code, Code::OutputErrorFields, "{fields}");
        assert_eq!(violation.place.path.as_deref(), Some("results[0].error"));
    }
}

/// P1-HOST-34: every payload is checked in full, whoever wrote it. P1-HOST-17 to P1-HOST-22, P1-HOST-35.
#[test]
fn data_is_held_to_the_strict_rules() {
    for (data, code, path) in [
        (r#"{"k":1,"k":2}"#, Code::JsonDuplicateKey, "results[0].data.k"),
        (r#""\u0000""#, Code::JsonNul, "results[0].data"),
        ("1e999", Code::JsonNonfinite, "results[0].data"),
        ("[9007199254740992]", Code::JsonIntegerRange, "results[0].data[0]"),
        (r#""\ud800""#, Code::JsonSurrogate, "results[0].data"),
        ("NaN", Code::JsonSyntax, "results[0].data"),
        ("[[[[[[[[[[1]]]]]]]]]]", Code::JsonDepth, "results[0].data[0][0][0][0][0][0][0][0][0][0]"),
    ] {
        let violation =
            refuse(&["a"], &frames(&[HELLO, &result(&format!(r#"[{{"target":"a","data":{data}}}]"#))]));
        assert_eq!(place(violation), at(code, 2, path), "{data}");
    }
    let deepest = r#"[{"target":"a","data":[[[[[[[[[1]]]]]]]]]}]"#;
    assert!(run(&["a"], &frames(&[HELLO, &result(deepest)])).is_ok());
    let mut bytes = frames(&[HELLO]);
    encode_into(b"{\"version\":\xff}", &mut bytes).unwrap();
    let violation = refuse(&["a"], &bytes);
    assert_eq!(
        (violation.code, violation.place.offset, violation.place.frame),
        (Code::JsonUtf8, Some(11), Some(2))
    );
}

/// P1-HOST-23: each way to fail has its own code, and the one that says most counts.
#[test]
fn the_most_telling_violation_counts() {
    let good = frames(&[HELLO, &result(GOOD)]);
    let finish = |output: &[u8], exit| {
        let mut session = session(&["a", "b"]);
        let _ = session.output(output);
        let failure = session.finish(exit).unwrap_err();
        let notes: Vec<_> = failure.notes.iter().map(|note| note.code).collect();
        (failure.violation.code, failure.violation.actual, notes)
    };
    // Perfect output does not excuse a bad end.
    assert_eq!(finish(&good, Exit::Code(3)), (Code::ProcessExitStatus, Some(3), vec![]));
    assert_eq!(finish(&good, Exit::Signal(9)), (Code::ProcessSignal, Some(9), vec![]));
    // A bad end explains output that is missing or cut short.
    assert_eq!(finish(b"", Exit::Code(1)), (Code::ProcessExitStatus, Some(1), vec![Code::FrameMissing]));
    assert_eq!(
        finish(&good[..20], Exit::Signal(11)),
        (Code::ProcessSignal, Some(11), vec![Code::FrameTruncated])
    );
    // What the module did wrong before counts more than its end.
    let (code, _, notes) = finish(&frames(&[HELLO, &result("[]")]), Exit::Code(1));
    assert_eq!((code, notes), (Code::OutputTargetMissing, vec![Code::ProcessExitStatus]));
    let (code, _, notes) = finish(&[&good[..], b"x"].concat(), Exit::Signal(15));
    assert_eq!((code, notes), (Code::FrameExtra, vec![Code::ProcessSignal]));
    let failure = Failure::from(Violation::new(Code::ProcessSignal, "Signal 9 ended the module."));
    assert_eq!(failure.to_string(), "process.signal: Signal 9 ended the module.");
}

/// P1-HOST-05
#[test]
fn standard_error_is_bounded() {
    let good = frames(&[HELLO, &result(GOOD)]);
    let mut full = session(&["a", "b"]);
    assert_eq!(full.stderr_room(), 65_536);
    full.stderr(65_535).unwrap();
    full.stderr(1).unwrap();
    assert_eq!(full.stderr_room(), 0);
    full.output(&good).unwrap();
    assert!(full.finish(Exit::Code(0)).is_ok());

    let mut over = session(&["a", "b"]);
    over.stderr(65_000).unwrap();
    let violation = over.stderr(537).unwrap_err();
    assert_eq!(
        (violation.code, violation.limit, violation.actual),
        (Code::OutputStderrLimit, Some(65_536), Some(65_537))
    );
    assert_eq!(over.stderr(1), Err(violation.clone()));
    // Output is still read and judged, and the first violation counts.
    over.output(&good).unwrap();
    over.output(b"x").unwrap_err();
    let failure = over.finish(Exit::Signal(9)).unwrap_err();
    assert_eq!(failure.violation, violation);
    assert_eq!(
        failure.notes.iter().map(|note| note.code).collect::<Vec<_>>(),
        [Code::FrameExtra, Code::ProcessSignal]
    );
}

/// P1-HOST-02: the end of output is judged when it comes, and once.
#[test]
fn the_end_of_output_is_judged_once() {
    let mut whole = session(&["a", "b"]);
    whole.output(&frames(&[HELLO, &result(GOOD)])).unwrap();
    assert_eq!(whole.output_end(), Ok(()));
    assert_eq!(whole.output_end(), Ok(()));
    assert!(whole.finish(Exit::Code(0)).is_ok());
    let mut short = session(&["a", "b"]);
    short.output(&frames(&[HELLO])).unwrap();
    let violation = short.output_end().unwrap_err();
    assert_eq!(violation.code, Code::FrameMissing);
    assert_eq!(short.output_end(), Err(violation));
    assert_eq!(short.finish(Exit::Code(0)).unwrap_err().violation.code, Code::FrameMissing);
}

#[test]
fn the_input_can_be_taken_away() {
    let mut session = session(&["a"]);
    let copy = session.input().to_vec();
    assert_eq!(session.take_input(), copy);
    assert!(session.input().is_empty());
    assert_eq!(session.request().targets(), ["a"]);
}

/// P1-FRAME-02: a result of a whole frame, all of it one target's.
#[test]
fn the_largest_frame_is_ordinary() {
    let mut payload =
        r#"{"version":1,"type":"result","id":"r1","results":[{"target":"a","data":["#.to_owned();
    while payload.len() + 60_010 < 1_048_576 - 4 {
        payload.push_str(&format!("\"{}\",", "x".repeat(60_000)));
    }
    let rest = 1_048_576 - payload.len() - 2 - 4;
    payload.push_str(&format!("\"{}\"]}}]}}", "x".repeat(rest)));
    assert_eq!(payload.len(), 1_048_576);
    let results = run(&["a"], &frames(&[HELLO, &payload])).unwrap();
    assert!(results.all_data());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// P1-FRAME-06: however output is cut into pieces, the verdict is the same.
    #[test]
    fn any_fragmentation_gives_the_same_verdict(
        edit in any::<(usize, u8)>(),
        spoil in any::<bool>(),
        tail in vec(any::<u8>(), 0..3),
        sizes in vec(1..50usize, 1..12),
        exit in prop_oneof![Just(Exit::Code(0)), Just(Exit::Code(1)), Just(Exit::Signal(9))],
    ) {
        let mut output = frames(&[HELLO, &result(GOOD)]);
        if spoil {
            let at = edit.0 % output.len();
            output[at] = edit.1;
        }
        output.extend(tail);
        let mut whole = session(&["a", "b"]);
        let seen = whole.output(&output);
        let mut pieces = session(&["a", "b"]);
        let (mut rest, mut sizes, mut last) = (&output[..], sizes.iter().cycle(), Ok(()));
        while !rest.is_empty() {
            let (piece, next) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            last = pieces.output(piece);
            rest = next;
        }
        // The message of an extra byte tells how many came at once.
        let code = |verdict: &Result<(), Violation>| verdict.as_ref().err().map(|violation| violation.code);
        prop_assert_eq!(code(&last), code(&seen));
        let verdict = |session: HostSession| session
            .finish(exit)
            .map_err(|failure| (failure.violation.code, failure.violation.place, failure.notes.len()));
        prop_assert_eq!(verdict(pieces), verdict(whole));
    }
}
