//! What the tests of this crate share. Each uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::Read;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use modberth_sandbox::{Command, Ended, Launch, Launcher, Options, Profile, Word};

/// A name that no other process on the machine carries on its command line.
pub(crate) fn marker() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    format!("marker-{}-{time}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Processes that carry `marker` on their command line: a verdict from outside. Zombies have none.
pub(crate) fn alive(marker: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if line.split(|byte| *byte == 0).any(|word| word == marker.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// The program of `tests/hostile`.
pub(crate) fn hostile() -> PathBuf {
    match std::env::var_os("MODBERTH_TEST_HOSTILE") {
        Some(path) => path.into(),
        None => example("hostile"),
    }
}

/// A program that cargo builds as an example of this crate.
pub(crate) fn example(name: &str) -> PathBuf {
    let built =
        Path::new(&std::env::current_exe().unwrap()).parent().unwrap().parent().unwrap().join("examples");
    let path = built.join(name);
    if !path.exists() {
        // `cargo test --test NAME` builds no examples.
        let build = std::process::Command::new(env!("CARGO"))
            .args(["build", "--quiet", "-p", "modberth-sandbox", "--example", name])
            .status()
            .unwrap();
        assert!(build.success() && path.exists(), "{} is missing", path.display());
    }
    path
}

/// A hierarchy of control groups with limits or with version 2.
pub(crate) struct Hierarchy {
    pub(crate) mount: PathBuf,
    pub(crate) version_2: bool,
    /// This process's own group.
    pub(crate) own: PathBuf,
}

/// The hierarchies of this machine that a host uses.
pub(crate) fn hierarchies() -> Vec<Hierarchy> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mut found: Vec<Hierarchy> = Vec::new();
    for mount in mounts.lines().filter(|line| line.contains(" - cgroup")) {
        let (place, options) = (mount.split(' ').nth(4).unwrap(), mount.rsplit(' ').next().unwrap());
        let version_2 = mount.contains(" - cgroup2 ");
        let used = |name: &&str| {
            ["memory", "pids", "cpu", "cpuacct"].contains(name) && options.split(',').any(|it| it == *name)
        };
        for line in own.lines() {
            let [_, controllers, group] = line.splitn(3, ':').collect::<Vec<_>>()[..] else { continue };
            let fits = if version_2 {
                controllers.is_empty()
            } else {
                controllers.split(',').any(|name| used(&name))
            };
            let own = Path::new(place).join(group.trim_start_matches('/'));
            if fits && own.is_dir() && !found.iter().any(|one| one.own == own) {
                found.push(Hierarchy { mount: place.into(), version_2, own });
            }
        }
    }
    found
}

/// Puts this process where a host would be, so that all hosts that it starts find the same place: in version 2 the first
/// host in a group moves to a leaf.
pub(crate) fn settle() {
    static SETTLED: std::sync::Once = std::sync::Once::new();
    // Where nothing can be confined there is no such place, and the tests that need one say so themselves.
    SETTLED.call_once(|| drop(Launcher::confined(Options::default())));
}

/// Directories of the control groups of a host. They lie in this process's own groups or in those above.
pub(crate) fn groups_of(host: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for Hierarchy { mount, own, .. } in hierarchies() {
        for group in own.ancestors().take_while(|group| group.starts_with(&mount)) {
            for entry in std::fs::read_dir(group).unwrap().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let mut parts = name.split('-');
                if parts.next() == Some("modberth") && parts.nth(1) == Some(&host.to_string()) {
                    found.push(entry.path());
                }
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The children of a process of this machine, with their names.
fn children(of: u32) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{of}/task")).unwrap().flatten() {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for pid in list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()) {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            found.push((pid, name.trim().to_owned()));
        }
    }
    found
}

/// The guardian of a host.
pub(crate) fn guardian(host: u32) -> u32 {
    let children = children(host);
    let guardian = children.iter().find(|(_, name)| name == "modberth-guard");
    guardian.unwrap_or_else(|| panic!("no guardian among {children:?}")).0
}

/// The processes of a host that wait for something to run.
pub(crate) fn spares(host: u32) -> Vec<u32> {
    children(host).into_iter().filter(|(_, name)| name == "modberth-spare").map(|(pid, _)| pid).collect()
}

/// A guard against hangs.
pub(crate) const GUARD: Duration = Duration::from_secs(60);

pub(crate) fn confined() -> Launcher {
    Launcher::confined(Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn sh(script: &str) -> Command {
    Command::new(Word::text("/bin/sh")).arg(Word::text("-c")).arg(Word::text(script))
}

/// A package that anybody can read.
pub(crate) fn package() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("file"), "of the package\n").unwrap();
    folder
}

pub(crate) fn read(pipe: BorrowedFd<'_>) -> String {
    let mut text = String::new();
    let mut file = fs::File::from(pipe.try_clone_to_owned().unwrap());
    loop {
        match file.read_to_string(&mut text) {
            Ok(_) => return text,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                let mut polled = [rustix::event::PollFd::new(&file, rustix::event::PollFlags::IN)];
                let guard = rustix::event::Timespec { tv_sec: 60, tv_nsec: 0 };
                assert_eq!(rustix::event::poll(&mut polled, Some(&guard)).unwrap(), 1, "no end of output");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Runs a script to its end: standard output, standard error, and how it ended.
pub(crate) fn run(launcher: &Launcher, script: &str, profile: &Profile) -> (String, String, Ended) {
    let folder = package();
    let command = sh(script);
    let mut process = launcher.launch(&Launch::new(folder.path(), &command, profile)).unwrap();
    process.close_stdin();
    let (output, error) = (read(process.stdout()), read(process.stderr()));
    assert!(process.wait_gone(Some(GUARD)).unwrap(), "the module does not end");
    let exit = process.exit();
    let ended = process.stop(GUARD).unwrap();
    assert_eq!(ended.exit, exit, "the end is the same before and after");
    (output, error, ended)
}
