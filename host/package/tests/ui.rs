//! Every rule of the user interface.

mod support;

use serde_json::{Value, json};
use support::{bad, good, one, one_bound, places, text};

/// A manifest with this one component in its root column, and capabilities for every component.
fn with(m: &mut Value, component: Value) {
    m["capabilities"] =
        json!(["workspace:read", "workspace:write", "files:read", "audio:playback", "system:read"]);
    m["ui"] = json!({"type": "column", "children": [component]});
}

#[track_caller]
fn accepted(component: Value) {
    good(|m| with(m, component));
}

/// The component gives this one problem at this place below it.
#[track_caller]
fn refused(code: &str, below: &str, component: Value) {
    let place = match below {
        "" => "ui.children[0]".to_owned(),
        below => format!("ui.children[0].{below}"),
    };
    one(code, &place, |m| with(m, component));
}

#[track_caller]
fn refused_bound(code: &str, below: &str, limit: u64, actual: u64, component: Value) {
    one_bound(code, &format!("ui.children[0].{below}"), limit, actual, |m| with(m, component));
}

fn many(count: usize, make: impl Fn(usize) -> Value) -> Value {
    (0..count).map(make).collect()
}

#[test]
fn every_type_of_component_with_all_its_fields() {
    for component in [
        json!({"type": "row", "children": []}),
        json!({"type": "group", "label": "x"}),
        json!({"type": "toolbar", "children": [{"type": "button", "action": "echo"}]}),
        json!({"type": "menu", "children": []}),
        json!({"type": "tabs", "items": [{"id": "a", "label": "A", "children": []}]}),
        json!({"type": "text", "text": "x"}),
        json!({"type": "text"}),
        json!({"type": "status", "text": "x", "tone": "good"}),
        json!({"type": "details", "items": [{"label": "a", "value": null}, {"label": "", "value": 1.5}]}),
        json!({"type": "table", "id": "t", "columns": [{"id": "c", "label": "C"}],
               "rows": [{"id": "r 1", "values": {"c": true}}], "selection": "multiple", "page_size": 128}),
        json!({"type": "field", "name": "f", "value": "x", "input_type": "text"}),
        json!({"type": "field", "name": "f"}),
        json!({"type": "field", "name": "f", "value": 1.5, "input_type": "number"}),
        json!({"type": "field", "name": "f", "value": false, "input_type": "checkbox"}),
        json!({"type": "credential", "name": "f", "ref": "hostcredential-1"}),
        json!({"type": "select", "name": "f", "value": "a", "options": [{"id": "a", "label": "A", "disabled": true}]}),
        json!({"type": "radio", "name": "f", "value": ""}),
        json!({"type": "slider", "name": "f", "value": 5, "min": 0, "max": 10, "step": 0.5}),
        json!({"type": "progress", "value": 1, "max": 3}),
        json!({"type": "meter", "value": -1, "min": -2, "max": 3}),
        json!({"type": "tree", "name": "f", "value": "b",
               "items": [{"id": "a", "label": "A", "children": [{"id": "b", "label": "B"}]}]}),
        json!({"type": "pager", "name": "f", "page": 128, "total": 128}),
        json!({"type": "log", "lines": ["x", ""]}),
        json!({"type": "editor", "ref": "x", "value": "y"}),
        json!({"type": "clock", "timezone": "UTC"}),
        json!({"type": "audio-player", "ref": "x"}),
        json!({"type": "file-editor", "id": "e"}),
    ] {
        accepted(component);
    }
}

#[test]
fn fields_that_do_not_belong_are_refused() {
    for (component, field) in [
        (json!({"type": "row", "items": []}), "items"),
        (json!({"type": "text", "children": []}), "children"),
        (json!({"type": "progress", "min": 1}), "min"),
        (json!({"type": "text", "name": "x"}), "name"),
        (json!({"type": "clock", "color": "x"}), "color"),
    ] {
        refused("package.field_unknown", field, component);
    }
    refused("package.field_missing", "type", json!({}));
    refused("package.ui_component", "type", json!({"type": "canvas"}));
    refused("package.field_type", "type", json!({"type": 1}));
    refused("package.field_type", "", json!("text"));
}

