//! The tree of components.

use modberth_protocol::Code;
use modberth_protocol::json::Raw;

use super::{bind, button, data, name};
use crate::fields::{self, Object};
use crate::limits::{LABEL_CHARACTERS, UI_CHILDREN, UI_COMPONENTS, UI_DEPTH, UI_TABS};
use crate::problem::{At, Sink};
use crate::words::words;

words! {
    /// The types of components.
    pub(super) Type {
        /// Children one below the other.
        Column = "column",
        /// Children side by side.
        Row = "row",
        /// Children with a frame around them.
        Group = "group",
        /// A bar of buttons.
        Toolbar = "toolbar",
        /// A menu of buttons.
        Menu = "menu",
        /// Pages to switch between.
        Tabs = "tabs",
        /// A text.
        Text = "text",
        /// A text with a tone.
        Status = "status",
        /// Labels with values.
        Details = "details",
        /// Starts an action.
        Button = "button",
        /// Rows and columns.
        Table = "table",
        /// A field to fill in.
        Field = "field",
        /// Chooses a credential of the host.
        Credential = "credential",
        /// Chooses one option from a list.
        Select = "select",
        /// Chooses one option of a few.
        Radio = "radio",
        /// Chooses a number.
        Slider = "slider",
        /// How far something is.
        Progress = "progress",
        /// How large something is.
        Meter = "meter",
        /// Items within items.
        Tree = "tree",
        /// Chooses a page.
        Pager = "pager",
        /// Lines of text.
        Log = "log",
        /// Edits a text of the workspace.
        Editor = "editor",
        /// The time.
        Clock = "clock",
        /// Plays a recording.
        AudioPlayer = "audio-player",
        /// Edits files.
        FileEditor = "file-editor",
    }
}

impl Type {
    /// The fields of its own, beside the common ones.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Column | Self::Row | Self::Group | Self::Toolbar | Self::Menu => &["children"],
            Self::Tabs | Self::Details => &["items"],
            Self::Text => &["text"],
            Self::Status => &["text", "tone"],
            Self::Button => &["action", "parameters"],
            Self::Table => &["columns", "rows", "selection", "page_size"],
            Self::Field => &["name", "value", "input_type"],
            Self::Credential => &["name", "ref"],
            Self::Select | Self::Radio => &["name", "value", "options"],
            Self::Slider => &["name", "value", "min", "max", "step"],
            Self::Progress => &["value", "max"],
            Self::Meter => &["value", "min", "max"],
            Self::Tree => &["name", "items", "value"],
            Self::Pager => &["name", "page", "total"],
            Self::Log => &["lines"],
            Self::Editor => &["ref", "value"],
            Self::Clock => &["timezone"],
            Self::AudioPlayer => &["ref"],
            Self::FileEditor => &[],
        }
    }

    /// The fields of its own that a package cannot leave out.
    fn required(self) -> &'static [&'static str] {
        match self {
            Self::Button => &["action"],
            Self::Field | Self::Select | Self::Radio | Self::Tree | Self::Pager => &["name"],
            Self::Credential => &["name", "ref"],
            Self::Slider => &["name", "step"],
            Self::Table => &["columns"],
            Self::Tabs => &["items"],
            Self::FileEditor => &["id"],
            _ => &[],
        }
    }

    /// The capabilities that the package must declare to use it.
    fn capabilities(self) -> &'static [&'static str] {
        match self {
            Self::FileEditor => &["workspace:read", "files:read"],
            Self::Editor => &["workspace:read", "workspace:write"],
            Self::AudioPlayer => &["workspace:read", "workspace:write", "audio:playback"],
            _ => &[],
        }
    }
}

const COMMON: [&str; 6] = ["id", "label", "disabled", "state", "message", "bind"];
const STATES: [(&str, ()); 5] = [("ready", ()), ("loading", ()), ("empty", ()), ("stale", ()), ("error", ())];
const ROOTS: [Type; 4] = [Type::Column, Type::Row, Type::Group, Type::Tabs];

