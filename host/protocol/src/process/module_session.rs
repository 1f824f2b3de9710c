//! The module's end of protocol 1: the host's bytes in, the request out; results in, the module's bytes out.

use super::messages::{MODULE_HELLO, begin_result, check_host_hello, parse_invoke, parse_result};
use super::request::Request;
use super::results::{Node, Outcome, TargetError, TargetResult, check_results, write_rows};
use crate::frame::{Decoder, encode_into};
use crate::json::{Checker, Profile};
use crate::limits::{FRAME_HEADER, FRAMES};
use crate::{Blame, Code, Violation};
use std::borrow::Cow;

/// Reads the host's two frames, without I/O (P1-SDK-01, P1-SDK-02).
///
/// ```
/// use modberth_protocol::json::{Profile, RawJson};
/// use modberth_protocol::process::{HostSession, ModuleSession, Request, TargetResult};
///
/// let sent = Request::new("r1", "echo", vec!["a".into()], RawJson::empty_object())?;
/// let mut session = ModuleSession::new();
/// session.input(HostSession::new(sent.clone()).input())?;
/// let request = session.end()?;
/// assert_eq!(request, sent);
/// let data = RawJson::new("7", &Profile::PROCESS.below(3))?;
/// let output = request.respond(&[TargetResult::data("a", data)])?;
/// assert!(output.ends_with(br#""id":"r1","results":[{"target":"a","data":7}]}"#));
/// # Ok::<(), modberth_protocol::Violation>(())
/// ```
#[derive(Debug, Default)]
pub struct ModuleSession {
    decoder: Decoder,
    hello: bool,
    request: Option<Request>,
    broken: Option<Violation>,
}

impl ModuleSession {
    /// A session before the first byte.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what the host wrote, in any pieces.
    ///
    /// # Errors
    /// The first violation, as soon as it is seen; it is given again from then on. Violations of frames, JSON and messages blame the
    /// host here.
    pub fn input(&mut self, mut bytes: &[u8]) -> Result<(), Violation> {
        if let Some(violation) = &self.broken {
            return Err(violation.clone());
        }
        while !bytes.is_empty() {
            if let Err(violation) = self.step(&mut bytes) {
                let violation = violation.blame(Blame::Host);
                self.broken = Some(violation.clone());
                return Err(violation);
            }
        }
        Ok(())
    }

    fn step(&mut self, bytes: &mut &[u8]) -> Result<(), Violation> {
        if self.request.is_some() {
            return Err(Violation::new(
                Code::FrameExtra,
                format!("Nothing may follow the host's {FRAMES} frames."),
            )
            .frame(FRAMES + 1)
            .limit(FRAMES));
        }
        let Some(payload) = self.decoder.push(bytes)? else { return Ok(()) };
        let frame = self.decoder.frames();
        let judged = if self.hello {
            parse_invoke(payload).map(|request| self.request = Some(request))
        } else {
            let mut checker = Checker::new();
            let hello = checker.parse(&payload, &Profile::PROCESS).and_then(check_host_hello);
            hello.map(|()| self.hello = true)
        };
        judged.map_err(|violation| violation.frame(frame))
    }

    /// Says that the input has ended, and gives the request.
    ///
    /// # Errors
    /// `frame.truncated` inside a frame, `frame.missing` where a frame was due, or the violation that came before.
    pub fn end(self) -> Result<Request, Violation> {
        if let Some(violation) = self.broken {
            return Err(violation);
        }
        self.decoder.end().map_err(|violation| violation.blame(Blame::Host))?;
        self.request.ok_or_else(|| {
            let frames = self.decoder.frames();
            Violation::new(
                Code::FrameMissing,
                format!("The host's input has {FRAMES} frames; it ended after {frames}."),
            )
            .frame(frames + 1)
            .limit(FRAMES)
            .actual(frames)
            .blame(Blame::Host)
        })
    }
}

impl Request {
    /// Checks results as the host will and gives the module's whole output: the hello frame and the result frame (P1-SDK-04,
    /// P1-SDK-05). Rows stand in the output in the order given.
    ///
    /// # Errors
    /// What [`check_results`] gives, then a `json.*` code for data outside the process profile, then `frame.too_large`.
    pub fn respond(&self, rows: &[TargetResult]) -> Result<Vec<u8>, Violation> {
        self.respond_with(Built::Rows(rows), |out| {
            write_rows(rows, out);
            Ok(())
        })
    }

    /// As [`Request::respond`] for results that an author built as JSON of another make. `write` appends them as compact JSON
    /// text, an array; it is called only if the rules on results hold.
    ///
    /// # Errors
    /// What [`check_results`] gives, what `write` gives, then a `json.*` code for a value outside the process profile, then
    /// `frame.too_large`. The place carries `results[i]…` and the target, and no byte offset: nobody has seen these bytes.
    pub fn respond_with<'a, N: Node<'a>>(
        &self,
        results: N,
        write: impl FnOnce(&mut String) -> Result<(), Violation>,
    ) -> Result<Vec<u8>, Violation> {
        check_results(results, self.targets())?;
        let mut payload = String::new();
        begin_result(self.id(), &mut payload);
        write(&mut payload)?;
        payload.push('}');
        let mut output = Vec::with_capacity(payload.len() + 2 * FRAME_HEADER + MODULE_HELLO.len());
        encode_into(MODULE_HELLO, &mut output)?;
        let framed = encode_into(payload.as_bytes(), &mut output);
        // The last judge is the host's own.
        parse_result(payload.into_bytes(), self, &mut Checker::new()).map_err(|mut violation| {
            violation.place.offset = None;
            if violation.place.target.is_none() {
                violation.place.target =
                    violation.place.path.as_deref().and_then(row_of).and_then(|row| target_of(results, row));
            }
            violation
        })?;
        framed.map_err(|violation| violation.frame(FRAMES))?;
        Ok(output)
    }
}

/// The row that a path such as `results[3].data` lies in.
fn row_of(path: &str) -> Option<usize> {
    path.strip_prefix("results[")?.split_once(']')?.0.parse().ok()
}

/// The target that a row names.
fn target_of<'a, N: Node<'a>>(results: N, row: usize) -> Option<String> {
    let mut members = results.elements()?.nth(row)?.members()?;
    let (_, target) = members.find(|(name, _)| name == "target")?;
    Some(target.text()?.into_owned())
}

/// Results that were built by type, seen as JSON.
#[derive(Clone, Copy)]
enum Built<'a> {
    Rows(&'a [TargetResult]),
    Row(&'a TargetResult),
    Error(&'a TargetError),
    Text(&'a str),
    Data,
}

impl<'a> Node<'a> for Built<'a> {
    fn elements(self) -> Option<impl Iterator<Item = Self>> {
        match self {
            Built::Rows(rows) => Some(rows.iter().map(Built::Row)),
            _ => None,
        }
    }

    fn members(self) -> Option<impl Iterator<Item = (Cow<'a, str>, Self)>> {
        let members = match self {
            Built::Row(row) => [
                ("target", Built::Text(&row.target)),
                match &row.outcome {
                    Outcome::Data(_) => ("data", Built::Data),
                    Outcome::Error(error) => ("error", Built::Error(error)),
                },
            ],
            Built::Error(error) => {
                [("code", Built::Text(&error.code)), ("message", Built::Text(&error.message))]
            }
            _ => return None,
        };
        Some(members.into_iter().map(|(name, value)| (Cow::Borrowed(name), value)))
    }

    fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Built::Text(text) => Some(text.into()),
            _ => None,
        }
    }
}
