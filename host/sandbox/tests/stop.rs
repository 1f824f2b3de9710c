//! Launching and stopping, with programs that do not want to be stopped. Every verdict is taken from outside: the
//! process table is searched for a marker that only the launched program and its descendants carry.

mod common;

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::time::Duration;

use common::{alive, hostile, marker};
use modberth_sandbox::{
    Command, Exit, Launch, LaunchError, Launcher, Process, Profile, Reach, StopError, Word,
};

/// A guard against hangs.
const GUARD: Duration = Duration::from_secs(60);

const WAYS: [Reach; 3] =
    [Reach::PidNamespace { user: false }, Reach::PidNamespace { user: true }, Reach::Subreaper];

/// The launchers that work here, one for each way to reach descendants.
fn launchers() -> Vec<Launcher> {
    let found: Vec<Launcher> = WAYS.iter().filter_map(|reach| Launcher::plain_with(*reach).ok()).collect();
    assert!(!found.is_empty(), "no launcher works on this machine");
    found
}

fn launch(launcher: &Launcher, name: &str, marker: &str, profile: &Profile) -> Process {
    let command = Command::new(Word::text(hostile())).arg(Word::text(name)).arg(Word::text(marker));
    launcher.launch(&Launch::new("/", &command, profile)).unwrap()
}

fn forever() -> Profile {
    let mut profile = Profile::action();
    profile.backstop = None;
    profile
}

fn poll_for(fd: std::os::fd::BorrowedFd<'_>, events: rustix::event::PollFlags) -> bool {
    let timeout = rustix::event::Timespec { tv_sec: GUARD.as_secs() as i64, tv_nsec: 0 };
    loop {
        let mut polled = [rustix::event::PollFd::from_borrowed_fd(fd, events)];
        match rustix::event::poll(&mut polled, Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => {}
            answer => return answer.unwrap() == 1,
        }
    }
}

/// Waits until the launched program's own process has ended.
fn wait_ended(process: &Process) {
    assert!(poll_for(process.ended(), rustix::event::PollFlags::empty()), "the program did not end");
}

/// Reads to the end of output.
fn read_all(process: &Process) -> String {
    let mut text = Vec::new();
    let mut file = std::fs::File::from(process.stdout().try_clone_to_owned().unwrap());
    loop {
        assert!(poll_for(process.stdout(), rustix::event::PollFlags::IN));
        let mut chunk = [0; 4096];
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(got) => text.extend_from_slice(&chunk[..got]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}"),
        }
    }
    String::from_utf8(text).unwrap()
}

/// P1-HOST-27: what a program leaves behind is gone when `stop` returns.
fn leaves_nothing(name: &str) {
    for launcher in launchers() {
        let marker = marker();
        let process = launch(&launcher, name, &marker, &forever());
        wait_ended(&process);
        assert!(
            !process.wait_gone(Some(Duration::ZERO)).unwrap(),
            "{name}: something was meant to live on ({:?})",
            launcher.reach()
        );
        let ended = process.stop(GUARD).unwrap();
        assert_eq!(ended.exit, Some(Exit::Status(0)));
        assert_eq!(alive(&marker), Vec::<u32>::new(), "{name} by {:?}", launcher.reach());
    }
}

#[test]
fn a_daemon_with_closed_streams_is_gone() {
    leaves_nothing("daemon");
}

#[test]
fn a_child_that_holds_standard_output_is_gone() {
    leaves_nothing("hold-stdout");
}

#[test]
fn a_stopped_child_is_gone() {
    leaves_nothing("stopped-child");
}

/// P1-HOST-32: a program that will not end is gone when `stop` returns.
#[test]
fn programs_that_never_end_are_gone() {
    for name in ["ignore", "close-and-live", "wait", "storm"] {
        for launcher in launchers() {
            let marker = marker();
            let process = launch(&launcher, name, &marker, &forever());
            assert_eq!(process.exit(), None);
            let ended = process.stop(GUARD).unwrap();
            assert_eq!(ended.exit, Some(Exit::Signal(9)), "{name}");
            assert!(!ended.backstop);
            assert_eq!(alive(&marker), Vec::<u32>::new(), "{name} by {:?}", launcher.reach());
        }
    }
}

