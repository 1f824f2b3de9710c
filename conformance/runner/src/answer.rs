//! What a module's output means: an answer with one outcome per target, or a refusal.

use std::collections::BTreeMap;

use modberth_protocol::frame::Decoder;
use modberth_protocol::json::{Profile, check};
use serde_json::{Value, json};

use crate::compare;
use crate::message::MODULE_HELLO;
use crate::subject::{End, Observed};

/// What one target got.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Data.
    Data(Value),
    /// An error.
    Error {
        /// Its code.
        code: String,
        /// Its message.
        message: String,
    },
}

/// The outcomes by target of a right answer to the request with this id and these targets: exit status 0, exactly the
/// two frames of protocol 1, both strictly legal, the id, and each target once (P1-SDK-04).
///
/// # Errors
///
/// What is wrong with the answer, in one line.
pub fn outcomes(seen: &Observed, id: &str, targets: &[&str]) -> Result<BTreeMap<String, Outcome>, String> {
    if seen.end != End::Exited(0) {
        return Err("the module did not answer".to_owned());
    }
    let [hello, result] = both(&seen.stdout)?;
    let wanted: Value = serde_json::from_str(MODULE_HELLO).map_err(|error| error.to_string())?;
    if let Some(difference) = compare::difference(&wanted, &hello) {
        return Err(format!("hello: {difference}"));
    }
    let wanted = json!({"version": 1, "type": "result", "id": id, "results": result["results"]});
    if let Some(difference) = compare::difference(&wanted, &result) {
        return Err(format!("result: {difference}"));
    }
    let rows = result["results"].as_array().ok_or("the results are no list")?;
    let mut outcomes = BTreeMap::new();
    for row in rows {
        let (target, outcome) = outcome(row).ok_or_else(|| format!("no legal row: {row}"))?;
        if outcomes.insert(target.clone(), outcome).is_some() {
            return Err(format!("two rows for {target:?}"));
        }
    }
    if let Some(missing) = targets.iter().find(|target| !outcomes.contains_key(**target)) {
        return Err(format!("no row for {missing:?}"));
    }
    if outcomes.len() != targets.len() {
        return Err(format!("{} rows for {} targets", outcomes.len(), targets.len()));
    }
    Ok(outcomes)
}

/// The payloads of a whole output, each strictly checked (P1-HOST-04, P1-HOST-17 to P1-HOST-22).
///
/// # Errors
///
/// The violation in one line.
pub fn payloads(stdout: &[u8]) -> Result<Vec<Value>, String> {
    let mut rest = stdout;
    let mut decoder = Decoder::new();
    let mut payloads = Vec::new();
    while !rest.is_empty() {
        let Some(payload) = decoder.push(&mut rest).map_err(|violation| violation.to_string())? else {
            break;
        };
        check(&payload, &Profile::PROCESS)
            .map_err(|violation| violation.frame(decoder.frames()).to_string())?;
        payloads.push(serde_json::from_slice(&payload).map_err(|error| error.to_string())?);
    }
    decoder.end().map_err(|violation| violation.to_string())?;
    Ok(payloads)
}

fn both(stdout: &[u8]) -> Result<[Value; 2], String> {
    let payloads = payloads(stdout)?;
    let count = payloads.len();
    payloads.try_into().map_err(|_| format!("{count} frames instead of two"))
}

fn outcome(row: &Value) -> Option<(String, Outcome)> {
    let row = row.as_object().filter(|row| row.len() == 2)?;
    let target = row.get("target")?.as_str()?.to_owned();
    if let Some(data) = row.get("data") {
        return Some((target, Outcome::Data(data.clone())));
    }
    let error = row.get("error")?.as_object().filter(|error| error.len() == 2)?;
    let text = |name| Some(error.get(name)?.as_str()?.to_owned());
    Some((target, Outcome::Error { code: text("code")?, message: text("message")? }))
}

/// How a module's last line of standard error begins when it gives no answer.
const BEGINNING: &str = "modberth: ";

/// The longest line of a refusal in bytes, its line feed included.
const LINE_BYTES: usize = 2_048;

/// Why a module gave no answer, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: String,
    /// Place and message.
    pub text: String,
}

impl Refusal {
    /// Reads a refusal (P1-SDK-01, P1-SDK-07): exit status 1, nothing on standard output, and as the last line of
    /// standard error the only one of the form `modberth: CODE: TEXT`, at most 2,048 bytes without control characters.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in one line.
    pub fn read(seen: &Observed) -> Result<Self, String> {
        if seen.end != End::Exited(1) {
            return Err("exit status 1 was wanted".to_owned());
        }
        if !seen.stdout.is_empty() {
            return Err("something stands on standard output".to_owned());
        }
        let text = std::str::from_utf8(&seen.stderr).map_err(|_| "standard error is not UTF-8")?;
        if text.split('\n').filter(|line| line.starts_with(BEGINNING)).count() != 1 {
            return Err(format!("standard error has not exactly one line that begins `{BEGINNING}`"));
        }
        let line = text.strip_suffix('\n').and_then(|text| text.split('\n').next_back()).unwrap_or_default();
        let Some((code, rest)) = line.strip_prefix(BEGINNING).and_then(|line| line.split_once(": ")) else {
            return Err(format!("the last line of standard error is not `{BEGINNING}CODE: TEXT`"));
        };
        if line.len() >= LINE_BYTES {
            return Err(format!("the line has {} bytes", line.len()));
        }
        if line.chars().any(|found| found.is_control() || matches!(found, '\u{2028}' | '\u{2029}')) {
            return Err("the line holds a raw control character".to_owned());
        }
        Ok(Self { code: code.to_owned(), text: rest.to_owned() })
    }

