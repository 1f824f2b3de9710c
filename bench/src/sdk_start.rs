//! What the SDK costs over a bare interpreter: whole processes, frames on standard input, started as the host starts them.
//!
//! The subject is one echo action of the built example package: start, import of the SDK, exchange, exit. The baseline is the same
//! interpreter with the same flags and an empty program. `ratio` is the median of what the SDK takes longer than the bare interpreter
//! of its pair, over the median of the bare interpreter.

use crate::row::{Row, Want};
use crate::{Context, pairs};
use serde::Deserialize;
use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Pairs of processes per language. The ratio of so many differs by about a hundredth between runs on an idle machine.
const RUNS: usize = 240;

/// One entry of the example list.
#[derive(Deserialize)]
struct Example {
    name: String,
    language: String,
    command: Vec<String>,
}

/// The rows: Python, and Node with the CommonJS package.
pub(crate) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let path = context.examples.as_ref().ok_or("needs --examples FILE; cargo xtask bench passes it")?;
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let examples: Vec<Example> =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let echo = |language: &str| {
        examples
            .iter()
            .find(|example| example.name == "echo" && example.language == language)
            .ok_or_else(|| format!("{}: no echo example in {language}", path.display()))
    };
    Ok(vec![row("sdk-start/python", echo("python")?, 0.45)?, row("sdk-start/node-cjs", echo("js")?, 0.12)?])
}

fn row(name: &str, example: &Example, bar: f64) -> Result<Row, String> {
    // The flags are what stands between the interpreter and the entry.
    let (entry, interpreter) =
        example.command.split_last().ok_or_else(|| format!("{}: empty command", example.language))?;
    let mut bare = interpreter.to_vec();
    bare.push("/dev/null".to_owned());
    let input = frames();
    let pairs = pairs::measure(
        RUNS,
        || whole_process(&bare, &input, false),
        || whole_process(&example.command, &input, true),
    )?;
    Ok(Row::compared(name, pairs.added(), pairs.runs, pairs.base, pairs.subject)
        .sides(
            "the bare interpreter, same flags, an empty program",
            bare.join(" "),
            format!("{} {entry} < FRAMES", interpreter.join(" ")),
        )
        .bar(Want::AtMost, bar))
}

/// Hello and invoke of one echo action with two targets.
fn frames() -> Vec<u8> {
    let hello = br#"{"version":1,"type":"hello","host_api":1}"#.as_slice();
    let invoke = br#"{"version":1,"type":"invoke","id":"0123456789abcdef0123456789abcdef","action":"echo","targets":["a","b"],"parameters":{"message":"Hello"}}"#.as_slice();
    let mut bytes = Vec::new();
    for payload in [hello, invoke] {
        bytes.extend(u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend(payload);
    }
    bytes
}

/// Starts a process with the environment of a sandboxed module, feeds it the frames, and waits for its end.
fn whole_process(command: &[String], input: &[u8], answers: bool) -> Result<Duration, String> {
    let name = command.join(" ");
    let failed = |what: &str, error: &dyn std::fmt::Display| format!("{name}: {what}: {error}");
    let begin = Instant::now();
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .env_clear()
        .envs([("PATH", "/usr/bin"), ("LANG", "C.UTF-8"), ("TMPDIR", "/tmp")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed("start", &error))?;
    // The input fits into the pipe, so writing never waits; a bare interpreter leaves without reading it.
    let fed = child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input));
    let mut output = Vec::new();
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_end(&mut output).map_err(|error| failed("read", &error))?;
    }
    let status = child.wait().map_err(|error| failed("wait", &error))?;
    let took = begin.elapsed();
    let mut trace = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_string(&mut trace).map_err(|error| failed("read", &error))?;
    }
    if !status.success() || output.is_empty() == answers {
        return Err(format!("{name}: {status}, {} bytes of output: {}", output.len(), trace.trim()));
    }
    if answers {
        fed.map_err(|error| failed("write", &error))?;
    }
    Ok(took)
}
