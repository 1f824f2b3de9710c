//! An invocation on its way: a future, a blocking wait, and cancellation.

use std::future::Future;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rustix::event::EventfdFlags;

use crate::outcome::Outcome;
use crate::queue::Queue;

/// An invocation on its way.
///
/// It is a future for any async runtime; without one, [`Running::wait`] blocks. Dropping it before it is done cancels
/// the invocation: its process is killed and cleaned up in the background.
#[derive(Debug)]
#[must_use = "dropping it cancels the invocation"]
pub struct Running {
    ticket: Arc<Ticket>,
    queue: Weak<Queue>,
}

/// Cancels an invocation from anywhere, such as a signal handler's thread. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Canceller {
    ticket: Weak<Ticket>,
    queue: Weak<Queue>,
}

impl Running {
    pub(crate) fn new(ticket: Arc<Ticket>, queue: &Arc<Queue>) -> Self {
        Self { ticket, queue: Arc::downgrade(queue) }
    }

    /// The invocation's id.
    pub fn id(&self) -> &str {
        &self.ticket.id
    }

    /// Cancels the invocation. Its outcome then is a failure with `process.cancelled`, unless it was done already;
    /// it comes when no process of it is left (P1-HOST-32).
    pub fn cancel(&self) {
        self.canceller().cancel();
    }

    /// A handle that cancels this invocation.
    pub fn canceller(&self) -> Canceller {
        Canceller { ticket: Arc::downgrade(&self.ticket), queue: self.queue.clone() }
    }

    /// Blocks until the invocation is done.
    pub fn wait(self) -> Outcome {
        let mut state = self.ticket.lock();
        loop {
            match state.outcome.take() {
                Some(outcome) => return outcome,
                None => state = self.ticket.done.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
            }
        }
    }

    /// Blocks until the invocation is done, but no longer than `patience`: then it gives itself back.
    ///
    /// # Errors
    /// The invocation, still on its way.
    pub fn wait_for(self, patience: Duration) -> Result<Outcome, Self> {
        let state = self.ticket.lock();
        let (mut state, _) = self
            .ticket
            .done
            .wait_timeout_while(state, patience, |state| state.outcome.is_none())
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        match state.outcome.take() {
            Some(outcome) => Ok(outcome),
            None => {
                drop(state);
                Err(self)
            }
        }
    }
}

impl Future for Running {
    type Output = Outcome;

    /// Ready once; pending for ever after that.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut state = self.ticket.lock();
        match state.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                match &mut state.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Canceller {
    pub(crate) fn new(ticket: &Arc<Ticket>, queue: &Arc<Queue>) -> Self {
        Self { ticket: Arc::downgrade(ticket), queue: Arc::downgrade(queue) }
    }

    /// As [`Running::cancel`].
    pub fn cancel(&self) {
        let Some(ticket) = self.ticket.upgrade() else { return };
        if ticket.signal()
            && let Some(queue) = self.queue.upgrade()
        {
            queue.withdraw(&ticket);
        }
    }
}

/// What the caller's side and the host's side of an invocation share.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) id: String,
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    outcome: Option<Outcome>,
    /// An outcome has been given, whether or not it has been taken.
    finished: bool,
    waker: Option<Waker>,
    cancelled: bool,
    /// Readable once cancelled; made when the invocation gets its slot.
    bell: Option<Arc<OwnedFd>>,
}

/// A descriptor that becomes readable when the invocation is cancelled.
#[derive(Debug)]
pub(crate) struct Bell(Arc<OwnedFd>);

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Ticket {
    pub(crate) fn new(id: String) -> Arc<Self> {
        Arc::new(Self { id, state: Mutex::default(), done: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Notes the cancellation; true the first time, unless the invocation is done.
    fn signal(&self) -> bool {
        let mut state = self.lock();
        if state.cancelled || state.finished {
            return false;
        }
        state.cancelled = true;
        if let Some(bell) = &state.bell {
            // It holds a counter that is 0 before, so this neither blocks nor fails.
            let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
        }
        true
    }

    /// Whether the invocation was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }

    /// The descriptor to poll for cancellation.
    pub(crate) fn bell(&self) -> std::io::Result<Bell> {
        let mut state = self.lock();
        let start = u32::from(state.cancelled);
        let bell = rustix::event::eventfd(start, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let bell = Arc::new(modberth_sandbox::above_streams(bell)?);
        state.bell = Some(Arc::clone(&bell));
        Ok(Bell(bell))
    }

    /// Gives the outcome to whoever waits.
    pub(crate) fn finish(&self, outcome: Outcome) {
        let mut state = self.lock();
        state.outcome = Some(outcome);
        state.finished = true;
        state.bell = None;
        let waker = state.waker.take();
        drop(state);
        self.done.notify_all();
        if let Some(waker) = waker {
            // It is the caller's code, on a thread of the host. Should it panic, the host loses no thread by it.
            if std::panic::catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
                tracing::error!(id = %self.id, "the waker of an invocation panicked");
            }
        }
    }
}
