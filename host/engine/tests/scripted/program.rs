//! A module that uses no SDK and plays what `script.json` beside it says, right or wrong. It stands for every module
//! that the host must not trust.
//!
//! The script is a list of steps, each an object with one field:
//!
//! * `{"read": true}` reads standard input to its end; `{"show": true}` does so and writes it to standard error.
//! * `{"frame": "JSON"}` writes a frame to standard output, `$id` replaced by the request id that was read.
//! * `{"text": "…"}`, `{"bytes": [1, 2]}`, `{"fill": 5}` write raw bytes to standard output: text, bytes, that many "x".
//! * `{"wait": "FIFO"}` waits until somebody has opened a FIFO for writing and closed it again; `{"take": "FIFO"}` takes
//!   a byte out of one.
//! * `{"slow": true}` makes all further output come one byte at a time.
//! * `{"stderr": "…"}`, `{"stderr_fill": 5}` write to standard error.
//! * `{"close": "stdin" | "stdout" | "stderr"}`.
//! * `{"child": "closed" | "stdout" | "stopped" | "short"}` leaves a process behind: with closed streams in a session
//!   of its own, the same with standard output open, the same but stopped, or one that ends soon.
//! * `{"exit": 3}`, `{"abort": true}`, `{"hang": true}`, `{"spin": true}`; `{"signal": 15}` sends a signal to itself,
//!   which does nothing to the first process of a namespace.
//! * `{"memory": MIB}` fills so much memory; `{"tasks": 50}` starts so many threads, and fails where one is refused.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process, setsid};
use serde_json::Value;

/// Longest life of anything this program starts, should nobody stop it.
const LIFE: Duration = Duration::from_secs(120);

type Answer = Result<(), Box<dyn std::error::Error>>;

fn main() -> Answer {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, kind, marker] = &arguments[..] {
        return descend(kind, marker);
    }
    let script: Vec<Value> = serde_json::from_reader(File::open("script.json")?)?;
    let mut player = Player { input: Vec::new(), slow: false };
    for step in &script {
        let (name, value) =
            step.as_object().and_then(|step| step.iter().next()).ok_or("a step has one field")?;
        player.play(name, value)?;
    }
    Ok(())
}

struct Player {
    input: Vec<u8>,
    slow: bool,
}

impl Player {
    fn play(&mut self, name: &str, value: &Value) -> Answer {
        let text = value.as_str().unwrap_or_default();
        let count = usize::try_from(value.as_u64().unwrap_or_default())?;
        match name {
            "read" => self.read()?,
            "show" => {
                self.read()?;
                std::io::stderr().write_all(&self.input)?;
            }
            "frame" => {
                let payload = text.replace("$id", &self.id());
                self.write(&u32::try_from(payload.len())?.to_be_bytes())?;
                self.write(payload.as_bytes())?;
            }
            "text" => self.write(text.as_bytes())?,
            "bytes" => self.write(&serde_json::from_value::<Vec<u8>>(value.clone())?)?,
            "fill" => self.write(&vec![b'x'; count])?,
            "wait" => drop(std::fs::read(text)?),
            "slow" => self.slow = true,
            "stderr" => std::io::stderr().write_all(text.as_bytes())?,
            "stderr_fill" => std::io::stderr().write_all(&vec![b'e'; count])?,
            "close" => {
                // Putting something else in its place closes the pipe.
                let nothing = File::options().read(true).write(true).open("/dev/null")?;
                match text {
                    "stdin" => rustix::stdio::dup2_stdin(&nothing)?,
                    "stdout" => rustix::stdio::dup2_stdout(&nothing)?,
                    _ => rustix::stdio::dup2_stderr(&nothing)?,
                }
            }
            "take" => File::open(text)?.read_exact(&mut [0])?,
            "child" => leave(text)?,
            "exit" => std::process::exit(i32::try_from(count)?),
            "signal" => {
                let signal = Signal::from_named_raw(i32::try_from(count)?).ok_or("no such signal")?;
                kill_process(getpid(), signal)?;
            }
            "abort" => std::process::abort(),
            "memory" => {
                // Touched, so that it counts, and no page is like another.
                let mut filled = vec![1u8; count << 20];
                for (at, page) in filled.chunks_mut(4096).enumerate() {
                    page[..8].copy_from_slice(&at.to_ne_bytes());
                }
                std::hint::black_box(&filled);
            }
            "tasks" => {
                for _ in 0..count {
                    std::thread::Builder::new().spawn(|| std::thread::sleep(LIFE))?;
                }
            }
            "hang" => std::thread::sleep(LIFE),
            "spin" => {
                let start = std::time::Instant::now();
                while start.elapsed() < LIFE {}
            }
            other => return Err(format!("no step {other:?}").into()),
        }
        Ok(())
    }

    fn read(&mut self) -> Answer {
        std::io::stdin().read_to_end(&mut self.input)?;
        Ok(())
    }

    /// The request id, found without any care: this is a test's module.
    fn id(&self) -> String {
        let text = String::from_utf8_lossy(&self.input);
        let after = text.split("\"id\":\"").nth(1).unwrap_or_default();
        after.split('"').next().unwrap_or_default().to_owned()
    }

    fn write(&self, bytes: &[u8]) -> Answer {
        let mut out = std::io::stdout().lock();
        for piece in bytes.chunks(if self.slow { 1 } else { bytes.len().max(1) }) {
            out.write_all(piece)?;
            out.flush()?;
        }
        Ok(())
    }
}

/// Starts a child that starts a grandchild, and waits for the child only: the grandchild belongs to nobody then.
fn leave(kind: &str) -> Answer {
    let marker = std::fs::read_to_string("marker").unwrap_or_default();
    let status = Command::new(program()?).args([&format!("fork-{kind}"), &marker]).status()?;
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}

/// This program. There is no /proc to ask in a sandbox.
fn program() -> Result<std::ffi::OsString, Box<dyn std::error::Error>> {
    Ok(std::env::args_os().next().ok_or("no name")?)
}

fn descend(kind: &str, marker: &str) -> Answer {
    if let Some(kind) = kind.strip_prefix("fork-") {
        setsid()?;
        let mut child = Command::new(program()?);
        child.args([kind, marker]).stdin(Stdio::null()).stderr(Stdio::null());
        if kind != "stdout" {
            child.stdout(Stdio::null());
        }
        child.spawn()?;
        return Ok(());
    }
    match kind {
        "short" => std::thread::sleep(Duration::from_millis(20)),
        "stopped" => {
            setsid()?;
            kill_process(getpid(), Signal::STOP)?;
        }
        _ => {
            setsid()?;
            std::thread::sleep(LIFE);
        }
    }
    Ok(())
}