#[test]
fn fields_that_a_component_needs() {
    for (component, field) in [
        (json!({"type": "tabs"}), "items"),
        (json!({"type": "button"}), "action"),
        (json!({"type": "table"}), "columns"),
        (json!({"type": "field"}), "name"),
        (json!({"type": "credential", "name": "x"}), "ref"),
        (json!({"type": "select"}), "name"),
        (json!({"type": "slider", "name": "x"}), "step"),
        (json!({"type": "file-editor"}), "id"),
    ] {
        refused("package.field_missing", field, component);
    }
}

#[test]
fn the_root_is_a_container() {
    for root in ["column", "row", "group"] {
        good(|m| m["ui"] = json!({"type": root}));
    }
    good(|m| m["ui"] = json!({"type": "tabs", "items": [{"id": "a", "label": "", "children": []}]}));
    for root in ["toolbar", "menu", "text", "clock"] {
        one("package.ui_component", "ui.type", |m| m["ui"] = json!({"type": root}));
    }
    one("package.field_type", "ui", |m| m["ui"] = json!([]));
}

#[test]
fn common_fields() {
    accepted(json!({"type": "text", "id": "a", "label": text(160), "disabled": true, "state": "stale",
                    "message": text(160), "bind": {}}));
    for state in ["ready", "loading", "empty", "stale", "error"] {
        accepted(json!({"type": "text", "state": state}));
    }
    refused("package.choice", "state", json!({"type": "text", "state": "busy"}));
    refused("package.field_type", "disabled", json!({"type": "text", "disabled": 1}));
    refused_bound("package.text_length", "label", 160, 161, json!({"type": "text", "label": text(161)}));
    refused_bound("package.text_length", "message", 160, 161, json!({"type": "text", "message": text(161)}));
    refused("package.identifier", "id", json!({"type": "text", "id": "A"}));
}

#[test]
fn ids_and_names_are_unique() {
    one("package.duplicate", "ui.children[1].id", |m| {
        m["ui"]["children"] = json!([{"type": "text", "id": "a"}, {"type": "text", "id": "a"}]);
    });
    one("package.duplicate", "ui.children[1].name", |m| {
        m["ui"]["children"] = json!([{"type": "field", "name": "a"}, {"type": "pager", "name": "a"}]);
    });
    good(|m| {
        m["ui"]["children"] = json!([{"type": "field", "name": "a", "id": "a"}, {"type": "text", "id": "b"}])
    });
}

#[test]
fn reserved_names_are_refused_everywhere() {
    for name in ["prototype", "constructor"] {
        refused("package.ui_key", "id", json!({"type": "text", "id": name}));
        refused("package.ui_key", "name", json!({"type": "field", "name": name}));
    }
    // As a key it is reserved and unknown at once.
    let problems = bad(|m| with(m, json!({"type": "text", "__proto__": 1})));
    assert_eq!(
        places(&problems),
        [
            ("package.ui_key", "ui.children[0].__proto__"),
            ("package.field_unknown", "ui.children[0].__proto__")
        ]
    );
    refused(
        "package.ui_key",
        "bind.text.path[0]",
        json!({"type": "text", "bind": {"text": {"action": "echo", "path": ["constructor"]}}}),
    );
}

#[test]
fn at_most_128_components() {
    let rows = |count: usize| {
        many(
            4,
            move |row| json!({"type": "row", "children": many(if row == 3 { count } else { 31 }, |_| json!({"type": "text"}))}),
        )
    };
    // A root, four rows, three times 31 texts and the rest.
    good(|m| m["ui"]["children"] = rows(30));
    one_bound("package.ui_size", "ui.children[3].children[30]", 128, 129, |m| m["ui"]["children"] = rows(31));
    one_bound("package.count", "ui.children", 32, 33, |m| {
        m["ui"]["children"] = many(33, |_| json!({"type": "text"}));
    });
    let crowded = |m: &mut Value| {
        m["ui"]["children"] =
            many(4, |_| json!({"type": "row", "children": many(32, |_| json!({"type": "text"}))}));
    };
    one_bound("package.ui_size", "ui.children[3].children[27]", 128, 129, crowded);
}

