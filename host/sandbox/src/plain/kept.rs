//! A module below its keeper.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use rustix::net::SendFlags;
use rustix::process::Signal;

use super::keeper::{PENDING, Shared};
use crate::process::{Ended, Exit, StopError, Usage, wait_readable};

/// How long a keeper that was told to kill is waited for, before it is killed itself where that is as good.
const FORCED_AFTER: Duration = Duration::from_secs(1);
/// How often a keeper that was told to kill is looked after.
const HELPED_EVERY: Duration = Duration::from_millis(20);

/// A module below its keeper. Whoever drops it has ended it before.
pub(crate) struct Kept {
    shared: Option<Arc<Shared>>,
    keeper: OwnedFd,
    /// A byte on it, or its end, tells the keeper to kill.
    control: Option<OwnedFd>,
    ended: OwnedFd,
}

impl Kept {
    pub(crate) fn new(shared: Arc<Shared>, keeper: OwnedFd, control: OwnedFd, ended: OwnedFd) -> Self {
        Self { shared: Some(shared), keeper, control: Some(control), ended }
    }

    /// See [`crate::Process::ended`].
    pub(crate) fn ended(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }

    /// See [`crate::Process::gone`].
    pub(crate) fn gone(&self) -> BorrowedFd<'_> {
        self.keeper.as_fd()
    }

    /// See [`crate::Process::exit`].
    pub(crate) fn exit(&self) -> Option<Exit> {
        let report = &self.shared.as_ref()?.report;
        if report.ended.load(SeqCst) == 0 {
            return None;
        }
        Some(Exit::new(report.code.load(SeqCst), report.status.load(SeqCst)))
    }

    /// Whether there is nothing left to end.
    pub(crate) fn is_over(&self) -> bool {
        self.shared.is_none()
    }

    /// Kills everything and waits for its end. On an error the keeper may still run, and its memory is given up.
    pub(crate) fn end(&mut self, patience: Duration) -> Result<Ended, StopError> {
        // Its input stays open until it is gone: it is killed, not asked to end. A process that the host has forked
        // may hold a copy of the control line, so closing it is not enough.
        if let Some(control) = self.control.take() {
            // It fails only when the keeper is gone.
            let _ = rustix::net::send(&control, b"k", SendFlags::NOSIGNAL);
        }
        if !self.wait_stopped(patience)? {
            return Err(StopError::Late(patience));
        }
        self.reap()?;
        let exit = self.exit();
        let Some(shared) = self.shared.take() else { return Err(StopError::KeeperLost) };
        let report = &shared.report;
        if report.clean.load(SeqCst) == 0 && shared.plan.program.is_some() && report.step.load(SeqCst) == 0 {
            // In a namespace the kernel has killed the rest, whoever killed the keeper.
            if !shared.plan.namespace {
                if report.state.load(SeqCst) == PENDING {
                    // The module's process may still be on its way to its program, in this memory.
                    std::mem::forget(shared);
                }
                return Err(StopError::KeeperLost);
            }
        }
        let usage = exit.map(|_| Usage {
            cpu: Duration::from_micros(report.cpu_micros.load(SeqCst)),
            ..Usage::default()
        });
        Ok(Ended { exit, usage, backstop: report.backstop.load(SeqCst) == 1 })
    }

    /// Waits for the end of a keeper that was told to kill, and helps one that does not get to it.
    fn wait_stopped(&self, patience: Duration) -> io::Result<bool> {
        let start = Instant::now();
        let forced = FORCED_AFTER.min(patience / 2);
        loop {
            let waited = start.elapsed();
            // A module that is its keeper's neighbour can stop it.
            let mut signal = Signal::CONT;
            if let Some(shared) = &self.shared {
                let pending = shared.report.state.load(SeqCst) == PENDING;
                // Before the module's program runs there is nothing below the keeper but the module's process, which
                // dies with it; the keeper sleeps until then and hears nothing.
                if pending || (shared.plan.namespace && waited >= forced) {
                    signal = Signal::KILL;
                }
            }
            // It fails only when the keeper is gone.
            let _ = rustix::process::pidfd_send_signal(&self.keeper, signal);
            let left = patience.saturating_sub(waited);
            if wait_readable(self.gone(), Some(left.min(HELPED_EVERY)))? {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }

    /// Gives up the memory that a keeper may still run on. Losing a few pages is right then.
    pub(crate) fn leak(&mut self) {
        if let Some(shared) = self.shared.take() {
            std::mem::forget(shared);
        }
    }

    /// Takes the ended keeper off the process table.
    fn reap(&self) -> io::Result<()> {
        loop {
            // SAFETY: plain data for which all zeros is a value; the descriptor is this process's own.
            let answer = unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                libc::waitid(
                    libc::P_PIDFD,
                    self.keeper.as_raw_fd() as libc::id_t,
                    &mut info,
                    libc::WEXITED | libc::__WALL,
                )
            };
            if answer == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                // Somebody else's wait has taken it: it is gone all the same.
                Some(libc::ECHILD) => return Ok(()),
                _ => return Err(error),
            }
        }
    }
}
