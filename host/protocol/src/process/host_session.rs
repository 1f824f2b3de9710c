//! The host's end of protocol 1: bytes in, one verdict out.

use super::messages::{HOST_HELLO, check_module_hello, encode_invoke, parse_result};
use super::{Request, Results};
use crate::frame::{Decoder, encode_into};
use crate::json::Checker;
use crate::limits::{FRAMES, STDERR_BYTES};
use crate::{Code, Violation};
use serde::Serialize;

/// How the module's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// Why an action failed: the violation that counts, and what else was seen.
///
/// Several things are often wrong at once, because one causes the other. The one that says most counts, in this order:
/// 1. what the module did wrong while it could still do right: a bad frame, a third one, too much on standard error, whichever
///    came first;
/// 2. a nonzero exit status or a signal, which explains missing output;
/// 3. output that is cut short or missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Failure {
    /// The violation that counts.
    pub violation: Violation,
    /// Further violations, most telling first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Violation>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.violation.fmt(out)
    }
}

impl std::error::Error for Failure {}

impl From<Violation> for Failure {
    fn from(violation: Violation) -> Self {
        Failure { violation, notes: Vec::new() }
    }
}

/// One action as the host sees it (P1-HOST-02 to P1-HOST-12, P1-HOST-23, P1-HOST-34).
///
/// The owner writes [`HostSession::input`] to the module and closes its input, gives what the module writes to
/// [`HostSession::output`] in any pieces, counts standard error in [`HostSession::stderr`], and when output has ended and the
/// process is gone asks for the verdict with [`HostSession::finish`]. A violation is given as soon as it is seen, so that the
/// owner can stop the module at once.
///
/// ```
/// use modberth_protocol::frame::encode;
/// use modberth_protocol::json::RawJson;
/// use modberth_protocol::process::{Exit, HostSession, Request};
///
/// let request = Request::new("r1", "echo", vec!["a".into()], RawJson::empty_object())?;
/// let mut session = HostSession::new(request);
/// session.output(&encode(br#"{"version":1,"type":"hello","protocol":1}"#)?)?;
/// session.output(&encode(br#"{"version":1,"type":"result","id":"r1","results":[{"target":"a","data":7}]}"#)?)?;
/// let results = session.finish(Exit::Code(0)).unwrap();
/// assert_eq!(results.to_json(), br#"{"version":1,"id":"r1","results":[{"target":"a","data":7}]}"#);
/// # Ok::<(), modberth_protocol::Violation>(())
/// ```
#[derive(Debug)]
pub struct HostSession {
    request: Request,
    input: Vec<u8>,
    decoder: Decoder,
    checker: Checker,
    hello: bool,
    results: Option<Results>,
    stderr: u64,
    /// What the module did wrong, in the order it was seen.
    seen: Vec<Violation>,
    /// The output ended too early.
    short: Option<Violation>,
    ended: bool,
}

impl HostSession {
    /// A session for a request; the input is ready at once.
    pub fn new(request: Request) -> Self {
        let mut input = Vec::new();
        for payload in [HOST_HELLO, &encode_invoke(&request)] {
            // A request is not built unless its invoke frame fits, and the hello always does.
            let fits = encode_into(payload, &mut input);
            debug_assert!(fits.is_ok());
        }
        HostSession {
            request,
            input,
            decoder: Decoder::new(),
            checker: Checker::new(),
            hello: false,
            results: None,
            stderr: 0,
            seen: Vec::new(),
            short: None,
            ended: false,
        }
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Everything the module reads: the hello frame and the invoke frame. After it, its input is closed (P1-HOST-02).
    pub fn input(&self) -> &[u8] {
        &self.input
    }

    /// Gives the input away, to be written without a copy. [`HostSession::input`] is empty from then on.
    pub fn take_input(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.input)
    }

    /// Takes what the module wrote to standard output, in any pieces.
    ///
    /// # Errors
    /// The first violation, as soon as it is seen: `frame.*`, `json.*` and `output.*` codes. From then on output is ignored and
    /// the same violation is given again.
    pub fn output(&mut self, mut bytes: &[u8]) -> Result<(), Violation> {
        while !bytes.is_empty() {
            if let Some(violation) =
                self.seen.iter().find(|violation| violation.code != Code::OutputStderrLimit)
            {
                return Err(violation.clone());
            }
            if let Err(violation) = self.step(&mut bytes) {
                self.seen.push(violation);
            }
        }
        match self.seen.iter().find(|violation| violation.code != Code::OutputStderrLimit) {
            Some(violation) => Err(violation.clone()),
            None => Ok(()),
        }
    }

