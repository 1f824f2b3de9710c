//! How processes end: deadlines, cancellation, descendants, pipes that do not behave, and the queue before the slots.

mod support;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use modberth_host::{Exit, Invocation, Outcome, Running};
use serde_json::{Value, json};
use support::{
    GUARD, Scripted, builder, code, exit, failure, hello, honest, honest_then, host, notes, plain, rows,
    short_host, shortened,
};

fn hang() -> Value {
    json!({"hang": true})
}

fn wait(running: Running) -> Outcome {
    running.wait_for(GUARD).unwrap_or_else(|_| panic!("no outcome"))
}

// P1-HOST-25, P1-HOST-32: at a deadline everything is stopped, whatever the module is doing.
#[test]
fn the_deadline_stops_every_way_of_being_late() {
    for (deadline, script, text) in [
        (300, vec![hang()], "standard output was still open"),
        (300, vec![json!({"spin": true})], "standard output was still open"),
        // It has time enough to get there, also on a busy machine. Frames are complete, output and error closed: the end of output is not the end of the process.
        (
            3_000,
            honest_then([json!({"close": "stdout"}), json!({"close": "stderr"}), hang()]),
            "closed its standard output, but not ended",
        ),
        // Half a frame.
        (300, vec![json!({"bytes": [0, 0]}), hang()], "standard output was still open"),
    ] {
        let scripted = Scripted::new(&script);
        let outcome = wait(short_host(deadline, 500).invoke(scripted.play()));
        assert_eq!(code(&outcome), "process.deadline");
        let violation = &failure(&outcome).violation;
        assert_eq!((violation.limit, violation.blame.as_str()), (Some(deadline), "module"));
        assert!(violation.message.contains(text), "{violation}");
        assert_eq!(exit(&outcome), None);
        assert_eq!(scripted.alive(), Vec::<u32>::new());
    }
}

// P1-HOST-25: 10 seconds unless something says otherwise.
#[test]
fn the_default_deadline_is_ten_seconds() {
    let scripted = Scripted::new(&[hang()]);
    // A longer wish is cut to the ceiling.
    let start = Instant::now();
    let outcome = wait(host().invoke(scripted.play().deadline(Duration::from_secs(3_600))));
    let took = start.elapsed();
    assert_eq!(code(&outcome), "process.deadline");
    assert_eq!(failure(&outcome).violation.limit, Some(10_000));
    assert!(took >= Duration::from_secs(10) && took < Duration::from_secs(19), "{took:?}");
    assert_eq!(scripted.alive(), Vec::<u32>::new());
}

