//! The launcher that confines: what a module gets, that its limits are read back before it runs, and that slots, spares
//! and the guardian come back.

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{GUARD, confined, package, run, sh};
use modberth_sandbox::{
    Bind, Command, Confinement, Exit, Launch, LaunchError, Launcher, Options, Profile, Word,
};

// P1-HOST-28
#[test]
fn a_module_sees_its_package_and_the_programs_of_the_machine() {
    let launcher = confined();
    assert_eq!(launcher.confinement(), Confinement::Full);
    // Shells add variables of their own.
    let script = "pwd; cat file; env -u PWD -u SHLVL | sort; id -u; id -g; echo $$; uname -n;
        ls -A /tmp; for place in /proc /sys /etc /home /root /var /run /mnt /old/usr; do [ -e $place ] && echo $place; done;
        echo x > /dev/null && echo null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; umask; exit 7";
    let (output, error, ended) = run(&launcher, script, &Profile::action());
    assert_eq!(error, "");
    let lines: Vec<&str> = output.lines().collect();
    let wanted = [
        "/module",
        "of the package",
        "LANG=C.UTF-8",
        "PATH=/usr/bin",
        "TMPDIR=/tmp",
        "1000",
        "1000",
        "1",
        "modberth",
        "null",
        "3",
        "3",
        "0077",
    ];
    assert_eq!(lines, wanted);
    assert_eq!(ended.exit, Some(Exit::Status(7)));
    assert!(!ended.backstop);
    let usage = ended.usage.unwrap();
    assert!(usage.cpu > Duration::ZERO);
    assert_eq!((usage.oom_kills, usage.refused_tasks), (Some(0), Some(0)));
}

// P1-HOST-28
#[test]
fn a_module_writes_nowhere_but_in_its_scratch_space() {
    let launcher = confined();
    let script = "for place in / /module /usr /usr/bin /dev /old; do
            { echo x > $place/made; } 2>/dev/null && echo $place; done;
        { echo x > file; } 2>/dev/null && echo file; rm -f file 2>/dev/null && echo removed; chmod 600 file 2>/dev/null && echo mode;
        echo x > /tmp/made && cat /tmp/made; mkdir /tmp/folder && ls /tmp";
    let (output, _, _) = run(&launcher, script, &Profile::action());
    assert_eq!(output, "x\nfolder\nmade\n");
    // The next one in any slot finds nothing of it.
    for _ in 0..6 {
        assert_eq!(run(&launcher, "ls -A /tmp", &Profile::action()).0, "");
    }
}

#[test]
fn the_limits_of_a_launch_are_those_of_its_profile() {
    let launcher = confined();
    let mut profile = Profile::action();
    profile.limits.memory_bytes = 40 << 20;
    profile.limits.tasks = 5;
    profile.limits.scratch_bytes = 1 << 20;
    profile.limits.open_files = 20;
    // Four beside the shell.
    let script = "for i in 1 2 3 4 5 6 7; do sleep 60 & done 2>/dev/null; ulimit -n;
        head -c 2000000 /dev/zero > /tmp/file; wc -c < /tmp/file";
    let (output, error, ended) =
        run(&launcher, &format!("ulimit -n; {}", &script[script.find("head").unwrap()..]), &profile);
    assert_eq!(output, "20\n1048576\n", "{error}");
    assert_eq!(ended.exit, Some(Exit::Status(0)));
    let (_, _, ended) = run(&launcher, script, &profile);
    assert!(ended.usage.unwrap().refused_tasks.unwrap_or(1) > 0, "{ended:?}");
    // And back to those that the slots are prepared with.
    assert_eq!(run(&launcher, "ulimit -n", &Profile::action()).0, "64\n");
}

#[test]
fn memory_beyond_the_limit_ends_the_module_and_is_counted() {
    let launcher = confined();
    let mut profile = Profile::action();
    profile.limits.memory_bytes = 32 << 20;
    profile.limits.scratch_bytes = 64 << 20;
    let (_, _, ended) = run(&launcher, "exec tail /dev/zero", &profile);
    assert_eq!(ended.exit, Some(Exit::Signal(libc::SIGKILL)));
    let usage = ended.usage.unwrap();
    assert!(usage.oom_kills.unwrap_or(1) > 0, "{usage:?}");
    if let Some(peak) = usage.peak_memory {
        assert!((16 << 20..=32 << 20).contains(&peak), "{usage:?}");
    }
    assert_eq!(run(&launcher, "echo fine", &Profile::action()).0, "fine\n");
}

