//! How a package runs: kind, language, entry, architecture, protocol.

use modberth_protocol::Code;
use modberth_protocol::json::Raw;

use crate::fields::{self, Object};
use crate::member;
use crate::problem::{At, Sink};
use crate::words::words;

words! {
    /// What starts the process.
    pub ProcessKind {
        /// The entry is a program of the machine.
        Native = "native",
        /// The Python interpreter starts the entry.
        Python = "python",
        /// Node.js starts the entry.
        JavaScript = "javascript",
    }
}

words! {
    /// The language that a module is written in.
    pub Language {
        /// C.
        C = "c",
        /// C++.
        Cpp = "cpp",
        /// Rust.
        Rust = "rust",
        /// Python.
        Python = "python",
        /// JavaScript.
        JavaScript = "javascript",
        /// TypeScript, compiled to JavaScript.
        TypeScript = "typescript",
        /// No code at all: a declarative package.
        None = "none",
    }
}

words! {
    /// The machine that a package is built for.
    pub Architecture {
        /// Any machine. A native package cannot say so (P1-HOST-29).
        Any = "any",
        /// 64-bit x86.
        X86_64 = "x86_64",
        /// 64-bit ARM.
        Aarch64 = "aarch64",
    }
}

impl Architecture {
    /// The architecture of this machine; `None` on one that no package can be built for.
    #[must_use]
    pub const fn of_this_machine() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Self::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Self::Aarch64)
        } else {
            None
        }
    }

    /// True if a package of this architecture runs on this machine (P1-HOST-29).
    #[must_use]
    pub fn fits_this_machine(self) -> bool {
        self == Self::Any || Some(self) == Self::of_this_machine()
    }
}

/// The protocol that a process speaks (P2-SEL-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Process protocol 1: two frames each way.
    One,
    /// Process protocol 2: with broker calls.
    Two,
}

impl Protocol {
    /// The number of the protocol, 1 or 2.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// What an executable package says about its process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// What starts it.
    pub kind: ProcessKind,
    /// The language it is written in.
    pub language: Language,
    /// The member that is started.
    pub entry: String,
    /// The machine it is built for.
    pub architecture: Architecture,
    /// The protocol it speaks.
    pub protocol: Protocol,
}

/// How a package runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// It does not: it only describes a user interface.
    Declarative,
    /// As a process.
    Process(Process),
}

impl Runtime {
    /// The process, unless the package is declarative.
    #[must_use]
    pub fn process(&self) -> Option<&Process> {
        match self {
            Self::Declarative => None,
            Self::Process(process) => Some(process),
        }
    }

    /// The word that stands as `kind` in the manifest.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Declarative => "declarative",
            Self::Process(process) => process.kind.as_str(),
        }
    }
}

const KINDS: &[(&str, Option<ProcessKind>)] = &[
    ("native", Some(ProcessKind::Native)),
    ("python", Some(ProcessKind::Python)),
    ("javascript", Some(ProcessKind::JavaScript)),
    ("declarative", None),
];

const PROCESS_REQUIRED: &[&str] = &["kind", "language", "entry", "platform", "architecture"];

