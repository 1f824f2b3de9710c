//! Trees for tests, and children that do what they are told once they are in a group.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use super::super::layout::{Hierarchy, LEAF, Sources};
use super::super::tree::index_of;
use super::super::{Controller, Layout, Tree, Version};

/// A guard against a hang; what is waited for takes milliseconds.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// The machine's arrangement, or `None` with the reason printed.
///
/// In version 2 the first tree may move this process to a leaf. It is made before anything else, so that all children
/// are in the leaf too and find the same place.
pub(super) fn needs_cgroups() -> Option<Layout> {
    static SETTLED: Once = Once::new();
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root");
        return None;
    }
    SETTLED.call_once(|| drop(Tree::here()));
    match Layout::find() {
        Ok(layout) => Some(layout),
        Err(unavailable) => {
            println!("skipped: {unavailable}");
            None
        }
    }
}

/// The machine's arrangement as it would be without version 2; `None` on a machine that has the limits there.
pub(super) fn without_unified() -> Option<Layout> {
    needs_cgroups()?;
    let folder = tempfile::tempdir().unwrap();
    let edit = |name: &str, keep: fn(&str) -> bool| {
        let text = std::fs::read_to_string(format!("/proc/self/{name}")).unwrap();
        let text: String = text.lines().filter(|line| keep(line)).map(|line| format!("{line}\n")).collect();
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let sources = Sources {
        mountinfo: edit("mountinfo", |line| !line.contains(" - cgroup2 ")),
        cgroup: edit("cgroup", |line| !line.starts_with("0::")),
        ..Sources::default()
    };
    Layout::find_from(sources).map_err(|unavailable| println!("skipped: {unavailable}")).ok()
}

/// Both ways to kill that this machine can show.
pub(super) fn all_layouts() -> Vec<Layout> {
    needs_cgroups().into_iter().chain(without_unified()).collect()
}

/// The directory of a group in the hierarchy that has `what`.
pub(super) fn path_of(layout: &Layout, tree: &Tree, what: &str, group: &str) -> PathBuf {
    let places = layout.places();
    let place = places.iter().find(|place| place.what == what).unwrap();
    place.path.join(tree.name()).join(group)
}

/// The trees of this name that are left anywhere.
pub(super) fn left(layout: &Layout, name: &str) -> Vec<PathBuf> {
    let paths = layout.hierarchies().iter().map(|one| one.base.join(name));
    paths.filter(|path| path.exists()).collect()
}

/// This test program once more, in a role. It begins when it is told to, and is killed at the end of the test.
pub(super) struct Role {
    pub(super) child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Role {
    pub(super) fn start(role: &str) -> Self {
        Self::start_as(role, None)
    }

    /// As another user, who can read this program.
    pub(super) fn start_as(role: &str, user: Option<u32>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "cgroup::tests::support::role", "--nocapture", "--test-threads=1"])
            .env("CGROUP_TEST_ROLE", role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(user) = user {
            command.uid(user).gid(user).current_dir("/");
        }
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut role = Self { child, output };
        role.said("ready");
        role
    }

    pub(super) fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub(super) fn go(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"g").unwrap();
    }

    /// What stands behind this word in the next line that begins with it.
    pub(super) fn said(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(
                self.output.read_line(&mut line).unwrap(),
                0,
                "the child ended without saying {word:?}"
            );
            if let Some(rest) = line.trim_end().strip_prefix(word) {
                return rest.trim().to_owned();
            }
        }
    }

    /// The signal that ended it.
    pub(super) fn signal(&mut self) -> Option<i32> {
        std::os::unix::process::ExitStatusExt::signal(&self.child.wait().unwrap())
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a child does: the other side of other tests, which fail if it does not do it. Without a role it does nothing.
#[test]
fn role() {
    let Ok(role) = std::env::var("CGROUP_TEST_ROLE") else { return };
    let wait = || {
        let mut byte = [0];
        std::io::stdin().read_exact(&mut byte).unwrap();
    };
    println!("\nready");
    wait();
    let end = Instant::now() + LONG;
    match role.as_str() {
        "wait" => wait(),
        "spin" => {
            println!("spinning");
            while Instant::now() < end {
                std::hint::spin_loop();
            }
        }
        "allocate" => {
            let mut kept = Vec::new();
            for _ in 0..256 {
                kept.push(std::hint::black_box(vec![1u8; 1 << 20]));
            }
            println!("kept {}", kept.len());
        }
        "fork" => {
            let mut children = Vec::new();
            let refused = loop {
                match Command::new("/bin/sleep").arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn()
                {
                    Ok(child) => children.push(child),
                    Err(error) => break error,
                }
                assert!(children.len() < 64, "nothing was refused");
            };
            println!("refused {} after {}", refused.raw_os_error().unwrap_or(0), children.len());
            wait();
        }
        "host" => {
            let layout = Layout::find().unwrap();
            let tree = Tree::make(&layout).unwrap();
            let group = tree.group(0, 0).unwrap();
            let module =
                Command::new("/bin/sleep").arg("600").stdin(Stdio::null()).stdout(Stdio::null()).spawn();
            let pid = module.unwrap().id() as i32;
            group.adopt(pid, true).unwrap();
            println!("tree {}", tree.name());
            println!("module {pid}");
            wait();
        }
        "storm" => {
            println!("storming");
            // SAFETY: every process of this, the first and its copies, does nothing but make more of them.
            unsafe {
                libc::signal(libc::SIGCHLD, libc::SIG_IGN);
                loop {
                    libc::fork();
                }
            }
        }
        "leaf" => {
            let own = || {
                let text = std::fs::read_to_string("/proc/self/cgroup").unwrap();
                text.lines().find_map(|line| line.strip_prefix("0::")).unwrap().to_owned()
            };
            let before = own();
            let tree = Tree::make(&Layout::find().unwrap()).unwrap();
            println!("moved {}", own().strip_prefix(&before).unwrap());
            println!("tree {}", tree.name());
            // From the leaf the place of trees is the same.
            let again = Tree::make(&Layout::find().unwrap()).unwrap();
            println!("again {} {}", own().strip_prefix(&before).unwrap(), index_of(again.name()).unwrap());
            wait();
        }
        "crowded" => match Layout::find().and_then(|layout| Ok((Tree::make(&layout)?, layout))) {
            Ok((tree, layout)) => {
                println!("base {}", layout.hierarchies()[0].base.display());
                println!("tree {}", tree.name());
                wait();
            }
            // A line.
            Err(unavailable) => println!("error {}", unavailable.to_string().replace('\n', " | ")),
        },
        "late" => {
            let layout = Layout::find().unwrap();
            println!("found {}", layout.hierarchies()[0].base.display());
            wait();
            println!("error {}", Tree::make(&layout).unwrap_err().missing[0]);
            // Now this process is in its leaf, with others beside it.
            let tree = Tree::here().unwrap();
            println!("base {}", Layout::find().unwrap().hierarchies()[0].base.display());
            println!("tree {}", tree.name());
            wait();
        }
        other => panic!("no role {other}"),
    }
}

impl Hierarchy {
    /// Whether a line of `/proc/<pid>/cgroup` that begins so is about this hierarchy.
    fn is_named_by(&self, head: &str) -> bool {
        let names = head.split(':').nth(1).unwrap();
        match self.version {
            Version::V2 => names.is_empty(),
            Version::V1 => self.controllers.iter().any(|one| names.split(',').any(|name| name == one.name())),
        }
    }
}

/// A group of a test's own in each hierarchy, and the machine's arrangement as a host in it would find it.
pub(super) struct Base {
    folder: tempfile::TempDir,
    pub(super) directories: Vec<PathBuf>,
}

impl Base {
    pub(super) fn make(layout: &Layout) -> Self {
        let folder = tempfile::Builder::new().prefix("modberth-test").tempdir().unwrap();
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let line = |line: &str| {
            let (head, own) = line.split_at(line.rfind(':').unwrap() + 1);
            // Where trees go; without a hierarchy that is used, beside this process.
            let used = layout.hierarchies().iter().find(|one| one.is_named_by(head));
            let above = used.map_or(Path::new(own), |one| &one.group);
            format!("{head}{}\n", above.join(name).display())
        };
        std::fs::write(folder.path().join("cgroup"), text.lines().map(line).collect::<String>()).unwrap();
        let mut directories = Vec::new();
        for hierarchy in layout.hierarchies() {
            let directory = hierarchy.base.join(name);
            std::fs::create_dir(&directory).unwrap();
            if hierarchy.controllers.contains(&Controller::Cpuset) {
                for file in ["cpuset.cpus", "cpuset.mems"] {
                    std::fs::copy(hierarchy.base.join(file), directory.join(file)).unwrap();
                }
                // What a test makes below takes it over.
                std::fs::write(directory.join("cgroup.clone_children"), "1").unwrap();
            }
            directories.push(directory);
        }
        Self { folder, directories }
    }

    pub(super) fn sources(&self) -> Sources {
        Sources { cgroup: self.folder.path().join("cgroup"), ..Sources::default() }
    }

    pub(super) fn find(&self) -> Layout {
        Layout::find_from(self.sources()).unwrap()
    }

    /// Gives the groups to a user, as the recipe for people does.
    pub(super) fn delegate(&self, user: u32) {
        for directory in &self.directories {
            for file in ["", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"] {
                let path = directory.join(file);
                if path.exists() {
                    std::os::unix::fs::chown(&path, Some(user), None).unwrap();
                }
            }
        }
        // So that the user can read what stands in it.
        std::os::unix::fs::chown(self.folder.path(), Some(user), None).unwrap();
    }

    /// Moves a process into all of it.
    pub(super) fn adopt(&self, pid: u32) {
        self.adopt_below(pid, "");
    }

    /// Moves a process into a group below each, which the base's user is given.
    pub(super) fn adopt_below(&self, pid: u32, name: &str) {
        for base in &self.directories {
            let directory = base.join(name);
            if !directory.exists() {
                std::fs::create_dir(&directory).unwrap();
                let user = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(base).unwrap());
                std::os::unix::fs::chown(&directory, Some(user), None).unwrap();
            }
            std::fs::write(directory.join("cgroup.procs"), pid.to_string()).unwrap();
        }
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        for directory in &self.directories {
            // There in some tests only.
            let _ = std::fs::remove_dir(directory.join(LEAF));
            if let Err(error) = std::fs::remove_dir(directory) {
                eprintln!("{}: {error}", directory.display());
            }
        }
    }
}
