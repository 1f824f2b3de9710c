//! Components that hold many things: tables, options, trees.

use modberth_protocol::Code;
use modberth_protocol::json::Raw;

use super::component::unique;
use super::data::chosen;
use super::{reference, scalar};
use crate::fields::{self, Object, shown};
use crate::limits::{
    LABEL_CHARACTERS, UI_CELL_CHARACTERS, UI_COLUMNS, UI_OPTIONS, UI_ROWS, UI_TREE_DEPTH, UI_TREE_ITEMS,
};
use crate::problem::{At, Sink};

const SELECTIONS: [(&str, bool); 3] = [("none", false), ("single", true), ("multiple", true)];

/// A label, if there is one.
fn label(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    if let Some(raw) = object.get("label") {
        fields::text(raw, &at.name("label"), sink, 0, LABEL_CHARACTERS);
    }
}

/// A reference that no other of its kind has.
fn unique_reference(raw: Raw<'_>, at: &At<'_>, others: &mut Vec<String>, what: &str, sink: &mut Sink) {
    if let Some(id) = reference(raw, at, sink) {
        if others.contains(&id) {
            sink.at(at, Code::PackageDuplicate, format!("Another {what} has the id {} as well.", shown(&id)));
        } else {
            others.push(id);
        }
    }
}

pub(super) fn table(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    let mut columns = Vec::new();
    if let Some(raw) = object.get("columns") {
        let at = at.name("columns");
        for (index, raw) in
            fields::list(raw, &at, sink, 1, UI_COLUMNS).unwrap_or_default().into_iter().enumerate()
        {
            let at = at.index(index);
            let Some(column) = fields::object(raw, &at, sink) else { continue };
            column.expect(&at, sink, &["id", "label"], &[]);
            if let Some(raw) = column.get("id") {
                unique(raw, &at.name("id"), &mut columns, "column", sink);
            }
            label(&column, &at, sink);
        }
    }
    if let Some(raw) = object.get("rows") {
        rows(raw, &at.name("rows"), &columns, sink);
    }
    if let Some(raw) = object.get("selection")
        && fields::word(raw, &at.name("selection"), sink, &SELECTIONS) == Some(true)
        && !object.has("id")
    {
        sink.at(
            &at.name("id"),
            Code::PackageFieldMissing,
            "A table with a selection needs an id, by which buttons name it.",
        );
    }
    if let Some(raw) = object.get("page_size") {
        let most = i64::try_from(UI_ROWS).unwrap_or(i64::MAX);
        fields::integer(raw, &at.name("page_size"), sink, 1, most);
    }
}

fn rows(raw: Raw<'_>, at: &At<'_>, columns: &[String], sink: &mut Sink) {
    let mut ids = Vec::new();
    for (index, raw) in fields::list(raw, at, sink, 0, UI_ROWS).unwrap_or_default().into_iter().enumerate() {
        let at = at.index(index);
        let Some(row) = fields::object(raw, &at, sink) else { continue };
        row.expect(&at, sink, &["id", "values"], &[]);
        if let Some(raw) = row.get("id") {
            unique_reference(raw, &at.name("id"), &mut ids, "row", sink);
        }
        let at = at.name("values");
        let Some(values) = row.get("values").and_then(|raw| fields::object(raw, &at, sink)) else { continue };
        for (column, raw) in values.entries() {
            let at = at.name(column);
            if !columns.iter().any(|known| known == column) {
                sink.at(&at, Code::PackageUiTarget, format!("The table has no column {}.", shown(column)));
            }
            scalar(*raw, &at, sink, UI_CELL_CHARACTERS);
        }
    }
}

pub(super) fn options(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    let mut ids = Vec::new();
    if let Some(raw) = object.get("options") {
        let at = at.name("options");
        for (index, raw) in
            fields::list(raw, &at, sink, 0, UI_OPTIONS).unwrap_or_default().into_iter().enumerate()
        {
            let at = at.index(index);
            let Some(option) = fields::object(raw, &at, sink) else { continue };
            option.expect(&at, sink, &["id", "label"], &["disabled"]);
            if let Some(raw) = option.get("id") {
                unique_reference(raw, &at.name("id"), &mut ids, "option", sink);
            }
            label(&option, &at, sink);
            if let Some(raw) = option.get("disabled") {
                fields::boolean(raw, &at.name("disabled"), sink);
            }
        }
    }
    chosen(object.get("value"), &ids, &at.name("value"), "option", sink);
}

pub(super) fn tree(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) {
    let mut ids = Vec::new();
    if let Some(raw) = object.get("items") {
        items(raw, &at.name("items"), 0, &mut ids, sink);
    }
    chosen(object.get("value"), &ids, &at.name("value"), "item", sink);
}

/// The items of one level. `depth` counts the levels above it.
fn items(raw: Raw<'_>, at: &At<'_>, depth: usize, ids: &mut Vec<String>, sink: &mut Sink) {
    if depth > UI_TREE_DEPTH {
        sink.bound(
            at,
            Code::PackageUiSize,
            UI_TREE_DEPTH,
            depth,
            format!("A level of a tree stands at depth {UI_TREE_DEPTH} at most; this one is at {depth}."),
        );
        return;
    }
    for (index, raw) in
        fields::list(raw, at, sink, 0, UI_TREE_ITEMS).unwrap_or_default().into_iter().enumerate()
    {
        let at = at.index(index);
        let Some(item) = fields::object(raw, &at, sink) else { continue };
        item.expect(&at, sink, &["id", "label"], &["children"]);
        if ids.len() == UI_TREE_ITEMS {
            sink.bound(
                &at,
                Code::PackageUiSize,
                UI_TREE_ITEMS,
                UI_TREE_ITEMS + 1,
                format!("A tree has at most {UI_TREE_ITEMS} items; this is one more."),
            );
            return;
        }
        if let Some(raw) = item.get("id") {
            unique_reference(raw, &at.name("id"), ids, "item", sink);
        }
        label(&item, &at, sink);
        if let Some(raw) = item.get("children") {
            items(raw, &at.name("children"), depth + 1, ids, sink);
        }
    }
}
