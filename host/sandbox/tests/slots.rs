//! What a launcher keeps from one module to the next: groups, spares, the guardian. These tests meddle with all of this
//! process's launchers, so they run one at a time.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use common::{GUARD, confined, groups_of, guardian, package, read, run, sh, spares};
use modberth_sandbox::{Bind, Exit, Launch, LaunchError, Launcher, Options, Profile};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process};

/// How often: a tenth of it where the processors are emulated.
fn rounds(times: u32) -> u32 {
    if std::env::var_os("MODBERTH_VM").is_some() { times / 10 } else { times }
}

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The files of this host's control groups with this name.
fn group_files(name: &str) -> Vec<PathBuf> {
    let trees = groups_of(std::process::id());
    let slots = trees.iter().flat_map(|tree| fs::read_dir(tree).unwrap().flatten());
    slots.map(|slot| slot.path().join(name)).filter(|file| file.exists()).collect()
}

/// Where each limit stands on this machine, and something else to put there.
fn limits() -> [(&'static str, [&'static str; 2], &'static str); 3] {
    [
        ("memory", ["memory.limit_in_bytes", "memory.max"], "33554432"),
        ("tasks", ["pids.max", "pids.max"], "max"),
        ("cpu", ["cpu.cfs_quota_us", "cpu.max"], "50000"),
    ]
}

// P1-HOST-26
#[test]
fn nothing_runs_when_a_limit_is_not_what_it_must_be() {
    let _alone = alone();
    let folder = package();
    for (limit, files, other) in limits() {
        let launcher = confined();
        let files: Vec<_> = files.iter().flat_map(|name| group_files(name)).collect();
        assert!(!files.is_empty(), "{limit}");
        for file in &files {
            fs::write(file, other).unwrap();
        }
        let command = sh("echo ran > /tmp/ran; echo ran");
        let fault = launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap_err();
        match &fault {
            LaunchError::Limit(fault) => {
                assert_eq!(fault.limit, limit);
                assert!(fault.actual.contains(if other == "max" { "max" } else { other }), "{fault}");
            }
            other => panic!("{limit}: {other}"),
        }
        assert!(fault.to_string().contains("nothing was sent to the module"), "{fault}");
        // The slot is made anew.
        assert_eq!(run(&launcher, "echo fine", &Profile::action()).0, "fine\n");
    }
}

