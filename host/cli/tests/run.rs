//! `modberth run`: results, refusals, failures, and the exit code of each.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use support::{
    ECHO, confines, ended, flags, manifest, modberth, module, package, path, run, run_with, script,
};

#[test]
fn results_are_a_table_and_exit_0() {
    let folder = module("print('a note', file=sys.stderr)\nanswer(lambda t: {'data': {'for': t}})");
    let done = run(&["run", path(&folder), "play", "--target", "vm-1", "-t", " b "]);
    assert_eq!(done.code, 0, "{}", done.err);
    for part in [
        "target",
        "outcome",
        "vm-1",
        "\" b \"",
        r#"{"for":"vm-1"}"#,
        "2 of 2 targets with data",
        "org.example.play 1.2.3",
    ] {
        assert!(done.out.contains(part), "{part} is not in:\n{}", done.out);
    }
    done.says(&["standard error of the module", "| a note"]);
    if confines() {
        assert!(!done.out.contains("CONFINED") && !done.err.contains("CONFINED"), "{}{}", done.out, done.err);
        assert!(done.out.contains("ms of processor time"), "{}", done.out);
    }
    assert!(!done.out.contains('\u{1b}'), "no colour into a pipe");
}

/// Whoever starts the command may ignore SIGCHLD, and a child inherits that.
#[test]
fn a_parent_that_ignores_its_children_is_no_obstacle() {
    let folder = module("answer(lambda t: {'data': 1})");
    let mut parent = assert_cmd::Command::new("env");
    parent.args(["--ignore-signal=CHLD", env!("CARGO_BIN_EXE_modberth")]);
    let done = ended(parent.args(["run", path(&folder), "play", "-t", "a"]).args(flags()));
    assert_eq!(done.code, 0, "{}", done.err);
}

/// Less than full confinement is asked for by name, and everything that is printed says so.
#[test]
fn without_control_groups_everything_says_so() {
    let folder = module("answer(lambda t: {'data': 1})");
    let arguments = ["run", path(&folder), "play", "-t", "a", "--unsafe-rlimits-only"];
    let done = ended(modberth().args(arguments));
    assert_eq!(done.code, 0, "{}", done.err);
    done.says(&["warning: NOT ", "CONFINED: "]);
    assert!(done.out.contains("CONFINED: "), "{}", done.out);
    let done = ended(modberth().args(arguments).arg("--json"));
    let process = &done.json()["process"];
    assert_eq!(process["confined"], json!(false));
    assert!(process["confinement"].as_str().unwrap().starts_with("NOT "), "{process}");
    done.says(&["warning: NOT "]);
    // A module that fails says it too.
    let failing = module("sys.exit(3)");
    let done = ended(modberth().args(["run", path(&failing), "play", "-t", "a", "--unsafe-rlimits-only"]));
    assert_eq!(done.code, 4);
    done.says(&["error[process.exit_status]", "warning: NOT ", "CONFINED: "]);
}

/// A user who may do nothing is told what is missing and two ways to get it, and nothing runs.
#[test]
fn a_machine_that_cannot_confine_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65_534;
    let folder = module("answer(lambda t: {'data': 1})");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let started = Command::new(assert_cmd::cargo::cargo_bin!("modberth"))
        .uid(NOBODY)
        .gid(NOBODY)
        .args(["run", path(&folder), "play", "-t", "a", "--json"])
        .output();
    let output = match started {
        Ok(output) => output,
        // Whoever runs the tests may not become another user, or keeps the build from others.
        Err(error) => {
            eprintln!("not run: a_machine_that_cannot_confine_is_refused: {error}");
            return;
        }
    };
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{err}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["failure"]["code"], "sandbox.unavailable");
    assert_eq!(document["failure"]["blame"], "host");
    let message = document["failure"]["message"].as_str().unwrap();
    for part in ["memory", "pids", "cpu", "Delegate=memory pids cpu", "mkdir -p", "chown 65534"] {
        assert!(message.contains(part) && err.contains(part), "{part}: {message}\n{err}");
    }
    assert!(document["failure"]["remedy"].as_str().unwrap().contains("--unsafe-rlimits-only"), "{document}");
    // For people each command stands on a line of its own.
    assert!(err.lines().any(|line| line.trim_start().starts_with("mkdir -p")), "{err}");
}