#[test]
fn dropping_a_process_stops_it() {
    for launcher in launchers() {
        let marker = marker();
        drop(launch(&launcher, "ignore", &marker, &forever()));
        assert_eq!(alive(&marker), Vec::<u32>::new());
    }
}

/// A child that ends soon after its parent is waited for, not killed.
#[test]
fn a_short_lived_child_ends_by_itself() {
    for launcher in launchers() {
        let process = launch(&launcher, "short-child", &marker(), &forever());
        assert!(process.wait_gone(Some(GUARD)).unwrap());
        assert_eq!(process.stop(GUARD).unwrap().exit, Some(Exit::Status(0)));
    }
}

/// P1-HOST-25: the backstop lies with the keeper, not with the host.
#[test]
fn the_backstop_kills_without_the_host() {
    for launcher in launchers() {
        let marker = marker();
        let mut profile = Profile::action();
        profile.backstop = Some(Duration::from_millis(50));
        let process = launch(&launcher, "ignore", &marker, &profile);
        assert!(process.wait_gone(Some(GUARD)).unwrap());
        assert_eq!(alive(&marker), Vec::<u32>::new());
        let ended = process.stop(GUARD).unwrap();
        assert!(ended.backstop);
        assert_eq!(ended.exit, Some(Exit::Signal(9)));
    }
}

/// P1-HOST-25: 12 seconds unless something says otherwise. The one test here that takes real time.
#[test]
fn the_default_backstop_is_twelve_seconds() {
    let launcher = launchers().remove(0);
    let marker = marker();
    let start = std::time::Instant::now();
    let process = launch(&launcher, "ignore", &marker, &Profile::action());
    assert!(process.wait_gone(Some(GUARD)).unwrap());
    let took = start.elapsed();
    assert!(took >= Duration::from_secs(12) && took < Duration::from_millis(22_800), "{took:?}");
    assert!(process.stop(GUARD).unwrap().backstop);
    assert_eq!(alive(&marker), Vec::<u32>::new());
}

/// P1-HOST-23: the exact status or signal is told.
#[test]
fn the_exit_is_exact() {
    for launcher in launchers() {
        for (name, exit) in [
            ("abort", Exit::Signal(libc::SIGABRT)),
            ("segfault", Exit::Signal(libc::SIGSEGV)),
            ("kill-self", Exit::Signal(libc::SIGKILL)),
            ("no such behaviour", Exit::Status(64)),
        ] {
            let process = launch(&launcher, name, &marker(), &forever());
            assert!(process.wait_gone(Some(GUARD)).unwrap());
            assert_eq!(process.stop(GUARD).unwrap().exit, Some(exit), "{name}");
        }
    }
    assert_eq!(Exit::Signal(libc::SIGABRT).to_string(), "signal 6 (SIGABRT)");
    assert_eq!(Exit::Status(3).to_string(), "exit status 3");
}

#[test]
fn processor_time_is_the_modules_own() {
    for launcher in launchers() {
        let process = launch(&launcher, "burn", &marker(), &forever());
        assert!(process.wait_gone(Some(GUARD)).unwrap());
        let usage = process.stop(GUARD).unwrap().usage.unwrap();
        assert!(usage.cpu >= Duration::from_millis(50) && usage.cpu < GUARD, "{usage:?}");
    }
}

