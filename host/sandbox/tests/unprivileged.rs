//! The launcher for an ordinary user who was given control groups: all tests of `confined`, `slots` and `doctor` once
//! more.
//!
//! As root this test gives groups to a user and starts the tests as that user. In a machine where the tests run as an
//! ordinary user from the beginning it has nothing to add.

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{example, hierarchies, settle};

const USER: u32 = 65_534;

/// A group in each hierarchy that the user may divide, and live in.
struct Delegated {
    groups: Vec<PathBuf>,
}

impl Delegated {
    fn new() -> Self {
        settle();
        let mut groups = Vec::new();
        for hierarchy in hierarchies() {
            let group = match hierarchy.version_2 {
                // Beside the leaf that this process is in: the group above hands controllers on.
                true => hierarchy.own.ancestors().find(|group| hands_on(group)).unwrap_or(&hierarchy.own),
                false => &hierarchy.own,
            };
            let group = group.join(format!("test-delegated-{}", std::process::id()));
            fs::create_dir(&group).unwrap();
            chown(&group, Some(USER), Some(USER)).unwrap();
            for file in ["cgroup.procs", "cgroup.subtree_control", "cgroup.threads", "tasks"] {
                if group.join(file).exists() {
                    chown(group.join(file), Some(USER), Some(USER)).unwrap();
                }
            }
            groups.push(group);
        }
        assert!(!groups.is_empty(), "this machine has no control groups");
        Self { groups }
    }
}

/// Whether the groups below have limits.
fn hands_on(group: &Path) -> bool {
    fs::read_to_string(group.join("cgroup.subtree_control")).is_ok_and(|names| names.contains("memory"))
}

impl Drop for Delegated {
    fn drop(&mut self) {
        for group in &self.groups {
            for entry in fs::read_dir(group).into_iter().flatten().flatten() {
                let _ = fs::remove_dir(entry.path());
            }
            fs::remove_dir(group).unwrap_or_else(|error| eprintln!("{}: {error}", group.display()));
        }
    }
}

/// Runs a program as the user, in these groups.
fn run(program: &Path, arguments: &[&str], folder: &Path, groups: &[PathBuf]) -> Output {
    // The shell waits to be moved, which only root can do, and then becomes the program.
    let mut child = Command::new("/bin/sh")
        .args(["-c", "read go && exec \"$0\" \"$@\""])
        .arg(program)
        .args(arguments)
        .env("TMPDIR", folder)
        .env("MODBERTH_TEST_HOSTILE", example("hostile"))
        .env("MODBERTH_TEST_PROBE", example("probe"))
        .current_dir("/")
        .uid(USER)
        .gid(USER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for group in groups {
        fs::write(group.join("cgroup.procs"), child.id().to_string()).unwrap();
    }
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    child.wait_with_output().unwrap()
}

/// A folder of the user's with the program of another test in it.
fn prepare(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    // As cargo lays it out: a test finds programs of the examples from its own place.
    let place = |folder_name: &str, name: &str| {
        let inner = folder.path().join(folder_name);
        fs::create_dir_all(&inner).unwrap();
        inner.join(name)
    };
    let program = place("deps", name);
    // By another process: one that this process starts meanwhile would hold a file that is open for writing here, and
    // nothing that is open for writing can be run.
    let host = (common::example("host"), place("examples", "host"));
    for (from, to) in [(test_program(name), program.clone()), host] {
        assert!(Command::new("cp").args([&from, &to]).status().unwrap().success());
    }
    (folder, program)
}

/// The program of another test of this crate, built by the same cargo. Other crates have tests of the same name.
fn test_program(name: &str) -> PathBuf {
    let has = match name {
        "confined" => "a_module_sees_its_package_and_the_programs_of_the_machine: test",
        "doctor" => "every_layer_stops_its_probe: test",
        _ => "modules_leave_nothing_behind_in_the_host: test",
    };
    let own = std::env::current_exe().unwrap();
    let mut found: Vec<PathBuf> = fs::read_dir(own.parent().unwrap())
        .unwrap()
        .flatten()
        .filter(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            file.strip_prefix(name).is_some_and(|rest| rest.starts_with('-') && !rest.contains('.'))
        })
        .map(|entry| entry.path())
        .collect();
    found.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).unwrap().modified().unwrap()));
    let is_it = |path: &PathBuf| {
        let list = Command::new(path).arg("--list").output().unwrap();
        String::from_utf8_lossy(&list.stdout).lines().any(|line| line == has)
    };
    found.into_iter().find(is_it).unwrap_or_else(|| panic!("{name} is not built"))
}

// P1-HOST-26, P1-HOST-28
#[test]
fn an_ordinary_user_with_delegated_groups_confines_as_well() {
    if !rustix::process::geteuid().is_root() {
        println!("not run: needs root to give groups away; as this user the tests themselves run");
        return;
    }
    for name in ["confined", "slots", "doctor"] {
        // New ones: a user that has divided a group cannot enter it again.
        let delegated = Delegated::new();
        let (folder, program) = prepare(name);
        let output = run(&program, &[], folder.path(), &delegated.groups);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("test result: ok"), "{name}: {text}");
    }
}

/// Without groups of its own an ordinary user is refused, and told both ways to get them.
#[test]
fn an_ordinary_user_without_groups_is_told_what_is_missing() {
    if !rustix::process::geteuid().is_root() {
        println!("not run: needs root to become a user without groups");
        return;
    }
    let (folder, program) = prepare("confined");
    let output = run(&program, &["a_program_that_cannot_run_is_named"], folder.path(), &[]);
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    for part in ["memory", "pids", "cpu", "systemd-run", "Delegate=", "mkdir -p", "chown"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

/// Root of a user namespace that has no other ids, as in a container without root's rights: its modules have its own user
/// and every other layer.
#[test]
fn root_of_a_user_namespace_confines_as_an_ordinary_user_does() {
    let (folder, program) = prepare("confined");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--"])
        .arg(&program)
        .arg("without_groups_everything_else_is_up_and_it_says_so")
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
}
