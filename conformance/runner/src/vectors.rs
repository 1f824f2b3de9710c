//! The vectors for strict JSON, `conformance/cases/json/`.

use crate::bytes::Bytes;
use serde::Deserialize;

/// Vectors at the beginning of the list of accepted documents whose bytes are frozen.
pub const FROZEN_ACCEPTED: usize = 57;
/// Vectors at the beginning of the list of refused documents whose bytes are frozen.
pub const FROZEN_REFUSED: usize = 145;

/// The bounds that a verdict holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// 32 levels with the root counted as 1, and nothing else.
    Levels32,
    /// The process protocols.
    Process,
    /// Wire.
    Wire,
}

/// A document and what a strict checker says of it.
#[derive(Debug, Clone)]
pub struct Vector {
    /// Unique over all vectors.
    pub name: String,
    /// The document.
    pub bytes: Vec<u8>,
    code: Option<String>,
    process: Option<Verdict>,
    wire: Option<Verdict>,
}

impl Vector {
    /// The code of the first fault, or none if the document is accepted.
    pub fn code(&self, bounds: Bounds) -> Option<&str> {
        let turned = match bounds {
            Bounds::Levels32 => None,
            Bounds::Process => self.process.as_ref(),
            Bounds::Wire => self.wire.as_ref(),
        };
        match turned {
            Some(verdict) => verdict.code.as_deref(),
            None => self.code.as_deref(),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    code: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "$schema")]
    _schema: String,
    format: u32,
    #[serde(rename = "title")]
    _title: String,
    vectors: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    bytes: Bytes,
    code: Option<String>,
    process: Option<Verdict>,
    wire: Option<Verdict>,
    #[serde(rename = "note")]
    _note: Option<String>,
}

/// The documents that a checker with [`Bounds::Levels32`] accepts, in the order of the file.
///
/// # Errors
/// A line that says what is wrong with the file.
pub fn accepted() -> Result<Vec<Vector>, String> {
    read("accept.json", include_str!("../../cases/json/accept.json"))
}

/// The documents that a checker with [`Bounds::Levels32`] refuses, in the order of the file.
///
/// # Errors
/// A line that says what is wrong with the file.
pub fn refused() -> Result<Vec<Vector>, String> {
    read("reject.json", include_str!("../../cases/json/reject.json"))
}

/// All vectors.
///
/// # Errors
/// A line that says what is wrong with a file.
pub fn all() -> Result<Vec<Vector>, String> {
    let mut vectors = accepted()?;
    vectors.append(&mut refused()?);
    Ok(vectors)
}

fn read(name: &str, text: &str) -> Result<Vec<Vector>, String> {
    let file: File = serde_json::from_str(text).map_err(|error| format!("{name}: {error}"))?;
    if file.format != 1 {
        return Err(format!("{name}: format {} is not 1", file.format));
    }
    file.vectors
        .into_iter()
        .map(|entry| {
            let bytes = entry.bytes.expand().map_err(|error| format!("{name}: {}: {error}", entry.name))?;
            Ok(Vector { name: entry.name, bytes, code: entry.code, process: entry.process, wire: entry.wire })
        })
        .collect()
}
