//! The echo example in six languages: what it gives back, and what it touches while it does.

#[macro_use]
mod common;

use common::{Outcome, Report, echo, expect_error_code, expect_outcomes, run};
use modberth_conformance::message::{HELLO, Invoke, after_hello, frame};
use modberth_conformance::subject::{Feed, Subject};
use serde_json::{Value, json};

in_six_languages!(
    batches,
    ids,
    messages,
    large_frames,
    fragments,
    one_byte_at_a_time,
    numbers_written_otherwise,
    request_ids,
    unsupported,
    three_streams_only,
);

/// What echo must give for this batch and message (P1-SDK-10).
fn echoed<'a>(targets: &[&'a str], message: &str) -> Vec<(&'a str, Outcome)> {
    let outcome = |index| Outcome::Data(json!({"message": message, "index": index}));
    targets.iter().enumerate().map(|(index, target)| (*target, outcome(index))).collect()
}

fn request(targets: &[&str], message: &str) -> Invoke {
    Invoke::new("echo", targets, &json!({"message": message}))
}

fn check(
    module: &Subject,
    targets: &[&str],
    message: &str,
    shape: impl FnOnce(Feed) -> Feed,
) -> Result<(), String> {
    let seen = run(module, &shape(Feed::whole(request(targets, message).exchange())));
    expect_outcomes(&seen, &echoed(targets, message))?;
    if !seen.stderr.is_empty() {
        return Err(format!("something stands on standard error: {}", seen.stderr_text()));
    }
    Ok(())
}

/// 128 characters of one, two, three and four bytes each.
fn widest() -> [String; 4] {
    ["x", "é", "漢", "😀"].map(|character| character.repeat(128))
}

/// Ids that a careless module would change, merge or trip over (P1-HOST-14, P1-SDK-08).
const ODD_IDS: [&str; 24] = [
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    " a ",
    "a",
    "A",
    "..",
    ".",
    "b\nc",
    "\t",
    "é",
    "e\u{301}",
    "\u{1}",
    "\u{7f}",
    "\u{2028}",
    "\u{feff}",
    "\u{ffff}",
    "null",
    "0",
    "\"quoted\"",
    "ß",
    "\u{200b}",
];

