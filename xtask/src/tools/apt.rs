//! Debian's packages: one list, each with its reason and with how to see that it is there.

use super::python::{Python, on_path};
use crate::run::Job;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

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

/// What only the stage with the test machine needs; it is left out where these cannot be had.
const MACHINE: &[(&str, Seen, &str)] = &[
    ("qemu-system-x86", Seen::Program("qemu-system-x86_64"), "runs the test machine"),
    ("cpio", Seen::Program("cpio"), "packs the first root file system of the test machine"),
];

/// What only the benches need.
const RIVAL: &[(&str, Seen, &str)] =
    &[("bubblewrap", Seen::Program("bwrap"), "what the sandbox is measured against")];

/// Installs what is missing: as root on Debian by itself, otherwise it prints the one command and stops.
pub(crate) fn install(python: &Python) -> Result<()> {
    let mut missing = missing(PACKAGES);
    // Debian ships its own interpreter without what a virtual environment needs.
    if Job::new(&python.path).args(["-I", "-c", "import ensurepip, venv"]).capture().is_err() {
        missing.push("python3-venv");
    }
    get(&missing)
}

/// Installs what the test machine needs, likewise.
pub(crate) fn install_machine() -> Result<()> {
    get(&missing(MACHINE))
}

/// Installs what the sandbox is measured against, likewise.
pub(crate) fn install_rival() -> Result<()> {
    get(&missing(RIVAL))
}

fn missing(packages: &[(&'static str, Seen, &str)]) -> Vec<&'static str> {
    packages
        .iter()
        .filter(|(_, seen, _)| match seen {
            Seen::Program(name) => on_path(name).is_none(),
            Seen::Library(name) => Job::new("pkg-config").args(["--exists", name]).capture().is_err(),
        })
        .map(|(package, ..)| *package)
        .collect()
}

fn get(missing: &[&str]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let command = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    let reasons: Vec<_> = PACKAGES
        .iter()
        .chain(MACHINE)
        .chain(RIVAL)
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
    update()?;
    let mut args = vec!["install", "-y", "-q", "--no-install-recommends"];
    args.extend(missing);
    apt(&args).capture().with_context(|| command)?;
    Ok(())
}

fn apt(args: &[&str]) -> Job {
    Job::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive").minutes(15)
}

/// Fetches the lists of what there is.
fn update() -> Result<()> {
    apt(&["update", "-q"]).capture().context("apt-get update")?;
    Ok(())
}

/// A package at the version that would be installed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its name.
    pub(crate) package: String,
    /// Its version.
    pub(crate) version: String,
}

/// What apt would install under this name.
///
/// # Errors
///
/// There is no apt, or its lists do not hold the package.
pub(crate) fn candidate(package: &str) -> Result<Candidate> {
    let policy = Job::new("apt-cache").args(["policy", package]).env("LC_ALL", "C").capture()?;
    let version = policy
        .lines()
        .find_map(|line| line.trim().strip_prefix("Candidate: "))
        .filter(|version| *version != "(none)")
        .with_context(|| format!("apt knows no package {package}"))?;
    Ok(Candidate { package: package.to_owned(), version: version.to_owned() })
}

/// The one package that a package without content stands for.
///
/// # Errors
///
/// As [`candidate`], or it depends on none whose name begins with `prefix`.
pub(crate) fn behind(package: &str, prefix: &str) -> Result<Candidate> {
    let lines = Job::new("apt-cache").args(["depends", package]).env("LC_ALL", "C").capture()?;
    let needed = lines
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: ").filter(|name| name.starts_with(prefix)))
        .with_context(|| format!("{package} depends on no package {prefix}…"))?;
    candidate(needed)
}

/// Downloads a package into an empty folder and unpacks it there, below `content`. Nothing is installed.
///
/// # Errors
///
/// The archive of packages cannot be reached, or no longer holds the version.
pub(crate) fn unpack(candidate: &Candidate, folder: &Path) -> Result<PathBuf> {
    let name = format!("{}={}", candidate.package, candidate.version);
    apt(&["download", "-q", &name])
        .dir(folder)
        .capture()
        .with_context(|| format!("apt-get download {name}"))?;
    let archive = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .with_context(|| format!("apt-get download {name} left no archive"))?;
    let content = folder.join("content");
    Job::new("dpkg-deb").arg("--extract").args([&archive, &content]).capture()?;
    std::fs::remove_file(archive)?;
    Ok(content)
}

/// Does something that needs apt's lists; when it fails, once more with fresh lists where we may fetch them.
///
/// # Errors
///
/// It failed, the second time where there was one.
pub(crate) fn with_lists<T>(work: impl Fn() -> Result<T>) -> Result<T> {
    match work() {
        Err(_) if rustix::process::geteuid().is_root() => {
            update()?;
            work()
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::{MACHINE, PACKAGES, RIVAL};

    #[test]
    fn every_package_has_a_reason_and_stands_once() {
        let all = || PACKAGES.iter().chain(MACHINE).chain(RIVAL);
        let mut names: Vec<_> = all().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|(_, _, why)| why.len() > 10));
    }
}