pub(super) fn read(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Runtime> {
    let object = fields::object(raw, at, sink)?;
    let Some(kind) = object.get("kind") else {
        sink.at(&at.name("kind"), Code::PackageFieldMissing, "This field is required.");
        return None;
    };
    match fields::word(kind, &at.name("kind"), sink, KINDS)? {
        Some(kind) => process(kind, &object, at, sink).map(Runtime::Process),
        None => declarative(&object, at, sink).map(|()| Runtime::Declarative),
    }
}

fn declarative(object: &Object<'_>, at: &At<'_>, sink: &mut Sink) -> Option<()> {
    for (name, _) in object.entries() {
        if PROCESS_REQUIRED[2..].contains(&&**name) || name == "protocol" {
            sink.at(
                &at.name(name),
                Code::PackageRuntimeField,
                "A declarative package has no process, so this field does not belong here.",
            );
        }
    }
    object.expect(at, sink, &["kind", "language"], &["entry", "platform", "architecture", "protocol"]);
    language(object, at, sink, "declarative", &[Language::None]).map(|_| ())
}

fn process(kind: ProcessKind, object: &Object<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Process> {
    object.expect(at, sink, PROCESS_REQUIRED, &["protocol"]);
    let languages: &[Language] = match kind {
        ProcessKind::Native => &[Language::C, Language::Cpp, Language::Rust],
        ProcessKind::Python => &[Language::Python],
        ProcessKind::JavaScript => &[Language::JavaScript, Language::TypeScript],
    };
    let language = language(object, at, sink, kind.as_str(), languages);
    let entry = object.get("entry").and_then(|raw| entry(raw, &at.name("entry"), sink));
    if let Some(raw) = object.get("platform") {
        platform(raw, &at.name("platform"), sink);
    }
    let architecture =
        object.get("architecture").and_then(|raw| architecture(raw, &at.name("architecture"), kind, sink));
    let protocol = match object.get("protocol") {
        None => Some(Protocol::One),
        Some(raw) => protocol(raw, &at.name("protocol"), sink),
    };
    Some(Process {
        kind,
        language: language?,
        entry: entry?,
        architecture: architecture?,
        protocol: protocol?,
    })
}

fn language(
    object: &Object<'_>,
    at: &At<'_>,
    sink: &mut Sink,
    kind: &str,
    allowed: &[Language],
) -> Option<Language> {
    let at = at.name("language");
    let language = fields::word(object.get("language")?, &at, sink, Language::WORDS)?;
    if allowed.contains(&language) {
        return Some(language);
    }
    let allowed: Vec<_> = allowed.iter().map(|language| language.as_str()).collect();
    sink.at(
        &at,
        Code::PackageRuntimeLanguage,
        format!("A {kind} package is written in {}; found {language}.", allowed.join(" or ")),
    );
    None
}

fn entry(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<String> {
    let Some(path) = raw.as_str() else {
        sink.at(at, Code::PackageFieldType, format!("This is a string; found {}.", fields::describe(raw)));
        return None;
    };
    match member::check_path(&path) {
        Ok(()) => Some(path.into_owned()),
        Err(fault) => {
            sink.at(
                at,
                Code::PackageMemberPath,
                format!("{} is no member path: {}.", fields::shown(&path), fault.rule()),
            );
            None
        }
    }
}

fn platform(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) {
    match raw.as_str() {
        Some(platform) if platform == "linux" => {}
        Some(platform) => sink.at(
            at,
            Code::PackageFieldValue,
            format!("The platform is linux; found {}.", fields::shown(&platform)),
        ),
        None => sink.at(
            at,
            Code::PackageFieldType,
            format!("This is the string linux; found {}.", fields::describe(raw)),
        ),
    }
}

fn architecture(raw: Raw<'_>, at: &At<'_>, kind: ProcessKind, sink: &mut Sink) -> Option<Architecture> {
    let allowed = match kind {
        ProcessKind::Native => &Architecture::WORDS[1..],
        _ => Architecture::WORDS,
    };
    let Some(word) = raw.as_str() else {
        sink.at(at, Code::PackageFieldType, format!("This is a string; found {}.", fields::describe(raw)));
        return None;
    };
    let found = allowed.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    if found.is_none() {
        let allowed: Vec<_> = allowed.iter().map(|(name, _)| *name).collect();
        sink.at(
            at,
            Code::PackageRuntimeArchitecture,
            format!(
                "A {kind} package is built for {}; found {}.",
                allowed.join(" or "),
                fields::shown(&word)
            ),
        );
    }
    found
}

fn protocol(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Protocol> {
    match raw.as_integer() {
        Some(1) => return Some(Protocol::One),
        Some(2) => return Some(Protocol::Two),
        Some(other) => sink.at(
            at,
            Code::PackageRuntimeProtocol,
            format!("The protocol is the integer 1 or 2; found {other}."),
        ),
        None => sink.at(
            at,
            Code::PackageRuntimeProtocol,
            format!("The protocol is the integer 1 or 2; found {}.", fields::describe(raw)),
        ),
    }
    None
}