// P1-SDK-03, P1-SDK-04, P1-SDK-10
fn batches(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let names: Vec<String> = (0..64).map(|index| format!("target-{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for count in [1, 2, 63, 64] {
        report.check(format!("{count} targets"), check(&module, &names[..count], "Hello", |feed| feed));
    }
    let backwards: Vec<&str> = names.iter().rev().copied().collect();
    report.check("64 targets, last first", check(&module, &backwards, "Hello", |feed| feed));
}

// P1-HOST-14, P1-SDK-08
fn ids(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    for id in &widest() {
        report
            .check(format!("128 times {:?}", id.chars().next()), check(&module, &[id], "Hello", |feed| feed));
    }
    for id in ODD_IDS {
        report.check(format!("{id:?}"), check(&module, &[id], "Hello", |feed| feed));
    }
    report.check("all of them", check(&module, &ODD_IDS, "Hello", |feed| feed));
    let backwards: Vec<&str> = ODD_IDS.iter().rev().copied().collect();
    report.check("all of them, last first", check(&module, &backwards, "Hello", |feed| feed));
    report.check("composed and decomposed", check(&module, &["é", "e\u{301}"], "é", |feed| feed));
    // Integer-like ids are moved to the front by an object of JavaScript.
    report.check("numbers in no order", check(&module, &["b", "10", "2", "a", "-1"], "Hello", |feed| feed));
    let many: Vec<String> =
        (0..64).map(|index| format!("{}{}", char::from(b'0' + index), "😀".repeat(127))).collect();
    let legal: Vec<&str> =
        many.iter().map(String::as_str).filter(|id| !id.contains([':', '\\', '/'])).collect();
    report.check("many of 128 four-byte characters", check(&module, &legal, "Hello", |feed| feed));
}

// P1-FRAME-04, P1-SDK-08
fn messages(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let controls: String = ('\u{1}'..='\u{1f}').collect();
    let cases = [
        ("empty", String::new()),
        ("quotes", r#"say "no" to 'it' \ and \\ and /"#.to_owned()),
        ("control characters", controls),
        ("delete and C1", "\u{7f}\u{80}\u{85}\u{9f}".to_owned()),
        ("line separators", "a\u{2028}b\u{2029}c".to_owned()),
        ("byte-order mark inside", "\u{feff}a\u{feff}".to_owned()),
        ("noncharacters", "\u{ffff}\u{fdd0}\u{10ffff}".to_owned()),
        ("astral", "😀𝄞𐍈".to_owned()),
        ("looks like JSON", r#"{"version":1,"results":[]}\u0000"#.to_owned()),
        ("line ends", "a\r\nb\nc\rd".to_owned()),
        ("60,000 letters", "x".repeat(60_000)),
        ("60,000 of two bytes", "é".repeat(60_000)),
        ("60,000 of four bytes", "😀".repeat(60_000)),
        ("60,000 quotes", "\"".repeat(60_000)),
        ("65,536 letters", "x".repeat(65_536)),
    ];
    for (name, message) in &cases {
        report.check(name, check(&module, &["a", "b"], message, |feed| feed));
    }
    // The same text, every character of it escaped.
    let escaped: String = "Hé😀\u{2028}".encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    let invoke = request(&["a"], "").with("parameters", format!(r#"{{"message":"{escaped}"}}"#));
    let seen = run(&module, &Feed::whole(invoke.exchange()));
    report.check("escaped throughout", expect_outcomes(&seen, &echoed(&["a"], "Hé😀\u{2028}")));
}

// P1-FRAME-02, P1-SDK-05: the bound itself passes, in both directions.
fn large_frames(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let names: Vec<String> = (0..17).map(|index| format!("t{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    report.check("a result of a million bytes", check(&module, &names, &"x".repeat(61_000), |feed| feed));
    let padded = |size: usize| {
        let text = request(&["a"], "Hello").json();
        let (body, end) = text.split_at(text.len() - 1);
        format!("{body}{}{end}", " ".repeat(size - text.len()))
    };
    let seen = run(&module, &Feed::whole(after_hello(padded(1_048_576))));
    report.check("a payload of 1,048,576 bytes", expect_outcomes(&seen, &echoed(&["a"], "Hello")));
    let seen = run(&module, &Feed::whole(after_hello(padded(1_048_577))));
    let refused = common::expect_refusal(&seen, &["frame.too_large"], &["frame 2", "1048576", "1048577"]);
    report.check("a payload of 1,048,577 bytes", refused);
}

// P1-FRAME-06
fn fragments(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let targets = ["a", "é", "😀", "d"];
    let message = "Hé\u{2028}llo 😀";
    let hello = frame(HELLO).len();
    let whole = request(&targets, message).exchange().len();
    let shapes: [(&str, Vec<usize>); 8] = [
        ("whole", vec![]),
        ("first header split", vec![1, 3]),
        ("header, payload, header, payload", vec![4, hello, hello + 4]),
        ("two frames apart", vec![hello]),
        ("second header in the first piece", vec![hello + 4]),
        ("second header split", vec![hello + 2]),
        ("cut inside characters", (hello + 90..whole - 2).step_by(3).collect()),
        ("last byte alone", vec![whole - 1]),
    ];
    for (name, cuts) in &shapes {
        report.check(name, check(&module, &targets, message, |feed| feed.cut_at(cuts)));
    }
    for size in [2, 3, 7, 64] {
        report.check(format!("pieces of {size}"), check(&module, &targets, message, |feed| feed.every(size)));
    }
}

// P1-FRAME-06: everything above once more, one byte at a time.
fn one_byte_at_a_time(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let names: Vec<String> = (0..64).map(|index| format!("target-{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let [one, two, three, four] = widest();
    let wide = [one.as_str(), &two, &three, &four];
    let controls: String = ('\u{1}'..='\u{1f}').collect();
    report.check("one target", check(&module, &["a"], "Hello", |feed| feed.every(1)));
    report.check("64 targets", check(&module, &names, "Hello", |feed| feed.every(1)));
    report.check("widest ids", check(&module, &wide, "Hello", |feed| feed.every(1)));
    report.check("odd ids", check(&module, &ODD_IDS, "é\"\\\u{2028}", |feed| feed.every(1)));
    report.check("control characters", check(&module, &["a"], &controls, |feed| feed.every(1)));
    report.check("60,000 characters", check(&module, &["a"], &"é".repeat(60_000), |feed| feed.every(1)));
}

// The order of members and white space are free in JSON, so they are free here.
fn numbers_written_otherwise(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let hello = " {\"host_api\" :1,\r\n\t\"type\":\"h\\u0065llo\" , \"version\": 1 } \n";
    let invoke = r#"{"parameters":{"message":"Hello"},"targets":["a"],"action":"echo","id":"request-id","type":"invoke","version":1}"#;
    let seen = run(&module, &Feed::whole([frame(hello), frame(invoke)].concat()));
    report.check(
        "members in another order, white space, escapes",
        expect_outcomes(&seen, &echoed(&["a"], "Hello")),
    );
}

// P1-SDK-04, decisions on request ids: 1 to 128 code points, copied exactly.
fn request_ids(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let [one, two, three, four] = widest();
    for id in
        [one.as_str(), &two, &three, &four, "x", "__proto__", " ", "a/b\\c:d", "\n\u{1}\"", "é", "e\u{301}"]
    {
        let invoke = request(&["a"], "Hello").with("id", Value::from(id).to_string());
        let seen = run(&module, &Feed::whole(invoke.exchange()));
        report.check(format!("{id:?}"), answered_id(&seen.stdout, id));
    }
}

fn answered_id(stdout: &[u8], wanted: &str) -> Result<(), String> {
    let start = frame(modberth_conformance::message::MODULE_HELLO).len();
    let payload = stdout.get(start + 4..).ok_or_else(|| format!("only {} bytes of output", stdout.len()))?;
    let result: Value = serde_json::from_slice(payload).map_err(|error| error.to_string())?;
    if result["id"] == wanted { Ok(()) } else { Err(format!("the result carries the id {}", result["id"])) }
}

// P1-SDK-10, and echo without the text that it needs.
fn unsupported(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let targets = ["a", "b", "__proto__"];
    for action in ["nothing", "constructor", "echo2", "e", "to-string", "has_own.property"] {
        let seen =
            run(&module, &Feed::whole(Invoke::new(action, &targets, &json!({"message": "x"})).exchange()));
        let error = Outcome::Error {
            code: "unsupported_action".to_owned(),
            message: format!("This module has no action \"{action}\"."),
        };
        let wanted: Vec<_> = targets.iter().map(|target| (*target, error.clone())).collect();
        report.check(action, expect_outcomes(&seen, &wanted));
    }
    // What the manifest rules out, and a host never sends.
    for parameters in [json!({}), json!({"message": 5}), json!({"message": null}), json!({"message": ["x"]})]
    {
        let seen = run(&module, &Feed::whole(Invoke::new("echo", &targets, &parameters).exchange()));
        let verdict = expect_error_code(&seen, &targets, "unsupported_action");
        report.check(format!("echo with {parameters}"), verdict);
    }
}

/// Calls that would break P1-SDK-12: what may be opened for writing is nothing, what may be started is threads.
fn forbidden(call: &str) -> bool {
    let name = call.split('(').next().unwrap_or_default();
    match name {
        "open" | "openat" | "openat2" | "creat" => {
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"]
                .iter()
                .any(|flag| call.contains(flag));
            (writes || name == "creat") && !call.contains("\"/dev/null\"")
        }
        "clone" | "clone3" => !call.contains("CLONE_THREAD"),
        _ => true,
    }
}

// P1-SDK-12: no socket, no process, no file written.
fn three_streams_only(language: &str) {
    let module = echo(language);
    let mut report = Report::default();
    let trace = std::env::temp_dir().join(format!("modberth-trace-{}-{language}", std::process::id()));
    let wrapper = [
        "strace",
        "--follow-forks",
        "--quiet=all",
        "--signal=none",
        "--output-append-mode",
        "--string-limit=200",
        "--trace=%network,fork,vfork,clone,clone3,execve,execveat,open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,\
         renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mknod,mknodat,truncate,memfd_create",
        "--output",
        trace.to_str().expect("the temporary folder has a plain name"),
    ];
    let traced = module.through(&wrapper).unwrap_or_else(|error| {
        panic!("strace is needed for this test ({error}); `cargo xtask test` installs it or prints how")
    });
    let verdict = check(&traced, &["a", "b"], "Hello", |feed| feed);
    let calls = std::fs::read_to_string(&trace).unwrap_or_default();
    // A trace that cannot be removed harms nobody.
    let _ = std::fs::remove_file(&trace);
    report.check("echo under strace", verdict);
    let mut calls =
        calls.lines().filter_map(|line| line.split_once(char::is_whitespace)).map(|(_, call)| call.trim());
    let first = calls.next().unwrap_or_default();
    report.check("the module is started", first.starts_with("execve(").then_some(()).ok_or(first.to_owned()));
    for call in calls.filter(|call| forbidden(call)) {
        report.check("a call", Err(call.to_owned()));
    }
}
