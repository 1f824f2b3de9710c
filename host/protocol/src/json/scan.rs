//! The grammar: one pass, left to right, recursion bounded by the profile's depth.

use super::names::{Name, Names};
use super::number::{continues_number, is_other_digit};
use super::profile::Profile;
use super::string::{points, word};
use super::view::{INDEXED_DEPTH, Span, SpanIndex};
use crate::Code;

/// The scan has met a fault, which [`Scanner::fault`] holds.
pub(super) struct Stop;

/// What each step gives: mostly the place after what it has checked.
pub(super) type Scan<T> = Result<T, Stop>;

/// The first fault of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: Code,
    pub(super) at: usize,
}

/// One document under check.
pub(super) struct Scanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) text: &'a str,
    pub(super) profile: Profile,
    pub(super) names: &'a mut Vec<Name>,
    index: SpanIndex<'a>,
    fault: Fault,
}

/// Checks a document that is known to be UTF-8. `spans` receives where the large values near the root end, if wanted.
///
/// A duplicate name may be noticed late: when another fault is given, a duplicate may stand before it. The caller looks.
pub(super) fn scan(
    text: &str,
    profile: &Profile,
    names: &mut Vec<Name>,
    spans: Option<&mut Vec<Span>>,
) -> Result<(), Fault> {
    names.clear();
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        text,
        profile: *profile,
        names,
        index: SpanIndex::new(spans),
        fault: Fault { code: Code::JsonSyntax, at: 0 },
    };
    scanner.document().map_err(|Stop| scanner.fault)
}

