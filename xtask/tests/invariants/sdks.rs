//! The SDKs stand on their language's standard library alone (C and C++ also on cJSON), and on no other SDK except C++ on C and
//! TypeScript on JavaScript.

use crate::{ending, none, text};
use std::path::Path;

/// The parts of Python's standard library that the SDK may import at run time. A module carries the SDK inside and pays for each
/// of them at every start, so the list is short on purpose.
const PYTHON: &[&str] = &["_json", "json", "os", "posix", "sys", "types"];

/// What the helper for an author's own tests may import besides; no module carries it.
const PYTHON_TESTING: &[&str] = &["collections", "contextlib", "io", "typing"];

fn read(path: &str) -> String {
    text(Path::new(path)).unwrap_or_else(|| panic!("{path} is no text"))
}

#[test]
fn the_python_sdk_imports_the_standard_library_only() {
    let mut findings = Vec::new();
    for path in ending("sdk-python/src", &["py"]) {
        let testing = path.ends_with("testing.py");
        // An indented import stands in a function, a docstring's example, or a block for the type checker.
        for line in text(&path).expect("source is text").lines().filter(|line| !line.starts_with(' ')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let module = match words.as_slice() {
                ["import", module, ..] => module,
                ["from", module, "import", ..] if !module.starts_with('.') => module,
                _ => continue,
            };
            let top = module.split('.').next().unwrap_or_default().trim_end_matches(',');
            let allowed = PYTHON.contains(&top) || (testing && PYTHON_TESTING.contains(&top));
            if !allowed {
                findings.push(format!("{}: {line}", path.display()));
            }
        }
    }
    none("imports of the Python SDK that are not on the list", findings);
    let project = read("sdk-python/pyproject.toml");
    let declared = project.lines().find(|line| line.starts_with("dependencies"));
    assert!(declared.is_none_or(|line| line.replace(' ', "") == "dependencies=[]"), "{declared:?}");
}

#[test]
fn the_javascript_sdk_uses_node_only() {
    let mut findings = Vec::new();
    for path in ending("sdk-js/src", &["js"]) {
        for line in text(&path).expect("source is text").lines() {
            let from =
                line.split_once(" from '").map(|(_, rest)| rest).or_else(|| line.strip_prefix("import '"));
            if !line.starts_with("import ") && !line.starts_with("export ") {
                continue;
            }
            if let Some(from) = from
                && !from.starts_with("node:")
                && !from.starts_with("./")
            {
                findings.push(format!("{}: {line}", path.display()));
            }
        }
    }
    none("imports of the JavaScript SDK from elsewhere", findings);
    let package: serde_json::Value = serde_json::from_str(&read("sdk-js/package.json")).expect("JSON");
    assert!(package.get("dependencies").is_none(), "sdk-js has dependencies");
}

#[test]
fn the_typescript_sdk_uses_the_javascript_sdk_only() {
    let package: serde_json::Value = serde_json::from_str(&read("sdk-ts/package.json")).expect("JSON");
    for kind in ["dependencies", "peerDependencies", "optionalDependencies"] {
        let names: Vec<&String> =
            package[kind].as_object().map(|map| map.keys().collect()).unwrap_or_default();
        assert!(names.iter().all(|name| *name == "@modberth/sdk"), "{kind}: {names:?}");
    }
}

#[test]
fn the_c_and_cpp_sdks_include_the_standard_library_and_cjson_only() {
    let own = ["modberth_sdk.h", "modberth_codes.h", "modberth_sdk.hpp", "internal.h"];
    let mut findings = Vec::new();
    for folder in ["sdk-c/src", "sdk-c/include", "sdk-cpp/include"] {
        for path in ending(folder, &["c", "h", "hpp"]) {
            for line in text(&path).expect("source is text").lines() {
                let Some(name) =
                    line.trim().strip_prefix("#include ").map(|rest| rest.trim_matches(['<', '>', '"']))
                else {
                    continue;
                };
                // Standard headers of C end in .h and stand in no folder but sys; those of C++ have neither.
                let standard = !name.contains('/') || name.starts_with("sys/");
                let allowed =
                    own.contains(&name) || name == "cjson/cJSON.h" || (standard && line.contains('<'));
                if !allowed {
                    findings.push(format!("{}: {line}", path.display()));
                }
                if folder == "sdk-c/src" && name.ends_with(".hpp") {
                    findings.push(format!("{}: C uses C++: {line}", path.display()));
                }
            }
        }
    }
    none("includes from elsewhere", findings);
}

#[test]
fn the_c_sdk_calls_nothing_of_cjson_that_is_known_to_be_unsafe() {
    let mut findings = Vec::new();
    for folder in ["sdk-c/src", "sdk-c/include", "sdk-cpp/include"] {
        for path in ending(folder, &["c", "h", "hpp"]) {
            let source = text(&path).expect("source is text");
            // cJSON's printer loses whole numbers, its comparison and its utilities recurse without a bound.
            for name in ["cJSON_Print", "cJSON_Compare", "cJSON_Utils", "cJSONUtils_"] {
                if source.contains(&format!("{name}(")) || source.contains(&format!("include <cjson/{name}"))
                {
                    findings.push(format!("{}: {name}", path.display()));
                }
            }
        }
    }
    none("calls into cJSON that are not allowed", findings);
}
