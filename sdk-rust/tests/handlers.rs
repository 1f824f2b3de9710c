//! What handlers get and what becomes of what they return, through the in-process host.

use std::cell::RefCell;
use std::rc::Rc;

use modberth_sdk::testing::FakeHost;
use modberth_sdk::{Batch, Code, Module, Target, TargetError, TargetResult};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Echo {
    message: String,
}

fn echo() -> Module {
    Module::new().each("echo", |target: &Target, parameters: &Echo| {
        Ok(json!({"message": parameters.message, "index": target.index()}))
    })
}

// P1-SDK-10
#[test]
fn echo_gives_message_and_index_in_request_order() {
    let module = echo();
    let targets: Vec<String> = (0..64).rev().map(|index| format!("t{index}")).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let reply =
        FakeHost::new(&module).invoke("echo", &targets, &json!({"message": "é\u{2028}"})).expect("an answer");
    let seen: Vec<&str> = reply.iter().map(|target| target.target()).collect();
    assert_eq!(seen, targets);
    for (index, target) in reply.iter().enumerate() {
        assert_eq!(target.data(), Some(json!({"message": "é\u{2028}", "index": index})));
    }
}

// P1-SDK-10
#[test]
fn an_unknown_action_is_every_targets_error() {
    let reply = FakeHost::new(&echo()).invoke("nothing", &["a", "b"], &json!({})).expect("an answer");
    for target in &reply {
        assert_eq!(target.error(), Some(("unsupported_action", "This module has no action \"nothing\".")));
    }
    // One note, however many targets.
    assert_eq!(reply.notes(), ["action \"nothing\": not in this module; its actions: echo"]);
}

#[test]
fn parameters_that_do_not_fit_are_unsupported_and_named() {
    let module = echo();
    let host = FakeHost::new(&module);
    for (parameters, note) in [
        (json!({}), "missing field `message`"),
        (json!({"message": 5}), "parameter \"message\": invalid type: integer `5`, expected a string"),
        (
            json!({"a": [1, 2], "message": null, "z": 1}),
            "parameter \"message\": invalid type: null, expected a string",
        ),
    ] {
        let reply = host.invoke("echo", &["a", "b"], &parameters).expect("an answer");
        for target in &reply {
            let wanted = ("unsupported_action", "The parameters do not fit the action \"echo\".");
            assert_eq!(target.error(), Some(wanted));
        }
        // Without the line and the column of a text that the author never sees.
        assert_eq!(reply.notes(), [format!("action \"echo\": {note}")]);
    }
}

// P1-SDK-03: the complete batch in one call.
#[test]
fn a_batch_handler_is_called_once_with_everything() {
    let calls = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&calls);
    let module = Module::new().batch("look", move |batch: &Batch<Echo>| {
        let ids = batch.targets().iter().map(|target| target.id().to_owned()).collect::<Vec<_>>();
        kept.borrow_mut().push((batch.action().to_owned(), ids, batch.parameters().message.clone()));
        assert_eq!((batch.len(), batch.is_empty(), batch.id().len()), (3, false, 32));
        Ok(batch.into_iter().map(|target| target.data(batch.parameters_json())).collect())
    });
    let reply = FakeHost::new(&module)
        .invoke("look", &["c", " a ", "b"], &json!({"message": "x"}))
        .expect("an answer");
    assert_eq!(reply[" a "].data(), Some(json!(r#"{"message":"x"}"#)));
    let ids = ["c", " a ", "b"].map(str::to_owned).to_vec();
    assert_eq!(*calls.borrow(), [("look".to_owned(), ids, "x".to_owned())]);
}

// P1-SDK-07: in the per-target form an exception becomes that target's error.
#[test]
fn an_each_handler_that_fails_costs_only_its_target() {
    let module = Module::new().each("fail", |target: &Target, _: &Value| match target.id() {
        "panic" => panic!("the {} gave up", "handler"),
        "index" => Ok([1, 2, 3][target.index() + 2]),
        "io" => Err(std::io::Error::other("the disk is gone").into()),
        "own" => Err(TargetError::new("gone", "It left.")),
        _ => Ok(1),
    });
    let targets = ["panic", "index", "fine", "io", "own"];
    let reply = FakeHost::new(&module).invoke("fail", &targets, &json!({})).expect("an answer");
    let internal = Some(("internal", "The module failed on this target."));
    assert_eq!(reply["panic"].error(), internal);
    assert_eq!(reply["index"].error(), internal);
    assert_eq!(reply["io"].error(), internal);
    assert_eq!(reply["fine"].data(), Some(json!(1)));
    assert_eq!(reply["own"].error(), Some(("gone", "It left.")));
    let notes = reply.notes();
    assert_eq!(notes.len(), 3);
    assert_eq!(notes[0], "target \"panic\": panicked: the handler gave up");
    assert!(notes[1].starts_with("target \"index\": panicked: index out of bounds"), "{}", notes[1]);
    assert_eq!(notes[2], "target \"io\": the disk is gone");
}

#[test]
fn the_sources_of_an_unexpected_error_are_told() {
    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);
    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("no number")
        }
    }
    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }
    let error = TargetError::from(Outer("x".parse::<u8>().expect_err("no number")));
    assert_eq!(error.cause(), Some("no number: invalid digit found in string"));
}

