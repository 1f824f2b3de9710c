//! What the two files below `/proc` say in all arrangements, and what is then said to be missing.

use std::path::{Path, PathBuf};

use super::super::layout::{self, Sources};
use super::super::membership::Names;
use super::super::parse::{Hierarchy, hierarchies};
use super::super::{Controller, Kind, Layout, Unavailable, Version};

/// A machine with version 2 alone, the host in a unit.
const V2: (&str, &str) = (
    "24 30 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n\
     30 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
     35 24 0:29 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n",
    "0::/system.slice/modules.service\n",
);

/// A machine of the years between: controllers in version 1, processes tracked in version 2.
const HYBRID: (&str, &str) = (
    "31 24 0:27 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n\
     32 31 0:28 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate\n\
     33 31 0:29 / /sys/fs/cgroup/systemd rw shared:11 - cgroup cgroup rw,xattr,name=systemd\n\
     34 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw shared:15 - cgroup cgroup rw,cpu,cpuacct\n\
     35 31 0:34 / /sys/fs/cgroup/memory rw shared:16 - cgroup cgroup rw,memory\n\
     36 31 0:35 / /sys/fs/cgroup/pids rw shared:17 master:3 - cgroup cgroup rw,pids\n\
     37 31 0:36 / /sys/fs/cgroup/net_cls,net_prio rw shared:18 - cgroup cgroup rw,net_cls,net_prio\n",
    "12:pids:/user.slice/user-7.slice\n11:net_cls,net_prio:/\n7:cpu,cpuacct:/user.slice\n\
     3:memory:/user.slice/user-7.slice/session-2.scope\n1:name=systemd:/user.slice\n0::/user.slice/user-7.slice/session-2.scope\n",
);

fn parsed((mountinfo, cgroup): (&str, &str)) -> Vec<Hierarchy> {
    hierarchies(mountinfo.as_bytes(), cgroup.as_bytes())
}

fn place(parsed: &[Hierarchy], controller: Controller) -> &Path {
    let one = parsed.iter().find(|one| one.controllers.contains(&controller)).unwrap();
    &one.places.first().unwrap().directory
}

#[test]
fn version_2_alone() {
    let found = parsed(V2);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].version, found[0].controllers.len()), (Version::V2, 0));
    let place = &found[0].places[0];
    assert_eq!(place.directory, Path::new("/sys/fs/cgroup/system.slice/modules.service"));
    assert_eq!((place.mount.as_path(), place.device), (Path::new("/sys/fs/cgroup"), (0, 29)));
}

#[test]
fn a_hybrid_with_another_group_in_each_hierarchy() {
    let found = parsed(HYBRID);
    // Hierarchies without a controller that matters are left out, and version 2 comes first.
    assert_eq!(found.len(), 4);
    assert_eq!(found[0].version, Version::V2);
    let unified = Path::new("/sys/fs/cgroup/unified/user.slice/user-7.slice/session-2.scope");
    assert_eq!(found[0].places[0].directory, unified);
    assert_eq!(place(&found, Controller::Pids), Path::new("/sys/fs/cgroup/pids/user.slice/user-7.slice"));
    assert_eq!(place(&found, Controller::Cpu), Path::new("/sys/fs/cgroup/cpu,cpuacct/user.slice"));
    assert_eq!(place(&found, Controller::Cpuacct), place(&found, Controller::Cpu));
    let memory = Path::new("/sys/fs/cgroup/memory/user.slice/user-7.slice/session-2.scope");
    assert_eq!(place(&found, Controller::Memory), memory);
}

#[test]
fn everything_in_one_hierarchy_of_version_1() {
    let found = parsed((
        "40 1 0:50 / /cgroup rw - cgroup none rw,cpuset,cpu,cpuacct,memory,devices,freezer,pids\n",
        "1:cpuset,cpu,cpuacct,memory,devices,freezer,pids:/daemons/host\n",
    ));
    assert_eq!(found.len(), 1);
    for controller in [Controller::Cpuset, Controller::Memory, Controller::Pids, Controller::Cpu] {
        assert_eq!(place(&found, controller), Path::new("/cgroup/daemons/host"));
    }
}

