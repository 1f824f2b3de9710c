//! What the page of every SDK must say (P1-SDK-13).

use std::path::Path;

/// The folders of the SDKs.
const PAGES: [&str; 6] = ["sdk-c", "sdk-cpp", "sdk-rust", "sdk-python", "sdk-js", "sdk-ts"];

/// The statements, each as words that stand in the page whatever lies between them.
const STATEMENTS: [(&str, &[&str]); 4] = [
    ("the input is a request that the host has checked", &["input", "a request that the host has checked"]),
    ("the SDK is no gateway for untrusted JSON", &["no gateway for"]),
    ("a handler leaves no detached process behind", &["handler", "no", "process behind", "detached"]),
    ("a handler writes nothing outside the sandbox", &["nothing outside the sandbox"]),
];

// P1-SDK-13
#[test]
fn every_sdk_says_what_its_input_is_and_what_a_handler_must_not_do() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in PAGES {
        let path = root.join(page).join("README.md");
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text = text.replace("**", "").split_whitespace().collect::<Vec<_>>().join(" ");
        for (statement, words) in STATEMENTS {
            for word in words {
                assert!(text.contains(word), "{page}/README.md does not say that {statement} ({word:?})");
            }
        }
    }
}
