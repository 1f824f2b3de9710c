//! Numbers: grammar, the exact integer range and finiteness.

use super::scan::{Scan, Scanner};
use crate::Code;
use crate::limits::JSON_INTEGER;
use std::cmp::Ordering;

/// Digits of the largest legal integer.
const INTEGER_DIGITS: usize = 16;
/// A number below 10^308 is finite; one of 10^309 or more is not; between them the digits decide.
const SURELY_FINITE: i64 = 308;
/// The first digits of the largest finite number, and of the least one that rounds to infinity.
const LARGEST_DIGITS: &[u8; 16] = b"1797693134862315";

impl Scanner<'_> {
    /// Checks the number that begins at `start` with a minus or a digit, and gives the place after it.
    #[inline]
    pub(super) fn number(&mut self, start: usize) -> Scan<usize> {
        let first = start + usize::from(self.bytes.get(start) == Some(&b'-'));
        let mut at = first;
        match self.bytes.get(at) {
            Some(b'0') => at += 1,
            Some(b'1'..=b'9') => at = self.digits(at + 1),
            Some(_) => return self.fail(Code::JsonNumber, at),
            None => return self.truncated(),
        }
        let digits = at - first;
        match self.bytes.get(at) {
            Some(b'.' | b'e' | b'E') => self.fraction(start, digits, at),
            next if digits >= INTEGER_DIGITS => {
                if next.copied().is_some_and(continues_number) {
                    return self.fail(Code::JsonNumber, at);
                }
                if digits > INTEGER_DIGITS || !self.in_range(first, at) {
                    return self.fail(Code::JsonIntegerRange, start);
                }
                Ok(at)
            }
            _ => Ok(at),
        }
    }

    /// The place after a run of digits.
    #[inline(always)]
    fn digits(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    }

    /// At least one digit, then the place after the run.
    #[inline]
    fn some_digits(&mut self, at: usize) -> Scan<usize> {
        match self.bytes.get(at) {
            Some(b'0'..=b'9') => Ok(self.digits(at + 1)),
            Some(_) => self.fail(Code::JsonNumber, at),
            None => self.truncated(),
        }
    }

    /// The rest of a number with a fraction or exponent, from the point or the letter on.
    #[inline]
    fn fraction(&mut self, start: usize, digits: usize, mut at: usize) -> Scan<usize> {
        if self.bytes.get(at) == Some(&b'.') {
            at = self.some_digits(at + 1)?;
        }
        let mut exponent = 0i64;
        if let Some(b'e' | b'E') = self.bytes.get(at) {
            at += 1;
            let negative = self.bytes.get(at) == Some(&b'-');
            at += usize::from(matches!(self.bytes.get(at), Some(b'+' | b'-')));
            let end = self.some_digits(at)?;
            for digit in &self.bytes[at..end] {
                exponent = exponent.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            }
            if negative {
                exponent = -exponent;
            }
            at = end;
        }
        if exponent.saturating_add(digits as i64) > SURELY_FINITE && !self.is_finite(start, at, exponent) {
            if self.bytes.get(at).copied().is_some_and(continues_number) {
                return self.fail(Code::JsonNumber, at);
            }
            return self.fail(Code::JsonNonfinite, start);
        }
        Ok(at)
    }

    /// Whether 16 digits lie within the exact range.
    fn in_range(&self, first: usize, end: usize) -> bool {
        let value = self.bytes[first..end]
            .iter()
            .fold(0u64, |value, digit| value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
        value <= JSON_INTEGER
    }

    /// Whether the correctly rounded value is finite.
    #[cold]
    fn is_finite(&self, start: usize, end: usize, exponent: i64) -> bool {
        let text = &self.text[start..end];
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default().trim_start_matches('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // The value lies below 10^magnitude, and not below a tenth of it.
        let (significant, magnitude) = if whole == "0" {
            let rest = fraction.trim_start_matches('0');
            if rest.is_empty() {
                return true;
            }
            (0, exponent.saturating_sub((fraction.len() - rest.len()) as i64))
        } else {
            (whole.len(), exponent.saturating_add(whole.len() as i64))
        };
        if magnitude != SURELY_FINITE + 1 {
            return magnitude <= SURELY_FINITE;
        }
        let digits = if significant > 0 { whole } else { "" }.bytes().chain(fraction.bytes());
        let digits = digits.skip_while(|digit| *digit == b'0').chain(std::iter::repeat(b'0'));
        match digits.take(LARGEST_DIGITS.len()).cmp(LARGEST_DIGITS.iter().copied()) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => text.parse::<f64>().is_ok_and(f64::is_finite),
        }
    }
}

/// True for a byte that, right after a number, makes it a malformed number rather than a number and something else.
pub(super) const fn continues_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'+' | b'-' | b'.')
}
