//! Reading typed fields out of checked JSON, with problems instead of early ends.
//!
//! Every function reports what is wrong to the [`Sink`] and gives `None` then.

use std::borrow::Cow;

use modberth_protocol::Code;
use modberth_protocol::ident::is_identifier;
use modberth_protocol::json::{Kind, Raw};

use crate::problem::{At, Sink};

/// The members of one JSON object. The strict parser has made sure that no name stands twice.
pub(crate) struct Object<'a> {
    entries: Vec<(Cow<'a, str>, Raw<'a>)>,
}

impl<'a> Object<'a> {
    /// The value of a member.
    pub(crate) fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.entries.iter().find(|(found, _)| found == name).map(|(_, value)| *value)
    }

    /// True if there is a member of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The members in the order of the document.
    pub(crate) fn entries(&self) -> &[(Cow<'a, str>, Raw<'a>)] {
        &self.entries
    }

    /// Reports every field that is missing, and every one that is neither required nor optional.
    pub(crate) fn expect(&self, at: &At<'_>, sink: &mut Sink, required: &[&str], optional: &[&str]) {
        for (name, _) in &self.entries {
            if !required.contains(&&**name) && !optional.contains(&&**name) {
                let mut known: Vec<&str> = required.iter().chain(optional).copied().collect();
                known.sort_unstable();
                sink.at(
                    &at.name(name),
                    Code::PackageFieldUnknown,
                    format!("This field does not belong here; known are {}.", known.join(", ")),
                );
            }
        }
        for name in required {
            if !self.has(name) {
                sink.at(&at.name(name), Code::PackageFieldMissing, "This field is required.");
            }
        }
    }
}

/// What a value is, for people.
pub(crate) fn describe(raw: Raw<'_>) -> &'static str {
    match raw.kind() {
        Kind::Array => "a list",
        Kind::Number if raw.as_integer().is_some() => "an integer",
        Kind::Number => "a number with a fraction or exponent",
        kind => kind.describe(),
    }
}

fn wrong_type(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink, wanted: &str) {
    sink.at(at, Code::PackageFieldType, format!("This is {wanted}; found {}.", describe(raw)));
}

/// An object.
pub(crate) fn object<'a>(raw: Raw<'a>, at: &At<'_>, sink: &mut Sink) -> Option<Object<'a>> {
    let members = raw.members();
    if members.is_none() {
        wrong_type(raw, at, sink, "an object");
    }
    members.map(|members| Object { entries: members.collect() })
}

/// A list with a bounded number of entries.
pub(crate) fn list<'a>(
    raw: Raw<'a>,
    at: &At<'_>,
    sink: &mut Sink,
    least: usize,
    most: usize,
) -> Option<Vec<Raw<'a>>> {
    let Some(elements) = raw.elements() else {
        wrong_type(raw, at, sink, "a list");
        return None;
    };
    let elements: Vec<_> = elements.collect();
    count(elements.len(), at, sink, least, most).then_some(elements)
}

/// Checks a number of entries.
pub(crate) fn count(actual: usize, at: &At<'_>, sink: &mut Sink, least: usize, most: usize) -> bool {
    let good = (least..=most).contains(&actual);
    if !good {
        let limit = if actual < least { least } else { most };
        sink.bound(
            at,
            Code::PackageCount,
            limit,
            actual,
            format!("{least} to {most} entries may stand here; found {actual}."),
        );
    }
    good
}

/// A string with a bounded number of code points. (The strict parser refuses U+0000 everywhere.)
pub(crate) fn text(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink, least: usize, most: usize) -> Option<String> {
    let Some(found) = raw.as_str() else {
        wrong_type(raw, at, sink, "a string");
        return None;
    };
    let length = found.chars().count();
    if !(least..=most).contains(&length) {
        let limit = if length < least { least } else { most };
        sink.bound(
            at,
            Code::PackageTextLength,
            limit,
            length,
            format!("This text has {least} to {most} code points; found {length}."),
        );
        return None;
    }
    Some(found.into_owned())
}

/// An identifier.
pub(crate) fn identifier(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<String> {
    let Some(found) = raw.as_str() else {
        wrong_type(raw, at, sink, "a string");
        return None;
    };
    if is_identifier(&found) {
        return Some(found.into_owned());
    }
    not_identifier(&found, at, sink);
    None
}

/// Reports a name that is no identifier.
pub(crate) fn not_identifier(found: &str, at: &At<'_>, sink: &mut Sink) {
    sink.at(
        at,
        Code::PackageIdentifier,
        format!(
            "An identifier is a lower-case letter, then up to 95 of a-z 0-9 _ . -; found {}.",
            crate::fields::shown(found)
        ),
    );
}

/// A text as it is shown inside a message: quoted, on one line, at most 80 code points.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => modberth_protocol::json::quote(&format!("{}…", &text[..end])),
        None => modberth_protocol::json::quote(text),
    }
}

/// A number as it is shown inside a message: with an exponent where its digits would fill lines.
pub(crate) fn shown_number(value: f64) -> String {
    if value == 0.0 || (1e-6..1e16).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// One of a few words.
pub(crate) fn word<T: Copy>(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink, words: &[(&str, T)]) -> Option<T> {
    let Some(found) = raw.as_str() else {
        wrong_type(raw, at, sink, "a string");
        return None;
    };
    let value = words.iter().find(|(word, _)| *word == found).map(|(_, value)| *value);
    if value.is_none() {
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        sink.at(
            at,
            Code::PackageChoice,
            format!("Allowed are {}; found {}.", known.join(", "), shown(&found)),
        );
    }
    value
}

/// A boolean.
pub(crate) fn boolean(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<bool> {
    let value = raw.as_bool();
    if value.is_none() {
        wrong_type(raw, at, sink, "true or false");
    }
    value
}

/// An integer (1.0 and true are none) in a range.
pub(crate) fn integer(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink, least: i64, most: i64) -> Option<i64> {
    let Some(value) = raw.as_integer() else {
        wrong_type(raw, at, sink, "an integer");
        return None;
    };
    if (least..=most).contains(&value) {
        return Some(value);
    }
    let limit = if value < least { least } else { most };
    sink.bound(
        at,
        Code::PackageNumber,
        limit,
        value,
        format!("This number lies from {least} to {most}; found {value}."),
    );
    None
}

/// Any finite number.
pub(crate) fn number(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<f64> {
    let value = raw.as_f64();
    if value.is_none() {
        wrong_type(raw, at, sink, "a number");
    }
    value
}

/// The integer that the format fixes for this field.
pub(crate) fn fixed_integer(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink, wanted: i64) {
    match raw.as_integer() {
        Some(value) if value == wanted => {}
        Some(value) => sink.bound(
            at,
            Code::PackageFieldValue,
            wanted,
            value,
            format!("This field is the integer {wanted}; found {value}."),
        ),
        None => wrong_type(raw, at, sink, &format!("the integer {wanted}")),
    }
}
