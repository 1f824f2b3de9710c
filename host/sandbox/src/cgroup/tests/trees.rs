//! Trees of several hosts: indexes, locks, what hosts leave that were killed.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use super::super::tree::index_of;
use super::super::{Kind, Tree};
use super::support::{Base, LONG, Role, all_layouts, left, needs_cgroups};

fn index(tree: &Tree) -> u32 {
    index_of(tree.name()).unwrap()
}

#[test]
fn a_tree_is_in_every_hierarchy_and_nothing_is_left_of_it() {
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let mut group = tree.group(3, 7).unwrap();
        group.set(&crate::Limits::default()).unwrap();
        let guardian = tree.guardian().unwrap();
        let name = tree.name().to_owned();
        assert_eq!(tree.directories().count(), layout.hierarchies().len());
        assert_eq!(left(&layout, &name).len(), layout.hierarchies().len());
        for (directory, path) in tree.directories().zip(left(&layout, &name)) {
            assert!(path.join("slot3.7").is_dir());
            let seen = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).unwrap();
            assert_eq!(seen, path);
        }
        let index = index_of(&name).unwrap();
        assert!(name.starts_with(&format!("modberth-{index}-{}-", std::process::id())), "{name}");
        assert_eq!(tree.unified().is_some(), layout.kind() != Kind::V1);
        assert_eq!(guardian.into_fd().is_some(), layout.kind() != Kind::V1);
        assert_eq!(tree.v1_cpu().is_some(), layout.kind() != Kind::V2);
        drop(tree);
        assert_eq!(left(&layout, &name), [] as [&Path; 0]);
    }
}

#[test]
fn dropping_a_tree_ends_what_lives_in_it() {
    for layout in all_layouts() {
        let tree = Tree::make(&layout).unwrap();
        let name = tree.name().to_owned();
        let group = tree.group(0, 0).unwrap();
        let (mut module, mut guardian) = (Role::start("wait"), Role::start("wait"));
        group.adopt(module.pid(), true).unwrap();
        tree.guardian().unwrap().adopt(guardian.pid()).unwrap();
        drop(tree);
        assert_eq!(module.signal(), Some(libc::SIGKILL));
        assert_eq!(guardian.signal(), Some(libc::SIGKILL));
        assert_eq!(left(&layout, &name), [] as [&Path; 0]);
    }
}

#[test]
fn hosts_have_the_smallest_index_that_is_free() {
    let Some(layout) = needs_cgroups() else { return };
    let base = Base::make(&layout);
    let layout = base.find();
    let mut hosts: Vec<Tree> = (0..3).map(|_| Tree::make(&layout).unwrap()).collect();
    assert_eq!(hosts.iter().map(index).collect::<Vec<_>>(), [0, 1, 2]);
    drop(hosts.remove(1));
    assert_eq!(index(&Tree::make(&layout).unwrap()), 1);
    // Of what does not look like a tree, nothing is taken or removed.
    let others = [
        "modberth-1",
        "modberth-1-2-3",
        "modberth-host",
        "modberth-01-2-xyzxyzxyzxyzxyzx",
        "modberth-1-2-0123456789abcdef-4",
    ];
    for other in others {
        std::fs::create_dir(base.directories[0].join(other)).unwrap();
    }
    assert_eq!(index(&Tree::make(&layout).unwrap()), 1);
    for other in others {
        std::fs::remove_dir(base.directories[0].join(other)).unwrap();
    }
}

#[test]
fn what_is_left_in_one_hierarchy_is_removed_too() {
    let Some(layout) = needs_cgroups() else { return };
    let base = Base::make(&layout);
    let stale = base.directories.last().unwrap().join("modberth-0-4194305-0123456789abcdef");
    std::fs::create_dir_all(stale.join("slot0.0/deeper/still")).unwrap();
    let mut orphan = Role::start("wait");
    std::fs::write(stale.join("slot0.0/deeper/still/cgroup.procs"), orphan.pid().to_string()).unwrap();
    let tree = Tree::make(&base.find()).unwrap();
    assert_eq!(orphan.signal(), Some(libc::SIGKILL));
    assert!(!stale.exists());
    assert_eq!(index(&tree), 0);
}

#[test]
fn a_host_does_not_wait_for_others_for_ever() {
    let Some(layout) = needs_cgroups() else { return };
    let base = Base::make(&layout);
    let layout = base.find();
    let directory = std::fs::File::open(&base.directories[0]).unwrap();
    rustix::fs::flock(&directory, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let unavailable = Tree::make_within(&layout, Duration::from_millis(20)).unwrap_err();
    assert_eq!(unavailable.missing[0].path, base.directories[0]);
    assert!(unavailable.to_string().contains("still locked by another process after 20 ms"), "{unavailable}");
    drop(directory);
    Tree::make_within(&layout, LONG).unwrap();
}

#[test]
fn the_tree_of_a_killed_host_is_removed_and_that_of_a_live_one_is_not() {
    let Some(layout) = needs_cgroups() else { return };
    let start = || {
        let mut host = Role::start("host");
        host.go();
        let name = host.said("tree");
        let module: i32 = host.said("module").parse().unwrap();
        (host, name, module)
    };
    let (mut dead, dead_name, orphan) = start();
    let (live, live_name, kept) = start();
    let orphan = rustix::process::pidfd_open(
        rustix::process::Pid::from_raw(orphan).unwrap(),
        rustix::process::PidfdFlags::empty(),
    )
    .unwrap();
    dead.child.kill().unwrap();
    assert_eq!(dead.signal(), Some(libc::SIGKILL));

    let _tree = Tree::make(&layout).unwrap();
    assert_eq!(left(&layout, &dead_name), [] as [&Path; 0]);
    // Its module has ended: the descriptor is readable.
    let mut ended = [rustix::event::PollFd::new(&orphan, rustix::event::PollFlags::IN)];
    assert_eq!(
        rustix::event::poll(&mut ended, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 })),
        Ok(1)
    );

    assert_eq!(left(&layout, &live_name).len(), layout.hierarchies().len());
    let group = layout.hierarchies()[0].base.join(&live_name).join("slot0.0/cgroup.procs");
    let members = std::fs::read_to_string(group).unwrap();
    assert_eq!(members.trim(), kept.to_string());
    drop(live);
    drop(Tree::make(&layout).unwrap());
    assert_eq!(left(&layout, &live_name), [] as [&Path; 0]);
}
