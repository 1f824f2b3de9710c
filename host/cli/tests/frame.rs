//! `modberth frame decode` and `frame check`.

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{frame, run, run_with};

const HELLO: &[u8] = b"{ \"version\":1,\n\"type\":\"hello\", \"host_api\":1}";

fn two() -> Vec<u8> {
    [frame(HELLO), frame(br#"{"a":[1.0,{}]}"#)].concat()
}

#[test]
fn decode_shows_frames_for_people() {
    let done = run_with(&["frame", "decode", "-"], &two());
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(
        done.out,
        "frame 1 at byte 0, 44 bytes of payload\n{\"version\":1,\"type\":\"hello\",\"host_api\":1}\n\
         frame 2 at byte 48, 14 bytes of payload\n{\"a\":[1.0,{}]}\n"
    );
    let done = run_with(&["frame", "decode", "--pretty", "-"], &frame(br#"{"a":[1.0,{}]}"#));
    assert!(done.out.ends_with("{\n  \"a\": [\n    1.0,\n    {}\n  ]\n}\n"), "{}", done.out);
}

#[test]
fn decode_with_json_gives_one_object_a_line() {
    let stream = [two(), frame(b"{\"a\":1,\"a\":2}"), vec![0, 0, 0]].concat();
    let done = run_with(&["frame", "decode", "--json", "-"], &stream);
    assert_eq!(done.code, 1);
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[0],
        json!({"file": "-", "frame": 1, "offset": 0, "length": 44, "valid": true,
               "payload": {"version": 1, "type": "hello", "host_api": 1}})
    );
    assert_eq!(
        (&lines[2]["valid"], &lines[2]["failure"]["code"]),
        (&json!(false), &json!("json.duplicate_key"))
    );
    assert_eq!(lines[2]["text"], "{\"a\":1,\"a\":2}");
    assert_eq!(lines[3]["failure"]["code"], "frame.truncated");
    assert_eq!(lines[3]["stream_offset"], stream.len());
    // Numbers stay as they were written.
    assert!(done.out.contains(r#""payload":{"a":[1.0,{}]}"#));
}

#[test]
fn decode_shows_payloads_that_are_no_json_without_harm() {
    let done = run_with(&["frame", "decode", "-"], &frame(b"\x1b[31m\xff"));
    assert_eq!(done.code, 1);
    assert!(done.out.contains("json.utf8") && done.out.contains("\\u001b[31m\u{fffd}"), "{}", done.out);
}

#[test]
fn check_accepts_whole_streams() {
    let done = run_with(&["frame", "check", "-"], &two());
    assert_eq!((done.code, done.out.as_str()), (0, "ok - 2 frames, 66 bytes\n"));
    let document = run_with(&["frame", "check", "--json", "-"], &two()).json();
    assert_eq!(document, json!({"ok": true, "files": [{"file": "-", "ok": true, "bytes": 66, "frames": 2}]}));
}

#[test]
fn check_refuses_with_code_and_place() {
    let hello = frame(HELLO);
    for (stream, code, number, at) in [
        (Vec::new(), "frame.missing", 1, 0),
        (vec![0, 0], "frame.truncated", 1, 2),
        (vec![0, 0, 0, 0], "frame.empty", 1, 0),
        (vec![0, 0x10, 0, 1], "frame.too_large", 1, 0),
        ([hello.clone(), vec![0xff; 4]].concat(), "frame.too_large", 2, 48),
        ([hello.clone(), vec![0, 0, 0, 9, b'{']].concat(), "frame.truncated", 2, 53),
        ([hello.clone(), frame(b"{\"a\":01}")].concat(), "json.number", 2, 58),
        ([hello, frame(b"[]")].concat(), "json.not_object", 2, 52),
    ] {
        let done = run_with(&["frame", "check", "-", "--json"], &stream);
        assert_eq!(done.code, 1, "{code}");
        let document = done.json();
        let found = &document["files"][0];
        assert_eq!((document["ok"].as_bool(), found["ok"].as_bool()), (Some(false), Some(false)));
        assert_eq!(found["failure"]["code"], code);
        assert_eq!(found["failure"]["frame"], number, "{found}");
        assert_eq!(found["stream_offset"], at, "{code}: {found}");
        let done = run_with(&["frame", "check", "-"], &stream);
        assert_eq!(done.code, 1);
        done.says(&[&format!("refused at byte {at}"), &format!("error[{code}]"), &format!("frame {number}")]);
    }
}

#[test]
fn check_of_one_bare_document() {
    let one = |bytes: &[u8]| run_with(&["frame", "check", "--json-only", "-"], bytes);
    assert_eq!(one(b"{\"a\":1}").code, 0);
    let done = one(b"{\"a\":9007199254740992}");
    assert_eq!(done.code, 1);
    done.says(&["refused at byte 5", "error[json.integer_range]", "byte 5, a"]);
    let document = run_with(&["frame", "check", "--json-only", "--json", "-"], b"{\"a\":\"\\u0000\"}").json();
    assert_eq!(document["files"][0]["failure"]["code"], "json.nul");
    assert_eq!(document["files"][0]["failure"]["offset"], 6);
    let mut large = b"{}".to_vec();
    large.resize(1_048_576, b' ');
    assert_eq!(one(&large).code, 0);
    large.push(b' ');
    let done = one(&large);
    assert_eq!(done.code, 1);
    done.says(&["error[frame.too_large]", "1048576, found 1048577"]);
}

/// A bare document is most likely meant for the other check.
#[test]
fn json_without_frames_is_pointed_at_json_only() {
    for command in [&["frame", "check", "-"][..], &["frame", "check", "--json", "-"]] {
        let done = run_with(command, b"{\n  \"a\": 1}\n");
        assert_eq!(done.code, 1);
        let said = format!("{}{}", done.out, done.err);
        assert!(said.contains("frame check --json-only") && said.contains("caller"), "{said}");
    }
}

#[test]
fn several_files_and_files_that_are_not_there() {
    let work = tempfile::tempdir().unwrap();
    let (good, bad) = (work.path().join("good"), work.path().join("bad"));
    fs::write(&good, b"{}").unwrap();
    fs::write(&bad, b"{").unwrap();
    let names = [good.to_str().unwrap(), bad.to_str().unwrap()];
    let done = run(&["frame", "check", "--json-only", names[0], names[1], "--json"]);
    assert_eq!(done.code, 1);
    let files = done.json()["files"].clone();
    assert_eq!((&files[0]["ok"], &files[1]["ok"]), (&json!(true), &json!(false)));
    for command in [&["frame", "check"][..], &["frame", "check", "--json-only"], &["frame", "decode"]] {
        for name in ["/nonexistent/file", work.path().to_str().unwrap()] {
            let done = run(&[command, &[name]].concat());
            assert_eq!(done.code, 2, "{command:?} {name}");
            done.says(&["error[request.file]", name]);
        }
    }
    // The other files keep their verdicts.
    let arguments = ["frame", "check", "--json-only", names[0], "/nonexistent/file", names[1]];
    let done = run(&arguments);
    assert_eq!(done.code, 2);
    assert!(done.out.starts_with(&format!("ok {}", names[0])), "{}", done.out);
    done.says(&["error[request.file]", "error[json.", names[1]]);
    let document = run(&[&arguments[..], &["--json"]].concat()).json();
    assert_eq!(document["ok"], false);
    let files = document["files"].as_array().unwrap();
    assert_eq!(files.iter().map(|file| &file["ok"]).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(files[1]["file"], "/nonexistent/file");
    assert_eq!(files[1]["failure"]["code"], "request.file");
}

/// Every vector of the strict JSON profile, in one run.
#[test]
fn the_vectors_of_the_profile_are_judged_as_they_say() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases/json");
    let work = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    for list in ["accept.json", "reject.json"] {
        let list: Value = serde_json::from_slice(&fs::read(cases.join(list)).unwrap()).unwrap();
        for vector in list["vectors"].as_array().unwrap() {
            let path = work.path().join(expected.len().to_string());
            fs::write(&path, bytes(&vector["bytes"])).unwrap();
            let verdict = vector.get("process").unwrap_or(vector);
            expected.push((path, verdict["code"].as_str().map(str::to_owned), vector["name"].clone()));
        }
    }
    assert!(expected.len() >= 202);
    let mut arguments = vec!["frame", "check", "--json-only", "--json"];
    arguments.extend(expected.iter().map(|(path, ..)| path.to_str().unwrap()));
    let document = run(&arguments).json();
    let files = document["files"].as_array().unwrap();
    assert_eq!(files.len(), expected.len());
    for (found, (_, code, name)) in files.iter().zip(&expected) {
        assert_eq!(found["ok"], code.is_none(), "{name}");
        assert_eq!(found["failure"]["code"].as_str(), code.as_deref(), "{name}");
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    if let Some(text) = value["utf8"].as_str() {
        text.as_bytes().to_vec()
    } else if let Some(hex) = value["hex"].as_str() {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    } else if let Some(times) = value["times"].as_u64() {
        bytes(&value["repeat"]).repeat(usize::try_from(times).unwrap())
    } else {
        value["concat"].as_array().unwrap().iter().flat_map(bytes).collect()
    }
}
