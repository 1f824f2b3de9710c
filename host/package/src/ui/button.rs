//! Buttons: the action they start, and where its parameters come from.

use modberth_protocol::Code;
use modberth_protocol::json::Raw;

use super::{RESERVED, scalar};
use crate::fields::{self, shown};
use crate::limits::{UI_BUTTON_PARAMETERS, UI_TEXT_CHARACTERS};
use crate::problem::{At, Sink};

/// The name of a declared action.
pub(super) fn action(raw: Raw<'_>, at: &At<'_>, actions: Option<&[&str]>, sink: &mut Sink) {
    let Some(id) = fields::identifier(raw, at, sink) else { return };
    if actions.is_some_and(|actions| !actions.contains(&id.as_str())) {
        sink.at(at, Code::PackageUiTarget, format!("The package has no action {id}."));
    }
}

/// The sources of the parameters: each is a field, the selection of a table, or a literal value.
pub(super) fn parameters(
    raw: Raw<'_>,
    place: &str,
    names: &[String],
    selections: &[String],
    sink: &mut Sink,
) {
    let at = At::rendered(place);
    let Some(object) = fields::object(raw, &at, sink) else { return };
    if !fields::count(object.entries().len(), &at, sink, 0, UI_BUTTON_PARAMETERS) {
        return;
    }
    for (name, raw) in object.entries() {
        let at = at.name(name);
        // A reserved name has been reported by the walk over all names.
        if !modberth_protocol::ident::is_identifier(name) && !RESERVED.contains(&&**name) {
            fields::not_identifier(name, &at, sink);
        }
        let Some(source) = fields::object(*raw, &at, sink) else { continue };
        if let [(kind, value)] = source.entries() {
            let at = at.name(kind);
            match &**kind {
                "field" => declared(*value, &at, names, "field", sink),
                "selection" => declared(*value, &at, selections, "table with a selection", sink),
                "value" => scalar(*value, &at, sink, UI_TEXT_CHARACTERS),
                _ => {
                    sink.at(&at, Code::PackageFieldUnknown, "A source is one of field, selection and value.")
                }
            }
        } else {
            sink.bound(
                &at,
                Code::PackageCount,
                1_usize,
                source.entries().len(),
                "A source has exactly one of field, selection and value.",
            );
        }
    }
}

fn declared(raw: Raw<'_>, at: &At<'_>, names: &[String], what: &str, sink: &mut Sink) {
    if let Some(name) = super::name(raw, at, sink)
        && !names.contains(&name)
    {
        sink.at(at, Code::PackageUiTarget, format!("The ui has no {what} called {}.", shown(&name)));
    }
}
