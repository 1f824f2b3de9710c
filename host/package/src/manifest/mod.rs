//! The manifest of a package: `manifest.json`, checked in full.

mod actions;
mod files;
mod runtime;

use std::collections::BTreeMap;

use modberth_protocol::json::{self, Raw, RawJson};
use modberth_protocol::{Code, Violation};

pub use actions::Action;
pub use runtime::{Architecture, Language, Process, ProcessKind, Protocol, Runtime};

use crate::digest::Digest;
use crate::fields::{self, Object};
use crate::limits::{
    CAPABILITIES, CAPABILITY_CHARACTERS, DESCRIPTION_CHARACTERS, LABEL_CHARACTERS, MANIFEST_BYTES,
    MANIFEST_NAME, VERSION_CHARACTERS,
};
use crate::problem::{At, Problems, Sink};
use crate::ui;
use crate::words::words;

words! {
    /// What a package is about.
    pub Category {
        /// Virtual machines.
        VirtualMachines = "virtual-machines",
        /// Containers.
        Containers = "containers",
        /// Administration of systems.
        SystemAdministration = "system-administration",
        /// Everything else.
        Productivity = "productivity",
    }
}

words! {
    /// The part that a package plays.
    pub Role {
        /// An ordinary module.
        Module = "module",
        /// An adapter to a provider of virtual machines. This host refuses it (P2-AUTH-07).
        ProviderAdapter = "provider-adapter",
    }
}

/// The capability that only provider adapters have.
const ADAPTER_CAPABILITY: &str = "provider:admin";

const REQUIRED: &[&str] = &[
    "format_version",
    "id",
    "version",
    "category",
    "contract_version",
    "host_api",
    "runtime",
    "capabilities",
    "dependencies",
    "actions",
    "ui",
    "files",
];
const OPTIONAL: &[&str] =
    &["display_name", "description", "publisher", "optional_capabilities", "role", "adapter"];

/// A manifest that keeps every rule of the format.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Manifest {
    /// The identifier of the package.
    pub id: String,
    /// The version: three numbers and an optional suffix.
    pub version: String,
    /// What the package is about.
    pub category: Category,
    /// The name for people, 0 to 160 code points.
    pub display_name: Option<String>,
    /// What the package does, 0 to 1,024 code points.
    pub description: Option<String>,
    /// Who made it, 0 to 160 code points. Nobody has verified this.
    pub publisher: Option<String>,
    /// How it runs.
    pub runtime: Runtime,
    /// The capabilities its actions may ask for, at most 32, without repeats.
    pub capabilities: Vec<String>,
    /// Those of `capabilities` that it can do without.
    pub optional_capabilities: Vec<String>,
    /// Its actions, at most 64, in the order of the manifest.
    pub actions: Vec<Action>,
    /// Its user interface as it stands in the manifest: checked in full, carried, not drawn.
    pub ui: RawJson,
    /// Digest of every member but the manifest. Empty in a source folder.
    pub files: BTreeMap<String, Digest>,
    json: RawJson,
}

impl Manifest {
    /// Reads and checks the bytes of `manifest.json`.
    ///
    /// The document is strict JSON of at most 65,536 bytes in the profile of the process protocols.
    ///
    /// # Errors
    /// Everything that is wrong, each with its code, its place in the document and, where there is one, the bound and
    /// the actual value. A provider adapter is refused as such (P2-AUTH-07).
    pub fn parse(bytes: &[u8]) -> Result<Self, Problems> {
        if bytes.len() > MANIFEST_BYTES {
            return Err(Violation::new(
                Code::PackageManifestTooLarge,
                format!("manifest.json has at most {MANIFEST_BYTES} bytes; found {}.", bytes.len()),
            )
            .file(MANIFEST_NAME)
            .limit(MANIFEST_BYTES)
            .actual(bytes.len())
            .into());
        }
        let raw = json::parse(bytes, &json::Profile::PROCESS).map_err(|fault| fault.file(MANIFEST_NAME))?;
        let mut sink = Sink::new(MANIFEST_NAME);
        let manifest = read(raw, &mut sink);
        sink.finish(manifest)
    }

