//! What it costs to run a module in the sandbox, and what is left of one.
//!
//! Subject of the `echo-…` rows: one echo action from `Host::invoke` to the JSON of its outcome, confined, with all checks. Baseline:
//! the same program with the same frames and without a host. Both run in blocks, several in a row, so that what the host prepares
//! behind an action's back burdens the actions after it. `ratio` is the quotient of the medians.

mod echo;
mod flight;
mod kill;
mod made;
mod part;
mod proc;
mod repeat;

pub(crate) use part::{Part, run as run_part};

use crate::Context;
use crate::examples::{self, Example};
use crate::pairs::{self, Pairs};
use crate::row::{Row, Want};
use echo::{Bare, Echo, INVOKE, block, bubblewrap};
use modberth_host::{Host, InterpreterKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Blocks and their length for C, which takes a millisecond.
const ROUNDS: usize = 25;
const BLOCK: usize = 20;
/// The same for bubblewrap, which takes several.
const RIVAL_ROUNDS: usize = 15;
const RIVAL_BLOCK: usize = 10;
/// Pairs of interpreters.
const PYTHON_RUNS: usize = 120;
const NODE_RUNS: usize = 80;
/// Blocks with more and with less memory in use by the host.
const MEMORY_ROUNDS: usize = 12;
const MEMORY_BLOCK: usize = 15;
/// Memory of the host in MiB.
const SMALL: usize = 16;
const LARGE: usize = 512;

/// Pauses, and how many pairs after each.
const IDLE: [(&str, Duration, usize); 3] = [
    ("sandbox/echo-c-idle-30ms", Duration::from_millis(30), 150),
    ("sandbox/echo-c-idle-100ms", Duration::from_millis(100), 60),
    ("sandbox/echo-c-idle-1s", Duration::from_secs(1), 15),
];

/// The rows of the bench `sandbox`.
pub(crate) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let all = examples::all(context)?;
    let (c, python, js) =
        (examples::echo(&all, "c")?, examples::echo(&all, "python")?, examples::echo(&all, "js")?);
    let mut rows = echo_rows(context, c, python, js)?;
    if context.wants("sandbox/host-kill") {
        rows.push(kill::row()?);
    }
    if context.wants("sandbox/actions-10000") {
        rows.push(repeat::row(c)?);
    }
    Ok(rows)
}

/// The rows of the bench `host`.
pub(crate) fn host_rows(context: &Context) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    if context.wants("host/rss-per-invocation-64") {
        rows.push(flight::row()?);
    }
    Ok(rows)
}

fn host() -> Result<Host, String> {
    Host::builder().build().map_err(|violation| violation.to_string())
}

fn echo_rows(context: &Context, c: &Example, python: &Example, js: &Example) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let host = host()?;
    let echo = Echo::open(&host, c)?;
    let bare = Bare::new(echo.command()?, true);
    let sides = |row: Row| row.sides("the same program, posix_spawn", bare.line(), INVOKE);
    for (name, at_once) in [("sandbox/echo-c-vs-bare", 1), ("sandbox/echo-c-vs-bare-2", 2)] {
        if context.wants(name) {
            let count = BLOCK / at_once;
            let pairs = pairs::blocks(
                ROUNDS,
                || block(at_once, count, || bare.run()),
                || block(at_once, count, || echo.act()),
            )?;
            rows.push(sides(compared(name, &pairs)).bar(Want::AtMost, 2.5));
        }
    }
    if context.wants(RIVAL) {
        rows.push(rival(&echo, c)?);
    }
    for (name, pause, runs) in IDLE {
        if context.wants(name) {
            let after = |run: &dyn Fn() -> Result<Duration, String>| {
                std::thread::sleep(pause);
                run()
            };
            let pairs = pairs::measure(runs, || after(&|| bare.run()), || after(&|| echo.act()))?;
            rows.push(sides(compared(name, &pairs)).bar(Want::AtMost, 3.5));
        }
    }
    let name = "sandbox/echo-c-rss-512m";
    if context.wants(name) {
        rows.push(memory(name, &echo)?);
    }
    let name = "sandbox/echo-python-vs-bare";
    if context.wants(name) {
        rows.push(interpreter(name, &host, python, InterpreterKind::Python, PYTHON_RUNS, 1.6)?);
    }
    let name = "sandbox/echo-node-vs-bare";
    if context.wants(name) {
        rows.push(interpreter(name, &host, js, InterpreterKind::Node, NODE_RUNS, 1.2)?);
    }
    Ok(rows)
}

