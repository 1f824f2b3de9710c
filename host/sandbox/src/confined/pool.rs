//! The pool of slots, and the thread that prepares spares in them.
//!
//! One thread makes all spares: a module ends with the thread that made it, so that must be one that lives as long as
//! the launcher. It works ahead, so that what is slow (moving a process into control groups after an idle pause takes
//! the kernel milliseconds) is over before an action comes.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

use super::Ground;
use super::guardian::{Guardian, MOST_SLOTS};
use super::slot::{Kind, Slot, Spare};
use crate::child::call;
use crate::launcher::{LaunchError, START_PATIENCE};

/// Slots, and who waits for them.
pub(crate) struct Pool {
    state: Mutex<State>,
    /// Somebody wants a spare, a slot came back, or the pool closes.
    work: Condvar,
    /// A spare is ready, or could not be made.
    ready: Condvar,
    most: u32,
}

#[derive(Default)]
struct State {
    ready: Vec<Spare>,
    vacant: Vec<Slot>,
    /// Launches that found nothing ready, in order, until each of them has got something. A spare belongs to none of them:
    /// whoever comes first takes it, and what is still to be made is what they are short of.
    waiting: Vec<Kind>,
    /// What came of making a spare for them, when nothing good.
    failed: VecDeque<(Kind, LaunchError)>,
    /// Slots made so far, and those of them that were given up.
    made: u32,
    lost: u32,
    /// The last spare that was made ahead could not be; nothing is made ahead until one is wanted.
    resting: bool,
    closed: bool,
}

impl Pool {
    /// An empty pool that grows to `most` slots.
    pub(crate) fn new(most: u32) -> Self {
        Self { state: Mutex::default(), work: Condvar::new(), ready: Condvar::new(), most }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A spare of this kind, made now if none waits.
    pub(crate) fn take(&self, kind: Kind, until: Instant) -> Result<Spare, LaunchError> {
        let mut state = self.lock();
        let mut asked = false;
        loop {
            if let Some(at) = state.ready.iter().position(|spare| spare.kind == kind) {
                let spare = state.ready.swap_remove(at);
                if spare.is_waiting() {
                    if asked {
                        state.leave(kind);
                    } else {
                        // It may have been made for somebody who waits.
                        self.work.notify_one();
                    }
                    return Ok(spare);
                }
                // Somebody has killed it. Its slot is as good as before.
                drop(state);
                let slot = spare.discard();
                state = self.lock();
                state.vacant.push(slot);
                self.work.notify_one();
                continue;
            }
            let failed = state.failed.iter().position(|(failed, _)| asked && *failed == kind);
            if let Some((_, error)) = failed.and_then(|at| state.failed.remove(at)) {
                state.leave(kind);
                return Err(error);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                if asked {
                    state.leave(kind);
                }
                let all_run = state.vacant.is_empty() && state.ready.is_empty() && self.is_full(&state);
                return Err(match all_run {
                    true => LaunchError::Busy { slots: self.most, patience: START_PATIENCE },
                    false => LaunchError::Late(START_PATIENCE),
                });
            }
            if !asked {
                asked = true;
                state.waiting.push(kind);
                self.work.notify_one();
            }
            state = self
                .ready
                .wait_timeout(state, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        }
    }

    /// Adds a spare that nobody used.
    pub(crate) fn put(&self, spare: Spare) {
        self.lock().ready.push(spare);
        self.ready.notify_all();
    }

    /// Takes a slot back whose module is gone.
    pub(crate) fn give_back(&self, slot: Slot) {
        let mut state = self.lock();
        state.vacant.push(slot);
        drop(state);
        self.work.notify_one();
    }

    /// Gives up a slot whose module does not end. Another may take its place.
    pub(crate) fn lose(&self, slot: Slot) {
        tracing::error!(slot = slot.index, "a slot is given up: its module does not end");
        self.lock().lost += 1;
        // Its descriptors stay as they are, for whatever still happens in it.
        std::mem::forget(slot);
    }

    /// Lets the thread end, and ends all spares.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        drop(state);
        self.work.notify_all();
    }

    /// The thread's body.
    pub(crate) fn serve(&self, ground: &Ground, guardian: &Guardian) {
        ordinary_priority();
        let mut state = self.lock();
        loop {
            if state.closed {
                let spares = std::mem::take(&mut state.ready);
                drop(state);
                drop(spares);
                return;
            }
            let Some((slot, kind, wanted)) = self.next(&mut state) else {
                state = self.work.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                continue;
            };
            drop(state);
            let made = Spare::prepare(slot, kind, ground, guardian);
            state = self.lock();
            match made {
                Ok(spare) => {
                    state.ready.push(spare);
                    state.resting = false;
                }
                Err(failed) => {
                    let (slot, error) = *failed;
                    tracing::debug!(%error, "no spare could be made");
                    state.vacant.push(slot);
                    state.resting = true;
                    if wanted {
                        state.failed.push_back((kind, error));
                    }
                }
            }
            self.ready.notify_all();
        }
    }

    /// Whether there are as many slots as there may be.
    fn is_full(&self, state: &State) -> bool {
        state.made - state.lost >= self.most || state.made as usize >= MOST_SLOTS
    }

    /// What to prepare next: what somebody waits for, then one ahead in each slot that is free.
    fn next(&self, state: &mut State) -> Option<(Slot, Kind, bool)> {
        if let Some(kind) = state.short_of() {
            let slot = state.vacant.pop().or_else(|| {
                if !self.is_full(state) {
                    state.made += 1;
                    return Some(Slot::new(state.made - 1));
                }
                // One that waits for another kind makes room.
                let at = state.ready.iter().position(|spare| spare.kind != kind)?;
                Some(state.ready.swap_remove(at).discard())
            });
            if let Some(slot) = slot {
                return Some((slot, kind, true));
            }
        }
        if state.resting {
            return None;
        }
        state.vacant.pop().map(|slot| (slot, Kind::default(), false))
    }
}

impl State {
    /// The kind that more launches wait for than have something to take.
    fn short_of(&self) -> Option<Kind> {
        self.waiting.iter().copied().find(|kind| {
            let waiting = self.waiting.iter().filter(|waiting| *waiting == kind).count();
            let ready = self.ready.iter().filter(|spare| spare.kind == *kind).count();
            let failed = self.failed.iter().filter(|(failed, _)| failed == kind).count();
            waiting > ready + failed
        })
    }

