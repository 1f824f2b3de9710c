//! Output that a process outside the module holds open. Alone in its file, because it looks at the threads of this
//! process.

mod support;

use std::fs::File;
use std::time::Instant;

use modberth_host::{Exit, Outcome};
use serde_json::json;
use support::{GUARD, ROW, Scripted, code, exit, failure, hello, host, result, rows, threads_sleep};

/// Plays an honest script while this process holds the module's standard output, and lets go of it when `ended` says
/// so: with the end of everything of the module, or with the outcome.
fn held(until_outcome: bool) -> Outcome {
    let script = [json!({"read": true}), hello(), result(ROW), json!({"wait": "fifo"})];
    let scripted = Scripted::new(&script);
    let host = host();
    let running = host.invoke(scripted.play());
    let release = scripted.meet("fifo");
    let pid = *scripted.alive().first().unwrap();
    let copy = File::options().write(true).open(format!("/proc/{pid}/fd/1")).unwrap();
    drop(release);
    if until_outcome {
        let outcome = running.wait();
        drop(copy);
        return outcome;
    }
    let until = Instant::now() + GUARD;
    while !(has_ended(pid) && threads_sleep()) {
        assert!(Instant::now() < until, "the module did not end");
    }
    drop(copy);
    running.wait()
}

/// The process has ended, whether or not it was reaped.
fn has_ended(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(line) => line.contains(") Z "),
        Err(_) => true,
    }
}

/// A process that the host itself is starting has copies of all its descriptors for a moment. That is no fault of the
/// module; what lasts is.
#[test]
fn output_that_is_held_is_waited_for_but_not_for_long() {
    // The linger is half a second, and this process may be held up for longer than that: once is enough.
    let mut outcome = held(false);
    for _ in 0..4 {
        if outcome.results().is_some() {
            break;
        }
        outcome = held(false);
    }
    assert_eq!(rows(&outcome), json!([{"target": "a", "data": 1}]));

    let outcome = held(true);
    assert_eq!(code(&outcome), "process.left_behind");
    assert!(failure(&outcome).violation.message.contains("handed its output"), "{outcome}");
    assert_eq!(exit(&outcome), Some(Exit::Status(0)));
}