#[test]
fn depth_is_bounded_by_the_json_profile_first() {
    fn nested(levels: usize) -> Value {
        match levels {
            0 => json!({"type": "text"}),
            _ => json!({"type": "column", "children": [nested(levels - 1)]}),
        }
    }
    // Value depth of the innermost component: 1 + 2 * levels; its type one deeper; 12 is the deepest.
    good(|m| m["ui"] = nested(5));
    let problem = bad(|m| m["ui"] = nested(6)).remove(0);
    assert_eq!(problem.code.as_str(), "json.depth");
}

#[test]
fn tabs() {
    let tab = |i: usize| json!({"id": format!("t{i}"), "label": "T", "children": []});
    accepted(json!({"type": "tabs", "items": many(16, tab)}));
    refused_bound("package.count", "items", 16, 17, json!({"type": "tabs", "items": many(17, tab)}));
    refused_bound("package.count", "items", 1, 0, json!({"type": "tabs", "items": []}));
    refused("package.duplicate", "items[1].id", json!({"type": "tabs", "items": [tab(0), tab(0)]}));
    refused(
        "package.field_missing",
        "items[0].children",
        json!({"type": "tabs", "items": [{"id": "a", "label": ""}]}),
    );
    refused("package.field_unknown", "items[0].x", {
        let mut tab = tab(0);
        tab["x"] = json!(1);
        json!({"type": "tabs", "items": [tab]})
    });
    refused("package.ui_component", "items[0].children[0].type", {
        let mut tab = tab(0);
        tab["children"] = json!([{"type": "x"}]);
        json!({"type": "tabs", "items": [tab]})
    });
}

#[test]
fn texts_and_tones() {
    accepted(json!({"type": "text", "text": text(8192)}));
    refused_bound("package.text_length", "text", 8192, 8193, json!({"type": "text", "text": text(8193)}));
    for tone in ["neutral", "good", "warning", "error"] {
        accepted(json!({"type": "status", "tone": tone}));
    }
    refused("package.choice", "tone", json!({"type": "status", "tone": "bad"}));
    refused("package.field_unknown", "tone", json!({"type": "text", "tone": "good"}));
}

#[test]
fn details() {
    let item = |_| json!({"label": "x", "value": "y"});
    accepted(json!({"type": "details", "items": many(64, item)}));
    refused_bound("package.count", "items", 64, 65, json!({"type": "details", "items": many(65, item)}));
    refused(
        "package.field_type",
        "items[0].value",
        json!({"type": "details", "items": [{"label": "", "value": []}]}),
    );
    refused_bound(
        "package.text_length",
        "items[0].value",
        4096,
        4097,
        json!({"type": "details", "items": [{"label": "", "value": text(4097)}]}),
    );
    refused_bound(
        "package.text_length",
        "items[0].label",
        160,
        161,
        json!({"type": "details", "items": [{"label": text(161), "value": 1}]}),
    );
}

fn table(edit: impl FnOnce(&mut Value)) -> Value {
    let mut table = json!({"type": "table", "columns": [{"id": "c", "label": "C"}]});
    edit(&mut table);
    table
}

