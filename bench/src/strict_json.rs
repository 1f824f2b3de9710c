//! The strict check with the typed view, against a parser that checks less.
//!
//! `serde_json::from_slice::<Value>` sees no duplicate names, no NUL, no inexact integers and no bounds but its own depth. The ratio is
//! its median time over ours. Frames come out of a seeded generator, so every run measures the same bytes.

mod frames;
mod hostile;

use crate::row::{Row, Want};
use crate::{Context, pairs};
use modberth_protocol::json::{Checker, Profile, RawJson};
use modberth_protocol::process::{Request, check_results, parse_result};
use serde_json::Value;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs of each side, and how long one run should last at least: short frames are repeated within a run.
const RUNS: usize = 101;
const RUN_BYTES: usize = 512 * 1024;
/// Runs for frames of a mebibyte, which take tens of milliseconds to parse into values.
const LARGE_RUNS: usize = 25;

const BASE: &str = "serde_json Value";
const BASE_COMMAND: &str = "serde_json::from_slice::<Value>(frame)";

/// All rows.
pub(crate) fn rows(_: &Context) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (frame, bar) in [
        (frames::nested("nested-1k", 6, 1), None),
        (frames::nested("nested-64k", 64, 9), Some(5.0)),
        (frames::nested("nested-1m", 64, 150), None),
        (frames::strings("strings-64k", 64), None),
        (frames::numbers("numbers-64k", 64), None),
    ] {
        let row = result_frame(&frame)?;
        rows.push(match bar {
            Some(bar) => row.bar(Want::AtLeast, bar),
            None => row,
        });
    }
    rows.push(host_step(&frames::nested("host-step-64k", 64, 9))?);
    for document in hostile::all() {
        let row = hostile_document(&document)?;
        // Skipping white space is all there is to do in that one, for either side.
        rows.push(if document.name == "white-space" { row } else { row.bar(Want::AtLeast, 1.0) });
    }
    rows.push(scratch()?);
    Ok(rows)
}

/// Times `count` calls and gives the time of all.
fn time(count: usize, mut call: impl FnMut() -> bool) -> Result<Duration, Infallible> {
    let begin = Instant::now();
    for _ in 0..count {
        assert!(black_box(call()), "a frame of the generator is refused");
    }
    Ok(begin.elapsed())
}

fn serde_value(document: &[u8]) -> bool {
    let read = black_box(serde_json::from_slice::<Value>(black_box(document))).is_ok();
    // The allocator of glibc joins freed pieces when the next large one is asked for. That is part of this side's time, not of the
    // side that comes next.
    drop(black_box(Vec::<u8>::with_capacity(32 * 1024)));
    read
}

/// Measures both sides on one document; medians are per document.
fn compare(name: String, document: &[u8], command: &str, mut subject: impl FnMut() -> bool) -> Row {
    let count = (RUN_BYTES / document.len()).max(1);
    let runs = if document.len() > RUN_BYTES { LARGE_RUNS } else { RUNS };
    let measured =
        pairs::measure(runs, || time(count, || serde_value(document)), || time(count, &mut subject));
    let Ok(pairs) = measured;
    let each = |micros: f64| micros / count as f64;
    Row::compared(name, pairs.speedup(), pairs.runs, each(pairs.base), each(pairs.subject)).sides(
        format!("{BASE}, {} bytes", document.len()),
        BASE_COMMAND,
        command,
    )
}

fn targets(count: usize) -> Vec<String> {
    (0..count).map(frames::target).collect()
}

/// Check and typed view of a result frame.
fn result_frame(frame: &frames::Frame) -> Result<Row, String> {
    let targets = targets(frame.rows);
    let mut checker = Checker::new();
    let mut view = || {
        let root = checker.parse(black_box(&frame.bytes), &Profile::PROCESS).ok();
        let results = root.and_then(|root| root.get("results"));
        results.and_then(|results| black_box(check_results(results, &targets)).ok()).is_some()
    };
    if !view() {
        return Err(format!("{}: the frame is refused", frame.name));
    }
    Ok(compare(
        format!("strict-json/{}", frame.name),
        &frame.bytes,
        "Checker::parse(frame, PROCESS), then check_results",
        view,
    ))
}

/// The host's whole step: frame in, checked, put in request order, answer out; against parse and write of values.
fn host_step(frame: &frames::Frame) -> Result<Row, String> {
    // The request wants the rows in the opposite order.
    let targets: Vec<String> = targets(frame.rows).into_iter().rev().collect();
    let request = Request::new(frames::ID, "sample", targets, RawJson::empty_object())
        .map_err(|violation| violation.to_string())?;
    let mut checker = Checker::new();
    let mut answer = || {
        parse_result(frame.bytes.clone(), &request, &mut checker)
            .map(|results| black_box(results.to_json()))
            .is_ok()
    };
    let values = || {
        let Ok(mut value) = serde_json::from_slice::<Value>(black_box(&frame.bytes)) else { return false };
        let Some(results) = value.get_mut("results").and_then(Value::as_array_mut) else { return false };
        results.reverse();
        black_box(serde_json::to_vec(&value)).is_ok()
    };
    if !answer() {
        return Err(format!("{}: the frame is refused", frame.name));
    }
    let count = (RUN_BYTES / frame.bytes.len()).max(1);
    let Ok(pairs) = pairs::measure(RUNS, || time(count, values), || time(count, &mut answer));
    let each = |micros: f64| micros / count as f64;
    Ok(Row::compared(
        format!("strict-json/{}", frame.name),
        pairs.speedup(),
        pairs.runs,
        each(pairs.base),
        each(pairs.subject),
    )
    .sides(
        format!("{BASE}, {} bytes, rows reversed, written again", frame.bytes.len()),
        format!("{BASE_COMMAND}, reverse, serde_json::to_vec"),
        "parse_result(frame, request), Results::to_json",
    ))
}

/// A document built to hurt, checked under the Wire profile.
fn hostile_document(document: &hostile::Document) -> Result<Row, String> {
    let mut checker = Checker::new();
    let mut check = || checker.check(black_box(&document.bytes), &Profile::WIRE);
    check().map_err(|violation| format!("{}: {violation}", document.name))?;
    Ok(compare(
        format!("strict-json/hostile-{}", document.name),
        &document.bytes,
        "Checker::check(frame, WIRE)",
        || check().is_ok(),
    ))
}

/// Working memory of the checker after the frame of the process profile that needs most of it.
fn scratch() -> Result<Row, String> {
    let document = hostile::most_open_names();
    let mut checker = Checker::new();
    checker.parse(&document, &Profile::PROCESS).map_err(|violation| format!("scratch: {violation}"))?;
    let mut row = Row::plain("strict-json/scratch", checker.scratch_bytes() as f64 / 1024.0, "KiB", 64.0, 1);
    row.command = Some("Checker::scratch_bytes after 12 open objects of 256 names each".to_owned());
    Ok(row)
}
