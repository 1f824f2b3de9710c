//! The four messages of protocol 1: exact field sets, exact values (P1-HOST-03, P1-HOST-07, P1-HOST-08).

use super::request::{Request, check_id, check_target_at, check_target_count, parameters_type};
use super::results::{
    Outcome, Results, RowOutcome, TargetError, TargetResult, check_results, shown, write_rows,
};
use crate::ident::is_identifier;
use crate::json::{Checker, Kind, Profile, Raw, RawJson, quote, quote_into};
use crate::limits::{HOST_API, PROTOCOL_1};
use crate::{Code, Violation};
use std::borrow::Cow;
use std::sync::Arc;

/// The host's first frame's payload.
pub const HOST_HELLO: &[u8] = br#"{"version":1,"type":"hello","host_api":1}"#;
/// The module's first frame's payload.
pub const MODULE_HELLO: &[u8] = br#"{"version":1,"type":"hello","protocol":1}"#;

/// The payload of the invoke frame. Parameters stand in it as they were written.
pub fn encode_invoke(request: &Request) -> Vec<u8> {
    let mut out = String::with_capacity(request.parameters().as_str().len() + 256);
    out.push_str(r#"{"version":1,"type":"invoke","id":"#);
    quote_into(request.id(), &mut out);
    out.push_str(",\"action\":");
    quote_into(request.action(), &mut out);
    out.push_str(",\"targets\":[");
    for (index, target) in request.targets().iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        quote_into(target, &mut out);
    }
    out.push_str("],\"parameters\":");
    out.push_str(request.parameters().as_str());
    out.push('}');
    out.into_bytes()
}

/// Bytes of the invoke frame's payload.
pub(super) fn invoke_length(request: &Request) -> usize {
    const FIXED: usize = r#"{"version":1,"type":"invoke","id":,"action":,"targets":[],"parameters":}"#.len();
    let targets: usize = request.targets().iter().map(|target| quote(target).len() + 1).sum();
    FIXED
        + quote(request.id()).len()
        + quote(request.action()).len()
        + targets.saturating_sub(1)
        + request.parameters().as_str().len()
}

/// The payload of the result frame for a request. Nothing is checked here.
pub fn encode_result(id: &str, rows: &[TargetResult]) -> Vec<u8> {
    let mut out = String::new();
    begin_result(id, &mut out);
    write_rows(rows, &mut out);
    out.push('}');
    out.into_bytes()
}

/// Appends the result message up to its list of results.
pub(super) fn begin_result(id: &str, out: &mut String) {
    out.push_str(r#"{"version":1,"type":"result","id":"#);
    quote_into(id, out);
    out.push_str(",\"results\":");
}

/// The values of exactly these fields, or what is wrong with the field set.
fn fields<'a, const N: usize>(message: Raw<'a>, names: [&str; N]) -> Result<[Raw<'a>; N], String> {
    let mut found = [None; N];
    for (name, value) in message.members().into_iter().flatten() {
        match names.iter().position(|known| *known == name) {
            Some(index) => found[index] = Some(value),
            None => return Err(format!("There is a field {} that the message does not have.", shown(&name))),
        }
    }
    if let Some(index) = found.iter().position(Option::is_none) {
        return Err(format!("The field \"{}\" is missing.", names[index]));
    }
    // Every one is there, so the fallback is never taken.
    Ok(found.map(|value| value.unwrap_or(message)))
}

