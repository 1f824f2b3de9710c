//! Result frames as modules send them, from a seeded generator.

use std::fmt::Write as _;

/// The request id in every frame.
pub(super) const ID: &str = "0123456789abcdef0123456789abcdef";

/// A result frame's payload.
pub(super) struct Frame {
    pub(super) name: &'static str,
    pub(super) rows: usize,
    pub(super) bytes: Vec<u8>,
}

/// The id of target number `index`.
pub(super) fn target(index: usize) -> String {
    format!("target-{index:02}")
}

/// SplitMix64 with a fixed seed.
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new() -> Self {
        Numbers(0x6d6f_6462_6572_7468)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

fn frame(name: &'static str, rows: usize, mut data: impl FnMut(&mut Numbers, &mut String)) -> Frame {
    let mut numbers = Numbers::new();
    let mut text = format!(r#"{{"version":1,"type":"result","id":"{ID}","results":["#);
    for index in 0..rows {
        let gap = if index == 0 { "" } else { "," };
        let _ = write!(text, r#"{gap}{{"target":"{}","data":"#, target(index));
        data(&mut numbers, &mut text);
        text.push('}');
    }
    text.push_str("]}");
    Frame { name, rows, bytes: text.into_bytes() }
}

/// Nested data: what a module that lists machines, disks and network cards would send.
pub(super) fn nested(name: &'static str, rows: usize, items: usize) -> Frame {
    const STATES: [&str; 4] = ["ready", "degraded", "unreachable", "connecting"];
    frame(name, rows, |numbers, text| {
        text.push_str(r#"{"items":["#);
        for item in 0..items {
            let gap = if item == 0 { "" } else { "," };
            let state = STATES[numbers.below(4) as usize];
            let _ = write!(
                text,
                r#"{gap}{{"id":{},"name":"m{}","state":"{state}","load":[{}.{},{}],"up":{},"tags":{{"a":"x{}","b":null}}}}"#,
                numbers.below(100_000),
                numbers.below(1000),
                numbers.below(8),
                numbers.below(100),
                numbers.below(64),
                numbers.below(2) == 0,
                numbers.below(100),
            );
        }
        text.push_str("]}");
    })
}

/// Text: paragraphs with an escape now and then and some letters beyond ASCII.
pub(super) fn strings(name: &'static str, rows: usize) -> Frame {
    const WORDS: [&str; 8] =
        ["module ", "berth ", "harbour ", "größe ", "line\\n", "\\\"quoted\\\" ", "cargo ", "日本 "];
    frame(name, rows, |numbers, text| {
        text.push_str(r#"{"lines":["#);
        for line in 0..8 {
            text.push_str(if line == 0 { "\"" } else { ",\"" });
            for _ in 0..14 {
                // Escapes and other scripts are the exception.
                let word = if numbers.below(4) > 0 { numbers.below(3) } else { numbers.below(8) };
                text.push_str(WORDS[word as usize]);
            }
            text.push('"');
        }
        text.push_str("]}");
    })
}

/// Numbers of every size.
pub(super) fn numbers(name: &'static str, rows: usize) -> Frame {
    frame(name, rows, |numbers, text| {
        text.push_str(r#"{"samples":["#);
        for sample in 0..96 {
            if sample > 0 {
                text.push(',');
            }
            let _ = match numbers.below(4) {
                0 => write!(text, "{}", numbers.below(1000)),
                1 => write!(text, "{}", numbers.below(9_007_199_254_740_991)),
                2 => write!(text, "-{}.{}", numbers.below(1000), numbers.below(1_000_000)),
                _ => write!(
                    text,
                    "{}.{}e-{}",
                    numbers.below(10),
                    numbers.below(1_000_000_000),
                    numbers.below(20)
                ),
            };
        }
        text.push_str("]}");
    })
}