#[test]
fn a_container_that_sees_its_own_part_at_the_mount_point() {
    let mounts = "90 80 0:34 /box/4f2a /sys/fs/cgroup/memory ro,nosuid master:16 - cgroup cgroup rw,memory\n\
                  91 80 0:35 /box /sys/fs/cgroup/pids ro,nosuid master:17 - cgroup cgroup rw,pids\n\
                  92 80 0:33 /box/4f /sys/fs/cgroup/cpu ro,nosuid master:15 - cgroup cgroup rw,cpu\n";
    let found = parsed((mounts, "12:pids:/box/4f2a\n7:cpu:/box/4f2a\n3:memory:/box/4f2a\n"));
    assert_eq!(place(&found, Controller::Memory), Path::new("/sys/fs/cgroup/memory"));
    assert_eq!(place(&found, Controller::Pids), Path::new("/sys/fs/cgroup/pids/4f2a"));
    // `/box/4f` is no group above `/box/4f2a`, though its name begins the same.
    let cpu = found.iter().find(|one| one.controllers.contains(&Controller::Cpu)).unwrap();
    assert!(cpu.places.is_empty());
    assert_eq!(cpu.elsewhere, [PathBuf::from("/sys/fs/cgroup/cpu")]);
}

#[test]
fn a_cgroup_namespace() {
    // Mounted inside: root and group are both the namespace's own.
    let inside = parsed(("70 60 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/\n"));
    assert_eq!(inside[0].places[0].directory, Path::new("/sys/fs/cgroup"));
    // Mounted outside: the way from there to the group cannot be told.
    let outside = parsed(("70 60 0:29 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/\n"));
    assert!(outside[0].places.is_empty());
    assert_eq!(outside[0].elsewhere, [PathBuf::from("/sys/fs/cgroup")]);
    // A process that was moved out of its namespace's groups.
    let moved = parsed(("70 60 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/../other\n"));
    assert!(moved[0].places.is_empty());
    let beside = parsed(("70 60 0:29 /.. /mnt rw - cgroup2 cgroup rw\n", "0::/../other\n"));
    assert_eq!(beside[0].places[0].directory, Path::new("/mnt/other"));
}

#[test]
fn bytes_that_mountinfo_escapes() {
    let found = parsed((
        "70 60 0:29 /a\\040b /mnt/my\\040groups\\011x\\134y\\012z rw - cgroup2 cgroup\\0402 rw\n",
        "0::/a b/c:d\n",
    ));
    assert_eq!(found[0].places[0].directory, Path::new("/mnt/my groups\tx\\y\nz/c:d"));
}

#[test]
fn the_mount_made_last_comes_first() {
    let found = parsed((
        "70 60 0:29 / /old rw - cgroup2 cgroup2 rw\n71 60 0:29 / /new rw - cgroup2 cgroup2 rw\n",
        "0::/h\n",
    ));
    let places: Vec<&Path> = found[0].places.iter().map(|place| place.directory.as_path()).collect();
    assert_eq!(places, [Path::new("/new/h"), Path::new("/old/h")]);
}

#[test]
fn lines_that_are_none_of_it() {
    let mounts = "\n1 2 3\n70 60 0:29 / /x rw - cgroup2\n70 60 029 / /x rw - cgroup2 c rw\n70 60 0:29 / /x rw cgroup2 c rw\n\
                  70 60 0:30 / /y rw - tmpfs cgroup2 rw,memory\n\\";
    let found = parsed((mounts, "nothing\n\n5:memory\n4:freezer:/\n0::/h\n"));
    assert_eq!(found.len(), 1);
    assert!(found[0].places.is_empty() && found[0].elsewhere.is_empty());
}