/// How a value that is not the expected one reads in a message.
fn found(value: Raw<'_>) -> Cow<'_, str> {
    match value.kind() {
        Kind::Number | Kind::Bool | Kind::Null if value.bytes().len() <= 24 => value.as_text().into(),
        Kind::String => value.as_str().map(|text| shown(&text).into()).unwrap_or_default(),
        kind => kind.describe().into(),
    }
}

/// Fails unless the value is this integer; `1.0` and `true` are not the integer 1.
fn expect_integer(value: Raw<'_>, expected: i64, field: &str, code: Code) -> Result<(), Violation> {
    match value.as_integer() {
        Some(actual) if actual == expected => Ok(()),
        actual => {
            let violation = Violation::new(
                code,
                format!("The field is the integer {expected}; it stands here as {}.", found(value)),
            )
            .path(field)
            .offset(value.range().start);
            Err(match actual.and_then(|actual| u64::try_from(actual).ok()) {
                Some(actual) => violation.actual(actual),
                None => violation,
            })
        }
    }
}

/// Fails unless the value is this string.
fn expect_text(value: Raw<'_>, expected: &str, field: &str, code: Code) -> Result<(), Violation> {
    if value.as_str().is_some_and(|text| text == expected) {
        return Ok(());
    }
    let message = format!("The field is {}; it stands here as {}.", shown(expected), found(value));
    Err(Violation::new(code, message).path(field).offset(value.range().start))
}

/// Checks the host's hello, as a module does.
///
/// # Errors
/// `request.message` for another field set or type, then `request.version`, then `request.host_api`.
pub fn check_host_hello(hello: Raw<'_>) -> Result<(), Violation> {
    let [version, kind, host_api] = fields(hello, ["version", "type", "host_api"])
        .map_err(|message| Violation::new(Code::RequestMessage, message))?;
    expect_integer(version, PROTOCOL_1, "version", Code::RequestVersion)?;
    expect_text(kind, "hello", "type", Code::RequestMessage)?;
    expect_integer(host_api, HOST_API, "host_api", Code::RequestHostApi)
}

/// Checks the host's invoke message and takes the request out of it, as a module does. The parameters keep the payload's memory.
///
/// # Errors
/// A `json.*` code, or in this order: `request.message` (field set), `request.version`, `request.message` (type), `request.id`,
/// `request.message` (action), `request.message` (targets is no list), `request.target_count`, then target by target
/// `request.target_type`, `request.target_length`, `request.target_character`, `request.target_duplicate`, then
/// `request.parameters_type`.
pub fn parse_invoke(payload: Vec<u8>) -> Result<Request, Violation> {
    let mut checker = Checker::new();
    let message = checker.parse(&payload, &Profile::PROCESS)?;
    let [version, kind, id, action, targets, parameters] =
        fields(message, ["version", "type", "id", "action", "targets", "parameters"])
            .map_err(|message| Violation::new(Code::RequestMessage, message))?;
    expect_integer(version, PROTOCOL_1, "version", Code::RequestVersion)?;
    expect_text(kind, "invoke", "type", Code::RequestMessage)?;
    let Some(id) = id.as_str() else {
        return Err(Violation::new(
            Code::RequestId,
            format!("The request id is a string; it stands here as {}.", found(id)),
        )
        .path("id"));
    };
    check_id(&id)?;
    let action = action.as_str().filter(|action| is_identifier(action)).ok_or_else(|| {
        Violation::new(
            Code::RequestMessage,
            format!("The action is an identifier; it stands here as {}.", found(action)),
        )
        .path("action")
    })?;
    let Some(elements) = targets.elements() else {
        return Err(Violation::new(
            Code::RequestMessage,
            format!("The targets are a list; they stand here as {}.", found(targets)),
        )
        .path("targets"));
    };
    check_target_count(elements.clone().count())?;
    let mut targets: Vec<String> = Vec::new();
    for (index, element) in elements.enumerate() {
        let Some(target) = element.as_str() else {
            return Err(Violation::new(
                Code::RequestTargetType,
                format!("A target id is a string; this one stands here as {}.", found(element)),
            )
            .path(format!("targets[{index}]")));
        };
        targets.push(target.into_owned());
        check_target_at(&targets, index)?;
    }
    if parameters.kind() != Kind::Object {
        return Err(parameters_type(parameters.kind().describe()));
    }
    let (id, action, range) = (id.into_owned(), action.into_owned(), parameters.range());
    let text = checked_text(payload)?;
    Ok(Request::from_frame(id, action, targets, RawJson::shared(&text, range)))
}

/// The text of a payload that has passed the check, kept without a copy.
fn checked_text(payload: Vec<u8>) -> Result<Arc<String>, Violation> {
    String::from_utf8(payload).map(Arc::new).map_err(|error| {
        Violation::new(Code::JsonUtf8, "The bytes are not UTF-8.").offset(error.utf8_error().valid_up_to())
    })
}

/// Checks the module's hello, as a host does.
///
/// # Errors
/// A `json.*` code, `output.type` for a message of another type, `output.hello` for anything else.
pub fn check_module_hello(payload: &[u8], checker: &mut Checker) -> Result<(), Violation> {
    let hello = checker.parse(payload, &Profile::PROCESS)?;
    refuse_other_type(hello, "hello")?;
    let [version, kind, protocol] = fields(hello, ["version", "type", "protocol"])
        .map_err(|message| Violation::new(Code::OutputHello, message))?;
    expect_integer(version, PROTOCOL_1, "version", Code::OutputHello)?;
    expect_text(kind, "hello", "type", Code::OutputHello)?;
    expect_integer(protocol, PROTOCOL_1, "protocol", Code::OutputHello)
}

/// Refuses a message whose type is a string, but another one (P1-HOST-31).
fn refuse_other_type(message: Raw<'_>, expected: &str) -> Result<(), Violation> {
    match message.get("type") {
        Some(kind) if kind.kind() == Kind::String => expect_text(kind, expected, "type", Code::OutputType),
        _ => Ok(()),
    }
}

/// Checks the module's result message against the request and gives the results in request order, as a host does. Data keeps
/// the payload's memory and is passed on unchanged.
///
/// # Errors
/// A `json.*` code, or in this order: `output.type`, `output.message` (field set, or a field of the wrong type),
/// `output.version`, `output.id`, and what [`check_results`] gives.
pub fn parse_result(
    payload: Vec<u8>,
    request: &Request,
    checker: &mut Checker,
) -> Result<Results, Violation> {
    let message = checker.parse(&payload, &Profile::PROCESS)?;
    refuse_other_type(message, "result")?;
    let [version, kind, id, results] = fields(message, ["version", "type", "id", "results"])
        .map_err(|message| Violation::new(Code::OutputMessage, message))?;
    expect_text(kind, "result", "type", Code::OutputMessage)?;
    expect_integer(version, PROTOCOL_1, "version", Code::OutputVersion)?;
    match id.as_str() {
        Some(found) if found == request.id() => {}
        Some(_) => {
            return Err(Violation::new(
                Code::OutputId,
                format!("The request id is {}; it stands here as {}.", shown(request.id()), found(id)),
            )
            .path("id")
            .offset(id.range().start));
        }
        None => {
            return Err(Violation::new(
                Code::OutputMessage,
                format!("The request id is a string; it stands here as {}.", found(id)),
            )
            .path("id")
            .offset(id.range().start));
        }
    }
    /// An outcome that no longer borrows the payload.
    enum Part {
        Data(std::ops::Range<usize>),
        Error(TargetError),
    }
    let parts: Vec<Part> = check_results(results, request.targets())?
        .into_iter()
        .map(|outcome| match outcome {
            RowOutcome::Data(data) => Part::Data(data.range()),
            RowOutcome::Error { code, message } => {
                Part::Error(TargetError { code: code.into_owned(), message: message.into_owned() })
            }
        })
        .collect();
    let text = checked_text(payload)?;
    let rows = request.targets().iter().zip(parts).map(|(target, part)| TargetResult {
        target: target.clone(),
        outcome: match part {
            Part::Data(range) => Outcome::Data(RawJson::shared(&text, range)),
            Part::Error(error) => Outcome::Error(error),
        },
    });
    Ok(Results { version: PROTOCOL_1, id: request.id().to_owned(), results: rows.collect() })
}