// P1-SDK-07: a handler of the whole batch that fails leaves no result.
#[test]
fn a_batch_handler_that_fails_leaves_no_result() {
    let module = Module::new()
        .batch("error", |_: &Batch| Err("the table is locked".into()))
        .batch("panic", |_: &Batch| panic!("the table is gone"));
    let host = FakeHost::new(&module);
    for (action, cause) in [("error", "the table is locked"), ("panic", "the table is gone")] {
        let refused = host.invoke(action, &["a"], &json!({})).expect_err("no answer");
        assert_eq!(refused.code, Code::OutputHandlerFailed);
        assert!(refused.to_string().contains(cause), "{refused}");
        assert!(refused.to_string().contains(&format!("{action:?}")), "{refused}");
    }
}

// P1-SDK-03: the shape of the reference text: one callback, the request in, the full list out.
#[test]
fn the_raw_form_gets_the_request_and_returns_rows() {
    let host = FakeHost::serving(|request: &Value| {
        assert_eq!(request["version"], 1);
        assert_eq!(request["type"], "invoke");
        let targets = request["targets"].as_array().expect("a list");
        targets.iter().map(|target| json!({"target": target, "data": request["parameters"]["n"]})).collect()
    });
    let reply = host
        .invoke("any", &["a", "b"], &json!({"n": [1e20, -0.0, 9_007_199_254_740_991_i64]}))
        .expect("an answer");
    assert_eq!(reply["b"].data(), Some(json!([1e20, -0.0, 9_007_199_254_740_991_i64])));

    let refused =
        FakeHost::serving(|_| panic!("no")).invoke("any", &["a"], &json!({})).expect_err("no answer");
    assert_eq!(refused.code, Code::OutputHandlerFailed);
    let refused =
        FakeHost::serving(|_| vec![json!(1)]).invoke("any", &["a"], &json!({})).expect_err("no answer");
    assert_eq!(refused.code, Code::OutputResultsType);
    let refused = FakeHost::serving(|_| vec![]).invoke("any", &["a"], &json!({})).expect_err("no answer");
    assert_eq!((refused.code, refused.place.target.as_deref()), (Code::OutputTargetMissing, Some("a")));
}

#[test]
#[should_panic(expected = "the action \"a\" has a handler already")]
fn an_action_has_one_handler() {
    let one = Module::new().each("a", |_: &Target, _: &Value| Ok(1));
    let _ = one.batch("a", |batch: &Batch| Ok(batch.iter().map(|target| target.data(1)).collect()));
}

#[test]
#[should_panic(expected = "is no name of an action")]
fn an_action_is_an_identifier() {
    let _ = Module::new().each("Echo", |_: &Target, _: &Value| Ok(1));
}

// P1-SDK-02 and P1-HOST-33: the host of the tests refuses what a host refuses.
#[test]
fn the_fake_host_refuses_bad_requests() {
    let module = echo();
    let host = FakeHost::new(&module);
    let many: Vec<String> = (0..65).map(|index| index.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let long = "😀".repeat(129);
    let right = json!({"message": "x"});
    let code = |targets: &[&str], parameters: &Value| {
        host.invoke("echo", targets, parameters).map(drop).unwrap_err().code
    };
    assert_eq!(code(&[], &right), Code::RequestTargetCount);
    assert_eq!(code(&many, &right), Code::RequestTargetCount);
    assert_eq!(code(&["a", "a"], &right), Code::RequestTargetDuplicate);
    assert_eq!(code(&["a:b"], &right), Code::RequestTargetCharacter);
    assert_eq!(code(&[""], &right), Code::RequestTargetLength);
    assert_eq!(code(&[&long], &right), Code::RequestTargetLength);
    assert_eq!(code(&["a"], &json!(["message"])), Code::RequestParametersType);
    assert_eq!(code(&["a"], &json!({"message": "a\0b"})), Code::JsonNul);
    assert_eq!(code(&["a"], &json!({"n": u64::MAX})), Code::JsonIntegerRange);
    assert_eq!(host.invoke("Echo", &["a"], &right).unwrap_err().code, Code::RequestAction);
}

// P1-SDK-08
#[test]
fn text_passes_unchanged() {
    let module = echo();
    let host = FakeHost::new(&module);
    let wide = ["x", "é", "漢", "😀"].map(|character| character.repeat(128));
    let mut ids: Vec<&str> = wide.iter().map(String::as_str).collect();
    ids.extend(["__proto__", " a ", "..", "b\nc", "é", "e\u{301}", "\u{1}", "\u{feff}", "\"q\""]);
    let message = "\"\\\u{1}\u{1f}\u{7f}\u{2028}😀".repeat(8_000);
    let reply = host.invoke("echo", &ids[..2], &json!({"message": message})).expect("an answer");
    assert_eq!(reply[ids[1]].data(), Some(json!({"message": message, "index": 1})));
    let reply = host.invoke("echo", &ids, &json!({"message": "x"})).expect("an answer");
    assert!(reply.iter().map(|target| target.target()).eq(ids));
}

#[test]
fn a_result_in_the_form_of_the_protocol_is_as_good() {
    let module = Module::new().batch("raw", |batch: &Batch| {
        let row = |target: &Target| json!({"target": target.id(), "error": {"code": "gone", "message": ""}});
        Ok(batch.iter().map(|target| TargetResult::from(row(target))).collect())
    });
    let reply = FakeHost::new(&module).invoke("raw", &["a"], &json!({})).expect("an answer");
    assert_eq!(reply["a"].error(), Some(("gone", "")));
    assert_eq!(reply["a"].data_json(), None);
}
