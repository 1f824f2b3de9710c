//! `modberth frame`: raw streams of frames, shown and checked.

use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use modberth_protocol::frame::Decoder;
use modberth_protocol::json::{Checker, Profile, quote};
use modberth_protocol::limits::{FRAME_HEADER, FRAME_PAYLOAD};
use modberth_protocol::{Blame, Code, Violation};
use serde_json::{Value, json};

use crate::exit::{Exit, Stop};
use crate::json::{compact, indented};
use crate::report::{BAD, DIM, GOOD, Report, clean, clean_lines, failure, name};
use crate::source;

/// Bytes read at once.
const CHUNK: usize = 65_536;

/// One whole frame of a stream.
struct Frame {
    /// Counted from 1.
    number: u32,
    /// Where its header stands in the stream.
    offset: u64,
    payload: Vec<u8>,
}

/// What became of a stream.
struct Stream {
    frames: u32,
    bytes: u64,
    /// The first violation of the framing or of a check, with the place of the stream that it concerns.
    fault: Option<(Violation, u64)>,
}

/// Reads a stream frame by frame, however long it is; a frame is the most that is kept. `each` judges a frame and says
/// whether to go on; it breaks with a violation, or because it has seen enough.
fn read(
    path: &Path,
    mut each: impl FnMut(&Frame) -> Result<ControlFlow<Option<Violation>>, Stop>,
) -> Result<Stream, Stop> {
    let mut file = source::open_file(path)?;
    let mut decoder = Decoder::new();
    let mut chunk = vec![0; CHUNK];
    let mut stream = Stream { frames: 0, bytes: 0, fault: None };
    // Where the frame in hand begins.
    let mut offset = 0_u64;
    let mut bare = false;
    loop {
        let count = match file.read(&mut chunk) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(source::unreadable(path, &error).into()),
        };
        if count == 0 {
            break;
        }
        if stream.bytes == 0 {
            bare = chunk[..count].trim_ascii_start().starts_with(b"{");
        }
        stream.bytes += count as u64;
        let mut input = &chunk[..count];
        while !input.is_empty() {
            match decoder.push(&mut input) {
                Ok(None) => {}
                Ok(Some(payload)) => {
                    stream.frames = stream.frames.saturating_add(1);
                    let length = (FRAME_HEADER + payload.len()) as u64;
                    let frame = Frame { number: stream.frames, offset, payload };
                    if let ControlFlow::Break(violation) = each(&frame)? {
                        stream.fault = violation.map(|violation| {
                            let at = offset + FRAME_HEADER as u64 + violation.place.offset.unwrap_or(0);
                            (violation, at)
                        });
                        return Ok(stream);
                    }
                    offset += length;
                }
                Err(violation) => {
                    stream.fault = Some((if bare { without_frames(violation) } else { violation }, offset));
                    return Ok(stream);
                }
            }
        }
    }
    stream.fault = match decoder.end() {
        Err(violation) => Some((violation, stream.bytes)),
        Ok(()) if stream.frames == 0 => {
            Some((Violation::new(Code::FrameMissing, "The stream is empty; a frame was due.").frame(1), 0))
        }
        Ok(()) => None,
    };
    Ok(stream)
}

/// The stream begins like JSON, where the length of a frame belongs.
fn without_frames(violation: Violation) -> Violation {
    violation
        .blame(Blame::Caller)
        .advise("This looks like JSON without frames: check such a file with frame check --json-only.")
}

pub(crate) fn decode(files: &[PathBuf], pretty: bool, report: &mut Report) -> Result<Exit, Stop> {
    let mut exit = Exit::Success;
    let mut checker = Checker::new();
    for path in files {
        if !report.is_json() && files.len() > 1 {
            report.line(&format!("{}:", name(&source::label(path))))?;
        }
        let mut bad_payload = false;
        let stream = read(path, |frame| {
            let verdict =
                checker.check(&frame.payload, &Profile::PROCESS).err().map(|fault| fault.frame(frame.number));
            bad_payload |= verdict.is_some();
            if report.is_json() {
                report.line(&frame_line(path, frame, verdict.as_ref()))?;
            } else {
                show(frame, verdict.as_ref(), pretty, report)?;
            }
            // A stream may have no end; without a reader it is not shown further.
            Ok(if report.is_unread() { ControlFlow::Break(None) } else { ControlFlow::Continue(()) })
        })?;
        if let Some((fault, at)) = &stream.fault {
            if report.is_json() {
                let line =
                    json!({"file": source::label(path), "stream_offset": at, "failure": failure(fault)});
                report.document(&line)?;
            } else {
                report
                    .note(&format!("{BAD}byte {at} of the stream:{BAD:#} {}", clean(&fault.to_string())))?;
            }
        }
        if bad_payload || stream.fault.is_some() {
            exit = Exit::Partial;
        }
        if report.is_unread() {
            break;
        }
    }
    Ok(exit)
}