fn compared(name: &str, pairs: &Pairs) -> Row {
    Row::compared(name, pairs.times(), pairs.runs, pairs.base, pairs.subject)
}

const RIVAL: &str = "sandbox/echo-c-vs-bwrap";

fn rival(echo: &Echo<'_>, example: &Example) -> Result<Row, String> {
    let Some(bwrap) = on_path("bwrap") else {
        return Ok(Row::not_run(RIVAL, "there is no bwrap (Debian package bubblewrap)"));
    };
    let payload = example.dir.join("payload");
    let entry = example.command.last().map(Path::new).and_then(|entry| entry.strip_prefix(&payload).ok());
    let entry = entry.ok_or("the C echo example has its entry elsewhere")?.display().to_string();
    let bare = Bare::new(bubblewrap(&bwrap, &payload, &entry), true);
    if let Err(problem) = bare.run() {
        // Machines without user namespaces for it are common.
        return Ok(Row::not_run(RIVAL, problem));
    }
    let pairs = pairs::blocks(
        RIVAL_ROUNDS,
        || block(1, RIVAL_BLOCK, || bare.run()),
        || block(1, RIVAL_BLOCK, || echo.act()),
    )?;
    let row = compared(RIVAL, &pairs).sides("the same program in bubblewrap", bare.line(), INVOKE);
    Ok(row.bar(Want::AtMost, 0.35))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The same action with much and with little memory in use by the host: a start that copies page tables would show.
fn memory(name: &str, echo: &Echo<'_>) -> Result<Row, String> {
    let with = |mebibytes: usize| {
        // Every page is touched. It goes back to the kernel at the end.
        let ballast = vec![1u8; mebibytes << 20];
        let times = block(1, MEMORY_BLOCK, || echo.act());
        drop(std::hint::black_box(ballast));
        times
    };
    let pairs = pairs::blocks(MEMORY_ROUNDS, || with(SMALL), || with(LARGE))?;
    Ok(compared(name, &pairs)
        .sides(
            format!("the same with {SMALL} MiB"),
            format!("{INVOKE}; the host holds {SMALL} MiB of touched memory"),
            format!("{INVOKE}; the host holds {LARGE} MiB of touched memory"),
        )
        .bar(Want::AtMost, 1.25))
}

/// Echo in a language with an interpreter, against the interpreter with the same flags and nothing to do.
fn interpreter(
    name: &str,
    host: &Host,
    example: &Example,
    kind: InterpreterKind,
    runs: usize,
    bar: f64,
) -> Result<Row, String> {
    let echo = Echo::open(host, example)?;
    let mut command = echo.command()?;
    command.pop();
    let empty = tempfile::Builder::new()
        .suffix(".cjs")
        .tempfile()
        .map_err(|error| format!("an empty file: {error}"))?;
    match kind {
        InterpreterKind::Python => command.extend(["-c", "pass"].map(str::to_owned)),
        _ => command.push(empty.path().display().to_string()),
    }
    let bare = Bare::new(command, false);
    let pairs = pairs::measure(runs, || bare.run(), || echo.act())?;
    let row = compared(name, &pairs);
    Ok(row
        .sides("the bare interpreter, same flags, an empty program", bare.line(), INVOKE)
        .bar(Want::AtMost, bar))
}
