//! `modberth doctor`: what it says, in which shape, and how it ends.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};
use support::{ended, run};

/// Asserts that the document has the documented shape.
#[track_caller]
fn checked(document: &Value) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/schema/doctor.v1.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> =
        validator.iter_errors(document).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{faults:?}\n{document:#}");
    // A field that the schema does not name would be a promise that nobody wrote down.
    let known = schema["properties"].as_object().unwrap();
    for name in document.as_object().unwrap().keys() {
        assert!(known.contains_key(name), "{name}");
    }
}

fn layer<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["layers"].as_array().unwrap().iter().find(|layer| layer["name"] == name).unwrap()
}

// P1-HOST-26, P1-HOST-28
#[test]
fn every_layer_of_this_machine_is_proven() {
    let done = run(&["doctor", "--json"]);
    let document = done.json();
    checked(&document);
    assert_eq!(done.code, 0, "{document:#}");
    assert_eq!((&document["ok"], &document["confined"]), (&json!(true), &json!(true)));
    for layer in document["layers"].as_array().unwrap() {
        // Where the kernel has no Landlock, and where the machine is named like a sandbox, there is nothing to show.
        let absent = match layer["name"].as_str().unwrap() {
            "landlock" => document["machine"]["landlock"].is_null(),
            "uts_namespace" => fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim() == "modberth",
            _ => false,
        };
        assert_eq!(layer["outcome"], if absent { "absent" } else { "stopped" }, "{layer}");
    }
    // The specification's own numbers.
    let limits = &document["limits"];
    for (name, value) in [
        ("memory_bytes", 134_217_728),
        ("swap_bytes", 0),
        ("tasks", 32),
        ("cpu_percent", 100),
        ("scratch_bytes", 8_388_608),
        ("scratch_files", 1024),
        ("open_files", 64),
    ] {
        assert_eq!(limits[name], value, "{name}");
    }
    assert_eq!(limits["each_process"]["core"], 1);
    assert!(layer(&document, "environment")["seen"].as_str().unwrap().contains("LANG=C.UTF-8"));
    let places = document["machine"]["control_groups"]["places"].as_array().unwrap();
    for limit in ["memory", "pids", "cpu"] {
        assert!(places.iter().any(|place| place["limit"] == limit), "{limit}: {places:?}");
    }
}

#[test]
fn people_get_a_line_for_each_layer() {
    let done = run(&["doctor"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    for part in [
        kernel.trim(),
        "control groups",
        "memory version ",
        "Python",
        "Node.js",
        "memory limit: 128 MiB, no swap",
        "no network",
        "scratch limit: 8 MiB, 1024 files",
        "stopped: EPERM (ptrace, mount,",
        "task limit: 32",
    ] {
        assert!(done.out.contains(part), "{part:?} is not in:\n{}", done.out);
    }
    let lines = |part: &str| done.out.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("stopped: ") + lines("absent: "), 17, "{}", done.out);
    assert!(done.out.trim_end().ends_with("layers stopped their probe"), "{}", done.out);
    assert_eq!(done.err, "");
}

/// The interpreters are those that run modules: links followed, and their versions.
#[test]
fn interpreters_are_named_with_path_and_version() {
    let document = run(&["doctor", "--json"]).json();
    let python = &document["interpreters"][0];
    let path = python["path"].as_str().unwrap_or_else(|| panic!("{python}"));
    assert_eq!(fs::canonicalize(path).unwrap().to_str().unwrap(), path);
    let said = Command::new(path).arg("--version").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.trim(), format!("Python {}", python["version"].as_str().unwrap()));
}