    /// The action of this id.
    #[must_use]
    pub fn action(&self, id: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.id == id)
    }

    /// The action of this id, or the refusal that lists the actions there are (P1-HOST-15).
    ///
    /// # Errors
    /// `request.action`.
    pub fn require_action(&self, id: &str) -> Result<&Action, Violation> {
        self.action(id).ok_or_else(|| {
            let known: Vec<_> = self.actions.iter().map(|action| action.id.as_str()).collect();
            let known = if known.is_empty() { "it has none".to_owned() } else { known.join(", ") };
            Violation::new(
                Code::RequestAction,
                format!("{} has no action {}; its actions: {known}.", self.id, fields::shown(id)),
            )
            .path("action")
        })
    }

    /// The whole document as it was read.
    #[must_use]
    pub fn json(&self) -> &RawJson {
        &self.json
    }

    /// The name of the archive: `ID-VERSION.ficc-module.zip`.
    #[must_use]
    pub fn archive_name(&self) -> String {
        format!("{}-{}{}", self.id, self.version, crate::limits::ARCHIVE_SUFFIX)
    }
}

fn read(raw: Raw<'_>, sink: &mut Sink) -> Option<Manifest> {
    let root = At::ROOT;
    let object = fields::object(raw, &root, sink)?;
    let adapter = role(&object, sink) == Some(Role::ProviderAdapter);
    object.expect(&root, sink, REQUIRED, OPTIONAL);
    for name in ["format_version", "contract_version", "host_api"] {
        if let Some(value) = object.get(name) {
            fields::fixed_integer(value, &root.name(name), sink, 1);
        }
    }
    let id = object.get("id").and_then(|raw| fields::identifier(raw, &root.name("id"), sink));
    let version = object.get("version").and_then(|raw| version(raw, &root.name("version"), sink));
    let category = object
        .get("category")
        .and_then(|raw| fields::word(raw, &root.name("category"), sink, Category::WORDS));
    let display_name = label(&object, "display_name", LABEL_CHARACTERS, sink);
    let description = label(&object, "description", DESCRIPTION_CHARACTERS, sink);
    let publisher = label(&object, "publisher", LABEL_CHARACTERS, sink);
    let runtime = object.get("runtime").and_then(|raw| runtime::read(raw, &root.name("runtime"), sink));
    if let Some(raw) = object.get("dependencies") {
        no_dependencies(raw, &root.name("dependencies"), sink);
    }
    let capabilities = capabilities(&object, "capabilities", sink);
    let optional_capabilities = capabilities_within(&object, capabilities.as_deref(), sink);
    if !adapter {
        no_adapter(&object, capabilities.as_deref(), sink);
    }
    let actions = object
        .get("actions")
        .and_then(|raw| actions::read(raw, &root.name("actions"), capabilities.as_deref(), sink));
    if let Some(raw) = object.get("ui") {
        // Without a readable list of actions or capabilities every reference to one would be a second complaint.
        let names = actions
            .as_ref()
            .map(|actions| actions.iter().map(|action| action.id.as_str()).collect::<Vec<_>>());
        ui::check(raw, &root.name("ui"), names.as_deref(), capabilities.as_deref(), sink);
    }
    let files = object.get("files").and_then(|raw| files::read(raw, &root.name("files"), sink));
    if let (Some(Runtime::Process(process)), Some(files)) = (&runtime, &files)
        && !files.is_empty()
        && !files.contains_key(&process.entry)
    {
        let message = format!("The entry {} is not in files.", fields::shown(&process.entry));
        let mut fault =
            Violation::new(Code::PackageEntry, message).path(root.name("runtime").name("entry").to_string());
        if let Some(entry) = process.entry.strip_prefix("payload/") {
            fault = fault.advise(format!("The entry is relative to payload/: write {entry}."));
        }
        sink.add(fault);
    }
    Some(Manifest {
        id: id?,
        version: version?,
        category: category?,
        display_name,
        description,
        publisher,
        runtime: runtime?,
        capabilities: capabilities?,
        optional_capabilities,
        actions: actions?,
        ui: RawJson::from(object.get("ui")?),
        files: files?,
        json: RawJson::from(raw),
    })
}

/// Reads the role; a provider adapter is refused here, before anything else about it.
fn role(object: &Object<'_>, sink: &mut Sink) -> Option<Role> {
    let raw = object.get("role")?;
    let at = At::ROOT.name("role");
    let role = fields::word(raw, &at, sink, Role::WORDS)?;
    if role == Role::ProviderAdapter {
        sink.at(
            &at,
            Code::PackageRole,
            "This package is a provider adapter. Adapters follow a contract of their own, which is not part of this \
             host, so it cannot be installed or run here.",
        );
    }
    Some(role)
}

