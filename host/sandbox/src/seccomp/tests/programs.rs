//! Programs as modules are, under a filter that kills where the real one answers EPERM: they need nothing that is
//! refused.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags};

use super::live::load;
use super::{Architecture, Sockets};
use crate::seccomp::Filter;
use crate::seccomp::compile::{EPERM, KILL, compile};

const ACTION: Sockets = Sockets { unix: false, internet: false };

/// The filter with every EPERM turned into the end of the process.
fn strict(sockets: Sockets) -> Filter {
    let mut instructions = compile(Architecture::NATIVE, sockets);
    let mut turned = 0;
    for instruction in instructions.iter_mut().filter(|it| it.code == 0x06 && it.k == EPERM) {
        instruction.k = KILL;
        turned += 1;
    }
    assert!(turned > 0, "the filter refuses something");
    Filter { instructions }
}

/// Whether a program can be had here. The test machine has few; on every other one they all must be there.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match found {
        Ok(_) => true,
        Err(error)
            if error.kind() == io::ErrorKind::NotFound && std::env::var_os("MODBERTH_VM").is_some() =>
        {
            println!("not run: no {program}");
            false
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

/// Runs a program with the filter in force and tells what it printed. `folder` is its scratch space.
fn run<A: AsRef<OsStr>>(program: &Path, arguments: &[A], sockets: Sockets, folder: &Path) -> String {
    let mut command = Command::new(program);
    let (mut printed, mut errors) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let streams = (printed.try_clone().unwrap(), errors.try_clone().unwrap());
    command.args(arguments).env("TMPDIR", folder).stdin(Stdio::null()).stdout(streams.0).stderr(streams.1);
    let mut child = under(strict(sockets), &mut command).spawn().unwrap();
    let ended = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
    let guard = Timespec { tv_sec: 60, tv_nsec: 0 };
    if poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&guard)) != Ok(1) {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    let text = |file: &mut File| {
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    };
    assert!(status.success(), "{program:?}: {status}\n{}", text(&mut errors));
    text(&mut printed)
}

/// The command will run with the filter in force.
fn under(filter: Filter, command: &mut Command) -> &mut Command {
    // SAFETY: the child makes two system calls and reads the filter, which its copy of the memory holds.
    unsafe {
        command.pre_exec(move || {
            load(&filter.program()).map_err(|error| io::Error::from_raw_os_error(error as i32))
        })
    }
}

/// A program of this folder in its scratch space; the source tree may be elsewhere.
macro_rules! source {
    ($name:literal, $folder:expr) => {{
        let path = $folder.join($name);
        std::fs::write(&path, include_str!(concat!("programs/", $name))).unwrap();
        path
    }};
}

/// Builds the C program with more flags.
fn build(folder: &Path, flags: &[&str]) -> PathBuf {
    let program = folder.join("plain");
    let source = source!("plain.c", folder);
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-Wall", "-Werror", "-pthread", "-o"]).arg(&program).arg(source).args(flags);
    assert!(gcc.status().unwrap().success());
    program
}

/// The interpreters on this machine: the one on the path, whatever stands behind it, and the system's own.
fn pythons() -> Vec<PathBuf> {
    if !has("python3") {
        return Vec::new();
    }
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let first = PathBuf::from(String::from_utf8(asked.stdout).unwrap().trim());
    let system = PathBuf::from("/usr/bin/python3");
    let mut found = vec![first];
    if system.exists() && !found.contains(&system) {
        found.push(system);
    }
    found
}

#[test]
fn a_program_in_c_needs_nothing_refused() {
    if !has("gcc") {
        return;
    }
    for flags in [&["-static"][..], &[]] {
        let folder = tempfile::tempdir().unwrap();
        let program = build(folder.path(), flags);
        assert_eq!(run(&program, &[folder.path()], ACTION, folder.path()), "done\n", "{flags:?}");
    }
}

#[test]
fn python_needs_nothing_refused() {
    for python in pythons() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [source!("interpreted.py", folder.path()), folder.path().to_owned()];
        assert_eq!(run(&python, &arguments, ACTION, folder.path()), "done\n", "{python:?}");
    }
}

#[test]
fn node_needs_nothing_refused() {
    if !has("node") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = [source!("interpreted.cjs", folder.path()), folder.path().to_owned()];
    assert_eq!(run(Path::new("node"), &arguments, ACTION, folder.path()), "done\n");
}

#[test]
fn services_use_the_sockets_of_their_profile() {
    let profiles: [(Sockets, &[&str]); 3] = [
        (Sockets { unix: true, internet: false }, &["unix"]),
        (Sockets { unix: false, internet: true }, &["internet"]),
        (Sockets { unix: true, internet: true }, &["unix", "internet"]),
    ];
    for python in pythons() {
        for (sockets, families) in profiles {
            let folder = tempfile::tempdir().unwrap();
            let program = source!("sockets.py", folder.path());
            let mut arguments = vec![program.as_os_str(), folder.path().as_os_str()];
            arguments.extend(families.iter().map(OsStr::new));
            assert_eq!(run(&python, &arguments, sockets, folder.path()), "done\n", "{python:?} {families:?}");
        }
    }
}

#[test]
fn the_strict_filter_kills_what_is_refused() {
    let mut command = Command::new("unshare");
    let status = under(strict(ACTION), command.args(["--user", "true"])).status().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGSYS));
}