    /// A launch no longer waits.
    fn leave(&mut self, kind: Kind) {
        if let Some(at) = self.waiting.iter().position(|waiting| *waiting == kind) {
            self.waiting.remove(at);
        }
        if !self.waiting.contains(&kind) {
            // Nobody is left to be told.
            self.failed.retain(|(failed, _)| *failed != kind);
        }
    }
}

/// Takes from the calling thread what it may have of a privileged host: modules inherit it. A quota of processor time
/// holds real-time tasks back as little as it does the host.
fn ordinary_priority() {
    const RESET_ON_FORK: isize = 0x4000_0000;
    const REAL_TIME: [libc::c_int; 3] = [libc::SCHED_FIFO, libc::SCHED_RR, libc::SCHED_DEADLINE];
    // IOPRIO_WHO_PROCESS, IOPRIO_CLASS_RT, and where the class stands.
    const PROCESS: usize = 1;
    const CLASS_REAL_TIME: isize = 1;
    const CLASS_SHIFT: isize = 13;
    let policy = call(libc::SYS_sched_getscheduler, [0; 6]) & !RESET_ON_FORK;
    if REAL_TIME.iter().any(|one| *one as isize == policy) {
        let nothing = libc::sched_param { sched_priority: 0 };
        let place = &raw const nothing as usize;
        call(libc::SYS_sched_setscheduler, [0, libc::SCHED_OTHER as usize, place, 0, 0, 0]);
    }
    // The kernel answers 20 minus the nice value.
    if call(libc::SYS_getpriority, [libc::PRIO_PROCESS as usize, 0, 0, 0, 0, 0]) > 20 {
        call(libc::SYS_setpriority, [libc::PRIO_PROCESS as usize, 0, 0, 0, 0, 0]);
    }
    if call(libc::SYS_ioprio_get, [PROCESS, 0, 0, 0, 0, 0]) >> CLASS_SHIFT == CLASS_REAL_TIME {
        call(libc::SYS_ioprio_set, [PROCESS, 0, 0, 0, 0, 0]);
    }
}

/// Keeps the thread and its pool together.
pub(crate) fn start(
    pool: Arc<Pool>,
    ground: Arc<Ground>,
    guardian: Arc<Guardian>,
) -> std::io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name("modberth-nursery".into()).spawn(move || pool.serve(&ground, &guardian))
}