/// What the package declares outside its `ui`; `None` where that could not be read.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) actions: Option<&'k [&'k str]>,
    pub(super) capabilities: Option<&'k [String]>,
}

/// What has been found so far on the walk through the tree.
struct Walk<'a, 'k> {
    known: Known<'k>,
    components: usize,
    ids: Vec<String>,
    names: Vec<String>,
    selections: Vec<String>,
    /// The parameters of every button with their places; judged last, as a button may stand before its fields.
    buttons: Vec<(String, Raw<'a>)>,
}

/// Checks the tree, then the parameters of its buttons.
pub(super) fn tree(raw: Raw<'_>, at: &At<'_>, known: Known<'_>, sink: &mut Sink) {
    let mut walk = Walk {
        known,
        components: 0,
        ids: Vec::new(),
        names: Vec::new(),
        selections: Vec::new(),
        buttons: Vec::new(),
    };
    if let Some(root) = walk.component(raw, at, 0, sink)
        && !ROOTS.contains(&root)
    {
        sink.at(
            &at.name("type"),
            Code::PackageUiComponent,
            format!("The root is a column, row, group or tabs; found {root}."),
        );
    }
    for (place, parameters) in walk.buttons {
        button::parameters(parameters, &place, &walk.names, &walk.selections, sink);
    }
}

impl<'a> Walk<'a, '_> {
    /// Checks a component and what stands below it. Depth is bounded by the strict parser as well.
    fn component(&mut self, raw: Raw<'a>, at: &At<'_>, depth: usize, sink: &mut Sink) -> Option<Type> {
        self.components += 1;
        if self.components > UI_COMPONENTS {
            // Reported once; the rest of the tree is not walked.
            if self.components == UI_COMPONENTS + 1 {
                sink.bound(
                    at,
                    Code::PackageUiSize,
                    UI_COMPONENTS,
                    self.components,
                    format!("A ui has at most {UI_COMPONENTS} components; this is one more."),
                );
            }
            return None;
        }
        if depth > UI_DEPTH {
            sink.bound(
                at,
                Code::PackageUiSize,
                UI_DEPTH,
                depth,
                format!("A component stands at depth {UI_DEPTH} at most; this one is at {depth}."),
            );
            return None;
        }
        let object = fields::object(raw, at, sink)?;
        let kind = component_type(&object, at, sink)?;
        let optional: Vec<_> = COMMON
            .iter()
            .chain(kind.fields())
            .filter(|field| !kind.required().contains(field))
            .copied()
            .collect();
        let required: Vec<_> = std::iter::once("type").chain(kind.required().iter().copied()).collect();
        object.expect(at, sink, &required, &optional);
        self.needs(kind, at, sink);
        self.common(kind, &object, at, sink);
        self.own(kind, &object, at, depth, sink);
        Some(kind)
    }

    fn needs(&self, kind: Type, at: &At<'_>, sink: &mut Sink) {
        let Some(declared) = self.known.capabilities else { return };
        let missing: Vec<_> = kind
            .capabilities()
            .iter()
            .filter(|needed| !declared.iter().any(|name| name == *needed))
            .copied()
            .collect();
        if !missing.is_empty() {
            sink.at(
                at,
                Code::PackageCapabilityUndeclared,
                format!("A {kind} needs {}, which the package does not declare.", missing.join(" and ")),
            );
        }
    }