    /// True if the text names this: a JSON string however it is escaped, a number with or without commas between its
    /// thousands, anything else literally.
    #[must_use]
    pub fn names(&self, wanted: &str) -> bool {
        match serde_json::from_str::<String>(wanted) {
            Ok(string) => strings(&self.text).contains(&string),
            Err(_) => self.text.contains(wanted) || self.text.replace(',', "").contains(wanted),
        }
    }
}

/// The JSON strings in a line, unescaped.
fn strings(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('"') {
        rest = &rest[start..];
        let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let read = reader.next();
        // A quote that begins no string is skipped alone.
        let end = if matches!(read, Some(Ok(_))) { reader.byte_offset() } else { 1 };
        found.extend(read.and_then(Result::ok));
        rest = &rest[end..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::frame;

    fn seen(stdout: Vec<u8>, stderr: &str, status: i32) -> Observed {
        Observed { stdout, stderr: stderr.as_bytes().to_vec(), end: End::Exited(status), unread: 0 }
    }

    fn answer(result: &str) -> Result<BTreeMap<String, Outcome>, String> {
        outcomes(&seen([frame(MODULE_HELLO), frame(result)].concat(), "", 0), "r", &["a", "b"])
    }

    // P1-SDK-04
    #[test]
    fn a_right_answer_is_read() {
        let read = answer(
            r#"{"version":1,"type":"result","id":"r","results":[{"target":"b","error":{"code":"x","message":"m"}},{"target":"a","data":[1]}]}"#,
        )
        .expect("a right answer");
        assert_eq!(read["a"], Outcome::Data(json!([1])));
        assert_eq!(read["b"], Outcome::Error { code: "x".into(), message: "m".into() });
    }

    // P1-HOST-04, P1-HOST-08 to P1-HOST-11, P1-HOST-17
    #[test]
    fn a_wrong_answer_is_told() {
        for (result, reason) in [
            (
                r#"{"version":1,"type":"result","id":"r","results":[{"target":"a","data":1}]}"#,
                "no row for \"b\"",
            ),
            (r#"{"version":1,"type":"result","id":"R","results":[]}"#, "id"),
            (r#"{"version":1,"type":"result","id":"r","results":[],"x":1}"#, "x: wanted nothing"),
            (
                r#"{"version":1,"type":"result","id":"r","results":[{"target":"a","data":{"x":1,"x":1}}]}"#,
                "json.duplicate_key",
            ),
            (
                r#"{"version":1,"type":"result","id":"r","results":[{"target":"a","data":1},{"target":"a","data":1}]}"#,
                "two rows",
            ),
            (r#"{"version":1,"type":"result","id":"r","results":[{"target":"a"}]}"#, "no legal row"),
            (
                r#"{"version":1,"type":"result","id":"r","results":[{"target":"a","data":1},{"target":"b","data":1},{"target":"c","data":1}]}"#,
                "3 rows for 2",
            ),
        ] {
            let told = answer(result).expect_err("a wrong answer");
            assert!(told.contains(reason), "{told}");
        }
        let hello = frame(MODULE_HELLO);
        assert_eq!(both(&hello).expect_err("one frame"), "1 frames instead of two");
        assert!(both(&hello[..9]).expect_err("cut short").contains("frame.truncated"));
        assert!(both(b"text").expect_err("no frame").contains("frame.too_large"));
    }

    // P1-SDK-07
    #[test]
    fn a_refusal_is_read_and_a_wrong_one_told() {
        let line = "modberth: frame.too_large: frame 2: 1,048,577 bytes for \"b\\u000ac\"\n";
        let refusal = Refusal::read(&seen(vec![], &format!("trace\n{line}"), 1)).expect("a right refusal");
        assert_eq!(refusal.code, "frame.too_large");
        assert!(refusal.names("frame 2") && refusal.names("1048577") && refusal.names(r#""b\nc""#));
        assert!(!refusal.names(r#""b""#) && !refusal.names("frame 1"));
        let long = format!("modberth: a: {}\n", "x".repeat(2_048));
        for (stdout, stderr, status) in [
            (vec![], line, 0),
            (vec![], line, 2),
            (vec![1], line, 1),
            (vec![], "", 1),
            (vec![], "modberth: no code\n", 1),
            (vec![], "modberth: a: b", 1),
            (vec![], "modberth: a: b\ntrace\n", 1),
            (vec![], "modberth: a: b\nmodberth: a: b\n", 1),
            (vec![], "modberth: a: b\u{1b}c\n", 1),
            (vec![], &long, 1),
        ] {
            assert!(Refusal::read(&seen(stdout, stderr, status)).is_err(), "{stderr:?} {status}");
        }
    }
}
