//! Results that a host would refuse are refused by the SDK, with the host's code and the target (P1-SDK-05).

use modberth_sdk::testing::FakeHost;
use modberth_sdk::{Batch, Code, Module, Target, TargetError, TargetResult, Violation};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// A batch of `a`, `b` and `c` whose handler returns these results.
fn refused(results: impl Fn(&Batch) -> Vec<TargetResult> + 'static) -> Violation {
    let module = Module::new().batch("act", move |batch: &Batch| Ok(results(batch)));
    FakeHost::new(&module).invoke("act", &["a", "b", "c"], &json!({})).expect_err("no legal results")
}

/// As [`refused`], with this data for `b`.
fn refused_data<T: Serialize + Clone + 'static>(data: T) -> Violation {
    refused(move |batch| {
        let row = |target: &Target| match target.id() {
            "b" => target.data(data.clone()),
            _ => target.data(0),
        };
        batch.iter().map(row).collect()
    })
}

/// As [`refused`], with this row for `b`.
fn refused_row(row: Value) -> Violation {
    refused(move |batch| {
        let right = |target: &Target| match target.id() {
            "b" => row.clone().into(),
            _ => target.data(0),
        };
        batch.iter().map(right).collect()
    })
}

fn target(violation: &Violation) -> Option<&str> {
    violation.place.target.as_deref()
}

// P1-HOST-09, P1-HOST-12
#[test]
fn every_target_has_one_result_in_any_order() {
    let missing = refused(|batch| batch.iter().skip(1).map(|target| target.data(0)).collect());
    assert_eq!((missing.code, target(&missing)), (Code::OutputTargetMissing, Some("a")));
    let twice =
        refused(|batch| batch.iter().chain(batch.iter().take(1)).map(|target| target.data(0)).collect());
    assert_eq!((twice.code, target(&twice)), (Code::OutputTargetDuplicate, Some("a")));
    assert_eq!(twice.place.path.as_deref(), Some("results[3]"));
    let unknown = refused_row(json!({"target": "stranger", "data": 0}));
    assert_eq!((unknown.code, target(&unknown)), (Code::OutputTargetUnknown, Some("stranger")));

    let backwards = Module::new().batch("act", |batch: &Batch| {
        Ok(batch.iter().rev().map(|target| target.data(target.id())).collect())
    });
    let reply = FakeHost::new(&backwards).invoke("act", &["a", "b"], &json!({})).expect("legal");
    assert!(reply.iter().map(|reply| reply.target()).eq(["a", "b"]));
    assert_eq!(reply["b"].data(), Some(json!("b")));
}

// P1-HOST-10
#[test]
fn a_result_is_data_or_error_and_nothing_else() {
    let error = json!({"code": "x", "message": ""});
    let cases = [
        (json!({"target": "b", "data": 0, "error": error}), Code::OutputOutcomeBoth),
        (json!({"target": "b"}), Code::OutputOutcomeMissing),
        (json!({"target": "b", "data": 0, "more": 0}), Code::OutputResultFields),
        (json!({"target": "b", "error": "x"}), Code::OutputErrorFields),
        (json!({"target": "b", "error": {"code": "x"}}), Code::OutputErrorFields),
        (json!({"target": "b", "error": {"code": "x", "message": "", "more": 0}}), Code::OutputErrorFields),
        (json!({"target": "b", "error": {"code": "x", "message": 5}}), Code::OutputErrorFields),
    ];
    for (row, code) in cases {
        let violation = refused_row(row.clone());
        assert_eq!((violation.code, target(&violation)), (code, Some("b")), "{row}");
        assert!(
            violation.place.path.as_deref().is_some_and(|path| path.starts_with("results[1]")),
            "{violation}"
        );
    }
    assert_eq!(refused_row(json!({"data": 0})).code, Code::OutputResultFields);
    assert_eq!(refused_row(json!({"target": 1, "data": 0})).code, Code::OutputResultFields);
    assert_eq!(refused_row(json!(["b", 0])).code, Code::OutputResultsType);
}

