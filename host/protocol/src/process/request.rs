//! A request: what one action is asked to do.

use super::messages::invoke_length;
use crate::ident::{check_target, is_identifier, is_request_id};
use crate::json::{Checker, Profile, RawJson};
use crate::limits::{FRAME_PAYLOAD, PARAMETERS_DEPTH, REQUEST_ID, TARGETS};
use crate::{Blame, Code, Violation};

/// One action on one batch of targets: valid by construction (P1-HOST-13, P1-HOST-14, P1-HOST-33).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    id: String,
    action: String,
    targets: Vec<String>,
    parameters: RawJson,
}

impl Request {
    /// Checks a caller's request as far as the protocol goes; whether the manifest declares the action and its parameters is for
    /// others to say.
    ///
    /// # Errors
    /// In this order: `request.id`, `request.action` (no identifier), `request.target_count`, then target by target
    /// `request.target_length`, `request.target_character`, `request.target_duplicate`, then `request.parameters_type`, a
    /// `json.*` code for parameters outside the process profile, and `request.too_large` if the invoke frame would pass
    /// 1,048,576 bytes. All but the first blame the caller.
    pub fn new(
        id: impl Into<String>,
        action: impl Into<String>,
        targets: Vec<String>,
        parameters: RawJson,
    ) -> Result<Self, Violation> {
        let (id, action) = (id.into(), action.into());
        check_id(&id)?;
        if !is_identifier(&action) {
            return Err(Violation::new(
                Code::RequestAction,
                "The action is no identifier, so no manifest can declare it.",
            )
            .path("action"));
        }
        check_targets(&targets)?;
        check_parameters(&parameters)?;
        let request = Request { id, action, targets, parameters };
        let length = invoke_length(&request);
        if length > FRAME_PAYLOAD {
            return Err(Violation::new(
                Code::RequestTooLarge,
                format!("The invoke frame has at most {FRAME_PAYLOAD} payload bytes; this one would have {length}."),
            )
            .limit(FRAME_PAYLOAD)
            .actual(length));
        }
        Ok(request)
    }

    /// A request out of a frame that has been checked as a whole.
    pub(super) fn from_frame(id: String, action: String, targets: Vec<String>, parameters: RawJson) -> Self {
        Request { id, action, targets, parameters }
    }

    /// The request id, copied into the result.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The action.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The target ids, in the order of the request.
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    /// The parameters, an object, as they were written.
    pub fn parameters(&self) -> &RawJson {
        &self.parameters
    }
}

/// 1 to 128 code points without NUL.
pub(super) fn check_id(id: &str) -> Result<(), Violation> {
    if is_request_id(id) {
        return Ok(());
    }
    let (length, range) = (id.chars().count(), 1..=REQUEST_ID);
    let violation = if range.contains(&length) {
        Violation::new(Code::RequestId, "A request id has no NUL; this one has.")
    } else {
        let message = format!("A request id has 1 to {REQUEST_ID} code points; this one has {length}.");
        Violation::new(Code::RequestId, message).outside(&range, length)
    };
    Err(violation.path("id"))
}

/// Checks a batch of target ids: 1 to 64, each legal, all distinct (P1-HOST-13, P1-HOST-14).
///
/// # Errors
/// `request.target_count`, else the first fault target by target: `request.target_length`, `request.target_character`,
/// `request.target_duplicate`. The path is `targets[i]`.
pub fn check_targets<T: AsRef<str>>(targets: &[T]) -> Result<(), Violation> {
    check_target_count(targets.len())?;
    for index in 0..targets.len() {
        check_target_at(targets, index)?;
    }
    Ok(())
}

pub(super) fn check_target_count(count: usize) -> Result<(), Violation> {
    let range = 1..=TARGETS;
    if range.contains(&count) {
        return Ok(());
    }
    Err(Violation::new(
        Code::RequestTargetCount,
        format!("A batch has 1 to {TARGETS} targets; this one has {count}."),
    )
    .path("targets")
    .outside(&range, count))
}

/// Checks one target against the rules and against those before it.
pub(super) fn check_target_at<T: AsRef<str>>(targets: &[T], index: usize) -> Result<(), Violation> {
    let target = targets[index].as_ref();
    check_target(target).map_err(|violation| violation.path(format!("targets[{index}]")))?;
    if let Some(earlier) = targets[..index].iter().position(|other| other.as_ref() == target) {
        return Err(Violation::new(
            Code::RequestTargetDuplicate,
            format!("A batch has distinct targets; this one is targets[{earlier}] again."),
        )
        .path(format!("targets[{index}]"))
        .target(target));
    }
    Ok(())
}

/// Parameters are an object within the bounds, at the depth where they will stand (P1-HOST-33).
fn check_parameters(parameters: &RawJson) -> Result<(), Violation> {
    if parameters.raw().members().is_none() {
        return Err(parameters_type(parameters.raw().kind().describe()));
    }
    Checker::new().check(parameters.as_bytes(), &Profile::PROCESS.below(PARAMETERS_DEPTH)).map_err(
        |violation| {
            let path = match violation.place.path.as_deref() {
                None => "parameters".to_owned(),
                Some(inner) if inner.starts_with('[') => format!("parameters{inner}"),
                Some(inner) => format!("parameters.{inner}"),
            };
            violation.blame(Blame::Caller).path(path)
        },
    )
}

pub(super) fn parameters_type(found: &str) -> Violation {
    Violation::new(Code::RequestParametersType, format!("Parameters are a JSON object; this is {found}."))
        .path("parameters")
}
