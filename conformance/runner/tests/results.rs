//! What every SDK does with a handler that goes wrong, and with legal but unusual results, in six languages, on the
//! faulty module of each SDK (P1-SDK-05, P1-SDK-07).

#[macro_use]
mod common;

use common::{
    Outcome, Report, echo, expect_error_code, expect_outcomes, expect_refusal, faulty, outcomes, run,
};
use modberth_conformance::answer;
use modberth_conformance::message::Invoke;
use modberth_conformance::subject::{Feed, Observed};
use serde_json::{Value, json};

in_six_languages!(
    legal,
    handlers_that_fail,
    an_action_that_is_not_there,
    rows,
    outcomes_and_errors,
    given_rows,
    bounds,
    values,
    sizes,
    each_form,
    numbers,
    text
);

const TARGETS: [&str; 3] = ["first", "second", "third"];

fn call(language: &str, action: &str, targets: &[&str], parameters: &Value) -> Observed {
    run(&faulty(language), &Feed::whole(Invoke::new(action, targets, parameters).exchange()))
}

/// The faulty data is that of the first target; the others get their index.
fn indexed<'a>(targets: &[&'a str]) -> Vec<(&'a str, Outcome)> {
    targets.iter().enumerate().map(|(index, id)| (*id, Outcome::Data(json!({"index": index})))).collect()
}

fn error(code: &str, message: &str) -> Outcome {
    Outcome::Error { code: code.to_owned(), message: message.to_owned() }
}

fn refuse(report: &mut Report, language: &str, action: &str, codes: &[&str], named: &[&str]) {
    let seen = call(language, action, &TARGETS, &json!({}));
    report.check(action, expect_refusal(&seen, codes, named));
}

