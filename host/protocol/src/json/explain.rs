//! A second, slower walk up to a fault: where it lies in the document, and whether a duplicate name stands before it.

use super::names::RESERVED;
use super::profile::Profile;
use super::quote::quote_into;
use super::scan::Fault;
use super::string::{end_of_text, points, unescape};
use crate::limits::JSON_INTEGER;
use crate::{Code, Violation};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Longest name shown in a path, in code points.
const SHOWN_NAME: usize = 40;

/// An open object or array.
enum Level<'a> {
    Array { index: usize },
    Object { names: BTreeSet<Cow<'a, str>>, name: Option<Cow<'a, str>> },
}

/// Makes the violation for a fault: first the true first fault, then its path, limit, actual value and message.
#[cold]
pub(super) fn explain(text: &str, profile: &Profile, fault: Fault) -> Violation {
    let (fault, path) = locate(text, fault);
    let at = fault.at;
    let rest = text.get(at..).unwrap_or_default();
    let violation = match fault.code {
        Code::JsonDepth => Violation::new(
            fault.code,
            format!("Values stand at most {} levels deep here; one stands deeper.", profile.max_depth),
        )
        .limit(profile.max_depth)
        .actual(u64::from(profile.max_depth) + 1),
        Code::JsonEntries => Violation::new(
            fault.code,
            format!("An object or array has at most {} entries; this one has more.", profile.max_entries),
        )
        .limit(profile.max_entries)
        .actual(profile.max_entries as u64 + 1),
        Code::JsonNameLength => {
            let actual = points(raw_string(text, at));
            Violation::new(
                fault.code,
                format!("A name has at most {} code points; this one has {actual}.", profile.max_name),
            )
            .limit(profile.max_name)
            .actual(actual)
        }
        Code::JsonStringLength => {
            let actual = points(raw_string(text, at));
            Violation::new(
                fault.code,
                format!("A string has at most {} code points; this one has {actual}.", profile.max_string),
            )
            .limit(profile.max_string)
            .actual(actual)
        }
        Code::JsonDuplicateKey => Violation::new(
            fault.code,
            format!("The name {} stands twice in one object.", show(&unescape(raw_string(text, at)))),
        ),
        Code::JsonReservedKey => {
            Violation::new(fault.code, format!("A name must not begin with {RESERVED:?}."))
        }
        Code::JsonIntegerRange => {
            let digits: String = rest.chars().take_while(|found| matches!(found, '-' | '0'..='9')).collect();
            let violation = Violation::new(
                fault.code,
                format!(
                    "A number without fraction and exponent lies within ±{JSON_INTEGER}; {} does not.",
                    cut(&digits, SHOWN_NAME)
                ),
            )
            .limit(JSON_INTEGER);
            match digits.trim_start_matches('-').parse::<u64>() {
                Ok(actual) => violation.actual(actual),
                Err(_) => violation,
            }
        }
        Code::JsonNonfinite => {
            let digits: String = rest
                .chars()
                .take_while(|found| matches!(found, '-' | '+' | '.' | 'e' | 'E' | '0'..='9'))
                .collect();
            Violation::new(
                fault.code,
                format!("The number {} is not finite as a binary64 value.", cut(&digits, SHOWN_NAME)),
            )
        }
        Code::JsonTruncated => {
            Violation::new(fault.code, format!("The document ends too early, after {} bytes.", text.len()))
        }
        Code::JsonNotObject => {
            Violation::new(fault.code, format!("A JSON object is due; {} stands here.", first(rest)))
        }
        Code::JsonTrailing => Violation::new(
            fault.code,
            format!("Nothing may follow the document; {} stands here.", first(rest)),
        ),
        Code::JsonEscape => {
            let shown: String = rest.chars().take(if rest.starts_with("\\u") { 6 } else { 2 }).collect();
            Violation::new(fault.code, format!("{shown:?} begins no escape that JSON has."))
        }
        Code::JsonControl => Violation::new(
            fault.code,
            format!("A string holds the raw control character {}; escape it.", first(rest)),
        ),
        Code::JsonNul => {
            Violation::new(fault.code, "Names and strings must not hold U+0000, raw or escaped.")
        }
        Code::JsonSurrogate => {
            let shown: String = rest.chars().take(6).collect();
            Violation::new(fault.code, format!("The surrogate escape {shown} has no partner."))
        }
        Code::JsonNumber => Violation::new(
            fault.code,
            format!("This is not how JSON writes a number; {} stands here.", first(rest)),
        ),
        code => Violation::new(code, format!("JSON has no {} here.", first(rest))),
    }
    .offset(at);
    if path.is_empty() { violation } else { violation.path(path) }
}

/// The character at the fault, for people.
fn first(rest: &str) -> String {
    match rest.chars().next() {
        None => "the end".to_owned(),
        Some('\u{feff}') => "a byte-order mark".to_owned(),
        Some(found) if found.is_ascii_graphic() => format!("`{found}`"),
        Some(found) if found.is_alphanumeric() => format!("`{found}` (U+{:04X})", u32::from(found)),
        Some(found) => format!("U+{:04X}", u32::from(found)),
    }
}

/// What stands between the quotes of the string at `at`.
fn raw_string(text: &str, at: usize) -> &str {
    let end = end_of_text(text.as_bytes(), at + 1).unwrap_or_default();
    text.get(at + 1..end.saturating_sub(1)).unwrap_or_default()
}

fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

fn show(name: &str) -> String {
    let mut out = String::new();
    quote_into(&cut(name, SHOWN_NAME), &mut out);
    out
}

/// The first fault, which is an earlier duplicate name if there is one, and its path.
fn locate(text: &str, mut fault: Fault) -> (Fault, String) {
    let bytes = text.as_bytes();
    // As deep as the profile lets a document be: everything before the fault has passed.
    let mut levels: Vec<Level<'_>> = Vec::new();
    let mut at = 0;
    while at < fault.at {
        match bytes[at] {
            b'{' => levels.push(Level::Object { names: BTreeSet::new(), name: None }),
            b'[' => levels.push(Level::Array { index: 0 }),
            b'}' | b']' => {
                levels.pop();
            }
            b',' => match levels.last_mut() {
                Some(Level::Array { index }) => *index += 1,
                Some(Level::Object { name, .. }) => *name = None,
                None => {}
            },
            b'"' => {
                // A string that has no end, or one beyond the fault, holds the fault.
                let Some(end) = end_of_text(bytes, at + 1).filter(|end| *end <= fault.at) else { break };
                if let Some(Level::Object { names, name }) = levels.last_mut()
                    && name.is_none()
                {
                    let found = unescape(&text[at + 1..end - 1]);
                    *name = Some(found.clone());
                    if !names.insert(found) {
                        fault = Fault { code: Code::JsonDuplicateKey, at };
                        break;
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    if matches!(fault.code, Code::JsonDuplicateKey | Code::JsonReservedKey)
        && let Some(Level::Object { name, .. }) = levels.last_mut()
    {
        *name = Some(unescape(raw_string(text, fault.at)));
    }
    (fault, path(&levels))
}

fn path(levels: &[Level<'_>]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            // Writing to a String cannot fail.
            Level::Array { index } => {
                let _ = write!(path, "[{index}]");
            }
            Level::Object { name: Some(name), .. } if is_word(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            Level::Object { name: Some(name), .. } => {
                let _ = write!(path, "[{}]", show(name));
            }
            Level::Object { name: None, .. } => {}
        }
    }
    path
}

/// True for a name that can stand in a path without quotes.
fn is_word(name: &str) -> bool {
    name.len() <= SHOWN_NAME
        && !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
