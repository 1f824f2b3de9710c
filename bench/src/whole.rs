//! A whole process as a caller without a host would run it: three pipes, frames in, output out, end.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Hello and invoke of one echo action with two targets.
pub(crate) fn frames() -> Vec<u8> {
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
pub(crate) fn whole_process(command: &[String], input: &[u8], answers: bool) -> Result<Duration, String> {
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
