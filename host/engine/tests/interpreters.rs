//! Python and JavaScript modules by their real interpreters: isolated mode, no addons, and every form of entry.

mod support;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use modberth_host::{InterpreterKind, Invocation, Module};
use serde_json::{Value, json};
use support::{builder, code, confines, failure, host, manifest, package, rows};

fn python_manifest(entry: &str) -> Value {
    let mut manifest = manifest();
    manifest["runtime"] = json!({"kind": "python", "language": "python", "entry": entry, "platform": "linux", "architecture": "any"});
    manifest
}

fn javascript_manifest(entry: &str) -> Value {
    let mut manifest = manifest();
    manifest["runtime"] = json!({"kind": "javascript", "language": "javascript", "entry": entry, "platform": "linux",
        "architecture": "any"});
    manifest
}

/// A Python module without an SDK that answers target `a` with what `expression` gives.
fn python(expression: &str) -> String {
    format!(
        r#"
import json, struct, sys
def read():
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", sys.stdin.buffer.read(4))[0]))
def write(message):
    payload = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(payload)) + payload)
read()
request = read()
write({{"version": 1, "type": "hello", "protocol": 1}})
write({{"version": 1, "type": "result", "id": request["id"], "results": [{{"target": "a", "data": {expression}}}]}})
"#
    )
}

/// A CommonJS module without an SDK that answers target `a` with what `expression` gives.
fn node(expression: &str) -> String {
    format!(
        r#"
const fs = require("node:fs");
const input = fs.readFileSync(0);
const invoke = JSON.parse(input.subarray(8 + input.readUInt32BE(0)));
const write = (message) => {{
  const payload = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(4);
  header.writeUInt32BE(payload.length);
  fs.writeSync(1, Buffer.concat([header, payload]));
}};
write({{ version: 1, type: "hello", protocol: 1 }});
write({{ version: 1, type: "result", id: invoke.id, results: [{{ target: "a", data: {expression} }}] }});
"#
    )
}

fn data(module: &Module) -> Value {
    rows(&host().invoke(Invocation::new(module.clone(), "play").target("a")).wait())[0]["data"].clone()
}

// P1-HOST-30
#[test]
fn python_runs_isolated() {
    let expression = "[sys.flags.isolated, sys.flags.no_site, sys.flags.dont_write_bytecode, sys.flags.ignore_environment, sys.path]";
    let text = python(expression);
    let (folder, module) = package(&python_manifest("main.py"), &[("main.py", text.as_bytes())]);
    let found = data(&module);
    assert_eq!(found.as_array().unwrap()[..4], [1, 1, 1, 1].map(|flag| json!(flag)));
    // Neither the module's folder nor the working directory is on the import path.
    let path = folder.path().join("payload").display().to_string();
    assert!(
        !found[4].as_array().unwrap().iter().any(|entry| *entry == json!(path) || *entry == json!("")),
        "{found}"
    );
}

