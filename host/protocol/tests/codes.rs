//! The generated list of codes is the list of `conformance/errors.json`.

use modberth_protocol::{Blame, Code, Violation};
use serde_json::Value;
use std::collections::BTreeSet;

fn list() -> Vec<Value> {
    let text = include_str!("../../../conformance/errors.json");
    let mut file: Value = serde_json::from_str(text).unwrap();
    assert_eq!(file["format"], 1);
    file["codes"].as_array_mut().map(std::mem::take).unwrap()
}

#[test]
fn code_rs_and_errors_json_agree() {
    let generated: Vec<_> = Code::ALL
        .iter()
        .map(|code| (code.as_str(), code.blame().as_str(), code.meaning(), code.remedy()))
        .collect();
    let list = list();
    let listed: Vec<_> = list
        .iter()
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap();
            (text("code"), text("blame"), text("meaning"), text("remedy"))
        })
        .collect();
    assert_eq!(generated, listed, "run `cargo xtask generate`");
}

#[test]
fn every_entry_has_the_shape_of_the_schema() {
    let names = BTreeSet::from(["code", "protocols", "blame", "by", "ficc", "meaning", "remedy"]);
    for entry in list() {
        let object = entry.as_object().unwrap();
        assert_eq!(object.keys().map(String::as_str).collect::<BTreeSet<_>>(), names);
        let code = entry["code"].as_str().unwrap();
        let (area, name) = code.split_once('.').unwrap();
        assert!(area.bytes().all(|byte| byte.is_ascii_lowercase()), "{code}");
        assert!(name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')), "{code}");
        for by in entry["by"].as_array().unwrap() {
            assert!(by == "host" || by == "sdk", "{code}");
        }
        for text in ["meaning", "remedy"] {
            let text = entry[text].as_str().unwrap();
            assert!(!text.is_empty() && !text.contains('\n'), "{code}: {text}");
        }
    }
}

/// What a failure says to do stands in its JSON: that of the code, or of this very case.
#[test]
fn a_violation_carries_its_remedy() {
    let rule = Violation::new(Code::FrameMissing, "x").limit(2u64);
    assert_eq!(rule.remedy(), Code::FrameMissing.remedy());
    let json = serde_json::to_value(&rule).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "code": "frame.missing", "blame": "module", "limit": 2, "message": "x",
            "remedy": Code::FrameMissing.remedy()
        })
    );
    let case = rule.advise("Do\nthis.");
    assert_eq!(serde_json::to_value(&case).unwrap()["remedy"], "Do\\u000athis.");
}

#[test]
fn codes_are_unique_and_come_back_from_their_text() {
    let mut seen = BTreeSet::new();
    for code in Code::ALL {
        assert!(seen.insert(code.as_str()));
        assert_eq!(code.as_str().parse(), Ok(*code));
        assert_eq!(code.to_string(), code.as_str());
        assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
    }
    assert!("frame.unheard_of".parse::<Code>().is_err());
    assert_eq!(Code::FrameTooLarge.blame(), Blame::Module);
    assert_eq!(Code::RequestTargetCount.blame(), Blame::Caller);
}
