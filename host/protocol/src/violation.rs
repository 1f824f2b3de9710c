//! A broken rule as a value: which one, where, by how much, and whose fault it is.

use crate::Code;
use crate::json::quote;
use serde::{Serialize, Serializer};
use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;

/// Who has to change something so that the failure goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Blame {
    /// Who asked for the action.
    Caller,
    /// The module, or its package.
    Module,
    /// A rule or grant on this host.
    Policy,
    /// The host, or the machine it runs on.
    Host,
}

impl Blame {
    /// The word as it stands in reports: `caller`, `module`, `policy` or `host`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Blame::Caller => "caller",
            Blame::Module => "module",
            Blame::Policy => "policy",
            Blame::Host => "host",
        }
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// Where a rule was broken. Only what is known is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The file concerned: one of a package, such as `manifest.json` or `payload/main.py`, or one that the caller named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Number of the frame in its direction, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<u32>,
    /// Place in the JSON, such as `results[3].data`. A name that is no plain word stands as `["a b"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Byte offset in that frame's payload, or in the document, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The target id concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The parameter concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
}

impl Place {
    /// True if nothing is known about the place.
    pub fn is_empty(&self) -> bool {
        *self == Place::default()
    }
}

/// Longest target, parameter or path that [`Place`] shows, in code points; the rest becomes `…`.
const SHOWN: usize = 80;

impl fmt::Display for Place {
    /// One line such as `frame 2, byte 57, results[1].data, target "x"`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        if let Some(file) = &self.file {
            write!(out, "{}", one_line(&shorten(file)))?;
            gap = ", ";
        }
        if let Some(frame) = self.frame {
            write!(out, "{gap}frame {frame}")?;
            gap = ", ";
        }
        if let Some(offset) = self.offset {
            write!(out, "{gap}byte {offset}")?;
            gap = ", ";
        }
        if let Some(path) = self.path.as_deref().filter(|path| !path.is_empty()) {
            write!(out, "{gap}{}", one_line(&shorten(path)))?;
            gap = ", ";
        }
        if let Some(target) = &self.target {
            write!(out, "{gap}target {}", one_line(&quote(&shorten(target))))?;
            gap = ", ";
        }
        if let Some(parameter) = &self.parameter {
            write!(out, "{gap}parameter {}", one_line(&quote(&shorten(parameter))))?;
        }
        Ok(())
    }
}

/// The text itself, or its beginning and `…`.
fn shorten(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The text with control characters escaped, so that it fits on one line of a terminal.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for found in text.chars() {
        if found.is_control() || matches!(found, '\u{2028}' | '\u{2029}') {
            // Writing to a String cannot fail.
            let _ = write!(line, "\\u{:04x}", u32::from(found));
        } else {
            line.push(found);
        }
    }
    line
}

/// A broken rule: its code, who is to blame, the place, the limit and the actual value, and one plain English line.
///
/// `Display` gives one line: `CODE: PLACE: MESSAGE`.
/// As JSON it has its [`Violation::remedy`] beside its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which rule.
    pub code: Code,
    /// Who has to change something.
    pub blame: Blame,
    /// Where.
    pub place: Box<Place>,
    /// The bound that was passed, in the unit of the rule.
    pub limit: Option<u64>,
    /// What was found, in the same unit.
    pub actual: Option<u64>,
    /// What happened, for people: one line of plain English without the place.
    pub message: String,
    /// What to do in this very case, where that is more than the code's own remedy.
    advice: Option<Box<str>>,
}

impl Violation {
    /// A violation with the blame that its code has as a rule, and no place. Control characters in the message are escaped.
    #[cold]
    pub fn new(code: Code, message: impl AsRef<str>) -> Self {
        Violation {
            code,
            blame: code.blame(),
            place: Box::default(),
            limit: None,
            actual: None,
            message: one_line(message.as_ref()),
            advice: None,
        }
    }

    /// Says who is to blame in this case.
    #[must_use]
    pub fn blame(mut self, blame: Blame) -> Self {
        self.blame = blame;
        self
    }

    /// Says what to do in this very case, instead of what the code says as a rule. Control characters are escaped.
    #[must_use]
    pub fn advise(mut self, remedy: impl AsRef<str>) -> Self {
        self.advice = Some(one_line(remedy.as_ref()).into());
        self
    }

    /// What to do about it, in one line of plain English.
    pub fn remedy(&self) -> &str {
        self.advice.as_deref().unwrap_or(self.code.remedy())
    }

    /// Adds the bound.
    #[must_use]
    pub fn limit(mut self, limit: impl TryInto<u64>) -> Self {
        self.limit = limit.try_into().ok();
        self
    }

    /// Adds the bound of a range that the actual value passed, the lower or the upper one, and that value.
    #[must_use]
    pub fn outside(self, range: &RangeInclusive<usize>, actual: usize) -> Self {
        let bound = if actual < *range.start() { range.start() } else { range.end() };
        self.limit(*bound).actual(actual)
    }

    /// Adds the actual value.
    #[must_use]
    pub fn actual(mut self, actual: impl TryInto<u64>) -> Self {
        self.actual = actual.try_into().ok();
        self
    }

    /// Adds the file of the package.
    #[must_use]
    pub fn file(mut self, file: impl Into<String>) -> Self {
        self.place.file = Some(file.into());
        self
    }

    /// Adds the number of the frame, counted from 1.
    #[must_use]
    pub fn frame(mut self, frame: u32) -> Self {
        self.place.frame = Some(frame);
        self
    }

    /// Adds the place in the JSON.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.place.path = Some(path.into());
        self
    }

    /// Adds the byte offset in the payload.
    #[must_use]
    pub fn offset(mut self, offset: impl TryInto<u64>) -> Self {
        self.place.offset = offset.try_into().ok();
        self
    }

    /// Adds the target id.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.place.target = Some(target.into());
        self
    }

    /// Adds the name of the parameter.
    #[must_use]
    pub fn parameter(mut self, parameter: impl Into<String>) -> Self {
        self.place.parameter = Some(parameter.into());
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            write!(out, "{}: {}", self.code, self.message)
        } else {
            write!(out, "{}: {}: {}", self.code, self.place, self.message)
        }
    }
}

impl Serialize for Violation {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            code: Code,
            blame: Blame,
            #[serde(flatten)]
            place: &'a Place,
            #[serde(skip_serializing_if = "Option::is_none")]
            limit: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            actual: Option<u64>,
            message: &'a str,
            remedy: &'a str,
        }
        Shape {
            code: self.code,
            blame: self.blame,
            place: &self.place,
            limit: self.limit,
            actual: self.actual,
            message: &self.message,
            remedy: self.remedy(),
        }
        .serialize(out)
    }
}

impl std::error::Error for Violation {}