impl Scanner<'_> {
    /// Notes the fault.
    #[cold]
    #[inline(never)]
    pub(super) fn fail<T>(&mut self, code: Code, at: usize) -> Scan<T> {
        self.fault = Fault { code, at };
        Err(Stop)
    }

    /// The document ends too early.
    #[cold]
    pub(super) fn truncated<T>(&mut self) -> Scan<T> {
        self.fail(Code::JsonTruncated, self.bytes.len())
    }

    fn document(&mut self) -> Scan<()> {
        let (start, first) = self.peek(0);
        if start == self.bytes.len() {
            return self.truncated();
        }
        if self.profile.object_root && first != b'{' {
            return self.fail(Code::JsonNotObject, start);
        }
        let end = self.value(start, first, 0)?;
        let (rest, _) = self.peek(end);
        if rest == self.bytes.len() {
            Ok(())
        } else if rest == end && self.after_number(rest) && continues_number(self.bytes[rest]) {
            self.fail(Code::JsonNumber, rest)
        } else {
            self.fail(Code::JsonTrailing, rest)
        }
    }

    /// The byte after white space and its place. At the end of the document it is 0, which is legal nowhere between tokens.
    #[inline(always)]
    fn peek(&self, at: usize) -> (usize, u8) {
        match self.bytes.get(at) {
            Some(&byte) if byte > b' ' => (at, byte),
            _ => self.peek_after_run(at),
        }
    }

    /// Skips white space; long runs eight bytes at a time.
    fn peek_after_run(&self, mut at: usize) -> (usize, u8) {
        loop {
            match word(self.bytes, at) {
                Some(word) if word == u64::from_le_bytes([b' '; 8]) || is_white(word) => at += 8,
                _ => break,
            }
        }
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(at) {
            at += 1;
        }
        (at, self.bytes.get(at).copied().unwrap_or(0))
    }

    /// Checks the value that begins at `at` with the byte `first`, and gives the place after it.
    #[inline]
    fn value(&mut self, at: usize, first: u8, depth: u8) -> Scan<usize> {
        if depth > self.profile.max_depth {
            return self.too_deep(at);
        }
        match first {
            b'"' => {
                let (end, _) = self.text(at + 1)?;
                if end - at - 2 > self.profile.max_string {
                    self.string_length(at, end)?;
                }
                if depth <= INDEXED_DEPTH {
                    self.index.string(at, end);
                }
                Ok(end)
            }
            b'{' => self.object(at, depth),
            b'[' => self.array(at, depth),
            b'-' | b'0'..=b'9' => self.number(at),
            b't' => self.literal(at, b"true"),
            b'f' => self.literal(at, b"false"),
            b'n' => self.literal(at, b"null"),
            _ => self.no_value(at),
        }
    }

    #[cold]
    fn too_deep(&mut self, at: usize) -> Scan<usize> {
        if at == self.bytes.len() { self.truncated() } else { self.fail(Code::JsonDepth, at) }
    }

    #[cold]
    fn string_length(&mut self, at: usize, end: usize) -> Scan<()> {
        if points(&self.text[at + 1..end - 1]) > self.profile.max_string {
            return self.fail(Code::JsonStringLength, at);
        }
        Ok(())
    }

    fn object(&mut self, open: usize, depth: u8) -> Scan<usize> {
        let slot = self.index.open(open, depth);
        let (mut at, mut byte) = self.peek(open + 1);
        if byte != b'}' {
            let mut names = Names::new(self.names.len());
            let mut room = self.profile.max_entries;
            loop {
                if byte != b'"' {
                    return self.no_name(at);
                }
                if room == 0 {
                    return self.fail(Code::JsonEntries, at);
                }
                room -= 1;
                at = self.name(at, &mut names)?;
                (at, byte) = self.peek(at);
                if byte != b':' {
                    return self.no_colon(at);
                }
                (at, byte) = self.peek(at + 1);
                at = self.value(at, byte, depth + 1)?;
                (at, byte) = self.peek(at);
                match byte {
                    b',' => (at, byte) = self.peek(at + 1),
                    b'}' => break,
                    _ => return self.no_separator(at),
                }
            }
            self.end_names(&names)?;
        }
        self.index.close(slot, at + 1);
        Ok(at + 1)
    }

    fn array(&mut self, open: usize, depth: u8) -> Scan<usize> {
        let slot = self.index.open(open, depth);
        let (mut at, mut byte) = self.peek(open + 1);
        if byte != b']' {
            let mut room = self.profile.max_entries;
            loop {
                if room == 0 && byte != b']' && at < self.bytes.len() {
                    return self.fail(Code::JsonEntries, at);
                }
                // A bracket after the last comma is refused as a value.
                room = room.wrapping_sub(1);
                at = self.value(at, byte, depth + 1)?;
                (at, byte) = self.peek(at);
                match byte {
                    b',' => (at, byte) = self.peek(at + 1),
                    b']' => break,
                    _ => return self.no_separator(at),
                }
            }
        }
        self.index.close(slot, at + 1);
        Ok(at + 1)
    }

    #[cold]
    fn no_colon(&mut self, at: usize) -> Scan<usize> {
        if at == self.bytes.len() { self.truncated() } else { self.fail(Code::JsonSyntax, at) }
    }

    #[inline]
    fn literal(&mut self, at: usize, literal: &[u8]) -> Scan<usize> {
        let rest = &self.bytes[at..];
        if rest.starts_with(literal) {
            return Ok(at + literal.len());
        }
        let same = rest.iter().zip(literal).take_while(|(left, right)| left == right).count();
        if same == rest.len() { self.truncated() } else { self.fail(Code::JsonSyntax, at + same) }
    }

    /// A byte that begins no value. What begins like a number is a malformed number.
    #[cold]
    fn no_value(&mut self, at: usize) -> Scan<usize> {
        if at == self.bytes.len() {
            return self.truncated();
        }
        let numeric = self.text[at..]
            .chars()
            .next()
            .is_some_and(|found| matches!(found, '+' | '.') || is_other_digit(found));
        self.fail(if numeric { Code::JsonNumber } else { Code::JsonSyntax }, at)
    }

    /// A byte where a name is due. A digit right after a number and a comma is a malformed number (`1,000`).
    #[cold]
    fn no_name(&mut self, at: usize) -> Scan<usize> {
        match self.bytes.get(at) {
            None => self.truncated(),
            Some(b'0'..=b'9') if self.bytes[at - 1] == b',' && self.after_number(at - 1) => {
                self.fail(Code::JsonNumber, at)
            }
            Some(_) => self.fail(Code::JsonSyntax, at),
        }
    }

    /// A byte where a comma or the closing bracket is due. After a number, what could belong to it makes it a malformed one
    /// (`1.2.3`, `0x10`), and so does another digit after white space (`1 000`).
    #[cold]
    fn no_separator(&mut self, at: usize) -> Scan<usize> {
        let Some(&byte) = self.bytes.get(at) else { return self.truncated() };
        let white =
            self.bytes[..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        let end = at - white.count();
        let joins = if end == at { continues_number(byte) } else { byte.is_ascii_digit() };
        let code = if joins && self.after_number(end) { Code::JsonNumber } else { Code::JsonSyntax };
        self.fail(code, at)
    }

    /// True if a number ends right before `at`.
    fn after_number(&self, at: usize) -> bool {
        at > 0 && self.bytes[at - 1].is_ascii_digit()
    }
}

/// True if all eight bytes are JSON white space.
fn is_white(word: u64) -> bool {
    const LOWS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The high bit of each byte that differs from the pattern; exact for every byte.
    let differs = |pattern: u8| {
        let other = word ^ u64::from_le_bytes([pattern; 8]);
        ((other & LOWS).wrapping_add(LOWS) | other) & !LOWS
    };
    differs(b' ') & differs(b'\t') & differs(b'\n') & differs(b'\r') == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_words_are_exactly_those_of_json_white_space() {
        for position in 0..8 {
            for byte in 0..=255u8 {
                for fill in *b" \t\n\r" {
                    let mut bytes = [fill; 8];
                    bytes[position] = byte;
                    let white = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
                    assert_eq!(is_white(u64::from_le_bytes(bytes)), white, "{bytes:x?}");
                }
            }
        }
    }
}
