//! The launcher for an ordinary user who was given control groups: all tests of `confined` and `slots` once more.
//!
//! As root this test gives groups to a user and starts the tests as that user. In a machine where the tests run as an
//! ordinary user from the beginning it has nothing to add.

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::example;

const USER: u32 = 65_534;

/// A group in each hierarchy that the user may divide, and one below it to live in.
struct Delegated {
    groups: Vec<PathBuf>,
}

impl Delegated {
    fn new() -> Self {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut groups = Vec::new();
        for mount in mounts.lines().filter(|line| line.contains(" - cgroup")) {
            let (place, rest) = (mount.split(' ').nth(4).unwrap(), mount.rsplit(' ').next().unwrap());
            let version_2 = mount.contains(" - cgroup2 ");
            for line in own.lines() {
                let [_, controllers, group] = line.splitn(3, ':').collect::<Vec<_>>()[..] else { continue };
                let used = |name: &str| ["memory", "pids", "cpu", "cpuacct"].contains(&name);
                let fits = if version_2 {
                    controllers.is_empty()
                } else {
                    controllers
                        .split(',')
                        .any(|name| used(name) && rest.split(',').any(|option| option == name))
                };
                if !fits {
                    continue;
                }
                let parent = Path::new(place).join(group.trim_start_matches('/'));
                let group = parent.join(format!("test-delegated-{}", std::process::id()));
                if group.exists() {
                    continue;
                }
                fs::create_dir(&group).unwrap();
                chown(&group, Some(USER), Some(USER)).unwrap();
                for file in ["cgroup.procs", "cgroup.subtree_control", "cgroup.threads", "tasks"] {
                    if group.join(file).exists() {
                        chown(group.join(file), Some(USER), Some(USER)).unwrap();
                    }
                }
                groups.push(group);
            }
        }
        assert!(!groups.is_empty(), "this machine has no control groups");
        Self { groups }
    }
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

/// The program of another test of this crate, built by the same cargo.
fn test_program(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let newest = fs::read_dir(own.parent().unwrap())
        .unwrap()
        .flatten()
        .filter(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            file.strip_prefix(name).is_some_and(|rest| rest.starts_with('-') && !rest.contains('.'))
        })
        .max_by_key(|entry| entry.metadata().unwrap().modified().unwrap());
    newest.unwrap_or_else(|| panic!("{name} is not built")).path()
}

// P1-HOST-26, P1-HOST-28
#[test]
fn an_ordinary_user_with_delegated_groups_confines_as_well() {
    if !rustix::process::geteuid().is_root() {
        println!("not run: needs root to give groups away; as this user the tests themselves run");
        return;
    }
    let delegated = Delegated::new();
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    for name in ["confined", "slots"] {
        let program = folder.path().join(name);
        assert!(Command::new("cp").args([&test_program(name), &program]).status().unwrap().success());
        let moves: String = delegated
            .groups
            .iter()
            .map(|group| format!("echo $$ > {}/cgroup.procs && ", group.display()))
            .collect();
        let output = Command::new("/bin/sh")
            .arg("-c")
            .arg(format!(
                "{moves} exec setpriv --reuid {USER} --regid {USER} --clear-groups {}",
                program.display()
            ))
            .env("TMPDIR", folder.path())
            .env("MODBERTH_TEST_HOSTILE", example("hostile"))
            .current_dir("/")
            .output()
            .unwrap();
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
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let program = folder.path().join("confined");
    assert!(Command::new("cp").args([&test_program("confined"), &program]).status().unwrap().success());
    let output = Command::new("setpriv")
        .args(["--reuid", &USER.to_string(), "--regid", &USER.to_string(), "--clear-groups"])
        .arg(&program)
        .arg("a_program_that_cannot_run_is_named")
        .env("TMPDIR", folder.path())
        .current_dir("/")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    for part in ["memory", "pids", "cpu", "systemd-run", "Delegate=", "mkdir -p", "chown"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
