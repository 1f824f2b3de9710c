//! Hundreds of invocations leave no descriptor, thread, process, zombie, control group or mount. Alone in its file, so that the process it
//! counts in is its own.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use modberth_host::Confinement;
use serde_json::json;
use support::{Scripted, hello, honest, honest_then};

/// Descriptors, threads, children (zombies included), control groups, mounts and memory maps of this process.
fn counts() -> BTreeMap<&'static str, usize> {
    let list = |path: &str| std::fs::read_dir(path).unwrap().count();
    let pid = std::process::id().to_string();
    let children = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| {
            let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
            after.split_whitespace().nth(1) == Some(&pid)
        })
        .count();
    let groups: usize = support::trees().iter().map(|tree| support::groups_below(tree).len()).sum();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    [
        ("descriptors", list("/proc/self/fd")),
        ("threads", list("/proc/self/task")),
        ("children", children),
        ("groups", groups),
        ("mounts", mounts),
        ("maps", maps),
    ]
    .into_iter()
    .collect()
}

#[test]
fn nothing_leaks() {
    let host = support::short_host(10_000, 20);
    let scripts = [
        Scripted::new(&honest()),
        Scripted::new(&[json!({"text": "no frame"}), json!({"hang": true})]),
        Scripted::new(&[hello(), json!({"exit": 3})]),
        Scripted::new(&honest_then([json!({"child": "closed"})])),
        Scripted::new(&[json!({"hang": true})]),
    ];
    let round = |rounds: usize| {
        for _ in 0..rounds {
            let running: Vec<_> = scripts
                .iter()
                .enumerate()
                .map(|(number, scripted)| {
                    let invocation = scripted.play();
                    let hangs = number == scripts.len() - 1;
                    host.invoke(if hangs {
                        invocation.deadline(Duration::from_millis(20))
                    } else {
                        invocation
                    })
                })
                .collect();
            // Some are waited for, one is cancelled by being dropped.
            for (number, running) in running.into_iter().enumerate() {
                if number == 2 {
                    drop(running);
                } else {
                    running.wait();
                }
            }
        }
    };
    // A slot may still be cleaning up after a dropped one when its last neighbour is done. What is left then is a guardian
    // and a process that waits in each slot; where nothing confines, nothing.
    let kept = match host.confinement() {
        Confinement::None { .. } => 0..=0,
        _ => 2..=6,
    };
    let settled = || {
        let until = std::time::Instant::now() + support::GUARD;
        loop {
            let (asleep, counts) = (support::threads_sleep(), counts());
            if asleep && kept.contains(&counts["children"]) {
                return counts;
            }
            assert!(std::time::Instant::now() < until, "{counts:?}");
        }
    };
    round(5);
    let before = settled();
    round(60);
    let after = settled();
    for name in ["threads", "mounts"] {
        assert_eq!(before[name], after[name], "{name}: {before:?} and {after:?}");
    }
    // Slots are made when they are wanted, so there may be one or two more; what leaks would be there 300 times.
    for (name, most) in [("descriptors", 60), ("children", 4), ("groups", 12), ("maps", 50)] {
        assert!(after[name] <= before[name] + most, "{name}: {before:?} and {after:?}");
    }
    for scripted in &scripts {
        assert_eq!(scripted.alive(), Vec::<u32>::new());
    }
    drop(host);
    // The test's own thread and the harness's are left, and no child.
    let last = counts();
    assert!(last["threads"] <= 3, "{last:?}");
    assert_eq!((last["children"], last["groups"]), (0, 0), "{last:?}");
}
