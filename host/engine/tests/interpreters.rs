//! Python and JavaScript modules by their real interpreters: isolated mode, no addons, and every form of entry.

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use modberth_host::{Confinement, HostBuilder, InterpreterKind, Invocation, Module};
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
        !found[4]
            .as_array()
            .unwrap()
            .iter()
            .any(|entry| *entry == json!(path) || *entry == json!("") || *entry == json!("/module")),
        "{found}"
    );
}

#[test]
fn python_gets_the_exact_environment_and_its_folder() {
    let text = format!("import os\n{}", python(r#"[dict(os.environ), os.getcwd(), __file__]"#));
    let (folder, module) = package(&python_manifest("main.py"), &[("main.py", text.as_bytes())]);
    // Where a module sees its package that has a mount namespace.
    let payload = match host().confinement() {
        Confinement::None { .. } => std::fs::canonicalize(folder.path().join("payload")).unwrap(),
        _ => PathBuf::from("/module"),
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

/// A folder that no confined module sees by itself. Below /tmp it has its own scratch space.
fn outside() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    support::open_to_all(folder.path(), 0o755);
    folder
}

/// Copies by another process, so that nothing here has the copy open for writing when it is started.
fn copy(source: &Path, target: &Path) {
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    let done = std::process::Command::new("cp").arg("-rL").args([source, target]).status().unwrap();
    assert!(done.success(), "{}", source.display());
}

/// What a module says that runs in the interpreter at this path.
fn data_with(builder: HostBuilder, module: &Module) -> Value {
    let host = builder.build().unwrap();
    rows(&host.invoke(Invocation::new(module.clone(), "play").target("a")).wait())[0]["data"].clone()
}

/// A Python outside the machine's program folders: a confined module gets the program and its library, at the same
/// paths, and nothing else that lies there.
#[test]
fn python_outside_the_program_folders() {
    let real = host().interpreter(InterpreterKind::Python).unwrap();
    let library = "import json,os,sys; print(json.dumps([os.path.dirname(os.__file__), sys.base_prefix]))";
    let asked = std::process::Command::new(&real.path).args(["-I", "-S", "-c", library]).output().unwrap();
    let asked: (PathBuf, PathBuf) = serde_json::from_slice(&asked.stdout).unwrap();
    let expression =
        "[sys.executable, sys.base_prefix, seen(sys.executable), seen(os.path.dirname(os.__file__) + '/..')]";
    let text = format!(
        "import os, sys\ndef seen(path):\n    folder = os.path.dirname(os.path.realpath(path))\n    \
         try:\n        return sorted(os.listdir(folder))\n    except OSError as error:\n        return error.errno\n{}",
        python(expression)
    );
    let (_folder, module) = package(&python_manifest("main.py"), &[("main.py", text.as_bytes())]);

    // The program alone: it goes on with the library that it was built for.
    let alone = outside();
    let program = alone.path().join("bin/python3");
    copy(&real.path, &program);
    std::fs::write(alone.path().join("bin/secret"), "").unwrap();
    let found = data_with(builder().python(&program), &module);
    assert_eq!((&found[0], &found[1]), (&json!(program), &json!(asked.1)));
    // It sees no neighbour of the program: the names of the folder are closed to it, or there is one.
    if confines() {
        assert!(found[2] == json!(13) || found[2] == json!(["python3"]), "{found}");
    }

    // With a library of its own, and through a script as version managers install it.
    let whole = outside();
    let program = whole.path().join("bin/python3");
    copy(&real.path, &program);
    let name = asked.0.file_name().unwrap();
    copy(&asked.0, &whole.path().join("lib").join(name));
    std::fs::write(whole.path().join("secret"), "").unwrap();
    let shim = whole.path().join("shim");
    let script = format!("printf '#!/bin/sh\\nexec {} \"$@\"\\n' >shim && chmod 755 shim", program.display());
    let made = std::process::Command::new("sh").args(["-c", &script]).current_dir(whole.path()).status();
    assert!(made.unwrap().success());
    for path in [&program, &shim] {
        let found = data_with(builder().python(path), &module);
        assert_eq!((&found[0], &found[1]), (&json!(program), &json!(whole.path())), "{}", path.display());
    }
    let interpreter = builder().python(&shim).build().unwrap().interpreter(InterpreterKind::Python).unwrap();
    assert_eq!(interpreter.path, program);
    assert_eq!(interpreter.binds, [whole.path().join("lib"), program.clone()]);
    // The command line is for people, outside: it names the same program.
    assert_eq!(builder().python(&shim).build().unwrap().command_line(&module).unwrap()[0], program);
}

/// The interpreters of a version manager, in a home that is closed to other users.
#[test]
fn python_of_pyenv() {
    let versions = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default().join(".pyenv/versions");
    let mut tried = 0;
    for version in std::fs::read_dir(versions).into_iter().flatten().flatten() {
        let program = version.path().join("bin/python3");
        let host = builder().python(&program).build().unwrap();
        // Too old, or no Python 3.
        let Ok(interpreter) = host.interpreter(InterpreterKind::Python) else { continue };
        tried += 1;
        let text = format!("import ssl, hashlib, sqlite3\n{}", python("[sys.base_prefix, sys.executable]"));
        let text =
            if interpreter.binds.is_empty() { python("[sys.base_prefix, sys.executable]") } else { text };
        let (_folder, module) = package(&python_manifest("main.py"), &[("main.py", text.as_bytes())]);
        let found = data_with(builder().python(&program), &module);
        assert_eq!(found, json!([version.path(), interpreter.path]));
    }
    if tried == 0 {
        eprintln!("not run: python_of_pyenv: there is no Python of pyenv that is new enough");
    }
}

/// Of Node.js one file is enough.
#[test]
fn node_outside_the_program_folders() {
    let real = host().interpreter(InterpreterKind::Node).unwrap();
    let folder = outside();
    let program = folder.path().join("bin/node");
    copy(&real.path, &program);
    std::fs::write(folder.path().join("bin/secret"), "").unwrap();
    let text = node("[process.execPath, fs.existsSync(process.execPath + '/../secret')]");
    let (_folder, module) = package(&javascript_manifest("main.cjs"), &[("main.cjs", text.as_bytes())]);
    let found = data_with(builder().node(&program), &module);
    assert_eq!(found, json!([program, false]));
    let interpreter = builder().node(&program).build().unwrap().interpreter(InterpreterKind::Node).unwrap();
    assert_eq!(interpreter.binds, [program]);
}

/// An interpreter that confined modules cannot use is named with the reason, and the next one is tried.
#[test]
fn an_interpreter_that_no_module_can_use() {
    if !confines() {
        return support::not_run("an_interpreter_that_no_module_can_use");
    }
    let real = host().interpreter(InterpreterKind::Python).unwrap();
    let refused = |program: &Path| {
        let host = builder().python(program).build().unwrap();
        let refused = host.interpreter(InterpreterKind::Python).unwrap_err();
        assert_eq!(refused.code.as_str(), "host.interpreter");
        refused.message
    };
    // Below /tmp a module has its scratch space.
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let program = folder.path().join("python3");
    copy(&real.path, &program);
    let message = refused(&program);
    assert!(
        message.contains(&program.display().to_string()) && message.contains("outside /tmp"),
        "{message}"
    );
    if rustix::process::geteuid().is_root() {
        let folder = outside();
        let program = folder.path().join("python3");
        copy(&real.path, &program);
        support::open_to_all(&program, 0o700);
        let message = refused(&program);
        for part in [&*program.display().to_string(), "0700", "cannot be started by the user "] {
            assert!(message.contains(part), "{part}: {message}");
        }
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
