//! The manifest as it stands in an archive: compact, members sorted by name, in ASCII, with `files` filled in.

use std::fmt::Write as _;

use modberth_protocol::json::{self, Kind, Profile, Raw};
use modberth_protocol::{Code, Violation};

use super::{Contents, check_contents};
use crate::digest::Digest;
use crate::limits::{MANIFEST_BYTES, MANIFEST_NAME};
use crate::problem::Problems;

/// The canonical manifest with the inventory of the contents.
///
/// Numbers keep the spelling that the author gave them, so packing what was unpacked gives the same bytes.
pub(super) fn manifest(source: &[u8], contents: &Contents) -> Result<Vec<u8>, Problems> {
    // The whole check names every problem of the manifest before anything about the payload.
    let manifest = crate::manifest::Manifest::parse(source)?;
    check_contents(contents)?;
    if !manifest.files.is_empty() {
        crate::package::compare(&manifest.files, contents)?;
    }
    let raw = json::parse(source, &Profile::PROCESS).map_err(|fault| fault.file(MANIFEST_NAME))?;
    let mut out = String::with_capacity(source.len());
    object(raw, Some(contents), &mut out);
    if out.len() > MANIFEST_BYTES {
        return Err(Violation::new(
            Code::PackageManifestTooLarge,
            format!(
                "With the list of files manifest.json would have {} bytes; at most {MANIFEST_BYTES} are allowed.",
                out.len()
            ),
        )
        .file(MANIFEST_NAME)
        .limit(MANIFEST_BYTES)
        .actual(out.len())
        .into());
    }
    Ok(out.into_bytes())
}

/// Writes a value; `files` replaces the member of that name at the root.
fn value(raw: Raw<'_>, out: &mut String) {
    match raw.kind() {
        Kind::Object => object(raw, None, out),
        Kind::Array => {
            out.push('[');
            for (index, element) in raw.elements().into_iter().flatten().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                value(element, out);
            }
            out.push(']');
        }
        Kind::String => string(&raw.as_str().unwrap_or_default(), out),
        Kind::Number | Kind::Bool | Kind::Null => out.push_str(raw.as_text()),
    }
}

fn object(raw: Raw<'_>, files: Option<&Contents>, out: &mut String) {
    let mut members: Vec<_> = raw.members().into_iter().flatten().collect();
    members.sort_by(|(left, _), (right, _)| left.cmp(right));
    out.push('{');
    for (index, (name, element)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        string(&name, out);
        out.push(':');
        match files {
            Some(contents) if name == "files" => inventory(contents, out),
            _ => value(element, out),
        }
    }
    out.push('}');
}

fn inventory(contents: &Contents, out: &mut String) {
    out.push('{');
    for (index, (path, bytes)) in contents.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        string(path, out);
        // Writing to a String cannot fail.
        let _ = write!(out, ":\"{}\"", Digest::of(bytes));
    }
    out.push('}');
}

/// A JSON string in ASCII: what is not printable ASCII is escaped by its UTF-16 units.
fn string(text: &str, out: &mut String) {
    out.push('"');
    for found in text.chars() {
        match found {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(found),
            _ => {
                for unit in found.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(source: &str) -> String {
        let mut out = String::new();
        value(json::parse(source.as_bytes(), &Profile::PROCESS).unwrap(), &mut out);
        out
    }

    #[test]
    fn compact_sorted_ascii() {
        assert_eq!(
            canonical(
                "{ \"b\" : [1.0, -0, 1E5, true, null] ,\n \"a\" : {\"z\":\"\u{e9}\u{1f600}\u{7f}\", \"B\":\"\\u0041\\/\\n\\u0001\"} }"
            ),
            r#"{"a":{"B":"A/\n\u0001","z":"\u00e9\ud83d\ude00\u007f"},"b":[1.0,-0,1E5,true,null]}"#
        );
    }

    #[test]
    fn names_are_sorted_by_code_points() {
        // U+FFFF sorts before U+10000, although its UTF-16 unit is greater than a surrogate.
        assert_eq!(canonical("{\"\u{10000}\":1,\"\u{ffff}\":2}"), r#"{"\uffff":2,"\ud800\udc00":1}"#);
    }
}
