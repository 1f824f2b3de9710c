//! What the command prints: text with colour for people, JSON for programs.
//!
//! Everything that came from a module or a package is cleaned of control characters before a terminal sees it.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
use modberth_package::Problems;
use modberth_protocol::json::quote;
use modberth_protocol::{Code, Violation};
use serde_json::{Value, json};

use crate::args::Color;

pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Where the command prints.
pub(crate) struct Report {
    json: bool,
    colored_out: bool,
    unread: bool,
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
}

/// What is shown on a line of its own below a failure.
pub(crate) struct Detail<'a>(pub(crate) &'a str, pub(crate) String);

impl Report {
    pub(crate) fn new(json: bool, color: Color) -> Self {
        let choice = |terminal: bool| match color {
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
            Color::Auto if terminal => ColorChoice::Auto,
            Color::Auto => ColorChoice::Never,
        };
        let out = AutoStream::new(io::stdout(), choice(io::stdout().is_terminal()));
        let err = AutoStream::new(io::stderr(), choice(io::stderr().is_terminal()));
        Self { json, colored_out: out.current_choice() != ColorChoice::Never, unread: false, out, err }
    }

    /// True if a program reads standard output.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// True once nobody reads standard output any more. A command that has a verdict goes on for its exit code; one that
    /// only shows may end.
    pub(crate) fn is_unread(&self) -> bool {
        self.unread
    }

    /// A line on standard output.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        let written = writeln!(self.out, "{text}");
        self.read_or_not(written)
    }

    /// Bytes on standard output, as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.out.write_all(bytes).and_then(|()| self.out.flush());
        self.read_or_not(written)
    }

    /// A reader who went away is no error: what the command does, and its exit code, do not depend on who listens.
    fn read_or_not(&mut self, written: io::Result<()>) -> io::Result<()> {
        self.unread |= is_broken_pipe(&written);
        if self.unread { Ok(()) } else { written }
    }

    /// One JSON document on one line of standard output.
    pub(crate) fn document(&mut self, document: &Value) -> io::Result<()> {
        self.line(&document.to_string())
    }

    /// A line on standard error.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        let written = writeln!(self.err, "{text}");
        if is_broken_pipe(&written) { Ok(()) } else { written }
    }

    /// A loud line on standard error.
    pub(crate) fn warning(&mut self, text: &str) -> io::Result<()> {
        self.note(&format!("{WARN}warning:{WARN:#} {}", clean(text)))
    }

    /// A failure for people, on standard error: code, message, what tells more than the message, place, bounds, blame,
    /// details, remedy.
    pub(crate) fn failure(
        &mut self,
        violation: &Violation,
        first: Option<&Detail<'_>>,
        details: &[Detail<'_>],
    ) -> io::Result<()> {
        let mut message = clean(&violation.message);
        if violation.code == Code::SandboxUnavailable {
            // It lists what is missing and commands to type; two spaces stand where each of them ends.
            message = message.replace("  ", "\n           ");
        }
        let mut text = format!("{BAD}error[{}]:{BAD:#} {message}", violation.code);
        let mut row = |name: &str, value: &str| {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n  {DIM}{name:<8}{DIM:#} {value}");
        };
        if let Some(Detail(name, value)) = first {
            row(name, value);
        }
        if !violation.place.is_empty() {
            row("where", &clean(&violation.place.to_string()));
        }
        match (violation.limit, violation.actual) {
            (Some(limit), Some(actual)) => row("limit", &format!("{limit}, found {actual}")),
            (Some(limit), None) => row("limit", &limit.to_string()),
            (None, Some(actual)) => row("found", &actual.to_string()),
            (None, None) => {}
        }
        row("blame", violation.blame.as_str());
        for Detail(name, value) in details {
            row(name, value);
        }
        row("remedy", &clean(violation.remedy()));
        self.note(&text)
    }

    /// The problems for which the command was refused: on standard error, and with `--json` on standard output too.
    pub(crate) fn refusal(&mut self, problems: &Problems) -> io::Result<()> {
        for problem in problems {
            self.failure(problem, None, &[])?;
        }
        if self.json {
            let mut document = json!({"ok": false, "failure": failure(problems.first())});
            if problems.iter().count() > 1 {
                document["problems"] = problems.iter().map(failure).collect();
            }
            self.document(&document)?;
        }
        Ok(())
    }

    /// A table on standard output.
    pub(crate) fn table(&mut self, header: &[&str], rows: Vec<Vec<Cell>>) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
        if !io::stdout().is_terminal() {
            // Whoever reads a pipe wants whole lines.
            table.force_no_tty();
        }
        if self.colored_out {
            table.enforce_styling();
        }
        table.set_header(header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
        table.add_rows(rows);
        self.line(&table.to_string())
    }
}

fn is_broken_pipe(written: &io::Result<()>) -> bool {
    written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A failure as JSON: the violation with its remedy.
pub(crate) fn failure(violation: &Violation) -> Value {
    // A violation is strings and numbers under fixed names.
    serde_json::to_value(violation).unwrap_or_else(|_| json!({}))
}

/// True for what changes how a terminal shows the text around it.
fn is_hostile(found: char) -> bool {
    found.is_control()
        || matches!(found, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text on one line, with what a terminal could act on written as escapes.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        if is_hostile(found) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(found));
        } else {
            out.push(found);
        }
    }
    out
}

/// As [`clean`], but over as many lines as the text has; tabs stay.
pub(crate) fn clean_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split('\t').map(clean).collect::<Vec<_>>().join("\t")).collect()
}

/// A name for people: as it is, or in quotes where it would be misread.
pub(crate) fn name(text: &str) -> String {
    if text.is_empty() || text.trim() != text || text.chars().any(is_hostile) || text.contains('"') {
        clean(&quote(text))
    } else {
        text.to_owned()
    }
}

/// A text of at most `most` characters; the rest is counted.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… ({} bytes in all; --json shows them)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_reaches_a_terminal() {
        assert_eq!(clean("a\u{1b}[31m\u{202e}b\n\u{7f}é"), "a\\u001b[31m\\u202eb\\u000a\\u007fé");
        assert_eq!(clean_lines("a\tb\r\n\u{7}c"), ["a\tb", "\\u0007c"]);
    }

    #[test]
    fn names_are_quoted_where_they_would_be_misread() {
        assert_eq!(name("vm-1"), "vm-1");
        assert_eq!(name(" a "), "\" a \"");
        assert_eq!(name(""), "\"\"");
        assert_eq!(name("b\nc"), "\"b\\nc\"");
        assert_eq!(name("a\u{9b}"), "\"a\\u009b\"");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("ééé", 3), "ééé");
        assert_eq!(shortened("éééé", 3), "ééé… (8 bytes in all; --json shows them)");
    }
}
