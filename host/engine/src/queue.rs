//! The queue before the slots, and the threads that serve it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::running::Ticket;

/// Invocations that may wait for a slot; one more is refused with `host.busy`.
pub(crate) const WAITING: usize = 64;

/// Work for a slot.
pub(crate) trait Job: Send + 'static {
    /// The caller's side.
    fn ticket(&self) -> &Arc<Ticket>;
    /// When it is too late even to start.
    fn deadline(&self) -> Instant;
    /// Does it, on a slot's thread.
    fn run(self: Box<Self>);
    /// Ends it without having started; `Why` says why.
    fn refuse(self: Box<Self>, why: Refusal);
}

/// Why a job never got its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// As many wait as may.
    Busy,
    /// Its deadline passed.
    Late,
    /// It was cancelled.
    Cancelled,
    /// The host is being dropped.
    Closed,
}

/// Jobs in order, served by a fixed number of slots.
pub(crate) struct Queue {
    state: Mutex<State>,
    /// A job came, or the queue closed.
    work: Condvar,
    /// The earliest deadline may have changed, or the queue closed.
    clock: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Box<dyn Job>>,
    running: Vec<Arc<Ticket>>,
    idle: usize,
    closed: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.lock();
        f.debug_struct("Queue").field("waiting", &state.waiting.len()).field("idle", &state.idle).finish()
    }
}

impl Queue {
    /// A queue with `slots` threads that run jobs and one that watches the deadlines of those that wait.
    pub(crate) fn start(slots: usize) -> std::io::Result<(Arc<Self>, Vec<JoinHandle<()>>)> {
        let state = State { idle: slots, ..State::default() };
        let queue = Arc::new(Self { state: Mutex::new(state), work: Condvar::new(), clock: Condvar::new() });
        let mut threads = Vec::with_capacity(slots + 1);
        let spawn = |name: String, body: fn(&Self)| {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new().name(name).spawn(move || body(&queue))
        };
        let spawned = (0..slots)
            .map(|slot| spawn(format!("modberth-slot{slot}"), Self::serve))
            .chain(std::iter::once_with(|| spawn("modberth-desk".to_owned(), Self::watch)));
        for thread in spawned {
            match thread {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    queue.close();
                    return Err(error);
                }
            }
        }
        Ok((queue, threads))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Puts a job at the end, or refuses it.
    pub(crate) fn push(&self, job: Box<dyn Job>) {
        let mut state = self.lock();
        let refusal = if state.closed {
            Some(Refusal::Closed)
        } else if state.waiting.len() >= WAITING + state.idle {
            Some(Refusal::Busy)
        } else {
            None
        };
        if let Some(why) = refusal {
            drop(state);
            job.refuse(why);
            return;
        }
        state.waiting.push_back(job);
        drop(state);
        self.work.notify_one();
        self.clock.notify_one();
    }

    /// Takes a cancelled job out, if it still waits.
    pub(crate) fn withdraw(&self, ticket: &Arc<Ticket>) {
        let mut state = self.lock();
        let position = state.waiting.iter().position(|job| Arc::ptr_eq(job.ticket(), ticket));
        let job = position.and_then(|position| state.waiting.remove(position));
        drop(state);
        if let Some(job) = job {
            job.refuse(Refusal::Cancelled);
        }
    }

    /// Takes no more jobs, refuses those that wait, and gives the tickets of those that run.
    pub(crate) fn close(&self) -> Vec<Arc<Ticket>> {
        let mut state = self.lock();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        let running = state.running.clone();
        drop(state);
        self.work.notify_all();
        self.clock.notify_all();
        for job in waiting {
            job.refuse(Refusal::Closed);
        }
        running
    }

    /// A slot: one job after the other.
    fn serve(&self) {
        modberth_sandbox::block_sigpipe();
        let mut state = self.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                let ticket = Arc::clone(job.ticket());
                state.idle -= 1;
                state.running.push(Arc::clone(&ticket));
                drop(state);
                job.run();
                state = self.lock();
                state.idle += 1;
                state.running.retain(|running| !Arc::ptr_eq(running, &ticket));
            } else if state.closed {
                return;
            } else {
                state = self.work.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
    }

    /// The desk: ends jobs whose deadline passes while they wait.
    fn watch(&self) {
        let mut state = self.lock();
        while !state.closed {
            let now = Instant::now();
            if let Some(position) = state.waiting.iter().position(|job| job.deadline() <= now) {
                let job = state.waiting.remove(position);
                drop(state);
                if let Some(job) = job {
                    job.refuse(Refusal::Late);
                }
                state = self.lock();
                continue;
            }
            let next = state.waiting.iter().map(|job| job.deadline()).min();
            state = match next {
                Some(next) => self
                    .clock
                    .wait_timeout(state, next.saturating_duration_since(now))
                    .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state),
                None => self.clock.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
            };
        }
    }
}
