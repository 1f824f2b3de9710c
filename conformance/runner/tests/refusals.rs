//! What every SDK must refuse of its input, in six languages, fed to the echo example (P1-SDK-01, P1-SDK-02, P1-SDK-07).
//! The documents that the JSON profile refuses stand in `vectors.rs`.

#[macro_use]
mod common;

use common::{Report, echo, expect_refusal, run};
use modberth_conformance::message::{HELLO, Invoke, after_hello, frame, frame_declaring};
use modberth_conformance::subject::{Feed, Subject};
use serde_json::{Value, json};

in_six_languages!(
    cut_short,
    lengths,
    held_open,
    surplus,
    first_fault,
    no_object,
    hello,
    invoke,
    action,
    batch,
    targets,
    parameters,
);

const TRUNCATED: &[&str] = &["frame.truncated"];
const MISSING: &[&str] = &["frame.missing"];
const EMPTY: &[&str] = &["frame.empty"];
const TOO_LARGE: &[&str] = &["frame.too_large"];
const EXTRA: &[&str] = &["frame.extra"];
const VERSION: &[&str] = &["request.version"];
const HOST_API: &[&str] = &["request.host_api"];
const MESSAGE: &[&str] = &["request.message"];
const REQUEST_ID: &[&str] = &["request.id"];
const COUNT: &[&str] = &["request.target_count"];
const TARGET_TYPE: &[&str] = &["request.target_type"];
const LENGTH: &[&str] = &["request.target_length"];
const CHARACTER: &[&str] = &["request.target_character"];
const DUPLICATE: &[&str] = &["request.target_duplicate"];
const PARAMETERS: &[&str] = &["request.parameters_type"];

fn right() -> Invoke {
    Invoke::new("echo", &["a", "b"], &json!({"message": "Hello"}))
}

fn refused(module: &Subject, feed: &Feed, codes: &[&str], named: &[&str]) -> Result<(), String> {
    expect_refusal(&run(module, feed), codes, named)
}

