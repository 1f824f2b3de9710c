//! What this machine has, what a module would get on it, what is missing, and the proof that it holds.
//!
//! [`examine`] looks and tries to confine. Where that works, a [`Prover`] runs one hostile program for each [`Check`]
//! in the sandbox that modules get (P1-HOST-26, P1-HOST-28). The program is the caller's own, which passes the words
//! `probe LAYER …` on to [`probe::run`].

mod check;
mod machine;
pub mod probe;
mod prove;
mod stage;

use std::path::PathBuf;

pub use check::{Check, checks};
pub use machine::{Machine, Place, Setting};
pub use prove::{Outcome, Proof, Prover};

use crate::cgroup::Layout;
use crate::confined::{Options, Unavailable, resources};
use crate::launcher::Launcher;
use crate::profile::{Limits, Profile};

/// Something that this machine lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// What: a controller of control groups (`memory`, `pids`, `cpu`), `swap accounting`, `groups`, `namespaces`,
    /// `seccomp`, `landlock`, or `kill` (the way to end a group at once).
    pub what: String,
    /// Why it cannot be used.
    pub why: String,
    /// Where that was seen, if anywhere.
    pub path: Option<PathBuf>,
    /// Whether modules are refused without it.
    pub needed: bool,
}

/// A way to get what is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fix {
    /// What it brings: `control groups`, `namespaces` or `landlock`.
    pub brings: &'static str,
    /// The way, for people.
    pub way: &'static str,
    /// What to type, or to write into a file; one line each, in this order. Behind `#` stands a remark.
    pub steps: Vec<String>,
}

/// What was found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Examination {
    /// What the machine has.
    pub machine: Machine,
    /// What a module gets.
    pub limits: Limits,
    /// Limits of each process of a module: names as `prlimit` has them, and values.
    pub process_limits: Vec<(&'static str, u64)>,
    /// What the machine lacks, needed or not.
    pub missing: Vec<Missing>,
    /// Ways to get it. Those that bring the same thing stand for each other.
    pub fixes: Vec<Fix>,
    /// The launcher that confines; `None` where modules are refused.
    pub launcher: Option<Launcher>,
}

/// Looks at this machine and prepares to confine modules with `options`, as a host does at its start.
pub fn examine(options: Options) -> Examination {
    let limits = options.limits.clone();
    let layout = Layout::find();
    let machine = Machine::look(layout.as_ref());
    let mut findings = Findings { missing: Vec::new(), fixes: Vec::new() };
    let launcher = match Launcher::confined(options.clone()) {
        Ok(launcher) => Some(launcher),
        Err(Unavailable::Groups(groups)) => {
            findings.groups(&groups);
            // Whatever else is missing is to be known at the same time.
            if let Err(Unavailable::Machine { doing, source, .. }) = Launcher::without_groups(options) {
                findings.namespaces(&machine, format!("{doing}: {source}"));
            }
            None
        }
        Err(Unavailable::Machine { doing, source, .. }) => {
            findings.namespaces(&machine, format!("{doing}: {source}"));
            None
        }
    };
    findings.lesser(&machine);
    let mut profile = Profile::action();
    profile.limits = limits.clone();
    let process_limits =
        resources(&profile, true).iter().map(|(number, value)| (name(*number), *value)).collect();
    let Findings { missing, fixes } = findings;
    Examination { machine, limits, process_limits, missing, fixes, launcher }
}

struct Findings {
    missing: Vec<Missing>,
    fixes: Vec<Fix>,
}

impl Findings {
    fn groups(&mut self, groups: &crate::GroupsUnavailable) {
        for one in &groups.missing {
            let why = match &one.source {
                Some(source) => format!("{} ({source})", one.why),
                None => one.why.clone(),
            };
            let path = Some(one.path.clone());
            self.missing.push(Missing { what: one.what.to_owned(), why, path, needed: true });
        }
        for (way, text) in [
            ("let systemd make a group for the host", groups.systemd()),
            ("as root, in the shell that then starts the host", groups.by_hand()),
        ] {
            self.fixes.push(Fix {
                brings: "control groups",
                way,
                steps: text.lines().map(str::to_owned).collect(),
            });
        }
    }

    fn namespaces(&mut self, machine: &Machine, why: String) {
        self.missing.push(Missing { what: "namespaces".to_owned(), why, path: None, needed: true });
        let settings = machine.user_namespaces.iter();
        let wrong = settings.filter_map(|one| Some(format!("sysctl -w {}={}", one.name, one.wanted?)));
        let mut steps: Vec<String> = wrong.collect();
        if steps.is_empty() {
            steps.push(
                "# in a container: permit the calls unshare, mount and setns, or run the host outside".into(),
            );
            steps.push("# elsewhere: run the host as root".into());
        }
        self.fixes.push(Fix { brings: "namespaces", way: "as root", steps });
    }

    /// What modules can be run without.
    fn lesser(&mut self, machine: &Machine) {
        if let Some(why) = &machine.unused {
            let why = format!("{why}; groups are ended by signals, which takes longer");
            self.missing.push(Missing { what: "kill".to_owned(), why, path: None, needed: false });
        }
        if machine.landlock.is_none() {
            let why = "this kernel has none (it came with Linux 5.13), or did not switch it on; mounts alone keep files apart";
            let path = Some("/sys/kernel/security/lsm".into());
            self.missing.push(Missing {
                what: "landlock".to_owned(),
                why: why.to_owned(),
                path,
                needed: false,
            });
            self.fixes.push(Fix {
                brings: "landlock",
                way: "start the kernel with landlock at the beginning of its list",
                steps: vec![
                    "# kernel command line: lsm=landlock,… with what /sys/kernel/security/lsm has".to_owned(),
                ],
            });
        }
    }
}

/// The name of a limit as `prlimit` has it.
fn name(limit: u32) -> &'static str {
    const NAMES: [(u32, &str); 12] = [
        (libc::RLIMIT_CORE, "core"),
        (libc::RLIMIT_CPU, "cpu"),
        (libc::RLIMIT_DATA, "data"),
        (libc::RLIMIT_FSIZE, "fsize"),
        (libc::RLIMIT_MEMLOCK, "memlock"),
        (libc::RLIMIT_MSGQUEUE, "msgqueue"),
        (libc::RLIMIT_NICE, "nice"),
        (libc::RLIMIT_NOFILE, "nofile"),
        (libc::RLIMIT_NPROC, "nproc"),
        (libc::RLIMIT_RTPRIO, "rtprio"),
        (libc::RLIMIT_SIGPENDING, "sigpending"),
        (libc::RLIMIT_STACK, "stack"),
    ];
    NAMES.iter().find(|(number, _)| *number == limit).map_or("other", |(_, name)| name)
}
