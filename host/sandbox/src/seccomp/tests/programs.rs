//! Programs as modules are, under a filter that kills where the real one answers EPERM: they need nothing that is
//! refused.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// Runs a program with the filter in force and tells what it printed. `folder` is its scratch space.
fn run<A: AsRef<OsStr>>(program: &Path, arguments: &[A], sockets: Sockets, folder: &Path) -> String {
    // The guard against a hang stands under the filter as well.
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "60"]).arg(program).args(arguments);
    command.env("TMPDIR", folder).stdin(Stdio::null());
    let output = under(strict(sockets), &mut command).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
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

/// Where a program of this folder lies.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/seccomp/tests/programs").join(name)
}

/// Builds the C program with more flags.
fn build(folder: &Path, flags: &[&str]) -> PathBuf {
    let program = folder.join("plain");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-Wall", "-Werror", "-pthread", "-o"]).arg(&program).arg(source("plain.c")).args(flags);
    assert!(gcc.status().unwrap().success());
    program
}

/// The interpreters on this machine: the one on the path, whatever stands behind it, and the system's own.
fn pythons() -> Vec<PathBuf> {
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
        let arguments = [source("interpreted.py"), folder.path().to_owned()];
        assert_eq!(run(&python, &arguments, ACTION, folder.path()), "done\n", "{python:?}");
    }
}

#[test]
fn node_needs_nothing_refused() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [source("interpreted.cjs"), folder.path().to_owned()];
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
            let program = source("sockets.py");
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