// P1-FRAME-05: cut inside a header or a payload, at every kind of place; P1-SDK-01: a frame that is not there at all.
fn cut_short(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let hello = frame(HELLO).len();
    let exchange = right().exchange();
    let whole = exchange.len();
    report.check("nothing", refused(&module, &Feed::whole(""), MISSING, &["frame 1"]));
    report.check("hello alone", refused(&module, &Feed::whole(&exchange[..hello]), MISSING, &["frame 2"]));
    for end in [1, 2, 3, 4, 5, hello / 2, hello - 1] {
        let feed = Feed::whole(&exchange[..end]);
        report
            .check(format!("hello cut after {end} bytes"), refused(&module, &feed, TRUNCATED, &["frame 1"]));
    }
    for end in [hello + 1, hello + 2, hello + 3, hello + 4, hello + 5, (hello + whole) / 2, whole - 1] {
        let feed = Feed::whole(&exchange[..end]);
        report.check(
            format!("invoke cut after {} bytes", end - hello),
            refused(&module, &feed, TRUNCATED, &["frame 2"]),
        );
        report.check(
            format!("invoke cut after {} bytes, one at a time", end - hello),
            refused(&module, &feed.every(1), TRUNCATED, &["frame 2"]),
        );
    }
    let promised = frame_declaring(1_048_576, "{}");
    report.check("a full length promised", refused(&module, &Feed::whole(promised), TRUNCATED, &["1048576"]));
    let inside = [&frame(HELLO)[..], &frame(r#"{"version":1,"type":"invoke","id":"é"}"#)[..]].concat();
    report.check(
        "cut inside a character",
        refused(&module, &Feed::whole(&inside[..inside.len() - 3]), TRUNCATED, &[]),
    );
}

/// Headers that are refused as they stand, and the code.
const BAD_LENGTHS: [(u32, &[&str]); 6] = [
    (0, EMPTY),
    (1_048_577, TOO_LARGE),
    (0x0100_0000, TOO_LARGE),
    (0x7fff_ffff, TOO_LARGE),
    (0x8000_0000, TOO_LARGE),
    (0xffff_ffff, TOO_LARGE),
];

// P1-FRAME-02, P1-FRAME-03
fn lengths(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for (length, codes) in BAD_LENGTHS {
        let named = length.to_string();
        let first = frame_declaring(length, "{}");
        report.check(
            format!("{length} first"),
            refused(&module, &Feed::whole(first), codes, &["frame 1", &named]),
        );
        let second = [frame(HELLO), frame_declaring(length, "{}")].concat();
        report.check(
            format!("{length} second"),
            refused(&module, &Feed::whole(second), codes, &["frame 2", &named]),
        );
    }
    // Text instead of a frame reads as a length of 1,936,029,801 and the like.
    report.check("text", refused(&module, &Feed::whole("send help\n"), TOO_LARGE, &["frame 1"]));
    report.check(
        "little-endian",
        refused(&module, &Feed::whole(frame_declaring(0x2900_0000, HELLO)), TOO_LARGE, &[]),
    );
}

// P1-FRAME-02: refused on the four header bytes. No payload comes and the input stays open, so a module that waits for
// either never ends.
fn held_open(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for (length, codes) in BAD_LENGTHS {
        let header = length.to_be_bytes();
        let first = Feed::whole(header).stays_open();
        report.check(format!("{length} first"), refused(&module, &first, codes, &["frame 1"]));
        let second = Feed::whole([&frame(HELLO)[..], &header].concat()).stays_open();
        report.check(format!("{length} second"), refused(&module, &second, codes, &["frame 2"]));
        report.check(format!("{length} in pieces"), refused(&module, &second.every(1), codes, &["frame 2"]));
    }
}

// P1-SDK-01: exactly two frames.
fn surplus(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let exchange = right().exchange();
    let cases: [(&str, Vec<u8>); 6] = [
        ("a line feed", b"\n".to_vec()),
        ("NUL", b"\0".to_vec()),
        ("half a header", b"\0\0".to_vec()),
        ("an empty frame", frame("")),
        ("a third frame", frame(HELLO)),
        ("the invoke once more", frame(right().json())),
    ];
    for (name, bytes) in cases {
        let feed = Feed::whole([exchange.clone(), bytes].concat());
        report.check(name, refused(&module, &feed, EXTRA, &["frame 3"]));
        report.check(format!("{name}, one byte at a time"), refused(&module, &feed.every(1), EXTRA, &[]));
    }
}

// P1-SDK-01: with two faults the first one is named: each frame is judged before the next one is read, the end of the
// input last, and nothing waits for input that cannot change the verdict.
fn first_fault(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let hello = |version: &str, api: &str| {
        format!(r#"{{"version":{version},"type":"hello","host_api":{api}}}"#).into_bytes()
    };
    let first: [(Vec<u8>, &str); 6] = [
        (b"{\"a\":\"\xff\"}".to_vec(), "json.utf8"),
        (b"{a}".to_vec(), "json.syntax"),
        (b"{}".to_vec(), "request.message"),
        (hello("2", "1"), "request.version"),
        (hello("2", "2"), "request.version"),
        (hello("1", "2"), "request.host_api"),
    ];
    let second: [(&str, Vec<u8>); 8] = [
        ("nothing", vec![]),
        ("half a header", b"\0\0".to_vec()),
        ("an empty frame", frame("")),
        ("too large a frame", frame_declaring(u32::MAX, "{}")),
        ("a frame cut short", frame_declaring(100, "{}")),
        ("a broken document", frame("{\"b\":01}")),
        ("no targets", frame(right().with("targets", "[]").json())),
        ("the invoke and more", [frame(right().json()), vec![0]].concat()),
    ];
    for (payload, code) in &first {
        let before = frame(payload);
        for (name, after) in &second {
            let feed = Feed::whole([&before[..], after].concat());
            report.check(format!("{code}, {name}"), refused(&module, &feed, &[code], &["frame 1"]));
        }
        let open = Feed::whole(before).stays_open();
        report.check(format!("{code}, input open"), refused(&module, &open, &[code], &["frame 1"]));
    }
    let second: [(String, &str); 4] = [
        ("{\"a\":1,\"a\":2}".to_owned(), "json.duplicate_key"),
        (right().with("version", "2").with("targets", "[]").json(), "request.version"),
        (right().with("targets", "[]").with("parameters", "[]").json(), "request.target_count"),
        (right().with("parameters", "[]").json(), "request.parameters_type"),
    ];
    for (payload, code) in &second {
        let more = [after_hello(payload), b"\n".to_vec()].concat();
        report.check(format!("{code}, more"), refused(&module, &Feed::whole(more), &[code], &["frame 2"]));
        let open = Feed::whole(after_hello(payload)).stays_open();
        report.check(format!("{code}, input open"), refused(&module, &open, &[code], &["frame 2"]));
    }
    let open = Feed::whole([right().exchange(), vec![0]].concat()).stays_open();
    report.check("a byte too many, input open", refused(&module, &open, EXTRA, &["frame 3"]));
}

// P1-FRAME-03
fn no_object(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for payload in ["[]", "[{}]", "\"hello\"", "1", "true", "null", " [] ", "hello"] {
        let first = [frame(payload), frame(right().json())].concat();
        report.check(
            format!("{payload} first"),
            refused(&module, &Feed::whole(first), &["json.not_object"], &["frame 1"]),
        );
        let second = Feed::whole(after_hello(payload));
        report.check(
            format!("{payload} second"),
            refused(&module, &second, &["json.not_object"], &["frame 2"]),
        );
    }
}

// P1-SDK-01: the first frame is exactly the hello of version 1 and host API 1.
fn hello(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let full = |version: &str, kind: &str, api: &str| {
        format!(r#"{{"version":{version},"type":{kind},"host_api":{api}}}"#)
    };
    let mut cases: Vec<(String, &[&str])> = Vec::new();
    for version in ["2", "0", "-1", "10", "9007199254740991", "true", "false", "1.0", "1e0", "10e-1", "1.5"] {
        cases.push((full(version, r#""hello""#, "1"), VERSION));
    }
    for version in [r#""1""#, "null", "[1]", "{}"] {
        cases.push((full(version, r#""hello""#, "1"), &["request.version", "request.message"]));
    }
    for api in ["2", "0", "true", "1.0", "1e0"] {
        cases.push((full("1", r#""hello""#, api), HOST_API));
    }
    for api in [r#""1""#, "null", "[1]", "{}"] {
        cases.push((full("1", r#""hello""#, api), &["request.host_api", "request.message"]));
    }
    for kind in [r#""invoke""#, r#""Hello""#, r#""hello ""#, "1", "null", r#"["hello"]"#] {
        cases.push((full("1", kind, "1"), MESSAGE));
    }
    cases.extend([
        // The version is judged before the host API.
        (full("2", r#""hello""#, "2"), VERSION),
        ("{}".to_owned(), MESSAGE),
        (r#"{"type":"hello","host_api":1}"#.to_owned(), MESSAGE),
        (r#"{"version":1,"host_api":1}"#.to_owned(), MESSAGE),
        (r#"{"version":1,"type":"hello"}"#.to_owned(), MESSAGE),
        (r#"{"Version":1,"type":"hello","host_api":1}"#.to_owned(), MESSAGE),
        (r#"{"version":1,"type":"hello","host_api":1,"x":null}"#.to_owned(), MESSAGE),
        (r#"{"version":1,"type":"hello","host_api":1,"HOST_API":1}"#.to_owned(), MESSAGE),
        (r#"{"version":1,"type":"hello","host_api":1,"__proto__":{}}"#.to_owned(), MESSAGE),
        (r#"{"version":1,"type":"hello","protocol":1}"#.to_owned(), MESSAGE),
        // The set of fields is judged before their values.
        (r#"{"version":2,"type":"hello","host_api":1,"x":1}"#.to_owned(), MESSAGE),
        (right().json(), MESSAGE),
    ]);
    for (payload, codes) in cases {
        let feed = Feed::whole([frame(&payload), frame(right().json())].concat());
        report.check(&payload, refused(&module, &feed, codes, &["frame 1"]));
    }
    report.check("two hellos", refused(&module, &Feed::whole(after_hello(HELLO)), MESSAGE, &["frame 2"]));
}

// P1-SDK-01: the second frame is exactly an invoke of version 1.
fn invoke(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let mut cases: Vec<(Invoke, &[&str])> = Vec::new();
    for version in ["2", "0", "-1", "true", "1.0", "1e0"] {
        cases.push((right().with("version", version), VERSION));
    }
    for name in ["version", "type", "id", "action", "targets", "parameters"] {
        cases.push((right().without(name), MESSAGE));
    }
    for name in ["x", "Version", "host_api", "capabilities", "", "__proto__"] {
        cases.push((right().with(name, "1"), MESSAGE));
    }
    for kind in [r#""hello""#, r#""cancel""#, r#""broker-result""#, r#""INVOKE""#, "1", "null", "true"] {
        cases.push((right().with("type", kind), MESSAGE));
    }
    cases.push((right().with("version", "2").with("x", "1"), MESSAGE));
    for id in ["\"\"", "1", "null", "true", "[]", "{}"] {
        cases.push((right().with("id", id), REQUEST_ID));
    }
    for character in ["x", "é", "漢", "😀"] {
        cases.push((right().with("id", Value::from(character.repeat(129)).to_string()), REQUEST_ID));
    }
    cases.push((right().with("id", r#""a\u0000b""#), &["json.nul"]));
    for (invoke, codes) in cases {
        let text = invoke.json();
        let case: String = text.chars().take(160).collect();
        report.check(case, refused(&module, &Feed::whole(after_hello(text)), codes, &["frame 2"]));
    }
}

// An action is a string that is an identifier; whether the module has it is no matter of the protocol.
fn action(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let long = format!("\"{}\"", "a".repeat(97));
    for action in [
        r#""""#,
        r#""Echo""#,
        r#"" echo""#,
        r#""1echo""#,
        r#""echo:1""#,
        r#""écho""#,
        "1",
        "null",
        "[]",
        &long,
    ] {
        let feed = Feed::whole(right().with("action", action).exchange());
        report.check(action, refused(&module, &feed, MESSAGE, &["frame 2", "action"]));
    }
}

// P1-SDK-02: 1 to 64 targets in a list.
fn batch(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for targets in ["{}", r#""a""#, "null", "1", "true", r#"{"0":"a"}"#] {
        let feed = Feed::whole(right().with("targets", targets).exchange());
        report.check(targets, refused(&module, &feed, MESSAGE, &["frame 2", "targets"]));
    }
    for count in [0, 65, 256] {
        let names: Vec<String> = (0..count).map(|index| format!("t{index}")).collect();
        let feed = Feed::whole(Invoke::new("echo", &names, &json!({"message": "x"})).exchange());
        report.check(format!("{count} targets"), refused(&module, &feed, COUNT, &["64", &count.to_string()]));
    }
    // The count is judged before the targets.
    let wrong = format!("[{}]", ["1"; 65].join(","));
    report.check(
        "65 numbers",
        refused(&module, &Feed::whole(right().with("targets", wrong).exchange()), COUNT, &[]),
    );
}

// P1-SDK-02, P1-HOST-14
fn targets(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let mut cases: Vec<(String, &[&str], Vec<String>)> = Vec::new();
    for kind in ["1", "null", "true", "[]", r#"["a"]"#, "{}", "1.5"] {
        cases.push((format!(r#"["a",{kind}]"#), TARGET_TYPE, vec!["targets[1]".to_owned()]));
    }
    cases.push((r#"["a",""]"#.to_owned(), LENGTH, vec!["targets[1]".to_owned(), "128".to_owned()]));
    for character in ["x", "é", "漢", "😀"] {
        let id = Value::from(character.repeat(129)).to_string();
        let named =
            ["targets[1]", "128", "129", &format!("\"{character}{character}")].map(str::to_owned).to_vec();
        cases.push((format!(r#"["a",{id}]"#), LENGTH, named));
    }
    for id in ["a/b", "a\\b", "a:b", "/", "\\", ":", "é/", "😀:"] {
        let quoted = Value::from(id).to_string();
        cases.push((format!(r#"["a","b",{quoted}]"#), CHARACTER, vec!["targets[2]".to_owned(), quoted]));
    }
    cases.push((r#"["a","b\u002fc"]"#.to_owned(), CHARACTER, vec![r#""b/c""#.to_owned()]));
    for id in [r#""a\u0000b""#, r#""\u0000""#, "\"a\0b\""] {
        cases.push((format!("[{id}]"), &["json.nul"], vec!["frame 2".to_owned()]));
    }
    for pair in [r#""twin","b","twin""#, r#""twin","\u0074win""#] {
        cases.push((format!("[{pair}]"), DUPLICATE, vec![r#""twin""#.to_owned()]));
    }
    cases.push((
        r#"["b\nc","b\nc"]"#.to_owned(),
        DUPLICATE,
        vec![r#""b\nc""#.to_owned(), "targets[1]".to_owned()],
    ));
    cases.push((r#"["__proto__","__proto__"]"#.to_owned(), DUPLICATE, vec![r#""__proto__""#.to_owned()]));
    // Per target the type, the length, the characters, the duplicate; the first bad target is the one that is named.
    cases.push((r#"["a",5,"","a"]"#.to_owned(), TARGET_TYPE, vec!["targets[1]".to_owned()]));
    cases.push((r#"["a","","a",5]"#.to_owned(), LENGTH, vec!["targets[1]".to_owned()]));
    cases.push((r#"["a","a","x:",5]"#.to_owned(), DUPLICATE, vec!["targets[1]".to_owned()]));
    let long = format!(r#"["{}"]"#, ":".repeat(129));
    cases.push((long, LENGTH, vec!["targets[0]".to_owned()]));
    for (list, codes, named) in cases {
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        let feed = Feed::whole(right().with("targets", list.as_str()).exchange());
        let case: String = list.chars().take(80).collect();
        report.check(case, refused(&module, &feed, codes, &named));
    }
}

// P1-SDK-01: parameters are an object.
fn parameters(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for parameters in ["[]", r#""message""#, "null", "1", "true", r#"[{"message":"x"}]"#] {
        let feed = Feed::whole(right().with("parameters", parameters).exchange());
        report.check(parameters, refused(&module, &feed, PARAMETERS, &["frame 2", "parameters"]));
    }
}
