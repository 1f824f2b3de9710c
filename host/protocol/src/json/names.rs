//! Duplicate names: found in deterministic O(n log n), without hashing that a sender could attack.
//!
//! Each open object has a run of fingerprints on one shared stack and a 256-bit filter. A clear bit proves a name new. A set bit
//! costs a look through the run, for the first names only; in large objects, and in objects whose names were built to
//! collide, the run is sorted at the closing brace instead and neighbours compared.

use super::scan::{Scan, Scanner};
use super::string::{Unescape, lowest, points, specials, word};
use crate::Code;
use std::cmp::Ordering;

/// Names that begin so would change meaning inside some readers of serde's JSON library, so they are refused.
pub(super) const RESERVED: &str = "$serde_json::private::";

/// Names that are looked through one by one; from here on they are sorted at the closing brace.
const LINEAR: usize = 64;
/// Names of equal fingerprint but different text, in one object, before it is treated as hostile and sorted.
const COLLISIONS: u8 = 4;
/// Marks, in [`Name::len`], a name with escapes.
const ESCAPED: u32 = 1 << 31;

/// A name of an open object: 16 bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    fingerprint: u64,
    /// Place after the opening quote.
    at: u32,
    /// Bytes between the quotes, and the mark [`ESCAPED`].
    len: u32,
}

impl Name {
    fn raw<'a>(&self, text: &'a str) -> &'a str {
        let at = self.at as usize;
        &text[at..at + (self.len & !ESCAPED) as usize]
    }

    /// Compares what the names stand for.
    fn compare(&self, other: &Name, text: &str) -> Ordering {
        let (left, right) = (self.raw(text), other.raw(text));
        if (self.len | other.len) & ESCAPED == 0 {
            left.cmp(right)
        } else {
            Unescape::new(left).cmp(Unescape::new(right))
        }
    }
}

/// What is known of the names of one open object.
pub(super) struct Names {
    /// Where its run begins on the shared stack.
    base: usize,
    filter: [u64; 4],
    collisions: u8,
    sort: bool,
}

impl Names {
    #[inline(always)]
    pub(super) fn new(base: usize) -> Self {
        Names { base, filter: [0; 4], collisions: 0, sort: false }
    }
}

/// Fingerprint of a name of fewer than 8 bytes: exact. `word` holds the bytes, the rest is 0.
#[inline(always)]
const fn short(word: u64, len: usize) -> u64 {
    word | (len as u64) << 56
}

/// Fingerprint of a longer name.
#[inline(always)]
const fn long(first: u64, last: u64, len: usize) -> u64 {
    (first ^ last.rotate_left(29)).wrapping_add(len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Fingerprint of a name without escapes.
fn plain_fingerprint(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => long(u64::from_le_bytes(*first), u64::from_le_bytes(*last), bytes.len()),
        _ => short(bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)), bytes.len()),
    }
}

/// Fingerprint of a name with escapes: that of the text it stands for.
fn escaped_fingerprint(raw: &str) -> u64 {
    let (mut first, mut last, mut len) = (0u64, 0u64, 0usize);
    for found in Unescape::new(raw) {
        for byte in found.encode_utf8(&mut [0; 4]).bytes() {
            if len < 8 {
                first |= u64::from(byte) << (8 * len);
            }
            last = last >> 8 | u64::from(byte) << 56;
            len += 1;
        }
    }
    if len < 8 { short(first, len) } else { long(first, last, len) }
}

