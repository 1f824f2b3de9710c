//! The check of a request's parameters against the schema, before any process starts (P1-HOST-16).

use modberth_protocol::json::Raw;
use modberth_protocol::{Code, Violation};

use super::schema::{Kind, Parameter, Schema};
use crate::fields::{describe, shown, shown_number};
use crate::problem::At;

impl Schema {
    /// Checks the parameters of a request. `parameters` is strict JSON already; its bytes are passed on unchanged.
    ///
    /// # Errors
    /// The first fault: those of the parameters that are there in the order of the object, then the first required one
    /// that is missing. Each names the parameter, and the bound and the actual value where there are any.
    pub fn check(&self, parameters: Raw<'_>) -> Result<(), Violation> {
        let root = At::ROOT.name("parameters");
        let Some(members) = parameters.members() else {
            return Err(Violation::new(
                Code::RequestParametersType,
                format!("The parameters are an object; found {}.", describe(parameters)),
            )
            .path(root.to_string()));
        };
        let mut present = Vec::new();
        for (name, value) in members {
            let place = root.name(&name);
            let Some(parameter) = self.get(&name) else {
                return Err(Violation::new(Code::ParameterUnknown, self.unknown(&name))
                    .path(place.to_string())
                    .parameter(name));
            };
            check(parameter, value, &place)?;
            present.push(parameter.name.as_str());
        }
        let missing = self
            .parameters()
            .iter()
            .find(|parameter| parameter.required && !present.contains(&parameter.name.as_str()));
        match missing {
            None => Ok(()),
            Some(Parameter { name, kind, .. }) => Err(Violation::new(
                Code::ParameterMissing,
                format!("The parameter {name} ({}) is required.", kind.as_str()),
            )
            .advise(format!("Give it, with the command by -p {name}={}.", kind.sample()))
            .path(root.name(name).to_string())
            .parameter(name)),
        }
    }

    pub(super) fn unknown(&self, name: &str) -> String {
        let known: Vec<_> = self.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
        let known = if known.is_empty() { "it takes none".to_owned() } else { known.join(", ") };
        format!("The action has no parameter {}; its parameters: {known}.", shown(name))
    }
}

fn fault(code: Code, parameter: &Parameter, place: &At<'_>, message: String) -> Violation {
    Violation::new(code, message).path(place.to_string()).parameter(&parameter.name)
}

fn check(parameter: &Parameter, value: Raw<'_>, place: &At<'_>) -> Result<(), Violation> {
    let mistyped = |what: &str, found: Raw<'_>, place: &At<'_>| {
        let message = format!("The parameter {} is {what}; found {}.", parameter.name, describe(found));
        fault(Code::ParameterType, parameter, place, message).advise(parameter.kind.advice())
    };
    match &parameter.kind {
        Kind::String { max_length, choices } => {
            let text = value.as_str().ok_or_else(|| mistyped("a string", value, place))?;
            length(parameter, &text, *max_length, place)?;
            choice(parameter, &text, choices.as_deref(), place)
        }
        Kind::StringList { max_items, max_length, choices } => {
            let Some(items) = value.elements() else {
                return Err(mistyped("a list of strings", value, place));
            };
            let actual = items.count();
            if u64::try_from(actual).is_ok_and(|actual| actual > *max_items) {
                let message =
                    format!("The parameter {} has {actual} items; max_items is {max_items}.", parameter.name);
                return Err(fault(Code::ParameterItems, parameter, place, message)
                    .limit(*max_items)
                    .actual(actual));
            }
            let mut seen = Vec::new();
            for (index, item) in value.elements().into_iter().flatten().enumerate() {
                let place = place.index(index);
                let text = item.as_str().ok_or_else(|| mistyped("a list of strings", item, &place))?;
                if text.is_empty() {
                    let message = format!("Item {index} of the parameter {} is empty.", parameter.name);
                    return Err(fault(Code::ParameterItemEmpty, parameter, &place, message));
                }
                length(parameter, &text, *max_length, &place)?;
                choice(parameter, &text, choices.as_deref(), &place)?;
                if seen.contains(&text) {
                    let message = format!(
                        "The item {} of the parameter {} stands twice.",
                        shown(&text),
                        parameter.name
                    );
                    return Err(fault(Code::ParameterItemDuplicate, parameter, &place, message));
                }
                seen.push(text);
            }
            Ok(())
        }
        Kind::Integer { min, max } => {
            let integer = value.as_integer().ok_or_else(|| mistyped("an integer", value, place))?;
            #[expect(clippy::cast_precision_loss, reason = "strict JSON keeps integers within 2^53-1")]
            range(parameter, integer as f64, *min, *max, place)
        }
        Kind::Number { min, max } => {
            let number = value.as_f64().ok_or_else(|| mistyped("a number", value, place))?;
            range(parameter, number, *min, *max, place)
        }
        Kind::Boolean => match value.as_bool() {
            Some(_) => Ok(()),
            None => Err(mistyped("true or false", value, place)),
        },
    }
}

fn length(parameter: &Parameter, text: &str, most: u64, place: &At<'_>) -> Result<(), Violation> {
    let length = text.chars().count();
    if u64::try_from(length).is_ok_and(|length| length <= most) {
        return Ok(());
    }
    let message =
        format!("The parameter {} has a text of {length} code points; max_length is {most}.", parameter.name);
    Err(fault(Code::ParameterLength, parameter, place, message).limit(most).actual(length))
}

fn choice(
    parameter: &Parameter,
    text: &str,
    choices: Option<&[String]>,
    place: &At<'_>,
) -> Result<(), Violation> {
    match choices {
        Some(choices) if !choices.iter().any(|choice| choice == text) => {
            let known: Vec<_> = choices.iter().map(|choice| shown(choice)).collect();
            let message = format!(
                "The parameter {} is one of {}; found {}.",
                parameter.name,
                known.join(", "),
                shown(text)
            );
            Err(fault(Code::ParameterChoice, parameter, place, message))
        }
        _ => Ok(()),
    }
}

fn range(
    parameter: &Parameter,
    value: f64,
    min: Option<f64>,
    max: Option<f64>,
    place: &At<'_>,
) -> Result<(), Violation> {
    let (word, end) = match (min, max) {
        (Some(min), _) if value < min => ("min", min),
        (_, Some(max)) if value > max => ("max", max),
        _ => return Ok(()),
    };
    let message = format!(
        "The parameter {} is {}; {word} is {}.",
        parameter.name,
        shown_number(value),
        shown_number(end)
    );
    let mut fault = fault(Code::ParameterRange, parameter, place, message);
    if let (Some(limit), Some(actual)) = (count(end), count(value)) {
        fault = fault.limit(limit).actual(actual);
    }
    Err(fault)
}

/// The number as a count, if it is one that a report can carry.
fn count(value: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and within 0 to 2^53-1"
    )]
    (value.fract() == 0.0 && (0.0..=EXACT).contains(&value)).then_some(value as u64)
}