/// Exactly the profile's environment, three descriptors, default signals, its own session, the package folder.
#[test]
fn a_program_gets_exactly_what_the_profile_says() {
    for launcher in launchers() {
        let folder = tempfile::tempdir().unwrap();
        // A place everyone may enter, for the run as an ordinary user.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let marker = marker();
        let command = Command::new(Word::text(hostile()))
            .arg(Word::text("look"))
            .arg(Word::text(&marker))
            .arg(Word::package("sub/file"))
            .arg(Word::package(""));
        let mut process = launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap();
        rustix::io::write(process.stdin().unwrap(), b"hello").unwrap();
        process.close_stdin();
        assert!(process.stdin().is_none());
        let text = read_all(&process);
        process.stop(GUARD).unwrap();
        let folder = folder.path().display().to_string();
        let arguments =
            [&hostile().display().to_string(), "look", &marker, &format!("{folder}/sub/file"), &folder]
                .map(str::to_owned);
        let expected = format!(
            "stdin=hello\ncwd={folder}\nargs={arguments:?}\n\
             env PATH=/usr/bin\nenv LANG=C.UTF-8\nenv TMPDIR=/tmp\nfds=[0, 1, 2]\nUmask:0077\n"
        );
        assert!(text.starts_with(&expected), "{text}\n--- expected\n{expected}");
        // Rust's start code ignores SIGPIPE (bit 12) in the program itself and catches SIGSEGV and SIGBUS.
        assert!(text.contains("SigBlk:0000000000000000\n"), "{text}");
        assert!(text.contains("SigIgn:0000000000001000\n"), "{text}");
        assert!(text.ends_with("leader=true\ncores=1\nno_new_privs=1\n"), "{text}");
    }
}

/// A package folder may be given from the host's working directory.
#[test]
fn a_relative_package_folder() {
    let up: std::path::PathBuf = std::env::current_dir().unwrap().ancestors().skip(1).map(|_| "..").collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(hostile(), folder.path().join("entry")).unwrap();
    let relative = up.join(folder.path().strip_prefix("/").unwrap());
    assert!(relative.is_relative() || up.as_os_str().is_empty());
    let command = Command::new(Word::package("entry")).arg(Word::text("wait"));
    let launcher = launchers().remove(0);
    let profile = forever();
    let mut process = launcher.launch(&Launch::new(&relative, &command, &profile)).unwrap();
    process.close_stdin();
    assert!(process.wait_gone(Some(GUARD)).unwrap());
    assert_eq!(process.stop(GUARD).unwrap().exit, Some(Exit::Status(0)));
}

