//! Panics of a handler, caught and told in one bounded line.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};

use modberth_protocol::{Code, Violation};

use crate::notes;

thread_local! {
    /// `None` outside [`caught`]; inside, where the last panic happened, if the hook has seen one.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a handler. A panic comes back as one text with its place, where that is known.
///
/// The handler is not called again after a panic of the whole batch, and the targets of an each handler are
/// independent of each other, so what a panic leaves half done is the author's own shared state at most.
pub(crate) fn caught<T>(handler: impl FnOnce() -> T) -> Result<T, String> {
    PLACE.set(Some(String::new()));
    let result = catch_unwind(AssertUnwindSafe(handler));
    let place = PLACE.take().unwrap_or_default();
    result.map_err(|panic| {
        let text = message(&*panic);
        if place.is_empty() { format!("panicked: {text}") } else { format!("panicked at {place}: {text}") }
    })
}

/// Puts a hook in place that writes nothing for a handler, whose panic is told with its target, and one bounded line
/// for a panic anywhere else. In a module that aborts on panic, one of a handler ends the process as a refusal.
pub(crate) fn install_hook() {
    set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let inside =
            PLACE.with_borrow_mut(|inside| inside.as_mut().map(|inside| inside.clone_from(&place)).is_some());
        let told = format!("panicked at {place}: {}", message(panic.payload()));
        if !inside {
            notes::write_note(&told);
        } else if cfg!(panic = "abort") {
            // Nothing is caught: this is the last chance to end as a refusal, with the line and the exit status of one.
            notes::refuse(&Violation::new(
                Code::OutputHandlerFailed,
                format!("The handler failed: it {told}"),
            ));
            std::process::exit(1);
        }
    }));
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is no text").to_owned()
}
