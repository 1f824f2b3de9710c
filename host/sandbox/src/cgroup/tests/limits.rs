//! Limits in force, read back, missed; members killed. On the real kernel.

use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::super::knobs::{Directory, Knobs};
use super::super::layout::Sources;
use super::super::membership::Names;
use super::super::{Controller, Group, Kind, Layout, Tree, Version};
use super::support::{LONG, Role, all_layouts, left, needs_cgroups, path_of};
use crate::Limits;

/// libc's own constant is too narrow for its value.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

fn limits(memory_mib: u64, swap_mib: u64, tasks: u32, cpu_percent: u32) -> Limits {
    let (memory_bytes, swap_bytes) = (memory_mib << 20, swap_mib << 20);
    Limits { memory_bytes, swap_bytes, tasks, cpu_percent, ..Limits::default() }
}

fn file(layout: &Layout, tree: &Tree, what: &str, name: &str) -> String {
    let path = path_of(layout, tree, what, "slot0.0").join(name);
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .trim()
        .to_owned()
}

fn version(layout: &Layout, what: &str) -> Version {
    layout.places().iter().find(|place| place.what == what).unwrap().version
}

#[test]
fn limits_stand_in_the_files_of_the_kernel_and_can_go_up_and_down() {
    let Some(layout) = needs_cgroups() else { return };
    let tree = Tree::make(&layout).unwrap();
    let mut group = tree.group(0, 0).unwrap();
    for (memory, swap, tasks, cpu) in
        [(128, 0, 32, 100), (32, 0, 5, 50), (64, 16, 7, 250), (16, 1, 1, 1), (512, 0, 128, 100)]
    {
        group.set(&limits(memory, swap, tasks, cpu)).unwrap();
        let (bytes, both) = ((memory << 20).to_string(), ((memory + swap) << 20).to_string());
        match version(&layout, "memory") {
            Version::V1 => {
                assert_eq!(file(&layout, &tree, "memory", "memory.limit_in_bytes"), bytes);
                assert_eq!(file(&layout, &tree, "memory", "memory.memsw.limit_in_bytes"), both);
            }
            Version::V2 => {
                assert_eq!(file(&layout, &tree, "memory", "memory.max"), bytes);
                assert_eq!(file(&layout, &tree, "memory", "memory.swap.max"), (swap << 20).to_string());
            }
        }
        assert_eq!(file(&layout, &tree, "pids", "pids.max"), tasks.to_string());
        let quota = (cpu * 1000).to_string();
        match version(&layout, "cpu") {
            Version::V1 => {
                assert_eq!(file(&layout, &tree, "cpu", "cpu.cfs_quota_us"), quota);
                assert_eq!(file(&layout, &tree, "cpu", "cpu.cfs_period_us"), "100000");
            }
            Version::V2 => assert_eq!(file(&layout, &tree, "cpu", "cpu.max"), format!("{quota} 100000")),
        }
    }
    // What is no whole page is rounded down, and read back so.
    let odd = Limits { memory_bytes: (64 << 20) + 4097, ..Limits::default() };
    group.set(&odd).unwrap();
    let mut child = Role::start("wait");
    group.adopt(child.pid(), true).unwrap();
    group.verify(&odd, child.pid()).unwrap();
    child.go();
}

#[test]
fn too_little_is_refused_and_not_written() {
    let Some(layout) = needs_cgroups() else { return };
    let tree = Tree::make(&layout).unwrap();
    let mut group = tree.group(0, 0).unwrap();
    group.set(&limits(64, 0, 9, 70)).unwrap();
    let fault = group.set(&Limits { memory_bytes: (16 << 20) - 1, ..Limits::default() }).unwrap_err();
    assert_eq!((fault.limit, &*fault.wanted, &*fault.actual), ("memory", "at least 16777216", "16777215"));
    let fault = group.set(&limits(64, 0, 0, 70)).unwrap_err();
    assert_eq!((fault.limit, &*fault.wanted, &*fault.actual), ("tasks", "at least 1", "0"));
    let fault = group.set(&limits(64, 0, 9, 0)).unwrap_err();
    assert_eq!((fault.limit, &*fault.wanted, &*fault.actual), ("cpu", "at least 1000", "0"));
    assert_eq!(file(&layout, &tree, "pids", "pids.max"), "9");
    // More than the kernel can count.
    let fault = group.set(&limits(64, 0, u32::MAX, 70)).unwrap_err();
    assert_eq!((fault.limit, fault.errno, &*fault.wanted), ("tasks", Some(Errno::INVAL), "4294967295"));
    assert!(fault.file.ends_with("slot0.0/pids.max"), "{fault}");
    assert!(fault.to_string().contains("Invalid argument"), "{fault}");
}

