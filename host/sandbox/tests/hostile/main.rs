//! What a module cannot do: a table of attacks, each of them a test (P1-HOST-28).
//!
//! A row names a behaviour of `program`, the profiles it is tried in, what must stop it, and the layers that do. Verdicts
//! are taken from outside where there is something to see: the process table, the counters of the control group, the
//! files of the package, peers that listen, a file of the host. The rows are run
//!
//! * `action::NAME` and `service::NAME`: under a launcher with every layer. The attack is stopped as the row says.
//! * `without::NAME` (feature `weaken`): with exactly the row's layers off. Now it gets through, so it was they.
//! * `still::NAME by LAYER` (the same feature): with all of the row's layers off but one, where that one is enough.
//! * `plain::NAME`: where something that cannot be left out stops it too, under the launcher that confines nothing. It
//!   gets through there, so the attack is one.
//!
//! A row without layers is no attack; its outcome is stated.

#[path = "../common/mod.rs"]
mod common;
mod drive;
mod row;
mod table;
mod world;

use std::collections::BTreeSet;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use modberth_sandbox::{Launcher, Options};

use drive::run;
use row::{Held, Kind, Row, Shown};

/// Modules at one time, and so tests.
const AT_ONCE: u32 = 4;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(arguments.test_threads.unwrap_or(AT_ONCE as usize).min(AT_ONCE as usize));
    let rows = table::rows();
    let mut trials = vec![Trial::test("every_behaviour_has_a_row", complete)];
    // Made once, and only where a test needs it: they share it as the actions of a host do.
    let full = Arc::new(Shared::default());
    for row in rows {
        for kind in row.kinds() {
            let full = Arc::clone(&full);
            trials.push(Trial::test(format!("{}::{}", kind.name(), row.name), move || {
                check(row, &run(row, kind, full.launcher()?)?, row.expected(kind))
            }));
        }
        match row.held {
            Held::Outcome => {}
            Held::By(layers) => weakened(row, layers, &mut trials),
            Held::Always => {
                let plain = Trial::test(format!("plain::{}", row.name), move || {
                    let launcher = Launcher::plain().map_err(|error| error.to_string())?;
                    check(row, &run(row, Kind::Plain, launcher)?, &row.shown)
                });
                // An ordinary user cannot do most of it anyway.
                // An ordinary user is stopped by being one, which shows nothing.
                if rustix::process::geteuid().is_root() {
                    trials.push(plain);
                }
            }
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let mut left = full.end();
    if let Err(error) = world::clean() {
        left.push(format!("copies of the program: {error}"));
    }
    for line in &left {
        eprintln!("left behind: {line}");
    }
    if conclusion.has_failed() || !left.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(feature = "weaken")]
fn weakened(row: &'static Row, layers: &'static [modberth_sandbox::Layer], trials: &mut Vec<Trial>) {
    trials.push(Trial::test(format!("without::{}", row.name), move || {
        let options = Options::new(1, modberth_sandbox::Limits::default()).without(layers);
        let launcher = Launcher::confined(options).map_err(|error| error.to_string())?;
        check(row, &run(row, Kind::Weak(layers), launcher)?, &row.shown)
    }));
    for kept in row.alone {
        let off: Vec<_> = layers.iter().copied().filter(|layer| layer != kept).collect();
        trials.push(Trial::test(format!("still::{} by {kept}", row.name), move || {
            let options = Options::new(1, modberth_sandbox::Limits::default()).without(&off);
            let launcher = Launcher::confined(options).map_err(|error| error.to_string())?;
            // How it is stopped is the layer's own; that it is stopped, and that nobody outside notices, is not.
            check(row, &run(row, Kind::Weak(off.leak()), launcher)?, &Shown::Halted)
        }));
    }
}

#[cfg(not(feature = "weaken"))]
fn weakened(_: &'static Row, _: &'static [modberth_sandbox::Layer], _: &mut Vec<Trial>) {}

/// The launcher with every layer.
#[derive(Default)]
struct Shared {
    launcher: std::sync::Mutex<Option<Launcher>>,
}

impl Shared {
    fn launcher(&self) -> Result<Launcher, Failed> {
        let mut place = self.launcher.lock().map_err(|error| error.to_string())?;
        if place.is_none() {
            let options = Options::new(AT_ONCE, modberth_sandbox::Limits::default());
            *place = Some(Launcher::confined(options).map_err(|error| error.to_string())?);
        }
        place.clone().ok_or_else(|| "no launcher".into())
    }

    /// Ends it. Gives what is left then: nothing, neither groups nor anybody in them.
    fn end(&self) -> Vec<String> {
        let launcher = self.launcher.lock().ok().and_then(|mut place| place.take());
        let user = launcher.as_ref().and_then(Launcher::module_user);
        drop(launcher);
        let groups = common::groups_of(std::process::id());
        let mut left = user.map_or_else(Vec::new, processes_of);
        left.extend(groups.iter().map(|group| group.display().to_string()));
        for group in groups {
            let members = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            left.extend(members.lines().map(|pid| format!("process {pid}")));
        }
        left
    }
}

/// Processes of the users that the slots of this host have, from `first` on: whatever is on their command line.
fn processes_of(first: u32) -> Vec<String> {
    let users = first..first + 64;
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|entry| {
            // Real, effective, saved and file system user, behind `Uid:`.
            let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let ids = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
            ids.split_whitespace().filter_map(|id| id.parse().ok()).any(|id| users.contains(&id))
        })
        .map(|entry| format!("process {} of a module's user", entry.file_name().display()))
        .collect()
}

/// Compares what was seen with what the row says. Nothing is ever left, and nobody outside noticed anything unless the
/// attack was to get through.
fn check(row: &Row, seen: &drive::Seen, wanted: &Shown) -> Result<(), Failed> {
    let verdict = wanted.check(seen).map_err(|error| format!("{error}\nseen: {seen:#?}"));
    verdict?;
    if !seen.left.is_empty() {
        return Err(format!("{}: left processes {:?}\nseen: {seen:#?}", row.name, seen.left).into());
    }
    let noticed = row.noticed && matches!(wanted, Shown::Through);
    if noticed == seen.noticed.is_empty() {
        return Err(format!("{}: outside was noticed {:?}\nseen: {seen:#?}", row.name, seen.noticed).into());
    }
    Ok(())
}

/// The table and the program know the same names, each once.
fn complete() -> Result<(), Failed> {
    let told = Command::new(common::hostile()).arg("list").output()?;
    let text = String::from_utf8(told.stdout)?;
    let known: Vec<&str> = text.lines().collect();
    let rows: Vec<&str> = table::rows().map(|row| row.name).collect();
    let (known_set, row_set): (BTreeSet<_>, BTreeSet<_>) =
        (known.iter().copied().collect(), rows.iter().copied().collect());
    let missing: Vec<_> = known_set.symmetric_difference(&row_set).collect();
    if !missing.is_empty() || known.len() != known_set.len() || rows.len() != row_set.len() {
        return Err(format!("in only one of them, or twice: {missing:?}").into());
    }
    if known.len() < 100 {
        return Err(format!("only {} behaviours", known.len()).into());
    }
    Ok(())
}
