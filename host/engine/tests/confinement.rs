//! What confinement means for an action as a whole: what a module sees, that nothing of it is left, and what the host
//! says when a limit was reached. Verdicts come from outside where there is an outside to look from.

mod support;

use std::fs;
use std::time::Duration;

use modberth_host::{Invocation, Module, Outcome};
use serde_json::{Value, json};
use support::{
    Scripted, builder, code, confines, failure, host, not_run, notes, package, rows, short_host, slot_files,
};

/// Names of the processes in the slots' groups, with their numbers.
fn members() -> Vec<(String, u32)> {
    let lists = slot_files("cgroup.procs").into_iter().filter_map(|list| fs::read_to_string(list).ok());
    let pids = lists.flat_map(|list| list.lines().filter_map(|line| line.parse().ok()).collect::<Vec<u32>>());
    // Whoever has ended meanwhile has no name.
    let name =
        |pid: u32| Some((fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim().to_owned(), pid));
    pids.filter_map(name).collect()
}

/// P1-HOST-27, P1-HOST-32: when the host reports a cancelled or late action, its group is empty: what is in the slots'
/// groups are processes that wait for the next one.
#[test]
fn the_group_is_empty_after_a_cancellation_and_a_deadline() {
    if !confines() {
        return not_run("the_group_is_empty_after_a_cancellation_and_a_deadline");
    }
    for step in [json!({"hang": true}), json!({"spin": true})] {
        let script = [json!({"child": "closed"}), json!({"child": "stopped"}), json!({"wait": "runs"}), step];
        let scripted = Scripted::new(&script);
        let host = host();
        let running = host.invoke(scripted.play());
        let held = scripted.meet("runs");
        let alive = scripted.alive();
        assert!(alive.len() >= 3, "{alive:?}");
        let grouped: Vec<u32> = members().into_iter().map(|(_, pid)| pid).collect();
        assert!(alive.iter().all(|pid| grouped.contains(pid)), "{alive:?} in {grouped:?}");
        drop(held);
        running.cancel();
        assert_eq!(code(&running.wait()), "process.cancelled");
        let left = members().into_iter().filter(|(_, pid)| alive.contains(pid)).collect::<Vec<_>>();
        assert_eq!((left, scripted.alive()), (vec![], vec![]));

        let scripted = Scripted::new(&script);
        let short = short_host(1_500, 500);
        let running = short.invoke(scripted.play());
        scripted.release("runs");
        let alive = scripted.alive();
        assert_eq!(code(&running.wait()), "process.deadline");
        let left = members().into_iter().filter(|(_, pid)| alive.contains(pid)).collect::<Vec<_>>();
        assert_eq!((left, scripted.alive()), (vec![], vec![]));
    }
}

/// A Python module that answers target `a` with what `expression` gives.
fn python(expression: &str) -> String {
    format!(
        r#"
import errno, json, os, socket, struct, sys
def told(what, *arguments):
    try:
        return what(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
def read():
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", sys.stdin.buffer.read(4))[0]))
def write(message):
    payload = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(payload)) + payload)
read()
request = read()
write({{"version": 1, "type": "hello", "protocol": 1}})
write({{"version": 1, "type": "result", "id": request["id"], "results": [{{"target": "a", "data": {expression}}}]}})
"#
    )
}

fn data(expression: &str) -> Value {
    let mut manifest = support::manifest();
    manifest["runtime"] = json!({
        "kind": "python", "language": "python", "entry": "main.py", "platform": "linux", "architecture": "any"
    });
    let files = [("main.py", python(expression)), ("lib/data.txt", "of the package".to_owned())];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_bytes()));
    let (_folder, module): (_, Module) = package(&manifest, &files);
    let outcome: Outcome = host().invoke(Invocation::new(module, "play").target("a")).wait();
    rows(&outcome)[0]["data"].clone()
}

