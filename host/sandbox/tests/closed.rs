//! A host that has closed a standard stream. Alone in its file, because the descriptors are the process's.

use std::io::ErrorKind::NotFound;
use std::os::fd::AsRawFd;
use std::time::Duration;

use modberth_sandbox::{Command, Launch, Launcher, Options, Profile, Word, above_streams};

/// What a host prints must never get into a pipe of a module.
#[test]
fn no_pipe_of_a_module_takes_the_place_of_a_standard_stream() {
    // SAFETY: nothing here reads standard input.
    assert_eq!(unsafe { libc::close(0) }, 0);
    let launcher = Launcher::plain().unwrap();
    let command = Command::new(Word::text("/bin/cat"));
    let process = launcher.launch(&Launch::new("/", &command, &Profile::action())).unwrap();
    let used = [
        process.stdin().unwrap().as_raw_fd(),
        process.stdout().as_raw_fd(),
        process.stderr().as_raw_fd(),
        process.ended().as_raw_fd(),
        process.gone().as_raw_fd(),
    ];
    assert!(used.iter().all(|fd| *fd > 2), "{used:?}");
    let lowest = rustix::io::dup(process.stdout()).unwrap();
    assert_eq!(lowest.as_raw_fd(), 0, "something else took the place");
    assert!(above_streams(lowest).unwrap().as_raw_fd() > 2);
    process.stop(Duration::from_secs(60)).unwrap();
    // Nor does a file of a control group, which a host would set a limit with.
    let confined = Launcher::confined(Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let process = confined.launch(&Launch::new("/", &command, &Profile::action())).unwrap();
    let stream = std::fs::read_link("/proc/self/fd/0").map(|file| file.display().to_string());
    assert!(stream.as_ref().is_err_and(|error| error.kind() == NotFound), "{stream:?}");
    process.stop(Duration::from_secs(60)).unwrap();
}
