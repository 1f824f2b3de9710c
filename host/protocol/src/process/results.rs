//! Results: the rules that both ends hold them to, and the list in request order.

use crate::ident::is_identifier;
use crate::json::{Raw, RawJson, quote_into};
use crate::limits::{ERROR_MESSAGE, IDENTIFIER};
use crate::{Code, Violation};
use serde::Serialize;
use std::borrow::Cow;

/// A JSON value of any make, as far as the rules on results must look into it: a view of a frame, or a value that an author built.
pub trait Node<'a>: Copy {
    /// The elements, if it is an array.
    fn elements(self) -> Option<impl Iterator<Item = Self>>;
    /// The members, if it is an object.
    fn members(self) -> Option<impl Iterator<Item = (Cow<'a, str>, Self)>>;
    /// The text, if it is a string.
    fn text(self) -> Option<Cow<'a, str>>;
}

impl<'a> Node<'a> for Raw<'a> {
    fn elements(self) -> Option<impl Iterator<Item = Self>> {
        Raw::elements(&self)
    }

    fn members(self) -> Option<impl Iterator<Item = (Cow<'a, str>, Self)>> {
        Raw::members(&self)
    }

    fn text(self) -> Option<Cow<'a, str>> {
        self.as_str()
    }
}

/// The outcome in one checked row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowOutcome<'a, N> {
    /// The target's data.
    Data(N),
    /// The target's error: a code that is an identifier and a message within its bound.
    Error {
        /// The code.
        code: Cow<'a, str>,
        /// The message.
        message: Cow<'a, str>,
    },
}

/// Checks a list of results against the targets of a request and gives the outcomes in request order (P1-HOST-09 to
/// P1-HOST-12). Host and SDKs judge by this one function.
///
/// # Errors
/// `output.results_type` if it is no list; then row by row, in this order: `output.results_type` (no object),
/// `output.result_fields` (no target, an unknown field, a target that is no string), `output.target_unknown`,
/// `output.target_duplicate`, `output.outcome_both`, `output.outcome_missing`, `output.error_fields`, `output.error_code`,
/// `output.error_message`; after all rows `output.target_missing` for the first target of the request without a result.
/// The path is `results[i]`, and the target is named where it is known.
pub fn check_results<'a, N: Node<'a>>(
    results: N,
    targets: &[String],
) -> Result<Vec<RowOutcome<'a, N>>, Violation> {
    let rows = results.elements().ok_or_else(|| {
        Violation::new(Code::OutputResultsType, "The results are not a list.").path("results")
    })?;
    let mut found: Vec<Option<RowOutcome<'a, N>>> = Vec::new();
    found.resize_with(targets.len(), || None);
    for (index, row) in rows.enumerate() {
        let (slot, outcome) = check_row(row, index, targets, &found)?;
        found[slot] = Some(outcome);
    }
    let mut ordered = Vec::with_capacity(targets.len());
    for (outcome, target) in found.into_iter().zip(targets) {
        match outcome {
            Some(outcome) => ordered.push(outcome),
            None => {
                return Err(Violation::new(
                    Code::OutputTargetMissing,
                    "A target of the batch has no result.",
                )
                .path("results")
                .target(target));
            }
        }
    }
    Ok(ordered)
}

/// Checks one row; gives the position of its target in the request and its outcome.
fn check_row<'a, N: Node<'a>>(
    row: N,
    index: usize,
    targets: &[String],
    found: &[Option<RowOutcome<'a, N>>],
) -> Result<(usize, RowOutcome<'a, N>), Violation> {
    let at = |code, message: String| Violation::new(code, message).path(format!("results[{index}]"));
    let members = row.members().ok_or_else(|| {
        at(
            Code::OutputResultsType,
            "A result is an object with a target and its data or error; this one is no object.".into(),
        )
    })?;
    let (mut target, mut data, mut error) = (None, None, None);
    let mut unknown = None;
    for (name, value) in members {
        match &*name {
            "target" => target = Some(value),
            "data" => data = Some(value),
            "error" => error = Some(value),
            _ if unknown.is_none() => unknown = Some(name),
            _ => {}
        }
    }
    let text = target.and_then(Node::text);
    let name_target = |violation: Violation| match &text {
        Some(target) => violation.target(&**target),
        None => violation,
    };
    if let Some(name) = unknown {
        let name = shown(&name);
        return Err(name_target(at(
            Code::OutputResultFields,
            format!("A result has target and one of data and error; this one has the field {name} too."),
        )));
    }
    if target.is_none() {
        return Err(at(Code::OutputResultFields, "A result has the field target; this one lacks it.".into()));
    }
    let Some(target) = &text else {
        return Err(at(
            Code::OutputResultFields,
            "The target of a result is a string; this one is not.".into(),
        ));
    };
    // Rows mostly come in request order.
    let slot = match targets.get(index) {
        Some(same) if same == target => Some(index),
        _ => targets.iter().position(|known| known == target),
    };
    let Some(slot) = slot else {
        return Err(name_target(at(
            Code::OutputTargetUnknown,
            "The result names a target that is not in the batch.".into(),
        )));
    };
    if found[slot].is_some() {
        return Err(name_target(at(Code::OutputTargetDuplicate, "The target has a result already.".into())));
    }
    match (data, error) {
        (Some(_), Some(_)) => Err(name_target(at(
            Code::OutputOutcomeBoth,
            "A result has data or error; this one has both.".into(),
        ))),
        (None, None) => Err(name_target(at(
            Code::OutputOutcomeMissing,
            "A result has data or error; this one has neither.".into(),
        ))),
        (Some(data), None) => Ok((slot, RowOutcome::Data(data))),
        (None, Some(error)) => match check_error_node(error) {
            Ok((code, message)) => Ok((slot, RowOutcome::Error { code, message })),
            Err((violation, field)) => {
                Err(name_target(violation.path(format!("results[{index}].error{field}"))))
            }
        },
    }
}

/// Code and message of an error.
type ErrorTexts<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Checks an error object; a fault comes with the field it is in.
fn check_error_node<'a, N: Node<'a>>(error: N) -> Result<ErrorTexts<'a>, (Violation, &'static str)> {
    let fields = |message: String| (Violation::new(Code::OutputErrorFields, message), "");
    let members = error.members().ok_or_else(|| fields("An error is an object; this one is not.".into()))?;
    let (mut code, mut message) = (None, None);
    for (name, value) in members {
        match &*name {
            "code" => code = Some(value),
            "message" => message = Some(value),
            _ => {
                let name = shown(&name);
                return Err(fields(format!(
                    "An error is exactly code and message; this one has the field {name} too."
                )));
            }
        }
    }
    let text = |field: Option<N>, name: &str| match field {
        None => Err(fields(format!("An error is exactly code and message; this one lacks {name}."))),
        Some(value) => value
            .text()
            .ok_or_else(|| fields(format!("The {name} of an error is a string; this one is not."))),
    };
    let (code, message) = (text(code, "code")?, text(message, "message")?);
    check_error(&code, &message).map_err(|violation| {
        let field = if violation.code == Code::OutputErrorCode { ".code" } else { ".message" };
        (violation, field)
    })?;
    Ok((code, message))
}

