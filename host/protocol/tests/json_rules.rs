//! The rules of strict JSON one by one: code, place, limit and actual value.

use modberth_protocol::json::{Checker, Profile, RawJson, check};
use modberth_protocol::{Blame, Code, Violation};

fn refuse(document: impl AsRef<[u8]>) -> Violation {
    check(document.as_ref(), &Profile::PROCESS).expect_err(&String::from_utf8_lossy(document.as_ref()))
}

fn accept(document: impl AsRef<[u8]>) {
    assert_eq!(check(document.as_ref(), &Profile::PROCESS), Ok(()));
}

/// Code, byte offset and path.
fn place(document: impl AsRef<[u8]>) -> (Code, u64, String) {
    let violation = refuse(document);
    (violation.code, violation.place.offset.unwrap(), violation.place.path.unwrap_or_default())
}

fn at(code: Code, offset: u64, path: &str) -> (Code, u64, String) {
    (code, offset, path.to_owned())
}

/// P1-HOST-17
#[test]
fn duplicate_names_are_refused_at_every_depth_after_unescaping() {
    assert_eq!(place(r#"{"a":1,"a":2}"#), at(Code::JsonDuplicateKey, 7, "a"));
    assert_eq!(place(r#"{"a":1,"\u0061":2}"#), at(Code::JsonDuplicateKey, 7, "a"));
    assert_eq!(place(r#"{"x":{"y":[0,{"b":1,"b":2}]}}"#), at(Code::JsonDuplicateKey, 20, "x.y[1].b"));
    assert_eq!(place(r#"{"a b":1,"a b":2}"#), at(Code::JsonDuplicateKey, 9, r#"["a b"]"#));
    accept(r#"{"a":1,"A":2,"x":{"a":1}}"#);
    accept("{\"é\":1,\"e\u{301}\":2}");
    assert!(refuse(r#"{"a":1,"a":2}"#).message.contains("\"a\""));
}

/// P1-HOST-18
#[test]
fn nul_is_refused_raw_and_escaped_in_names_and_strings() {
    for (document, offset, path) in [
        ("{\"a\":\"x\0\"}", 7, "a"),
        (r#"{"a":"x\u0000"}"#, 7, "a"),
        ("{\"a\0\":1}", 3, ""),
        (r#"{"a\u0000":1}"#, 3, ""),
        (r#"{"a":[["\u0000"]]}"#, 8, "a[0][0]"),
    ] {
        assert_eq!(place(document), at(Code::JsonNul, offset, path), "{document:?}");
    }
    accept(r#"{"a":"\\u0000"}"#);
}

/// P1-HOST-19
#[test]
fn numbers_that_are_not_finite_are_refused() {
    assert_eq!(place(r#"{"a":1e999}"#), at(Code::JsonNonfinite, 5, "a"));
    assert_eq!(place(r#"{"a":[0,-1.8e308]}"#), at(Code::JsonNonfinite, 8, "a[1]"));
    assert_eq!(place(r#"{"a":NaN}"#), at(Code::JsonSyntax, 5, "a"));
    assert_eq!(place(r#"{"a":Infinity}"#), at(Code::JsonSyntax, 5, "a"));
    assert_eq!(place(r#"{"a":-Infinity}"#), at(Code::JsonNumber, 6, "a"));
    accept(r#"{"a":1.7976931348623157e308,"b":-1.7976931348623157e308,"c":1e-999,"d":5e-324}"#);
}

/// P1-HOST-20: both end values pass, and a number with an exponent is no integer.
#[test]
fn integers_outside_the_exact_range_are_refused_at_every_depth() {
    accept(r#"{"a":9007199254740991,"b":-9007199254740991,"c":[[{"d":9007199254740991}]],"e":-0}"#);
    accept(r#"{"a":1e20,"b":9007199254740993.0}"#);
    let violation = refuse(r#"{"a":9007199254740992}"#);
    assert_eq!(violation.code, Code::JsonIntegerRange);
    assert_eq!(
        (violation.limit, violation.actual),
        (Some(9_007_199_254_740_991), Some(9_007_199_254_740_992))
    );
    assert_eq!(place(r#"{"a":[[-9007199254740992]]}"#), at(Code::JsonIntegerRange, 7, "a[0][0]"));
    assert_eq!(place(r#"{"a":100000000000000000000}"#), at(Code::JsonIntegerRange, 5, "a"));
    assert_eq!(refuse(r#"{"a":100000000000000000000}"#).actual, None);
}

/// P1-HOST-21: the root is depth 0, and a value at depth 13 is refused.
#[test]
fn a_value_at_depth_13_is_refused() {
    let nested = |levels: usize, core: &str| {
        format!("{{\"a\":{}{core}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1))
    };
    accept(nested(12, "1"));
    accept(nested(12, "[]"));
    let violation = refuse(nested(13, "1"));
    assert_eq!((violation.code, violation.limit, violation.actual), (Code::JsonDepth, Some(12), Some(13)));
    assert_eq!(violation.place.path.unwrap(), format!("a{}", "[0]".repeat(12)));
    assert_eq!(refuse(nested(13, "{}")).code, Code::JsonDepth);
    // Data stands at depth 3 of its frame.
    assert_eq!(Profile::PROCESS.below(3).max_depth, 9);
    assert!(RawJson::new(nested(9, "1"), &Profile::PROCESS.below(3)).is_ok());
    assert!(RawJson::new(nested(10, "1"), &Profile::PROCESS.below(3)).is_err());
}

/// P1-HOST-21: 100,000 levels are refused like 13, on a stack of 64 KiB.
#[test]
fn a_hundred_thousand_levels_need_no_stack() {
    let small = std::thread::Builder::new().stack_size(64 * 1024).spawn(|| {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[", ""), ("{\"a\":[", "")] {
            let text = format!("{{\"a\":{}1{}}}", open.repeat(100_000), close.repeat(100_000));
            let violation = check(text.as_bytes(), &Profile::PROCESS).unwrap_err();
            assert_eq!((violation.code, violation.actual), (Code::JsonDepth, Some(13)));
        }
    });
    small.unwrap().join().unwrap();
    let wire = std::thread::Builder::new().stack_size(256 * 1024).spawn(|| {
        let text = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let violation = check(text.as_bytes(), &Profile::WIRE).unwrap_err();
        assert_eq!(
            (violation.code, violation.limit, violation.actual),
            (Code::JsonDepth, Some(99), Some(100))
        );
    });
    wire.unwrap().join().unwrap();
}

/// P1-HOST-22
#[test]
fn bad_text_and_anything_around_the_object_are_refused() {
    assert_eq!(place(b"{\"a\":\"\xff\"}"), at(Code::JsonUtf8, 6, ""));
    assert_eq!(place(b"{\"a\":\"\xed\xa0\x80\"}"), at(Code::JsonUtf8, 6, ""));
    assert_eq!(place(br#"{"a":"\ud800"}"#), at(Code::JsonSurrogate, 6, "a"));
    assert_eq!(place(br#"{"a":"\udc00"}"#), at(Code::JsonSurrogate, 6, "a"));
    assert_eq!(place(b"\xef\xbb\xbf{}"), at(Code::JsonNotObject, 0, ""));
    assert!(refuse(b"\xef\xbb\xbf{}").message.contains("byte-order mark"));
    assert_eq!(place(b"{} x"), at(Code::JsonTrailing, 3, ""));
    assert_eq!(place(b"{}\0"), at(Code::JsonTrailing, 2, ""));
    assert_eq!(place(b"{\x0b}"), at(Code::JsonSyntax, 1, ""));
    assert_eq!(place("{\u{a0}}"), at(Code::JsonSyntax, 1, ""));
    accept(b" \t\r\n{ \t\r\n} \t\r\n");
}

/// P1-FRAME-03
#[test]
fn anything_but_an_object_is_refused() {
    for document in ["[]", "\"a\"", "1", "null", "true", "x"] {
        assert_eq!(place(document), at(Code::JsonNotObject, 0, ""), "{document}");
    }
    assert_eq!(place(""), at(Code::JsonTruncated, 0, ""));
    assert_eq!(place("  "), at(Code::JsonTruncated, 2, ""));
    assert_eq!(check(b"[1]", &Profile::PROCESS.below(1)), Ok(()));
}

/// P1-HOST-35: 256 entries pass, 257 do not.
#[test]
fn entries_are_bounded() {
    let array = |count: usize| format!("{{\"a\":[{}]}}", vec!["0"; count].join(","));
    let object = |count: usize| {
        let members: Vec<_> = (0..count).map(|index| format!("\"k{index:03}\":0")).collect();
        format!("{{\"a\":{{{}}}}}", members.join(","))
    };
    accept(array(256));
    accept(object(256));
    for (document, path) in [(array(257), "a[256]"), (object(257), "a")] {
        let violation = refuse(&document);
        assert_eq!(
            (violation.code, violation.limit, violation.actual),
            (Code::JsonEntries, Some(256), Some(257))
        );
        assert_eq!(violation.place.path.as_deref(), Some(path));
    }
    assert_eq!(refuse(array(257)).place.offset, Some(6 + 256 * 2));
}

/// P1-HOST-35: names of 240 and strings of 65,536 code points pass, one more does not.
#[test]
fn names_and_strings_are_bounded_in_code_points() {
    for unit in ["n", "é", "😀", "\\u00e9", "\\ud83d\\ude00", "\\\""] {
        let name = |count: usize| format!("{{\"{}\":1}}", unit.repeat(count));
        let text = |count: usize| format!("{{\"a\":\"{}\"}}", unit.repeat(count));
        accept(name(240));
        accept(text(65_536));
        let violation = refuse(name(241));
        assert_eq!(
            (violation.code, violation.limit, violation.actual),
            (Code::JsonNameLength, Some(240), Some(241))
        );
        assert_eq!(violation.place.offset, Some(1));
        let violation = refuse(text(65_537));
        assert_eq!(
            (violation.code, violation.limit, violation.actual),
            (Code::JsonStringLength, Some(65_536), Some(65_537))
        );
        assert_eq!((violation.place.offset, violation.place.path.as_deref()), (Some(5), Some("a")));
    }
}

#[test]
fn reserved_names_are_refused_under_every_profile() {
    for profile in [Profile::PROCESS, Profile::WIRE] {
        for name in
            ["$serde_json::private::RawValue", r"\u0024serde_json::private::x", "$serde_json::private::"]
        {
            let violation = check(format!("{{\"a\":{{\"{name}\":1}}}}").as_bytes(), &profile).unwrap_err();
            assert_eq!((violation.code, violation.place.offset), (Code::JsonReservedKey, Some(6)));
        }
    }
    accept(r#"{"a":"$serde_json::private::RawValue","$serde_json":1}"#);
}

#[test]
fn grammar_faults_have_their_codes_and_places() {
    for (document, code, offset, path) in [
        (r#"{"a":1,}"#, Code::JsonSyntax, 7, ""),
        (r#"{"a" 1}"#, Code::JsonSyntax, 5, "a"),
        (r#"{"a":[1,]}"#, Code::JsonSyntax, 8, "a[1]"),
        (r#"{"a":nulll}"#, Code::JsonSyntax, 9, "a"),
        (r#"{"a":01}"#, Code::JsonNumber, 6, "a"),
        (r#"{"a":1.}"#, Code::JsonNumber, 7, "a"),
        (r#"{"a":+1}"#, Code::JsonNumber, 5, "a"),
        (r#"{"a":"\x41"}"#, Code::JsonEscape, 6, "a"),
        (r#"{"a":"\u00g1"}"#, Code::JsonEscape, 6, "a"),
        ("{\"a\":\"\t\"}", Code::JsonControl, 6, "a"),
        (r#"{"a":[true,{"b":"#, Code::JsonTruncated, 16, "a[1].b"),
        (r#"{"a":"b"#, Code::JsonTruncated, 7, "a"),
        (r#"{"a":1}}"#, Code::JsonTrailing, 7, ""),
    ] {
        assert_eq!(place(document), at(code, offset, path), "{document}");
    }
}

/// The first fault from the left wins, but UTF-8 is judged before anything else.
#[test]
fn the_first_fault_wins() {
    assert_eq!(place(r#"{"a":01,"a":2}"#).0, Code::JsonNumber);
    assert_eq!(place(r#"{"a":1,"a":02}"#).0, Code::JsonDuplicateKey);
    assert_eq!(place(b"{\"a\":01,\"b\":\"\xff\"}").0, Code::JsonUtf8);
}

#[test]
fn messages_are_one_line_whatever_the_document_holds() {
    let long = "n".repeat(300);
    for document in [
        "{\"a\nb\":1}",
        "{\"a\\nb\":1,\"a\\nb\":2}",
        "{\"a\\u2028\\u001b[31m\":1,\"a\\u2028\\u001b[31m\":2}",
        "{\"x\":\"\u{1b}\"}",
        "{\u{9b}}",
        &format!("{{\"{long}\":1}}"),
        &format!("{{\"a\":{}}}", "9".repeat(5000)),
        &format!("{{\"a\":{}}}", "[".repeat(5000)),
    ] {
        let line = refuse(document).to_string();
        assert!(line.len() < 600, "{line}");
        assert!(!line.contains(|found: char| found.is_control() || found == '\u{2028}'), "{line:?}");
    }
}

#[test]
fn a_violation_serialises_flat_without_absent_fields() {
    let violation =
        refuse(r#"{"a":[9007199254740992]}"#).frame(2).blame(Blame::Caller).target("x").parameter("p");
    let expected = serde_json::json!({
        "code": "json.integer_range",
        "blame": "caller",
        "frame": 2,
        "path": "a[0]",
        "offset": 6,
        "target": "x",
        "parameter": "p",
        "limit": 9_007_199_254_740_991u64,
        "actual": 9_007_199_254_740_992u64,
        "message": violation.message,
        "remedy": Code::JsonIntegerRange.remedy(),
    });
    assert_eq!(serde_json::to_value(&violation).unwrap(), expected);
    assert_eq!(
        violation.to_string().split(": ").take(2).collect::<Vec<_>>(),
        ["json.integer_range", r#"frame 2, byte 6, a[0], target "x", parameter "p""#]
    );
    let bare = Violation::new(Code::HostBusy, "two\nlines");
    assert_eq!(bare.to_string(), r"host.busy: two\u000alines");
    assert_eq!(
        serde_json::to_value(&bare).unwrap(),
        serde_json::json!({
            "code": "host.busy", "blame": "host", "message": r"two\u000alines", "remedy": Code::HostBusy.remedy()
        })
    );
}

/// The checker's memory stays within 64 KiB in the process profile, and falls back to that after others.
#[test]
fn working_memory_is_bounded() {
    let mut checker = Checker::new();
    let mut text = String::new();
    for _ in 0..12 {
        text.push('{');
        text.extend((0..255).map(|name| format!("\"{name}\":0,")));
        text.push_str("\"last\":");
    }
    text.push('0');
    text.push_str(&"}".repeat(12));
    checker.parse(text.as_bytes(), &Profile::PROCESS).unwrap();
    assert!(checker.scratch_bytes() <= 65_536, "{}", checker.scratch_bytes());
    let rows = vec![r#"{"a":[],"b":{},"c":"a string of more than thirty-two bytes"}"#; 256].join(",");
    checker.parse(format!("{{\"rows\":[{rows}]}}").as_bytes(), &Profile::PROCESS).unwrap();
    let names: Vec<_> = (0..50_000).map(|name| format!("\"{name}\":0")).collect();
    checker.check(format!("{{{}}}", names.join(",")).as_bytes(), &Profile::WIRE).unwrap();
    assert!(checker.scratch_bytes() <= 65_536, "{}", checker.scratch_bytes());
}
