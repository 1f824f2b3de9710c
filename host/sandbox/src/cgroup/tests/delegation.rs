//! A host that is an ordinary user.

use std::io;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::process::{Gid, Uid};

use super::super::{Kind, Layout, Tree};
use super::support::{Base, LONG, Role, left, needs_cgroups};
use crate::Limits;

const NOBODY: u32 = 65_534;

/// Runs it in a thread that is an ordinary user.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_gid(group, group, group).unwrap();
            rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            work()
        });
        thread.join().unwrap()
    })
}

fn sleeper() -> Child {
    Command::new("/bin/sleep").arg("600").stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn groups_that_are_not_delegated_are_named() {
    let Some(layout) = needs_cgroups() else { return };
    let base = Base::make(&layout);
    std::os::unix::fs::chown(base.sources().cgroup.parent().unwrap(), Some(NOBODY), None).unwrap();
    let unavailable = as_nobody(|| Layout::find_from(base.sources())).unwrap_err();
    let mut whats: Vec<_> = unavailable.missing.iter().map(|one| one.what).collect();
    whats.sort_unstable();
    assert_eq!(whats, ["cpu", "memory", "pids"], "{unavailable}");
    for missing in &unavailable.missing {
        assert!(base.directories.iter().any(|one| missing.path.starts_with(one)), "{missing}");
        assert_eq!(missing.source.as_ref().unwrap().kind(), io::ErrorKind::PermissionDenied, "{missing}");
    }
    assert!(unavailable.to_string().contains("not delegated"), "{unavailable}");
}

#[test]
fn one_group_that_is_not_delegated_is_named_alone() {
    let Some(layout) = needs_cgroups() else { return };
    let base = Base::make(&layout);
    base.delegate(NOBODY);
    let places = base.find().places();
    let pids = &places.iter().find(|place| place.what == "pids").unwrap().path;
    std::os::unix::fs::chown(pids, Some(0), None).unwrap();
    let unavailable = as_nobody(|| Layout::find_from(base.sources())).unwrap_err();
    let named: Vec<_> = unavailable.missing.iter().map(|one| (one.what, &one.path)).collect();
    let expected: Vec<_> = places
        .iter()
        .filter(|place| place.path == *pids && place.what != "kill")
        .map(|place| (place.what, pids))
        .collect();
    assert_eq!(named, expected);
}

#[test]
fn delegated_groups_hold_limits() {
    let Some(layout) = needs_cgroups() else { return };
    let base = Base::make(&layout);
    base.delegate(NOBODY);
    // A host of this user would live in its groups, and its children with it.
    let mut child = as_nobody(sleeper);
    base.adopt_below(child.id(), "modberth-host");
    as_nobody(|| {
        let found = base.find();
        assert_eq!(found.kind(), layout.kind());
        let tree = Tree::make(&found).unwrap();
        let name = tree.name().to_owned();
        let mut group = tree.group(0, 0).unwrap();
        let limits = Limits::default();
        group.set(&limits).unwrap();
        let pid = child.id() as i32;
        group.adopt(pid, true).unwrap();
        group.verify(&limits, pid).unwrap();
        group.kill().unwrap();
        assert!(group.wait_empty(Instant::now() + LONG).unwrap());
        child.wait().unwrap();
        group.retire().unwrap();
        drop(tree);
        assert!(left(&found, &name).is_empty());
    });
}

#[test]
fn files_that_are_not_writable_are_a_fault_with_their_name() {
    // P1-HOST-26
    let Some(layout) = needs_cgroups() else { return };
    let tree = Tree::make(&layout).unwrap();
    let error = as_nobody(|| tree.group(0, 0)).unwrap_err();
    assert!(
        error.to_string().contains(tree.name()) && error.to_string().contains("Permission denied"),
        "{error}"
    );
    let group = tree.group(0, 0).unwrap();
    let mut child = as_nobody(sleeper);
    let fault = as_nobody(|| group.adopt(child.id() as i32, true)).unwrap_err();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((fault.limit, fault.errno), ("membership", Some(rustix::io::Errno::ACCESS)));
    assert!(fault.file.ends_with("slot0.0/cgroup.procs"), "{fault}");
}

#[test]
fn a_host_makes_room_for_controllers_by_moving_to_a_leaf() {
    let Some(layout) = needs_cgroups() else { return };
    if layout.kind() != Kind::V2 {
        return println!("skipped: the limits are not in version 2");
    }
    let base = Base::make(&layout);
    let mut host = Role::start("leaf");
    base.adopt(host.child.id());
    host.go();
    assert_eq!(host.said("moved"), "/modberth-host");
    let tree = base.directories[0].join(host.said("tree"));
    assert!(tree.is_dir());
    assert_eq!(host.said("again"), "/modberth-host 1");
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    drop(Tree::make(&base.find()).unwrap());
}

/// A host that shares its group with somebody else's process, which cannot be moved away. Both end before the groups.
struct Crowd {
    host: Role,
    other: Child,
}

impl Crowd {
    /// `user` is the host's.
    fn start(user: Option<u32>, enter: impl Fn(u32)) -> Self {
        let (mut host, other) = (Role::start_as("crowded", user), sleeper());
        enter(host.child.id());
        enter(other.id());
        host.go();
        Self { host, other }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for child in [&mut self.host.child, &mut self.other] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_host_in_a_crowded_group_goes_to_one_above() {
    let Some(layout) = needs_cgroups() else { return };
    if layout.kind() != Kind::V2 {
        return println!("skipped: the limits are not in version 2");
    }
    let base = Base::make(&layout);
    let mut crowd = Crowd::start(None, |pid| base.adopt(pid));
    // The group above hands controllers on, since the trees of these tests lie there.
    let above = &layout.hierarchies()[0].base;
    assert_eq!(crowd.host.said("base"), above.display().to_string());
    assert!(above.join(crowd.host.said("tree")).is_dir());
    // Nobody was moved.
    let members = std::fs::read_to_string(base.directories[0].join("cgroup.procs")).unwrap();
    let mut members: Vec<u32> = members.lines().map(|line| line.parse().unwrap()).collect();
    members.sort_unstable();
    let mut expected = [crowd.host.child.id(), crowd.other.id()];
    expected.sort_unstable();
    assert_eq!(members, expected);
    drop(crowd);
    drop(Tree::make(&layout).unwrap());
}

#[test]
fn a_group_that_fills_up_while_a_host_starts_is_left_for_one_above() {
    let Some(layout) = needs_cgroups() else { return };
    if layout.kind() != Kind::V2 {
        return println!("skipped: the limits are not in version 2");
    }
    let base = Base::make(&layout);
    let (mut host, other) = (Role::start("late"), sleeper());
    base.adopt(host.child.id());
    host.go();
    assert_eq!(host.said("found"), base.directories[0].display().to_string());
    base.adopt(other.id());
    let mut crowd = Crowd { host, other };
    crowd.host.go();
    let said = crowd.host.said("error");
    assert!(said.contains(&format!("other processes in it: {}", crowd.other.id())), "{said}");
    let above = &layout.hierarchies()[0].base;
    assert_eq!(crowd.host.said("base"), above.display().to_string());
    assert!(above.join(crowd.host.said("tree")).is_dir());
    drop(crowd);
    drop(Tree::make(&layout).unwrap());
}

#[test]
fn a_user_in_a_crowded_group_with_nothing_above_is_told_so() {
    let Some(layout) = needs_cgroups() else { return };
    if layout.kind() != Kind::V2 {
        return println!("skipped: the limits are not in version 2");
    }
    let base = Base::make(&layout);
    base.delegate(NOBODY);
    let mut crowd = Crowd::start(Some(NOBODY), |pid| base.adopt(pid));
    let said = crowd.host.said("error");
    let other = crowd.other.id();
    for part in [
        &format!("the host needs a group of its own; other processes in it: {other}: "),
        "systemd-run --user --scope -p 'Delegate=memory pids cpu' COMMAND",
        "mkdir -p ",
        &format!("chown {NOBODY} "),
    ] {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
}

#[test]
fn a_user_whose_group_above_is_delegated_too_goes_there() {
    let Some(layout) = needs_cgroups() else { return };
    if layout.kind() != Kind::V2 {
        return println!("skipped: the limits are not in version 2");
    }
    let base = Base::make(&layout);
    base.delegate(NOBODY);
    let mut crowd = Crowd::start(Some(NOBODY), |pid| base.adopt_below(pid, "inner"));
    assert_eq!(crowd.host.said("base"), base.directories[0].display().to_string());
    // The host has made it hand controllers on.
    assert!(base.directories[0].join(crowd.host.said("tree")).join("memory.max").exists());
    drop(crowd);
    drop(Tree::make(&base.find()).unwrap());
    std::fs::remove_dir(base.directories[0].join("inner")).unwrap();
}
