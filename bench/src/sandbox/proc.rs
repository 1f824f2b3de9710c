//! What the kernel says about processes, groups and mounts.

use std::fs;
use std::path::{Path, PathBuf};

/// Processes whose command line holds `marker`, zombies not among them: those have none.
pub(super) fn with_marker(marker: &str) -> Vec<i32> {
    let own = std::process::id().cast_signed();
    let holds = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(marker.len()).any(|part| part == marker.as_bytes())
    };
    processes().into_iter().filter(|pid| *pid != own).filter(holds).collect()
}

/// Children of this process, those included that nobody has reaped, and their names.
pub(super) fn children() -> Vec<(i32, String)> {
    let own = std::process::id().to_string();
    let name = |pid: i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (before, after) = stat.rsplit_once(')')?;
        let name = before.split_once('(')?.1.to_owned();
        (after.split_whitespace().nth(1) == Some(&own)).then_some((pid, name))
    };
    processes().into_iter().filter_map(name).collect()
}

fn processes() -> Vec<i32> {
    let list = fs::read_dir("/proc").into_iter().flatten().flatten();
    list.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Mounts that this process sees, and its children.
pub(super) fn mounts() -> usize {
    let count = |pid: &str| {
        fs::read_to_string(format!("/proc/{pid}/mountinfo")).map_or(0, |text| text.lines().count())
    };
    count("self") + children().iter().map(|(pid, _)| count(&pid.to_string())).sum::<usize>()
}

/// A value of `/proc/self/status` in KiB, such as `VmRSS`.
pub(super) fn memory(name: &str) -> Result<u64, String> {
    let text =
        fs::read_to_string("/proc/self/status").map_err(|error| format!("/proc/self/status: {error}"))?;
    let value =
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next());
    value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("/proc/self/status has no {name}"))
}

/// Directories of the control groups that the host with this process id has made, all hierarchies together.
pub(super) fn groups(host: u32) -> usize {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let trees = places(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"))
        .into_iter()
        .filter_map(|place| fs::read_dir(place).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| is_tree_of(host, name))
        });
    trees.map(|tree| 1 + below(&tree)).sum()
}

/// Directories below one. Groups of a host are two deep.
fn below(folder: &Path) -> usize {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect()
    };
    folders(folder).iter().map(|inner| 1 + folders(inner).len()).sum()
}

/// `modberth-INDEX-PID-RANDOM`.
fn is_tree_of(host: u32, name: &str) -> bool {
    let mut parts = name.split('-');
    parts.next() == Some("modberth") && parts.nth(1) == Some(&host.to_string()) && parts.next().is_some()
}

/// Where a host's groups can be: its own group in each hierarchy, and the one above, because a host moves itself to a leaf.
fn places(mountinfo: &str, cgroup: &str) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for line in mountinfo.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let Some(dash) = fields.iter().position(|field| *field == "-") else { continue };
        let (Some(root), Some(point), Some(kind)) = (fields.get(3), fields.get(4), fields.get(dash + 1))
        else {
            continue;
        };
        let options = fields.get(dash + 3).copied().unwrap_or_default();
        let own = cgroup.lines().find_map(|line| {
            let (_, line) = line.split_once(':')?;
            let (controllers, path) = line.split_once(':')?;
            let first = controllers.split(',').next().unwrap_or_default();
            let same = match *kind {
                "cgroup2" => controllers.is_empty(),
                "cgroup" => !first.is_empty() && options.split(',').any(|option| option == first),
                _ => false,
            };
            same.then_some(path)
        });
        let Some(inside) = own.and_then(|path| Path::new(path).strip_prefix(root).ok()) else { continue };
        let place = Path::new(point).join(inside);
        if !inside.as_os_str().is_empty() {
            places.extend(place.parent().map(Path::to_owned));
        }
        places.push(place);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 /slice /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";

    #[test]
    fn groups_are_looked_for_where_a_host_makes_them() {
        let groups = "4:memory:/\n3:cpuset:/elsewhere\n0::/slice/unit/modberth-host\n";
        let expected = [
            "/sys/fs/cgroup/memory",
            "/sys/fs/cgroup/unified/unit",
            "/sys/fs/cgroup/unified/unit/modberth-host",
        ];
        assert_eq!(places(MOUNTS, groups), expected.map(PathBuf::from));
    }

    #[test]
    fn a_tree_is_known_by_its_host() {
        assert!(is_tree_of(77, "modberth-0-77-ab12cd"));
        assert!(!is_tree_of(77, "modberth-77-8-ab12cd") && !is_tree_of(77, "modberth-host"));
    }

    #[test]
    fn children_are_seen_with_their_names() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id().cast_signed();
        // The name changes with exec, which spawn has waited for.
        assert!(children().contains(&(pid, "sleep".to_owned())));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children().iter().any(|(other, _)| *other == pid));
    }

    #[test]
    fn memory_is_read_by_name() {
        assert!(memory("VmRSS").unwrap() > 0);
        assert!(memory("VmNone").is_err());
    }
}
