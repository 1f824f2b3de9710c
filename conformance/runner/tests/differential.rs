//! Damaged input and damaged results, made at random from a fixed seed, in six languages: each SDK says what the reference
//! says, code and place, and so all say the same (P1-SDK-01, P1-SDK-02, P1-SDK-05).

#[macro_use]
mod common;

use common::{Outcome, Report, echo, expect_outcomes, expect_refusal, faulty, run};
use modberth_conformance::answer::{self, Refusal};
use modberth_conformance::message::{HELLO, Invoke, frame};
use modberth_conformance::subject::{Feed, Observed};
use modberth_protocol::Violation;
use modberth_protocol::frame::encode;
use modberth_protocol::json::quote;
use modberth_protocol::process::{
    self, Exit, HostSession, MODULE_HELLO, ModuleSession, Request, Results, TargetResult,
};
use serde_json::{Value, json};

in_six_languages!(input, results);

/// How many inputs, and how many results lists, each module is given.
const CASES: usize = 150;

/// A small generator of random numbers (SplitMix64), so that every run has the same cases.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % sides
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.roll(from.len())]
    }
}

/// Pieces that turn a document into something else.
const PIECES: [&[u8]; 56] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b",,",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d",
    b"\\ude00",
    b"\\u0000",
    b"\\x",
    b"0",
    b"1",
    b"-",
    b"+",
    b".",
    b"e",
    b"E5",
    b"1e400",
    b"-0",
    b"9007199254740992",
    b"9007199254740992.0",
    b"true",
    b"nul",
    b"null",
    b" ",
    b"\n",
    b"\t",
    b"\0",
    b"\x01",
    b"\x1f",
    b"\x7f",
    b"\x80",
    b"\xc3",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\xf4\x90\x80\x80",
    b"\xef\xbb\xbf",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b"\xd9\xa3",
    b"\xc2\xbd",
    b"\"a\":1,",
    b"\"\\u0061\":1,",
    b"\"$serde_json::private::\":1,",
    b"//",
    b"'",
    b"NaN",
    b"0x1",
    b"1_0",
    b"[[[[[[[[[[[[[",
    b"{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":{\"i\":{\"j\":{\"k\":{\"l\":1",
];

/// The bytes with one to three changes: something put in, taken out, replaced, repeated or cut off.
fn damaged(dice: &mut Dice, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(bytes.len() + 1);
        let end = (at + 1 + dice.roll(3)).min(bytes.len());
        match dice.roll(7) {
            0 | 1 => drop(bytes.splice(at..at, dice.pick(&PIECES).iter().copied())),
            2 => drop(bytes.splice(at..end, dice.pick(&PIECES).iter().copied())),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let from = dice.roll(bytes.len() + 1);
                let piece = bytes[from..(from + 12).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, piece));
            }
            5 if dice.roll(5) == 0 => bytes.truncate(at),
            _ => {
                let byte = u8::try_from(dice.roll(256)).unwrap_or_default();
                drop(bytes.splice(at..end.min(at + 1), [byte]));
            }
        }
    }
    bytes
}

/// A refusal of input with the code of the reference, its frame and, for a fault of JSON, its byte.
fn input_refused(seen: &Observed, violation: &Violation) -> Result<(), String> {
    let frame = violation.place.frame.map(|frame| format!("frame {frame}"));
    expect_refusal(seen, &[violation.code.as_str()], &frame.iter().map(String::as_str).collect::<Vec<_>>())?;
    let Some(offset) = violation.place.offset.filter(|_| violation.code.as_str().starts_with("json.")) else {
        return Ok(());
    };
    let line = Refusal::read(seen)?.text;
    let byte = line.split_once("byte ").map(|(_, rest)| rest);
    let digits =
        byte.map(|rest| rest.split(|found: char| !found.is_ascii_digit()).next().unwrap_or_default());
    if digits == Some(offset.to_string().as_str()) {
        return Ok(());
    }
    Err(format!("wanted byte {offset} ({line})"))
}

/// A refusal of results with the code of the reference, its row and its target.
fn results_refused(seen: &Observed, violation: &Violation) -> Result<(), String> {
    let row = violation
        .place
        .path
        .as_deref()
        .and_then(|path| path.split_once(']'))
        .map(|(row, _)| format!("{row}]"));
    let target = violation.place.target.as_deref().map(quote);
    let named: Vec<&str> = row.iter().chain(&target).map(String::as_str).collect();
    expect_refusal(seen, &[violation.code.as_str()], &named)
}

/// What echo gives for a request that is right after all.
fn echoed(seen: &Observed, request: &Request) -> Result<(), String> {
    let targets: Vec<&str> = request.targets().iter().map(String::as_str).collect();
    let parameters: Value =
        serde_json::from_str(request.parameters().as_str()).map_err(|error| error.to_string())?;
    let message = parameters["message"].as_str().filter(|_| request.action() == "echo");
    let found = answer::outcomes(seen, request.id(), &targets)?;
    for (index, target) in targets.iter().enumerate() {
        let right = match (&found[*target], message) {
            (Outcome::Data(data), Some(message)) => *data == json!({"message": message, "index": index}),
            (Outcome::Error { code, .. }, None) => code == "unsupported_action",
            _ => false,
        };
        if !right {
            return Err(format!("target {target:?}: found {:?}", found[*target]));
        }
    }
    Ok(())
}

