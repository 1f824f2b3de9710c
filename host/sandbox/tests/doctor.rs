//! The doctor: every layer of this machine's sandbox stops its probe, and every probe gets through where its layers are
//! left out.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use modberth_sandbox::doctor::{Check, Examination, Outcome, Prover, checks, examine};
use modberth_sandbox::{Launcher, Limits, Options, Reach};

fn program() -> PathBuf {
    // Before any probe runs beside this process.
    common::settle();
    // Set where these tests are run as another user, who cannot enter the folders of whoever built them.
    std::env::var_os("MODBERTH_TEST_PROBE").map_or_else(|| common::example("probe"), PathBuf::from)
}

fn examined() -> Examination {
    common::settle();
    examine(Options::new(1, Limits::default()))
}

fn check(name: &str) -> &'static Check {
    checks().iter().find(|check| check.name() == name).unwrap()
}

// P1-HOST-26, P1-HOST-28
#[test]
fn every_layer_stops_its_probe() {
    let found = examined();
    assert!(!found.missing.iter().any(|one| one.needed), "{:?} {:?}", found.missing, found.fixes);
    let launcher = found.launcher.unwrap();
    let prover = Prover::new(&program(), &found.limits).unwrap();
    for check in checks() {
        let proof = prover.prove(check, &launcher);
        println!("{:<18} {:?} {} ({} ms)", check.name(), proof.outcome, proof.seen, proof.took.as_millis());
        let named_alike = rustix::system::uname().nodename() == c"modberth";
        let absent = match check.name() {
            "landlock" => found.machine.landlock.is_none(),
            "uts_namespace" => named_alike,
            _ => false,
        };
        let wanted = if absent { Outcome::Absent } else { Outcome::Stopped };
        assert_eq!(proof.outcome, wanted, "{}: {}", check.name(), proof.seen);
        assert!(proof.is_fine() && !proof.seen.is_empty());
    }
}

/// What the probes say is the limit is the limit of the specification: 128 MiB, 32 tasks, 8 MiB in 1,024 files, 64 open
/// files, three variables.
// P1-HOST-26
#[test]
fn the_limits_are_met_exactly() {
    let found = examined();
    let launcher = found.launcher.unwrap();
    let prover = Prover::new(&program(), &found.limits).unwrap();
    for (name, part) in [
        // The probe's own process, and the folder for its files, count as well.
        ("task_limit", "EAGAIN after 31 processes"),
        ("scratch_limit", "ENOSPC after 8388608 bytes, ENOSPC after 1023 files"),
        ("resource_limits", "core limit 1 byte, EMFILE after 61 files"),
        ("environment", "only PATH=/usr/bin LANG=C.UTF-8 TMPDIR=/tmp"),
        ("ordinary_user", "user 1000, no capability"),
        ("uts_namespace", "modberth"),
    ] {
        let proof = prover.prove(check(name), &launcher);
        assert!(proof.seen.contains(part), "{name}: {}", proof.seen);
    }
}

#[test]
fn what_was_found_is_what_the_machine_says() {
    let found = examined();
    let machine = &found.machine;
    let read = |path: &str| fs::read_to_string(path).unwrap().trim().to_owned();
    assert_eq!(machine.kernel, read("/proc/sys/kernel/osrelease"));
    assert_eq!(machine.architecture, std::env::consts::ARCH);
    assert_eq!(machine.user, rustix::process::geteuid().as_raw());
    let limits: BTreeSet<_> = machine.places.iter().map(|place| place.limit).collect();
    for limit in ["memory", "pids", "cpu"] {
        assert!(limits.contains(limit), "{limit} is missing in {:?}", machine.places);
    }
    for place in &machine.places {
        let file = if place.version == 1 { "tasks" } else { "cgroup.controllers" };
        assert!(place.path.join(file).exists(), "{place:?}");
    }
    for setting in &machine.user_namespaces {
        let path = format!("/proc/sys/{}", setting.name.replace('.', "/"));
        assert_eq!(setting.value.to_string(), read(&path));
    }
    assert_eq!(machine.swap_in_use, Some(read("/proc/swaps").lines().count() > 1));
    assert!(machine.seccomp);
    for (name, value) in [("core", 1), ("nofile", 64), ("fsize", 8 << 20), ("msgqueue", 0)] {
        assert!(found.process_limits.contains(&(name, value)), "{name}: {:?}", found.process_limits);
    }
}

