//! What the host logs: enough to follow an action, never a value of a parameter, and loudly that it does not confine.

mod support;

use std::io::Write;
use std::sync::{Arc, Mutex};

use modberth_host::Invocation;
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
        [&*outcome.id, "org.example.scripted", "typed", "alice", "NOT CONFINED", "WARN", "parameter.length"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for secret in ["s3cr3", "secret-data", "secret-words", "target-id"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}