impl Scanner<'_> {
    /// Checks the name whose opening quote stands at `quote` and gives the place after its closing quote.
    #[inline]
    pub(super) fn name(&mut self, quote: usize, names: &mut Names) -> Scan<usize> {
        let at = quote + 1;
        // Most names end within the first eight bytes: one load gives their end and their fingerprint.
        if let Some(word) = word(self.bytes, at) {
            let marks = specials(word);
            if marks != 0 {
                let len = lowest(marks);
                if self.bytes[at + len] == b'"' && len <= self.profile.max_name {
                    let fingerprint = short(word & ((1u64 << (8 * len)) - 1), len);
                    self.add(Name { fingerprint, at: at as u32, len: len as u32 }, names)?;
                    return Ok(at + len + 1);
                }
            }
        }
        self.long_name(quote, names)
    }

    /// A name of eight bytes or more, or with escapes, or at the very end of the document.
    fn long_name(&mut self, quote: usize, names: &mut Names) -> Scan<usize> {
        let at = quote + 1;
        let (end, escaped) = self.text(at)?;
        let raw = &self.text[at..end - 1];
        if raw.len() > self.profile.max_name && points(raw) > self.profile.max_name {
            return self.fail(Code::JsonNameLength, quote);
        }
        let (reserved, fingerprint, mark) = if escaped {
            let reserved = Unescape::new(raw).take(RESERVED.len()).eq(RESERVED.chars());
            (reserved, escaped_fingerprint(raw), ESCAPED)
        } else {
            (raw.starts_with(RESERVED), plain_fingerprint(raw.as_bytes()), 0)
        };
        if reserved {
            return self.fail(Code::JsonReservedKey, quote);
        }
        self.add(Name { fingerprint, at: at as u32, len: raw.len() as u32 | mark }, names)?;
        Ok(end)
    }

    /// Puts a name on the stack after looking for an equal one.
    #[inline]
    fn add(&mut self, name: Name, names: &mut Names) -> Scan<()> {
        // The top byte of the product picks one of 256 bits.
        let bit = (name.fingerprint.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 56) as usize;
        let mask = 1u64 << (bit & 63);
        let seen = names.filter[bit >> 6] & mask != 0;
        names.filter[bit >> 6] |= mask;
        if seen && !names.sort {
            self.look_through(name, names)?;
        }
        self.push_name(name);
        Ok(())
    }

    /// Compares a name with those before it in the same object.
    fn look_through(&mut self, name: Name, names: &mut Names) -> Scan<()> {
        let run = &self.names[names.base..];
        if run.len() >= LINEAR {
            names.sort = true;
            return Ok(());
        }
        for other in run {
            if other.fingerprint == name.fingerprint {
                if other.compare(&name, self.text) == Ordering::Equal {
                    return self.fail(Code::JsonDuplicateKey, name.at as usize - 1);
                }
                names.collisions += 1;
                if names.collisions >= COLLISIONS {
                    names.sort = true;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn push_name(&mut self, name: Name) {
        if self.names.len() == self.names.capacity() {
            self.grow_names();
        }
        self.names.push(name);
    }

    /// Doubles the stack of names, but never past what the profile can need.
    #[cold]
    fn grow_names(&mut self) {
        let levels = usize::from(self.profile.max_depth) + 1;
        let most = self.profile.max_entries.saturating_mul(levels).max(self.names.len() + 1);
        let wanted = (self.names.capacity() * 2).max(64).min(most);
        self.names.reserve_exact(wanted - self.names.len());
    }

    /// Ends an object: sorts its run if that was put off, and takes it off the stack.
    #[inline]
    pub(super) fn end_names(&mut self, names: &Names) -> Scan<()> {
        if names.sort {
            self.sorted(names.base)?;
        }
        self.names.truncate(names.base);
        Ok(())
    }

    /// Sorts a run and compares neighbours.
    fn sorted(&mut self, base: usize) -> Scan<()> {
        let text = self.text;
        let run = &mut self.names[base..];
        let order = |left: &Name, right: &Name| {
            left.fingerprint.cmp(&right.fingerprint).then_with(|| left.compare(right, text))
        };
        run.sort_unstable_by(|left, right| order(left, right).then(left.at.cmp(&right.at)));
        let first = run
            .windows(2)
            .filter(|pair| order(&pair[0], &pair[1]) == Ordering::Equal)
            .map(|pair| pair[1].at)
            .min();
        match first {
            Some(at) => self.fail(Code::JsonDuplicateKey, at as usize - 1),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_and_plain_forms_of_a_name_have_one_fingerprint() {
        for text in ["", "a", "seven_7", "eight_88", "nine_nine", "é", "日本語日本語", "😀😀", "😀x😀"]
        {
            let escaped: String = text
                .chars()
                .flat_map(|found| found.encode_utf16(&mut [0; 2]).to_vec())
                .map(|unit| format!("\\u{unit:04X}"))
                .collect();
            assert_eq!(plain_fingerprint(text.as_bytes()), escaped_fingerprint(&escaped), "{text}");
        }
    }
}
