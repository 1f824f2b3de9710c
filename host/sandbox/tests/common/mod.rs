//! What the tests of this crate share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Directories of the control groups of a host, wherever this process's own groups lie.
pub(crate) fn groups_of(host: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    for mount in mounts.lines().filter(|line| line.contains(" - cgroup")) {
        let place = Path::new(mount.split(' ').nth(4).unwrap());
        for group in own.lines().filter_map(|line| line.rsplit(':').next()) {
            let Ok(entries) = std::fs::read_dir(place.join(group.trim_start_matches('/'))) else { continue };
            for entry in entries.flatten() {
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
