//! One request on the standard streams of the process.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use modberth_protocol::process::{ModuleSession, Request};
use modberth_protocol::{Code, Violation};
use serde_json::{Map, Value};

use crate::module::without_position;
use crate::notes::{self, Notes};
use crate::stdio::{self, Patient};
use crate::target::TargetResult;
use crate::{answer, panics};

/// The most bytes taken from standard input at once.
const CHUNK: usize = 64 * 1_024;

/// Answers the one request of this process with one callback: it gets the request as it came, `{"version":1,
/// "type":"invoke","id":…,"action":…,"targets":[…],"parameters":{…}}`, and returns the full list of results, each
/// `{"target":…,"data":…}` or `{"target":…,"error":{"code":…,"message":…}}` (P1-SDK-03).
///
/// The request has been checked in full. Results, exit status and standard output are as in [`Module::run`]; the callback
/// also decides what an unknown action gets.
///
/// A [`Value`] cannot hold NaN: serde_json makes it `null` when the value is built. Where a number may be NaN, use
/// [`Module`], whose data is any type that implements `Serialize`.
///
/// [`Module`]: crate::Module
/// [`Module::run`]: crate::Module::run
///
/// ```no_run
/// use modberth_sdk::serve;
/// use serde_json::{Value, json};
///
/// fn main() -> std::process::ExitCode {
///     serve(|request: &Value| {
///         let targets = request["targets"].as_array().into_iter().flatten();
///         targets.map(|target| json!({"target": target, "data": request["parameters"]})).collect()
///     })
/// }
/// ```
#[must_use = "the exit status tells the host whether there is an answer"]
pub fn serve(handler: impl FnOnce(&Value) -> Vec<Value>) -> ExitCode {
    process(|request, _| raw(request, handler))
}

/// Calls a handler of the raw form.
pub(crate) fn raw(
    request: &Request,
    handler: impl FnOnce(&Value) -> Vec<Value>,
) -> Result<Vec<TargetResult>, Violation> {
    let message = message(request)?;
    let rows = panics::caught(|| handler(&message)).map_err(|panic| {
        Violation::new(Code::OutputHandlerFailed, format!("The handler of the request failed: it {panic}"))
    })?;
    Ok(rows.into_iter().map(TargetResult::from).collect())
}

/// The request in the form of the protocol.
fn message(request: &Request) -> Result<Value, Violation> {
    let parameters: Value = serde_json::from_str(request.parameters().as_str()).map_err(|error| {
        let reason = without_position(&error);
        Violation::new(Code::RequestMessage, format!("The parameters cannot be read: {reason}"))
            .path("parameters")
    })?;
    let mut message = Map::new();
    message.insert("version".to_owned(), 1.into());
    message.insert("type".to_owned(), "invoke".into());
    message.insert("id".to_owned(), request.id().into());
    message.insert("action".to_owned(), request.action().into());
    message.insert("targets".to_owned(), request.targets().into());
    message.insert("parameters".to_owned(), parameters);
    Ok(Value::Object(message))
}

/// One request from standard input to standard output, and the exit status.
pub(crate) fn process(
    handler: impl FnOnce(&Request, &mut Notes) -> Result<Vec<TargetResult>, Violation>,
) -> ExitCode {
    panics::install_hook();
    let result = exchange(handler);
    // What the module printed and did not flush belongs before the last line. Standard error may be closed.
    let _ = io::stdout().flush();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(violation) => {
            notes::refuse(&violation);
            ExitCode::FAILURE
        }
    }
}

fn exchange(
    handler: impl FnOnce(&Request, &mut Notes) -> Result<Vec<TargetResult>, Violation>,
) -> Result<(), Violation> {
    let frames = stdio::take_stdout().map_err(|error| broken("Standard output cannot be set up", &error))?;
    let request = read(Patient(io::stdin().lock()))?;
    let results = handler(&request, &mut Notes::to_stderr())?;
    let output = answer::frames(&request, &results)?;
    Patient(frames).write_all(&output).map_err(|error| broken("The answer cannot be written", &error))
}

/// Reads the request and the end of the input. A header that declares too much is refused as it stands, and a byte
/// behind the second frame when it comes.
fn read(mut input: impl Read) -> Result<Request, Violation> {
    let mut session = ModuleSession::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return session.end(),
            Ok(count) => session.input(&chunk[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(broken("The request cannot be read", &error)),
        }
    }
}

fn broken(what: &str, error: &io::Error) -> Violation {
    Violation::new(Code::ProcessIo, format!("{what}: {error}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use modberth_protocol::frame::encode;

    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.pop() else { return Ok(0) };
            buffer[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    fn pieces(bytes: &[u8], size: usize) -> Pieces {
        Pieces(bytes.chunks(size).rev().map(<[u8]>::to_vec).collect())
    }

    fn exchange() -> Vec<u8> {
        let invoke =
            br#"{"version":1,"type":"invoke","id":"r","action":"a","targets":["t"],"parameters":{"n":1e20}}"#;
        [encode(br#"{"version":1,"type":"hello","host_api":1}"#), encode(invoke)]
            .map(|frame| frame.expect("a small frame"))
            .concat()
    }

    // P1-FRAME-06
    #[test]
    fn any_fragmentation_reads_the_same() {
        let bytes = exchange();
        for size in 1..=bytes.len() {
            let request = read(pieces(&bytes, size)).expect("a right request");
            assert_eq!((request.id(), request.action()), ("r", "a"));
        }
    }

    // P1-FRAME-02: nothing is read behind the header.
    #[test]
    fn a_bad_header_ends_the_reading() {
        let mut input = Pieces(vec![b"more".to_vec(), 1_048_577_u32.to_be_bytes().to_vec()]);
        assert_eq!(read(&mut input).expect_err("too large").code, Code::FrameTooLarge);
        assert_eq!(input.0.len(), 1);
    }

    // P1-FRAME-05, P1-SDK-01
    #[test]
    fn every_shorter_input_is_refused() {
        let bytes = exchange();
        for end in 0..bytes.len() {
            let code = read(&bytes[..end]).expect_err("cut short").code;
            assert!(matches!(code, Code::FrameTruncated | Code::FrameMissing), "{end}: {code}");
        }
    }

    #[test]
    fn a_stream_that_fails_is_told() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is on fire"))
            }
        }
        let violation = read(Failing).expect_err("it fails");
        assert_eq!(violation.code, Code::ProcessIo);
        assert!(violation.to_string().contains("the disk is on fire"));
    }

    // P1-SDK-03: the raw form gets the request as it came.
    #[test]
    fn the_raw_form_sees_the_message() {
        let request = read(&exchange()[..]).expect("a right request");
        let seen = message(&request).expect("legal parameters");
        assert_eq!(
            seen,
            serde_json::json!({"version": 1, "type": "invoke", "id": "r", "action": "a", "targets": ["t"],
                "parameters": {"n": 1e20}})
        );
    }
}