#[test]
fn verify_sees_every_value_that_differs() {
    // P1-HOST-26
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let mut group = tree.group(0, 0).unwrap();
        let right = limits(64, 0, 16, 100);
        group.set(&right).unwrap();
        let mut child = Role::start("wait");
        group.adopt(child.pid(), true).unwrap();
        group.verify(&right, child.pid()).unwrap();
        let by_version = |what: &str, one: &[(&'static str, &'static str, &'static str)], two: &[_]| {
            if version(&layout, what) == Version::V1 { one.to_vec() } else { two.to_vec() }
        };
        let mut changes = by_version(
            "memory",
            &[
                ("memory", "memory.limit_in_bytes", "33554432"),
                ("swap", "memory.memsw.limit_in_bytes", "134217728"),
            ],
            &[("memory", "memory.max", "33554432"), ("swap", "memory.swap.max", "max")],
        );
        changes.push(("tasks", "pids.max", "17"));
        changes.extend(by_version(
            "cpu",
            &[("cpu", "cpu.cfs_period_us", "200000"), ("cpu", "cpu.cfs_quota_us", "-1")],
            &[("cpu", "cpu.max", "max 100000")],
        ));
        for (limit, name, value) in changes {
            let what = name.split('.').next().unwrap();
            std::fs::write(path_of(&layout, &tree, what, "slot0.0").join(name), value).unwrap();
            let fault = group.verify(&right, child.pid()).unwrap_err();
            assert_eq!((fault.limit, &*fault.actual, fault.errno), (limit, value, None), "{fault}");
            assert!(fault.file.ends_with(format!("slot0.0/{name}")), "{fault}");
            group.set(&right).unwrap();
            group.verify(&right, child.pid()).unwrap();
        }
        group.lift_quota().unwrap();
        assert_eq!(group.verify(&right, child.pid()).unwrap_err().limit, "cpu");
        group.set(&right).unwrap();
        group.verify(&right, child.pid()).unwrap();
        child.go();
    }
}

#[test]
fn verify_sees_a_process_that_left_and_one_that_never_came() {
    // P1-HOST-26
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let mut group = tree.group(0, 0).unwrap();
        let right = limits(64, 0, 16, 100);
        group.set(&right).unwrap();
        let mut child = Role::start("wait");
        assert_eq!(group.verify(&right, child.pid()).unwrap_err().limit, "membership");
        // The quick way knows the names that the kernel uses.
        let hierarchies = layout.hierarchies().iter();
        let hierarchies = hierarchies.map(|one| (one.version, &*one.controllers, &*one.group));
        let quick = Names::new(hierarchies, &Path::new(tree.name()).join("slot0.0"));
        assert_eq!(quick.is_none(), layout.kind() == Kind::V2);
        for hierarchy in layout.hierarchies() {
            group.adopt(child.pid(), true).unwrap();
            group.verify(&right, child.pid()).unwrap();
            assert!(quick.as_ref().is_none_or(|names| names.say_so(child.pid())));
            let home = hierarchy.own.join("cgroup.procs");
            std::fs::write(&home, child.pid().to_string()).unwrap();
            let fault = group.verify(&right, child.pid()).unwrap_err();
            let file = hierarchy.base.join(tree.name()).join("slot0.0/cgroup.procs");
            assert_eq!((fault.limit, &fault.file, fault.errno), ("membership", &file, None));
            assert!(quick.as_ref().is_none_or(|names| !names.say_so(child.pid())));
        }
        child.go();
    }
}

#[test]
fn verify_sees_a_group_that_is_gone() {
    // P1-HOST-26
    let Some(layout) = needs_cgroups() else { return };
    let tree = Tree::make(&layout).unwrap();
    let mut group = tree.group(0, 0).unwrap();
    let right = limits(64, 0, 16, 100);
    group.set(&right).unwrap();
    std::fs::remove_dir(path_of(&layout, &tree, "memory", "slot0.0")).unwrap();
    let fault = group.verify(&right, std::process::id() as i32).unwrap_err();
    assert_eq!((fault.limit, fault.errno), ("memory", Some(Errno::NODEV)), "{fault}");
    assert_eq!(group.set(&right).unwrap_err().errno, Some(Errno::NODEV));
}