// P1-SDK-01, P1-SDK-02
fn input(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let mut dice = Dice(1);
    let targets = ["a", "é", "b\nc", "😀"];
    let plain = Invoke::new("echo", &targets, &json!({"message": "Hé😀\n"})).json();
    let rich = r#" {"parameters":{"message":"\u0048i","x":{"a":[1,-2.5e3,true,null,{"b":[]}],"n":1e20}},
        "targets":["t"] ,"action":"echo","id":"r","type":"\u0069nvoke","version":1} "#;
    for index in 0..CASES {
        let mut hello = HELLO.as_bytes().to_vec();
        let mut invoke = dice.pick(&[plain.as_bytes(), rich.as_bytes()]).to_vec();
        let part = dice.roll(8);
        if part == 0 {
            hello = damaged(&mut dice, &hello);
        } else {
            invoke = damaged(&mut dice, &invoke);
        }
        let mut bytes = [frame(hello), frame(invoke)].concat();
        if part == 1 {
            bytes = damaged(&mut dice, &bytes);
        }
        let mut session = ModuleSession::new();
        let wanted = session.input(&bytes).and_then(|()| session.end());
        let seen = run(&module, &Feed::whole(bytes.clone()));
        let verdict = match wanted {
            Ok(request) => echoed(&seen, &request),
            Err(violation) => input_refused(&seen, &violation),
        };
        report.check(format!("input {index}, {}", bytes.escape_ascii()), verdict);
    }
}

/// The rows of a results list, one or more of them wrong.
fn damaged_rows(dice: &mut Dice, targets: &[&str]) -> Value {
    const NAMES: [&str; 6] = ["target", "data", "error", "code", "message", "Target"];
    let values = [
        json!(null),
        json!(1),
        json!("first"),
        json!("not_found"),
        json!("Not Found"),
        json!(""),
        json!([]),
        json!({}),
        json!({"code": "gone", "message": "It left."}),
        json!({"code": "gone", "message": "é".repeat(1_025)}),
        json!({"code": "x".repeat(97), "message": ""}),
        json!({"code": "gone"}),
    ];
    let mut rows: Vec<Value> =
        targets.iter().map(|target| json!({"target": target, "data": {"n": 1e20}})).collect();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(rows.len() + 1);
        let value = values[dice.roll(values.len())].clone();
        let name = dice.pick(&NAMES);
        let inside = at < rows.len();
        match dice.roll(7) {
            0 if inside => drop(rows.remove(at)),
            1 if inside => rows[at] = value,
            2 if inside => rows.push(rows[at].clone()),
            3 if inside => drop(rows[at].as_object_mut().and_then(|row| row.remove(name))),
            4 | 5 if inside => drop(rows[at].as_object_mut().map(|row| row.insert(name.to_owned(), value))),
            _ => rows.insert(at, value),
        }
    }
    rows.into()
}

// P1-SDK-05, P1-HOST-09 to P1-HOST-11
fn results(language: &str) {
    let module = faulty(language);
    let mut report = Report::default();
    let mut dice = Dice(2);
    let targets = ["first", "é", "__proto__"];
    for index in 0..CASES {
        let rows = damaged_rows(&mut dice, &targets);
        let bytes = Invoke::new("rows", &targets, &json!({"rows": rows})).exchange();
        let seen = run(&module, &Feed::whole(bytes.clone()));
        let verdict = match judged(&bytes, &rows) {
            Ok(wanted) => given(&seen, &wanted),
            Err(violation) => results_refused(&seen, &violation),
        };
        report.check(format!("results {index}, {rows}"), verdict);
    }
}

/// The answer carries what the host took from the reference.
fn given(seen: &Observed, wanted: &Results) -> Result<(), String> {
    let outcome = |result: &TargetResult| match &result.outcome {
        process::Outcome::Data(data) => serde_json::from_str(data.as_str()).map(Outcome::Data),
        process::Outcome::Error(error) => {
            Ok(Outcome::Error { code: error.code.clone(), message: error.message.clone() })
        }
    };
    let wanted = wanted.results.iter().map(|result| Ok((result.target.as_str(), outcome(result)?)));
    let wanted = wanted.collect::<serde_json::Result<Vec<_>>>().map_err(|error| error.to_string())?;
    expect_outcomes(seen, &wanted)
}

/// What a host makes of these results.
fn judged(request: &[u8], rows: &Value) -> Result<Results, Violation> {
    let mut session = ModuleSession::new();
    session.input(request)?;
    let mut host = HostSession::new(session.end()?);
    let result = json!({"version": 1, "type": "result", "id": "request-id", "results": rows}).to_string();
    host.output(&[encode(MODULE_HELLO)?, encode(result.as_bytes())?].concat())?;
    host.finish(Exit::Code(0)).map_err(|failure| failure.violation)
}
