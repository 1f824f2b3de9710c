//! A typed view over a checked document, without a tree: values are slices, found as they are asked for.

use super::string::{end_of_checked, unescape};
use std::borrow::Cow;

/// Values down to this depth are remembered while a document is checked, so that a reader need not scan over them again.
pub(super) const INDEXED_DEPTH: u8 = 3;
/// Shorter strings are scanned again instead.
const INDEXED_STRING: usize = 32;
/// Most values remembered: more than the frames of the process protocols need. Values beyond it are scanned again.
const MOST_SPANS: usize = 512;
/// The slot of a value that is not remembered.
const NO_SLOT: usize = usize::MAX;

/// Where a value begins and ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

/// Receives spans in the order in which the values begin.
pub(super) struct SpanIndex<'a>(Option<&'a mut Vec<Span>>);

impl<'a> SpanIndex<'a> {
    pub(super) fn new(mut spans: Option<&'a mut Vec<Span>>) -> Self {
        if let Some(spans) = &mut spans {
            spans.clear();
        }
        SpanIndex(spans)
    }

    /// An object or array begins; the slot is to be closed at its end.
    #[inline]
    pub(super) fn open(&mut self, start: usize, depth: u8) -> usize {
        if depth > INDEXED_DEPTH || depth == 0 {
            return NO_SLOT;
        }
        self.push(start, 0)
    }

    #[inline]
    pub(super) fn close(&mut self, slot: usize, end: usize) {
        if slot != NO_SLOT
            && let Some(span) = self.0.as_mut().and_then(|spans| spans.get_mut(slot))
        {
            span.end = end as u32;
        }
    }

    #[inline]
    pub(super) fn string(&mut self, start: usize, end: usize) {
        if end - start >= INDEXED_STRING {
            self.push(start, end);
        }
    }

    fn push(&mut self, start: usize, end: usize) -> usize {
        match &mut self.0 {
            Some(spans) if spans.len() < MOST_SPANS => {
                spans.push(Span { start: start as u32, end: end as u32 });
                spans.len() - 1
            }
            _ => NO_SLOT,
        }
    }
}

/// What kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, integer or not.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind with its article, for messages: `a string`, `null`.
    pub const fn describe(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        }
    }
}

/// A value inside a checked document: a slice of it, and the means to look inside. Copying is cheap.
///
/// It comes only from a document that passed the strict check, so it never fails on syntax. Members and elements are found by
/// scanning, which is fast but not free: iterate once rather than index in a loop.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    text: &'a str,
    /// The remembered values that begin here or later.
    spans: &'a [Span],
    start: usize,
    end: usize,
}

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Raw({})", self.as_text())
    }
}

impl<'a> Raw<'a> {
    /// The root of a checked document.
    pub(super) fn root(text: &'a str, spans: &'a [Span]) -> Self {
        let white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let start = text.bytes().take_while(white).count();
        let end = text.len() - text.bytes().rev().take_while(white).count();
        Raw { text, spans, start, end: end.max(start) }
    }

    /// The value exactly as it stands in the document.
    pub fn as_text(&self) -> &'a str {
        &self.text[self.start..self.end]
    }

    /// The bytes of the value exactly as they stand in the document.
    pub fn bytes(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.start..self.end]
    }

    /// Place of the value in the document, in bytes.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.end
    }

    /// What kind of value it is.
    pub fn kind(&self) -> Kind {
        match self.text.as_bytes()[self.start] {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// True for `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// The string it is, unescaped; borrowed if it has no escapes.
    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        (self.kind() == Kind::String).then(|| unescape(&self.text[self.start + 1..self.end - 1]))
    }

    /// The boolean it is.
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.as_text() == "true")
    }

    /// The integer it is: a number written without fraction and exponent. `1.0` and `true` are none.
    pub fn as_integer(&self) -> Option<i64> {
        if self.kind() != Kind::Number { None } else { self.as_text().parse().ok() }
    }

    /// The number it is, correctly rounded to binary64.
    pub fn as_f64(&self) -> Option<f64> {
        if self.kind() != Kind::Number { None } else { self.as_text().parse().ok() }
    }

    /// The members of the object it is, names unescaped, in the order of the document.
    pub fn members(&self) -> Option<Members<'a>> {
        (self.kind() == Kind::Object).then(|| Members(self.inside()))
    }

    /// The elements of the array it is.
    pub fn elements(&self) -> Option<Elements<'a>> {
        (self.kind() == Kind::Array).then(|| Elements(self.inside()))
    }

    /// The member of this name of the object it is.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.members()?.find_map(|(found, value)| (found == name).then_some(value))
    }

    fn inside(&self) -> Cursor<'a> {
        Cursor { text: self.text, spans: self.spans, at: self.start + 1 }
    }
}

