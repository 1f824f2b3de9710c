//! The launcher that confines: what a module gets, and that it starts, ends and is counted.

use std::io::Read;
use std::os::fd::AsFd;
use std::time::Duration;

use modberth_sandbox::{Command, Exit, Launch, Launcher, Options, Process, Profile, Word};

const GUARD: Duration = Duration::from_secs(30);

fn sh(script: &str) -> Command {
    Command::new(Word::text("/usr/bin/dash")).arg(Word::text("-c")).arg(Word::text(script))
}

fn output(process: &Process) -> String {
    assert!(process.wait_gone(Some(GUARD)).unwrap(), "the module does not end");
    let mut text = String::new();
    let pipe = process.stdout().try_clone_to_owned().unwrap();
    std::fs::File::from(pipe).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_module_runs_and_is_counted() {
    let launcher = Launcher::confined(Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "hello").unwrap();
    for _ in 0..3 {
        let command = sh("pwd; echo *; echo /*; read x < file; echo $x; echo $$; exit 3");
        let process = launcher.launch(&Launch::new(folder.path(), &command, &Profile::action())).unwrap();
        let text = output(&process);
        let mut error = String::new();
        let pipe = process.stderr().try_clone_to_owned().unwrap();
        std::fs::File::from(pipe).read_to_string(&mut error).unwrap();
        println!("{text}{error}");
        assert_eq!(process.exit(), Some(Exit::Status(3)));
        let ended = process.stop(GUARD).unwrap();
        println!("{ended:?}");
        assert_eq!(ended.exit, Some(Exit::Status(3)));
    }
}
