//! The host's memory for each action in flight.

use super::part::{self, Part};
use super::{made, proc};
use crate::row::Row;
use modberth_host::{Host, Invocation};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Actions at once: as many as a host takes.
const AT_ONCE: usize = 64;
/// Most KiB each. The frames of this module are some hundred bytes.
const BAR: f64 = 1024.0;
/// Guards against hangs. The actions themselves have ten seconds.
const PATIENCE: Duration = Duration::from_secs(9);
const WHOLE: Duration = Duration::from_secs(60);
/// The module's entry, and so its process name.
const NAME: &str = "hold";

/// What the part finds, in KiB.
#[derive(Serialize, Deserialize)]
pub(super) struct Found {
    before: u64,
    peak: u64,
}

/// The row.
pub(super) fn row() -> Result<Row, String> {
    let folder = made::build(NAME, include_str!("modules/hold.c"))?;
    Ok(judge(&part::ask(Part::Flight, folder.path(), WHOLE)?))
}

fn judge(found: &Found) -> Row {
    let each = found.peak.saturating_sub(found.before) as f64 / AT_ONCE as f64;
    let mut row = Row::plain("host/rss-per-invocation-64", each, "KiB", BAR, AT_ONCE);
    row.command =
        Some(format!("VmHWM of a host while {AT_ONCE} modules run, less its VmRSS before, for each"));
    row.note(format!("{} KiB before, {} KiB at the most", found.before, found.peak))
}

/// The part.
pub(super) fn run(package: &Path) -> Result<Found, String> {
    let module = made::open(package)?;
    let gate = module.folder.join("gate");
    rustix::fs::mknodat(CWD, &gate, FileType::Fifo, Mode::from_raw_mode(0o644), 0)
        .map_err(|error| format!("{}: {error}", gate.display()))?;
    // Read and write: opening never waits, and whoever opens it to read does not wait from then on.
    let open = || {
        rustix::fs::open(&gate, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| format!("{}: {error}", gate.display()))
    };
    let host = Host::builder().actions(AT_ONCE).build().map_err(|violation| violation.to_string())?;
    let before = proc::memory("VmRSS")?;
    fs::write("/proc/self/clear_refs", "5").map_err(|error| format!("/proc/self/clear_refs: {error}"))?;
    let invoke = || host.invoke(Invocation::new(module.clone(), made::ACTION).target("a"));
    let running: Vec<_> = (0..AT_ONCE).map(|_| invoke()).collect();
    let until = Instant::now() + PATIENCE;
    let held = || proc::children().iter().filter(|(_, name)| name == NAME).count();
    while held() < AT_ONCE {
        if Instant::now() >= until {
            let held = held();
            let why = running.into_iter().map(|one| one.wait()).find(|one| !one.is_launched());
            let why = why.map_or_else(String::new, |one| one.to_json());
            return Err(format!("only {held} of {AT_ONCE} modules run at once: {why}"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let opened = open()?;
    for running in running {
        let outcome = running.wait();
        if outcome.results().is_none() {
            return Err(outcome.to_json());
        }
    }
    drop(opened);
    Ok(Found { before, peak: proc::memory("VmHWM")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_growth_is_shared_by_all() {
        let row = judge(&Found { before: 4_096, peak: 4_096 + 64 * 512 });
        assert_eq!((row.value, row.ratio, row.met), (Some(512.0), 0.5, Some(true)));
        assert_eq!(judge(&Found { before: 0, peak: 64 * 1_025 }).met, Some(false));
    }
}