/// A probe that could not get through anywhere would prove nothing.
#[cfg(feature = "weaken")]
#[test]
fn without_its_layers_every_probe_gets_through() {
    let limits = Limits::default();
    let prover = Prover::new(&program(), &limits).unwrap();
    for check in checks().iter().filter(|check| !check.layers().is_empty()) {
        let options = Options::new(1, limits.clone()).without(check.layers());
        let launcher =
            Launcher::confined(options).unwrap_or_else(|error| panic!("{}: {error}", check.name()));
        let proof = prover.prove(check, &launcher);
        println!("{:<18} {:?} {}", check.name(), proof.outcome, proof.seen);
        assert_eq!(proof.outcome, Outcome::GotThrough, "{}: {}", check.name(), proof.seen);
        assert!(!proof.is_fine());
        if check.name() == "resource_limits" {
            // Both of what it tries.
            assert!(
                proof.seen.contains("core limit") && proof.seen.contains("128 files open"),
                "{}",
                proof.seen
            );
        }
    }
}

/// The process namespace cannot be left out of a confining launcher, so that probe is run without one.
#[test]
fn unconfined_probes_get_through() {
    let prover = Prover::new(&program(), &Limits::default()).unwrap();
    let launcher = Launcher::plain_with(Reach::Subreaper).unwrap();
    for name in ["process_namespace", "mount_namespace", "network_namespace", "seccomp"] {
        let proof = prover.prove(check(name), &launcher);
        assert_eq!(proof.outcome, Outcome::GotThrough, "{name}: {}", proof.seen);
    }
}

/// A program that is no probe proves nothing.
#[test]
fn a_program_without_a_verdict_is_told() {
    let found = examined();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("silent");
    fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let prover = Prover::new(&program, &found.limits).unwrap();
    let proof = prover.prove(check("seccomp"), &found.launcher.unwrap());
    assert_eq!((proof.outcome.clone(), proof.seen.as_str()), (Outcome::Failed, "no verdict, exit status 0"));
    assert!(!proof.is_fine());
}

fn by_hand(words: &[&str]) -> Output {
    Command::new(program()).arg("probe").args(words).env_clear().env("LANG", "C").output().unwrap()
}

/// Outside a sandbox a probe gets through, takes nothing along and leaves nothing.
#[test]
fn by_hand_a_probe_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let canary = format!("canary={place}/canary");
    fs::write(folder.path().join("canary"), "as it was").unwrap();
    let scratch = format!("scratch={place}");
    let host = format!("host={}", std::process::id());
    for words in [
        &["mount_namespace", &canary][..],
        &["scratch_limit", &scratch, "bytes=1000000", "files=20"],
        &["process_namespace", &host],
        &["environment", "variable=PATH=/usr/bin"],
        &["landlock"],
        &["death_signal"],
        &["seccomp"],
        &["memory_limit", "bytes=1048576"],
        // Cut to what a probe may take.
        &["task_limit", "tasks=4000000000"],
        &["cpu_limit", "percent=1", "milliseconds=20"],
        &["resource_limits", "files=10"],
    ] {
        let output = by_hand(words);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {text}{output:?}");
        assert!(text.starts_with("got through: ") && text.ends_with('\n'), "{words:?}: {text}");
    }
    let text = String::from_utf8(by_hand(&["task_limit", "tasks=4000000000"]).stdout).unwrap();
    assert_eq!(text, "got through: 64 processes beside its own\n");
    let names: Vec<_> = fs::read_dir(place).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["canary"]);
}

#[test]
fn a_wrong_command_line_names_what_is_wrong() {
    for (words, part) in [
        (&["nothing"][..], "probe nothing: there is no probe for nothing"),
        (&["mount_namespace"], "the fact canary=… is missing"),
        (&["task_limit", "tasks=many"], "the fact tasks is no whole number: many"),
    ] {
        let output = by_hand(words);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}");
        assert!(text.contains(part), "{words:?}: {text}");
    }
}
