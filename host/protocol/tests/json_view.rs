//! The view gives what an independent reader gives.

use modberth_protocol::json::{Checker, Kind, Profile, Raw, RawJson, parse};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What a view shows, as a value of another library.
fn value(raw: Raw<'_>) -> Value {
    match raw.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => json!(raw.as_bool().unwrap()),
        Kind::Number => {
            raw.as_integer().map_or_else(|| json!(raw.as_f64().unwrap()), |integer| json!(integer))
        }
        Kind::String => json!(raw.as_str().unwrap()),
        Kind::Array => raw.elements().unwrap().map(value).collect(),
        Kind::Object => {
            raw.members().unwrap().map(|(name, inner)| (name.into_owned(), value(inner))).collect()
        }
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991i64..=9_007_199_254_740_991).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Value::from),
        "[^\0]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map("[^\0$]{0,10}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_view_shows_what_was_written(written in btree_map("[^\0$]{0,10}", values(), 0..6), pretty in any::<bool>()) {
        let written = Value::Object(written.into_iter().collect());
        let text = if pretty {
            serde_json::to_vec_pretty(&written).unwrap()
        } else {
            serde_json::to_vec(&written).unwrap()
        };
        // With and without the index of the checker.
        let mut checker = Checker::new();
        prop_assert_eq!(value(checker.parse(&text, &Profile::PROCESS).unwrap()), written.clone());
        let root = parse(&text, &Profile::PROCESS).unwrap();
        prop_assert_eq!(value(root), written.clone());
        prop_assert_eq!(serde_json::to_value(root).unwrap(), written.clone());
        for (name, inner) in root.members().unwrap() {
            prop_assert_eq!(root.get(&name).map(|found| found.range()), Some(inner.range()));
            prop_assert_eq!(&text[inner.range()], inner.bytes());
            let copy = RawJson::from(inner);
            prop_assert_eq!(value(copy.raw()), value(inner));
        }
    }
}

/// P1-HOST-07: `1.0`, `true` and `"1"` are not the integer 1.
#[test]
fn an_integer_is_a_number_without_fraction_and_exponent() {
    let root =
        parse(br#"{"a":[1,1.0,1e0,true,"1",-0,-0.0,9007199254740991,1e20]}"#, &Profile::PROCESS).unwrap();
    let integers: Vec<_> = root.get("a").unwrap().elements().unwrap().map(|raw| raw.as_integer()).collect();
    assert_eq!(integers, [Some(1), None, None, None, None, Some(0), None, Some(9_007_199_254_740_991), None]);
}

#[test]
fn asking_for_another_kind_gives_nothing() {
    let root = parse(br#"{"a":[]}"#, &Profile::PROCESS).unwrap();
    assert!(root.elements().is_none() && root.as_str().is_none() && root.as_bool().is_none());
    assert!(root.as_integer().is_none() && root.as_f64().is_none() && !root.is_null());
    let list = root.get("a").unwrap();
    assert!(list.members().is_none() && list.get("a").is_none() && list.elements().unwrap().next().is_none());
}

#[test]
fn white_space_around_a_value_is_no_part_of_it() {
    let owned = RawJson::new(" [ 1 , 2 ] \n", &Profile::PROCESS.below(3)).unwrap();
    assert_eq!(owned.as_str(), "[ 1 , 2 ]");
    assert_eq!(owned.raw().elements().unwrap().map(|raw| raw.as_text()).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(RawJson::empty_object().as_str(), "{}");
}

/// A value larger than the index still reads right.
#[test]
fn a_view_reads_beyond_what_the_checker_remembers() {
    let rows: Vec<_> =
        (0..256).map(|row| format!(r#"{{"n":{row},"s":"{}","t":[[1,"]"],{{}}]}}"#, "x".repeat(40))).collect();
    let text = format!(r#"{{"rows":[{}],"last":true}}"#, rows.join(","));
    let mut checker = Checker::new();
    let root = checker.parse(text.as_bytes(), &Profile::PROCESS).unwrap();
    assert_eq!(value(root), serde_json::from_str::<Value>(&text).unwrap());
}