#[test]
fn a_slot_is_free_again_when_its_module_is_stopped() {
    let launcher = Launcher::confined(Options::new(1, Profile::action().limits)).unwrap();
    let folder = package();
    let command = sh("trap '' TERM; sleep 1000 & sleep 1000");
    let launch = || launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap();
    // One slot more than modules is kept.
    let (first, second) = (launch(), launch());
    let third = std::thread::scope(|scope| {
        let third = scope.spawn(launch);
        first.stop(GUARD).unwrap();
        third.join().unwrap()
    });
    for process in [second, third] {
        let ended = process.stop(GUARD).unwrap();
        assert_eq!(ended.exit, Some(Exit::Signal(libc::SIGKILL)));
    }
}

#[test]
fn a_bind_is_seen_where_the_profile_says() {
    let launcher = confined();
    let (shown, data) = (package(), package());
    let mut profile = Profile::action();
    let bind = |source: &Path, target: &str, writable| Bind {
        source: source.to_owned(),
        target: target.into(),
        writable,
    };
    profile.binds = vec![
        bind(shown.path(), "/opt/deep/shown", false),
        bind(&shown.path().join("file"), "/opt/file", false),
    ];
    let script =
        "cat /opt/deep/shown/file /opt/file; { echo x > /opt/deep/shown/made; } 2>/dev/null && echo made";
    assert_eq!(run(&launcher, script, &profile).0, "of the package\nof the package\n");
    assert!(!shown.path().join("made").exists());
    profile.binds = vec![bind(data.path(), "/data", true)];
    // It is the module's own, whatever slot it runs in.
    for round in 0..4 {
        run(
            &launcher,
            &format!("mkdir -p /data/deep; echo {round} >> /data/file; cp /data/file /data/deep/made"),
            &profile,
        );
    }
    assert_eq!(fs::read_to_string(data.path().join("deep/made")).unwrap(), "of the package\n0\n1\n2\n3\n");
    profile.binds = vec![bind(Path::new("relative"), "/data", true)];
    let command = sh("echo ran");
    let fault = launcher.launch(&Launch::new(shown.path(), &command, &profile)).unwrap_err();
    assert!(matches!(fault, LaunchError::Profile { .. }), "{fault}");
}

#[test]
fn a_program_that_cannot_run_is_named() {
    let launcher = confined();
    let folder = package();
    let launch = |command: &Command| {
        launcher.launch(&Launch::new(folder.path(), command, &Profile::action())).unwrap_err()
    };
    match launch(&Command::new(Word::package("file"))) {
        LaunchError::Program { program, source } => {
            assert_eq!(program, folder.path().join("file").into_os_string());
            assert_eq!(source.raw_os_error(), Some(libc::EACCES));
        }
        other => panic!("{other}"),
    }
    match launch(&Command::new(Word::text("/usr/bin/none"))) {
        LaunchError::Program { source, .. } => assert_eq!(source.raw_os_error(), Some(libc::ENOENT)),
        other => panic!("{other}"),
    }
    assert_eq!(run(&launcher, "echo fine", &Profile::action()).0, "fine\n");
}

#[test]
fn without_groups_everything_else_is_up_and_it_says_so() {
    let launcher = Launcher::rlimits_only(Options::default()).unwrap();
    let Confinement::WithoutGroups { why } = launcher.confinement() else {
        panic!("{}", launcher.confinement());
    };
    assert!(why.contains("memory and processor time were not bounded"), "{why}");
    assert!(!launcher.confinement().is_confined());
    let (output, _, ended) =
        run(&launcher, "pwd; ls -d /proc /etc 2>/dev/null; ulimit -d", &Profile::action());
    assert_eq!(output, format!("/module\n{}\n", (128 << 20) / 1024));
    assert_eq!(ended.usage.unwrap().oom_kills, None);
}
