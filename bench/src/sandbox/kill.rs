//! Hosts that are killed in the middle of an action: how long anything of the action lives on (P1-HOST-25, P1-HOST-32).
//!
//! The part is the subreaper of the hosts it kills, so every process that a host leaves becomes its child; when it has none, none is
//! left: neither of the module, nor a prepared one, nor the guardian.

use super::part::{self, Part};
use super::{host, made, proc};
use crate::pairs::{Coin, median};
use crate::row::Row;
use modberth_host::Invocation;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// Hosts that are killed.
const KILLS: usize = 200;
/// Most milliseconds for any of them.
const BAR: f64 = 2_000.0;
/// Processes of the module once it has forked twice.
const MODULE: usize = 4;
/// What lives this long after its host is a survivor.
const SURVIVES: Duration = Duration::from_secs(10);
/// The kill comes up to this long after the host has begun an action: alternately mostly in its start, and mostly in its course.
const SPANS: [u64; 2] = [2_000, 20_000];
/// Guards against hangs.
const PATIENCE: Duration = Duration::from_secs(20);
const WHOLE: Duration = Duration::from_secs(150);

/// What the part finds.
#[derive(Serialize, Deserialize)]
pub(super) struct Found {
    millis: Vec<f64>,
    survivors: usize,
    /// Directories of control groups that were left.
    groups: usize,
}

/// The row.
pub(super) fn row() -> Result<Row, String> {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    let marker = format!("stubborn-{:016x}", u64::from_ne_bytes(random));
    let folder = made::build(&marker, include_str!("modules/stubborn.c"))?;
    let found: Found = part::ask(Part::Kill, folder.path(), WHOLE)?;
    Ok(judge(found))
}

fn judge(found: Found) -> Row {
    let most = found.millis.iter().copied().fold(0.0, f64::max);
    let middle = median(found.millis.clone());
    let mut row = Row::plain("sandbox/host-kill", most, "ms", BAR, found.millis.len());
    row.median = Some((middle * 1000.0).round() / 1000.0);
    row.command =
        Some("SIGKILL of a host in an action, until no process of it is left; value: the longest".to_owned());
    let told = format!("median {middle:.1} ms, {} survivors, {} groups left", found.survivors, found.groups);
    if found.survivors + found.groups > 0 { row.failed(told) } else { row.note(told) }
}

/// The part that kills.
pub(super) fn run(package: &Path) -> Result<Found, String> {
    let failed = |what: &str, error: &dyn Display| format!("{what}: {error}");
    set_child_subreaper(Some(getpid())).map_err(|error| failed("PR_SET_CHILD_SUBREAPER", &error))?;
    let module = made::open(package)?;
    let marker = module.package.runnable().map_err(|violation| violation.to_string())?.entry.clone();
    let mut found = Found { millis: Vec::with_capacity(KILLS), survivors: 0, groups: 0 };
    let mut chance = Coin::new();
    for number in 0..KILLS {
        let mut victim =
            part::command(Part::Victim, package)?.spawn().map_err(|error| failed("a host", &error))?;
        let id = victim.id();
        let ready = wait_ready(&mut victim).and_then(|()| match number {
            // The first proves that the module runs and forks.
            0 => wait_for_module(&marker),
            _ => {
                let span = SPANS[number % SPANS.len()];
                std::thread::sleep(Duration::from_micros(chance.draw() % span));
                Ok(())
            }
        });
        kill_process(process(id)?, Signal::KILL).map_err(|error| failed("killing a host", &error))?;
        let killed = Instant::now();
        let gone = reap_all(killed);
        found.millis.push(killed.elapsed().as_secs_f64() * 1e3);
        ready?;
        let mut survivors = proc::with_marker(&marker);
        if !gone {
            survivors.extend(proc::children().iter().map(|(pid, _)| *pid));
        }
        survivors.sort_unstable();
        survivors.dedup();
        found.survivors += survivors.len();
        for pid in survivors.into_iter().filter_map(Pid::from_raw) {
            // It may have ended since.
            let _ = kill_process(pid, Signal::KILL);
        }
        found.groups += groups_left(id);
    }
    Ok(found)
}

/// Directories of the host's groups that are still there after a while. Another host of the machine that starts at this moment takes
/// the work over from the guardian, so they may outlive the host's last process for an instant.
fn groups_left(id: u32) -> usize {
    let since = Instant::now();
    loop {
        let left = proc::groups(id);
        if left == 0 || since.elapsed() >= SURVIVES {
            return left;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn process(id: u32) -> Result<Pid, String> {
    Pid::from_raw(id.cast_signed()).ok_or_else(|| format!("{id} is no process id"))
}

/// Until the host has begun its action.
fn wait_ready(victim: &mut Child) -> Result<(), String> {
    let mut out = victim.stdout.take().ok_or("the host has no output")?;
    let patience = Timespec::try_from(PATIENCE).ok();
    let mut polled = [PollFd::new(&out, PollFlags::IN)];
    rustix::event::poll(&mut polled, patience.as_ref()).map_err(|error| error.to_string())?;
    if !polled[0].revents().contains(PollFlags::IN) {
        return Err("the host to be killed did not start".to_owned());
    }
    let mut byte = [0];
    match out.read(&mut byte) {
        Ok(1) => Ok(()),
        Ok(_) => Err("the host to be killed ended by itself".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn wait_for_module(marker: &str) -> Result<(), String> {
    let until = Instant::now() + PATIENCE;
    // The bench names the folder, not the entry, so only the module carries the marker.
    while proc::with_marker(marker).len() != MODULE {
        if Instant::now() >= until {
            return Err(format!("the module has {} processes", proc::with_marker(marker).len()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Reaps until there is nothing to reap; `false` when something lives for too long.
fn reap_all(since: Instant) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) if since.elapsed() >= SURVIVES => return false,
            Ok(None) => std::thread::sleep(Duration::from_micros(50)),
            Err(_) => return true,
        }
    }
}

/// The host to be killed. Never comes to an end before the action's own deadline.
pub(super) fn victim(package: &Path) -> Result<String, String> {
    let module = made::open(package)?;
    let host = host()?;
    let running = host.invoke(Invocation::new(module, made::ACTION).target("a"));
    print!("r");
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    Ok(running.wait().to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_is_judged_and_a_survivor_fails_the_row() {
        let found = |survivors, groups| Found { millis: vec![1.0, 4.0, 2.0], survivors, groups };
        let row = judge(found(0, 0));
        assert_eq!((row.value, row.median, row.met), (Some(4.0), Some(2.0), Some(true)));
        assert_eq!(judge(found(1, 0)).met, Some(false));
        assert_eq!(judge(found(0, 1)).met, Some(false));
        let slow = Found { millis: vec![2_001.0], survivors: 0, groups: 0 };
        assert_eq!(judge(slow).met, Some(false));
    }
}