/// The kernel's own word for it is only SIGKILL.
#[test]
fn a_module_that_wants_too_much_memory_is_told_so_first() {
    if !confines() {
        eprintln!("not run: a_module_that_wants_too_much_memory_is_told_so_first");
        return;
    }
    let text = script("block = b'x' * (64 << 20)\nanswer(lambda t: {'data': len(block)})");
    let hints = |mib: u32| json!({"limits": {"memory_mib": mib}}).to_string();
    let folder =
        package(&manifest(), &[("main.py", text.as_bytes()), ("modberth.json", hints(32).as_bytes())]);
    let done = run(&["run", path(&folder), "play", "-t", "a"]);
    assert_eq!(done.code, 4, "{}", done.err);
    done.says(&[
        "error[process.signal]: The module reached its memory limit of 32 MiB, and the kernel killed",
        "signal 9 (SIGKILL)",
        "used     32.0 MiB of memory at most",
        "remedy   Work on less at a time, or ask for more in modberth.json: limits.memory_mib, on this host up to 128 MiB.",
    ]);
    let outcome = run(&["run", path(&folder), "play", "-t", "a", "--json"]).json();
    assert_eq!(outcome["failure"]["code"], "process.signal");
    assert_eq!(outcome["process"]["oom_kills"], json!(1));
    // With the host's own limit there is room enough.
    let folder = package(&manifest(), &[("main.py", text.as_bytes())]);
    let outcome = run(&["run", path(&folder), "play", "-t", "a", "--json"]).json();
    assert_eq!(outcome["results"][0]["data"], json!(64 << 20));
    assert_eq!(outcome["process"]["oom_kills"], json!(0));
    let peak = outcome["process"]["peak_memory_bytes"].as_u64();
    assert!(peak.is_none_or(|peak| (64 << 20..128 << 20).contains(&peak)), "{peak:?}");
}