#[test]
fn swap_is_in_use_or_not() {
    let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
    assert!(layout::no_swap(heading.as_bytes()));
    assert!(!layout::no_swap(format!("{heading}/dev/sda2 partition\t8388604\t0\t-2\n").as_bytes()));
    assert!(!layout::no_swap(b""));
}

/// What is missing on a machine with these files, none of whose mounts is there.
fn missing((mountinfo, cgroup): (&str, &str)) -> Unavailable {
    let folder = tempfile::tempdir().unwrap();
    let sources = Sources {
        mountinfo: folder.path().join("mountinfo"),
        cgroup: folder.path().join("cgroup"),
        ..Sources::default()
    };
    std::fs::write(&sources.mountinfo, mountinfo.replace("/sys/fs/cgroup", "/nowhere")).unwrap();
    std::fs::write(&sources.cgroup, cgroup).unwrap();
    Layout::find_from(sources).unwrap_err()
}

fn whats(unavailable: &Unavailable) -> Vec<&'static str> {
    let mut whats: Vec<_> = unavailable.missing.iter().map(|one| one.what).collect();
    whats.sort_unstable();
    whats
}

#[test]
fn everything_that_is_missing_is_named() {
    for (texts, kind) in [(V2, Kind::V2), (HYBRID, Kind::V1)] {
        let unavailable = missing(texts);
        // A version 2 hierarchy without the limits that cannot be used leaves version 1.
        assert_eq!(unavailable.kind, Some(kind));
        assert_eq!(whats(&unavailable), ["cpu", "memory", "pids"]);
        for one in &unavailable.missing {
            assert!(one.path.starts_with("/nowhere"), "{one}");
            assert_eq!(one.source.as_ref().unwrap().kind(), std::io::ErrorKind::NotFound, "{one}");
        }
    }
    // Present in the kernel, mounted nowhere.
    let unmounted = missing(("", "3:memory:/a\n2:pids:/b\n1:cpu:/c\n"));
    assert_eq!(whats(&unmounted), ["cpu", "memory", "pids"]);
    assert!(unmounted.missing.iter().all(|one| one.why.contains("not mounted")), "{unmounted}");
    // No control groups at all.
    let nothing = missing(("", ""));
    assert_eq!(whats(&nothing), ["cpu", "memory", "pids"]);
    assert!(nothing.missing.iter().all(|one| one.why.contains("no such controller")), "{nothing}");
}

#[test]
fn a_folder_that_is_no_group_is_not_taken_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let unavailable = missing((&format!("70 60 0:29 / {path} rw - cgroup2 cgroup2 rw\n"), "0::/\n"));
    assert!(unavailable.missing.iter().all(|one| one.why == "another mount lies over it"), "{unavailable}");
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let sources = Sources { mountinfo: "/nowhere/mountinfo".into(), ..Sources::default() };
    let unavailable = Layout::find_from(sources).unwrap_err();
    assert_eq!(unavailable.kind, None);
    assert_eq!(unavailable.missing[0].path, Path::new("/nowhere/mountinfo"));
}