    fn common(&mut self, kind: Type, object: &Object<'a>, at: &At<'_>, sink: &mut Sink) {
        if let Some(raw) = object.get("id") {
            unique(raw, &at.name("id"), &mut self.ids, "component", sink);
        }
        if kind.fields().contains(&"name")
            && let Some(raw) = object.get("name")
        {
            unique(raw, &at.name("name"), &mut self.names, "field", sink);
        }
        for field in ["label", "message"] {
            if let Some(raw) = object.get(field) {
                fields::text(raw, &at.name(field), sink, 0, LABEL_CHARACTERS);
            }
        }
        if let Some(raw) = object.get("disabled") {
            fields::boolean(raw, &at.name("disabled"), sink);
        }
        if let Some(raw) = object.get("state") {
            fields::word(raw, &at.name("state"), sink, &STATES);
        }
        if let Some(raw) = object.get("bind") {
            bind::check(raw, &at.name("bind"), kind, self.known.actions, sink);
        }
    }

    fn own(&mut self, kind: Type, object: &Object<'a>, at: &At<'_>, depth: usize, sink: &mut Sink) {
        match kind {
            Type::Column | Type::Row | Type::Group | Type::Toolbar | Type::Menu => {
                if let Some(raw) = object.get("children") {
                    self.children(raw, &at.name("children"), depth, sink);
                }
            }
            Type::Tabs => {
                if let Some(raw) = object.get("items") {
                    self.tabs(raw, &at.name("items"), depth, sink);
                }
            }
            Type::Button => {
                if let Some(raw) = object.get("action") {
                    button::action(raw, &at.name("action"), self.known.actions, sink);
                }
                if let Some(raw) = object.get("parameters") {
                    self.buttons.push((at.name("parameters").to_string(), raw));
                }
            }
            _ => {
                data::check(kind, object, at, sink);
                if kind == Type::Table
                    && object.get("selection").and_then(|raw| raw.as_str()).is_some_and(|word| word != "none")
                    && let Some(id) = object.get("id").and_then(|raw| raw.as_str())
                {
                    self.selections.push(id.into_owned());
                }
            }
        }
    }

    fn children(&mut self, raw: Raw<'a>, at: &At<'_>, depth: usize, sink: &mut Sink) {
        for (index, child) in
            fields::list(raw, at, sink, 0, UI_CHILDREN).unwrap_or_default().into_iter().enumerate()
        {
            self.component(child, &at.index(index), depth + 1, sink);
        }
    }

    fn tabs(&mut self, raw: Raw<'a>, at: &At<'_>, depth: usize, sink: &mut Sink) {
        let mut ids = Vec::new();
        for (index, raw) in
            fields::list(raw, at, sink, 1, UI_TABS).unwrap_or_default().into_iter().enumerate()
        {
            let at = at.index(index);
            let Some(tab) = fields::object(raw, &at, sink) else { continue };
            tab.expect(&at, sink, &["id", "label", "children"], &[]);
            if let Some(raw) = tab.get("id") {
                unique(raw, &at.name("id"), &mut ids, "tab", sink);
            }
            if let Some(raw) = tab.get("label") {
                fields::text(raw, &at.name("label"), sink, 0, LABEL_CHARACTERS);
            }
            if let Some(raw) = tab.get("children") {
                self.children(raw, &at.name("children"), depth, sink);
            }
        }
    }
}

fn component_type(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Type> {
    let at = at.name("type");
    let Some(raw) = object.get("type") else {
        sink.at(&at, Code::PackageFieldMissing, "This field is required.");
        return None;
    };
    let word = fields::text(raw, &at, sink, 0, LABEL_CHARACTERS)?;
    let kind = Type::WORDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
    if kind.is_none() {
        sink.at(
            &at,
            Code::PackageUiComponent,
            format!("There is no component of type {}.", fields::shown(&word)),
        );
    }
    kind
}

/// A name that no other of its kind has.
pub(super) fn unique(raw: Raw<'_>, at: &At<'_>, others: &mut Vec<String>, what: &str, sink: &mut Sink) {
    if let Some(found) = name(raw, at, sink) {
        if others.contains(&found) {
            sink.at(at, Code::PackageDuplicate, format!("Another {what} is called {found} as well."));
        } else {
            others.push(found);
        }
    }
}
