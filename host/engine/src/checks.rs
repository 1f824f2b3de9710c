//! What is checked before a process starts (P1-HOST-13 to P1-HOST-16, P1-HOST-29, P1-HOST-33). Nothing starts on a
//! refusal.

use std::path::{Path, PathBuf};

use modberth_package::Package;
use modberth_package::manifest::{Process, ProcessKind, Protocol};
use modberth_protocol::json::{Profile, RawJson};
use modberth_protocol::limits::{FRAME_PAYLOAD, PARAMETERS_DEPTH};
use modberth_protocol::process::{Request, check_targets};
use modberth_protocol::{Blame, Code, Violation};
use modberth_sandbox::{Bind, Command, Limits, Word};

use crate::access;
use crate::interpreter::{Interpreter, InterpreterKind, Interpreters, Wait};
use crate::invocation::{Invocation, Module, Parameters};

/// The checks that look at the request and the manifest alone. In order: the action is declared; it needs no
/// capability, and its protocol is one this host runs; the package has a process; the targets; the parameters as JSON
/// and against the schema; the size of the invoke frame.
pub(crate) fn request(invocation: &Invocation, id: &str) -> Result<Request, Violation> {
    let manifest = &invocation.module.package.manifest;
    let action = manifest.require_action(&invocation.action)?;
    check_protocol(&invocation.module.package)?;
    if !action.capabilities.is_empty() {
        return Err(Violation::new(
            Code::PolicyCapability,
            format!(
                "The action {} needs {}. Protocol 1 has no way to use a capability, so no grant lets it run.",
                action.id,
                action.capabilities.join(", ")
            ),
        ));
    }
    process(&invocation.module.package)?;
    check_targets(&invocation.targets)?;
    let parameters = match &invocation.parameters {
        Parameters::Json { bytes, file } => parameters(bytes)
            .and_then(|parameters| action.parameters.check(parameters.raw()).map(|()| parameters))
            .map_err(|fault| match file {
                Some(file) => fault.file(file),
                None => fault,
            })?,
        Parameters::Texts(texts) => action
            .parameters
            .read_texts(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())))
            // Whatever is wrong with a text, the caller wrote it.
            .map_err(|fault| fault.blame(Blame::Caller))?,
    };
    Request::new(id, &*invocation.action, invocation.targets.clone(), parameters)
}

/// Whether this host speaks the process protocol of a package.
///
/// # Errors
/// `host.protocol`, with which [`Host::invoke`](crate::Host::invoke) refuses every action of the package.
pub fn check_protocol(package: &Package) -> Result<(), Violation> {
    match package.manifest.runtime.process() {
        Some(process) if process.protocol != Protocol::One => Err(Violation::new(
            Code::HostProtocol,
            format!("{} speaks process protocol 2; this host runs protocol 1.", package.manifest.id),
        )
        .path("runtime.protocol")
        .limit(1u64)
        .actual(2u64)),
        _ => Ok(()),
    }
}

fn process(package: &Package) -> Result<&Process, Violation> {
    match package.runnable() {
        // Told later, after what the caller can mend.
        Err(violation) if violation.code == Code::PackageArchitecture => {
            package.manifest.runtime.process().ok_or(violation)
        }
        answer => answer,
    }
}

/// Strict JSON under the bounds that hold where the parameters will stand in the invoke frame.
fn parameters(bytes: &[u8]) -> Result<RawJson, Violation> {
    if bytes.len() > FRAME_PAYLOAD {
        let message =
            format!("A frame has at most {FRAME_PAYLOAD} bytes; the parameters alone have {}.", bytes.len());
        return Err(Violation::new(Code::RequestTooLarge, message)
            .path("parameters")
            .limit(FRAME_PAYLOAD)
            .actual(bytes.len()));
    }
    let profile = Profile::PROCESS.below(PARAMETERS_DEPTH);
    let text = String::from_utf8_lossy(bytes);
    let checked = match text {
        std::borrow::Cow::Borrowed(text) => RawJson::new(text, &profile),
        // Not UTF-8: the checker says where.
        std::borrow::Cow::Owned(_) => Err(modberth_protocol::json::check(bytes, &profile)
            .err()
            .unwrap_or_else(|| Violation::new(Code::JsonUtf8, "The parameters are not UTF-8."))),
    };
    checked.map_err(|violation| {
        let path = match violation.place.path.as_deref() {
            None | Some("") => "parameters".to_owned(),
            Some(inner) if inner.starts_with('[') => format!("parameters{inner}"),
            Some(inner) => format!("parameters.{inner}"),
        };
        violation.blame(Blame::Caller).path(path)
    })
}

/// The checks that look at this machine, and what they yield: the command to run, and what the module has to see for it
/// besides the machine's programs. In order: the architecture; every member can be read and a native entry started; the
/// interpreter.
pub(crate) fn command(
    module: &Module,
    ground: &Ground<'_>,
    limits: &Limits,
    wait: Wait<'_>,
) -> Result<(Command, Vec<Bind>), Violation> {
    let process = module.package.runnable()?;
    access::members(module, process, ground.user)?;
    if let Some(program) = &module.package.program {
        program.find_loader(&module.folder)?;
    }
    let kind = match process.kind {
        ProcessKind::Native => return Ok((Command::new(Word::package(&process.entry)), Vec::new())),
        ProcessKind::Python => InterpreterKind::Python,
        ProcessKind::JavaScript => InterpreterKind::Node,
    };
    let interpreter = ground.interpreters.get(kind, wait)?;
    let command = match kind {
        InterpreterKind::Python => python(&interpreter, &process.entry),
        InterpreterKind::Node => node(&interpreter, &process.entry, limits),
    };
    let bind = |path: &PathBuf| Bind { source: path.clone(), target: path.clone(), writable: false };
    Ok((command, interpreter.binds.iter().map(bind).collect()))
}

/// What of the host the last checks look at.
pub(crate) struct Ground<'a> {
    pub(crate) interpreters: &'a Interpreters,
    /// The user that modules run under, where it is another than the host's.
    pub(crate) user: Option<u32>,
}

/// Isolated mode (P1-HOST-30), no site-packages, no bytecode written. An entry `…/__main__.py` runs as its folder,
/// which puts the folder on the import path.
fn python(interpreter: &Interpreter, entry: &str) -> Command {
    let entry = Path::new(entry);
    let target = match entry.parent() {
        Some(folder) if entry.ends_with("__main__.py") => folder,
        _ => entry,
    };
    [Word::text("-I"), Word::text("-S"), Word::text("-B"), Word::package(target)]
        .into_iter()
        .fold(Command::new(Word::text(&interpreter.path)), Command::arg)
}

/// No native addons (P1-HOST-30), and a heap of half the memory limit, so that Node.js says that it is out of memory
/// before the kernel kills it.
fn node(interpreter: &Interpreter, entry: &str, limits: &Limits) -> Command {
    let heap = (limits.memory_bytes >> 21).max(1);
    Command::new(Word::text(&interpreter.path))
        .arg(Word::text("--no-addons"))
        .arg(Word::text(format!("--max-old-space-size={heap}")))
        .arg(Word::package(entry))
}
