//! What the host logs: enough to follow an action, never a value of a parameter, and loudly that it does not confine.

mod support;

use std::io::Write;
use std::sync::{Arc, Mutex};

use modberth_host::{Host, Invocation};
use serde_json::json;
use support::{Scripted, hello, host, result};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_log_names_the_action_and_no_value() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // For all threads: the slots log too. This is the only test of its process.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let script = [
        json!({"read": true}),
        hello(),
        result(r#"{"target":"target-id","data":"secret-data"}"#),
        json!({"stderr": "secret-words"}),
    ];
    let scripted = Scripted::new(&script);
    let parameters = r#"{"text":"s3cr3"}"#;
    let outcome = host()
        .invoke(
            Invocation::new(scripted.module.clone(), "typed")
                .target("target-id")
                .parameters(parameters)
                .caller("alice"),
        )
        .wait();
    assert!(outcome.results().is_some(), "{outcome}");
    let refused = host()
        .invoke(
            Invocation::new(scripted.module.clone(), "typed")
                .target("target-id")
                .parameters(r#"{"text":"s3cr3t"}"#),
        )
        .wait();
    assert_eq!(support::code(&refused), "parameter.length");
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for expected in
        [&*outcome.id, "org.example.scripted", "typed", "alice", "confined=true", "parameter.length"]
    {
        assert!(!support::confines() || text.contains(expected), "{expected}: {text}");
    }
    // Every line about a module that was not confined says so, and those that nobody filters out warn.
    log.0.lock().unwrap().clear();
    for (builder, word) in
        [(support::plain(), "NOT CONFINED"), (Host::builder().rlimits_only(true), "CONFINED")]
    {
        let outcome = builder.build().unwrap().invoke(scripted.play()).wait();
        assert!(outcome.process.is_some_and(|process| !process.confinement.is_confined()));
        let text = String::from_utf8(std::mem::take(&mut *log.0.lock().unwrap())).unwrap();
        let lines = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        assert!(
            text.lines().filter(|line| line.contains(" WARN ")).any(|line| line.contains(word)),
            "{text}"
        );
        assert_eq!((lines("confined=false"), lines("confined=true")), (1, 0), "{text}");
    }
    for secret in ["s3cr3", "secret-data", "secret-words", "target-id"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}
