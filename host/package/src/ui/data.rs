//! The own fields of components that show or edit something.

use modberth_protocol::Code;
use modberth_protocol::json::{Kind, Raw};

use super::component::Type;
use super::{collection, reference, scalar};
use crate::fields::{self, Object, describe, shown_number};
use crate::limits::{
    LABEL_CHARACTERS, UI_CELL_CHARACTERS, UI_DETAILS, UI_EDITOR_CHARACTERS, UI_LINE_CHARACTERS, UI_LINES,
    UI_PAGES, UI_REFERENCE_CHARACTERS, UI_TEXT_CHARACTERS,
};
use crate::problem::{At, Sink};

const TONES: [(&str, ()); 4] = [("neutral", ()), ("good", ()), ("warning", ()), ("error", ())];
/// How the reference of every credential begins.
const CREDENTIAL: &str = "hostcredential-";

pub(super) fn check(kind: Type, object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    match kind {
        Type::Text | Type::Status => {
            text(object, "text", at, UI_TEXT_CHARACTERS, sink);
            if let Some(raw) = object.get("tone") {
                fields::word(raw, &at.name("tone"), sink, &TONES);
            }
        }
        Type::Details => details(object, at, sink),
        Type::Table => collection::table(object, at, sink),
        Type::Field => field(object, at, sink),
        Type::Slider | Type::Progress | Type::Meter => gauge(kind, object, at, sink),
        Type::Select | Type::Radio => collection::options(object, at, sink),
        Type::Tree => collection::tree(object, at, sink),
        Type::Pager => pager(object, at, sink),
        Type::Log => log(object, at, sink),
        Type::Editor => {
            if let Some(raw) = object.get("ref") {
                reference(raw, &at.name("ref"), sink);
            }
            text(object, "value", at, UI_EDITOR_CHARACTERS, sink);
        }
        Type::AudioPlayer => {
            if let Some(raw) = object.get("ref") {
                reference(raw, &at.name("ref"), sink);
            }
        }
        Type::Credential => credential(object, at, sink),
        Type::Clock => text(object, "timezone", at, UI_REFERENCE_CHARACTERS, sink),
        Type::Column
        | Type::Row
        | Type::Group
        | Type::Toolbar
        | Type::Menu
        | Type::Tabs
        | Type::Button
        | Type::FileEditor => {}
    }
}

fn text(object: &Object<'_>, name: &str, at: &At<'_>, most: usize, sink: &mut Sink) {
    if let Some(raw) = object.get(name) {
        fields::text(raw, &at.name(name), sink, 0, most);
    }
}

fn details(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    let Some(raw) = object.get("items") else { return };
    let at = at.name("items");
    for (index, raw) in
        fields::list(raw, &at, sink, 0, UI_DETAILS).unwrap_or_default().into_iter().enumerate()
    {
        let at = at.index(index);
        let Some(item) = fields::object(raw, &at, sink) else { continue };
        item.expect(&at, sink, &["label", "value"], &[]);
        text(&item, "label", &at, LABEL_CHARACTERS, sink);
        if let Some(raw) = item.get("value") {
            scalar(raw, &at.name("value"), sink, UI_CELL_CHARACTERS);
        }
    }
}

#[derive(Clone, Copy)]
enum Input {
    Text,
    Number,
    Checkbox,
}

const INPUTS: [(&str, Input); 3] =
    [("text", Input::Text), ("number", Input::Number), ("checkbox", Input::Checkbox)];

fn field(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    let input = match object.get("input_type") {
        None => Some(Input::Text),
        Some(raw) => fields::word(raw, &at.name("input_type"), sink, &INPUTS),
    };
    let Some(input) = input else { return };
    let at = at.name("value");
    let (wanted, good) = match (input, object.get("value")) {
        (Input::Text, Some(raw)) => {
            fields::text(raw, &at, sink, 0, UI_TEXT_CHARACTERS);
            return;
        }
        (Input::Text, None) => return,
        (Input::Number, raw) => ("a number", raw.is_some_and(|raw| raw.kind() == Kind::Number)),
        (Input::Checkbox, raw) => ("true or false", raw.is_some_and(|raw| raw.kind() == Kind::Bool)),
    };
    if !good {
        let found = object.get("value").map_or("none", describe);
        sink.at(&at, Code::PackageUiValue, format!("The value of this field is {wanted}; found {found}."));
    }
}

/// A number of the object, or its default.
fn number_or(object: &Object<'_>, name: &str, at: &At<'_>, default: f64, sink: &mut Sink) -> Option<f64> {
    match object.get(name) {
        None => Some(default),
        Some(raw) => fields::number(raw, &at.name(name), sink),
    }
}

fn gauge(kind: Type, object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    // A progress begins at 0; it has no min of its own.
    let min = if kind == Type::Progress { Some(0.0) } else { number_or(object, "min", at, 0.0, sink) };
    let max = number_or(object, "max", at, 100.0, sink);
    let value = number_or(object, "value", at, 0.0, sink);
    if let (Some(min), Some(max), Some(value)) = (min, max, value) {
        if min >= max {
            sink.at(
                &at.name("max"),
                Code::PackageUiValue,
                format!("min {} is not below max {}.", shown_number(min), shown_number(max)),
            );
        } else if !(min..=max).contains(&value) {
            sink.at(
                &at.name("value"),
                Code::PackageUiValue,
                format!(
                    "The value lies from {} to {}; found {}.",
                    shown_number(min),
                    shown_number(max),
                    shown_number(value)
                ),
            );
        }
    }
    if let Some(raw) = object.get("step")
        && fields::number(raw, &at.name("step"), sink).is_some_and(|step| step <= 0.0)
    {
        sink.at(&at.name("step"), Code::PackageUiValue, "A step is greater than 0.");
    }
}

fn pager(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    let mut number = |name: &str| match object.get(name) {
        None => Some(1),
        Some(raw) => fields::integer(raw, &at.name(name), sink, 1, UI_PAGES),
    };
    if let (Some(page), Some(total)) = (number("page"), number("total"))
        && page > total
    {
        sink.bound(
            &at.name("page"),
            Code::PackageUiValue,
            total,
            page,
            format!("Page {page} lies beyond the last one, {total}."),
        );
    }
}

fn log(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    let Some(raw) = object.get("lines") else { return };
    let at = at.name("lines");
    for (index, raw) in fields::list(raw, &at, sink, 0, UI_LINES).unwrap_or_default().into_iter().enumerate()
    {
        fields::text(raw, &at.index(index), sink, 0, UI_LINE_CHARACTERS);
    }
}

fn credential(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    let Some(raw) = object.get("ref") else { return };
    let at = at.name("ref");
    if let Some(id) = reference(raw, &at, sink)
        && !id.starts_with(CREDENTIAL)
    {
        sink.at(
            &at,
            Code::PackageUiReference,
            format!("The reference of a credential begins with {CREDENTIAL}."),
        );
    }
}

/// The chosen one of some ids: empty or absent means none.
pub(super) fn chosen(raw: Option<Raw<'_>>, ids: &[String], at: &At<'_>, what: &str, sink: &mut Sink) {
    let Some(raw) = raw else { return };
    if raw.as_str().is_some_and(|text| text.is_empty()) {
        return;
    }
    if let Some(id) = reference(raw, at, sink)
        && !ids.contains(&id)
    {
        sink.at(at, Code::PackageUiTarget, format!("There is no {what} {}.", fields::shown(&id)));
    }
}