#[test]
fn memory_is_bounded_and_counted() {
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let mut group = tree.group(0, 0).unwrap();
        group.set(&limits(32, 0, 32, 100)).unwrap();
        let before = group.counters();
        assert_eq!(before.oom_kills, Some(0));
        // A kernel before 6.12 cannot reset it in version 2, and then it is not told at all.
        let resets = group.reset_peak();
        assert!(resets || version(&layout, "memory") == Version::V2);
        let mut child = Role::start("allocate");
        group.adopt(child.pid(), true).unwrap();
        child.go();
        assert_eq!(child.signal(), Some(libc::SIGKILL));
        assert!(group.wait_empty(Instant::now() + LONG).unwrap());
        assert!(group.counters().oom_kills >= Some(1));
        let (peak, rest) = (group.peak_memory(), group.memory_in_use().unwrap());
        assert!(rest < 16 << 20, "{rest}");
        if resets {
            let peak = peak.unwrap();
            assert!((16 << 20..=32 << 20).contains(&peak), "{peak}");
            assert!(group.reset_peak());
            assert!(group.peak_memory().unwrap() < peak);
        } else {
            assert_eq!(peak, None);
        }
        group.retire().unwrap();
    }
}

#[test]
fn tasks_are_bounded_and_refusals_counted() {
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let mut group = tree.group(0, 0).unwrap();
        group.set(&limits(64, 0, 10, 100)).unwrap();
        let mut child = Role::start("fork");
        group.adopt(child.pid(), true).unwrap();
        assert_eq!(group.counters().refused_tasks, Some(0));
        child.go();
        let said = child.said("refused");
        let (errno, children) = said.split_once(" after ").unwrap();
        assert_eq!(errno, libc::EAGAIN.to_string());
        // The test program has two threads of its own.
        assert_eq!(children, "8");
        assert!(group.counters().refused_tasks >= Some(1));
        assert!(!group.is_empty().unwrap());
        group.kill().unwrap();
        assert_eq!(child.signal(), Some(libc::SIGKILL));
        assert!(group.wait_empty(Instant::now() + LONG).unwrap());
        group.retire().unwrap();
    }
}

#[test]
fn a_group_that_makes_processes_without_end_is_killed() {
    // P1-HOST-27
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let mut group = tree.group(0, 0).unwrap();
        let storm = |group: &mut Group| {
            group.set(&limits(64, 0, 32, 100)).unwrap();
            let mut child = Role::start("storm");
            group.adopt(child.pid(), true).unwrap();
            child.go();
            child.said("storming");
            let until = Instant::now() + LONG;
            while group.counters().refused_tasks == Some(0) {
                assert!(Instant::now() < until, "nothing was refused");
                std::thread::yield_now();
            }
            child
        };
        let mut child = storm(&mut group);
        group.lift_quota().unwrap();
        group.kill().unwrap();
        if layout.kind() == Kind::V1 {
            // Signals alone would be a race against the forks.
            assert_eq!(file(&layout, &tree, "pids", "pids.max"), "0");
        }
        assert!(group.wait_empty(Instant::now() + LONG).unwrap());
        assert_eq!(child.signal(), Some(libc::SIGKILL));
        group.retire().unwrap();
        // The same with all at once, the quota in force.
        let mut group = tree.group(0, 1).unwrap();
        let mut child = storm(&mut group);
        let name = tree.name().to_owned();
        drop(tree);
        assert!(left(&layout, &name).is_empty());
        assert_eq!(child.signal(), Some(libc::SIGKILL));
    }
}

#[test]
fn processor_time_is_bounded_and_counted_and_a_throttled_group_can_be_killed() {
    // P1-HOST-27
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let mut group = tree.group(0, 0).unwrap();
        group.set(&limits(64, 0, 16, 5)).unwrap();
        let mut child = Role::start("spin");
        group.adopt(child.pid(), true).unwrap();
        child.go();
        child.said("spinning");
        let until = Instant::now() + LONG;
        // The kernel counts when it lets the members go on.
        while group.counters().throttled == Some(Duration::ZERO) {
            assert!(Instant::now() < until, "never throttled");
            std::thread::yield_now();
        }
        let counters = group.counters();
        let counted = layout.kind() != Kind::V1
            || layout.hierarchies().iter().any(|one| one.controllers.contains(&Controller::Cpuacct));
        assert_eq!(counters.cpu.is_some(), counted);
        assert_ne!(counters.cpu, Some(Duration::ZERO));
        assert!(counters.throttled > Some(Duration::ZERO) && counters.throttled_periods >= Some(1));
        assert!(!group.wait_empty(Instant::now()).unwrap());
        group.lift_quota().unwrap();
        group.kill().unwrap();
        assert!(group.wait_empty(until).unwrap());
        assert_eq!(child.signal(), Some(libc::SIGKILL));
        group.retire().unwrap();
    }
}

