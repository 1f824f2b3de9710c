//! The C scanner against every vector and against the host's own checker.

use modberth_cjson_sys::{check, cjson_accepts, compare, number, rewrite};
use modberth_conformance::vectors::{self, Bounds};
use modberth_protocol::json::{self, Profile};
use proptest::prelude::*;
use serde_json::Value;

/// The host's verdict.
fn host(document: &[u8]) -> Option<(String, usize)> {
    json::check(document, &Profile::PROCESS).err().map(|violation| {
        let offset = violation.place.offset.and_then(|offset| usize::try_from(offset).ok());
        (violation.code.as_str().to_owned(), offset.expect("a JSON fault has an offset"))
    })
}

/// P1-HOST-17 to P1-HOST-22, P1-HOST-35 as SDKs apply them
#[test]
fn every_vector_has_its_verdict() {
    for vector in vectors::all().unwrap() {
        let code = check(&vector.bytes).err().map(|refusal| refusal.code);
        assert_eq!(code.as_deref(), vector.code(Bounds::Process), "{}", vector.name);
        compare(&vector.bytes, host);
    }
}

/// The reason for a scanner of our own: what cJSON alone would let through.
#[test]
fn cjson_alone_accepts_much_that_the_profile_refuses() {
    for document in [
        &br#"{"a":01}"#[..],
        br#"{"a":1,"a":2}"#,
        b"{\"a\":\"\xff\"}",
        b"{\"a\":\"\x1f\"}",
        b"\xef\xbb\xbf{}",
        br#"{"a":1e400}"#,
        br#"{"a":9007199254740993}"#,
    ] {
        assert!(cjson_accepts(document), "{}", String::from_utf8_lossy(document));
        assert!(check(document).is_err(), "{}", String::from_utf8_lossy(document));
    }
}

#[test]
fn what_is_accepted_passes_through_cjson_and_the_writer_unchanged() {
    for vector in vectors::all().unwrap() {
        if vector.code(Bounds::Process).is_some() {
            continue;
        }
        let again = rewrite(&vector.bytes).unwrap_or_else(|refusal| panic!("{}: {refusal}", vector.name));
        assert_eq!(same(&again), same(&vector.bytes), "{}", vector.name);
    }
}

/// The document with all numbers as doubles, which is what a C module has.
fn same(document: &[u8]) -> Value {
    fn doubles(value: Value) -> Value {
        match value {
            Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
            Value::Array(items) => items.into_iter().map(doubles).collect(),
            Value::Object(members) => {
                Value::Object(members.into_iter().map(|(name, value)| (name, doubles(value))).collect())
            }
            other => other,
        }
    }
    doubles(serde_json::from_slice(document).unwrap())
}

/// Pieces from which almost-right documents are made.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let fixed: Vec<&[u8]> = vec![
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b" ",
        b"\n",
        b"\"",
        b"\\",
        b"\"a\":",
        b"\"b\":",
        b"\"\\u0061\":",
        b"\"a\"",
        b"null",
        b"true",
        b"false",
        b"nul",
        b"0",
        b"-",
        b"-0",
        b"1",
        b"01",
        b"1.5",
        b"1e5",
        b"1E+",
        b"1e400",
        b"1.",
        b".5",
        b"+1",
        b"9007199254740991",
        b"9007199254740992",
        b"1e308",
        b"1.7976931348623158e308",
        b"1.797693134862315769e308",
        b"1.7976931348623159e308",
        b"2e308",
        b"00000000000000001",
        b"12345678901234567",
        b"\\u0000",
        b"\\u00e9",
        b"\\ud83d",
        b"\\ude00",
        b"\\ud83d\\ude00",
        b"\\uD800\\u",
        b"\\n",
        b"\\x",
        b"\\u12",
        b"\x00",
        b"\x1f",
        b"\x7f",
        b"\xc3\xa9",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xff",
        b"\xef\xbb\xbf",
        b"$serde_json::private::",
        b"\"$serde_json::private::Number\":",
        b"1,000",
        b"1 000",
        b"1_0",
        b"0x1",
        b"\xd9\xa3",
        b"\xc2\xbd",
        b"{}",
        b"[]",
        b"[[[[[[[[[[[[",
        b"{\"a\":{\"a\":{\"a\":{\"a\":",
        b"]]]]]]]]]]]]",
        b"}}}}",
    ];
    prop_oneof![
        8 => prop::sample::select(fixed).prop_map(<[u8]>::to_vec),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => (0usize..260, prop::sample::select(vec!["1,", "[],", "\"k\":1,", "x", "\u{e9}"]))
            .prop_map(|(count, text)| text.repeat(count).into_bytes()),
    ]
}

/// A right document, as text.
fn document() -> impl Strategy<Value = String> {
    let text = prop_oneof!["[a-c]{0,2}", any::<String>(), Just("__proto__".to_owned())]
        .prop_map(|text| serde_json::to_string(&text.replace('\0', "0")).unwrap());
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        (-9007199254740991i64..=9007199254740991).prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        text.clone(),
    ];
    let inner = leaf.prop_recursive(6, 60, 6, move |element| {
        prop_oneof![
            prop::collection::vec(element.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((text.clone(), element), 0..6).prop_map(|members| {
                let members: Vec<_> =
                    members.into_iter().map(|(name, value)| format!("{name}:{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    inner.prop_map(|value| format!("{{\"a\":{value}}}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn the_scanner_agrees_with_the_host_on_pieces(pieces in prop::collection::vec(piece(), 0..24)) {
        compare(&pieces.concat(), host);
        compare(&[b"{\"a\":".to_vec(), pieces.concat(), b"}".to_vec()].concat(), host);
        compare(&[b"{\"a\":[".to_vec(), pieces.concat(), b"]}".to_vec()].concat(), host);
    }

    #[test]
    fn the_scanner_agrees_with_the_host_on_documents_with_one_wrong_byte(
        text in document(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        compare(text.as_bytes(), host);
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at); } else { bytes[at] = byte; }
        compare(&bytes, host);
    }

    #[test]
    fn documents_pass_through_unchanged(text in document()) {
        if check(text.as_bytes()).is_ok() {
            prop_assert_eq!(same(&rewrite(text.as_bytes()).unwrap()), same(text.as_bytes()));
        }
    }

    #[test]
    fn numbers_read_back_exactly(value in any::<f64>()) {
        if value.is_finite() {
            let text = number(value);
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{}", text);
            prop_assert_eq!(host(format!("{{\"a\":{text}}}").as_bytes()), None, "{}", text);
        }
    }
}
