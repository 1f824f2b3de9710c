//! Bindings: a property of a component that follows the result of an action.

use modberth_protocol::Code;
use modberth_protocol::json::{Kind, Raw};

use super::component::Type;
use super::{RESERVED, button};
use crate::fields::{self, describe, shown};
use crate::limits::{UI_PATH_INDEX, UI_PATH_KEYS, UI_PATH_NAME_CHARACTERS};
use crate::problem::{At, Sink};

/// Properties that every component can bind.
const COMMON: [&str; 3] = ["state", "message", "disabled"];

fn bindable(kind: Type) -> &'static [&'static str] {
    match kind {
        Type::Text => &["text"],
        Type::Status => &["text", "tone"],
        Type::Details => &["items"],
        Type::Table => &["rows"],
        Type::Field | Type::Slider | Type::Progress | Type::Meter => &["value"],
        Type::Select | Type::Radio => &["value", "options"],
        Type::Tree => &["items", "value"],
        Type::Pager => &["page", "total"],
        Type::Log => &["lines"],
        _ => &[],
    }
}

pub(super) fn check(raw: Raw<'_>, at: &At<'_>, kind: Type, actions: Option<&[&str]>, sink: &mut Sink) {
    let Some(bindings) = fields::object(raw, at, sink) else { return };
    for (property, raw) in bindings.entries() {
        let at = at.name(property);
        let allowed = bindable(kind);
        if !allowed.contains(&&**property) && !COMMON.contains(&&**property) {
            let known: Vec<_> = allowed.iter().chain(&COMMON).copied().collect();
            sink.at(
                &at,
                Code::PackageUiBind,
                format!("A {kind} binds {}; found {}.", known.join(", "), shown(property)),
            );
        }
        let Some(binding) = fields::object(*raw, &at, sink) else { continue };
        binding.expect(&at, sink, &["action", "path"], &[]);
        if let Some(raw) = binding.get("action") {
            button::action(raw, &at.name("action"), actions, sink);
        }
        if let Some(raw) = binding.get("path") {
            path(raw, &at.name("path"), sink);
        }
    }
}

/// A path into the result of the action, such as `["results", 0, "data", "name"]`.
fn path(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) {
    let keys = fields::list(raw, at, sink, 1, UI_PATH_KEYS).unwrap_or_default();
    for (index, key) in keys.into_iter().enumerate() {
        let at = at.index(index);
        match key.kind() {
            Kind::String => {
                let name = fields::text(key, &at, sink, 1, UI_PATH_NAME_CHARACTERS);
                if name.is_some_and(|name| RESERVED.contains(&name.as_str())) {
                    sink.at(&at, Code::PackageUiKey, "This name is reserved in a ui.");
                }
            }
            Kind::Number if key.as_integer().is_some_and(|index| (0..=UI_PATH_INDEX).contains(&index)) => {}
            Kind::Number => sink.at(
                &at,
                Code::PackageUiBind,
                format!("A number in a path is an integer from 0 to {UI_PATH_INDEX}."),
            ),
            _ => sink.at(
                &at,
                Code::PackageUiBind,
                format!("A path holds names and indexes; found {}.", describe(key)),
            ),
        }
    }
}
