//! Other processes, more processes, and what was passed on to this one.

use std::io;

use rustix::process::Pid;

use super::attempt::{Ways, name};
use super::{Answer, Facts, Verdict, Wrong};

/// Processes that a probe makes at most.
const MOST_TASKS: u64 = 64;

/// Seconds after which a child of a probe ends, should nobody end it before.
const CHILD_LIFE: u32 = 5;

/// Signals the host, and looks for any process but itself.
pub(super) fn others(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let host = facts.number("host", i32::MAX as u64)?;
    let host = Pid::from_raw(host as i32).ok_or("the fact host is no process: 0")?;
    let mut ways = Ways::default();
    // Nothing is sent: the kernel says whether it could be.
    ways.by("signalling the host", rustix::process::test_kill_process(host).map_err(io::Error::from));
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    ways.by("seeing its parent", rustix::process::getppid().ok_or_else(gone));
    let own = std::process::id();
    let is_other = |name: &str| name.parse().is_ok_and(|pid: u32| pid != own);
    let listed = std::fs::read_dir("/proc").and_then(|mut list| {
        list.find(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_other)))
            .ok_or_else(gone)
    });
    ways.by("listing processes", listed);
    Ok(ways.answer())
}

/// The environment holds what the profile says and nothing else.
pub(super) fn environment(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let wanted = facts.all("variable");
    let found: Vec<_> = std::env::vars_os()
        .map(|(name, value)| {
            let mut entry = name;
            entry.push("=");
            entry.push(value);
            entry
        })
        .collect();
    let extra: Vec<_> = found
        .iter()
        .filter(|entry| !wanted.contains(entry))
        .map(|entry| entry.display().to_string())
        .collect();
    if !extra.is_empty() {
        return Ok(Answer::new(Verdict::GotThrough, extra.join(" ")));
    }
    if found.len() != wanted.len() {
        return Ok(Answer::new(Verdict::Unclear, format!("{} of {} variables", found.len(), wanted.len())));
    }
    let found: Vec<_> = found.iter().map(|entry| entry.display().to_string()).collect();
    Ok(Answer::new(Verdict::Stopped, format!("only {}", found.join(" "))))
}

/// Makes processes until it is refused one, or has twice as many as it may.
pub(super) fn tasks(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let limit = facts.number("tasks", MOST_TASKS / 2)?;
    let mut children = Children(Vec::new());
    let refused = (0..limit * 2).find_map(|_| children.add().err());
    let made = children.0.len() as u64;
    drop(children);
    Ok(match refused {
        // This process counts as well.
        Some(error) if made < limit && error.raw_os_error() == Some(libc::EAGAIN) => {
            Answer::new(Verdict::Stopped, format!("EAGAIN after {made} processes beside its own"))
        }
        Some(error) if made < limit => {
            Answer::new(Verdict::Unclear, format!("{} after {made} processes beside its own", name(&error)))
        }
        _ => Answer::new(Verdict::GotThrough, format!("{made} processes beside its own")),
    })
}

/// Children that do nothing, ended and reaped at the end.
struct Children(Vec<libc::pid_t>);

impl Children {
    fn add(&mut self) -> io::Result<()> {
        // SAFETY: a probe runs in a program with one thread.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: these calls concern this process only; it ends here.
                unsafe {
                    libc::alarm(CHILD_LIFE);
                    libc::pause();
                    libc::_exit(0)
                }
            }
            child => {
                self.0.push(child);
                Ok(())
            }
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for &child in &self.0 {
            // SAFETY: a child that nobody has waited for yet.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, std::ptr::null_mut(), 0);
            }
        }
    }
}
