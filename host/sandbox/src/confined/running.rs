//! A confined module on its way.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Sandbox;
use super::slot::Slot;
use crate::cgroup::Counters;
use crate::process::{Ended, Exit, StopError, Usage, after, wait_readable};

/// How long the kernel may list processes that have ended.
const SETTLING: Duration = Duration::from_millis(100);

/// A confined module: process 1 of its namespace, so that the kernel ends everything in it before anyone sees it end.
pub(crate) struct Confined {
    sandbox: Arc<Sandbox>,
    /// `None` once it is over.
    slot: Option<Slot>,
    process: OwnedFd,
    /// The counters of the slot's group before the module.
    before: Counters,
    /// The kernel counts the peak of this module alone.
    peak: bool,
}

impl Confined {
    pub(crate) fn new(
        sandbox: Arc<Sandbox>,
        slot: Slot,
        process: OwnedFd,
        before: Counters,
        peak: bool,
    ) -> Self {
        Self { sandbox, slot: Some(slot), process, before, peak }
    }

    /// See [`crate::Process::gone`].
    pub(crate) fn gone(&self) -> BorrowedFd<'_> {
        self.process.as_fd()
    }

    /// See [`crate::Process::exit`].
    pub(crate) fn exit(&self) -> Option<Exit> {
        if self.is_over() || !wait_readable(self.gone(), Some(Duration::ZERO)).unwrap_or(false) {
            return None;
        }
        wait_exit(self.gone(), false).ok().flatten().map(|(exit, _)| exit)
    }

    /// Whether there is nothing left to end.
    pub(crate) fn is_over(&self) -> bool {
        self.slot.is_none()
    }

    /// Kills everything and waits for its end; then the slot is free again.
    pub(crate) fn end(&mut self, patience: Duration) -> Result<Ended, StopError> {
        let until = after(patience);
        let Some(slot) = &mut self.slot else { return Err(StopError::KeeperLost) };
        if !wait_readable(self.process.as_fd(), Some(Duration::ZERO))? {
            slot.lift_quota();
            // It fails only when the process is gone.
            let _ = rustix::process::pidfd_send_signal(&self.process, Signal::KILL);
            if !wait_readable(self.process.as_fd(), Some(until.saturating_duration_since(Instant::now())))? {
                return Err(StopError::Late(patience));
            }
        }
        let backstop = self.sandbox.guardian.unwatch(slot.index);
        if backstop {
            slot.quota_was_lifted();
        }
        let exit = wait_exit(self.process.as_fd(), true)?;
        let mut usage = exit.map(|(_, cpu)| Usage { cpu, ..Usage::default() });
        if let Some(group) = &slot.group {
            // Whatever is in the group was in the namespace, and that has ended. What the kernel says is still asked
            // (P1-HOST-27). It may be a moment behind.
            if !group.is_empty()? && !group.wait_empty(until.min(Instant::now() + SETTLING))? {
                group.kill()?;
                slot.spoiled = true;
                if !group.wait_empty(until)? {
                    return Err(StopError::Late(patience));
                }
            }
            let after = group.counters();
            let own = usage.map_or(Duration::ZERO, |usage| usage.cpu);
            let peak_memory = self.peak.then(|| group.peak_memory()).flatten();
            usage = Some(Usage { peak_memory, ..since(&self.before, &after, own) });
        }
        if let Some(slot) = self.slot.take() {
            self.sandbox.pool.give_back(slot);
        }
        Ok(Ended { exit: exit.map(|(exit, _)| exit), usage, backstop })
    }

    /// Gives up a slot whose module does not end.
    pub(crate) fn leak(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.sandbox.pool.lose(slot);
        }
    }
}

/// What was counted between two looks at a group. `own` stands for the processor time of a group that counts none.
fn since(before: &Counters, after: &Counters, own: Duration) -> Usage {
    let counted = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
    let time = |before: Option<Duration>, after: Option<Duration>| Some(after?.saturating_sub(before?));
    Usage {
        cpu: time(before.cpu, after.cpu).unwrap_or(own),
        peak_memory: None,
        oom_kills: counted(before.oom_kills, after.oom_kills),
        throttled_periods: counted(before.throttled_periods, after.throttled_periods),
        throttled: time(before.throttled, after.throttled),
        refused_tasks: counted(before.refused_tasks, after.refused_tasks),
    }
}

/// How a process of this host's ended and its processor time; `None` where somebody else's wait has taken it. The
/// process has ended. With `reap` it is taken off the process table.
pub(crate) fn wait_exit(process: BorrowedFd<'_>, reap: bool) -> io::Result<Option<(Exit, Duration)>> {
    let leave = if reap { 0 } else { libc::WNOWAIT };
    loop {
        // SAFETY: both are plain data for which all zeros is a value; the descriptor is this process's own. The wrapper
        // of libc leaves the usage out.
        let (answer, info, usage) = unsafe {
            let (mut info, mut usage): (libc::siginfo_t, libc::rusage) =
                (std::mem::zeroed(), std::mem::zeroed());
            let answer = libc::syscall(
                libc::SYS_waitid,
                libc::P_PIDFD,
                process.as_raw_fd(),
                &raw mut info,
                libc::WEXITED | libc::__WALL | leave,
                &raw mut usage,
            );
            (answer, info, usage)
        };
        if answer == 0 {
            // SAFETY: waitid has filled the fields of an ended child.
            let status = unsafe { info.si_status() };
            let time = |time: libc::timeval| {
                Duration::new(time.tv_sec.try_into().unwrap_or(0), 0)
                    + Duration::from_micros(time.tv_usec.try_into().unwrap_or(0))
            };
            return Ok(Some((Exit::new(info.si_code, status), time(usage.ru_utime) + time(usage.ru_stime))));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            // Somebody else's wait has taken it: it is gone all the same.
            Some(libc::ECHILD) => return Ok(None),
            _ => return Err(error),
        }
    }
}
