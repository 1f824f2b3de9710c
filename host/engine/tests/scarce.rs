//! A machine that has run out of descriptors. Alone in its file, because the limit is the process's.

mod support;

use modberth_host::Host;
use rustix::process::{Resource, getrlimit, setrlimit};
use support::{Scripted, builder, code, confines, failure, honest, rows};

#[test]
fn a_machine_without_descriptors_is_told() {
    let scripted = Scripted::new(&honest());
    let normal = getrlimit(Resource::Nofile);
    let scarce = |limit| {
        let mut changed = normal;
        changed.current = Some(limit);
        setrlimit(Resource::Nofile, changed).unwrap();
    };
    let host = builder().build().unwrap();

    scarce(3);
    let refused = Host::builder().build();
    let outcome = host.invoke(scripted.play()).wait();
    setrlimit(Resource::Nofile, normal).unwrap();
    let refused = refused.unwrap_err();
    assert_eq!((refused.code.as_str(), refused.blame.as_str()), ("sandbox.unavailable", "host"));
    assert!(refused.message.contains("Too many open files"), "{refused}");
    assert_eq!((code(&outcome), failure(&outcome).violation.blame.as_str()), ("host.io", "host"));
    assert!(!outcome.is_launched());

    // So low that the numbers the pipes need do not exist.
    scarce(10);
    let refused = Host::builder().build();
    setrlimit(Resource::Nofile, normal).unwrap();
    let refused = refused.unwrap_err();
    assert_eq!(refused.code.as_str(), "sandbox.unavailable");
    // Where modules cannot be confined anyway, that is told first.
    assert!(!confines() || refused.message.contains("Too many open files"), "{refused}");

    // With a few more every step of an action is reached in which they can run out, and each says so.
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    let mut seen = Vec::new();
    for more in 0..12 {
        scarce(open + more);
        let outcome = host.invoke(scripted.play()).wait();
        setrlimit(Resource::Nofile, normal).unwrap();
        if outcome.results().is_none() {
            assert_eq!(failure(&outcome).violation.blame.as_str(), "host", "{outcome}");
            seen.push(code(&outcome));
        }
    }
    assert!(seen.contains(&"process.launch"), "{seen:?}");
    assert!(seen.iter().all(|code| ["host.io", "process.launch"].contains(code)), "{seen:?}");

    // And it is well again afterwards.
    assert_eq!(rows(&host.invoke(scripted.play()).wait())[0]["data"], 1);
}
