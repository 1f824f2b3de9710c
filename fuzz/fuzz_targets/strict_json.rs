//! The strict checker against one built on serde's reader, under three profiles; and the view over what passed.

#![no_main]

#[path = "../../host/protocol/tests/support/oracle.rs"]
mod oracle;

use libfuzzer_sys::fuzz_target;
use modberth_protocol::Code;
use modberth_protocol::json::{Checker, Kind, Profile, Raw, check};
use serde_json::Value;

/// Bounds so small that small inputs pass them.
const TINY: Profile = Profile { object_root: true, max_depth: 3, max_entries: 3, max_name: 4, max_string: 9 };

/// What a view shows, as a value of another library.
fn value(raw: Raw<'_>) -> Value {
    match raw.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => raw.as_bool().into(),
        Kind::Number => raw.as_text().parse().expect("a number of strict JSON is one of serde's"),
        Kind::String => raw.as_str().expect("a string").into(),
        Kind::Array => raw.elements().expect("an array").map(value).collect(),
        Kind::Object => {
            let members = raw.members().expect("an object");
            members.map(|(name, inner)| (name.into_owned(), value(inner))).collect()
        }
    }
}

fuzz_target!(|document: &[u8]| {
    let mut checker = Checker::new();
    for profile in [Profile::PROCESS, Profile::WIRE, TINY] {
        let verdict = checker.check(document, &profile);
        assert_eq!(verdict.is_ok(), oracle::accepts(document, &profile), "{verdict:?} under {profile:?}");
        match verdict {
            Ok(()) => {
                let expected: Value = serde_json::from_slice(document).expect("accepted by both");
                let root = checker.parse(document, &profile).expect("accepted before");
                assert_eq!(value(root), expected);
            }
            Err(violation) => {
                let offset = violation.place.offset.expect("every fault has a place") as usize;
                assert!(offset <= document.len());
                assert!(!violation.to_string().contains(char::is_control));
                // Everything before the fault begins a legal document.
                let before = check(&document[..offset], &profile).map_err(|before| before.code);
                match violation.code {
                    Code::JsonTruncated => assert_eq!(offset, document.len()),
                    Code::JsonTrailing => assert_eq!(before, Ok(())),
                    Code::JsonUtf8 => assert!(std::str::from_utf8(&document[..offset]).is_ok()),
                    Code::JsonNumber => assert!(matches!(
                        before,
                        Err(Code::JsonTruncated | Code::JsonIntegerRange | Code::JsonNonfinite)
                    )),
                    _ => assert_eq!(before, Err(Code::JsonTruncated), "{violation}"),
                }
            }
        }
    }
});