/// A machine that gives this user no control groups: refused, with everything that is missing and both ways to get it.
#[test]
fn an_ordinary_user_without_groups_is_refused_and_told_both_ways() {
    if !rustix::process::geteuid().is_root() {
        println!("not run: needs root to become a user without groups");
        return;
    }
    // Nobody else may enter the folders of whoever built this.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let program = folder.path().join("modberth");
    // By another process: one that another test starts meanwhile would hold a file that is open for writing here, and
    // nothing that is open for writing can be run.
    let copied =
        Command::new("cp").arg(assert_cmd::cargo::cargo_bin!("modberth")).arg(&program).status().unwrap();
    assert!(copied.success());
    let as_nobody = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new("setpriv");
        command
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&program)
            .args(arguments)
            .env("TMPDIR", folder.path())
            .current_dir("/")
            .timeout(std::time::Duration::from_secs(120));
        ended(&mut command)
    };
    let done = as_nobody(&["doctor", "--json"]);
    let document = done.json();
    checked(&document);
    assert_eq!(done.code, 3, "{document:#}");
    assert_eq!(document["machine"]["user"], 65534);
    assert_eq!(document["machine"]["control_groups"]["delegated"], false);
    let missing = document["missing"].as_array().unwrap();
    for what in ["memory", "pids", "cpu"] {
        assert!(
            missing.iter().any(|one| one["what"] == what && one["needed"] == true),
            "{what}: {missing:?}"
        );
    }
    let ways: Vec<String> = document["fixes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|fix| fix["brings"] == "control groups")
        .map(|fix| fix["steps"].to_string())
        .collect();
    assert_eq!(ways.len(), 2, "{ways:?}");
    assert!(ways[0].contains("systemd-run") && ways[0].contains("Delegate=memory pids cpu"), "{}", ways[0]);
    assert!(ways[1].contains("mkdir -p") && ways[1].contains("chown 65534"), "{}", ways[1]);

    let done = as_nobody(&["doctor"]);
    assert_eq!(done.code, 3);
    for part in ["missing memory: ", "systemd-run", "chown 65534", "not confined"] {
        assert!(done.out.contains(part), "{part:?} is not in:\n{}", done.out);
    }
    done.says(&["REFUSED: this machine cannot confine modules"]);
}

/// A temporary folder that takes no programs is passed over; where there is no other, the host has failed.
#[test]
fn the_probes_need_a_folder_from_which_programs_can_be_run() {
    if !rustix::process::geteuid().is_root() {
        println!("not run: needs root to mount a folder for it");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |others: &str| {
        let script = format!("mount -t tmpfs -o noexec none \"$TMPDIR\" && {others} exec \"$@\"");
        let mut command = assert_cmd::Command::new("unshare");
        command
            .args(["--mount", "/bin/sh", "-c", &script, "sh"])
            .arg(assert_cmd::cargo::cargo_bin!("modberth"))
            .args(["doctor", "--json"])
            .env("TMPDIR", folder.path())
            .env("HOME", "/proc")
            .timeout(std::time::Duration::from_secs(120));
        ended(&mut command)
    };
    let done = run("");
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let done = run("mount -t tmpfs -o noexec none /var/tmp &&");
    assert_eq!(done.code, 6, "{}{}", done.out, done.err);
    let failure = &done.json()["failure"];
    assert_eq!(failure["code"], "host.io");
    assert!(failure["remedy"].as_str().unwrap().contains("TMPDIR"), "{failure}");
}

#[test]
fn nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(assert_cmd::cargo::cargo_bin!("modberth"))
        .args(["doctor", "--json"])
        .env("TMPDIR", folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // The fifth column names the process that made a segment of shared memory.
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let makers: Vec<_> = segments.lines().map(|line| line.split_whitespace().nth(4).unwrap()).collect();
    assert_eq!(makers[0], "cpid");
    assert!(!makers.contains(&pid.as_str()), "{segments}");
}

/// A signal ends it early, with nothing left.
#[test]
fn an_interrupted_doctor_takes_its_folder_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("modberth"))
        .args(["doctor", "--json"])
        .env("TMPDIR", folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Once its folder is there it listens to signals.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while fs::read_dir(folder.path()).unwrap().count() == 0 {
        assert!(std::time::Instant::now() < until && child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{document}");
    assert_eq!(document["ok"], false);
    assert_eq!(document["failure"]["code"], "process.cancelled");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The probes are part of the command, and nobody is shown them.
#[test]
fn probes_are_hidden() {
    let shells = ["bash", "zsh", "fish", "elvish", "powershell"];
    let scripts = shells.map(|shell| run(&["completions", shell]).out);
    for shown in scripts.into_iter().chain([run(&["--help"]).out]) {
        assert!(shown.contains("doctor") && !shown.contains("probe"), "{shown}");
    }
    // Outside a sandbox it gets through, and says so.
    let done = run(&["probe", "landlock"]);
    assert_eq!((done.code, done.out.as_str()), (1, "got through: listing /\n"));
    let done = run(&["probe", "mount_namespace"]);
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    done.says(&["probe mount_namespace: the fact canary=… is missing"]);
    run(&["prob"]).says(&["unrecognized subcommand 'prob'"]);
}
