//! The user interface of a package: a tree of components, checked in full, carried, not drawn.
//!
//! | file | what it checks |
//! |---|---|
//! | `component` | the tree: types, fields, numbers of components, depth, children, names |
//! | `data` | the own fields of components that show or edit something |
//! | `collection` | tables, options, trees |
//! | `bind` | bindings of properties to results of actions |
//! | `button` | where a button takes the parameters of its action from |

mod bind;
mod button;
mod collection;
mod component;
mod data;

use modberth_protocol::Code;
use modberth_protocol::json::{Kind, Raw};

use crate::fields::{describe, identifier, shown, text};
use crate::limits::UI_REFERENCE_CHARACTERS;
use crate::problem::{At, Sink};

/// Names that are refused everywhere in a `ui`, because drawing it happens in languages where they have a meaning.
const RESERVED: [&str; 3] = ["__proto__", "prototype", "constructor"];

/// Checks a whole `ui`. `actions` and `capabilities` are those of the package; `None` where they could not be read, and
/// then references to them are not judged.
pub(crate) fn check(
    raw: Raw<'_>,
    at: &At<'_>,
    actions: Option<&[&str]>,
    capabilities: Option<&[String]>,
    sink: &mut Sink,
) {
    reserved_names(raw, at, sink);
    component::tree(raw, at, component::Known { actions, capabilities }, sink);
}

/// Reports every object member with a reserved name, at any depth. The strict parser bounds the depth.
fn reserved_names(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) {
    match raw.kind() {
        Kind::Object => {
            for (name, value) in raw.members().into_iter().flatten() {
                let at = at.name(&name);
                if RESERVED.contains(&&*name) {
                    sink.at(&at, Code::PackageUiKey, format!("The name {name} is reserved in a ui."));
                }
                reserved_names(value, &at, sink);
            }
        }
        Kind::Array => {
            for (index, value) in raw.elements().into_iter().flatten().enumerate() {
                reserved_names(value, &at.index(index), sink);
            }
        }
        _ => {}
    }
}

/// An identifier that is not reserved.
fn name(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<String> {
    let name = identifier(raw, at, sink)?;
    if RESERVED.contains(&name.as_str()) {
        sink.at(at, Code::PackageUiKey, format!("The name {name} is reserved in a ui."));
        return None;
    }
    Some(name)
}

/// An opaque id: 1 to 128 code points, not reserved, without slash, backslash and colon.
fn reference(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<String> {
    let id = text(raw, at, sink, 1, UI_REFERENCE_CHARACTERS)?;
    if RESERVED.contains(&id.as_str()) || id.contains(['/', '\\', ':']) {
        sink.at(
            at,
            Code::PackageUiReference,
            format!(
                "A reference is an id without slash, backslash and colon, and no reserved name; found {}.",
                shown(&id)
            ),
        );
        return None;
    }
    Some(id)
}

/// A string of at most `most` code points, a finite number, a boolean or null.
fn scalar(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink, most: usize) {
    match raw.kind() {
        Kind::String => {
            text(raw, at, sink, 0, most);
        }
        Kind::Object | Kind::Array => sink.at(
            at,
            Code::PackageFieldType,
            format!("This is a string, a number, a boolean or null; found {}.", describe(raw)),
        ),
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}
