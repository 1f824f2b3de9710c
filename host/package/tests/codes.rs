//! Every code of this crate in the list of codes is produced by a test here.

use std::fs;
use std::path::Path;

use serde_json::Value;

#[test]
fn every_code_of_packages_and_parameters_has_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = fs::read(here.join("../../conformance/errors.json")).unwrap();
    let list: Value = serde_json::from_slice(&list).unwrap();
    let mut tests: String = fs::read_dir(here.join("tests"))
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    tests += &fs::read_to_string(here.join("src/folder/read.rs")).unwrap();
    let mut missing = Vec::new();
    for entry in list["codes"].as_array().unwrap() {
        let code = entry["code"].as_str().unwrap();
        let ours = code.starts_with("package.") || code.starts_with("parameter.");
        if ours && !tests.contains(&format!("\"{code}\"")) {
            missing.push(code);
        }
    }
    assert!(missing.is_empty(), "no test produces {missing:?}");
}