#[test]
fn the_text_has_what_is_missing_and_two_ways_out() {
    let text = |unavailable: &Unavailable, parts: &[&str]| {
        let text = unavailable.to_string();
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        text
    };
    let user = rustix::process::geteuid().as_raw();
    text(
        &missing(V2),
        &[
            "(v2)",
            "  memory: the host's own group cannot be opened: /nowhere/system.slice/modules.service (No such file",
            "  pids: ",
            "  cpu: ",
            "systemd-run --user --scope -p 'Delegate=memory pids cpu' COMMAND",
            "[Service]: Delegate=memory pids cpu",
            "    echo '+memory +pids +cpu' > /nowhere/cgroup.subtree_control\n",
            "    mkdir -p /nowhere/modberth\n",
            &format!(
                "    chown {user} /nowhere/modberth /nowhere/modberth/cgroup.procs \
                 /nowhere/modberth/cgroup.subtree_control /nowhere/modberth/cgroup.threads\n"
            ),
            "    echo $$ > /nowhere/modberth/cgroup.procs\n",
        ],
    );
    let hybrid = text(
        &missing(HYBRID),
        &[
            "systemd-run --scope -p 'Delegate=memory pids cpu' COMMAND",
            "    mkdir -p /nowhere/unified/modberth\n",
            "    mkdir -p /nowhere/cpu,cpuacct/modberth\n",
            &format!("    chown {user} /nowhere/pids/modberth /nowhere/pids/modberth/cgroup.procs\n"),
            "    echo $$ > /nowhere/memory/modberth/cgroup.procs\n",
        ],
    );
    // systemd gives controllers of version 1 to no ordinary user; a mount that is there is not made again.
    assert!(!hybrid.contains("--user") && !hybrid.contains("mount -t"), "{hybrid}");
    text(
        &missing(("", "3:memory:/a\n2:pids:/b\n1:cpu,cpuacct:/c\n")),
        &[
            "(v1)",
            "  memory: not mounted; the host's own group is: /a\n",
            "    mkdir -p /sys/fs/cgroup/memory && mount -t cgroup -o memory cgroup /sys/fs/cgroup/memory\n",
            "    mkdir -p /sys/fs/cgroup/cpu,cpuacct && mount -t cgroup -o cpu,cpuacct cgroup /sys/fs/cgroup/cpu,cpuacct\n",
        ],
    );
    text(
        &missing(("", "0::/a\n")),
        &["(v2)", "    mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup\n"],
    );
    text(
        &missing(("", "1:cpuset,cpu,memory,pids:/\n")),
        &[
            "    cat /sys/fs/cgroup/cpuset,cpu,memory,pids/cpuset.mems > /sys/fs/cgroup/cpuset,cpu,memory,pids/modberth/cpuset.mems\n",
        ],
    );
    text(&missing(("", "")), &["install a kernel with the controllers memory, pids and cpu"]);
    text(
        &missing(("7 6 0:9 / /my\\040groups rw - cgroup2 cgroup2 rw\n", "0::/\n")),
        &["    mkdir -p '/my groups/modberth'\n"],
    );
}

#[test]
fn a_membership_is_a_yes_only_with_every_name_in_its_hierarchy() {
    let wanted = [
        (Version::V2, &[][..], Path::new("/a/tree")),
        (Version::V1, &[Controller::Cpu, Controller::Cpuacct], Path::new("/tree")),
        (Version::V1, &[Controller::Pids], Path::new("/b c/tree")),
    ];
    let names = Names::new(wanted.into_iter(), Path::new("slot0.1")).unwrap();
    let right = "9:pids:/b c/tree/slot0.1\n7:memory:/\n5:cpu,cpuacct:/tree/slot0.1\n0::/a/tree/slot0.1\n";
    assert!(names.agree(right.as_bytes()));
    for (part, other) in [
        ("/b c/tree/slot0.1", "/b c/tree/slot0.10"),
        ("/b c/tree/slot0.1", "/b c/tree/slot0.1 (deleted)"),
        ("/b c/tree/slot0.1", "/b c/tree"),
        ("0::/a/tree/slot0.1", "0::/tree/slot0.1"),
        ("0::/a", "1:name=x:/a"),
        ("9:pids", "9:pidsx"),
        ("5:cpu,cpuacct:/tree/slot0.1\n", ""),
    ] {
        assert!(!names.agree(right.replace(part, other).as_bytes()), "{part} as {other}");
    }
    assert!(!names.agree(b""));
    // In version 2 the open list of members is the faster way.
    assert!(Names::new(wanted.into_iter().take(1), Path::new("slot0.1")).is_none());
}
