//! Text inside quotes: the fast scan to its end, escapes, decoding and counting.

use super::scan::{Scan, Scanner};
use crate::Code;
use std::borrow::Cow;
use std::str::Chars;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Eight bytes at `at` as a little-endian word.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let chunk = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*chunk))
}

/// Marks the bytes of a word that end a plain run of text: `"`, `\` and control characters. The lowest mark is exact; marks
/// above it may be false.
#[inline(always)]
pub(super) const fn specials(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let quotes = quote.wrapping_sub(ONES) & !quote;
    let backslashes = backslash.wrapping_sub(ONES) & !backslash;
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & HIGHS
}

/// Index of the lowest marked byte.
#[inline(always)]
pub(super) const fn lowest(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

impl Scanner<'_> {
    /// Scans text whose opening quote stands before `at`. Gives the place after the closing quote and whether the text
    /// holds escapes.
    #[inline]
    pub(super) fn text(&mut self, mut at: usize) -> Scan<(usize, bool)> {
        let mut escaped = false;
        loop {
            while let Some(word) = word(self.bytes, at) {
                let marks = specials(word);
                if marks != 0 {
                    at += lowest(marks);
                    break;
                }
                at += 8;
            }
            match self.bytes.get(at) {
                Some(b'"') => return Ok((at + 1, escaped)),
                Some(b'\\') => {
                    escaped = true;
                    at = self.escape(at)?;
                }
                Some(0) => return self.fail(Code::JsonNul, at),
                Some(0..0x20) => return self.fail(Code::JsonControl, at),
                // Only the last seven bytes of a document come here.
                Some(_) => at += 1,
                None => return self.truncated(),
            }
        }
    }

    /// Checks the escape at `at` and gives the place after it; a surrogate pair counts as one.
    #[inline]
    fn escape(&mut self, at: usize) -> Scan<usize> {
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => match self.hex(at)? {
                0 => self.fail(Code::JsonNul, at),
                0xd800..0xdc00 => self.low_surrogate(at),
                0xdc00..0xe000 => self.fail(Code::JsonSurrogate, at),
                _ => Ok(at + 6),
            },
            Some(_) => self.fail(Code::JsonEscape, at),
            None => self.truncated(),
        }
    }

    /// Checks that the high surrogate at `high` is followed by a low one.
    fn low_surrogate(&mut self, high: usize) -> Scan<usize> {
        let low = high + 6;
        match (self.bytes.get(low), self.bytes.get(low + 1)) {
            (Some(b'\\'), Some(b'u')) => match self.hex(low)? {
                0xdc00..0xe000 => Ok(low + 6),
                _ => self.fail(Code::JsonSurrogate, high),
            },
            (None, _) | (Some(b'\\'), None) => self.truncated(),
            _ => self.fail(Code::JsonSurrogate, high),
        }
    }

    /// The four hexadecimal digits of the `\u` escape at `at`.
    #[inline]
    fn hex(&mut self, at: usize) -> Scan<u32> {
        let mut value = 0;
        for index in at + 2..at + 6 {
            match self.bytes.get(index).copied().map(hex_digit) {
                Some(Some(digit)) => value = value << 4 | digit,
                Some(None) => return self.fail(Code::JsonEscape, at),
                None => return self.truncated(),
            }
        }
        Ok(value)
    }
}

#[inline(always)]
const fn hex_digit(byte: u8) -> Option<u32> {
    match byte {
        b'0'..=b'9' => Some((byte - b'0') as u32),
        b'a'..=b'f' => Some((byte - b'a') as u32 + 10),
        b'A'..=b'F' => Some((byte - b'A') as u32 + 10),
        _ => None,
    }
}

/// The place after the closing quote of a text; its opening quote stands before `at`. Nothing is checked.
pub(super) fn end_of_text(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        while let Some(word) = word(bytes, at) {
            let marks = specials(word);
            if marks != 0 {
                at += lowest(marks);
                break;
            }
            at += 8;
        }
        match bytes.get(at) {
            Some(b'"') => return Some(at + 1),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return None,
        }
    }
}

/// As [`end_of_text`], for text that has been checked and so has an end.
pub(super) fn end_of_checked(bytes: &[u8], at: usize) -> usize {
    end_of_text(bytes, at).unwrap_or(bytes.len())
}

/// The characters that checked text stands for: escapes decoded, surrogate pairs joined.
#[derive(Clone)]
pub(super) struct Unescape<'a>(Chars<'a>);

impl<'a> Unescape<'a> {
    /// `raw` is what stands between the quotes of checked text.
    pub(super) fn new(raw: &'a str) -> Self {
        Unescape(raw.chars())
    }

    fn hex(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |value, _| Some(value << 4 | self.0.next()?.to_digit(16)?))
    }
}

impl Iterator for Unescape<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let found = self.0.next()?;
        if found != '\\' {
            return Some(found);
        }
        Some(match self.0.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let mut unit = self.hex()?;
                if (0xd800..0xdc00).contains(&unit) {
                    // Checked text has a low surrogate escape here.
                    self.0.nth(1)?;
                    let low = self.hex()?;
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low & 0x3ff);
                }
                char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            plain => plain,
        })
    }
}

/// What stands between the quotes of checked text, unescaped; borrowed if there are no escapes.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    if raw.as_bytes().contains(&b'\\') { Unescape::new(raw).collect::<String>().into() } else { raw.into() }
}

/// Unicode code points of checked text, escapes counted as what they stand for.
#[cold]
pub(super) fn points(raw: &str) -> usize {
    if raw.as_bytes().contains(&b'\\') { Unescape::new(raw).count() } else { raw.chars().count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_mark_is_the_first_special_byte_for_every_byte_and_position() {
        for position in 0..8 {
            for byte in 0..=255u8 {
                for fill in [b'a', 0x80, 0xff, b'!', b'#', b'[', b']', b' '] {
                    let mut bytes = [fill; 8];
                    bytes[position] = byte;
                    let marks = specials(u64::from_le_bytes(bytes));
                    let first = bytes.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'));
                    assert_eq!((marks != 0).then(|| lowest(marks)), first, "{bytes:x?}");
                }
            }
        }
    }
}