#[test]
fn tables() {
    let column = |i: usize| json!({"id": format!("c{i}"), "label": ""});
    accepted(json!({"type": "table", "columns": many(32, column)}));
    refused_bound("package.count", "columns", 32, 33, json!({"type": "table", "columns": many(33, column)}));
    refused_bound("package.count", "columns", 1, 0, json!({"type": "table", "columns": []}));
    refused(
        "package.duplicate",
        "columns[1].id",
        json!({"type": "table", "columns": [column(0), column(0)]}),
    );

    let row = |i: usize| json!({"id": format!("r{i}"), "values": {}});
    accepted(table(|t| t["rows"] = many(128, row)));
    refused_bound("package.count", "rows", 128, 129, table(|t| t["rows"] = many(129, row)));
    refused("package.duplicate", "rows[1].id", table(|t| t["rows"] = json!([row(0), row(0)])));
    for id in ["a/b", "a\\b", "a:b", "__proto__"] {
        refused(
            "package.ui_reference",
            "rows[0].id",
            table(|t| t["rows"] = json!([{"id": id, "values": {}}])),
        );
    }
    accepted(table(|t| t["rows"] = json!([{"id": text(128), "values": {"c": text(4096)}}])));
    refused_bound(
        "package.text_length",
        "rows[0].id",
        128,
        129,
        table(|t| t["rows"] = json!([{"id": text(129), "values": {}}])),
    );
    refused(
        "package.ui_target",
        "rows[0].values.d",
        table(|t| t["rows"] = json!([{"id": "r", "values": {"d": 1}}])),
    );
    refused_bound(
        "package.text_length",
        "rows[0].values.c",
        4096,
        4097,
        table(|t| t["rows"] = json!([{"id": "r", "values": {"c": text(4097)}}])),
    );
    refused(
        "package.field_type",
        "rows[0].values.c",
        table(|t| t["rows"] = json!([{"id": "r", "values": {"c": {}}}])),
    );

    refused("package.choice", "selection", table(|t| t["selection"] = json!("all")));
    refused("package.field_missing", "id", table(|t| t["selection"] = json!("single")));
    accepted(table(|t| t["selection"] = json!("none")));
    refused_bound("package.number", "page_size", 128, 129, table(|t| t["page_size"] = json!(129)));
    refused_bound("package.number", "page_size", 1, 0, table(|t| t["page_size"] = json!(0)));
    refused("package.field_type", "page_size", table(|t| t["page_size"] = json!(16.0)));
}

#[test]
fn fields() {
    refused("package.choice", "input_type", json!({"type": "field", "name": "f", "input_type": "date"}));
    refused_bound(
        "package.text_length",
        "value",
        8192,
        8193,
        json!({"type": "field", "name": "f", "value": text(8193)}),
    );
    refused("package.field_type", "value", json!({"type": "field", "name": "f", "value": 1}));
    for (input, value) in [("number", json!("1")), ("checkbox", json!(1)), ("number", json!(true))] {
        refused(
            "package.ui_value",
            "value",
            json!({"type": "field", "name": "f", "input_type": input, "value": value}),
        );
    }
    // A number and a checkbox have no value that stands for none.
    refused("package.ui_value", "value", json!({"type": "field", "name": "f", "input_type": "number"}));
    refused("package.ui_value", "value", json!({"type": "field", "name": "f", "input_type": "checkbox"}));
}

#[test]
fn credentials_and_references() {
    refused("package.ui_reference", "ref", json!({"type": "credential", "name": "f", "ref": "credential-1"}));
    refused(
        "package.ui_reference",
        "ref",
        json!({"type": "credential", "name": "f", "ref": "hostcredential-/"}),
    );
    refused("package.ui_reference", "ref", json!({"type": "editor", "ref": "a/b"}));
    refused("package.ui_reference", "ref", json!({"type": "audio-player", "ref": "a:b"}));
    refused_bound("package.text_length", "ref", 1, 0, json!({"type": "editor", "ref": ""}));
    accepted(json!({"type": "editor", "value": text(16384)}));
    refused_bound(
        "package.text_length",
        "timezone",
        128,
        129,
        json!({"type": "clock", "timezone": text(129)}),
    );
}

#[test]
fn options() {
    let option = |i: usize| json!({"id": format!("o{i}"), "label": "O"});
    for kind in ["select", "radio"] {
        accepted(json!({"type": kind, "name": "f", "options": many(64, option)}));
        refused_bound(
            "package.count",
            "options",
            64,
            65,
            json!({"type": kind, "name": "f", "options": many(65, option)}),
        );
        refused(
            "package.duplicate",
            "options[1].id",
            json!({"type": kind, "name": "f", "options": [option(0), option(0)]}),
        );
        refused(
            "package.ui_target",
            "value",
            json!({"type": kind, "name": "f", "value": "x", "options": [option(0)]}),
        );
        refused("package.field_type", "options[0].disabled", {
            json!({"type": kind, "name": "f", "options": [{"id": "a", "label": "", "disabled": "no"}]})
        });
    }
}

