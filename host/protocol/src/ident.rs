//! Identifiers, digests and ids: what a name may look like.

use crate::limits;
use crate::{Code, Violation};

/// True for `[a-z][a-z0-9_.-]{0,95}`: the form of package, action, parameter and primitive names and of error codes.
pub fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= limits::IDENTIFIER
        && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-'))
}

/// True for 64 lower-case hexadecimal digits: a SHA-256 digest.
pub fn is_digest(text: &str) -> bool {
    is_hex(text, 64)
}

/// True for 32 lower-case hexadecimal digits: the id that a host gives an invocation.
pub fn is_invocation_id(text: &str) -> bool {
    is_hex(text, 32)
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// True for a legal request id: 1 to 128 code points without NUL.
pub fn is_request_id(text: &str) -> bool {
    (1..=limits::REQUEST_ID).contains(&text.chars().count()) && !text.contains('\0')
}

/// The characters that no target id may hold (P1-HOST-14).
pub const TARGET_FORBIDDEN: [char; 4] = ['/', '\\', ':', '\0'];

/// Checks one target id: 1 to 128 code points, none of `/`, `\`, `:` and NUL (P1-HOST-14). The id is opaque otherwise:
/// nothing is normalised, trimmed or folded.
///
/// # Errors
/// `request.target_length` or `request.target_character`. The place carries the target; the caller adds the position.
pub fn check_target(target: &str) -> Result<(), Violation> {
    let length = target.chars().count();
    let range = 1..=limits::TARGET_ID;
    if !range.contains(&length) {
        return Err(Violation::new(
            Code::RequestTargetLength,
            format!("A target id has 1 to {} code points; this one has {length}.", limits::TARGET_ID),
        )
        .outside(&range, length)
        .target(target));
    }
    if let Some((index, found)) =
        target.chars().enumerate().find(|(_, found)| TARGET_FORBIDDEN.contains(found))
    {
        let name = match found {
            '/' => "a slash",
            '\\' => "a backslash",
            ':' => "a colon",
            _ => "NUL",
        };
        return Err(Violation::new(
            Code::RequestTargetCharacter,
            format!("A target id must not contain {name}; this one does at code point {index}."),
        )
        .target(target));
    }
    Ok(())
}