/// A frame as one JSON object on one line. The payload stands in it as it was written, or as text if it is no JSON.
fn frame_line(path: &Path, frame: &Frame, fault: Option<&Violation>) -> String {
    let text = String::from_utf8_lossy(&frame.payload);
    let rest = match fault {
        None => format!("\"valid\":true,\"payload\":{}", compact(&text)),
        Some(fault) => format!("\"valid\":false,\"failure\":{},\"text\":{}", failure(fault), quote(&text)),
    };
    format!(
        "{{\"file\":{},\"frame\":{},\"offset\":{},\"length\":{},{rest}}}",
        quote(&source::label(path)),
        frame.number,
        frame.offset,
        frame.payload.len()
    )
}

fn show(frame: &Frame, fault: Option<&Violation>, pretty: bool, report: &mut Report) -> std::io::Result<()> {
    report.line(&format!(
        "{GOOD}frame {}{GOOD:#} {DIM}at byte {}, {} bytes of payload{DIM:#}",
        frame.number,
        frame.offset,
        frame.payload.len()
    ))?;
    let text = String::from_utf8_lossy(&frame.payload);
    match fault {
        Some(fault) => {
            report.line(&format!("{BAD}{}{BAD:#}", clean(&fault.to_string())))?;
            report.line(&clean(&text))
        }
        None if pretty => clean_lines(&indented(&text)).iter().try_for_each(|line| report.line(line)),
        None => report.line(&clean(&compact(&text))),
    }
}

pub(crate) fn check(files: &[PathBuf], json_only: bool, report: &mut Report) -> Result<Exit, Stop> {
    let mut exit = Exit::Success;
    let mut documents = Vec::new();
    let mut checker = Checker::new();
    for path in files {
        let read = if json_only { document(path, &mut checker) } else { frames(path, &mut checker) };
        let stream = match read {
            Ok(stream) => stream,
            // A file that cannot be read takes nothing from what is known of the others.
            Err(Stop::Problems(problems)) => {
                let fault = problems.into_first();
                exit = exit.worse(Exit::of(&fault, false));
                if report.is_json() {
                    documents
                        .push(json!({"file": source::label(path), "ok": false, "failure": failure(&fault)}));
                } else {
                    report.failure(&fault, None, &[])?;
                }
                continue;
            }
            Err(stop) => return Err(stop),
        };
        if stream.fault.is_some() {
            exit = exit.worse(Exit::Partial);
        }
        if report.is_json() {
            documents.push(verdict(path, &stream, json_only));
            continue;
        }
        let shown = name(&source::label(path));
        match &stream.fault {
            None if json_only => {
                report.line(&format!("{GOOD}ok{GOOD:#} {shown} {DIM}{} bytes{DIM:#}", stream.bytes))?
            }
            None => report.line(&format!(
                "{GOOD}ok{GOOD:#} {shown} {DIM}{} frames, {} bytes{DIM:#}",
                stream.frames, stream.bytes
            ))?,
            Some((fault, at)) => {
                report.note(&format!("{shown}: refused at byte {at}"))?;
                report.failure(fault, None, &[])?;
            }
        }
    }
    if report.is_json() {
        report.document(&json!({"ok": exit == Exit::Success, "files": documents}))?;
    }
    Ok(exit)
}

fn verdict(path: &Path, stream: &Stream, json_only: bool) -> Value {
    let mut value = json!({"file": source::label(path), "ok": stream.fault.is_none(), "bytes": stream.bytes});
    if !json_only {
        value["frames"] = stream.frames.into();
    }
    if let Some((fault, at)) = &stream.fault {
        value["failure"] = failure(fault);
        if !json_only {
            value["stream_offset"] = (*at).into();
        }
    }
    value
}

fn frames(path: &Path, checker: &mut Checker) -> Result<Stream, Stop> {
    read(path, |frame| {
        Ok(match checker.check(&frame.payload, &Profile::PROCESS) {
            Ok(()) => ControlFlow::Continue(()),
            Err(fault) => ControlFlow::Break(Some(fault.frame(frame.number))),
        })
    })
}

/// One bare document in the profile of the process protocols, as large as a payload at most.
fn document(path: &Path, checker: &mut Checker) -> Result<Stream, Stop> {
    let bytes = match source::read_file(path, FRAME_PAYLOAD, Code::FrameTooLarge) {
        Ok(bytes) => bytes,
        Err(fault) if fault.code == Code::FrameTooLarge => {
            let bytes = fault.actual.unwrap_or_default();
            return Ok(Stream {
                frames: 0,
                bytes,
                fault: Some((fault.offset(FRAME_PAYLOAD), FRAME_PAYLOAD as u64)),
            });
        }
        Err(fault) => return Err(fault.into()),
    };
    let fault = checker.check(&bytes, &Profile::PROCESS).err().map(|fault| {
        let at = fault.place.offset.unwrap_or(0);
        (fault, at)
    });
    Ok(Stream { frames: 0, bytes: bytes.len() as u64, fault })
}