#[test]
fn what_cannot_be_run_is_named() {
    for launcher in launchers() {
        let profile = Profile::action();
        let command = Command::new(Word::text("/no/such/program"));
        let error = launcher.launch(&Launch::new("/", &command, &profile)).unwrap_err();
        assert!(matches!(&error, LaunchError::Program { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            "cannot run \"/no/such/program\": No such file or directory (os error 2)"
        );
        let command = Command::new(Word::text(hostile()));
        let error = launcher.launch(&Launch::new("/no/such/folder", &command, &profile)).unwrap_err();
        assert_eq!(error.to_string(), "entering the package folder: No such file or directory (os error 2)");
        let command = Command::new(Word::text("/bin/sh\0"));
        let error = launcher.launch(&Launch::new("/", &command, &profile)).unwrap_err();
        assert!(matches!(error, LaunchError::Nul { what: "the command" }));
    }
}

/// A program that is open for writing for a moment is waited for; one that stays so is told.
#[test]
fn a_program_that_is_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    assert!(std::process::Command::new("cp").args([&hostile(), &program]).status().unwrap().success());
    let command = Command::new(Word::text(&program)).arg(Word::text("wait"));
    for launcher in launchers() {
        let writer = std::fs::File::options().append(true).open(&program).unwrap();
        let profile = forever();
        let error = launcher.launch(&Launch::new("/", &command, &profile)).unwrap_err();
        assert!(error.to_string().contains("Text file busy"), "{error}");
        let launched = std::thread::scope(|scope| {
            scope.spawn(move || drop(writer));
            launcher.launch(&Launch::new("/", &command, &profile))
        });
        launched.unwrap().stop(GUARD).unwrap();
    }
}

/// Reads standard output up to this text.
fn wait_for(process: &Process, wanted: &str) -> String {
    let mut text = Vec::new();
    loop {
        let found = String::from_utf8_lossy(&text).into_owned();
        if found.contains(wanted) {
            return found;
        }
        assert!(poll_for(process.stdout(), rustix::event::PollFlags::IN), "{found}");
        let mut chunk = [0; 64];
        match rustix::io::read(process.stdout(), &mut chunk) {
            Ok(0) => panic!("the output ended: {found}"),
            Ok(got) => text.extend_from_slice(&chunk[..got]),
            Err(rustix::io::Errno::AGAIN) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// P1-HOST-32: a keeper that was stopped by its module is no shelter. Several times, because a quick module stops it
/// before it has said that the module runs, and the launch succeeds all the same.
#[test]
fn a_module_that_stops_its_keeper_is_gone() {
    for launcher in launchers() {
        for _ in 0..16 {
            let marker = marker();
            let process = launch(&launcher, "stop-parent", &marker, &forever());
            process.stop(GUARD).unwrap();
            assert_eq!(alive(&marker), Vec::<u32>::new(), "{:?}", launcher.reach());
        }
    }
}

/// Nor one that somebody else stopped.
#[test]
fn a_stopped_keeper_is_set_going() {
    for launcher in launchers() {
        let marker = marker();
        let process = launch(&launcher, "ignore", &marker, &forever());
        rustix::process::pidfd_send_signal(process.gone(), rustix::process::Signal::STOP).unwrap();
        assert_eq!(process.stop(GUARD).unwrap().exit, Some(Exit::Signal(9)));
        assert_eq!(alive(&marker), Vec::<u32>::new(), "{:?}", launcher.reach());
    }
}

/// The host waits for one that cannot go on, but not for ever; the host's default is these ten seconds. In a namespace
/// such a keeper is killed.
#[test]
fn a_keeper_that_cannot_go_on_is_given_up_after_ten_seconds() {
    for launcher in launchers() {
        let marker = marker();
        let process = launch(&launcher, "ignore", &marker, &forever());
        let held = Held::new(pid_of(process.gone()));
        let start = std::time::Instant::now();
        let stopped = process.stop(Duration::from_secs(10));
        if launcher.reach() == Some(Reach::Subreaper) {
            let error = stopped.unwrap_err();
            assert!(matches!(error, StopError::Late(patience) if patience.as_secs() == 10), "{error}");
            assert!(start.elapsed() >= Duration::from_secs(10), "{:?}", start.elapsed());
            // It has its order, and follows it once it can.
            held.release();
            let until = std::time::Instant::now() + GUARD;
            while !alive(&marker).is_empty() {
                assert!(std::time::Instant::now() < until, "it still runs");
                std::thread::yield_now();
            }
        } else {
            // How the module ended it could not tell any more.
            assert_eq!(stopped.unwrap().exit, None, "{:?}", launcher.reach());
            assert_eq!(alive(&marker), Vec::<u32>::new(), "{:?}", launcher.reach());
        }
    }
}

fn pid_of(process: std::os::fd::BorrowedFd<'_>) -> i32 {
    use std::os::fd::AsRawFd;
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", process.as_raw_fd())).unwrap();
    info.lines().find_map(|line| line.strip_prefix("Pid:")).unwrap().trim().parse().unwrap()
}

/// A process that this thread traces and holds, so that no signal but KILL moves it.
struct Held(i32);

impl Held {
    fn new(pid: i32) -> Self {
        // SAFETY: traces another process; no memory of this one is touched.
        unsafe {
            let seized = libc::ptrace(libc::PTRACE_SEIZE, pid, 0usize, 0usize);
            assert_eq!(seized, 0, "{}", std::io::Error::last_os_error());
            assert_eq!(libc::ptrace(libc::PTRACE_INTERRUPT, pid, 0usize, 0usize), 0);
            assert_eq!(libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL), pid);
        }
        Self(pid)
    }

    fn release(self) {
        // SAFETY: as above.
        unsafe {
            assert_eq!(libc::ptrace(libc::PTRACE_DETACH, self.0, 0usize, 0usize), 0);
            assert_eq!(libc::waitpid(self.0, std::ptr::null_mut(), libc::__WALL), self.0);
        }
    }
}

/// Only KILL and STOP reach a keeper, the signals that libc keeps for itself included.
#[test]
fn a_keeper_takes_no_signal_from_its_module() {
    for launcher in launchers() {
        let marker = marker();
        let process = launch(&launcher, "signal-parent", &marker, &forever());
        wait_for(&process, "sent");
        assert_eq!(process.stop(GUARD).unwrap().exit, Some(Exit::Signal(9)), "{:?}", launcher.reach());
        assert_eq!(alive(&marker), Vec::<u32>::new());
    }
}

/// A module that is traced by its own child cannot be reaped before that child is gone.
#[test]
fn a_traced_module_is_gone() {
    for launcher in launchers() {
        let marker = marker();
        let process = launch(&launcher, "traced", &marker, &forever());
        // Some machines refuse the trace; then this is an ordinary descendant.
        wait_for(&process, "\n");
        process.stop(GUARD).unwrap();
        assert_eq!(alive(&marker), Vec::<u32>::new(), "{:?}", launcher.reach());
    }
}

/// A process that the host has forked has copies of all its descriptors; stopping works all the same.
#[test]
fn a_forked_host_can_stop_its_modules() {
    for launcher in launchers() {
        let marker = marker();
        let process = launch(&launcher, "ignore", &marker, &forever());
        let copy = forked();
        let ended = process.stop(GUARD);
        copy.end();
        assert_eq!(ended.unwrap().exit, Some(Exit::Signal(9)), "{:?}", launcher.reach());
        assert_eq!(alive(&marker), Vec::<u32>::new());
    }
}

/// A copy of this process that only sleeps.
fn forked() -> Copy {
    // SAFETY: the child makes two system calls and nothing else.
    match unsafe { libc::fork() } {
        0 => unsafe {
            // SAFETY: as above.
            libc::sleep(120);
            libc::_exit(0)
        },
        pid => Copy(rustix::process::Pid::from_raw(pid).unwrap()),
    }
}

struct Copy(rustix::process::Pid);

impl Copy {
    fn end(self) {
        rustix::process::kill_process(self.0, rustix::process::Signal::KILL).unwrap();
        rustix::process::waitpid(Some(self.0), rustix::process::WaitOptions::empty()).unwrap();
    }
}

/// In a namespace the keeper cannot be signalled by its module; as a subreaper it can, and that is told.
#[test]
fn a_module_that_kills_its_keeper() {
    for launcher in launchers() {
        let marker = marker();
        let command =
            Command::new(Word::text(hostile())).arg(Word::text("kill-parent")).arg(Word::text(&marker));
        let launched = launcher.launch(&Launch::new("/", &command, &forever()));
        if launcher.reach() == Some(Reach::Subreaper) {
            // It may be quicker than the launch.
            let told = match launched {
                Ok(process) => {
                    assert!(process.wait_gone(Some(GUARD)).unwrap());
                    process.stop(GUARD).unwrap_err().to_string()
                }
                Err(error) => error.to_string(),
            };
            assert!(told.contains("was killed"), "{told}");
            // Told, because it may be so: these live on. The test cleans up after itself.
            let mut quiet = 0;
            while quiet < 20 {
                // Listing processes that fork can miss them, so one empty list is not enough.
                quiet += 1;
                for pid in alive(&marker) {
                    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    quiet = 0;
                }
            }
        } else {
            // The call was accepted and had no effect: process 1 takes no signal from its namespace.
            assert!(launched.unwrap().stop(GUARD).is_ok());
            assert_eq!(alive(&marker), Vec::<u32>::new());
        }
    }
}

#[test]
fn a_closed_input_is_an_error_and_no_signal() {
    let launcher = launchers().remove(0);
    let mut process = launch(&launcher, "close-and-live", &marker(), &forever());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            modberth_sandbox::block_sigpipe();
            // SAFETY: Rust ignores this signal; here it gets its default, which would end the test run. No other
            // thread of these tests writes to a pipe without a reader.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
            let until = std::time::Instant::now() + GUARD;
            let error = loop {
                match rustix::io::write(process.stdin().unwrap(), b"x") {
                    Err(error) if error != rustix::io::Errno::AGAIN => break error,
                    _ => assert!(std::time::Instant::now() < until),
                }
            };
            // SAFETY: as Rust had it.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
            assert_eq!(error, rustix::io::Errno::PIPE);
        });
    });
    process.close_stdin();
    process.stop(GUARD).unwrap();
}

