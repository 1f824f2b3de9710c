//! The strict checker against a second one, on documents that nobody wrote by hand.

#[path = "support/oracle.rs"]
mod oracle;

use modberth_protocol::Code;
use modberth_protocol::json::{Checker, Profile, check, parse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const LEVELS_32: Profile = Profile { max_depth: 31, ..Profile::WIRE };
/// Bounds so small that small documents pass them.
const TINY: Profile = Profile { object_root: true, max_depth: 3, max_entries: 3, max_name: 4, max_string: 9 };
const PROFILES: [Profile; 4] = [Profile::PROCESS, Profile::WIRE, LEVELS_32, TINY];

/// Pieces that documents, and broken ones, are made of.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"a\"",
    "\"b\"",
    "\"\"",
    "\"a\":",
    "\"b\":1",
    "\"\\u0061\":2",
    "{\"a\":1}",
    "[]",
    "{}",
    "null",
    "true",
    "false",
    "nul",
    "0",
    "-0",
    "1",
    "12",
    "9007199254740991",
    "9007199254740992",
    "18446744073709551616",
    "1e400",
    "-1E308",
    "1.797693134862315807e308",
    "1.797693134862315808e308",
    "1.5e-3",
    "0.0",
    ".",
    "e",
    "E+",
    "-",
    "+",
    "01",
    "\\",
    "\\n",
    "\\u",
    "\\u0000",
    "\\ud83d",
    "\\ude00",
    "\\u00e9",
    "d83d",
    "\"\\ud83d\\ude00\"",
    "\u{0}",
    "\u{1}",
    "\t",
    " ",
    "\r\n",
    "é",
    "😀",
    "\u{feff}",
    "\"$serde_json::private::x\":1",
    "\"0123456789\"",
    "\"name5\":",
    "//",
    "NaN",
    "'a'",
    "        ",
    "        \"",
    "aaaaaaaa",
    "1,000",
];

/// JSON text of any shape, as an author would write it.
fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| (value >> 10).to_string()),
        any::<i32>().prop_map(|value| value.to_string()),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| format!("{value:e}")),
        text(),
    ];
    let value = leaf.prop_recursive(6, 48, 5, |inner| {
        let member = (text(), inner.clone()).prop_map(|(name, value)| format!("{name}:{value}"));
        prop_oneof![
            vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(", "))),
            vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    });
    vec((text(), value), 0..5).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("{name} :{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

/// A quoted string, its characters plain or escaped.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => select(vec!["a", "b", "c", "0", " ", "/", "é", "日", "😀", "\u{7f}", "\u{2028}", "\u{ffff}"]).prop_map(str::to_owned),
        1 => select(vec!["\\n", "\\\"", "\\\\", "\\/", "\\u0061", "\\u00e9", "\\ud83d\\ude00", "\\u001f", "\\uFFFF"]).prop_map(str::to_owned),
    ];
    vec(character, 0..12).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

/// One edit of a document.
fn edit() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    let insert = prop_oneof![
        select(PIECES.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        vec(any::<u8>(), 0..3),
    ];
    (any::<usize>(), 0..4usize, insert)
}

/// Both checkers give the same verdict, and everything before the fault is the beginning of a legal document.
fn agree(document: &[u8]) -> Result<(), TestCaseError> {
    let mut checker = Checker::new();
    for profile in &PROFILES {
        let verdict = checker.check(document, profile);
        prop_assert_eq!(
            verdict.is_ok(),
            oracle::accepts(document, profile),
            "{:?}: {:?}",
            String::from_utf8_lossy(document),
            verdict
        );
        prop_assert_eq!(parse(document, profile).err(), verdict.clone().err());
        let Err(violation) = verdict else { continue };
        let offset = violation.place.offset.unwrap() as usize;
        prop_assert!(offset <= document.len());
        let before = check(&document[..offset], profile);
        match violation.code {
            Code::JsonTruncated => prop_assert_eq!(offset, document.len()),
            Code::JsonTrailing => prop_assert_eq!(before, Ok(())),
            Code::JsonUtf8 => prop_assert!(std::str::from_utf8(&document[..offset]).is_ok()),
            // Cut there, the number ends, so it may be one out of range.
            Code::JsonNumber => prop_assert!(matches!(
                before.unwrap_err().code,
                Code::JsonTruncated | Code::JsonIntegerRange | Code::JsonNonfinite
            )),
            _ => prop_assert_eq!(
                before.map_err(|before| before.code),
                Err(Code::JsonTruncated),
                "{:?}: {}",
                String::from_utf8_lossy(document),
                violation
            ),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// P1-HOST-17 to P1-HOST-22, P1-HOST-35
    #[test]
    fn both_checkers_agree_on_documents(text in document()) {
        agree(text.as_bytes())?;
    }

    #[test]
    fn both_checkers_agree_on_edited_documents(text in document(), edits in vec(edit(), 1..4)) {
        let mut bytes = text.into_bytes();
        for (place, remove, insert) in edits {
            let at = place % (bytes.len() + 1);
            let end = (at + remove).min(bytes.len());
            bytes.splice(at..end, insert);
        }
        agree(&bytes)?;
    }

    #[test]
    fn both_checkers_agree_on_piles_of_pieces(pieces in vec(select(PIECES.to_vec()), 0..24)) {
        agree(pieces.concat().as_bytes())?;
        agree(format!("{{\"x\":{}}}", pieces.concat()).as_bytes())?;
        agree(format!("{{\"x\":[\"{}\"]}}", pieces.concat()).as_bytes())?;
    }

    /// P1-HOST-17: a name that stands twice is found whatever its spelling, in objects of every size, at its second place.
    #[test]
    fn a_duplicate_name_is_found_at_its_second_place(
        names in vec((0..400u32, 0..6u8, any::<u32>()), 0..220),
        stem in select(vec!["", "k", "seven_", "eight_88", "a rather long common beginning ", "é"]),
        end in select(vec!["", " and a common end", "日本"]),
    ) {
        let mut text = String::from("{\"x\":{");
        let mut seen = std::collections::BTreeSet::new();
        let mut first = None;
        for (index, (number, escapes, mask)) in names.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            let name = format!("{stem}{number}{end}");
            if !seen.insert(name.clone()) && first.is_none() {
                first = Some(text.len() as u64);
            }
            text.push('"');
            for (position, found) in name.chars().enumerate() {
                if *escapes == 0 && mask >> (position % 32) & 1 == 1 {
                    for unit in found.encode_utf16(&mut [0; 2]) {
                        text.push_str(&format!("\\u{unit:04x}"));
                    }
                } else {
                    text.push(found);
                }
            }
            text.push_str("\":0");
        }
        text.push_str("}}");
        for profile in [Profile::WIRE, Profile::PROCESS] {
            let violation = check(text.as_bytes(), &profile).err();
            prop_assert_eq!(violation.as_ref().and_then(|violation| violation.place.offset), first);
            prop_assert!(violation.is_none_or(|violation| violation.code == Code::JsonDuplicateKey));
        }
        // Another fault after it changes nothing, however late duplicates are looked for.
        text.truncate(text.len() - 2);
        let violation = check(format!("{text},nope}}}}").as_bytes(), &Profile::WIRE).unwrap_err();
        match first {
            Some(at) => prop_assert_eq!((violation.code, violation.place.offset), (Code::JsonDuplicateKey, Some(at))),
            None => prop_assert_eq!(violation.code, Code::JsonSyntax),
        }
    }
}