#[test]
fn the_end_of_the_last_member_is_noticed_and_a_group_with_members_is_not_retired() {
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let group = tree.group(0, 0).unwrap();
        assert!(group.is_empty().unwrap());
        let mut child = Role::start("wait");
        group.adopt(child.pid(), true).unwrap();
        assert!(!group.is_empty().unwrap());
        let error = group.retire().unwrap_err();
        assert!(error.to_string().contains(&format!("{}/slot0.0", tree.name())), "{error}");
        // The same name again: what is in the way is killed.
        let group = tree.group(0, 0).unwrap();
        assert_eq!(child.signal(), Some(libc::SIGKILL));
        let mut child = Role::start("wait");
        group.adopt(child.pid(), true).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| group.wait_empty(Instant::now() + LONG));
            child.child.kill().unwrap();
            assert!(waiting.join().unwrap().unwrap());
        });
        group.retire().unwrap();
        assert!(!path_of(&layout, &tree, "memory", "slot0.0").exists());
    }
}

#[test]
fn a_process_cloned_into_a_group_is_under_the_limits_that_it_says() {
    let Some(layout) = needs_cgroups() else { return };
    let tree = Tree::make(&layout).unwrap();
    let mut group = tree.group(0, 0).unwrap();
    let right = limits(64, 0, 16, 100);
    group.set(&right).unwrap();
    let Some(into) = group.into_fd() else { return println!("skipped: no version 2") };
    // SAFETY: plain data for which all zeros is a value.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = libc::SIGCHLD as u64;
    arguments.cgroup = into.as_raw_fd() as u64;
    // SAFETY: as a fork: the child has a copy of the memory, and does nothing but wait for its end.
    let pid = unsafe {
        match libc::syscall(libc::SYS_clone3, &arguments, size_of::<libc::clone_args>()) {
            0 => loop {
                libc::pause();
            },
            pid => pid as i32,
        }
    };
    assert!(pid > 0, "{}", std::io::Error::last_os_error());
    let complete = group.verify(&right, pid);
    assert_eq!(complete.is_ok(), group.is_complete_by_clone());
    group.adopt(pid, false).unwrap();
    let adopted = group.verify(&right, pid);
    group.kill().unwrap();
    let mut status = 0;
    // SAFETY: the child made above, and a number for its status.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL);
    adopted.unwrap();
    assert!(group.wait_empty(Instant::now() + LONG).unwrap());
    group.retire().unwrap();
}

/// Files of a kernel that does not count swap, in a folder: they take what is written, which is enough here.
#[test]
fn a_machine_without_swap_needs_no_account_of_it_and_one_that_gets_swap_does() {
    // P1-HOST-26
    let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
    for (version, names) in [
        (Version::V1, &["memory.limit_in_bytes", "pids.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"][..]),
        (Version::V2, &["memory.max", "pids.max", "cpu.max"][..]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let swaps = folder.path().join("swaps");
        std::fs::write(&swaps, heading).unwrap();
        let sources = Sources { swaps: swaps.clone(), ..Sources::default() };
        let file = std::fs::File::open(folder.path()).unwrap();
        let directory = Directory { fd: file.as_fd(), path: folder.path(), version };
        let knobs = Knobs::open(directory, directory, directory, &sources).unwrap();
        let wanted = limits(64, 0, 16, 100);
        knobs.set(&wanted).unwrap();
        knobs.verify(&wanted).unwrap();
        std::fs::write(&swaps, format!("{heading}/dev/sda2 partition\t8388604\t0\t-2\n")).unwrap();
        for fault in [knobs.verify(&wanted).unwrap_err(), knobs.set(&wanted).unwrap_err()] {
            assert_eq!((fault.limit, &fault.file, fault.errno), ("swap", &swaps, None));
            assert!(fault.actual.contains("/dev/sda2"), "{fault}");
        }
        std::fs::remove_file(&swaps).unwrap();
        let fault = Knobs::open(directory, directory, directory, &sources).unwrap_err();
        assert_eq!((fault.limit, &fault.file, fault.errno), ("swap", &swaps, Some(Errno::NOENT)));
        // A file of limits that is not there is named.
        std::fs::write(&swaps, heading).unwrap();
        for name in names {
            std::fs::rename(folder.path().join(name), folder.path().join("away")).unwrap();
            let fault = Knobs::open(directory, directory, directory, &sources).unwrap_err();
            assert_eq!((&fault.file, fault.errno), (&folder.path().join(name), Some(Errno::NOENT)));
            std::fs::rename(folder.path().join("away"), folder.path().join(name)).unwrap();
        }
    }
}
