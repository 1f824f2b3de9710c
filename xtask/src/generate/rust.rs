//! The table of `modberth_protocol::Code`.

use super::NOTICE;
use crate::errors::Entry;
use anyhow::{Result, bail};

/// All codes, one line each with its meaning.
pub(super) fn codes(entries: &[&Entry]) -> Result<String> {
    let mut text = format!("// {NOTICE}\n\nuse crate::code_table::code_table;\n\ncode_table! {{\n");
    for entry in entries {
        let blame = match entry.blame.as_str() {
            "caller" => "Caller",
            "module" => "Module",
            "policy" => "Policy",
            "host" => "Host",
            other => bail!("{}: blame \"{other}\" is none of caller, module, policy, host", entry.code),
        };
        text.push_str(&format!(
            "    /// {}\n    {} = \"{}\", {blame}, {:?};\n",
            entry.meaning,
            variant(&entry.code),
            entry.code,
            entry.remedy
        ));
    }
    text.push_str("}\n");
    Ok(text)
}

/// `frame.too_large` as `FrameTooLarge`.
fn variant(code: &str) -> String {
    code.split(['.', '_', '-'])
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_variant_is_the_code_in_camel_case() {
        assert_eq!(super::variant("frame.too_large"), "FrameTooLarge");
        assert_eq!(super::variant("json.utf8"), "JsonUtf8");
    }
}