// P1-HOST-25: the backstop holds without the host; here it is shorter than the deadline to be seen at all.
#[test]
fn the_backstop_is_told_as_a_deadline() {
    let limits = modberth_host::Limits::from_json(br#"{"process_1_backstop_ms":100}"#).unwrap();
    let host = builder().limits(limits).build().unwrap();
    let scripted = Scripted::new(&[hang()]);
    let outcome = wait(host.invoke(scripted.play()));
    assert_eq!(code(&outcome), "process.deadline");
    assert_eq!(failure(&outcome).violation.limit, Some(100));
    assert!(failure(&outcome).violation.message.contains("backstop"));
    assert_eq!(exit(&outcome), None);
}

// P1-HOST-32
#[test]
fn a_cancelled_action_is_gone_when_it_returns() {
    for step in [hang(), json!({"spin": true})] {
        let scripted = Scripted::new(&[json!({"wait": "runs"}), json!({"stderr": "last words"}), step]);
        let host = host();
        let running = host.invoke(scripted.play());
        scripted.release("runs");
        let canceller = running.canceller();
        running.cancel();
        canceller.cancel();
        let outcome = wait(running);
        assert_eq!(code(&outcome), "process.cancelled");
        assert_eq!(failure(&outcome).violation.blame.as_str(), "caller");
        assert_eq!(scripted.alive(), Vec::<u32>::new());
    }
}

#[test]
fn dropping_a_running_action_cancels_it() {
    let scripted = Scripted::new(&[json!({"wait": "runs"}), hang()]);
    let host = host();
    let running = host.invoke(scripted.play());
    scripted.release("runs");
    drop(running);
    let until = Instant::now() + GUARD;
    while !scripted.alive().is_empty() {
        assert!(Instant::now() < until, "it still runs");
        std::thread::yield_now();
    }
}

#[test]
fn dropping_the_host_leaves_nothing() {
    let scripted = Scripted::new(&[json!({"wait": "runs"}), hang()]);
    let host = host();
    let running = host.invoke(scripted.play());
    scripted.release("runs");
    drop(host);
    assert_eq!(scripted.alive(), Vec::<u32>::new());
    assert_eq!(code(&wait(running)), "process.cancelled");
}

#[test]
fn cancelling_what_is_done_changes_nothing() {
    let scripted = Scripted::new(&honest());
    let host = host();
    let running = host.invoke(scripted.play());
    let canceller = running.canceller();
    let outcome = wait(running);
    canceller.cancel();
    assert!(outcome.results().is_some());
}

// P1-HOST-02, P1-HOST-27: a confined module is the first process of its namespace, so everything ends with it, and it is
// judged by what it answered.
#[test]
fn descendants_end_with_a_confined_module() {
    if !support::confines() {
        return support::not_run("descendants_end_with_a_confined_module");
    }
    for kind in ["closed", "stdout", "stopped", "short"] {
        let scripted = Scripted::new(&honest_then([json!({"child": kind}), json!({"wait": "alive"})]));
        let host = host();
        let running = host.invoke(scripted.play());
        let held = scripted.meet("alive");
        // It has descendants that would live for two minutes, so that there is something to end.
        assert!(kind == "short" || scripted.alive().len() > 1, "{kind}");
        drop(held);
        assert_eq!(rows(&wait(running)), json!([{"target": "a", "data": 1}]), "{kind}");
        assert_eq!(scripted.alive(), Vec::<u32>::new(), "{kind}");
    }
}

// P1-HOST-02, P1-HOST-27: without confinement the module's exit is not the end while a descendant lives, and nothing is
// left after it.
#[test]
fn descendants_are_left_behind() {
    for kind in ["closed", "stdout", "stopped"] {
        let scripted = Scripted::new(&honest_then([json!({"child": kind})]));
        let outcome = wait(shortened(plain(), 10_000, 50).invoke(scripted.play()));
        assert_eq!(code(&outcome), "process.left_behind", "{kind}");
        let violation = &failure(&outcome).violation;
        assert_eq!((violation.limit, violation.blame.as_str()), (Some(50), "module"));
        assert_eq!(exit(&outcome), Some(Exit::Status(0)));
        assert_eq!(scripted.alive(), Vec::<u32>::new(), "{kind}");

        // A module that failed by itself failed for that reason first.
        let scripted = Scripted::new(&honest_then([json!({"child": kind}), json!({"exit": 4})]));
        let outcome = wait(shortened(plain(), 10_000, 50).invoke(scripted.play()));
        assert_eq!(code(&outcome), "process.exit_status");
        assert_eq!(notes(&outcome)[0], "process.left_behind");
        assert_eq!(scripted.alive(), Vec::<u32>::new(), "{kind}");
    }
}

// P1-HOST-27: half a second unless something says otherwise.
#[test]
fn the_default_linger_is_half_a_second() {
    let scripted = Scripted::new(&honest_then([json!({"child": "closed"})]));
    let host = plain().build().unwrap();
    let start = Instant::now();
    let outcome = wait(host.invoke(scripted.play()));
    let took = start.elapsed();
    assert_eq!(code(&outcome), "process.left_behind");
    assert_eq!(failure(&outcome).violation.limit, Some(500));
    assert!(took >= Duration::from_millis(500), "{took:?}");
    assert_eq!(scripted.alive(), Vec::<u32>::new());
}

// P1-HOST-27: also when the action ends in another way.
#[test]
fn descendants_are_gone_after_a_violation_a_deadline_and_a_cancellation() {
    let child = || json!({"child": "closed"});
    let scripted = Scripted::new(&[child(), json!({"text": "no frame"}), hang()]);
    assert_eq!(code(&wait(host().invoke(scripted.play()))), "frame.too_large");
    assert_eq!(scripted.alive(), Vec::<u32>::new());

    let scripted = Scripted::new(&[child(), hang()]);
    assert_eq!(code(&wait(short_host(500, 500).invoke(scripted.play()))), "process.deadline");
    assert_eq!(scripted.alive(), Vec::<u32>::new());

    let scripted = Scripted::new(&[child(), json!({"wait": "runs"}), hang()]);
    let host = host();
    let running = host.invoke(scripted.play());
    scripted.release("runs");
    running.cancel();
    assert_eq!(code(&wait(running)), "process.cancelled");
    assert_eq!(scripted.alive(), Vec::<u32>::new());
}

#[test]
fn a_descendant_that_ends_soon_is_waited_for() {
    let scripted = Scripted::new(&honest_then([json!({"child": "short"})]));
    let host = plain().build().unwrap();
    assert_eq!(rows(&wait(host.invoke(scripted.play()))), json!([{"target": "a", "data": 1}]));
}

/// Parameters that fill a frame almost to its limit.
fn large_parameters() -> String {
    let items: Vec<String> = (0..126).map(|number| format!("{number:03}{}", "x".repeat(8_189))).collect();
    let parameters = json!({ "one": items }).to_string();
    assert!((1_000_000..1_048_000).contains(&parameters.len()));
    parameters
}

// A module that never reads its input does not block the host, and is judged by what it answers.
#[test]
fn a_module_that_never_reads_a_full_frame() {
    let large = |scripted: &Scripted| {
        Invocation::new(scripted.module.clone(), "long").target("a").parameters(large_parameters())
    };
    let scripted = Scripted::new(&[hang()]);
    // The checks of a megabyte come off the deadline, and an emulated machine takes a good part of a second for them.
    let outcome = wait(short_host(5_000, 500).invoke(large(&scripted)));
    assert_eq!(code(&outcome), "process.deadline");
    assert!(failure(&outcome).violation.message.contains("of its input unread"), "{outcome}");

    // It cannot know the request id, so its answer is wrong; but that is the only thing wrong with it.
    for close in [vec![], vec![json!({"close": "stdin"})]] {
        let script: Vec<Value> = close.into_iter().chain([hello(), support::result(support::ROW)]).collect();
        let scripted = Scripted::new(&script);
        let outcome = wait(host().invoke(large(&scripted)));
        assert_eq!((code(&outcome), notes(&outcome)), ("output.id", vec![]));
    }

    // Reading and writing do not wait for each other: much output before any input is read.
    let text = "y".repeat(65_000);
    let data = format!("[{}0]", format!("\"{text}\",").repeat(15));
    let script = [
        hello(),
        json!({"stderr_fill": 65_536}),
        json!({"read": true}),
        support::result(&format!(r#"{{"target":"a","data":{data}}}"#)),
    ];
    let scripted = Scripted::new(&script);
    let outcome = wait(host().invoke(large(&scripted)));
    assert_eq!(rows(&outcome)[0]["data"][14], text);
}

// P1-HOST-01: one action, one process, for the whole batch.
#[test]
fn one_process_for_sixty_four_targets() {
    let ids: Vec<String> = (0..64).map(|number| format!("t{number}")).collect();
    let rows: Vec<String> = ids.iter().map(|id| format!(r#"{{"target":"{id}","data":0}}"#)).collect();
    let script =
        [json!({"read": true}), hello(), support::result(&rows.join(",")), json!({"stderr": "once\n"})];
    let scripted = Scripted::new(&script);
    let host = host();
    for _ in 0..3 {
        let outcome = wait(host.invoke(Invocation::new(scripted.module.clone(), "play").targets(&ids)));
        assert_eq!(outcome.results().unwrap().results.len(), 64);
        assert_eq!(outcome.process.unwrap().stderr.text(), "once\n");
    }
}

// Four at once, 64 more wait, one more is refused; the deadline runs while waiting, and what waits can be cancelled.
#[test]
fn the_queue_is_bounded() {
    let busy = Scripted::new(&[json!({"wait": "runs"}), hang()]);
    let host = host();
    let running: Vec<Running> = (0..4).map(|_| host.invoke(busy.play())).collect();
    busy.release("runs");
    let until = Instant::now() + GUARD;
    while busy.alive().len() < 4 {
        assert!(Instant::now() < until);
    }
    let honest = Scripted::new(&honest());
    let mut waiting: Vec<Running> = (0..62).map(|_| host.invoke(honest.play())).collect();
    let late = host.invoke(honest.play().deadline(Duration::from_millis(50)));
    let cancelled = host.invoke(honest.play());

    let refused = wait(host.invoke(honest.play()));
    assert_eq!(code(&refused), "host.busy");
    assert_eq!(failure(&refused).violation.limit, Some(64));
    assert_eq!(failure(&refused).violation.blame.as_str(), "host");
    // What is wrong with a request is told all the same.
    assert_eq!(code(&wait(host.invoke(Invocation::new(honest.module.clone(), "none")))), "request.action");

    let late = wait(late);
    assert_eq!((code(&late), failure(&late).violation.limit), ("process.deadline", Some(50)));
    // The caller gave it less time than it may have, so the caller can give it more.
    assert_eq!(failure(&late).violation.blame.as_str(), "caller");
    assert_eq!(failure(&late).violation.remedy(), "Give a longer deadline.");
    assert!(failure(&late).violation.message.contains("waited for its turn"));
    assert!(!late.is_launched());
    cancelled.cancel();
    let cancelled = wait(cancelled);
    assert_eq!(code(&cancelled), "process.cancelled");
    assert!(!cancelled.is_launched());

    for running in running {
        running.cancel();
        assert_eq!(code(&wait(running)), "process.cancelled");
    }
    for running in waiting.drain(..) {
        assert_eq!(rows(&wait(running)), json!([{"target": "a", "data": 1}]));
    }
}

/// Counts wakes, and unparks a thread.
struct Count(AtomicUsize, std::thread::Thread);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.unpark();
    }
}

// A future without any runtime: polled, woken once, ready once.
#[test]
fn running_is_a_future() {
    let scripted = Scripted::new(&honest());
    let host = host();
    let mut running = pin!(host.invoke(scripted.play()));
    let count = Arc::new(Count(AtomicUsize::new(0), std::thread::current()));
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let until = Instant::now() + GUARD;
    let outcome = loop {
        match running.as_mut().poll(&mut context) {
            Poll::Ready(outcome) => break outcome,
            Poll::Pending => std::thread::park_timeout(GUARD),
        }
        assert!(Instant::now() < until);
    };
    assert!(outcome.results().is_some());
    assert!(count.0.load(Ordering::SeqCst) <= 1);
    assert!(running.as_mut().poll(&mut context).is_pending());
}

/// A waker that panics.
struct Broken;

impl Wake for Broken {
    fn wake(self: Arc<Self>) {
        panic!("this waker is broken on purpose");
    }
}

// The code of one caller takes no slot away from the others.
#[test]
fn a_waker_that_panics_costs_no_slot() {
    let scripted = Scripted::new(&honest());
    let host = builder().actions(1).build().unwrap();
    let waker = Waker::from(Arc::new(Broken));
    for _ in 0..3 {
        let mut running = Box::pin(host.invoke(scripted.play()));
        assert!(running.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(wait(*std::pin::Pin::into_inner(running)).results().is_some());
    }
    // One that is refused by the desk, which has a thread of its own.
    let hangs = Scripted::new(&[hang()]);
    let busy = host.invoke(hangs.play());
    for _ in 0..2 {
        let mut late = Box::pin(host.invoke(scripted.play().deadline(Duration::from_millis(20))));
        assert!(late.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(code(&wait(*std::pin::Pin::into_inner(late))), "process.deadline");
    }
    drop(busy);
}
