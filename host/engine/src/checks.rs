//! What is checked before a process starts (P1-HOST-13 to P1-HOST-16, P1-HOST-29, P1-HOST-33). Nothing starts on a
//! refusal.

use std::path::Path;

use modberth_package::Package;
use modberth_package::manifest::{Process, ProcessKind, Protocol};
use modberth_protocol::json::{Profile, RawJson};
use modberth_protocol::limits::{FRAME_PAYLOAD, PARAMETERS_DEPTH};
use modberth_protocol::process::{Request, check_targets};
use modberth_protocol::{Blame, Code, Violation};
use modberth_sandbox::{Command, Limits, Word};
use rustix::fs::Access;

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

/// The checks that look at this machine, and what they yield: the command to run. In order: the architecture; every
/// member can be read and a native entry started; the interpreter.
pub(crate) fn command(
    module: &Module,
    interpreters: &Interpreters,
    limits: &Limits,
    wait: Wait<'_>,
) -> Result<Command, Violation> {
    let process = module.package.runnable()?;
    readable(module, process)?;
    if let Some(program) = &module.package.program {
        program.find_loader(&module.folder)?;
    }
    Ok(match process.kind {
        ProcessKind::Native => Command::new(Word::package(&process.entry)),
        ProcessKind::Python => python(&interpreters.get(InterpreterKind::Python, wait)?, &process.entry),
        ProcessKind::JavaScript => {
            node(&interpreters.get(InterpreterKind::Node, wait)?, &process.entry, limits)
        }
    })
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

/// A file that has gone or that the module's user cannot read is named here, not found by the module.
fn readable(module: &Module, process: &Process) -> Result<(), Violation> {
    for member in &module.package.members {
        let path = module.folder.join(&member.path);
        let start = process.kind == ProcessKind::Native && member.path == process.entry;
        let (wanted, verb) =
            if start { (Access::READ_OK | Access::EXEC_OK, "started") } else { (Access::READ_OK, "read") };
        match rustix::fs::access(&path, wanted) {
            Ok(()) => {}
            Err(rustix::io::Errno::NOENT) => {
                let message = format!("{} is gone.", path.display());
                return Err(Violation::new(Code::PackageMemberMissing, message).file(&member.path));
            }
            Err(errno) => {
                let mode = std::fs::metadata(&path).map(|data| data.permissions());
                let mode = mode.map(|mode| std::os::unix::fs::PermissionsExt::mode(&mode) & 0o7777);
                let mode = mode.map_or_else(|_| "unknown".to_owned(), |mode| format!("{mode:04o}"));
                let message = format!("{} (mode {mode}) cannot be {verb}: {errno}.", path.display());
                return Err(Violation::new(Code::PackageFileMode, message).file(&member.path));
            }
        }
    }
    Ok(())
}