#[test]
fn gauges() {
    for (component, place) in [
        (json!({"type": "progress", "value": 101}), "value"),
        (json!({"type": "progress", "value": -1}), "value"),
        (json!({"type": "progress", "max": 0}), "max"),
        (json!({"type": "meter", "min": 5, "max": 5, "value": 5}), "max"),
        (json!({"type": "slider", "name": "f", "step": 0}), "step"),
        (json!({"type": "slider", "name": "f", "step": -1}), "step"),
        (json!({"type": "slider", "name": "f", "step": 1, "min": 50, "value": 10}), "value"),
    ] {
        refused("package.ui_value", place, component);
    }
    refused("package.field_type", "value", json!({"type": "meter", "value": "5"}));
    refused("package.field_type", "max", json!({"type": "meter", "max": true}));
}

#[test]
fn pagers() {
    refused_bound("package.ui_value", "page", 1, 2, json!({"type": "pager", "name": "f", "page": 2}));
    refused_bound("package.number", "total", 128, 129, json!({"type": "pager", "name": "f", "total": 129}));
    refused_bound("package.number", "page", 1, 0, json!({"type": "pager", "name": "f", "page": 0}));
    refused("package.field_type", "page", json!({"type": "pager", "name": "f", "page": 1.0}));
}

#[test]
fn logs() {
    accepted(json!({"type": "log", "lines": [text(2048)]}));
    refused_bound(
        "package.text_length",
        "lines[0]",
        2048,
        2049,
        json!({"type": "log", "lines": [text(2049)]}),
    );
    accepted(json!({"type": "log", "lines": many(128, |_| json!(""))}));
    refused_bound(
        "package.count",
        "lines",
        128,
        129,
        json!({"type": "log", "lines": many(129, |_| json!(""))}),
    );
}

#[test]
fn trees() {
    let item = |i: usize| json!({"id": format!("i{i}"), "label": ""});
    accepted(json!({"type": "tree", "name": "f", "items": many(128, item)}));
    refused_bound(
        "package.count",
        "items",
        128,
        129,
        json!({"type": "tree", "name": "f", "items": many(129, item)}),
    );
    let split = json!([
        {"id": "a", "label": "", "children": many(100, |i| json!({"id": format!("a{i}"), "label": ""}))},
        {"id": "b", "label": "", "children": many(27, |i| json!({"id": format!("b{i}"), "label": ""}))}
    ]);
    refused_bound(
        "package.ui_size",
        "items[1].children[26]",
        128,
        129,
        json!({"type": "tree", "name": "f", "items": split}),
    );
    refused("package.duplicate", "items[0].children[0].id", {
        json!({"type": "tree", "name": "f", "items": [{"id": "a", "label": "", "children": [{"id": "a", "label": ""}]}]})
    });
    refused(
        "package.ui_target",
        "value",
        json!({"type": "tree", "name": "f", "items": [item(0)], "value": "x"}),
    );
}

#[test]
fn components_need_capabilities() {
    for (component, needed) in [
        (json!({"type": "file-editor", "id": "e"}), ["workspace:read", "files:read"].as_slice()),
        (json!({"type": "editor"}), &["workspace:read", "workspace:write"]),
        (json!({"type": "audio-player"}), &["workspace:read", "workspace:write", "audio:playback"]),
    ] {
        for missing in needed {
            let problem = one("package.capability_undeclared", "ui.children[0]", |m| {
                with(m, component.clone());
                m["capabilities"].as_array_mut().unwrap().retain(|name| name != missing);
            });
            assert!(problem.message.contains(missing), "{problem}");
        }
    }
}