/// Descriptors, processes and memory maps are the same after a hundred launches as after ten.
#[test]
fn launching_leaks_nothing() {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    for launcher in launchers() {
        let marker = marker();
        for _ in 0..100 {
            let process = launch(&launcher, "wait", &marker, &forever());
            process.stop(GUARD).unwrap();
        }
        assert_eq!(alive(&marker), Vec::<u32>::new());
    }
    // Other tests of this process run beside this one; a leak would show as hundreds.
    assert!(count("/proc/self/fd") < 200, "{}", count("/proc/self/fd"));
}

/// The host's end takes the module with it: a host that is killed cannot kill.
#[test]
fn a_killed_host_takes_its_modules_along() {
    kill_host(false);
}

/// Also when a process that the host had forked lives on, with copies of all its descriptors.
#[test]
fn a_killed_host_with_a_fork_takes_its_modules_along() {
    kill_host(true);
}

fn kill_host(forks: bool) {
    let executable = std::env::current_exe().unwrap();
    for (number, reach) in WAYS.into_iter().enumerate() {
        if Launcher::plain_with(reach).is_err() {
            continue;
        }
        let marker = marker();
        let mut host = std::process::Command::new(&executable)
            .args(["--exact", "child_host", "--nocapture"])
            .env("MODBERTH_TEST_CHILD_HOST", format!("{number} {marker}"))
            .envs(forks.then_some(("MODBERTH_TEST_FORKED", "1")))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // The child host says so on its output once the module runs.
        let mut said = std::io::BufReader::new(host.stdout.take().unwrap());
        let (mut line, mut copy) = (String::new(), None);
        while !line.contains("module runs") {
            line.clear();
            assert_ne!(std::io::BufRead::read_line(&mut said, &mut line).unwrap(), 0, "the child host ended");
            let pid = line.split_once("copy ").and_then(|(_, pid)| pid.trim().parse().ok());
            copy = copy.or(pid.and_then(rustix::process::Pid::from_raw));
        }
        assert_eq!(copy.is_some(), forks);
        let until = std::time::Instant::now() + GUARD;
        // Listing processes that fork can miss them.
        while alive(&marker).is_empty() {
            assert!(std::time::Instant::now() < until, "the module never ran ({reach:?})");
        }
        host.kill().unwrap();
        host.wait().unwrap();
        let until = std::time::Instant::now() + GUARD;
        while !alive(&marker).is_empty() {
            assert!(std::time::Instant::now() < until, "the module outlived its host ({reach:?})");
            std::thread::yield_now();
        }
        if let Some(copy) = copy {
            rustix::process::kill_process(copy, rustix::process::Signal::KILL).unwrap();
        }
    }
}

