//! Hundreds of invocations leave no descriptor, thread, process or zombie. Alone in its file, so that the process it
//! counts in is its own.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use support::{Scripted, hello, honest, honest_then};

/// Descriptors, threads, children (zombies included) and memory maps of this process.
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
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    [
        ("descriptors", list("/proc/self/fd")),
        ("threads", list("/proc/self/task")),
        ("children", children),
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
    // A slot may still be cleaning up after a dropped one when its last neighbour is done.
    let settled = || {
        let until = std::time::Instant::now() + support::GUARD;
        loop {
            let counts = counts();
            if counts["children"] == 0 {
                return counts;
            }
            assert!(std::time::Instant::now() < until, "{counts:?}");
        }
    };
    round(5);
    let before = settled();
    round(60);
    let after = settled();
    for name in ["descriptors", "threads", "children"] {
        assert_eq!(before[name], after[name], "{name}: {before:?} and {after:?}");
    }
    // The allocator may keep a few more; a leaked stack each would be 600.
    assert!(after["maps"] < before["maps"] + 50, "{before:?} and {after:?}");
    for scripted in &scripts {
        assert_eq!(scripted.alive(), Vec::<u32>::new());
    }
    drop(host);
    // The test's own thread and the harness's are left, and no child.
    assert!(counts()["threads"] <= 3);
}
