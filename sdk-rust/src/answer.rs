//! Results of a handler, judged and made into the two frames of the answer.

use std::borrow::Cow;

use modberth_protocol::json::quote_into;
use modberth_protocol::process::{Node, Request};
use modberth_protocol::{Code, Violation, limits};
use serde_json::Value;

use crate::encode::{Fault, to_json};
use crate::target::{Row, TargetResult};

/// The whole output for these results, which keep their order: the hello frame and the result frame (P1-SDK-04).
///
/// # Errors
///
/// What a host would refuse: first the rules on results, then a value that could not be written as JSON, then the JSON
/// profile and the size of the frame (P1-SDK-05). The place carries the target.
pub(crate) fn frames(request: &Request, results: &[TargetResult]) -> Result<Vec<u8>, Violation> {
    request.respond_with(View::Rows(results), |out| {
        out.push('[');
        for (index, result) in results.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write(result, index, out)?;
            if out.len() > limits::FRAME_PAYLOAD {
                return Err(Violation::new(
                    Code::FrameTooLarge,
                    format!(
                        "With this result the frame passes {} bytes; it has {} so far.",
                        limits::FRAME_PAYLOAD,
                        out.len()
                    ),
                )
                .limit(limits::FRAME_PAYLOAD)
                .actual(out.len())
                .path(format!("results[{index}]"))
                .target(target(result)));
            }
        }
        out.push(']');
        Ok(())
    })
}

/// Appends one row.
fn write(result: &TargetResult, index: usize, out: &mut String) -> Result<(), Violation> {
    let misplaced = |fault: &Fault, member: &str| {
        let violation = Violation::new(fault.code, &fault.message)
            .path(format!("results[{index}]{member}{}", fault.path))
            .target(target(result));
        match fault.code {
            Code::FrameTooLarge => violation.limit(limits::FRAME_PAYLOAD),
            Code::JsonIntegerRange => violation.limit(limits::JSON_INTEGER),
            _ => violation,
        }
    };
    match &result.0 {
        Row::Data { target, data } => {
            out.push_str("{\"target\":");
            quote_into(target, out);
            out.push_str(",\"data\":");
            out.push_str(data.as_ref().map_err(|fault| misplaced(fault, ".data"))?);
            out.push('}');
        }
        Row::Error { target, code, message, .. } => {
            out.push_str("{\"target\":");
            quote_into(target, out);
            out.push_str(",\"error\":{\"code\":");
            quote_into(code, out);
            out.push_str(",\"message\":");
            quote_into(message, out);
            out.push_str("}}");
        }
        Row::Value(row) => out.push_str(&to_json(row).map_err(|fault| misplaced(&fault, ""))?),
    }
    Ok(())
}

/// The target that a row names; empty if it names none, which the rules on results have refused before.
fn target(result: &TargetResult) -> &str {
    match &result.0 {
        Row::Data { target, .. } | Row::Error { target, .. } => target,
        Row::Value(row) => row.get("target").and_then(Value::as_str).unwrap_or_default(),
    }
}

/// Results as the rules see them: rows, their members and text. What data holds is no matter of these rules.
#[derive(Clone, Copy)]
enum View<'a> {
    Rows(&'a [TargetResult]),
    Row(&'a TargetResult),
    Error { code: &'a str, message: &'a str },
    Text(&'a str),
    Data,
    Value(&'a Value),
}

/// One type for the iterators of both makes.
type Members<'a> = Box<dyn Iterator<Item = (Cow<'a, str>, View<'a>)> + 'a>;

impl<'a> Node<'a> for View<'a> {
    fn elements(self) -> Option<impl Iterator<Item = Self>> {
        match self {
            View::Rows(rows) => Some(rows.iter().map(View::Row)),
            _ => None,
        }
    }

    fn members(self) -> Option<impl Iterator<Item = (Cow<'a, str>, Self)>> {
        let pair = |members: [(&'static str, View<'a>); 2]| -> Option<Members<'a>> {
            Some(Box::new(members.into_iter().map(|(name, value)| (Cow::Borrowed(name), value))))
        };
        match self {
            View::Row(TargetResult(Row::Data { target, .. })) => {
                pair([("target", View::Text(target)), ("data", View::Data)])
            }
            View::Row(TargetResult(Row::Error { target, code, message, .. })) => {
                pair([("target", View::Text(target)), ("error", View::Error { code, message })])
            }
            View::Error { code, message } => {
                pair([("code", View::Text(code)), ("message", View::Text(message))])
            }
            View::Row(TargetResult(Row::Value(row))) => View::Value(row).object(),
            View::Value(_) => self.object(),
            View::Rows(_) | View::Text(_) | View::Data => None,
        }
    }

    fn text(self) -> Option<Cow<'a, str>> {
        match self {
            View::Text(text) => Some(text.into()),
            View::Value(value) => value.as_str().map(Cow::Borrowed),
            _ => None,
        }
    }
}

impl<'a> View<'a> {
    fn object(self) -> Option<Members<'a>> {
        let View::Value(Value::Object(members)) = self else { return None };
        Some(Box::new(members.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), View::Value(value)))))
    }
}
