//! A program that ignores SIGCHLD. Alone in its file, because the disposition is the process's.

mod common;

use std::fs;

use common::{confined, package, run};
use modberth_sandbox::{Bind, Exit, Launcher, Options, Profile, heed_children};

/// The ends of modules would not be seen, so nothing starts; a program can mend it.
#[test]
fn a_program_that_ignores_its_children_is_told() {
    // SAFETY: no test beside this one has children.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    let refused = Launcher::confined(Options::default()).unwrap_err().to_string();
    assert!(refused.contains("SIGCHLD") && refused.contains("heed_children"), "{refused}");
    heed_children();
    let launcher = confined();
    assert_eq!(run(&launcher, "exit 3", &Profile::action()).2.exit, Some(Exit::Status(3)));
    // Ignored later, a module's end is not known; but what ran is not run again.
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    let data = package();
    let mut profile = Profile::action();
    profile.binds = vec![Bind { source: data.path().into(), target: "/data".into(), writable: true }];
    for _ in 0..50 {
        let (_, error, ended) = run(&launcher, "echo once >> /data/runs", &profile);
        assert_eq!((&*error, ended.exit), ("", None));
    }
    assert_eq!(fs::read_to_string(data.path().join("runs")).unwrap(), "once\n".repeat(50));
}
