//! Thousands of actions of one host, two at a time: nothing of them may add up.

use super::echo::{Echo, block};
use super::part::{self, Part};
use super::{made, proc};
use crate::examples::Example;
use crate::row::Row;
use modberth_host::Host;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const AT_ONCE: usize = 2;
/// Actions before the first count, and before the second.
const FIRST: usize = 1_000;
const SECOND: usize = 10_000;
/// Most MiB that the host may grow between the two.
const BAR: f64 = 2.0;
/// Guards against hangs.
const SETTLES: Duration = Duration::from_secs(20);
const WHOLE: Duration = Duration::from_secs(150);
/// Counts that stay the same this long are those of a host at rest.
const REST: Duration = Duration::from_millis(200);

/// What there is of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    processes: usize,
    descriptors: usize,
    threads: usize,
    groups: usize,
    mounts: usize,
}

/// What the part finds.
#[derive(Serialize, Deserialize)]
pub(super) struct Found {
    counts: [Counts; 2],
    /// Resident memory in KiB.
    memory: [u64; 2],
}

/// The row.
pub(super) fn row(example: &Example) -> Result<Row, String> {
    Ok(judge(&part::ask(Part::Repeat, &example.dir, WHOLE)?))
}

fn judge(found: &Found) -> Row {
    let ([before, after], [less, more]) = (found.counts, found.memory);
    let growth = more.saturating_sub(less) as f64 / 1024.0;
    let mut row = Row::plain("sandbox/actions-10000", growth, "MiB", BAR, SECOND);
    row.command =
        Some(format!("growth of the host between action {FIRST} and {SECOND}, {AT_ONCE} at a time"));
    if before == after {
        row.note(format!(
            "the same after {FIRST}: {} processes, {} descriptors, {} threads, {} groups, {} mounts",
            after.processes, after.descriptors, after.threads, after.groups, after.mounts
        ))
    } else {
        row.failed(format!("after {FIRST}: {before:?}, after {SECOND}: {after:?}"))
    }
}

/// The part.
pub(super) fn run(package: &Path) -> Result<Found, String> {
    let host = Host::builder().actions(AT_ONCE).build().map_err(|violation| violation.to_string())?;
    let echo = Echo { host: &host, module: made::open(package)? };
    let act = |count: usize| {
        // The times are of no interest; kept, they would be what grows.
        for _ in 0..count / 100 {
            block(AT_ONCE, 100 / AT_ONCE, || echo.act())?;
        }
        let settled = settle()?;
        Ok::<_, String>((settled, proc::memory("VmRSS")?))
    };
    let (first, second) = (act(FIRST)?, act(SECOND - FIRST)?);
    Ok(Found { counts: [first.0, second.0], memory: [first.1, second.1] })
}

fn counts() -> Counts {
    let list = |path: &str| fs::read_dir(path).map_or(0, Iterator::count);
    Counts {
        processes: proc::children().len(),
        descriptors: list("/proc/self/fd"),
        threads: list("/proc/self/task"),
        groups: proc::groups(std::process::id()),
        mounts: proc::mounts(),
    }
}

/// The counts once they stay as they are.
fn settle() -> Result<Counts, String> {
    let until = Instant::now() + SETTLES;
    let (mut last, mut since) = (counts(), Instant::now());
    while since.elapsed() < REST {
        if Instant::now() >= until {
            return Err(format!("the host does not come to rest: {last:?}"));
        }
        std::thread::sleep(Duration::from_millis(10));
        let now = counts();
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_more_fails_the_row_and_memory_is_judged_by_the_bar() {
        let one = Counts { processes: 4, descriptors: 60, threads: 6, groups: 30, mounts: 99 };
        let found = |second, kib: u64| Found { counts: [one, second], memory: [10_240, 10_240 + kib] };
        let row = judge(&found(one, 1_024));
        assert_eq!((row.met, row.value, row.ratio), (Some(true), Some(1.0), 0.5));
        assert_eq!(judge(&found(one, 2_049)).met, Some(false));
        assert_eq!(judge(&found(Counts { mounts: 100, ..one }, 0)).met, Some(false));
    }
}