/// Checks the two fields of a target error (P1-HOST-11).
///
/// # Errors
/// `output.error_code` if the code is no identifier, `output.error_message` if the message has more than 1,024 code points.
pub fn check_error(code: &str, message: &str) -> Result<(), Violation> {
    if !is_identifier(code) {
        return Err(Violation::new(
            Code::OutputErrorCode,
            format!(
                "An error code is a lower-case letter and then up to {} of a-z 0-9 _ . -; {} is not.",
                IDENTIFIER - 1,
                shown(code)
            ),
        ));
    }
    let length = if message.len() <= ERROR_MESSAGE { 0 } else { message.chars().count() };
    if length > ERROR_MESSAGE {
        return Err(Violation::new(
            Code::OutputErrorMessage,
            format!("An error message has at most {ERROR_MESSAGE} code points; this one has {length}."),
        )
        .limit(ERROR_MESSAGE)
        .actual(length));
    }
    Ok(())
}

/// A foreign name in quotes, cut where it is long.
pub(super) fn shown(name: &str) -> String {
    let mut out = String::new();
    match name.char_indices().nth(40) {
        Some((end, _)) => quote_into(&format!("{}…", &name[..end]), &mut out),
        None => quote_into(name, &mut out),
    }
    out
}

/// A target's error: an ordinary outcome, not a failure of the action (P1-HOST-24).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TargetError {
    /// An identifier.
    pub code: String,
    /// At most 1,024 code points; may be empty.
    pub message: String,
}

/// What became of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Its data, as the module wrote it.
    Data(RawJson),
    /// Its error.
    Error(TargetError),
}

/// The result of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TargetResult {
    /// The target id, as in the request.
    pub target: String,
    /// Its outcome, which stands as `data` or `error` beside the target.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl TargetResult {
    /// A result with data.
    pub fn data(target: impl Into<String>, data: RawJson) -> Self {
        TargetResult { target: target.into(), outcome: Outcome::Data(data) }
    }

    /// A result with an error.
    pub fn error(target: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        let error = TargetError { code: code.into(), message: message.into() };
        TargetResult { target: target.into(), outcome: Outcome::Error(error) }
    }

    /// Appends the row as compact JSON, data as it was written.
    pub(super) fn write(&self, out: &mut String) {
        out.push_str("{\"target\":");
        quote_into(&self.target, out);
        match &self.outcome {
            Outcome::Data(data) => {
                out.push_str(",\"data\":");
                out.push_str(data.as_str());
            }
            Outcome::Error(error) => {
                out.push_str(",\"error\":{\"code\":");
                quote_into(&error.code, out);
                out.push_str(",\"message\":");
                quote_into(&error.message, out);
                out.push('}');
            }
        }
        out.push('}');
    }
}

/// The results of a whole action: one per target, in request order (P1-HOST-12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Results {
    /// The protocol version.
    pub version: i64,
    /// The request id.
    pub id: String,
    /// One result per target, in request order.
    pub results: Vec<TargetResult>,
}

impl Results {
    /// Compact JSON: `{"version":1,"id":…,"results":[…]}`. Data stands there exactly as the module wrote it.
    pub fn to_json(&self) -> Vec<u8> {
        let data: usize = self
            .results
            .iter()
            .map(|row| match &row.outcome {
                Outcome::Data(data) => row.target.len() + data.as_str().len() + 32,
                Outcome::Error(error) => row.target.len() + error.code.len() + error.message.len() + 64,
            })
            .sum();
        let mut out = String::with_capacity(data + self.id.len() + 48);
        out.push_str("{\"version\":");
        out.push_str(&self.version.to_string());
        out.push_str(",\"id\":");
        quote_into(&self.id, &mut out);
        out.push_str(",\"results\":");
        write_rows(&self.results, &mut out);
        out.push('}');
        out.into_bytes()
    }

    /// True if every target has data.
    pub fn all_data(&self) -> bool {
        self.results.iter().all(|row| matches!(row.outcome, Outcome::Data(_)))
    }
}

/// Appends rows as a JSON array.
pub(super) fn write_rows(rows: &[TargetResult], out: &mut String) {
    out.push('[');
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        row.write(out);
    }
    out.push(']');
}
