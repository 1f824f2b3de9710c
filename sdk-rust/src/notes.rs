//! What the SDK itself writes to standard error.
//!
//! A host accepts 65,536 bytes there (P1-HOST-05), and the module's own diagnostics need room too, so the notes on
//! failed targets are bounded together.

use std::fmt::Write as _;
use std::io::Write as _;

use modberth_protocol::Violation;

/// The most bytes of one note.
const NOTE_BYTES: usize = 1_024;

/// The most bytes of all notes of one request.
const ALL_BYTES: usize = 24 * 1_024;

/// The most bytes of the line that tells why the module gives no answer, its line feed included.
const REFUSAL_BYTES: usize = 2_048;

/// Where the list of a module's actions is cut, in bytes. The number of those left out follows, so the whole line has
/// at most 2,048. The same in every language.
const ACTIONS_BYTES: usize = 2_000;

/// Where notes go.
#[derive(Debug)]
enum Sink {
    Stderr,
    Kept(Vec<String>),
}

/// The notes of one request.
#[derive(Debug)]
pub(crate) struct Notes {
    sink: Sink,
    left: usize,
}

impl Notes {
    /// Notes that are written to standard error at once.
    pub(crate) fn to_stderr() -> Self {
        Self { sink: Sink::Stderr, left: ALL_BYTES }
    }

    /// Notes that are kept for [`Notes::into_kept`].
    pub(crate) fn kept() -> Self {
        Self { sink: Sink::Kept(Vec::new()), left: ALL_BYTES }
    }

    /// The notes that were kept.
    pub(crate) fn into_kept(self) -> Vec<String> {
        match self.sink {
            Sink::Stderr => Vec::new(),
            Sink::Kept(notes) => notes,
        }
    }

    /// One note, on one line. When the room is used up, one last line says so.
    pub(crate) fn add(&mut self, text: &str) {
        self.add_line(one_line(text, NOTE_BYTES));
    }

    /// The one note on an action that the module does not have: it names those it has, for the author who misspelt one.
    pub(crate) fn add_unknown_action<'a>(
        &mut self,
        action: &str,
        names: impl ExactSizeIterator<Item = &'a str>,
    ) {
        self.add_line(unknown_action(action, names));
    }

    fn add_line(&mut self, note: String) {
        if self.left == 0 {
            return;
        }
        match self.left.checked_sub(note.len() + 1) {
            Some(left) => {
                self.left = left;
                self.put(note);
            }
            None => {
                self.left = 0;
                self.put("Further notes are left out.".to_owned());
            }
        }
    }

    fn put(&mut self, note: String) {
        match &mut self.sink {
            Sink::Stderr => write_line(&note),
            Sink::Kept(notes) => notes.push(note),
        }
    }
}

/// One note that belongs to no request, on standard error.
pub(crate) fn write_note(text: &str) {
    write_line(&one_line(text, NOTE_BYTES));
}

/// The last line of a module that gives no answer: `modberth: CODE: PLACE: TEXT`.
pub(crate) fn refuse(violation: &Violation) {
    write_line(&one_line(&format!("modberth: {violation}"), REFUSAL_BYTES - 1));
}

/// Nothing can be done where standard error itself fails.
fn write_line(line: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// All of these are identifiers, so nothing needs an escape.
fn unknown_action<'a>(action: &str, names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let mut line = format!("action \"{action}\": not in this module; ");
    if names.len() == 0 {
        return line + "it has no actions";
    }
    line.push_str("its actions: ");
    let mut left = names.len();
    let mut before = "";
    for name in names {
        if line.len() + before.len() + name.len() > ACTIONS_BYTES {
            // Writing to a string cannot fail.
            let _ = write!(line, " and {left} more");
            break;
        }
        line.push_str(before);
        line.push_str(name);
        before = ", ";
        left -= 1;
    }
    line
}

/// The text on one line of at most `limit` bytes: control characters escaped, the end cut off with `…`.
fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for found in text.chars() {
        let before = line.len();
        if found.is_control() || matches!(found, '\u{2028}' | '\u{2029}') {
            // Writing to a string cannot fail.
            let _ = write!(line, "\\u{:04x}", u32::from(found));
        } else {
            line.push(found);
        }
        if line.len() > limit - '…'.len_utf8() {
            line.truncate(before);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_bounded() {
        assert_eq!(one_line("a\nb\u{2028}c\u{1b}[0m", 100), "a\\u000ab\\u2028c\\u001b[0m");
        assert_eq!(one_line("ééééé", 9), "ééé…");
        assert_eq!(one_line(&"x".repeat(5_000), REFUSAL_BYTES - 1).len(), REFUSAL_BYTES - 1);
    }

    // P1-SDK-07: a bounded diagnostic, whole names, and how many are left out.
    #[test]
    fn the_list_of_actions_is_bounded() {
        let many: Vec<String> = (0..1_000).map(|index| format!("a{index:04}")).collect();
        let line = unknown_action("x", many.iter().map(String::as_str));
        assert!(line.starts_with("action \"x\": not in this module; its actions: a0000, a0001, "), "{line}");
        assert!(line.ends_with(", a0278 and 721 more"), "{line}");
        let long: Vec<String> = (100..120).map(|index| "n".repeat(93) + &index.to_string()).collect();
        let line = unknown_action(&"x".repeat(96), long.iter().map(String::as_str));
        assert!(line.ends_with("118 and 1 more") && line.len() < 2_048, "{line}");
        assert_eq!(
            unknown_action("x", ["a", "b"].into_iter()),
            "action \"x\": not in this module; its actions: a, b"
        );
    }

    // P1-SDK-07: a bounded diagnostic.
    #[test]
    fn all_notes_together_are_bounded() {
        let mut notes = Notes::kept();
        (0..10_000).for_each(|index| notes.add(&format!("{index} {}", "x".repeat(3_000))));
        let kept = notes.into_kept();
        assert!(kept.iter().map(|note| note.len() + 1).sum::<usize>() <= ALL_BYTES + 100);
        assert_eq!(kept.last().map(String::as_str), Some("Further notes are left out."));
        assert!(kept.len() > 10);
    }
}
