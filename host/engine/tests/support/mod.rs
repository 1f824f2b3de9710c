//! What the tests of this crate share: hosts with short waits, modules made on the fly, a look at the process table.
#![allow(dead_code, reason = "each test file uses a part")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use modberth_host::{Exit, Failure, Host, Invocation, Limits, Module, Outcome};
use modberth_package::{Folder, Package};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A guard against hangs; nothing here takes a tenth of it.
pub(crate) const GUARD: Duration = Duration::from_secs(60);

/// The module's hello, as a step.
pub(crate) fn hello() -> Value {
    json!({"frame": r#"{"version":1,"type":"hello","protocol":1}"#})
}

/// A result with these rows, as a step.
pub(crate) fn result(rows: &str) -> Value {
    json!({"frame": format!(r#"{{"version":1,"type":"result","id":"$id","results":[{rows}]}}"#)})
}

/// One good row for target `a`.
pub(crate) const ROW: &str = r#"{"target":"a","data":1}"#;

/// A script that answers for target `a` as it should.
pub(crate) fn honest() -> Vec<Value> {
    vec![json!({"read": true}), hello(), result(ROW)]
}

/// An honest script with further steps at its end.
pub(crate) fn honest_then(steps: impl IntoIterator<Item = Value>) -> Vec<Value> {
    honest().into_iter().chain(steps).collect()
}

/// The manifest of the scripted module.
pub(crate) fn manifest() -> Value {
    json!({
        "format_version": 1, "id": "org.example.scripted", "version": "1.0.0", "category": "productivity",
        "contract_version": 1, "host_api": 1,
        "runtime": {
            "kind": "native", "language": "rust", "entry": "scripted", "platform": "linux",
            "architecture": std::env::consts::ARCH
        },
        "capabilities": ["system:read"], "dependencies": [],
        "actions": [
            {"id": "play", "parameters": {}, "capabilities": []},
            {"id": "typed", "capabilities": [], "parameters": {
                "text": {"type": "string", "required": true, "max_length": 5},
                "list": {"type": "string-list", "max_items": 2},
                "count": {"type": "integer", "min": 1, "max": 9},
                "ratio": {"type": "number"},
                "flag": {"type": "boolean"},
                "pick": {"type": "string", "choices": ["x", "y"]}
            }},
            {"id": "long", "capabilities": [], "parameters": {
                "one": {"type": "string-list", "max_items": 128, "max_length": 8192}
            }},
            {"id": "privileged", "parameters": {}, "capabilities": ["system:read"]}
        ],
        "ui": {"type": "column", "children": []}, "files": {}
    })
}

/// The program of `tests/scripted`, which cargo builds as an example.
pub(crate) fn scripted_program() -> PathBuf {
    let path = Path::new(&std::env::current_exe().unwrap())
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/scripted");
    if !path.exists() {
        // `cargo test --test NAME` builds no examples.
        let build = std::process::Command::new(env!("CARGO"))
            .args(["build", "--quiet", "-p", "modberth-host", "--example", "scripted"])
            .status()
            .unwrap();
        assert!(build.success() && path.exists(), "{} is missing", path.display());
    }
    path
}

/// Writes a package folder and opens it.
pub(crate) fn package(manifest: &Value, files: &[(&str, &[u8])]) -> (TempDir, Module) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("manifest.json"), manifest.to_string()).unwrap();
    std::fs::create_dir(folder.path().join("payload")).unwrap();
    for (name, bytes) in files {
        let path = folder.path().join("payload").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
    }
    let module = Module::from(Folder::open(folder.path()).unwrap());
    (folder, module)
}

/// The scripted package, checked once. Its members are looked for in each test's own folder.
fn scripted_package() -> Package {
    static PACKAGE: OnceLock<Package> = OnceLock::new();
    PACKAGE
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("manifest.json"), manifest().to_string()).unwrap();
            let payload = folder.path().join("payload");
            std::fs::create_dir(&payload).unwrap();
            std::fs::copy(scripted_program(), payload.join("scripted")).unwrap();
            std::fs::write(payload.join("script.json"), "[]").unwrap();
            Folder::open(folder.path()).unwrap().package
        })
        .clone()
}

/// A module that plays a script.
pub(crate) struct Scripted {
    pub(crate) folder: TempDir,
    pub(crate) module: Module,
    /// What its descendants carry on their command lines.
    pub(crate) marker: String,
}

impl Scripted {
    pub(crate) fn new(script: &[Value]) -> Self {
        Self::with(script, |_| {})
    }

    /// The same with a changed package.
    pub(crate) fn with(script: &[Value], change: impl FnOnce(&mut Package)) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let folder = tempfile::tempdir().unwrap();
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let marker = format!("marker-{}-{time}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // A copy could still be open for writing in a process that is being made while another starts it.
        symlink(scripted_program(), folder.path().join("scripted")).unwrap();
        std::fs::write(folder.path().join("script.json"), Value::from(script.to_vec()).to_string()).unwrap();
        std::fs::write(folder.path().join("marker"), &marker).unwrap();
        let mut package = scripted_package();
        change(&mut package);
        let module = Module::new(package, folder.path());
        Self { folder, module, marker }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The action `play` on target `a`.
    pub(crate) fn play(&self) -> Invocation {
        Invocation::new(self.module.clone(), "play").target("a")
    }

    /// Processes that carry the marker, or run in the folder's program: a verdict from outside.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let program = self.path("scripted");
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let mut words = line.split(|byte| *byte == 0);
            if words
                .any(|word| word == self.marker.as_bytes() || word == program.as_os_str().as_encoded_bytes())
            {
                found.push(pid);
            }
        }
        found
    }
}

/// A host whose waits are short, for everything but the tests of the waits themselves.
pub(crate) fn host() -> Host {
    Host::builder().build().unwrap()
}

/// A host with this deadline and linger, in milliseconds.
pub(crate) fn short_host(deadline: u64, linger: u64) -> Host {
    let text = format!(r#"{{"process_1_deadline_ms":{deadline},"linger_ms":{linger}}}"#);
    Host::builder().limits(Limits::from_json(text.as_bytes()).unwrap()).build().unwrap()
}

/// Plays a script for target `a` and gives the outcome.
pub(crate) fn play(script: &[Value]) -> Outcome {
    let scripted = Scripted::new(script);
    let outcome = host().invoke(scripted.play()).wait();
    assert_eq!(scripted.alive(), Vec::<u32>::new());
    outcome
}

/// The failure of an outcome.
pub(crate) fn failure(outcome: &Outcome) -> &Failure {
    match &outcome.verdict {
        Err(failure) => failure,
        Ok(results) => panic!("it did not fail: {results:?}"),
    }
}

/// The code of the failure.
pub(crate) fn code(outcome: &Outcome) -> &'static str {
    failure(outcome).violation.code.as_str()
}

/// Codes of the notes beside the failure.
pub(crate) fn notes(outcome: &Outcome) -> Vec<&'static str> {
    failure(outcome).notes.iter().map(|note| note.code.as_str()).collect()
}

/// The results as JSON, in order.
pub(crate) fn rows(outcome: &Outcome) -> Value {
    let document: Value = serde_json::from_str(&outcome.to_json()).unwrap();
    assert_eq!(document["outcome"], "results", "{document}");
    document["results"].clone()
}

pub(crate) fn exit(outcome: &Outcome) -> Option<Exit> {
    outcome.process.as_ref().unwrap().exit
}