fn no_adapter(object: &Object<'_>, capabilities: Option<&[String]>, sink: &mut Sink) {
    if object.has("adapter") {
        sink.at(
            &At::ROOT.name("adapter"),
            Code::PackageAdapter,
            "Only a package of role provider-adapter has this field.",
        );
    }
    let position = capabilities.and_then(|list| list.iter().position(|name| name == ADAPTER_CAPABILITY));
    if let Some(position) = position {
        sink.at(
            &At::ROOT.name("capabilities").index(position),
            Code::PackageAdapter,
            "provider:admin belongs to packages of role provider-adapter alone.",
        );
    }
}

fn label(object: &Object<'_>, name: &str, most: usize, sink: &mut Sink) -> Option<String> {
    fields::text(object.get(name)?, &At::ROOT.name(name), sink, 0, most)
}

fn version(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<String> {
    let text = fields::text(raw, at, sink, 1, VERSION_CHARACTERS)?;
    if is_version(&text) {
        return Some(text);
    }
    sink.at(
        at,
        Code::PackageVersion,
        format!(
            "A version is three numbers without leading zeros and an optional suffix such as -beta.1; found {}.",
            fields::shown(&text)
        ),
    );
    None
}

/// Three numbers without leading zeros; then nothing, or `-` and at least one of `a-z 0-9 . -`.
fn is_version(text: &str) -> bool {
    let (numbers, suffix) = match text.split_once('-') {
        Some((numbers, suffix)) => (numbers, Some(suffix)),
        None => (text, None),
    };
    let mut parts = 0;
    let good = numbers.split('.').all(|part| {
        parts += 1;
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'))
    });
    good && parts == 3
        && suffix.is_none_or(|suffix| {
            !suffix.is_empty()
                && suffix.bytes().all(|byte| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-')
                })
        })
}

fn no_dependencies(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) {
    if let Some(list) = fields::list(raw, at, sink, 0, usize::MAX)
        && !list.is_empty()
    {
        sink.bound(
            at,
            Code::PackageFieldValue,
            0_usize,
            list.len(),
            "Packages have no dependencies: this list is empty.",
        );
    }
}

/// True for `area:right`, each a lower-case letter then up to 31 of `a-z 0-9 -`.
fn is_capability(text: &str) -> bool {
    let word = |part: &str| {
        part.len() <= 32
            && part.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    text.len() <= CAPABILITY_CHARACTERS
        && text.split_once(':').is_some_and(|(area, right)| word(area) && word(right))
}

fn capabilities(object: &Object<'_>, name: &str, sink: &mut Sink) -> Option<Vec<String>> {
    capability_list(object.get(name)?, &At::ROOT.name(name), sink)
}

/// A list of capabilities without repeats. Names that no host knows are legal here.
fn capability_list(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Vec<String>> {
    let list = fields::list(raw, at, sink, 0, CAPABILITIES)?;
    let before = sink.len();
    let mut names: Vec<String> = Vec::with_capacity(list.len());
    for (index, raw) in list.into_iter().enumerate() {
        let at = at.index(index);
        let Some(name) = fields::text(raw, &at, sink, 1, CAPABILITY_CHARACTERS) else { continue };
        if !is_capability(&name) {
            sink.at(
                &at,
                Code::PackageCapability,
                format!(
                    "A capability is area:right, each a lower-case letter then up to 31 of a-z 0-9 -; found {}.",
                    fields::shown(&name)
                ),
            );
        } else if names.contains(&name) {
            sink.at(&at, Code::PackageDuplicate, format!("The capability {name} stands here twice."));
        } else {
            names.push(name);
        }
    }
    (sink.len() == before).then_some(names)
}

/// The optional capabilities: a part of the capabilities.
fn capabilities_within(object: &Object<'_>, all: Option<&[String]>, sink: &mut Sink) -> Vec<String> {
    let list = capabilities(object, "optional_capabilities", sink).unwrap_or_default();
    if let Some(all) = all {
        undeclared(&list, all, &At::ROOT.name("optional_capabilities"), sink);
    }
    list
}

/// Reports every capability of `list` that the package does not declare.
fn undeclared(list: &[String], all: &[String], at: &At<'_>, sink: &mut Sink) {
    for (index, name) in list.iter().enumerate() {
        if !all.contains(name) {
            sink.at(
                &at.index(index),
                Code::PackageCapabilityUndeclared,
                format!("The capabilities of the package do not hold {name}."),
            );
        }
    }
}
