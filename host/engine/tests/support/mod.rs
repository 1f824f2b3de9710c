//! What the tests of this crate share: hosts with short waits, modules made on the fly, a look at the process table.
#![allow(dead_code, reason = "each test file uses a part")]

use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use modberth_host::{Exit, Failure, Host, HostBuilder, Invocation, Limits, Module, Outcome};
use modberth_package::{Folder, Package};
use modberth_sandbox::Launcher;
use rustix::fs::{CWD, FileType, Mode, OFlags};
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
    _folder: TempDir,
    /// The package's folder, as the host sees it.
    payload: PathBuf,
    /// The FIFOs of its `take` steps, each with a byte in it.
    takes: Vec<(String, File)>,
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
        // Beside the program, so that links to it can be made.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let payload = folder.path().join("payload");
        std::fs::create_dir(&payload).unwrap();
        open_to_all(&payload, 0o755);
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let marker = format!("marker-{}-{time}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // A copy could still be open for writing in a process that is being made while another starts it. The program
        // of another user takes no links; that is copied by a process of its own.
        if std::fs::hard_link(scripted_program(), payload.join("scripted")).is_err() {
            let mut copy = std::process::Command::new("cp");
            assert!(copy.args([scripted_program(), payload.join("scripted")]).status().unwrap().success());
        }
        for (name, text) in
            [("script.json", Value::from(script.to_vec()).to_string()), ("marker", marker.clone())]
        {
            std::fs::write(payload.join(name), text).unwrap();
            open_to_all(&payload.join(name), 0o644);
        }
        let mut takes = Vec::new();
        for step in script {
            let Some(name) = step["wait"].as_str().or(step["take"].as_str()) else { continue };
            let fifo = payload.join(name);
            rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
            open_to_all(&fifo, 0o644);
            if step["take"].is_string() {
                // Opened for both, which waits for nobody.
                let nonblock = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
                let mut fifo =
                    File::options().read(true).write(true).custom_flags(nonblock).open(&fifo).unwrap();
                fifo.write_all(b"x").unwrap();
                takes.push((name.to_owned(), fifo));
            }
        }
        let mut package = scripted_package();
        change(&mut package);
        let module = Module::new(package, &payload);
        Self { _folder: folder, payload, takes, module, marker }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.payload.join(name)
    }

    /// Waits until the module has come to its step `wait` of this name, and lets it go on.
    pub(crate) fn release(&self, name: &str) {
        drop(self.meet(name));
    }

    /// Waits until the module has come to its step `wait` of this name. It goes on once the file is dropped.
    pub(crate) fn meet(&self, name: &str) -> File {
        let until = Instant::now() + GUARD;
        let nonblock = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
        loop {
            // It can be opened once somebody reads.
            match File::options().write(true).custom_flags(nonblock).open(self.path(name)) {
                Ok(fifo) => return fifo,
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {}
                Err(error) => panic!("{name}: {error}"),
            }
            assert!(Instant::now() < until, "the module never ran");
            std::thread::yield_now();
        }
    }

    /// Whether the module has come to its step `take` of this name.
    pub(crate) fn has_taken(&self, name: &str) -> bool {
        let (_, fifo) = self.takes.iter().find(|(known, _)| known == name).unwrap();
        let mut byte = [0];
        match (&*fifo).read(&mut byte) {
            Ok(1) => {
                (&*fifo).write_all(&byte).unwrap();
                false
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => true,
            other => panic!("{other:?}"),
        }
    }

    /// The action `play` on target `a`.
    pub(crate) fn play(&self) -> Invocation {
        Invocation::new(self.module.clone(), "play").target("a")
    }

    /// Processes that carry the marker, or work in the package's folder: a verdict from outside.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let folder = std::fs::metadata(&self.payload).unwrap();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let marked = line.split(|byte| *byte == 0).any(|word| word == self.marker.as_bytes());
            // Wherever the module sees the folder, it is the same one.
            let inside = std::fs::metadata(entry.path().join("cwd"))
                .is_ok_and(|data| (data.dev(), data.ino()) == (folder.dev(), folder.ino()));
            if marked || inside {
                found.push(pid);
            }
        }
        found
    }
}

/// The hosts of this process have seen what there was to see: all their threads wait for something.
pub(crate) fn threads_sleep() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lines = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    lines.filter(|line| line.contains("(modberth-")).all(|line| line.contains(") S "))
}

/// The directories of this process's hosts among the control groups, one for each host and hierarchy.
pub(crate) fn trees() -> Vec<PathBuf> {
    let owner = format!("-{}-", std::process::id());
    let is_tree = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("modberth-") && name.contains(&owner)
    };
    groups_below(Path::new("/sys/fs/cgroup")).into_iter().filter(|path| is_tree(path)).collect()
}

/// All groups below one, itself not included.
pub(crate) fn groups_below(group: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![group.to_owned()];
    while let Some(folder) = open.pop() {
        // Groups come and go while others are looked at.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
                found.push(entry.path());
            }
        }
    }
    found
}

/// The files of this name in the slots' groups of this process's hosts.
pub(crate) fn slot_files(name: &str) -> Vec<PathBuf> {
    let groups = trees().iter().flat_map(|tree| groups_below(tree)).collect::<Vec<_>>();
    let is_slot =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("slot"));
    groups.into_iter().filter(is_slot).map(|slot| slot.join(name)).filter(|file| file.exists()).collect()
}

/// Sets a mode, whatever the mask of whoever runs the tests.
pub(crate) fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Whether this machine lets modules be confined. Where not, the tests run with less around the modules, and say so.
pub(crate) fn confines() -> bool {
    static CONFINES: OnceLock<bool> = OnceLock::new();
    *CONFINES.get_or_init(|| match Host::builder().actions(1).build() {
        Ok(_) => true,
        Err(why) => {
            eprintln!("NOT CONFINED: these tests run without the limits of control groups: {why}");
            false
        }
    })
}

/// Says that a test of the confinement cannot run here.
pub(crate) fn not_run(test: &str) {
    eprintln!("not run: {test}: this machine does not let modules be confined");
}

/// A host as this machine has it.
pub(crate) fn builder() -> HostBuilder {
    Host::builder().rlimits_only(!confines())
}

/// A host that confines nothing.
pub(crate) fn plain() -> HostBuilder {
    Host::builder().launcher(Launcher::plain().unwrap())
}

/// A host as this machine has it, with its default waits.
pub(crate) fn host() -> Host {
    builder().build().unwrap()
}

/// A host with this deadline and linger, in milliseconds.
pub(crate) fn short_host(deadline: u64, linger: u64) -> Host {
    shortened(builder(), deadline, linger)
}

/// The same.
pub(crate) fn shortened(builder: HostBuilder, deadline: u64, linger: u64) -> Host {
    let text = format!(r#"{{"process_1_deadline_ms":{deadline},"linger_ms":{linger}}}"#);
    builder.limits(Limits::from_json(text.as_bytes()).unwrap()).build().unwrap()
}

/// Plays a script for target `a` and gives the outcome.
pub(crate) fn play(script: &[Value]) -> Outcome {
    play_in(builder(), script)
}

/// The same in a certain host.
pub(crate) fn play_in(builder: HostBuilder, script: &[Value]) -> Outcome {
    let scripted = Scripted::new(script);
    let outcome = builder.build().unwrap().invoke(scripted.play()).wait();
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