/// P1-HOST-28: the environment, the folder, the user.
#[test]
fn a_module_has_an_environment_of_its_own() {
    if !confines() {
        return not_run("a_module_has_an_environment_of_its_own");
    }
    let mut found = data("[dict(os.environ), os.getcwd(), os.getuid(), os.getpid(), socket.gethostname()]");
    // CPython itself adds this one where it turns the C locale into UTF-8.
    found[0].as_object_mut().unwrap().remove("LC_CTYPE");
    assert_eq!(
        found,
        json!([{"PATH": "/usr/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}, "/module", 1000, 1, "modberth"])
    );
}

/// P1-HOST-28: the package, read-only; the machine's programs; nothing else of the machine's files.
#[test]
fn a_module_sees_its_package_and_programs() {
    if !confines() {
        return not_run("a_module_sees_its_package_and_programs");
    }
    let found =
        data("[sorted(os.listdir('/module')), open('lib/data.txt').read(), os.path.isdir('/usr/lib')]");
    assert_eq!(found, json!([["lib", "main.py"], "of the package", true]));
    let machine =
        "('/proc', '/sys', '/etc', '/root', '/home', '/var', '/run', '/dev/tty', '/dev/shm', '/dev/ptmx')";
    assert_eq!(data(&format!("[told(os.stat, path) for path in {machine}]")), json!(vec!["ENOENT"; 10]));
    let devices = "[os.path.exists('/dev/' + name) for name in ('null', 'zero', 'urandom')]";
    assert_eq!(data(devices), json!([true, true, true]));
    // With Landlock not even the names of what there is; without it these.
    let names = data("told(os.listdir, '/')");
    let known = ["bin", "dev", "lib", "lib32", "lib64", "libx32", "module", "old", "sbin", "tmp", "usr"];
    let is_known = |name: &Value| known.contains(&name.as_str().unwrap());
    assert!(names == "EACCES" || names.as_array().unwrap().iter().all(is_known), "{names}");
    for path in ["/module/new", "/module/main.py", "/usr/new", "/new", "/dev/new"] {
        let found = data(&format!("told(os.open, '{path}', os.O_WRONLY | os.O_CREAT)"));
        assert!(found == "EROFS" || found == "EACCES", "{path}: {found}");
    }
}

/// P1-HOST-28: it writes to its scratch space alone, which is bounded and its own.
#[test]
fn a_module_has_scratch_space() {
    if !confines() {
        return not_run("a_module_has_scratch_space");
    }
    let write = "(open('/tmp/file', 'w').write('x'), os.listdir('/tmp'))";
    for _ in 0..2 {
        // What one action wrote is not there for the next.
        assert_eq!(data(write), json!([1, ["file"]]));
    }
    let fill = "told(lambda: [open('/tmp/%d' % n, 'wb').write(b'x' * (1 << 20)) for n in range(9)])";
    assert_eq!(data(fill), "ENOSPC");
}

/// P1-HOST-28: no network, and nobody to talk to.
#[test]
fn a_module_has_no_network() {
    if !confines() {
        return not_run("a_module_has_no_network");
    }
    let found = data(
        "[told(socket.socket, getattr(socket, name)) for name in ('AF_INET', 'AF_INET6', 'AF_UNIX', 'AF_NETLINK')]",
    );
    assert_eq!(found, json!(vec!["EPERM"; 4]));
}

/// What a limit did is told with the failure: the kernel's counters, in the words of who can change something.
#[test]
fn a_limit_that_was_reached_is_told() {
    if !confines() {
        return not_run("a_limit_that_was_reached_is_told");
    }
    let limited = |script: &[Value], change: fn(&mut modberth_package::hints::ResourceHints)| {
        Scripted::with(script, |package| change(&mut package.hints.limits))
    };
    // Memory.
    let scripted = limited(&[json!({"memory": 64})], |limits| limits.memory_mib = Some(16));
    let outcome = host().invoke(scripted.play()).wait();
    assert_eq!(code(&outcome), "process.signal", "{}", outcome.to_json());
    let violation = &failure(&outcome).violation;
    assert!(violation.message.starts_with("The module reached its memory limit of 16 MiB"), "{violation}");
    assert!(violation.remedy().contains("limits.memory_mib, on this host up to 128 MiB"), "{violation:?}");
    assert!(!notes(&outcome).contains(&"process.memory"));
    assert_eq!(outcome.process.unwrap().usage.unwrap().oom_kills, Some(1));

    // Tasks. Old kernels do not count what they refuse.
    let scripted = limited(&[json!({"tasks": 50})], |limits| limits.tasks = Some(8));
    let outcome = host().invoke(scripted.play()).wait();
    assert_eq!(code(&outcome), "process.exit_status");
    let refused = outcome.process.as_ref().unwrap().usage.unwrap().refused_tasks;
    assert_eq!(refused.is_some(), notes(&outcome).contains(&"process.tasks"), "{outcome:?}");
    assert!(refused.is_none_or(|refused| refused > 0));

    // Processor time: a twentieth of a processor.
    let scripted = limited(&[json!({"spin": true})], |limits| limits.cpu_percent = Some(5));
    let outcome = short_host(3_000, 500).invoke(scripted.play()).wait();
    assert_eq!(code(&outcome), "process.deadline");
    assert!(notes(&outcome).contains(&"process.throttled"), "{}", outcome.to_json());
    let usage = outcome.process.unwrap().usage.unwrap();
    assert!(usage.throttled_periods.is_some_and(|periods| periods > 10), "{usage:?}");
    assert!(usage.cpu < Duration::from_secs(1), "{usage:?}");

    // A module that was killed for its memory after it had answered badly: the limit is a note then.
    let script = [json!({"text": "no frame"}), json!({"memory": 64})];
    let scripted = limited(&script, |limits| limits.memory_mib = Some(16));
    let outcome = builder().build().unwrap().invoke(scripted.play()).wait();
    assert_eq!(code(&outcome), "frame.too_large");
}
