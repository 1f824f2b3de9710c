//! Requests: what a caller may ask, and the bytes that a module gets.

use modberth_protocol::json::{Profile, RawJson, check};
use modberth_protocol::process::{
    HostSession, ModuleSession, Request, check_targets, encode_invoke, parse_invoke,
};
use modberth_protocol::{Blame, Code, Violation, frame, ident};

fn json(text: &str) -> RawJson {
    RawJson::new(text, &Profile { object_root: false, ..Profile::WIRE }).unwrap()
}

fn request(targets: &[&str], parameters: &str) -> Result<Request, Violation> {
    let targets = targets.iter().map(|target| (*target).to_owned()).collect();
    Request::new("0123456789abcdef0123456789abcdef", "echo", targets, json(parameters))
}

fn refuse(targets: &[&str], parameters: &str) -> Violation {
    let violation = request(targets, parameters).unwrap_err();
    assert_eq!(violation.blame, Blame::Caller);
    violation
}

/// P1-HOST-02, P1-HOST-03: exactly these bytes, two frames.
#[test]
fn the_host_sends_exactly_hello_and_invoke() {
    let session = HostSession::new(request(&["target-a", "target-b"], r#"{"message":"Hello"}"#).unwrap());
    let mut expected = frame::encode(br#"{"version":1,"type":"hello","host_api":1}"#).unwrap();
    frame::encode_into(
        br#"{"version":1,"type":"invoke","id":"0123456789abcdef0123456789abcdef","action":"echo","targets":["target-a","target-b"],"parameters":{"message":"Hello"}}"#,
        &mut expected,
    )
    .unwrap();
    assert_eq!(session.input(), expected);
}

/// P1-HOST-13
#[test]
fn a_batch_has_1_to_64_distinct_targets() {
    let ids: Vec<_> = (0..65).map(|index| format!("t{index}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    assert!(request(&ids[..1], "{}").is_ok());
    assert!(request(&ids[..64], "{}").is_ok());
    // The bound is the one that was passed.
    for (count, bound) in [(0, 1), (65, 64)] {
        let violation = refuse(&ids[..count], "{}");
        assert_eq!(violation.code, Code::RequestTargetCount);
        assert_eq!((violation.limit, violation.actual), (Some(bound), Some(count as u64)));
        assert!(violation.remedy().contains("--target ID"), "{}", violation.remedy());
        assert_eq!(violation.place.path.as_deref(), Some("targets"));
    }
    let violation = refuse(&["a", "b", "a"], "{}");
    assert_eq!(violation.code, Code::RequestTargetDuplicate);
    assert_eq!(violation.place.path.as_deref(), Some("targets[2]"));
    assert_eq!(violation.place.target.as_deref(), Some("a"));
    assert!(violation.message.contains("targets[0]"));
}

/// P1-HOST-14: 1 to 128 code points of every width; four characters are refused; nothing is normalised.
#[test]
fn target_ids_are_opaque_within_their_bounds() {
    for unit in ["a", "é", "日", "😀"] {
        assert!(request(&[&unit.repeat(128)], "{}").is_ok(), "{unit}");
        let violation = refuse(&["ok", &unit.repeat(129)], "{}");
        assert_eq!(violation.code, Code::RequestTargetLength);
        assert_eq!((violation.limit, violation.actual), (Some(128), Some(129)));
        assert_eq!(violation.place.path.as_deref(), Some("targets[1]"));
        assert_eq!(violation.place.target, Some(unit.repeat(129)));
    }
    let empty = refuse(&[""], "{}");
    assert_eq!((empty.code, empty.limit, empty.actual), (Code::RequestTargetLength, Some(1), Some(0)));
    for (id, name) in [("a/b", "a slash"), ("a\\b", "a backslash"), ("a:b", "a colon"), ("a\0b", "NUL")] {
        let violation = refuse(&[id], "{}");
        assert_eq!(violation.code, Code::RequestTargetCharacter);
        assert!(violation.message.contains(name), "{violation}");
        assert!(!violation.to_string().contains('\0'));
    }
    let odd = [
        "__proto__",
        "constructor",
        "prototype",
        " a ",
        "a",
        "..",
        "b\nc",
        "\u{e9}",
        "e\u{301}",
        "A",
        "\u{feff}",
        "\u{1}",
    ];
    let sent = request(&odd, "{}").unwrap();
    assert_eq!(sent.targets(), odd);
    assert_eq!(parse_invoke(encode_invoke(&sent)), Ok(sent));
    assert_eq!(check_targets(&odd), Ok(()));
}

/// P1-HOST-33: what a caller gives is held to the same rules, at the depth where it will stand.
#[test]
fn parameters_are_held_to_the_strict_rules() {
    for (parameters, code, path) in [
        (r#"{"a":[9,{"b":1e5}],"c":[[[[[[[[[[1]]]]]]]]]]}"#, None, ""),
        (
            r#"{"c":[[[[[[[[[[[1]]]]]]]]]]]}"#,
            Some(Code::JsonDepth),
            "parameters.c[0][0][0][0][0][0][0][0][0][0][0]",
        ),
    ] {
        let violation = request(&["a"], parameters).err();
        assert_eq!(violation.as_ref().map(|violation| violation.code), code, "{parameters}");
        assert_eq!(violation.and_then(|violation| violation.place.path).unwrap_or_default(), path);
    }
    let many = format!("{{\"list\":[{}]}}", vec!["0"; 257].join(","));
    assert_eq!(refuse(&["a"], &many).code, Code::JsonEntries);
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(65_537));
    let violation = refuse(&["a"], &long);
    assert_eq!(
        (violation.code, violation.limit, violation.actual),
        (Code::JsonStringLength, Some(65_536), Some(65_537))
    );
    assert_eq!(violation.place.path.as_deref(), Some("parameters.text"));
    let name = format!("{{\"{}\":1}}", "n".repeat(241));
    assert_eq!(refuse(&["a"], &name).code, Code::JsonNameLength);
    for parameters in ["[]", "\"a\"", "1", "null", "true"] {
        assert_eq!(refuse(&["a"], parameters).code, Code::RequestParametersType, "{parameters}");
    }
    // A text with a duplicate name, NUL, or an integer out of range is no RawJson to begin with.
    for text in [r#"{"a":1,"a":2}"#, r#"{"a":"\u0000"}"#, r#"{"a":9007199254740992}"#, r#"{"a":1e999}"#] {
        assert!(RawJson::new(text, &Profile::WIRE).is_err());
    }
}

/// P1-HOST-33: whatever a request holds, the frame keeps every rule.
#[test]
fn every_invoke_frame_passes_the_strict_check() {
    let ids: Vec<_> = (0..64).map(|index| format!("\"\u{1}\u{7f}\u{2028}😀{index}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let sent = request(&ids, " { \"a\" : [ 1 , 2.50 ] , \"\\u0062\" : \"\\u00e9\" } ").unwrap();
    let payload = encode_invoke(&sent);
    check(&payload, &Profile::PROCESS).unwrap();
    assert_eq!(parse_invoke(payload).unwrap(), sent);
    assert_eq!(sent.parameters().as_str(), "{ \"a\" : [ 1 , 2.50 ] , \"\\u0062\" : \"\\u00e9\" }");
}

/// P1-FRAME-02: the size is judged on the bytes that would be sent; the last one that fits is sent.
#[test]
fn a_request_that_passes_the_frame_limit_is_refused() {
    let text = |length: usize| {
        // Seventeen strings within their own bound.
        let (full, rest) = (length / 60_000, length % 60_000);
        let mut items = vec![format!("\"{}\"", "x".repeat(60_000)); full];
        items.push(format!("\"{}\"", "x".repeat(rest)));
        format!("{{\"list\":[{}]}}", items.join(","))
    };
    let fixed = encode_invoke(&request(&["\"a\n"], &text(1_000_000)).unwrap()).len() - 1_000_000;
    // Another string adds its quotes and a comma.
    let most = 1_048_576 - fixed - 3;
    let sent = request(&["\"a\n"], &text(most)).unwrap();
    assert_eq!(encode_invoke(&sent).len(), 1_048_576);
    let session = HostSession::new(sent.clone());
    let mut module = ModuleSession::new();
    module.input(session.input()).unwrap();
    assert_eq!(module.end(), Ok(sent));
    let violation = refuse(&["\"a\n"], &text(most + 1));
    assert_eq!(violation.code, Code::RequestTooLarge);
    assert_eq!((violation.limit, violation.actual), (Some(1_048_576), Some(1_048_577)));
}

#[test]
fn request_ids_and_actions_are_checked() {
    let new = |id: &str, action: &str| {
        Request::new(id, action, vec!["a".into()], RawJson::empty_object())
            .map_err(|violation| violation.code)
    };
    assert!(new(&"é".repeat(128), "a").is_ok());
    for (id, limit, actual) in
        [("", Some(1), Some(0)), ("a\0b", None, None), (&"é".repeat(129), Some(128), Some(129))]
    {
        assert_eq!(new(id, "a"), Err(Code::RequestId));
        let violation = Request::new(id, "a", vec!["a".into()], RawJson::empty_object()).unwrap_err();
        assert_eq!((violation.limit, violation.actual), (limit, actual), "{id:?}");
    }
    for action in ["", "Echo", "1", "a b", &"a".repeat(97)] {
        assert_eq!(new("r", action), Err(Code::RequestAction));
    }
}

#[test]
fn identifiers_and_ids_have_exact_forms() {
    for good in ["a", "a..b-", "a0_.-", &"a".repeat(96)] {
        assert!(ident::is_identifier(good), "{good}");
    }
    for bad in ["", "A", "0a", ".a", "a b", "é", "aé", "a\n", &"a".repeat(97)] {
        assert!(!ident::is_identifier(bad), "{bad:?}");
    }
    assert!(ident::is_digest(&"0a".repeat(32)) && !ident::is_digest(&"0A".repeat(32)));
    assert!(!ident::is_digest(&"0".repeat(63)) && !ident::is_digest(&"g".repeat(64)));
    assert!(ident::is_invocation_id(&"f0".repeat(16)) && !ident::is_invocation_id(&"F0".repeat(16)));
}
