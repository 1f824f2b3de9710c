//! Parameters given as text, such as `-p message=Hello`: read by their declared types.

use modberth_protocol::json::{self, RawJson, quote};
use modberth_protocol::limits::PARAMETERS_DEPTH;
use modberth_protocol::{Code, Violation};

use super::schema::{Kind, Parameter, Schema};
use crate::fields::shown;
use crate::problem::At;

impl Schema {
    /// Makes the parameters object of a request from texts, read by the declared types, and checks it.
    ///
    /// | type | text |
    /// |---|---|
    /// | string | the text itself, `"` and all |
    /// | integer, number | as JSON writes it: `5`, `-0.5`, `1e3` |
    /// | boolean | `true` or `false` |
    /// | string-list | one item each time the name stands there, or a JSON array when the text begins with `[`; both add to the list |
    ///
    /// A list item that itself begins with `[` is written as an array: `["[x"]`. An empty list is `[]`.
    ///
    /// # Errors
    /// `parameter.unknown`, `parameter.repeated` for a second value of another type than string-list, `parameter.type`
    /// for a text that is no value of the type, and everything that [`Schema::check`] refuses.
    pub fn read_texts<'t>(
        &self,
        texts: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<RawJson, Violation> {
        let mut values: Vec<(&Parameter, Value)> = Vec::new();
        for (name, text) in texts {
            let Some(parameter) = self.get(name) else {
                return Err(Violation::new(Code::ParameterUnknown, self.unknown(name))
                    .path(place(name))
                    .parameter(name));
            };
            let earlier = values.iter_mut().find(|(other, _)| other.name == parameter.name);
            match (&parameter.kind, earlier) {
                (Kind::StringList { .. }, Some((_, Value::Items(items)))) => {
                    items.extend(read_items(parameter, text)?);
                }
                (Kind::StringList { .. }, _) => {
                    values.push((parameter, Value::Items(read_items(parameter, text)?)));
                }
                (_, None) => values.push((parameter, Value::One(read_one(parameter, text)?))),
                (kind, Some(_)) => {
                    return Err(Violation::new(
                        Code::ParameterRepeated,
                        format!("The parameter {name} is a {} and is given twice.", kind.as_str()),
                    )
                    .path(place(name))
                    .parameter(name));
                }
            }
        }
        let mut members = Vec::with_capacity(values.len());
        for (parameter, value) in &values {
            let value = match value {
                Value::One(json) => json.clone(),
                Value::Items(items) => format!("[{}]", items.join(",")),
            };
            // Here the parameter is known that a bound of all JSON is about; the caller never sees the whole object.
            json::parse(wrapped(&value).as_bytes(), &json::Profile::PROCESS)
                .map_err(|fault| of_text(parameter, fault))?;
            members.push(format!("{}:{value}", quote(&parameter.name)));
        }
        let object = format!("{{{}}}", members.join(","));
        let raw = json::parse(object.as_bytes(), &json::Profile::PROCESS)?;
        self.check(raw)?;
        Ok(RawJson::from(raw))
    }
}

enum Value {
    One(String),
    Items(Vec<String>),
}

/// The documents that are checked are objects, so a value alone is checked as a member of one.
fn wrapped(value: &str) -> String {
    format!("{{\"v\":{value}}}")
}

/// Where a parameter stands in the request.
fn place(name: &str) -> String {
    At::ROOT.name("parameters").name(name).to_string()
}

/// A fault of the JSON that was made from texts: its place in that JSON says nothing to who wrote the texts.
fn of_text(parameter: &Parameter, fault: Violation) -> Violation {
    let mut of_text =
        Violation::new(fault.code, fault.message).path(place(&parameter.name)).parameter(&parameter.name);
    (of_text.limit, of_text.actual) = (fault.limit, fault.actual);
    of_text
}

fn unreadable(parameter: &Parameter, text: &str, wanted: &str) -> Violation {
    Violation::new(
        Code::ParameterType,
        format!("The parameter {} is {wanted}; found the text {}.", parameter.name, shown(text)),
    )
    .path(place(&parameter.name))
    .parameter(&parameter.name)
    .advise(parameter.kind.advice())
}

fn read_one(parameter: &Parameter, text: &str) -> Result<String, Violation> {
    let (wanted, good) = match parameter.kind {
        Kind::String { .. } | Kind::StringList { .. } => return Ok(quote(text)),
        Kind::Integer { .. } => ("an integer", is_scalar(parameter, text, |raw| raw.as_integer().is_some())?),
        Kind::Number { .. } => ("a number", is_scalar(parameter, text, |raw| raw.as_f64().is_some())?),
        Kind::Boolean => ("true or false", matches!(text, "true" | "false")),
    };
    if good { Ok(text.to_owned()) } else { Err(unreadable(parameter, text, wanted)) }
}

/// True if the text is one JSON scalar, without white space, of which the test holds.
///
/// # Errors
/// A number that JSON can write but the profile refuses keeps the code that says why.
fn is_scalar(
    parameter: &Parameter,
    text: &str,
    test: impl Fn(json::Raw<'_>) -> bool,
) -> Result<bool, Violation> {
    if text.bytes().any(|byte| !(byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))) {
        return Ok(false);
    }
    match json::parse(wrapped(text).as_bytes(), &json::Profile::PROCESS) {
        Ok(raw) => Ok(raw.get("v").is_some_and(&test)),
        Err(fault) if matches!(fault.code, Code::JsonIntegerRange | Code::JsonNonfinite) => {
            Err(of_text(parameter, fault))
        }
        Err(_) => Ok(false),
    }
}

fn read_items(parameter: &Parameter, text: &str) -> Result<Vec<String>, Violation> {
    if !text.starts_with('[') {
        return Ok(vec![quote(text)]);
    }
    // The text is JSON itself, so places in it can be named.
    let profile = json::Profile::PROCESS.below(PARAMETERS_DEPTH + 1);
    let raw = json::parse(text.as_bytes(), &profile).map_err(|fault| {
        let inner = fault.place.path.clone().unwrap_or_default();
        let byte = fault.place.offset.unwrap_or(0);
        let fault = of_text(parameter, fault).offset(byte);
        let path = fault.place.path.clone().unwrap_or_default();
        fault.path(format!("{path}{inner}"))
    })?;
    match raw.elements() {
        Some(elements) => Ok(elements.map(|item| item.as_text().to_owned()).collect()),
        None => Err(unreadable(parameter, text, "a list of strings")),
    }
}