/// The host that the test above kills; by itself it does nothing.
#[test]
fn child_host() {
    let Ok(wish) = std::env::var("MODBERTH_TEST_CHILD_HOST") else { return };
    let (reach, marker) = wish.split_once(' ').unwrap();
    let launcher = Launcher::plain_with(WAYS[reach.parse::<usize>().unwrap()]).unwrap();
    let process = launch(&launcher, "daemon", marker, &forever());
    wait_ended(&process);
    if std::env::var_os("MODBERTH_TEST_FORKED").is_some() {
        println!("copy {}", forked().0.as_raw_nonzero());
    }
    println!("module runs");
    std::thread::sleep(GUARD);
}

/// All of the above again without privileges.
#[test]
fn an_ordinary_user_can_do_all_of_this() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (test, program) = (folder.path().join("test"), folder.path().join("hostile"));
    // By another process: one that this process starts meanwhile would hold a file that is open for writing here,
    // and nothing that is open for writing can be run.
    for (from, to) in [(std::env::current_exe().unwrap(), &test), (hostile(), &program)] {
        assert!(std::process::Command::new("cp").args([&from, to]).status().unwrap().success());
        std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = std::process::Command::new(&test)
        .args([
            "--skip",
            "an_ordinary_user_can_do_all_of_this",
            "--skip",
            "the_default_backstop_is_twelve_seconds",
            "--skip",
            "a_keeper_that_cannot_go_on_is_given_up_after_ten_seconds",
        ])
        .env("MODBERTH_TEST_HOSTILE", &program)
        .uid(65534)
        .gid(65534)
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("test result: ok"), "{text}");
}
