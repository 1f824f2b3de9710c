//! What the tests of the command share: packages in temporary folders, and the command itself.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test program uses a part")]

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longest any command may take: a guard against hangs.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

/// The command, away from the settings of whoever runs the tests.
pub fn modberth() -> Command {
    let mut command = Command::cargo_bin("modberth").unwrap();
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR").timeout(PATIENCE);
    command
}

/// How a command ended.
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Standard output as one JSON document on one line.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "one line: {}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// Asserts that standard error holds all of these.
    #[track_caller]
    pub fn says(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is not in:\n{}", self.err);
        }
    }
}

/// Whether this machine lets modules be confined; told loudly where not.
pub fn confines() -> bool {
    static CONFINES: OnceLock<bool> = OnceLock::new();
    *CONFINES.get_or_init(|| match modberth_host::Host::builder().actions(1).build() {
        Ok(_) => true,
        Err(why) => {
            eprintln!("NOT CONFINED: these tests run without the limits of control groups: {why}");
            false
        }
    })
}

/// What `run` needs on this machine.
pub fn flags() -> &'static [&'static str] {
    if confines() { &[] } else { &["--unsafe-rlimits-only"] }
}

/// What these arguments need on this machine; to be put behind them.
pub fn flags_for(arguments: &[&str]) -> &'static [&'static str] {
    // A wrong command line must stay wrong for its own reason.
    if arguments.len() > 2 && arguments[0] == "run" { flags() } else { &[] }
}

/// Runs the command.
#[track_caller]
pub fn run(arguments: &[&str]) -> Ended {
    run_with(arguments, b"")
}

/// Runs the command with bytes on standard input.
pub fn run_with(arguments: &[&str], input: &[u8]) -> Ended {
    ended(modberth().args(arguments).args(flags_for(arguments)).write_stdin(input))
}

pub fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A Python package whose action `play` takes every type of parameter.
pub fn manifest() -> Value {
    json!({
        "format_version": 1,
        "id": "org.example.play",
        "version": "1.2.3",
        "category": "productivity",
        "display_name": "Play",
        "contract_version": 1,
        "host_api": 1,
        "runtime": {
            "kind": "python", "language": "python", "entry": "main.py", "platform": "linux", "architecture": "any"
        },
        "capabilities": [],
        "dependencies": [],
        "actions": [{
            "id": "play",
            "label": "Play it",
            "parameters": {
                "text": {"type": "string", "max_length": 20},
                "count": {"type": "integer", "min": 1, "max": 9},
                "list": {"type": "string-list", "choices": ["a", "b", "c"]},
                "ratio": {"type": "number"},
                "flag": {"type": "boolean"}
            },
            "capabilities": []
        }],
        "ui": {"type": "column", "children": []},
        "files": {}
    })
}

/// Reads the request, then does what `body` says; `answer(row)` answers with a row for each target.
pub fn script(body: &str) -> String {
    format!(
        r#"
import json, os, signal, struct, sys
def read():
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", sys.stdin.buffer.read(4))[0]))
def write(message):
    payload = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(payload)) + payload)
    sys.stdout.buffer.flush()
read()
request = read()
parameters = request["parameters"]
def answer(row):
    write({{"version": 1, "type": "hello", "protocol": 1}})
    write({{"version": 1, "type": "result", "id": request["id"],
           "results": [dict(target=target, **row(target)) for target in request["targets"]]}})
{body}
"#
    )
}

/// The parameters come back as data.
pub const ECHO: &str = "answer(lambda target: {'data': parameters})";

/// A package folder.
pub fn package(manifest: &Value, members: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_package(folder.path(), manifest, members);
    folder
}

pub fn write_package(folder: &Path, manifest: &Value, members: &[(&str, &[u8])]) {
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    for (path, bytes) in members {
        let path = folder.join("payload").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// A package folder whose module does this.
pub fn module(body: &str) -> TempDir {
    package(&manifest(), &[("main.py", script(body).as_bytes())])
}

pub fn path(folder: &TempDir) -> &str {
    folder.path().to_str().unwrap()
}

/// One frame.
pub fn frame(payload: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(payload.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend(payload);
    bytes
}