#[test]
fn bindings() {
    let bind = |kind: &str, property: &str, path: Value| {
        let mut component = json!({"type": kind, "bind": {property: {"action": "echo", "path": path}}});
        match kind {
            "table" => component["columns"] = json!([{"id": "c", "label": ""}]),
            "field" | "select" | "radio" | "tree" | "pager" => component["name"] = json!("f"),
            "slider" => (component["name"], component["step"]) = (json!("f"), json!(1)),
            _ => {}
        }
        component
    };
    let path = || json!(["results", 0, "data", "é", 255]);
    for (kind, properties) in [
        ("text", ["text"].as_slice()),
        ("status", &["text", "tone"]),
        ("details", &["items"]),
        ("table", &["rows"]),
        ("field", &["value"]),
        ("select", &["value", "options"]),
        ("radio", &["value", "options"]),
        ("slider", &["value"]),
        ("progress", &["value"]),
        ("meter", &["value"]),
        ("tree", &["items", "value"]),
        ("pager", &["page", "total"]),
        ("log", &["lines"]),
        ("clock", &[]),
    ] {
        for property in properties.iter().chain(&["state", "message", "disabled"]) {
            accepted(bind(kind, property, path()));
        }
        refused("package.ui_bind", "bind.label", bind(kind, "label", path()));
    }
    refused("package.ui_bind", "bind.max", bind("progress", "max", path()));
    refused_bound("package.count", "bind.text.path", 1, 0, bind("text", "text", json!([])));
    accepted(bind("text", "text", json!(["a", "b", "c", "d", "e", "f", "g", "h"])));
    refused_bound(
        "package.count",
        "bind.text.path",
        8,
        9,
        bind("text", "text", json!(["a", "b", "c", "d", "e", "f", "g", "h", "i"])),
    );
    for wrong in [json!(256), json!(-1), json!(1.0), json!(true), json!(null), json!([])] {
        refused("package.ui_bind", "bind.text.path[0]", bind("text", "text", json!([wrong])));
    }
    refused_bound(
        "package.text_length",
        "bind.text.path[0]",
        96,
        97,
        bind("text", "text", json!([text(97)])),
    );
    refused_bound("package.text_length", "bind.text.path[0]", 1, 0, bind("text", "text", json!([""])));
    refused(
        "package.ui_target",
        "bind.text.action",
        json!({"type": "text", "bind": {"text": {"action": "other", "path": ["a"]}}}),
    );
    refused(
        "package.field_missing",
        "bind.text.path",
        json!({"type": "text", "bind": {"text": {"action": "echo"}}}),
    );
    refused("package.field_type", "bind", json!({"type": "text", "bind": []}));
}

fn button(parameters: Value) -> Value {
    json!({"type": "row", "children": [
        {"type": "button", "action": "echo", "parameters": parameters},
        {"type": "field", "name": "f"},
        {"type": "table", "id": "t", "columns": [{"id": "c", "label": ""}], "selection": "single"},
        {"type": "table", "id": "u", "columns": [{"id": "c", "label": ""}]}
    ]})
}

#[test]
fn buttons_take_parameters_from_what_exists() {
    accepted(button(
        json!({"a": {"field": "f"}, "b": {"selection": "t"}, "c": {"value": text(8192)}, "d": {"value": null}}),
    ));
    let place = |below: &str| format!("children[0].parameters.{below}");
    refused("package.ui_target", &place("a.field"), button(json!({"a": {"field": "g"}})));
    refused("package.ui_target", &place("a.selection"), button(json!({"a": {"selection": "x"}})));
    // A table without a selection has none to give.
    refused("package.ui_target", &place("a.selection"), button(json!({"a": {"selection": "u"}})));
    refused("package.field_unknown", &place("a.target"), button(json!({"a": {"target": "f"}})));
    refused_bound("package.count", &place("a"), 1, 2, button(json!({"a": {"field": "f", "value": 1}})));
    refused_bound("package.count", &place("a"), 1, 0, button(json!({"a": {}})));
    refused("package.field_type", &place("a"), button(json!({"a": "f"})));
    refused("package.field_type", &place("a.value"), button(json!({"a": {"value": []}})));
    refused_bound(
        "package.text_length",
        &place("a.value"),
        8192,
        8193,
        button(json!({"a": {"value": text(8193)}})),
    );
    refused("package.identifier", &place("A"), button(json!({"A": {"value": 1}})));
    refused("package.ui_key", &place("constructor"), button(json!({"constructor": {"value": 1}})));
    let sources = |count: usize| -> Value {
        (0..count).map(|i| (format!("p{i}"), json!({"value": i}))).collect::<serde_json::Map<_, _>>().into()
    };
    accepted(button(sources(32)));
    refused_bound("package.count", "children[0].parameters", 32, 33, button(sources(33)));
    refused("package.ui_target", "action", json!({"type": "button", "action": "other"}));
}
