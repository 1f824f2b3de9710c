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

/// The program of `tests/hostile`, which cargo builds as an example.
pub(crate) fn hostile() -> PathBuf {
    if let Some(path) = std::env::var_os("MODBERTH_TEST_HOSTILE") {
        return path.into();
    }
    let path = Path::new(&std::env::current_exe().unwrap())
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/hostile");
    if !path.exists() {
        // `cargo test --test NAME` builds no examples.
        let build = std::process::Command::new(env!("CARGO"))
            .args(["build", "--quiet", "-p", "modberth-sandbox", "--example", "hostile"])
            .status()
            .unwrap();
        assert!(build.success() && path.exists(), "{} is missing", path.display());
    }
    path
}
