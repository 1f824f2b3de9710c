//! Documents of one mebibyte, each built to be as expensive as a legal one can be.

use super::frames::Numbers;
use std::fmt::Write as _;

/// Bytes of each document, nearly.
const SIZE: usize = 1_048_576;

/// A hostile document.
pub(super) struct Document {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Every shape.
pub(super) fn all() -> Vec<Document> {
    let mut numbers = Numbers::new();
    vec![
        object("tiny-keys", |index, out| {
            let _ = write!(out, "\"{index:x}\":0");
        }),
        // One large object, every name of one length with the same beginning and end.
        object("colliding-keys", |index, out| {
            let _ = write!(out, "\"same_beginning_{index:08}_same_end\":0");
        }),
        array("colliding-60", |index, out| {
            members(out, 60, |name, out| {
                let _ = write!(out, "\"beginning{:04}beginning\":0", name + 60 * (index % 100));
            });
        }),
        array("crowded-60", {
            let names = crowded(60);
            move |_, out| {
                members(out, 60, |name, out| {
                    let _ = write!(out, "\"{}\":0", names[name]);
                });
            }
        }),
        array("escapes", |_, out| out.push_str(r#""\n\t\u00e9\ud83d\ude00\\\"\/""#)),
        object("escaped-keys", |index, out| {
            let _ =
                write!(out, "\"\\u006b\\u{:04x}\\u{:04x}\":0", 0x20 + index % 0xd000, 0x20 + index / 0xd000);
        }),
        // Around the largest finite number, where the magnitude alone decides nothing.
        array("large-exponents", |index, out| {
            let _ = match index % 3 {
                0 => write!(out, "0.0000000000000000000017976931348623{:03}e329", index % 158),
                1 => write!(out, "1.7976931348623157{index}e308"),
                _ => write!(out, "17{}.{}e305", index % 80, index % 1000),
            };
        }),
        array("long-fractions", |_, out| {
            out.push_str("0.");
            for _ in 0..16 {
                out.push_str("123456789012345678901234567890123456789012345678901234567890");
            }
        }),
        array("empties", |index, out| out.push_str(if index % 2 == 0 { "[]" } else { "{}" })),
        array("depth", |_, out| {
            // The root, the list and these reach the deepest level of the profile.
            out.push_str(&"[".repeat(97));
            out.push_str(&"]".repeat(97));
        }),
        array("single-characters", |index, out| out.push_str(["1", "\"a\"", "null"][index % 3])),
        array("non-ascii", |_, out| {
            out.push('"');
            for _ in 0..64 {
                out.push(char::from_u32(0x1_f600 + numbers.below(64) as u32).unwrap_or('x'));
                out.push('é');
                out.push('日');
            }
            out.push('"');
        }),
        white_space(),
    ]
}

/// `{"a":[…]}` of the wanted size; the item is written again and again.
fn array(name: &'static str, mut item: impl FnMut(usize, &mut String)) -> Document {
    Document { name, bytes: fill("{\"a\":[", "]}", &mut item) }
}

/// `{…}` of the wanted size; the item is a member.
fn object(name: &'static str, mut item: impl FnMut(usize, &mut String)) -> Document {
    Document { name, bytes: fill("{", "}", &mut item) }
}

fn fill(open: &str, close: &str, item: &mut dyn FnMut(usize, &mut String)) -> Vec<u8> {
    let mut out = String::from(open);
    let mut index = 0;
    while out.len() < SIZE - 2048 {
        if index > 0 {
            out.push(',');
        }
        item(index, &mut out);
        index += 1;
    }
    out.push_str(close);
    out.into_bytes()
}

/// An object of `count` members.
fn members(out: &mut String, count: usize, mut member: impl FnMut(usize, &mut String)) {
    out.push('{');
    for index in 0..count {
        if index > 0 {
            out.push(',');
        }
        member(index, out);
    }
    out.push('}');
}

/// Short names that share one bit of the checker's filter, so that each is compared with all before it. The formula is that of the
/// checker's `names` module.
fn crowded(count: usize) -> Vec<String> {
    (0u64..)
        .map(|number| format!("{number:x}"))
        .filter(|name| {
            let word = name.bytes().rev().fold(0u64, |word, byte| word << 8 | u64::from(byte));
            let fingerprint = word | (name.len() as u64) << 56;
            fingerprint.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 56 == 7
        })
        .take(count)
        .collect()
}

fn white_space() -> Document {
    let mut bytes = vec![b'{'];
    bytes.extend(std::iter::repeat_n(*b" \t\r\n  ", SIZE / 6 - 1).flatten());
    bytes.push(b'}');
    Document { name: "white-space", bytes }
}

/// The document of the process profile with the most names in objects that are open at once.
pub(super) fn most_open_names() -> Vec<u8> {
    let mut out = String::new();
    for _ in 0..12 {
        out.push('{');
        for name in 0..255 {
            let _ = write!(out, "\"{name}\":0,");
        }
        out.push_str("\"last\":");
    }
    out.push('0');
    out.push_str(&"}".repeat(12));
    out.into_bytes()
}
