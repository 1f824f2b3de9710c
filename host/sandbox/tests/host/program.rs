//! A host to be killed and stopped, and the module that it runs. Both are this one program, so that the module carries a
//! marker that no other process has.
//!
//! ```text
//! host confined|rlimits-only MARKER MILLISECONDS GRACE COUNT
//!                          prints `ready`, launches `module MARKER-module` so many times with this backstop (0: none, or `default`) and
//!                          grace, prints `launched`, and waits for ever
//! host module MARKER       forks twice, ignores every signal, clears PDEATHSIG, never ends
//! ```

use std::io::Write;
use std::time::Duration;

use modberth_sandbox::{Command, Launch, Launcher, Options, Profile, Word};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments[1].as_str() {
        "module" => module(),
        kind => host(kind, &arguments[2..]),
    }
}

fn host(kind: &str, rest: &[String]) {
    let [marker, backstop, grace, count] = rest else { panic!("MARKER MILLISECONDS GRACE COUNT") };
    let launcher = match kind {
        "confined" => Launcher::confined(Options::default()).unwrap_or_else(|error| panic!("{error}")),
        "rlimits-only" => Launcher::rlimits_only(Options::default()).unwrap(),
        other => panic!("{other}"),
    };
    let mut profile = Profile::action();
    let span = |text: &String| Duration::from_millis(text.parse().unwrap());
    if backstop != "default" {
        profile.backstop = Some(span(backstop)).filter(|backstop| !backstop.is_zero());
    }
    profile.grace = span(grace);
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().unwrap();
    let command = Command::new(Word::package(own.file_name().unwrap()))
        .arg(Word::text("module"))
        .arg(Word::text(format!("{marker}-module")));
    println!("ready");
    let mut kept = Vec::new();
    for _ in 0..count.parse().unwrap() {
        let mut process = launcher.launch(&Launch::new(folder, &command, &profile)).unwrap();
        process.close_stdin();
        kept.push(process);
    }
    println!("launched");
    std::io::stdout().flush().unwrap();
    loop {
        std::thread::park();
    }
}

/// Ends by SIGKILL only.
fn module() {
    // SAFETY: plain system calls of a program with one thread.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, 0);
        for _ in 0..2 {
            if libc::fork() == 0 {
                libc::setsid();
                libc::prctl(libc::PR_SET_PDEATHSIG, 0);
            }
        }
        libc::close(0);
        libc::close(1);
        libc::close(2);
        loop {
            libc::pause();
        }
    }
}
