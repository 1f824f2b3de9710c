//! A module whose handlers go wrong on demand: the action says how.
//!
//! Every SDK has the same one. Where nothing else is said, the first target gets the wrong result and every other one
//! its index as data. A string of Rust cannot hold a lone surrogate and a list of results cannot be something else, so
//! the actions `surrogate`, `each-surrogate` and `not-a-list` of the other languages do not exist here.

use std::error::Error;
use std::process::{Command, ExitCode};

use modberth_sdk::{Batch, Module, Target, TargetError, TargetResult};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a handler of the whole batch returns.
type Results = Result<Vec<TargetResult>, Box<dyn Error>>;

/// Parameters of the action `number-echo`.
#[derive(Deserialize)]
struct NumberEcho {
    value: Value,
}

/// Parameters of the action `made`.
#[derive(Deserialize)]
struct Made {
    kind: String,
    unit: String,
    count: usize,
}

/// Parameters of the action `rows`.
#[derive(Deserialize)]
struct Rows {
    rows: Vec<Value>,
}

#[derive(Serialize)]
struct Index {
    index: usize,
}

/// The result of a target with which nothing is wrong.
fn index(target: &Target) -> TargetResult {
    target.data(Index { index: target.index() })
}

fn all(batch: &Batch) -> Vec<TargetResult> {
    batch.iter().map(index).collect()
}

/// The right results, with this in place of the first.
fn first(batch: &Batch, result: impl FnOnce(&Target) -> TargetResult) -> Results {
    let mut results = all(batch);
    results[0] = result(&batch.targets()[0]);
    Ok(results)
}

fn is_bad(target: &Target) -> bool {
    target.id().starts_with("bad")
}

fn raise(_: &Batch) -> Results {
    Err("this handler fails on purpose".into())
}

fn each_raise(target: &Target, _: &Value) -> Result<Index, TargetError> {
    assert!(!is_bad(target), "this handler fails on purpose");
    Ok(Index { index: target.index() })
}

fn each_target_error(target: &Target, _: &Value) -> Result<Index, TargetError> {
    if is_bad(target) {
        return Err(TargetError::new("not_found", "no such target"));
    }
    Ok(Index { index: target.index() })
}

fn each_bad_code(_: &Target, _: &Value) -> Result<Index, TargetError> {
    Err(TargetError::new("Not Found", "x"))
}

fn each_long_message(target: &Target, _: &Value) -> Result<Index, TargetError> {
    if is_bad(target) {
        return Err(TargetError::new("long", "é".repeat(1_025)));
    }
    Ok(Index { index: target.index() })
}

/// Data that is wrong, or right.
#[derive(Serialize)]
#[serde(untagged)]
enum Data<D> {
    Bad(D),
    Good(Index),
}

/// A handler that gives this data to targets that are bad.
fn each_bad<D: Clone>(bad: D) -> impl Fn(&Target, &Value) -> Result<Data<D>, TargetError> {
    move |target, _| {
        Ok(if is_bad(target) { Data::Bad(bad.clone()) } else { Data::Good(Index { index: target.index() }) })
    }
}

fn missing(batch: &Batch) -> Results {
    Ok(batch.iter().skip(1).map(index).collect())
}

fn unknown(batch: &Batch) -> Results {
    first(batch, |_| json!({"target": "stranger", "data": {"index": 0}}).into())
}

fn duplicate(batch: &Batch) -> Results {
    let [first, _, rest @ ..] = batch.targets() else { return Err("this action needs two targets".into()) };
    Ok([first, first].into_iter().chain(rest).map(index).collect())
}

fn both(batch: &Batch) -> Results {
    first(batch, |target| {
        json!({"target": target.id(), "data": 1, "error": {"code": "both", "message": "and data"}}).into()
    })
}

fn neither(batch: &Batch) -> Results {
    first(batch, |target| json!({"target": target.id()}).into())
}

fn extra_field(batch: &Batch) -> Results {
    first(batch, |target| json!({"target": target.id(), "data": 1, "extra": 2}).into())
}

fn print(batch: &Batch) -> Results {
    println!("stray print");
    Ok(all(batch))
}

fn child_print(batch: &Batch) -> Results {
    Command::new("/bin/echo").arg("stray child").status()?;
    Ok(all(batch))
}

/// Data of the kind, count and unit that the parameters say.
fn made(_: &Target, parameters: &Made) -> Result<Value, TargetError> {
    let &Made { ref kind, ref unit, count } = parameters;
    Ok(match kind.as_str() {
        "text" => unit.repeat(count).into(),
        "name" => json!({ unit.repeat(count): null }),
        "members" => (0..count).map(|index| (index.to_string(), Value::Null)).collect(),
        "levels" => (1..count).fold(json!([]), |inner, _| json!([inner])),
        _ => vec![Value::Null; count].into(),
    })
}

/// The results that the parameter rows holds, whatever they are.
fn rows(batch: &Batch<Rows>) -> Results {
    Ok(batch.parameters().rows.iter().cloned().map(TargetResult::from).collect())
}

fn keys(batch: &Batch) -> Results {
    first(batch, |target| target.data(json!({"__proto__": {"x": 1}, "constructor": 2, "a": 1, "A": 2})))
}

fn main() -> ExitCode {
    Module::new()
        .batch("ok", |batch: &Batch| Ok(all(batch)))
        .batch("reversed", |batch: &Batch| Ok(batch.iter().rev().map(index).collect()))
        .batch("raise", raise)
        .each("each-raise", each_raise)
        .each("each-target-error", each_target_error)
        .each("each-bad-code", each_bad_code)
        .batch("missing", missing)
        .batch("unknown", unknown)
        .batch("duplicate", duplicate)
        .batch("both", both)
        .batch("neither", neither)
        .batch("extra-field", extra_field)
        .batch("bad-code", |batch: &Batch| first(batch, |target| target.error("Not Found", "x")))
        .batch("long-message", |batch: &Batch| first(batch, |target| target.error("long", "é".repeat(1_025))))
        .batch("message-1024", |batch: &Batch| first(batch, |target| target.error("long", "é".repeat(1_024))))
        .batch("nan", |batch: &Batch| first(batch, |target| target.data(f64::NAN)))
        .batch("infinity", |batch: &Batch| first(batch, |target| target.data(f64::INFINITY)))
        .batch("big-integer", |batch: &Batch| first(batch, |target| target.data(1_u64 << 53)))
        .batch("big-integer-ok", |batch: &Batch| first(batch, |target| target.data((1_u64 << 53) - 1)))
        .batch("too-big", |batch: &Batch| first(batch, |target| target.data(vec!["x".repeat(60_000); 64])))
        .batch("print", print)
        .batch("child-print", child_print)
        .each("each-long-message", each_long_message)
        .each("each-nan", each_bad(f64::NAN))
        .each("each-infinity", each_bad(f64::INFINITY))
        .each("each-big-integer", each_bad(1_u64 << 53))
        .each("each-too-big", each_bad(vec!["x".repeat(60_000); 64]))
        .each("number-echo", |_: &Target, parameters: &NumberEcho| Ok(parameters.value.clone()))
        .each("made", made)
        .batch("rows", rows)
        .batch("keys", keys)
        .batch("control", |batch: &Batch| first(batch, |target| target.data("\u{1}\u{1f}\"\\\u{2028}")))
        .run()
}
