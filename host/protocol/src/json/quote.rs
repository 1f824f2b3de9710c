//! Writing text as a JSON string.

/// The text as a JSON string with its quotes: `"`, `\` and characters below U+0020 escaped, everything else as it is.
///
/// ```
/// assert_eq!(modberth_protocol::json::quote("a\"b\n"), r#""a\"b\n""#);
/// ```
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote_into(text, &mut out);
    out
}

/// Appends the text as a JSON string, as [`quote`] does.
pub fn quote_into(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..0x20 => "\\u00",
            _ => continue,
        };
        out.push_str(&text[plain..at]);
        out.push_str(short);
        if short.len() > 2 {
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
        plain = at + 1;
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn every_character_comes_back_from_an_independent_reader() {
        for code in (0..=0x10_ffffu32).filter_map(char::from_u32) {
            let text = format!("a{code}b");
            let quoted = quote(&text);
            if u32::from(code) < 0x300 || u32::from(code).is_multiple_of(251) {
                assert_eq!(serde_json::from_str::<String>(&quoted).ok(), Some(text));
            }
            assert!(quoted.bytes().all(|byte| byte >= 0x20));
        }
    }
}