#[test]
fn python_gets_the_exact_environment_and_its_folder() {
    let text = format!("import os\n{}", python(r#"[dict(os.environ), os.getcwd(), __file__]"#));
    let (folder, module) = package(&python_manifest("main.py"), &[("main.py", text.as_bytes())]);
    // Where a confined module sees its package.
    let payload = match confines() {
        true => PathBuf::from("/module"),
        false => std::fs::canonicalize(folder.path().join("payload")).unwrap(),
    };
    let found = data(&module);
    assert_eq!(found[1], json!(payload));
    assert_eq!(found[2], json!(payload.join("main.py")));
    let mut environment = found[0].as_object().unwrap().clone();
    // CPython itself adds this one where it turns the C locale into UTF-8.
    environment.remove("LC_CTYPE");
    assert_eq!(Value::from(environment), json!({"PATH": "/usr/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}));
}

// An entry whose last part is __main__.py runs as its folder, so it can import its siblings.
#[test]
fn a_main_folder_imports_its_siblings() {
    let text = format!("import sibling\n{}", python("sibling.VALUE"));
    for entry in ["__main__.py", "app/__main__.py"] {
        let sibling = entry.replace("__main__", "sibling");
        let files = [(entry, text.as_bytes()), (&*sibling, &b"VALUE = 42\n"[..])];
        let (_folder, module) = package(&python_manifest(entry), &files);
        assert_eq!(data(&module), json!(42), "{entry}");
    }
}

#[test]
fn a_zip_application_runs() {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let text = format!("import sibling\n{}", python("sibling.VALUE"));
    for (name, text) in [("__main__.py", text.as_str()), ("sibling.py", "VALUE = 43\n")] {
        archive.start_file(name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    let bytes = archive.finish().unwrap().into_inner();
    let (_folder, module) = package(&python_manifest("app.pyz"), &[("app.pyz", &bytes)]);
    assert_eq!(data(&module), json!(43));
}

// P1-HOST-30
#[test]
fn node_loads_no_addon() {
    let expression = r#"(() => { try { process.dlopen({ exports: {} }, "/no/such.node"); return "loaded"; }
        catch (error) { return error.code; } })()"#;
    let require = r#"(() => { try { require("./addon.node"); return "loaded"; } catch (error) { return error.code; } })()"#;
    for expression in [expression, require] {
        let text = node(expression);
        let files = [("main.cjs", text.as_bytes()), ("addon.node", &b"\x7fELF"[..])];
        let (_folder, module) = package(&javascript_manifest("main.cjs"), &files);
        assert_eq!(data(&module), json!("ERR_DLOPEN_DISABLED"));
    }
}

// Half of the memory limit as heap, which a package can lower and not raise.
#[test]
fn node_gets_half_of_the_memory_as_heap() {
    let text = node("process.execArgv");
    for (hint, heap) in [(None, 64), (Some(64), 32), (Some(512), 64)] {
        let hints = json!({"limits": {"memory_mib": hint.unwrap_or(128)}}).to_string();
        let files = [("main.cjs", text.as_bytes()), ("modberth.json", hints.as_bytes())];
        let (_folder, module) = package(&javascript_manifest("main.cjs"), &files);
        assert_eq!(data(&module), json!(["--no-addons", format!("--max-old-space-size={heap}")]));
    }
}

#[test]
fn an_es_module_runs() {
    let text = node("42").replace("const fs = require(\"node:fs\");", "import fs from \"node:fs\";");
    let (_folder, module) = package(&javascript_manifest("main.mjs"), &[("main.mjs", text.as_bytes())]);
    assert_eq!(data(&module), json!(42));
}

// Found once, with links and shims followed to the program itself.
#[test]
fn interpreters_are_real_programs() {
    let host = host();
    for kind in [InterpreterKind::Python, InterpreterKind::Node] {
        let found = host.interpreter(kind).unwrap();
        assert_eq!(found.path, std::fs::canonicalize(&found.path).unwrap());
        assert_eq!(std::fs::read(&found.path).unwrap()[..4], *b"\x7fELF");
        assert_eq!(host.interpreter(kind).unwrap(), found);
        // A script that starts it, as version managers install, leads to the same program.
        let folder = tempfile::tempdir().unwrap();
        let shim = folder.path().join("shim");
        std::fs::write(&shim, format!("#!/bin/sh\nexec {} \"$@\"\n", found.path.display())).unwrap();
        std::fs::set_permissions(&shim, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let shimmed = builder().python(&shim).node(&shim).build().unwrap();
        assert_eq!(shimmed.interpreter(kind).unwrap(), found);
    }
}

#[test]
fn the_command_line_is_what_runs() {
    let (folder, module) = package(&python_manifest("main.py"), &[("main.py", b"")]);
    let host = host();
    let interpreter = host.interpreter(InterpreterKind::Python).unwrap();
    let line = host.command_line(&module).unwrap();
    let expected: Vec<std::ffi::OsString> = vec![
        interpreter.path.into(),
        "-I".into(),
        "-S".into(),
        "-B".into(),
        folder.path().join("payload/main.py").into(),
    ];
    assert_eq!(line, expected);
}

/// A folder with an interpreter `python3` that does not answer.
fn silent_interpreter() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // By another process, so that nothing here has it open for writing when it is started.
    let script = "printf '#!/bin/sh\\nexec sleep 120\\n' >python3 && chmod 755 python3";
    let made = std::process::Command::new("sh").args(["-c", script]).current_dir(folder.path()).status();
    assert!(made.unwrap().success());
    folder
}

#[test]
fn an_interpreter_is_asked_for_ten_seconds_by_default() {
    let folder = silent_interpreter();
    let host = builder().python(folder.path().join("python3")).build().unwrap();
    let start = Instant::now();
    let refused = host.interpreter(InterpreterKind::Python).unwrap_err();
    let took = start.elapsed();
    assert_eq!(refused.code.as_str(), "host.interpreter");
    assert!(refused.message.contains("no answer after 10000 ms"), "{refused}");
    assert!(took >= Duration::from_secs(10), "{took:?}");
}

/// P1-HOST-25, P1-HOST-32: the search for an interpreter that does not answer is part of the action's time, and ends
/// with it.
#[test]
fn an_interpreter_that_does_not_answer_holds_nobody_up() {
    let folder = silent_interpreter();
    let host = builder().python(folder.path().join("python3")).build().unwrap();
    let (_folder, module) = package(&python_manifest("main.py"), &[("main.py", b"")]);
    let invocation = || Invocation::new(module.clone(), "play").target("a");
    let start = Instant::now();
    let slow = host.invoke(invocation());
    let outcome = host.invoke(invocation().deadline(Duration::from_millis(50))).wait();
    assert_eq!(code(&outcome), "process.deadline");
    let violation = &failure(&outcome).violation;
    assert!(violation.message.contains("too little time to ask the interpreter"), "{outcome}");
    assert!(violation.message.contains("no answer after"), "{outcome}");
    assert_eq!(
        (violation.limit, violation.blame.as_str(), violation.remedy()),
        (Some(50), "caller", "Give a longer deadline.")
    );
    slow.cancel();
    assert_eq!(code(&slow.wait()), "process.cancelled");
    // It would be asked for ten seconds, twice, and 50 milliseconds are enough.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}