/// The same content, whatever document it stands in: compares the text.
impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_text() == other.as_text()
    }
}

impl Eq for Raw<'_> {}

/// A place inside a checked object or array.
#[derive(Clone)]
struct Cursor<'a> {
    text: &'a str,
    spans: &'a [Span],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Steps over white space, and over one comma or colon; gives the byte that stands there, if it is no closing bracket.
    fn step(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b':') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied().filter(|byte| !matches!(byte, b']' | b'}'))
    }

    /// The value at the cursor.
    fn value(&mut self) -> Raw<'a> {
        let start = self.at;
        while let [first, rest @ ..] = self.spans
            && (first.start as usize) < start
        {
            self.spans = rest;
        }
        self.at = match self.spans.first() {
            Some(span) if span.start as usize == start => span.end as usize,
            _ => end_of_value(self.text.as_bytes(), start),
        };
        Raw { text: self.text, spans: self.spans, start, end: self.at }
    }

    fn member(&mut self) -> Option<(Cow<'a, str>, Raw<'a>)> {
        self.step()?;
        let start = self.at + 1;
        self.at = end_of_checked(self.text.as_bytes(), start);
        let name = unescape(&self.text[start..self.at - 1]);
        self.step()?;
        Some((name, self.value()))
    }
}

/// The members of an object, in the order of the document.
#[derive(Clone)]
pub struct Members<'a>(Cursor<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.member()
    }
}

/// The elements of an array.
#[derive(Clone)]
pub struct Elements<'a>(Cursor<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        self.0.step()?;
        Some(self.0.value())
    }
}

/// The place after the checked value at `start`.
fn end_of_value(bytes: &[u8], start: usize) -> usize {
    match bytes.get(start) {
        Some(b'"') => end_of_checked(bytes, start + 1),
        Some(b'{' | b'[') => end_of_container(bytes, start),
        _ => {
            let rest = &bytes[start..];
            let end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
            start + rest.iter().position(end).unwrap_or(rest.len())
        }
    }
}

/// The place after the checked object or array at `at`: brackets are counted, strings stepped over.
fn end_of_container(bytes: &[u8], mut at: usize) -> usize {
    let mut open = 0usize;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => open += 1,
            b'}' | b']' => {
                open -= 1;
                if open == 0 {
                    break;
                }
            }
            b'"' => at = end_of_checked(bytes, at),
            _ => {}
        }
    }
    at
}

/// Gives the value to a serde serializer: numbers as integers or binary64, so their spelling may change.
impl serde::Serialize for Raw<'_> {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.kind() {
            Kind::Null => out.serialize_unit(),
            Kind::Bool => out.serialize_bool(self.as_bool() == Some(true)),
            Kind::Number => match self.as_integer() {
                // A negative zero stays one.
                Some(integer) if integer != 0 || !self.as_text().starts_with('-') => {
                    out.serialize_i64(integer)
                }
                _ => out.serialize_f64(self.as_f64().unwrap_or(f64::NAN)),
            },
            Kind::String => out.serialize_str(&self.as_str().unwrap_or_default()),
            Kind::Array => out.collect_seq(self.elements().into_iter().flatten()),
            Kind::Object => out.collect_map(self.members().into_iter().flatten()),
        }
    }
}