// P1-SDK-04, P1-HOST-11, P1-HOST-12: what is unusual but right arrives unchanged.
fn legal(language: &str) {
    let mut report = Report::default();
    report.check("ok", expect_outcomes(&call(language, "ok", &TARGETS, &json!({})), &indexed(&TARGETS)));
    let many: Vec<String> = (0..64).map(|index| format!("t{index}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    report.check(
        "64 reversed",
        expect_outcomes(&call(language, "reversed", &many, &json!({})), &indexed(&many)),
    );
    let longest = call(language, "message-1024", &TARGETS, &json!({}));
    report.check("message-1024", longest_message(&longest));
}

fn longest_message(seen: &Observed) -> Result<(), String> {
    match &outcomes(seen, &TARGETS)?[TARGETS[0]] {
        Outcome::Error { message, .. } if *message == "é".repeat(1_024) => Ok(()),
        found => Err(format!("wanted an error with 1,024 times é, found {found:?}")),
    }
}

// P1-SDK-07: a whole-batch handler that raises ends the process; in the each-target form it becomes that target's error.
fn handlers_that_fail(language: &str) {
    let mut report = Report::default();
    refuse(&mut report, language, "raise", &["output.handler_failed"], &[]);
    let targets = ["bad-1", "good", "bad-2", "better"];
    let internal = error("internal", "The module failed on this target.");
    let seen = call(language, "each-raise", &targets, &json!({}));
    let mut wanted = indexed(&targets);
    wanted[0].1 = internal.clone();
    wanted[2].1 = internal;
    report.check("each-raise", expect_outcomes(&seen, &wanted));
    for target in [r#""bad-1""#, r#""bad-2""#] {
        let told =
            seen.stderr_text().contains(target).then_some(()).ok_or("not named on standard error".to_owned());
        report.check(format!("each-raise, {target}"), told);
    }
    let bounded =
        if seen.stderr.len() > 65_536 { Err(format!("{} bytes", seen.stderr.len())) } else { Ok(()) };
    report.check("each-raise, bound of the trace", bounded);

    // All 64 fail: the traces together still fit what a host accepts (P1-HOST-05).
    let all: Vec<String> = (0..64).map(|index| format!("bad-{index}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let seen = call(language, "each-raise", &all, &json!({}));
    report.check("each-raise 64 times", expect_error_code(&seen, &all, "internal"));
    let bounded =
        if seen.stderr.len() > 65_536 { Err(format!("{} bytes", seen.stderr.len())) } else { Ok(()) };
    report.check("each-raise 64 times, bound of the traces", bounded);

    let not_found = error("not_found", "no such target");
    let mut wanted = indexed(&targets);
    wanted[0].1 = not_found.clone();
    wanted[2].1 = not_found;
    let seen = call(language, "each-target-error", &targets, &json!({}));
    report.check("each-target-error", expect_outcomes(&seen, &wanted));
}

// P1-SDK-07, P1-SDK-10: who misspelt an action sees which there are: one bounded line, however many targets, while the
// error of the targets stays neutral.
fn an_action_that_is_not_there(language: &str) {
    let mut report = Report::default();
    let neutral = error("unsupported_action", "This module has no action \"ecco\".");
    let wanted: Vec<_> = TARGETS.iter().map(|target| (*target, neutral.clone())).collect();
    let feed = Feed::whole(Invoke::new("ecco", &TARGETS, &json!({})).exchange());

    let seen = run(&echo(language), &feed);
    report.check("echo, the results", expect_outcomes(&seen, &wanted));
    let line = "action \"ecco\": not in this module; its actions: echo\n";
    let told = if seen.stderr_text() == line { Ok(()) } else { Err(format!("{:?}", seen.stderr_text())) };
    report.check("echo, standard error", told);

    let seen = run(&faulty(language), &feed);
    report.check("faulty, the results", expect_outcomes(&seen, &wanted));
    report.check("faulty, standard error", names_actions(&seen));
    // Nothing is told of an action that is there.
    let seen = call(language, "ok", &TARGETS, &json!({}));
    let told = if seen.stderr.is_empty() { Ok(()) } else { Err(format!("{:?}", seen.stderr_text())) };
    report.check("ok, standard error", told);
}

/// One line of at most 2,048 bytes with every action, each once, that all faulty modules have.
fn names_actions(seen: &Observed) -> Result<(), String> {
    let text = seen.stderr_text();
    let list = text
        .strip_prefix("action \"ecco\": not in this module; its actions: ")
        .and_then(|rest| rest.strip_suffix('\n'))
        .filter(|list| text.len() <= 2_048 && !list.contains('\n'))
        .ok_or_else(|| format!("{text:?}"))?;
    let names: Vec<&str> = list.split(", ").collect();
    for action in ["ok", "raise", "each-raise", "missing", "print", "number-echo", "made", "rows", "control"]
    {
        if names.iter().filter(|name| **name == action).count() != 1 {
            return Err(format!("not once {action}: {text:?}"));
        }
    }
    Ok(())
}

// P1-SDK-05: one result per target.
fn rows(language: &str) {
    let mut report = Report::default();
    refuse(&mut report, language, "missing", &["output.target_missing"], &[r#""first""#]);
    refuse(&mut report, language, "unknown", &["output.target_unknown"], &[r#""stranger""#]);
    refuse(&mut report, language, "duplicate", &["output.target_duplicate"], &[r#""first""#]);
    let seen = call(language, "not-a-list", &TARGETS, &json!({}));
    // A language whose types rule this out has no such action.
    let verdict = expect_error_code(&seen, &TARGETS, "unsupported_action")
        .or_else(|_| expect_refusal(&seen, &["output.results_type"], &[]));
    report.check("not-a-list", verdict);
}

// P1-SDK-05: data or error, code and message within their bounds; both forms of handler.
fn outcomes_and_errors(language: &str) {
    let mut report = Report::default();
    refuse(&mut report, language, "both", &["output.outcome_both"], &[r#""first""#]);
    refuse(&mut report, language, "neither", &["output.outcome_missing"], &[r#""first""#]);
    refuse(&mut report, language, "extra-field", &["output.result_fields"], &["results[0]"]);
    refuse(&mut report, language, "bad-code", &["output.error_code"], &[r#""first""#, "Not Found"]);
    refuse(&mut report, language, "long-message", &["output.error_message"], &[r#""first""#, "1024", "1025"]);
    let seen = call(language, "each-bad-code", &["good", "bad"], &json!({}));
    report.check("each-bad-code", expect_refusal(&seen, &["output.error_code"], &["Not Found"]));
}

// P1-SDK-05, P1-HOST-19, P1-HOST-20, P1-HOST-22: values that the host would refuse are refused here, by name.
fn values(language: &str) {
    let mut report = Report::default();
    refuse(&mut report, language, "nan", &["json.nonfinite"], &[r#""first""#]);
    refuse(&mut report, language, "infinity", &["json.nonfinite"], &[r#""first""#]);
    refuse(
        &mut report,
        language,
        "big-integer",
        &["json.integer_range"],
        &[r#""first""#, "9007199254740991"],
    );
    let seen = call(language, "surrogate", &TARGETS, &json!({}));
    let verdict = match surrogate(language) {
        [] => expect_error_code(&seen, &TARGETS, "unsupported_action"),
        codes => expect_refusal(&seen, codes, &[r#""first""#]),
    };
    report.check("surrogate", verdict);
    let seen = call(language, "big-integer-ok", &TARGETS, &json!({}));
    report.check("big-integer-ok", largest_integer(&seen));
}

/// The code for a lone surrogate; none where a string cannot hold one, so that the faulty module has no such action.
fn surrogate(language: &str) -> &'static [&'static str] {
    match language {
        "rust" => &[],
        // A string of C holds bytes: the surrogate is there as ED A0 80, which is not UTF-8.
        "c" | "cpp" => &["json.utf8"],
        _ => &["json.surrogate"],
    }
}

/// The first target's data is 2^53 - 1 or holds it, with every digit.
fn largest_integer(seen: &Observed) -> Result<(), String> {
    match &outcomes(seen, &TARGETS)?[TARGETS[0]] {
        Outcome::Data(data) if data.to_string().contains("9007199254740991") => Ok(()),
        found => Err(format!("wanted 9007199254740991, found {found:?}")),
    }
}

/// The faults of one results list as the host would name the first, on the targets `first` and `second`.
const GIVEN: [(&str, &str, &[&str]); 34] = [
    ("[1]", "output.results_type", &["results[0]", "with", "target", "data or error"]),
    ("[null]", "output.results_type", &["results[0]"]),
    (r#"[["first",1]]"#, "output.results_type", &["results[0]"]),
    ("[{}]", "output.result_fields", &["results[0]"]),
    (r#"[{"data":1}]"#, "output.result_fields", &["results[0]"]),
    (r#"[{"target":1,"data":1}]"#, "output.result_fields", &["results[0]"]),
    (r#"[{"target":"first","Data":1}]"#, "output.result_fields", &["results[0]", r#""Data""#]),
    (r#"[{"target":"stranger","x":1}]"#, "output.result_fields", &["results[0]"]),
    (r#"[{"target":"First","data":1}]"#, "output.target_unknown", &[r#""First""#]),
    (r#"[{"target":"","data":1}]"#, "output.target_unknown", &[r#""""#]),
    (r#"[{"target":"first ","data":1}]"#, "output.target_unknown", &[r#""first ""#]),
    (r#"[{"target":"stranger"}]"#, "output.target_unknown", &[r#""stranger""#]),
    (r#"[{"target":"first","data":1},{"target":"first"}]"#, "output.target_duplicate", &["results[1]"]),
    (r#"[{"target":"first","data":1,"error":1}]"#, "output.outcome_both", &["results[0]"]),
    (r#"[{"target":"first"},1]"#, "output.outcome_missing", &["results[0]"]),
    (r#"[{"target":"first","error":null}]"#, "output.error_fields", &["results[0]"]),
    (r#"[{"target":"first","error":"gone"}]"#, "output.error_fields", &["results[0]"]),
    (r#"[{"target":"first","error":["a","b"]}]"#, "output.error_fields", &["results[0]"]),
    (r#"[{"target":"first","error":{}}]"#, "output.error_fields", &["results[0]"]),
    (r#"[{"target":"first","error":{"code":"a"}}]"#, "output.error_fields", &["results[0]"]),
    (r#"[{"target":"first","error":{"message":"a"}}]"#, "output.error_fields", &["results[0]"]),
    (r#"[{"target":"first","error":{"code":1,"message":"m"}}]"#, "output.error_fields", &["results[0]"]),
    (r#"[{"target":"first","error":{"code":"A","message":null}}]"#, "output.error_fields", &["results[0]"]),
    (
        r#"[{"target":"first","error":{"code":"A","message":"m","x":1}}]"#,
        "output.error_fields",
        &["results[0]"],
    ),
    (r#"[{"target":"first","error":{"code":"","message":"m"}}]"#, "output.error_code", &["results[0]"]),
    (r#"[{"target":"first","error":{"code":"a b","message":"m"}}]"#, "output.error_code", &[r#""a b""#]),
    (r#"[{"target":"first","error":{"code":"1a","message":"m"}}]"#, "output.error_code", &[r#""1a""#]),
    (r#"[{"target":"first","error":{"code":"a\n","message":"m"}}]"#, "output.error_code", &[r#""a\n""#]),
    (r#"[{"target":"first","error":{"code":"é","message":"m"}}]"#, "output.error_code", &[r#""é""#]),
    ("[]", "output.target_missing", &[r#""first""#]),
    (r#"[{"target":"first","data":1}]"#, "output.target_missing", &[r#""second""#]),
    (r#"[{"target":"second","data":1}]"#, "output.target_missing", &[r#""first""#]),
    (
        r#"[{"target":"second","data":1},{"target":"second","data":1}]"#,
        "output.target_duplicate",
        &["results[1]"],
    ),
    (
        r#"[{"target":"second","data":1},{"target":"first","data":1},7]"#,
        "output.results_type",
        &["results[2]"],
    ),
];

// P1-SDK-05, P1-HOST-09 to P1-HOST-11: any rows a handler can think of, the first fault by name.
fn given_rows(language: &str) {
    let module = faulty(language);
    let mut report = Report::default();
    let targets = ["first", "second"];
    let give = |rows: &str| {
        let invoke = Invoke::new("rows", &targets, &json!({}));
        run(&module, &Feed::whole(invoke.with("parameters", format!(r#"{{"rows":{rows}}}"#)).exchange()))
    };
    for (rows, code, named) in GIVEN {
        report.check(rows, expect_refusal(&give(rows), &[code], named));
    }
    let with_error = |code: &str, message: &str| {
        let error = json!({"code": code, "message": message});
        json!([{"target": "second", "error": error}, {"target": "first", "data": null}]).to_string()
    };
    let longest = format!("a{}", "0".repeat(95));
    for (code, message) in [
        ("a", String::new()),
        ("a", "😀".repeat(1_024)),
        ("a", "\u{1}".repeat(1_024)),
        (&longest, "m".to_owned()),
        ("a.b-c_9", " ".to_owned()),
        ("z", "e\u{301}\u{2028}\"\\\n".to_owned()),
    ] {
        let wanted = [("first", Outcome::Data(Value::Null)), ("second", error(code, &message))];
        let case = format!("code of {}, message of {}", code.len(), message.chars().count());
        report.check(case, expect_outcomes(&give(&with_error(code, &message)), &wanted));
    }
    let seen = give(&with_error(&format!("{longest}0"), "m"));
    report.check("code of 97", expect_refusal(&seen, &["output.error_code"], &[r#""second""#]));
    for character in ["x", "😀"] {
        let seen = give(&with_error("a", &character.repeat(1_025)));
        let verdict = expect_refusal(&seen, &["output.error_message"], &[r#""second""#, "1024", "1025"]);
        report.check(format!("1,025 times {character}"), verdict);
    }
}

// P1-SDK-05, P1-HOST-21, P1-HOST-35: the last value inside each bound arrives, the first beyond it is refused by name.
fn bounds(language: &str) {
    let mut report = Report::default();
    let cases: [(&str, &str, usize, &str); 12] = [
        ("text", "x", 65_536, "json.string_length"),
        ("text", "é", 65_536, "json.string_length"),
        ("text", "😀", 65_536, "json.string_length"),
        ("text", "\"", 65_536, "json.string_length"),
        ("name", "x", 240, "json.name_length"),
        ("name", "é", 240, "json.name_length"),
        ("name", "😀", 240, "json.name_length"),
        ("name", "\n", 240, "json.name_length"),
        ("list", "", 256, "json.entries"),
        ("members", "", 256, "json.entries"),
        // The data itself is at depth 3, and no value is deeper than 12.
        ("levels", "", 10, "json.depth"),
        ("name", "$serde_json::private::", 0, "json.reserved_key"),
    ];
    for (kind, unit, most, code) in cases {
        let make = |count: usize| {
            call(language, "made", &["a"], &json!({"kind": kind, "unit": unit, "count": count}))
        };
        let case = format!("{most} of {kind} {unit:?}");
        report.check(&case, outcomes(&make(most), &["a"]).map(drop));
        report.check(
            format!("{case} and 1"),
            expect_refusal(&make(most + 1), &[code], &[r#""a""#, "results[0]"]),
        );
    }
}

// P1-SDK-05: the payload limit.
fn sizes(language: &str) {
    let mut report = Report::default();
    refuse(&mut report, language, "too-big", &["frame.too_large"], &["1048576", r#""first""#]);
    // To the byte: a result frame of exactly the limit, and one byte more. The texts fill it up, and the id what is left.
    let names: Vec<String> = (10..27).map(|index| index.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let frame = |id: usize, text: usize| {
        let row = |name| format!(r#"{{"target":"{name}","data":"{}"}}"#, "x".repeat(text));
        let rows = names.iter().map(row).collect::<Vec<_>>().join(",");
        format!(r#"{{"version":1,"type":"result","id":"{}","results":[{rows}]}}"#, "i".repeat(id)).len()
    };
    let text = (1_048_576 - frame(1, 0)) / names.len();
    let id = 1 + 1_048_576 - frame(1, text);
    for (id, fits) in [(id, true), (id + 1, false)] {
        let parameters = json!({"kind": "text", "unit": "x", "count": text});
        let name = "i".repeat(id);
        let invoke = Invoke::new("made", &names, &parameters).with("id", format!("\"{name}\""));
        let seen = run(&faulty(language), &Feed::whole(invoke.exchange()));
        let verdict = match fits {
            true => answer::outcomes(&seen, &name, &names).map(drop),
            false => expect_refusal(&seen, &["frame.too_large"], &["1048576"]),
        };
        report.check(format!("a result frame of {} bytes", frame(id, text)), verdict);
    }
}

// P1-SDK-05, P1-SDK-07: the each-target form checks as much. Only an exception becomes `internal`; bad data and a bad
// error end the process, and the target is named though the others are right.
fn each_form(language: &str) {
    let mut report = Report::default();
    let targets = ["good", "bad", "better"];
    let cases: [(&str, &[&str], &[&str]); 6] = [
        ("each-long-message", &["output.error_message"], &["1024", "1025"]),
        ("each-nan", &["json.nonfinite"], &[]),
        ("each-infinity", &["json.nonfinite"], &[]),
        ("each-big-integer", &["json.integer_range"], &["9007199254740991"]),
        ("each-surrogate", surrogate(language), &[]),
        ("each-too-big", &["frame.too_large"], &["1048576"]),
    ];
    for (action, codes, named) in cases {
        let seen = call(language, action, &targets, &json!({}));
        let verdict = if codes.is_empty() {
            expect_error_code(&seen, &targets, "unsupported_action")
        } else {
            expect_refusal(&seen, codes, &[&[r#""bad""#, "results[1]"], named].concat())
        };
        report.check(action, verdict);
    }
}

// Numbers come back equal as numbers, in a form that the host accepts (decisions on numbers).
fn numbers(language: &str) {
    let mut report = Report::default();
    let cases = [
        "0",
        "-0",
        "1",
        "-1",
        "1.0",
        "0.1",
        "-0.1",
        "1e-7",
        "123456789.125",
        "1e15",
        "1e16",
        "1E2",
        "1e20",
        "1e21",
        "-1e20",
        "9007199254740991",
        "-9007199254740991",
        "9007199254740991.0",
        "9007199254740992.0",
        "9007199254740993.0",
        "-9007199254740994.0",
        "1e22",
        "1e23",
        "1e300",
        "5e-324",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "-1.7976931348623157e308",
        "0.30000000000000004",
        "8999999999999999",
        "100000000000000000000.0",
        "1e-400",
        "123456789012345680000.0",
        "4503599627370497.5",
    ];
    for number in cases {
        let value: Value = serde_json::from_str(number).expect("a number of the table");
        let invoke = Invoke::new("number-echo", &["a"], &json!({}))
            .with("parameters", format!(r#"{{"value":{number}}}"#));
        let seen = run(&faulty(language), &Feed::whole(invoke.exchange()));
        report.check(number, expect_outcomes(&seen, &[("a", Outcome::Data(value))]));
    }
    // Numbers inside other values too, several of them in one request.
    let nested = r#"{"value":{"list":[1e20,9007199254740991,{"n":-1e20}],"x":1e300}}"#;
    let value: Value = serde_json::from_str::<Value>(nested).expect("the case")["value"].clone();
    let invoke = Invoke::new("number-echo", &["a", "b"], &json!({})).with("parameters", nested);
    let seen = run(&faulty(language), &Feed::whole(invoke.exchange()));
    report.check(
        "nested",
        expect_outcomes(&seen, &[("a", Outcome::Data(value.clone())), ("b", Outcome::Data(value))]),
    );
}

// P1-SDK-08, P1-HOST-17: names and text of the data arrive as the handler gave them.
fn text(language: &str) {
    let mut report = Report::default();
    let cases = [
        ("keys", json!({"__proto__": {"x": 1}, "constructor": 2, "a": 1, "A": 2})),
        ("control", json!("\u{1}\u{1f}\"\\\u{2028}")),
    ];
    for (action, data) in cases {
        let seen = call(language, action, &["first"], &json!({}));
        report.check(action, expect_outcomes(&seen, &[("first", Outcome::Data(data))]));
    }
}