// P1-HOST-26
#[test]
fn a_process_that_left_its_group_does_not_run() {
    let _alone = alone();
    let launcher = confined();
    let folder = package();
    let spare = *spares(std::process::id()).first().unwrap();
    // Out of the group of tasks, into the one above.
    let place = group_files("pids.max").first().unwrap().parent().unwrap().parent().unwrap().to_owned();
    if fs::write(place.join("cgroup.procs"), spare.to_string()).is_err() {
        // In version 2 a group with limits below it takes no processes; the one of the guardian has none.
        fs::write(place.join("guardian/cgroup.procs"), spare.to_string()).unwrap();
    }
    let command = sh("echo ran");
    match launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())) {
        Err(LaunchError::Limit(fault)) => assert_eq!(fault.limit, "membership"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_spare_or_a_guardian_that_was_killed_is_replaced() {
    let _alone = alone();
    let launcher = confined();
    let host = std::process::id();
    for round in 0..3 {
        for pid in spares(host).into_iter().chain([guardian(host)]) {
            kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL).unwrap();
        }
        assert_eq!(run(&launcher, "echo fine", &Profile::action()).0, "fine\n", "round {round}");
        assert!(guardian(host) > 0);
    }
}

/// A spare shares the memory of a host that is root. The spare's user must not get at it: not as a person who has that id
/// on this machine, and not by a set-user-id program of his.
#[test]
fn the_user_of_a_slot_cannot_look_into_the_host() {
    let _alone = alone();
    if !rustix::process::geteuid().is_root() {
        // The spares of an ordinary host have the host's own user.
        return;
    }
    let _launcher = confined();
    let spare = *spares(std::process::id()).first().unwrap();
    let user = user_of(spare);
    assert_ne!(user, 0);
    let look = |user: u32| {
        let mut head = Command::new("/usr/bin/head");
        head.args(["-c", "1", &format!("/proc/{spare}/maps")]).uid(user).gid(user);
        head.output().unwrap()
    };
    assert_eq!(look(0).stdout.len(), 1, "root sees it, so there is something to see");
    let seen = look(user);
    assert!(seen.stdout.is_empty() && !seen.status.success(), "{seen:?}");
}

/// The real user id of a process.
fn user_of(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// What a module leaves in memory (files in a folder of its own that lies there) counts against its group for as long as it
/// is there. A smaller module after it must not be put where it does not fit: the kernel would make room by killing the
/// spare, and with it whoever shares its memory, the host.
#[test]
fn a_small_module_does_not_inherit_the_memory_of_a_large_one() {
    let _alone = alone();
    let launcher = Launcher::confined(Options::new(1, Profile::action().limits)).unwrap();
    // Of the machine's files that everything has, only these are in memory.
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut large = Profile::service();
    large.limits = Profile::action().limits;
    large.binds = vec![Bind { source: memory.path().into(), target: "/data".into(), writable: true }];
    let mut small = Profile::service();
    small.limits = Profile::action().limits;
    small.limits.memory_bytes = 24 << 20;
    // Both slots that there can be are in use at once.
    let folder = package();
    let fill = sh("head -c 40000000 /dev/zero > /data/$$$(date +%N); echo full; read end");
    let full = [(); 2].map(|()| {
        let process = launcher.launch(&Launch::new(folder.path(), &fill, &large)).unwrap();
        let mut said = [0; 5];
        while rustix::io::read(process.stdout(), &mut said) != Ok(5) {
            assert!(process.exit().is_none(), "{}", read(process.stderr()));
            std::thread::yield_now();
        }
        process
    });
    for process in full {
        process.stop(GUARD).unwrap();
    }
    for round in 0..2 {
        assert_eq!(run(&launcher, "echo fine", &small).0, "fine\n", "round {round}");
    }
}

/// A quota of processor time does not hold real-time tasks back.
#[test]
fn a_module_does_not_inherit_the_priority_of_its_host() {
    if std::env::var_os("MODBERTH_VM").is_some() {
        println!("not run: the test machine has neither chrt nor nice");
        return;
    }
    let _alone = alone();
    let script = "chrt -p $$ | head -1; nice";
    let ordinary = "pid 1's current scheduling policy: SCHED_OTHER\n0\n";
    let inherited = std::thread::spawn(move || {
        let priority = libc::sched_param { sched_priority: 1 };
        // SAFETY: plain calls about this thread, which ends soon.
        let granted = unsafe {
            // IOPRIO_WHO_PROCESS, IOPRIO_CLASS_RT.
            [
                libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const priority),
                libc::setpriority(libc::PRIO_PROCESS, 0, -5).into(),
                libc::syscall(libc::SYS_ioprio_set, 1, 0, 1 << 13),
            ]
        };
        let root = rustix::process::geteuid().is_root();
        assert!(!root || granted.contains(&0), "nothing to inherit: {granted:?}");
        run(&confined(), script, &Profile::action())
    });
    let (output, error, _) = inherited.join().unwrap();
    assert_eq!(output, ordinary, "{error}");
}

/// A process that the host has forked has copies of its values. Their end there is no end of the modules, nor is it waited
/// for threads that the copy does not have.
#[test]
fn a_forked_copy_of_the_host_ends_nothing() {
    let _alone = alone();
    let launcher = confined();
    let folder = package();
    let command = sh("read line; exit 5");
    let mut process = launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap();
    // SAFETY: the copy gives up what it has, tries a launch, and leaves without unwinding.
    let copy = unsafe { libc::fork() };
    if copy == 0 {
        let refused = launcher.launch(&Launch::new(folder.path(), &command, &Profile::action()));
        let told = refused.is_err_and(|error| error.to_string().contains("forked"));
        drop((process, launcher));
        // SAFETY: as above.
        unsafe { libc::_exit(if told { 0 } else { 1 }) };
    }
    let pidfd = rustix::process::pidfd_open(Pid::from_raw(copy).unwrap(), PidfdFlags::empty()).unwrap();
    let mut polled = [PollFd::new(&pidfd, PollFlags::IN)];
    let guard = Timespec { tv_sec: 60, tv_nsec: 0 };
    let ended = rustix::event::poll(&mut polled, Some(&guard)).unwrap();
    if ended == 0 {
        rustix::process::pidfd_send_signal(&pidfd, Signal::KILL).unwrap();
    }
    let mut status = 0;
    // SAFETY: the child that was made above.
    unsafe { libc::waitpid(copy, &mut status, 0) };
    assert_eq!((ended, status), (1, 0));
    process.close_stdin();
    assert!(process.wait_gone(Some(GUARD)).unwrap());
    assert_eq!(process.stop(GUARD).unwrap().exit, Some(Exit::Status(5)));
    assert_eq!(run(&launcher, "echo fine", &Profile::action()).0, "fine\n");
}

#[test]
fn everything_of_a_launcher_goes_with_it() {
    let _alone = alone();
    let launcher = confined();
    let folder = package();
    let command = sh("sleep 1000");
    let process = launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap();
    drop(launcher);
    // A module keeps what it stands on.
    assert!(!process.wait_gone(Some(Duration::ZERO)).unwrap());
    assert!(!groups_of(std::process::id()).is_empty());
    drop(process);
}

/// Between two looks nothing is left of two hundred modules.
#[test]
fn modules_leave_nothing_behind_in_the_host() {
    let _alone = alone();
    let launcher = Launcher::confined(Options::new(1, Profile::action().limits)).unwrap();
    let host = std::process::id();
    let folder = package();
    let command = sh("sleep 1000");
    // Both slots that there can be are in use once.
    let launch = || launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap();
    drop((launch(), launch()));
    let count = |of: PathBuf| fs::read_dir(of).unwrap().count();
    let look = || {
        let begin = Instant::now();
        // Spares are made by another thread.
        while spares(host).len() < 2 {
            assert!(begin.elapsed() < GUARD, "{:?}", spares(host));
            std::thread::yield_now();
        }
        let groups: usize = groups_of(host).into_iter().map(count).sum();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
        (count("/proc/self/fd".into()), groups, mounts, count("/proc/self/task".into()))
    };
    // The other thread may be between two steps; what is left behind stays.
    let settled = |wanted| {
        let begin = Instant::now();
        let mut last = look();
        while last != wanted && begin.elapsed() < GUARD / 6 {
            last = look();
        }
        last
    };
    let before = (0..50).map(|_| look()).min().unwrap();
    for _ in 0..rounds(200) {
        run(&launcher, "sleep 1000 & exit 0", &Profile::action());
    }
    assert_eq!(settled(before), before);
}

/// Launches that wait for one another's spares all get one: none waits for a module to end.
#[test]
fn as_many_launches_at_once_as_there_are_slots() {
    let _alone = alone();
    let folder = package();
    for _ in 0..rounds(10) {
        let launcher = Launcher::confined(Options::new(8, Default::default())).unwrap();
        let command = sh("read line");
        let profile = Profile::action();
        let launched = std::thread::scope(|scope| {
            let launch = || launcher.launch(&Launch::new(folder.path(), &command, &profile));
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(launch)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        // All of them run, as none of them has had any input.
        let running = launched.into_iter().map(Result::unwrap).collect::<Vec<_>>();
        assert!(running.iter().all(|process| process.exit().is_none()));
        for process in running {
            process.stop(GUARD).unwrap();
        }
    }
}

/// Backends are not prepared ahead, so launches of several at once wait for the same thread. One may be given what was
/// made for another; that one gets the next.
#[test]
fn launches_that_wait_at_once_are_all_served() {
    let _alone = alone();
    let launcher = Launcher::confined(Options::new(4, Profile::action().limits)).unwrap();
    let mut profile = Profile::service();
    profile.limits = Profile::action().limits;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..rounds(50) {
                    assert_eq!(run(&launcher, "echo fine", &profile).0, "fine\n");
                }
            });
        }
    });
}
