//! Debian's packages: one list, each with its reason and with how to see that it is there.

use super::python::{Python, on_path};
use crate::run::Job;
use anyhow::{Context, Result, bail};
use std::path::Path;

/// How to see that a package's content is on this machine, whoever installed it.
enum Seen {
    /// A program on the path.
    Program(&'static str),
    /// A library that pkg-config knows.
    Library(&'static str),
}

/// Package, how to see it, what it is for.
const PACKAGES: &[(&str, Seen, &str)] = &[
    ("gcc", Seen::Program("gcc"), "builds the C SDK and links every Rust program"),
    ("g++", Seen::Program("g++"), "builds the C++ SDK and its tests"),
    ("cmake", Seen::Program("cmake"), "drives the builds of the C and C++ SDKs"),
    ("make", Seen::Program("make"), "the generator that cmake uses"),
    ("pkg-config", Seen::Program("pkg-config"), "finds cJSON for cargo and for the consumer tests"),
    ("libcjson-dev", Seen::Library("libcjson"), "the JSON library of the C and C++ SDKs"),
    ("libseccomp-dev", Seen::Library("libseccomp"), "what the sandbox's system call filter is compared with"),
    ("libgtest-dev", Seen::Library("gtest_main"), "the test framework of the C and C++ SDKs"),
    (
        "strace",
        Seen::Program("strace"),
        "watches which system calls a module makes, in the conformance tests",
    ),
    ("clang-format", Seen::Program("clang-format"), "checks the format of C and C++"),
    ("doxygen", Seen::Program("doxygen"), "checks that every public C and C++ name is documented"),
];

/// Installs what is missing: as root on Debian by itself, otherwise it prints the one command and stops.
pub(crate) fn install(python: &Python) -> Result<()> {
    let mut missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(_, seen, _)| match seen {
            Seen::Program(name) => on_path(name).is_none(),
            Seen::Library(name) => Job::new("pkg-config").args(["--exists", name]).capture().is_err(),
        })
        .map(|(package, ..)| *package)
        .collect();
    // Debian ships its own interpreter without what a virtual environment needs.
    if Job::new(&python.path).args(["-I", "-c", "import ensurepip, venv"]).capture().is_err() {
        missing.push("python3-venv");
    }
    if missing.is_empty() {
        return Ok(());
    }
    let command = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    let reasons: Vec<_> = PACKAGES
        .iter()
        .filter(|(package, ..)| missing.contains(package))
        .map(|(package, _, why)| format!("  {package}: {why}"))
        .collect();
    let root = rustix::process::geteuid().is_root();
    if !Path::new("/etc/debian_version").exists() {
        bail!(
            "install what these Debian packages hold, by the names your system gives them:\n{}",
            reasons.join("\n")
        );
    }
    if !root {
        bail!(
            "packages are missing:\n{}\nInstall them, then run this again:\n\n  sudo {command}\n",
            reasons.join("\n")
        );
    }
    eprintln!("set-up: installing {}", missing.join(" "));
    let apt = |args: &[&str]| {
        Job::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive").minutes(15).capture()
    };
    apt(&["update", "-q"]).context("apt-get update")?;
    let mut args = vec!["install", "-y", "-q", "--no-install-recommends"];
    args.extend(&missing);
    apt(&args).with_context(|| command)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::PACKAGES;

    #[test]
    fn every_package_has_a_reason_and_stands_once() {
        let mut names: Vec<_> = PACKAGES.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PACKAGES.len());
        assert!(PACKAGES.iter().all(|(_, _, why)| why.len() > 10));
    }
}
