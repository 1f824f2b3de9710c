//! Standard streams that are not what a module hopes for, in six languages: nonblocking, full, or without a reader.

#[macro_use]
mod common;

use std::fs::OpenOptions;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;

use common::{Outcome, Report, expect_outcomes, expect_refusal, faulty};
use modberth_conformance::message::{Invoke, frame};
use modberth_conformance::subject::{End, Observed, Subject};
use rustix::io::ioctl_fionbio;
use rustix::pipe::fcntl_setpipe_size;
use serde_json::{Value, json};

in_six_languages!(nonblocking, no_reader_of_output, no_reader_of_diagnostics, full_output);

/// What stands at the other end of an output stream.
enum Output {
    /// A reader, that takes everything.
    Read(PipeReader),
    /// Nobody whose take could be seen.
    Nothing,
}

/// A pipe of one page whose ends behave as asked.
fn pipe(nonblocking_read: bool, nonblocking_write: bool) -> (PipeReader, PipeWriter) {
    let (reader, writer) = io::pipe().expect("a pipe");
    fcntl_setpipe_size(&writer, 1).expect("a pipe of one page");
    ioctl_fionbio(&reader, nonblocking_read).expect("a mode of reading");
    ioctl_fionbio(&writer, nonblocking_write).expect("a mode of writing");
    (reader, writer)
}

/// An output stream with a reader.
fn read(nonblocking: bool) -> (Stdio, Output) {
    let (reader, writer) = pipe(false, nonblocking);
    (writer.into(), Output::Read(reader))
}

/// An output stream whose reader is gone.
fn unread() -> (Stdio, Output) {
    (pipe(false, false).1.into(), Output::Nothing)
}

fn drain(output: Output) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Output::Read(mut reader) = output {
            reader.read_to_end(&mut bytes).expect("the output of the module");
        }
        bytes
    })
}

/// Runs the module on these streams. The program in front of it ends what hangs, with status 124.
fn run(
    module: &Subject,
    input: &[u8],
    nonblocking_input: bool,
    stdout: (Stdio, Output),
    stderr: (Stdio, Output),
) -> Observed {
    let guarded = module.through(&["timeout", "--kill-after=1", "60"]).expect("timeout of coreutils");
    let (reader, mut writer) = pipe(nonblocking_input, false);
    let mut command = guarded.command();
    let mut child =
        command.stdin(reader).stdout(stdout.0).stderr(stderr.0).spawn().expect("the module starts");
    // It holds copies of the streams that were given to the module.
    drop(command);
    let outputs = [drain(stdout.1), drain(stderr.1)];
    // A module that refuses early does not read the rest.
    let written = input
        .chunks(1_000)
        .take_while(|piece| writer.write_all(piece).is_ok())
        .map(<[u8]>::len)
        .sum::<usize>();
    drop(writer);
    let status = child.wait().expect("the end of the module");
    let end = match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or_default()),
    };
    let [stdout, stderr] = outputs.map(|output| output.join().expect("the output of the module"));
    Observed { stdout, stderr, end, unread: input.len() - written }
}

fn indexed<'a>(targets: &[&'a str]) -> Vec<(&'a str, Outcome)> {
    targets.iter().enumerate().map(|(index, id)| (*id, Outcome::Data(json!({"index": index})))).collect()
}

fn exchange(action: &str) -> Vec<u8> {
    Invoke::new(action, &["first", "second"], &json!({})).exchange()
}

// P1-FRAME-06: whoever shares a stream may have made it nonblocking; nothing is lost, in either direction.
fn nonblocking(language: &str) {
    let mut report = Report::default();
    let text = "é".repeat(60_000);
    let targets = ["a", "b", "c"];
    let wanted: Vec<_> =
        targets.iter().map(|target| (*target, Outcome::Data(Value::from(text.as_str())))).collect();
    let input = Invoke::new("number-echo", &targets, &json!({"value": text})).exchange();
    let seen = run(&faulty(language), &input, true, read(true), read(true));
    report.check("an answer", expect_outcomes(&seen, &wanted));
    let seen = run(&faulty(language), &frame("{}"), true, read(true), read(true));
    report.check("a refusal", expect_refusal(&seen, &["request.message"], &["frame 1"]));
}

// P1-SDK-07: an answer that nobody takes is no success.
fn no_reader_of_output(language: &str) {
    let mut report = Report::default();
    let seen = run(&faulty(language), &exchange("ok"), false, unread(), read(false));
    report.check("ok", expect_refusal(&seen, &["process.io"], &[]));
}

// P1-SDK-07: who does not read diagnostics still gets the answer and the exit status.
fn no_reader_of_diagnostics(language: &str) {
    let mut report = Report::default();
    let module = faulty(language);
    let targets = ["first", "second"];
    let seen = run(&module, &exchange("ok"), false, read(false), unread());
    report.check("ok", expect_outcomes(&seen, &indexed(&targets)));
    let seen = run(&module, &exchange("each-raise"), false, read(false), unread());
    report.check("each-raise", expect_outcomes(&seen, &indexed(&targets)));
    for action in ["raise", "missing"] {
        let seen = run(&module, &exchange(action), false, read(false), unread());
        let refused = seen.end == End::Exited(1) && seen.stdout.is_empty();
        report.check(action, if refused { Ok(()) } else { Err(format!("{seen:?}")) });
    }
    // Where printing fails at once it is the handler that fails; elsewhere what was printed is lost. No signal either way.
    let seen = run(&module, &exchange("print"), false, read(false), unread());
    let verdict = match seen.end {
        End::Exited(1) if seen.stdout.is_empty() => Ok(()),
        _ => expect_outcomes(&seen, &indexed(&targets)),
    };
    report.check("print", verdict);
}

// P1-SDK-07
fn full_output(language: &str) {
    let mut report = Report::default();
    let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let seen = run(&faulty(language), &exchange("ok"), false, (full.into(), Output::Nothing), read(false));
    report.check("ok", expect_refusal(&seen, &["process.io"], &[]));
}