// P1-HOST-11: in both forms of handler a bad error is a refusal, not `internal`.
#[test]
fn an_error_has_a_legal_code_and_a_short_message() {
    let error = |code: &str, message: &str| {
        let (code, message) = (code.to_owned(), message.to_owned());
        let (again, text) = (code.clone(), message.clone());
        let batch = refused(move |batch| batch.iter().map(|target| target.error(&code, &message)).collect());
        let module = Module::new().each("act", move |_: &Target, _: &Value| {
            Err::<(), _>(TargetError::new(again.clone(), text.clone()))
        });
        let each = FakeHost::new(&module).invoke("act", &["a"], &json!({})).expect_err("no legal error");
        assert_eq!((batch.code, target(&batch)), (each.code, target(&each)));
        assert_eq!(target(&each), Some("a"));
        each
    };
    for code in ["Not Found", "", "1st", "a b", "é", &"a".repeat(97)] {
        assert_eq!(error(code, "").code, Code::OutputErrorCode, "{code:?}");
    }
    let long = error("x", &"é".repeat(1_025));
    assert_eq!((long.code, long.limit, long.actual), (Code::OutputErrorMessage, Some(1_024), Some(1_025)));

    let longest = Module::new().each("act", |_: &Target, _: &Value| {
        Err::<(), _>(TargetError::new("a".repeat(96), "é".repeat(1_024)))
    });
    let reply = FakeHost::new(&longest).invoke("act", &["a"], &json!({})).expect("legal");
    assert_eq!(reply["a"].error(), Some((&*"a".repeat(96), &*"é".repeat(1_024))));
}

// P1-HOST-18 to P1-HOST-21, P1-HOST-35: values the profile refuses, named by target and place.
#[test]
fn values_beyond_the_profile_are_refused_by_name() {
    let mut deep = json!(0);
    for _ in 0..10 {
        deep = json!([deep]);
    }
    let wide = || (0..257).map(|index| (index.to_string(), 0)).collect::<BTreeMap<_, _>>();
    let cases: [(Violation, Code, &str); 11] = [
        (refused_data(f64::NAN), Code::JsonNonfinite, "results[1].data"),
        (refused_data(vec![0.5, f64::NEG_INFINITY]), Code::JsonNonfinite, "results[1].data[1]"),
        (refused_data(HashMap::from([("load", f32::NAN)])), Code::JsonNonfinite, "results[1].data.load"),
        (refused_data(1_u64 << 53), Code::JsonIntegerRange, "results[1].data"),
        (refused_data(json!({"n": [u64::MAX]})), Code::JsonIntegerRange, "results[1].data.n[0]"),
        (refused_data("a\0b"), Code::JsonNul, "results[1].data"),
        (refused_data(HashMap::from([("a\0b", 0)])), Code::JsonNul, "results[1].data"),
        (refused_data(deep), Code::JsonDepth, "results[1].data"),
        (refused_data(wide()), Code::JsonEntries, "results[1].data"),
        (refused_data("x".repeat(65_537)), Code::JsonStringLength, "results[1].data"),
        (refused_data(HashMap::from([("x".repeat(241), 0)])), Code::JsonNameLength, "results[1].data"),
    ];
    for (violation, code, path) in cases {
        assert_eq!((violation.code, target(&violation)), (code, Some("b")), "{violation}");
        assert!(violation.place.path.as_deref().is_some_and(|found| found.starts_with(path)), "{violation}");
    }
    assert_eq!(refused_data(BTreeMap::from([(1, 1)])).code, Code::OutputValue);
    // Two members of one name, which serde writes as they come.
    let twice = Twice { name: 1, rest: BTreeMap::from([("name", 2)]) };
    assert_eq!(refused_data(twice).code, Code::JsonDuplicateKey);
}

#[derive(Serialize, Clone)]
struct Twice {
    name: u8,
    #[serde(flatten)]
    rest: BTreeMap<&'static str, u8>,
}

// P1-SDK-05: the payload limit, for one target and for all together.
#[test]
fn a_result_beyond_the_frame_is_refused() {
    let one = refused_data(vec!["x".repeat(60_000); 64]);
    assert_eq!((one.code, one.limit, target(&one)), (Code::FrameTooLarge, Some(1_048_576), Some("b")));
    let module = Module::new().each("act", |_: &Target, _: &Value| Ok("x".repeat(60_000)));
    let names: Vec<String> = (0..64).map(|index| format!("t{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = FakeHost::new(&module).invoke("act", &names, &json!({})).expect_err("too large");
    assert_eq!((all.code, target(&all)), (Code::FrameTooLarge, Some("t17")));
    assert!(FakeHost::new(&module).invoke("act", &names[..17], &json!({})).is_ok());
}

// P1-HOST-20, decisions on numbers: the ends of the range pass, and a float stays a float.
#[test]
fn numbers_arrive_as_they_were() {
    let numbers =
        json!([9_007_199_254_740_991_i64, -9_007_199_254_740_991_i64, 1e20, -0.0, 0.1, 5e-324, f64::MAX]);
    let kept = numbers.clone();
    let module = Module::new().each("act", move |_: &Target, _: &Value| Ok(kept.clone()));
    let reply = FakeHost::new(&module).invoke("act", &["a"], &json!({})).expect("legal");
    assert_eq!(reply["a"].data(), Some(numbers));
    let text = reply["a"].data_json().expect("data");
    assert!(text.starts_with("[9007199254740991,-9007199254740991,1e"), "{text}");
}
