//! Strict JSON: one check for everything that enters or leaves, and a view without a tree over what passed.
//!
//! Beyond the grammar of RFC 8259 the check refuses: names that stand twice in an object (compared unescaped), U+0000 raw or
//! escaped, unpaired surrogate escapes, a byte-order mark, integers outside ±(2^53-1), numbers that are not finite as binary64, names
//! that begin `$serde_json::private::`, and what passes the bounds of the [`Profile`] (P1-HOST-17 to P1-HOST-22, P1-HOST-35).
//!
//! UTF-8 is judged over the whole document first; then the document is read from left to right, and the first fault wins. A name is
//! judged at its closing quote: its length first, then the reserved beginning, then whether it is there already. A string's length
//! is judged at its closing quote. Entry 257 is refused at its first byte, and so is a value that stands too deep. What begins or
//! goes on like a number but is none (`+1`, `.5`, `1.2.3`, `0x10`, `1 000`, `1,000`, digits of other scripts) is `json.number`.

mod explain;
mod names;
mod number;
mod owned;
mod profile;
mod quote;
mod scan;
mod string;
mod view;

pub use owned::RawJson;
pub use profile::Profile;
pub use quote::{quote, quote_into};
pub use view::{Elements, Kind, Members, Raw};

use crate::{Code, Violation};
use names::Name;
use view::Span;

/// Names that a checker keeps room for between documents: what the process profile can need.
const KEPT_NAMES: usize = 13 * 256;

/// The strict checker with its working memory, to use again and again. In the process profile the memory stays within 64 KiB.
///
/// ```
/// use modberth_protocol::json::{Checker, Profile};
///
/// let mut checker = Checker::new();
/// let root = checker.parse(br#"{"a":[1,2.5],"b":"x"}"#, &Profile::PROCESS)?;
/// assert_eq!(root.get("a").unwrap().bytes(), b"[1,2.5]");
/// let refused = checker.check(br#"{"a":{"b":1,"\u0062":2}}"#, &Profile::PROCESS).unwrap_err();
/// assert_eq!(refused.to_string(), r#"json.duplicate_key: byte 12, a.b: The name "b" stands twice in one object."#);
/// # Ok::<(), modberth_protocol::Violation>(())
/// ```
#[derive(Debug, Default)]
pub struct Checker {
    names: Vec<Name>,
    spans: Vec<Span>,
}

impl Checker {
    /// A checker without memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks a document. Nothing is built.
    ///
    /// # Errors
    /// The first fault: a `json.*` code with byte offset and path, and limit and actual value where there is one. A document of
    /// 2 GiB or more is refused as `frame.too_large`.
    pub fn check(&mut self, document: &[u8], profile: &Profile) -> Result<(), Violation> {
        self.run(document, profile, false).map(drop)
    }

    /// Checks a document and gives a view of its root.
    ///
    /// # Errors
    /// As [`Checker::check`].
    pub fn parse<'a>(&'a mut self, document: &'a [u8], profile: &Profile) -> Result<Raw<'a>, Violation> {
        let text = self.run(document, profile, true)?;
        Ok(Raw::root(text, &self.spans))
    }

    /// Bytes of working memory it holds now.
    pub fn scratch_bytes(&self) -> usize {
        self.names.capacity() * size_of::<Name>() + self.spans.capacity() * size_of::<Span>()
    }

    fn run<'a>(&mut self, document: &'a [u8], profile: &Profile, index: bool) -> Result<&'a str, Violation> {
        // Places are kept in 31 bits.
        if document.len() > i32::MAX as usize {
            return Err(Violation::new(
                Code::FrameTooLarge,
                format!("A document has at most {} bytes; this one has {}.", i32::MAX, document.len()),
            )
            .limit(i32::MAX as u64)
            .actual(document.len()));
        }
        let text = simdutf8::compat::from_utf8(document).map_err(|error| {
            let at = error.valid_up_to();
            Violation::new(Code::JsonUtf8, format!("The bytes are not UTF-8 from 0x{:02x} on.", document[at]))
                .offset(at)
        })?;
        let spans = if index { Some(&mut self.spans) } else { None };
        let result = scan::scan(text, profile, &mut self.names, spans);
        self.names.clear();
        if self.names.capacity() > KEPT_NAMES {
            self.names.shrink_to(KEPT_NAMES);
        }
        match result {
            Ok(()) => Ok(text),
            Err(fault) => Err(explain::explain(text, profile, fault)),
        }
    }
}

/// Checks a document with working memory of its own; see [`Checker::check`].
///
/// # Errors
/// As [`Checker::check`].
pub fn check(document: &[u8], profile: &Profile) -> Result<(), Violation> {
    Checker::new().check(document, profile)
}

/// Checks a document and gives a view of its root; see [`Checker::parse`].
///
/// # Errors
/// As [`Checker::check`].
pub fn parse<'a>(document: &'a [u8], profile: &Profile) -> Result<Raw<'a>, Violation> {
    let text = Checker::new().run(document, profile, false)?;
    Ok(Raw::root(text, &[]))
}
