//! The actions of a package.

use modberth_protocol::Code;
use modberth_protocol::json::Raw;

use crate::fields;
use crate::limits::{ACTIONS, LABEL_CHARACTERS};
use crate::parameters::Schema;
use crate::problem::{At, Sink};

/// One action of a package.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Action {
    /// Its identifier, unique in the package.
    pub id: String,
    /// Its name for people, 0 to 160 code points.
    pub label: Option<String>,
    /// The parameters it takes.
    pub parameters: Schema,
    /// The capabilities it needs: a part of those of the package.
    pub capabilities: Vec<String>,
}

pub(super) fn read(
    raw: Raw<'_>,
    at: &At<'_>,
    capabilities: Option<&[String]>,
    sink: &mut Sink,
) -> Option<Vec<Action>> {
    let list = fields::list(raw, at, sink, 0, ACTIONS)?;
    let mut actions: Vec<Action> = Vec::with_capacity(list.len());
    let mut complete = true;
    for (index, raw) in list.into_iter().enumerate() {
        let at = at.index(index);
        let Some(action) = action(raw, &at, capabilities, sink) else {
            complete = false;
            continue;
        };
        if actions.iter().any(|other| other.id == action.id) {
            sink.at(
                &at.name("id"),
                Code::PackageDuplicate,
                format!("Another action is called {} as well.", action.id),
            );
        }
        actions.push(action);
    }
    complete.then_some(actions)
}

fn action(raw: Raw<'_>, at: &At<'_>, all: Option<&[String]>, sink: &mut Sink) -> Option<Action> {
    let object = fields::object(raw, at, sink)?;
    object.expect(at, sink, &["id", "parameters", "capabilities"], &["label"]);
    let id = object.get("id").and_then(|raw| fields::identifier(raw, &at.name("id"), sink));
    let label = match object.get("label") {
        Some(raw) => Some(fields::text(raw, &at.name("label"), sink, 0, LABEL_CHARACTERS)?),
        None => None,
    };
    let parameters = object.get("parameters").and_then(|raw| Schema::read(raw, &at.name("parameters"), sink));
    let capabilities = object
        .get("capabilities")
        .and_then(|raw| super::capability_list(raw, &at.name("capabilities"), sink));
    if let (Some(list), Some(all)) = (&capabilities, all) {
        super::undeclared(list, all, &at.name("capabilities"), sink);
    }
    Some(Action { id: id?, label, parameters: parameters?, capabilities: capabilities? })
}