    /// Takes bytes up to the end of one frame.
    fn step(&mut self, bytes: &mut &[u8]) -> Result<(), Violation> {
        if self.ended || self.results.is_some() {
            return Err(Violation::new(
                Code::FrameExtra,
                format!(
                    "Nothing may follow the module's {FRAMES} frames; at least {} bytes do.",
                    bytes.len()
                ),
            )
            .frame(FRAMES + 1)
            .limit(FRAMES));
        }
        let Some(payload) = self.decoder.push(bytes)? else { return Ok(()) };
        let frame = self.decoder.frames();
        let judged = if self.hello {
            parse_result(payload, &self.request, &mut self.checker)
                .map(|results| self.results = Some(results))
        } else {
            check_module_hello(&payload, &mut self.checker).map(|()| self.hello = true)
        };
        judged.map_err(|violation| violation.frame(frame))
    }

    /// Says that the module's standard output has ended.
    ///
    /// # Errors
    /// `frame.truncated` inside a frame, `frame.missing` before the second frame is whole, or the first violation before that.
    pub fn output_end(&mut self) -> Result<(), Violation> {
        if !self.ended {
            self.ended = true;
            if self.seen.iter().all(|violation| violation.code == Code::OutputStderrLimit) {
                self.short = self.decoder.end().err().or_else(|| self.missing());
            }
        }
        match self.seen.first().or(self.short.as_ref()) {
            Some(violation) => Err(violation.clone()),
            None => Ok(()),
        }
    }

    fn missing(&self) -> Option<Violation> {
        let frames = self.decoder.frames();
        (frames < FRAMES).then(|| {
            Violation::new(
                Code::FrameMissing,
                format!("The module's output has {FRAMES} frames; it ended after {frames}."),
            )
            .frame(frames + 1)
            .limit(FRAMES)
            .actual(frames)
        })
    }

    /// Counts bytes that the module wrote to standard error, and says how many of them the owner should keep: the first 65,536
    /// bytes of all (P1-HOST-05).
    ///
    /// # Errors
    /// `output.stderr_limit` with the first byte beyond that. The owner keeps bytes up to the bound all the same;
    /// [`HostSession::stderr_room`] tells how many.
    pub fn stderr(&mut self, count: u64) -> Result<(), Violation> {
        let before = self.stderr;
        self.stderr = self.stderr.saturating_add(count);
        if self.stderr <= STDERR_BYTES {
            return Ok(());
        }
        if before <= STDERR_BYTES {
            self.seen.push(
                Violation::new(
                    Code::OutputStderrLimit,
                    format!("Standard error has at most {STDERR_BYTES} bytes; the module wrote more."),
                )
                .limit(STDERR_BYTES)
                .actual(self.stderr),
            );
        }
        match self.seen.iter().find(|violation| violation.code == Code::OutputStderrLimit) {
            Some(violation) => Err(violation.clone()),
            None => Ok(()),
        }
    }

    /// How many more bytes of standard error are kept.
    pub fn stderr_room(&self) -> u64 {
        STDERR_BYTES.saturating_sub(self.stderr)
    }

    /// What the module has done wrong so far, first violation first. A nonempty list means the action has failed.
    pub fn violations(&self) -> &[Violation] {
        &self.seen
    }

    /// The verdict, when output has ended and the process is gone (P1-HOST-23).
    ///
    /// # Errors
    /// See [`Failure`] for which of several violations counts.
    pub fn finish(mut self, exit: Exit) -> Result<Results, Failure> {
        // The verdict is made of the parts below; a repeated violation adds nothing.
        let _ = self.output_end();
        if exit == Exit::Code(0) && self.decoder.frames() == 0 {
            // A module that ended well and said nothing: most often nobody called what answers.
            self.short = self.short.map(|short| match short.code {
                Code::FrameMissing => silent(short),
                _ => short,
            });
        }
        let exit = match exit {
            Exit::Code(0) => None,
            Exit::Code(code) => Some(
                Violation::new(Code::ProcessExitStatus, format!("The module ended with exit status {code}."))
                    .limit(0u64)
                    .actual(code),
            ),
            Exit::Signal(signal) => Some(
                Violation::new(Code::ProcessSignal, format!("Signal {signal} ended the module."))
                    .actual(signal),
            ),
        };
        let mut all = self.seen.into_iter().chain(exit).chain(self.short);
        match (all.next(), self.results) {
            (Some(violation), _) => Err(Failure { violation, notes: all.collect() }),
            (None, Some(results)) => Ok(results),
            // Without results the output is short or wrong, so this is never reached.
            (None, None) => Err(Violation::new(Code::FrameMissing, "The module gave no result.").into()),
        }
    }
}

/// The same place and bounds, said to an author who writes no frames because the SDK does.
fn silent(short: Violation) -> Violation {
    let mut silent = Violation::new(
        Code::FrameMissing,
        "The module ended with exit status 0 and without an answer: it wrote nothing to standard output.",
    )
    .advise(
        "Is run() of the SDK called at the end of the program? A module without an SDK writes both frames: hello, then \
         result.",
    );
    silent.place = short.place;
    (silent.limit, silent.actual) = (short.limit, short.actual);
    silent
}
