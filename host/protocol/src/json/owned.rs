//! A checked value that owns its text.

use super::{Profile, Raw, Violation, check};
use std::ops::Range;
use std::sync::Arc;

/// A checked JSON value with its text, passed on unchanged. Cloning is cheap.
///
/// A value that came out of a frame shares the frame's memory with its neighbours, and keeps all of it alive.
#[derive(Clone)]
pub struct RawJson {
    text: Arc<String>,
    range: Range<usize>,
}

impl RawJson {
    /// Checks a text and takes it. White space around the value is left out.
    ///
    /// # Errors
    /// As [`check`].
    pub fn new(text: impl Into<String>, profile: &Profile) -> Result<Self, Violation> {
        let text = text.into();
        check(text.as_bytes(), profile)?;
        Ok(Self::checked(text))
    }

    /// Takes a text that has passed the check.
    fn checked(text: String) -> Self {
        let range = Raw::root(&text, &[]).range();
        RawJson { text: Arc::new(text), range }
    }

    /// The empty object.
    pub fn empty_object() -> Self {
        Self::checked("{}".to_owned())
    }

    /// A part of a checked document, sharing its memory. The range must be that of a value in it.
    pub(crate) fn shared(text: &Arc<String>, range: Range<usize>) -> Self {
        RawJson { text: Arc::clone(text), range }
    }

    /// The value exactly as it was written.
    pub fn as_str(&self) -> &str {
        &self.text[self.range.clone()]
    }

    /// The value's bytes exactly as they were written.
    pub fn as_bytes(&self) -> &[u8] {
        self.as_str().as_bytes()
    }

    /// A view to look inside.
    pub fn raw(&self) -> Raw<'_> {
        Raw::root(self.as_str(), &[])
    }
}

impl From<Raw<'_>> for RawJson {
    /// A copy with memory of its own.
    fn from(raw: Raw<'_>) -> Self {
        Self::checked(raw.as_text().to_owned())
    }
}

impl std::fmt::Debug for RawJson {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "RawJson({})", self.as_str())
    }
}

impl std::fmt::Display for RawJson {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Compares the text.
impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl serde::Serialize for RawJson {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(out)
    }
}
