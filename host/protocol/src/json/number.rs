//! Numbers: grammar, the exact integer range and finiteness.

use super::scan::{Scan, Scanner};
use crate::Code;
use crate::limits::JSON_INTEGER;

/// Digits of the largest legal integer.
const INTEGER_DIGITS: usize = 16;
/// A number below 10^308 is finite; one of 10^309 or more is not; between them the digits decide.
const SURELY_FINITE: i64 = 308;
/// 2^1024 - 2^970, the least number that rounds to infinity: halfway between the largest finite value and the next power of two.
const INFINITE: &[u8; 309] = b"\
    1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070963\
    3028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447573027\
    0069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792";

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
            Some(b'.' | b'e' | b'E') => self.fraction(start, first, at),
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

    /// The rest of a number with a fraction or exponent. Its digits begin at `first`, and the point or the letter stands at `at`.
    #[inline]
    fn fraction(&mut self, start: usize, first: usize, mut at: usize) -> Scan<usize> {
        let bytes = self.bytes;
        let whole = &bytes[first..at];
        let mut fraction: &[u8] = &[];
        if bytes.get(at) == Some(&b'.') {
            let end = self.some_digits(at + 1)?;
            fraction = &bytes[at + 1..end];
            at = end;
        }
        let mut exponent = 0i64;
        if let Some(b'e' | b'E') = bytes.get(at) {
            at += 1;
            let negative = bytes.get(at) == Some(&b'-');
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            let end = self.some_digits(at)?;
            for digit in &bytes[at..end] {
                exponent = exponent.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            }
            if negative {
                exponent = -exponent;
            }
            at = end;
        }
        if exponent.saturating_add(whole.len() as i64) > SURELY_FINITE
            && !is_finite(whole, fraction, exponent)
        {
            if bytes.get(at).copied().is_some_and(continues_number) {
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
}

/// Whether the value, correctly rounded to binary64, is finite. `whole` has no leading zeros but may be `0`.
#[inline(never)]
fn is_finite(whole: &[u8], fraction: &[u8], exponent: i64) -> bool {
    // The value lies below 10^magnitude, and not below a tenth of it.
    let (whole, fraction, magnitude) = if whole == b"0" {
        let Some(zeros) = fraction.iter().position(|digit| *digit != b'0') else { return true };
        (&whole[..0], &fraction[zeros..], exponent.saturating_sub(zeros as i64))
    } else {
        (whole, fraction, exponent.saturating_add(whole.len() as i64))
    };
    if magnitude != SURELY_FINITE + 1 {
        return magnitude <= SURELY_FINITE;
    }
    let mut infinite = INFINITE.iter();
    for digit in whole.iter().chain(fraction) {
        match infinite.next() {
            Some(bound) if digit != bound => return digit < bound,
            Some(_) => {}
            None => return false,
        }
    }
    // What is missing are zeros.
    infinite.any(|bound| *bound != b'0')
}

/// The zeros of the other scripts of the basic plane; their decimal digits come in runs of ten. A list, because every SDK goes by
/// the same one whatever release of Unicode its language knows.
const OTHER_ZEROS: [u16; 36] = [
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6,
    0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0,
    0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
];

/// True for a decimal digit of another script: what begins with one is a number that JSON does not write so.
pub(super) fn is_other_digit(found: char) -> bool {
    u16::try_from(u32::from(found))
        .is_ok_and(|found| OTHER_ZEROS.iter().any(|&zero| (zero..zero + 10).contains(&found)))
}

/// True for a byte that, right after a number, makes it a malformed number rather than a number and something else.
pub(super) const fn continues_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'+' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P1-HOST-19: the digits decide as correct rounding does.
    #[test]
    fn finiteness_agrees_with_correct_rounding() {
        let bound = std::str::from_utf8(INFINITE).unwrap();
        let (below, above) = (format!("{}79.99", &bound[..307]), format!("{bound}.0001"));
        let mut numbers =
            vec![format!("{bound}.0"), below, above, format!("{bound}e0"), "0e400".into(), "0.0e999".into()];
        for digits in 1..=309 {
            for point in [0, 1, digits / 2, digits] {
                for nudge in [-1i8, 0, 1] {
                    let mut text = bound.as_bytes()[..digits].to_vec();
                    let last = text[digits - 1].saturating_add_signed(nudge).clamp(b'0', b'9');
                    text[digits - 1] = last;
                    let text = std::str::from_utf8(&text).unwrap();
                    let (whole, fraction) = text.split_at(point);
                    let whole = if whole.is_empty() { "0" } else { whole };
                    let fraction = if fraction.is_empty() { "0" } else { fraction };
                    for shift in [-1, 0, 1] {
                        numbers.push(format!("{whole}.{fraction}e{}", 309 - point as i64 + shift));
                        numbers.push(format!("0.00000{}{fraction}e{}", &text[..point], 314 + shift));
                    }
                }
            }
        }
        for number in numbers {
            let (mantissa, exponent) = number.split_once('e').unwrap_or((&number, "0"));
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let expected = number.parse::<f64>().unwrap().is_finite();
            let actual = is_finite(whole.as_bytes(), fraction.as_bytes(), exponent.parse().unwrap());
            assert_eq!(actual, expected, "{number}");
        }
    }
}
