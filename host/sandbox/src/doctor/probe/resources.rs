//! Memory, processor time, and the limits of each process.

use std::io;
use std::time::{Duration, Instant};

use rustix::process::Resource;
use rustix::time::ClockId;

use super::attempt::name;
use super::{Answer, Facts, Verdict, Wrong};

/// Bytes of memory that a probe takes at most.
const MOST_MEMORY: u64 = 256 << 20;
/// How long a probe spins at most, in milliseconds.
const LONGEST: u64 = 2000;
/// Descriptors that a probe opens at most.
const MOST_FILES: u64 = 4096;

/// Takes twice the memory it may have. Where it is bounded nobody hears of it: the kernel ends the probe and counts it.
pub(super) fn memory(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    const PIECE: usize = 1 << 20;
    let limit = facts.number("bytes", MOST_MEMORY / 2)?;
    let wanted = limit * 2;
    let block = vec![1; PIECE];
    let mut taken: Vec<Vec<u8>> = Vec::new();
    while taken.len() as u64 * (PIECE as u64) < wanted {
        let mut piece = Vec::new();
        if piece.try_reserve_exact(PIECE).is_err() {
            let bytes = taken.len() * PIECE;
            return Ok(Answer::new(Verdict::Stopped, format!("no more memory after {bytes} bytes")));
        }
        // Written to, so that the pages are there.
        piece.extend_from_slice(&block);
        taken.push(std::hint::black_box(piece));
    }
    Ok(Answer::new(Verdict::GotThrough, format!("{wanted} bytes taken")))
}

/// Uses processor time, and sees how long that takes.
pub(super) fn processor(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let percent = facts.number("percent", 100)?;
    let wanted = Duration::from_millis(facts.number("milliseconds", LONGEST)?);
    let used = || {
        let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
    };
    let (before, begun) = (used(), Instant::now());
    while used().saturating_sub(before) < wanted && begun.elapsed() < Duration::from_millis(LONGEST) {
        std::hint::spin_loop();
    }
    let (used, wall) = (used().saturating_sub(before), begun.elapsed());
    let text = format!("{} ms of processor time in {} ms", used.as_millis(), wall.as_millis());
    // The first period is used up at once, so a bound shows as half that pace or less only over several of them.
    let through = used.as_micros() * 100 > wall.as_micros() * u128::from(percent) * 3;
    Ok(Answer::new(if through { Verdict::GotThrough } else { Verdict::Stopped }, text))
}

/// Opens files until it is refused one, and reads how much of a core dump the kernel would write: at 1 byte it writes
/// none and starts no program for it; at 0 it would start that program.
pub(super) fn each(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let limit = facts.number("files", MOST_FILES / 2)?;
    let core = rustix::process::getrlimit(Resource::Core);
    let mut files = Vec::new();
    let refused = (0..limit * 2).find_map(|_| {
        rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 0).map(|file| files.push(file)).err()
    });
    let open = files.len();
    drop(files);
    let mut through = Vec::new();
    if (core.current, core.maximum) != (Some(1), Some(1)) {
        let text =
            |value: Option<u64>| value.map_or_else(|| "unlimited".to_owned(), |value| value.to_string());
        through.push(format!("core limit {} of {}", text(core.current), text(core.maximum)));
    }
    if open as u64 >= limit {
        through.push(format!("{open} files open"));
    }
    Ok(match refused.map(io::Error::from) {
        Some(error) if through.is_empty() => {
            Answer::new(Verdict::Stopped, format!("core limit 1 byte, {} after {open} files", name(&error)))
        }
        _ => Answer::new(Verdict::GotThrough, through.join(", ")),
    })
}