#[test]
fn with_json_the_outcome_is_one_document() {
    let folder = module(ECHO);
    let done = run(&["run", path(&folder), "play", "-t", "a", "-t", "b", "-p", "text=Hello", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let outcome = done.json();
    assert_eq!((&outcome["ok"], &outcome["outcome"]), (&json!(true), &json!("results")));
    assert_eq!(outcome["action"], "play");
    assert_eq!(outcome["package"]["id"], "org.example.play");
    assert_eq!(outcome["package"]["digest"].as_str().unwrap().len(), 64);
    assert_eq!(
        outcome["results"],
        json!([{"target": "a", "data": {"text": "Hello"}}, {"target": "b", "data": {"text": "Hello"}}])
    );
    assert_eq!(outcome["process"]["exit"], json!({"status": 0}));
}

#[test]
fn parameters_are_read_by_their_types() {
    let folder = module(ECHO);
    let done = run(&[
        "run",
        path(&folder),
        "play",
        "-t",
        "a",
        "--json",
        "-p",
        "text=5=five",
        "-p",
        "count=5",
        "-p",
        "list=a",
        "-p",
        r#"list=["b","c"]"#,
        "-p",
        "ratio=0.5",
        "-p",
        "flag=true",
    ]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(
        done.json()["results"][0]["data"],
        json!({"text": "5=five", "count": 5, "list": ["a", "b", "c"], "ratio": 0.5, "flag": true})
    );
}

#[test]
fn parameters_come_from_a_file_or_standard_input() {
    let folder = module(ECHO);
    let done =
        run_with(&["run", path(&folder), "play", "-t", "a", "--json", "--params", "-"], br#"{"count": 7}"#);
    assert_eq!(done.json()["results"][0]["data"], json!({"count": 7}));
    let file = folder.path().join("params.json");
    fs::write(&file, br#"{"count":8}"#).unwrap();
    let done = run(&["run", path(&folder), "play", "-t", "a", "--json", "--params", file.to_str().unwrap()]);
    assert_eq!(done.json()["results"][0]["data"], json!({"count": 8}));
    // P1-HOST-33: what a caller sends is judged by the same strict rules.
    let done =
        run_with(&["run", path(&folder), "play", "-t", "a", "--params", "-"], br#"{"count":7,"count":8}"#);
    assert_eq!(done.code, 3);
    done.says(&["json.duplicate_key", "blame    caller"]);
    fs::write(&file, br#"{"count":8"#).unwrap();
    let done = run(&["run", path(&folder), "play", "-t", "a", "--params", file.to_str().unwrap()]);
    assert_eq!(done.code, 3);
    done.says(&[
        "error[json.truncated]",
        &format!("where    {}, byte 10, parameters", file.display()),
        "remedy   Complete it:",
    ]);
    let done = run_with(&["run", path(&folder), "play", "-t", "a", "--params", "-"], &vec![b' '; 1_048_577]);
    assert_eq!(done.code, 3);
    done.says(&["request.too_large", "1048576, found 1048577"]);
}

#[test]
fn a_target_with_an_error_exits_1() {
    let folder = module(
        "answer(lambda t: {'data': 1} if t == 'a' else {'error': {'code': 'gone', 'message': 'not here'}})",
    );
    let done = run(&["run", path(&folder), "play", "-t", "a", "-t", "b"]);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(
        done.out.contains("gone: not here") && done.out.contains("1 of 2 targets with data"),
        "{}",
        done.out
    );
    let done = run(&["run", path(&folder), "play", "-t", "b", "--json"]);
    assert_eq!(done.code, 1);
    assert_eq!(done.json()["results"][0]["error"], json!({"code": "gone", "message": "not here"}));
}

#[test]
fn a_wrong_command_line_exits_2() {
    for arguments in [
        &["run"][..],
        &["run", "x"],
        &["run", "x", "play", "-p", "novalue"],
        &["run", "x", "play", "-p", "=x"],
        &["run", "x", "play", "--deadline", "soon"],
        &["run", "x", "play", "-p", "a=b", "--params", "f"],
        &["run", "x", "play", "--unknown"],
        &["nothing"],
        &[],
    ] {
        let done = run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}");
        assert_eq!(done.out, "", "{arguments:?}");
        assert!(done.err.contains("Usage:") || done.err.contains("error:"), "{}", done.err);
    }
    let folder = module(ECHO);
    for flag in ["--params", "--limits"] {
        let done = run(&["run", path(&folder), "play", "-t", "a", flag, "/nonexistent/file"]);
        assert_eq!(done.code, 2);
        done.says(&["error[request.file]", "/nonexistent/file", "remedy"]);
    }
}

/// P1-HOST-15, P1-HOST-16
#[test]
fn a_refused_request_exits_3_and_says_where() {
    let folder = module(ECHO);
    for (arguments, parts) in [
        (
            &["paly", "-t", "a"][..],
            &["error[request.action]", "\"paly\"", "its actions: play", "blame    caller"][..],
        ),
        (
            &["play", "-t", "a", "-p", "cuont=1"],
            &["error[parameter.unknown]", "parameter \"cuont\"", "count, flag"],
        ),
        (
            &["play", "-t", "a", "-p", "count=10"],
            &["error[parameter.range]", "parameters.count", "limit    9, found 10"],
        ),
        (
            &["play", "-t", "a", "-p", "count=1.0"],
            &["error[parameter.type]", "parameter \"count\"", "\"1.0\""],
        ),
        (&["play", "-t", "a", "-p", "count=1", "-p", "count=2"], &["error[parameter.repeated]"]),
        (&["play", "-t", "a", "-p", "list=d"], &["error[parameter.choice]", "parameters.list[0]", "\"d\""]),
        (
            &["play", "-t", "a", "-p", "text=123456789012345678901"],
            &["error[parameter.length]", "20, found 21"],
        ),
        (&["play"], &["error[request.target_count]", "limit    1, found 0", "--target ID"]),
        (&["play", "-t", ""], &["error[request.target_length]", "limit    1, found 0", "--target ID"]),
        (&["play", "-t", "a", "-p", "ratio=.5"], &["error[parameter.type]", "\".5\"", "0.5"]),
        (&["play", "-t", "a", "-p", "flag=yes"], &["error[parameter.type]", "remedy   Give true or false."]),
        (&["play", "-t", "a", "-p", "list=[\"a\""], &["error[json.truncated]", "byte 4, parameters.list"]),
        (&["play", "-t", "a", "-t", "a"], &["error[request.target_duplicate]", "target \"a\""]),
        (&["play", "-t", "a/b"], &["error[request.target_character]", "target \"a/b\""]),
    ] {
        let arguments = [&["run", path(&folder)], arguments].concat();
        let done = run(&arguments);
        assert_eq!(done.code, 3, "{arguments:?}: {}", done.err);
        assert!(done.out.is_empty(), "{}", done.out);
        done.says(parts);
        done.says(&["process  none was started", "remedy   "]);
        assert!(!done.err.contains("NOT CONFINED"), "{}", done.err);
        // The same as JSON.
        let code = parts[0].trim_start_matches("error[").trim_end_matches(']');
        let done = run(&[&arguments[..], &["--json"]].concat());
        assert_eq!(done.code, 3);
        let document = done.json();
        assert_eq!(
            (&document["ok"], &document["outcome"], &document["process"]),
            (&json!(false), &json!("failure"), &json!(null))
        );
        let failure = &document["failure"];
        assert!(failure["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{failure}");
        assert_eq!(
            (failure["code"].as_str(), failure["blame"].as_str()),
            (Some(code), Some("caller")),
            "{failure}"
        );
    }
}

#[test]
fn a_bad_package_exits_3() {
    let folder = module(ECHO);
    fs::write(folder.path().join("manifest.json"), b"{}").unwrap();
    let done = run(&["run", path(&folder), "play", "-t", "a", "--json"]);
    assert_eq!(done.code, 3);
    let document = done.json();
    assert_eq!(document["ok"], false);
    assert_eq!(document["failure"]["code"], "package.field_missing");
    assert_eq!(document["failure"]["file"], "manifest.json");
    assert!(document["failure"]["remedy"].is_string());
    assert_eq!(document["problems"].as_array().unwrap().len(), 12);

    let unbuilt = package(&manifest(), &[]);
    let done = run(&["run", path(&unbuilt), "play", "-t", "a"]);
    assert_eq!(done.code, 3);
    done.says(&["error[package.payload_missing]", "payload/main.py", "cargo xtask examples"]);
    let done = run(&["run", "/nonexistent", "play", "-t", "a"]);
    assert_eq!(done.code, 3);
    done.says(&["error[package.not_found]"]);

    // A declarative package has nothing to run.
    let mut declarative = manifest();
    declarative["runtime"] = json!({"kind": "declarative", "language": "none"});
    let done = run(&["run", path(&package(&declarative, &[])), "play", "-t", "a"]);
    assert_eq!(done.code, 3);
    done.says(&["error[package.declarative]"]);
}

#[test]
fn a_failed_module_exits_4_and_shows_its_last_words() {
    let folder = module(
        "for i in range(50): print('line', i, file=sys.stderr)\nprint('\\x1b[31mred\\x07', file=sys.stderr)\nsys.exit(7)",
    );
    let done = run(&["run", path(&folder), "play", "-t", "a"]);
    assert_eq!(done.code, 4);
    assert!(done.out.is_empty());
    done.says(&[
        "error[process.exit_status]",
        "process  exit status 7",
        "blame    module",
        "the last 40 of 51 lines",
        "| line 49",
    ]);
    assert!(!done.err.contains("line 10\n"), "{}", done.err);
    // It gave no answer because it ended.
    assert!(!done.err.contains("frame.missing"), "{}", done.err);
    // What the module wrote cannot act on the terminal.
    done.says(&["| \\u001b[31mred\\u0007"]);
    assert!(!done.err.contains('\u{7}'));

    let done = run(&["run", path(&folder), "play", "-t", "a", "--json"]);
    assert_eq!(done.code, 4);
    let outcome = done.json();
    assert_eq!(outcome["outcome"], "failure");
    assert_eq!(outcome["failure"]["code"], "process.exit_status");
    assert_eq!(outcome["process"]["exit"], json!({"status": 7}));
    assert!(outcome["process"]["stderr"]["text"].as_str().unwrap().starts_with("line 0\n"));

    let crashed = module("os.abort()");
    let done = run(&["run", path(&crashed), "play", "-t", "a"]);
    assert_eq!(done.code, 4);
    // Which signal it is differs: the first process of a namespace is deaf to SIGABRT.
    done.says(&["error[process.signal]", "process  signal ", "(SIG"]);

    let silent = module(
        "write({'version': 1, 'type': 'hello', 'protocol': 1})\nwrite({'version': 1, 'type': 'result', 'id': request['id'], 'results': [{'target': 'x', 'data': 1}]})",
    );
    let done = run(&["run", path(&silent), "play", "-t", "a"]);
    assert_eq!(done.code, 4);
    done.says(&["error[output.target_unknown]", "frame 2", "results[0]", "target \"x\""]);
}

#[test]
fn a_deadline_is_shortened_and_never_lengthened() {
    let folder = module("import time\ntime.sleep(600)");
    let done = run(&["run", path(&folder), "play", "-t", "a", "--deadline", "300"]);
    assert_eq!(done.code, 4, "{}", done.err);
    done.says(&["error[process.deadline]", "300", "killed by the host"]);
    let limits = folder.path().join("limits.json");
    fs::write(&limits, br#"{"process_1_deadline_ms":300}"#).unwrap();
    let done = run(&["run", path(&folder), "play", "-t", "a", "--limits", limits.to_str().unwrap()]);
    assert_eq!(done.code, 4, "{}", done.err);
    done.says(&["error[process.deadline]", "300"]);
    fs::write(&limits, br#"{"process_1_deadline_ms":10001}"#).unwrap();
    let done = run(&["run", path(&folder), "play", "-t", "a", "--limits", limits.to_str().unwrap()]);
    assert_eq!(done.code, 3);
    done.says(&["error[host.limits]", "limits.json", "process_1_deadline_ms", "10000, found 10001"]);
    // The same on the command line.
    for (deadline, found) in [("10001", "limit    10000, found 10001"), ("0", "limit    1, found 0")] {
        let done = run(&["run", path(&folder), "play", "-t", "a", "--deadline", deadline]);
        assert_eq!(done.code, 3);
        done.says(&["error[host.limits]", "where    --deadline", found]);
    }
    // No process was started, so nothing was unconfined and the module is not to blame.
    let done = run(&["run", path(&folder), "play", "-t", "a", "--deadline", "1"]);
    assert_eq!(done.code, 3, "{}", done.err);
    done.says(&["error[process.deadline]", "blame    caller", "none was started", "Give a longer deadline."]);
    assert!(!done.err.contains("NOT CONFINED"), "{}", done.err);
}

#[test]
fn a_policy_refusal_exits_5() {
    let mut manifest = manifest();
    manifest["capabilities"] = json!(["system:read"]);
    manifest["actions"][0]["capabilities"] = json!(["system:read"]);
    let folder = package(&manifest, &[("main.py", script(ECHO).as_bytes())]);
    let done = run(&["run", path(&folder), "play", "-t", "a"]);
    assert_eq!(done.code, 5);
    done.says(&["error[policy.capability]", "blame    policy"]);
}

/// A native program that asks for a loader no machine has.
fn lost_program() -> Vec<u8> {
    let loader = b"/lib/no-such-loader.so\0";
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0];
    bytes.resize(16, 0);
    let machine: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
    bytes.extend([2, 0]);
    bytes.extend(machine.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(64_u64.to_le_bytes());
    bytes.extend([0; 12]);
    for value in [64_u16, 56, 2, 0, 0, 0] {
        bytes.extend(value.to_le_bytes());
    }
    for (kind, offset, size) in [(1_u32, 0_u64, 0_u64), (3, 64 + 2 * 56, loader.len() as u64)] {
        bytes.extend(kind.to_le_bytes());
        bytes.extend(5_u32.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend([0; 16]);
        bytes.extend(size.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
    }
    bytes.extend(loader);
    bytes
}

#[test]
fn a_machine_that_cannot_run_it_exits_6() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut manifest = manifest();
    let architecture = if cfg!(target_arch = "x86_64") { "x86_64" } else { "aarch64" };
    manifest["runtime"] = json!({
        "kind": "native", "language": "c", "entry": "play", "platform": "linux", "architecture": architecture
    });
    let folder = package(&manifest, &[("play", &lost_program())]);
    let entry = folder.path().join("payload/play");
    fs::set_permissions(&entry, fs::Permissions::from_mode(0o755)).unwrap();
    let done = run(&["run", path(&folder), "play", "-t", "a"]);
    assert_eq!(done.code, 6, "{}", done.err);
    done.says(&["error[package.native_loader]", "/lib/no-such-loader.so", "process  none was started"]);
    // The package itself is right.
    let done = run(&["check", path(&folder), "--json"]);
    assert_eq!(done.code, 0);
    assert_eq!(done.json()["packages"][0]["warnings"][0]["name"], "package.native_loader");
}

#[test]
fn archives_run_from_a_temporary_folder_that_is_removed() {
    let source = module("answer(lambda t: {'data': os.getcwd()})");
    let work = tempfile::tempdir().unwrap();
    let archive = work.path().join("play.zip");
    let done = run(&["pack", path(&source), "-o", archive.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.err);
    let temporary = work.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let archive_path = archive.to_str().unwrap();
    let done = ended(
        modberth()
            .env("TMPDIR", &temporary)
            .args(["run", archive_path, "play", "-t", "a", "--json"])
            .args(flags()),
    );
    assert_eq!(done.code, 0, "{}", done.err);
    let ran_in = done.json()["results"][0]["data"].as_str().unwrap().to_owned();
    if confines() {
        assert_eq!(ran_in, "/module");
    } else {
        assert!(ran_in.starts_with(temporary.to_str().unwrap()) || ran_in == "/module", "{ran_in}");
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    fs::write(&archive, b"no archive").unwrap();
    let done = run(&["run", archive.to_str().unwrap(), "play", "-t", "a"]);
    assert_eq!(done.code, 3);
    done.says(&["error[package.archive_format]"]);
}

/// True once the process handles SIGTERM itself: the last of the signals that it asks for.
fn handles_signals(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
    let term = 1 << (Signal::TERM.as_raw() - 1);
    mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & term != 0)
}

/// Waits until the command handles signals itself, then sends one.
#[track_caller]
fn send(child: &std::process::Child, signal: Signal) {
    let guard = Instant::now() + Duration::from_secs(60);
    while !handles_signals(child.id()) {
        assert!(Instant::now() < guard, "the command never listened for signals");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn an_interrupt_cancels_the_action_and_exits_130() {
    let source = module("import time\ntime.sleep(600)");
    let work = tempfile::tempdir().unwrap();
    let archive = work.path().join("play.zip");
    assert_eq!(run(&["pack", path(&source), "-o", archive.to_str().unwrap()]).code, 0);
    let temporary = work.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let child = Command::new(assert_cmd::cargo::cargo_bin!("modberth"))
            .env("TMPDIR", &temporary)
            .args(["run", archive.to_str().unwrap(), "play", "-t", "a", "--json"])
            .args(flags())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
        let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(outcome["failure"]["code"], "process.cancelled");
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    }
}

/// What `nohup` promises: the terminal may go, the action goes on.
#[test]
fn a_signal_that_is_ignored_cancels_nothing() {
    let folder = module("import time\ntime.sleep(1)\nanswer(lambda t: {'data': 1})");
    let child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(assert_cmd::cargo::cargo_bin!("modberth"))
        .args(["run", path(&folder), "play", "-t", "a", "--json"])
        .args(flags())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    send(&child, Signal::HUP);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

/// The results are known and nobody takes them: one signal is enough, and nothing is left of the archive.
#[test]
fn a_signal_ends_a_command_that_waits_for_who_reads_its_results() {
    let source = module("answer(lambda t: {'data': ['x' * 60000] * 10})");
    let work = tempfile::tempdir().unwrap();
    let archive = work.path().join("play.zip");
    assert_eq!(run(&["pack", path(&source), "-o", archive.to_str().unwrap()]).code, 0);
    let temporary = work.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("modberth"))
        .env("TMPDIR", &temporary)
        .args(["run", archive.to_str().unwrap(), "play", "-t", "a", "--json"])
        .args(flags())
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The first byte shows that it prints; more than a pipe holds is to come.
    std::io::Read::read_exact(&mut reader, &mut [0]).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let guard = Instant::now() + Duration::from_secs(60);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > guard {
            child.kill().unwrap();
            panic!("the command did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(130));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn a_module_that_says_nothing_or_too_much_is_told_apart() {
    // Nobody called run(): no frame, no complaint.
    let forgotten = package(&manifest(), &[("main.py", b"pass")]);
    let done = run(&["run", path(&forgotten), "play", "-t", "a"]);
    assert_eq!(done.code, 4);
    done.says(&["error[frame.missing]", "without an answer", "remedy   Is run() of the SDK called"]);
    // Text where a frame belongs.
    let printed = package(&manifest(), &[("main.py", b"print('starting')")]);
    let done = run(&["run", path(&printed), "play", "-t", "a"]);
    assert_eq!(done.code, 4);
    done.says(&[
        "error[frame.too_large]: The four header bytes read \"star\" as text.",
        "remedy   Write nothing but frames",
    ]);
    // What an SDK says when it refuses is the reason, and stands before everything else.
    let refused = module(
        "print('noise', file=sys.stderr)\nprint('modberth: output.value: results[0]: No JSON.', file=sys.stderr)\nsys.exit(1)",
    );
    let done = run(&["run", path(&refused), "play", "-t", "a"]);
    assert_eq!(done.code, 4);
    done.says(&[
        "error[process.exit_status]: The module ended with exit status 1.\n  said     modberth: output.value: results[0]: No JSON.\n",
    ]);
    assert!(!done.err.contains("frame.missing"), "{}", done.err);
    let outcome = run(&["run", path(&refused), "play", "-t", "a", "--json"]).json();
    assert_eq!(outcome["failure"]["notes"][0]["code"], "frame.missing", "the outcome keeps everything");
}

#[test]
fn a_flood_on_standard_error_is_cut_for_people() {
    let folder = module("sys.stderr.write('x' * 100_000)");
    let done = run(&["run", path(&folder), "play", "-t", "a"]);
    assert_eq!(done.code, 4);
    done.says(&["error[output.stderr_limit]", "the last 4096 of 65536 bytes", "--json shows more"]);
    let longest = done.err.lines().map(str::len).max().unwrap();
    assert!((4_096..5_000).contains(&longest), "{longest}");
    let outcome = run(&["run", path(&folder), "play", "-t", "a", "--json"]).json();
    assert_eq!(outcome["process"]["stderr"]["text"].as_str().unwrap().len(), 65_536);
}

#[test]
fn a_command_line_that_lacks_something_says_what() {
    let folder = module(ECHO);
    let done = run(&["run", path(&folder)]);
    assert_eq!(done.code, 2);
    done.says(&["<ACTION> is missing", "the actions of org.example.play: play", "Usage: modberth run"]);
    let done = run(&["run", path(&folder), "play", "text=a"]);
    assert_eq!(done.code, 2);
    done.says(&["use '-p text=a'"]);
    for word in ["rn", "chck", "insp"] {
        let done = run(&[word]);
        assert_eq!(done.code, 2);
        done.says(&["similar"]);
    }
}
