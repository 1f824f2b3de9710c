//! What ends modules when their host cannot (P1-HOST-25, P1-HOST-27): hosts that are killed and stopped, and guardians
//! that are killed. Every verdict is taken from outside: the process table and the directories of the control groups.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command as Program, Stdio};
use std::time::{Duration, Instant};

use common::{alive, example, groups_of, guardian, hierarchies, marker, settle};
use modberth_sandbox::{Launcher, Options};

/// A guard against hangs.
const GUARD: Duration = Duration::from_secs(60);

/// A host in a process of its own.
struct Host {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Host {
    fn start(kind: &str, marker: &str, backstop: Option<Duration>, grace: Duration, count: u32) -> Self {
        settle();
        let span = |span: Duration| span.as_millis().to_string();
        let backstop = backstop.map_or("default".into(), span);
        let mut child = Program::new(example("host"))
            .args([kind, marker, &backstop, &span(grace), &count.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn wait_for(&mut self, line: &str) {
        let mut text = String::new();
        self.lines.read_line(&mut text).unwrap();
        assert_eq!(text.trim(), line);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes of the module. What shares the host's memory has the host's command line and is none of them.
fn modules(marker: &str) -> Vec<u32> {
    alive(&format!("{marker}-module"))
}

/// Waits until the module is gone.
fn gone(marker: &str) -> Duration {
    let begin = Instant::now();
    while !modules(marker).is_empty() {
        assert!(begin.elapsed() < GUARD, "still there: {:?}", modules(marker));
        std::thread::yield_now();
    }
    begin.elapsed()
}

/// Waits until the module and its descendants run.
fn running(marker: &str) {
    let begin = Instant::now();
    while modules(marker).len() < 4 {
        assert!(begin.elapsed() < GUARD, "only {:?}", modules(marker));
        std::thread::yield_now();
    }
}

const NONE: Duration = Duration::ZERO;

// P1-HOST-25
#[test]
fn a_module_does_not_outlive_a_host_that_is_killed() {
    for kind in ["confined", "rlimits-only"] {
        let marker = marker();
        let mut host = Host::start(kind, &marker, Some(NONE), NONE, 1);
        host.wait_for("ready");
        host.wait_for("launched");
        running(&marker);
        host.child.kill().unwrap();
        host.child.wait().unwrap();
        gone(&marker);
    }
}

// P1-HOST-25
#[test]
fn a_stopped_host_does_not_let_its_module_live_longer() {
    for kind in ["confined", "rlimits-only"] {
        let marker = marker();
        let mut host = Host::start(kind, &marker, Some(Duration::from_millis(1500)), NONE, 1);
        host.wait_for("ready");
        host.wait_for("launched");
        running(&marker);
        host.signal(rustix::process::Signal::STOP);
        gone(&marker);
        assert!(alive(&marker).contains(&host.child.id()));
    }
}

// P1-HOST-25
#[test]
fn the_default_backstop_under_a_stopped_host_is_twelve_seconds() {
    let marker = marker();
    let mut host = Host::start("confined", &marker, None, NONE, 1);
    host.wait_for("ready");
    let begin = Instant::now();
    host.wait_for("launched");
    running(&marker);
    host.signal(rustix::process::Signal::STOP);
    gone(&marker);
    let took = begin.elapsed().as_millis();
    assert!((11_900..22_800).contains(&took), "{took} ms");
}

// P1-HOST-25
#[test]
fn a_module_does_not_outlive_its_host_when_the_guardian_died_before() {
    let marker = marker();
    let mut host = Host::start("confined", &marker, Some(NONE), NONE, 1);
    host.wait_for("ready");
    host.wait_for("launched");
    running(&marker);
    let guardian = rustix::process::Pid::from_raw(guardian(host.child.id()) as i32).unwrap();
    rustix::process::kill_process(guardian, rustix::process::Signal::KILL).unwrap();
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    gone(&marker);
}

/// A backend has its time for its own cleanup, and no more.
#[test]
fn a_module_with_grace_is_ended_by_the_guardian() {
    let marker = marker();
    let mut host = Host::start("confined", &marker, Some(NONE), Duration::from_millis(700), 1);
    host.wait_for("ready");
    host.wait_for("launched");
    running(&marker);
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    // Not at once: nothing but the guardian ends it.
    assert_eq!(modules(&marker).len(), 4);
    gone(&marker);
}

/// The groups of a host that was killed go, at the latest when the next host starts.
#[test]
fn nothing_is_left_of_hosts_that_were_killed_at_any_point() {
    // The test machine's processors are emulated.
    let times = if std::env::var_os("MODBERTH_VM").is_some() { 40 } else { 200 };
    let mut hosts = Vec::new();
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
    let before = mounts();
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..times {
        let marker = marker();
        let mut host = Host::start("confined", &marker, Some(NONE), NONE, 2);
        host.wait_for("ready");
        // Any point of the launch and of what follows: up to three milliseconds.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_micros(seed % 3000) {
            std::hint::spin_loop();
        }
        hosts.push(host.child.id());
        host.child.kill().unwrap();
        host.child.wait().unwrap();
        let took = gone(&marker);

        assert!(took < Duration::from_secs(2), "round {round}: {took:?}");
    }
    let next = Launcher::confined(Options::default()).unwrap();
    let left: Vec<_> = hosts.iter().flat_map(|host| groups_of(*host)).collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
    assert_eq!(mounts(), before);
    drop(next);
    assert_eq!(groups_of(std::process::id()), Vec::<std::path::PathBuf>::new());
}

/// Many machines forbid core files by a hard limit of 0, and some hosts may have few open files: modules then have no
/// more either.
#[test]
fn a_host_with_low_hard_limits_starts_modules() {
    settle();
    let marker = marker();
    let script = "ulimit -c 0 && ulimit -n 60 && exec \"$0\" confined \"$1\" 0 0 1";
    let mut host = Program::new("/bin/sh")
        .args(["-c", script])
        .arg(example("host"))
        .arg(&marker)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let said: Vec<String> = lines.by_ref().take(2).map(Result::unwrap).collect();
    let limits = alive(&format!("{marker}-module")).first().map(|module| {
        let limits = fs::read_to_string(format!("/proc/{module}/limits")).unwrap();
        let hard = |name: &str| {
            let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().to_owned()
        };
        (hard("Max core file size"), hard("Max open files"))
    });
    host.kill().unwrap();
    host.wait().unwrap();
    assert_eq!(said, ["ready", "launched"]);
    let (cores, files) = limits.unwrap();
    assert!(["0", "1"].contains(&&*cores), "{cores}");
    assert_eq!(files, "60");
}

/// What the kernel kills last when memory runs out are not modules.
#[test]
fn a_module_does_not_inherit_that_the_kernel_spares_its_host() {
    settle();
    let marker = marker();
    let script = "echo -500 > /proc/self/oom_score_adj || exit 9; exec \"$0\" confined \"$1\" 0 0 1";
    let mut child = Program::new("/bin/sh")
        .args(["-c", script])
        .arg(example("host"))
        .arg(&marker)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let mut host = Host { child, lines };
    let mut said = String::new();
    host.lines.read_line(&mut said).unwrap();
    if said.is_empty() && host.child.wait().unwrap().code() == Some(9) {
        println!("not run: this user may not be spared (CAP_SYS_RESOURCE)");
        return;
    }
    host.wait_for("launched");
    let score =
        |pid: u32| fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap().trim().to_owned();
    let first = modules(&marker).into_iter().min().unwrap();
    assert_eq!((&*score(first), &*score(host.child.id())), ("0", "-500"));
}

/// Some kernels kill whatever is started in a group if another above it was killed once, as a service manager may do.
#[test]
fn a_host_starts_in_a_group_that_was_killed_once() {
    settle();
    let Some(hierarchy) = hierarchies().into_iter().find(|one| one.version_2) else { return };
    // Beside the leaf that this process may be in.
    let hands_on = |group: &&Path| {
        fs::read_to_string(group.join("cgroup.subtree_control")).is_ok_and(|names| names.contains("memory"))
    };
    let above = hierarchy.own.ancestors().find(hands_on).unwrap_or(&hierarchy.own);
    let group = above.join(format!("test-killed-{}", std::process::id()));
    fs::create_dir(&group).unwrap();
    if fs::write(group.join("cgroup.kill"), "1").is_ok() {
        let marker = marker();
        let script = "echo $$ > \"$0/cgroup.procs\" && exec \"$1\" confined \"$2\" 0 0 1";
        let mut child = Program::new("/bin/sh")
            .args(["-c", script])
            .args([&group, &example("host")])
            .arg(&marker)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut host = Host { child, lines };
        host.wait_for("ready");
        host.wait_for("launched");
        running(&marker);
        host.child.kill().unwrap();
        host.child.wait().unwrap();
        gone(&marker);
    }
    // The guardian cleans up, and leaves last.
    let begin = Instant::now();
    while let Err(error) = remove(&group) {
        assert!(begin.elapsed() < GUARD, "{}: {error}", group.display());
        std::thread::yield_now();
    }
}

/// Removes a group and those below it.
fn remove(group: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(group)?.flatten().filter(|entry| entry.path().is_dir()) {
        remove(&entry.path())?;
    }
    fs::remove_dir(group)
}
