//! What a launcher keeps from one module to the next: groups, spares, the guardian. These tests meddle with all of this
//! process's launchers, so they run one at a time.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use common::{GUARD, confined, groups_of, guardian, package, run, sh, spares};
use modberth_sandbox::{Launch, LaunchError, Launcher, Options, Profile};
use rustix::process::{Pid, Signal, kill_process};

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The files of this host's control groups with this name.
fn group_files(name: &str) -> Vec<PathBuf> {
    let trees = groups_of(std::process::id());
    let slots = trees.iter().flat_map(|tree| fs::read_dir(tree).unwrap().flatten());
    slots.map(|slot| slot.path().join(name)).filter(|file| file.exists()).collect()
}

/// Where each limit stands on this machine, and something else to put there.
fn limits() -> [(&'static str, [&'static str; 2], &'static str); 3] {
    [
        ("memory", ["memory.limit_in_bytes", "memory.max"], "33554432"),
        ("tasks", ["pids.max", "pids.max"], "max"),
        ("cpu", ["cpu.cfs_quota_us", "cpu.max"], "50000"),
    ]
}

// P1-HOST-26
#[test]
fn nothing_runs_when_a_limit_is_not_what_it_must_be() {
    let _alone = alone();
    let folder = package();
    for (limit, files, other) in limits() {
        let launcher = confined();
        let files: Vec<_> = files.iter().flat_map(|name| group_files(name)).collect();
        assert!(!files.is_empty(), "{limit}");
        for file in &files {
            fs::write(file, other).unwrap();
        }
        let command = sh("echo ran > /tmp/ran; echo ran");
        let fault = launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap_err();
        match &fault {
            LaunchError::Limit(fault) => {
                assert_eq!(fault.limit, limit);
                assert!(fault.actual.contains(if other == "max" { "max" } else { other }), "{fault}");
            }
            other => panic!("{limit}: {other}"),
        }
        assert!(fault.to_string().contains("nothing was sent to the module"), "{fault}");
        // The slot is made anew.
        assert_eq!(run(&launcher, "echo fine", &Profile::action()).0, "fine\n");
    }
}

// P1-HOST-26
#[test]
fn a_process_that_left_its_group_does_not_run() {
    let _alone = alone();
    let launcher = confined();
    let folder = package();
    let spare = *spares(std::process::id()).first().unwrap();
    // Out of the group of tasks, into the one above.
    let place = group_files("pids.max").first().unwrap().parent().unwrap().parent().unwrap().to_owned();
    if fs::write(place.join("cgroup.procs"), spare.to_string()).is_err() {
        // In version 2 a group with limits below it takes no processes; the one of the guardian has none.
        fs::write(place.join("guardian/cgroup.procs"), spare.to_string()).unwrap();
    }
    let command = sh("echo ran");
    match launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())) {
        Err(LaunchError::Limit(fault)) => assert_eq!(fault.limit, "membership"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_spare_or_a_guardian_that_was_killed_is_replaced() {
    let _alone = alone();
    let launcher = confined();
    let host = std::process::id();
    for round in 0..3 {
        for pid in spares(host).into_iter().chain([guardian(host)]) {
            kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL).unwrap();
        }
        assert_eq!(run(&launcher, "echo fine", &Profile::action()).0, "fine\n", "round {round}");
        assert!(guardian(host) > 0);
    }
}

/// A spare shares the memory of a host that is root. The spare's user must not get at it: not as a person who has that id
/// on this machine, and not by a set-user-id program of his.
#[test]
fn the_user_of_a_slot_cannot_look_into_the_host() {
    let _alone = alone();
    if !rustix::process::geteuid().is_root() {
        // The spares of an ordinary host have the host's own user.
        return;
    }
    let _launcher = confined();
    let spare = *spares(std::process::id()).first().unwrap();
    let user = user_of(spare);
    assert_ne!(user, 0);
    let look = |user: u32| {
        let mut head = Command::new("/usr/bin/head");
        head.args(["-c", "1", &format!("/proc/{spare}/maps")]).uid(user).gid(user);
        head.output().unwrap()
    };
    assert_eq!(look(0).stdout.len(), 1, "root sees it, so there is something to see");
    let seen = look(user);
    assert!(seen.stdout.is_empty() && !seen.status.success(), "{seen:?}");
}

/// The real user id of a process.
fn user_of(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn everything_of_a_launcher_goes_with_it() {
    let _alone = alone();
    let launcher = confined();
    let folder = package();
    let command = sh("sleep 1000");
    let process = launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap();
    drop(launcher);
    // A module keeps what it stands on.
    assert!(!process.wait_gone(Some(Duration::ZERO)).unwrap());
    assert!(!groups_of(std::process::id()).is_empty());
    drop(process);
}

/// Between two looks nothing is left of two hundred modules.
#[test]
fn modules_leave_nothing_behind_in_the_host() {
    let _alone = alone();
    let launcher = Launcher::confined(Options::new(1, Profile::action().limits)).unwrap();
    let host = std::process::id();
    let folder = package();
    let command = sh("sleep 1000");
    // Both slots that there can be are in use once.
    let launch = || launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap();
    drop((launch(), launch()));
    let count = |of: PathBuf| fs::read_dir(of).unwrap().count();
    let look = || {
        let begin = Instant::now();
        // Spares are made by another thread.
        while spares(host).len() < 2 {
            assert!(begin.elapsed() < GUARD, "{:?}", spares(host));
            std::thread::yield_now();
        }
        let groups: usize = groups_of(host).into_iter().map(count).sum();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
        (count("/proc/self/fd".into()), groups, mounts, count("/proc/self/task".into()))
    };
    // The other thread may be between two steps; what is left behind stays.
    let settled = |wanted| {
        let begin = Instant::now();
        let mut last = look();
        while last != wanted && begin.elapsed() < GUARD / 6 {
            last = look();
        }
        last
    };
    let before = (0..50).map(|_| look()).min().unwrap();
    for _ in 0..200 {
        run(&launcher, "sleep 1000 & exit 0", &Profile::action());
    }
    assert_eq!(settled(before), before);
}

/// Launches that wait for one another's spares all get one: none waits for a module to end.
#[test]
fn as_many_launches_at_once_as_there_are_slots() {
    let _alone = alone();
    let folder = package();
    for _ in 0..10 {
        let launcher = Launcher::confined(Options::new(8, Default::default())).unwrap();
        let command = sh("read line");
        let profile = Profile::action();
        let launched = std::thread::scope(|scope| {
            let launch = || launcher.launch(&Launch::new(folder.path(), &command, &profile));
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(launch)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        // All of them run, as none of them has had any input.
        let running = launched.into_iter().map(Result::unwrap).collect::<Vec<_>>();
        assert!(running.iter().all(|process| process.exit().is_none()));
        for process in running {
            process.stop(GUARD).unwrap();
        }
    }
}

/// Backends are not prepared ahead, so launches of several at once wait for the same thread. One may be given what was
/// made for another; that one gets the next.
#[test]
fn launches_that_wait_at_once_are_all_served() {
    let _alone = alone();
    let launcher = Launcher::confined(Options::new(4, Profile::action().limits)).unwrap();
    let mut profile = Profile::service();
    profile.limits = Profile::action().limits;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(run(&launcher, "echo fine", &profile).0, "fine\n");
                }
            });
        }
    });
}
