//! Limits that somebody changes behind the host's back. Alone in its file, because it changes those of all hosts of its
//! process.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use modberth_host::Host;
use serde_json::{Value, json};
use support::{Scripted, confines, failure, honest, not_run, slot_files};

/// P1-HOST-26: where a limit was changed behind the host's back, no process runs and no byte is sent.
#[test]
fn a_limit_that_does_not_hold_stops_the_action() {
    if !confines() {
        return not_run("a_limit_that_does_not_hold_stops_the_action");
    }
    // Where each limit stands in version 1 and 2, and something else to put there.
    for (limit, files, other) in [
        ("memory", ["memory.limit_in_bytes", "memory.max"], "33554432"),
        ("swap", ["memory.memsw.limit_in_bytes", "memory.swap.max"], "268435456"),
        ("tasks", ["pids.max", "pids.max"], "33"),
        ("cpu", ["cpu.cfs_quota_us", "cpu.max"], "50000"),
    ] {
        let host = Host::builder().actions(1).build().unwrap();
        let mut changed: Vec<PathBuf> = files.iter().flat_map(|name| slot_files(name)).collect();
        changed.sort();
        changed.dedup();
        if changed.is_empty() && limit == "swap" {
            eprintln!("not run: the swap limit: this kernel does not count swap");
            continue;
        }
        assert!(!changed.is_empty(), "{limit}");
        for file in &changed {
            fs::write(file, other).unwrap();
        }
        let script: Vec<Value> = [json!({"take": "mark"})].into_iter().chain(honest()).collect();
        let scripted = Scripted::new(&script);
        let outcome = host.invoke(scripted.play()).wait();
        let violation = &failure(&outcome).violation;
        assert_eq!(
            (violation.code.as_str(), violation.blame.as_str()),
            ("sandbox.limit", "host"),
            "{outcome}"
        );
        assert!(violation.message.contains(&format!("the {limit} limit")), "{violation}");
        assert!(violation.message.contains("nothing was sent to the module"), "{violation}");
        let file = violation.place.file.as_deref().unwrap();
        assert!(changed.iter().any(|changed| Path::new(file) == changed), "{file}: {changed:?}");
        if limit == "memory" || limit == "tasks" {
            let wanted = if limit == "memory" { 128 << 20 } else { 32 };
            assert_eq!(
                (violation.limit, violation.actual),
                (Some(wanted), other.parse().ok()),
                "{violation}"
            );
        }
        assert!(!outcome.is_launched() && !scripted.has_taken("mark"), "{outcome}");
        assert_eq!(scripted.alive(), Vec::<u32>::new());
        // The next action has limits that hold.
        assert!(host.invoke(scripted.play()).wait().results().is_some());
    }
}
