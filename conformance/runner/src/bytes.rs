//! Bytes as case files write them: as text, as hexadecimal digits, repeated, joined.

use serde::Deserialize;

/// Most bytes that one expression may stand for.
pub const MOST_BYTES: usize = 64 * 1024 * 1024;

/// An expression for bytes, such as `{"concat": [{"utf8": "{"}, {"repeat": {"hex": "20"}, "times": 1000}]}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Bytes {
    /// The UTF-8 bytes of a text.
    Utf8 {
        /// The text.
        utf8: String,
    },
    /// Bytes as pairs of hexadecimal digits.
    Hex {
        /// The digits.
        hex: String,
    },
    /// Bytes several times over.
    Repeat {
        /// What is repeated.
        repeat: Box<Bytes>,
        /// How often.
        times: usize,
    },
    /// Bytes one after another.
    Concat {
        /// The parts.
        concat: Vec<Bytes>,
    },
}

impl Bytes {
    /// The bytes that the expression stands for.
    ///
    /// # Errors
    /// A line that says what is wrong: digits that are none, or more than [`MOST_BYTES`].
    pub fn expand(&self) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        self.append(&mut out)?;
        Ok(out)
    }

    fn append(&self, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Bytes::Utf8 { utf8 } => out.extend_from_slice(utf8.as_bytes()),
            Bytes::Hex { hex } => {
                let digit = |byte: u8| {
                    char::from(byte).to_digit(16).ok_or_else(|| format!("{hex:?} is not hexadecimal"))
                };
                if hex.len() % 2 != 0 {
                    return Err(format!("{hex:?} has an odd number of digits"));
                }
                for pair in hex.as_bytes().chunks_exact(2) {
                    out.push((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
                }
            }
            Bytes::Repeat { repeat, times } => {
                let part = repeat.expand()?;
                if part.len().saturating_mul(*times) > MOST_BYTES {
                    return Err(format!("{} bytes {times} times are more than {MOST_BYTES}", part.len()));
                }
                for _ in 0..*times {
                    out.extend_from_slice(&part);
                }
            }
            Bytes::Concat { concat } => {
                for part in concat {
                    part.append(out)?;
                }
            }
        }
        if out.len() > MOST_BYTES {
            return Err(format!("{} bytes are more than {MOST_BYTES}", out.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(json: &str) -> Result<Vec<u8>, String> {
        serde_json::from_str::<Bytes>(json).map_err(|error| error.to_string())?.expand()
    }

    #[test]
    fn every_form_expands() {
        assert_eq!(expand(r#"{"utf8":"é"}"#), Ok(vec![0xc3, 0xa9]));
        assert_eq!(expand(r#"{"hex":"00fF"}"#), Ok(vec![0, 255]));
        assert_eq!(expand(r#"{"repeat":{"utf8":"ab"},"times":3}"#), Ok(b"ababab".to_vec()));
        assert_eq!(expand(r#"{"concat":[{"utf8":"a"},{"hex":"62"},{"concat":[]}]}"#), Ok(b"ab".to_vec()));
    }

    #[test]
    fn what_stands_for_no_bytes_is_an_error() {
        for json in [
            r#"{"hex":"0"}"#,
            r#"{"hex":"0x"}"#,
            r#"{"base64":"e30="}"#,
            r#"{"repeat":{"repeat":{"utf8":"xxxxxxxx"},"times":8388608},"times":8388608}"#,
        ] {
            assert!(expand(json).is_err(), "{json}");
        }
    }
}
