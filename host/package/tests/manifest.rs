//! Every rule of the manifest, with the exact code and place.

mod support;

use modberth_package::Manifest;
use modberth_package::manifest::{Architecture, Category, Language, ProcessKind, Protocol, Runtime};
use modberth_protocol::Blame;
use serde_json::{Value, json};
use support::{bad, edited, good, one, one_bound, places, text};

#[test]
fn a_plain_manifest_is_read() {
    let manifest = good(|_| {});
    assert_eq!(manifest.id, "org.example.echo");
    assert_eq!(manifest.version, "1.0.0");
    assert_eq!(manifest.category, Category::Productivity);
    assert_eq!(manifest.archive_name(), "org.example.echo-1.0.0.ficc-module.zip");
    let process = manifest.runtime.process().unwrap();
    assert_eq!((process.kind, process.language), (ProcessKind::Python, Language::Python));
    assert_eq!((process.entry.as_str(), process.architecture), ("main.py", Architecture::Any));
    assert_eq!(process.protocol, Protocol::One);
    assert_eq!(manifest.ui.as_str(), r#"{"children":[],"type":"column"}"#);
    assert!(manifest.action("echo").unwrap().parameters.get("message").unwrap().required);
}

#[test]
fn optional_texts_may_be_empty_and_as_long_as_their_bound() {
    for length in [0, 160] {
        let manifest = good(|m| {
            m["display_name"] = json!(text(length));
            m["publisher"] = json!(text(length));
            m["description"] = json!(text(if length == 0 { 0 } else { 1024 }));
        });
        assert_eq!(manifest.display_name.unwrap().chars().count(), length);
    }
    one_bound("package.text_length", "display_name", 160, 161, |m| m["display_name"] = json!(text(161)));
    one_bound("package.text_length", "publisher", 160, 161, |m| m["publisher"] = json!(text(161)));
    one_bound("package.text_length", "description", 1024, 1025, |m| m["description"] = json!(text(1025)));
    one("package.field_type", "description", |m| m["description"] = json!(null));
}

#[test]
fn every_required_field_is_required_and_nothing_else_is_known() {
    for field in support::plain().as_object().unwrap().keys() {
        let problems = bad(|m| {
            m.as_object_mut().unwrap().remove(field);
        });
        assert!(places(&problems).contains(&("package.field_missing", field)), "{field}: {problems:?}");
    }
    one("package.field_unknown", "entry", |m| m["entry"] = json!("x"));
    one("package.field_unknown", r#"["a b"]"#, |m| m["a b"] = json!(1));
}

#[test]
fn the_document_is_strict_json_of_at_most_65536_bytes() {
    let refused = |bytes: &[u8]| Manifest::parse(bytes).unwrap_err().into_first();
    assert_eq!(refused(b"").code.as_str(), "json.truncated");
    assert_eq!(refused(b"\xef\xbb\xbf{}").code.as_str(), "json.not_object");
    assert_eq!(refused(b"[]").code.as_str(), "json.not_object");
    let twice = refused(br#"{"id":"a","id":"b"}"#);
    assert_eq!(twice.code.as_str(), "json.duplicate_key");
    assert_eq!(twice.place.file.as_deref(), Some("manifest.json"));
    assert_eq!(twice.place.offset, Some(10));

    let mut bytes = edited(|_| {});
    bytes.resize(65_536, b' ');
    assert!(Manifest::parse(&bytes).is_ok());
    bytes.push(b' ');
    let refused = refused(&bytes);
    assert_eq!(refused.code.as_str(), "package.manifest_too_large");
    assert_eq!((refused.limit, refused.actual), (Some(65_536), Some(65_537)));
    assert_eq!(refused.blame, Blame::Module);
}

#[test]
fn three_fields_are_the_integer_1() {
    for field in ["format_version", "contract_version", "host_api"] {
        one_bound("package.field_value", field, 1, 2, |m| m[field] = json!(2));
        for wrong in [json!(true), json!(1.0), json!("1"), json!(null)] {
            one("package.field_type", field, |m| m[field] = wrong);
        }
    }
}

#[test]
fn ids_are_identifiers() {
    for id in ["a", "a..b-", &"a".repeat(96)] {
        assert_eq!(good(|m| m["id"] = json!(id)).id, id);
    }
    for id in ["", "A", "1a", "a b", "a/b", "é", ".a", &"a".repeat(97)] {
        one("package.identifier", "id", |m| m["id"] = json!(id));
    }
    one("package.field_type", "id", |m| m["id"] = json!(1));
    one("package.identifier", "actions[0].id", |m| m["actions"][0]["id"] = json!("Echo"));
}

#[test]
fn versions() {
    for version in ["0.0.0", "1.2.3", "10.20.30-a", "1.0.0--", "1.0.0-.", "1.0.0-beta.1-x"] {
        good(|m| m["version"] = json!(version));
    }
    let longest = format!("1.0.0-{}", "a".repeat(58));
    good(|m| m["version"] = json!(longest));
    one_bound("package.text_length", "version", 64, 65, |m| m["version"] = json!(format!("{longest}a")));
    for version in [
        "1", "1.0", "1.0.0.0", "01.0.0", "1.00.0", "1.0.0-", "1.0.0-A", "1.0.0+b", "v1.0.0", " 1.0.0", "1..0",
    ] {
        one("package.version", "version", |m| m["version"] = json!(version));
    }
}

#[test]
fn categories() {
    for category in ["virtual-machines", "containers", "system-administration", "productivity"] {
        assert_eq!(good(|m| m["category"] = json!(category)).category.as_str(), category);
    }
    let problem = one("package.choice", "category", |m| m["category"] = json!("games"));
    assert!(problem.message.contains("productivity") && problem.message.contains("\"games\""), "{problem}");
    one("package.field_type", "category", |m| m["category"] = json!(7));
}

fn runtime(kind: &str, language: &str, architecture: &str) -> Value {
    json!({"kind": kind, "language": language, "entry": "bin/x", "platform": "linux", "architecture": architecture})
}

#[test]
fn kinds_and_their_languages() {
    let legal = [
        ("native", "c"),
        ("native", "cpp"),
        ("native", "rust"),
        ("python", "python"),
        ("javascript", "javascript"),
        ("javascript", "typescript"),
    ];
    for kind in ["native", "python", "javascript"] {
        for language in ["c", "cpp", "rust", "python", "javascript", "typescript", "none"] {
            let edit = |m: &mut Value| m["runtime"] = runtime(kind, language, "x86_64");
            if legal.contains(&(kind, language)) {
                assert_eq!(good(edit).runtime.kind(), kind);
            } else {
                one("package.runtime_language", "runtime.language", edit);
            }
        }
    }
    one("package.choice", "runtime.kind", |m| m["runtime"]["kind"] = json!("wasm"));
    one("package.choice", "runtime.language", |m| m["runtime"]["language"] = json!("go"));
    one("package.field_missing", "runtime.kind", |m| m["runtime"] = json!({}));
    one("package.field_missing", "runtime.entry", |m| {
        m["runtime"].as_object_mut().unwrap().remove("entry");
    });
    one("package.field_unknown", "runtime.args", |m| m["runtime"]["args"] = json!([]));
}

/// P1-HOST-29: a native package declares an exact architecture; the others may say any or an exact one.
#[test]
fn architectures() {
    for kind in [("native", "c"), ("python", "python"), ("javascript", "typescript")] {
        for architecture in ["x86_64", "aarch64", "any", "arm64"] {
            let edit = |m: &mut Value| m["runtime"] = runtime(kind.0, kind.1, architecture);
            if architecture == "arm64" || (architecture == "any" && kind.0 == "native") {
                one("package.runtime_architecture", "runtime.architecture", edit);
            } else {
                good(edit);
            }
        }
    }
    one("package.field_value", "runtime.platform", |m| m["runtime"]["platform"] = json!("windows"));
    one("package.field_type", "runtime.platform", |m| m["runtime"]["platform"] = json!(1));
    one("package.field_type", "runtime.architecture", |m| m["runtime"]["architecture"] = json!([]));
}

/// P2-SEL-01
#[test]
fn protocols() {
    for (protocol, number) in [(Protocol::One, 1), (Protocol::Two, 2)] {
        let manifest = good(|m| m["runtime"]["protocol"] = json!(number));
        assert_eq!(manifest.runtime.process().unwrap().protocol, protocol);
        assert_eq!(protocol.number(), number);
    }
    for wrong in [json!(0), json!(3), json!(true), json!(2.0), json!("1"), json!(null)] {
        one("package.runtime_protocol", "runtime.protocol", |m| m["runtime"]["protocol"] = wrong);
    }
}

/// P2-SEL-01: a declarative runtime has no protocol, nor anything else of a process.
#[test]
fn declarative_packages_have_kind_and_language_only() {
    let declarative = |m: &mut Value| {
        m["runtime"] = json!({"kind": "declarative", "language": "none"});
        m["actions"] = json!([]);
    };
    assert_eq!(good(declarative).runtime, Runtime::Declarative);
    for field in ["entry", "platform", "architecture", "protocol"] {
        one("package.runtime_field", &format!("runtime.{field}"), |m| {
            declarative(m);
            m["runtime"][field] = json!(1);
        });
    }
    one("package.field_unknown", "runtime.x", |m| {
        declarative(m);
        m["runtime"]["x"] = json!(1);
    });
    one("package.runtime_language", "runtime.language", |m| {
        declarative(m);
        m["runtime"]["language"] = json!("c");
    });
}

#[test]
fn entries_are_member_paths_in_files() {
    for entry in ["../x", "/x", "a//b", ".x", "-x", "a b", "x.", ""] {
        one("package.member_path", "runtime.entry", |m| m["runtime"]["entry"] = json!(entry));
    }
    one("package.field_type", "runtime.entry", |m| m["runtime"]["entry"] = json!(7));
    let digest = "0".repeat(64);
    good(|m| m["files"] = json!({"main.py": digest}));
    one("package.entry", "runtime.entry", |m| m["files"] = json!({"other.py": digest}));
    let fault = one("package.entry", "runtime.entry", |m| {
        m["runtime"]["entry"] = json!("payload/main.py");
        m["files"] = json!({"main.py": digest});
    });
    assert_eq!(fault.remedy(), "The entry is relative to payload/: write main.py.");
}

#[test]
fn capabilities() {
    let longest = format!("{0}:{0}", "a".repeat(32));
    good(|m| m["capabilities"] = json!(["system:read", "unknown-to-all:x-9", longest]));
    for wrong in ["system", "System:read", "system:", ":read", "a:b:c", "1a:b", "a:-b", "a_b:c"] {
        one("package.capability", "capabilities[0]", |m| m["capabilities"] = json!([wrong]));
    }
    one("package.capability", "capabilities[0]", |m| {
        m["capabilities"] = json!([format!("{}:b", "a".repeat(33))])
    });
    one_bound("package.text_length", "capabilities[0]", 65, 66, |m| {
        m["capabilities"] = json!([format!("{longest}a")]);
    });
    one_bound("package.text_length", "capabilities[0]", 1, 0, |m| m["capabilities"] = json!([""]));
    one("package.duplicate", "capabilities[1]", |m| m["capabilities"] = json!(["a:b", "a:b"]));
    one("package.field_type", "capabilities[0]", |m| m["capabilities"] = json!([1]));
    one("package.field_type", "capabilities", |m| m["capabilities"] = json!({}));
    let many = |count: usize| (0..count).map(|i| format!("a:b{i}")).collect::<Vec<_>>();
    good(|m| m["capabilities"] = json!(many(32)));
    one_bound("package.count", "capabilities", 32, 33, |m| m["capabilities"] = json!(many(33)));
}

#[test]
fn optional_and_action_capabilities_are_declared_ones() {
    let manifest = good(|m| {
        m["capabilities"] = json!(["a:b", "c:d"]);
        m["optional_capabilities"] = json!(["c:d"]);
        m["actions"][0]["capabilities"] = json!(["a:b"]);
    });
    assert_eq!(manifest.optional_capabilities, ["c:d"]);
    assert_eq!(manifest.actions[0].capabilities, ["a:b"]);
    one("package.capability_undeclared", "optional_capabilities[0]", |m| {
        m["optional_capabilities"] = json!(["c:d"]);
    });
    one("package.capability_undeclared", "actions[0].capabilities[0]", |m| {
        m["actions"][0]["capabilities"] = json!(["c:d"]);
    });
    one("package.duplicate", "optional_capabilities[1]", |m| {
        m["capabilities"] = json!(["a:b"]);
        m["optional_capabilities"] = json!(["a:b", "a:b"]);
    });
}

#[test]
fn there_are_no_dependencies() {
    one_bound("package.field_value", "dependencies", 0, 1, |m| m["dependencies"] = json!(["x"]));
    one("package.field_type", "dependencies", |m| m["dependencies"] = json!({}));
}

#[test]
fn actions() {
    let action = |id: &str| json!({"id": id, "parameters": {}, "capabilities": []});
    let many = |count: usize| (0..count).map(|i| action(&format!("a{i}"))).collect::<Vec<_>>();
    assert_eq!(good(|m| m["actions"] = json!(many(64))).actions.len(), 64);
    one_bound("package.count", "actions", 64, 65, |m| m["actions"] = json!(many(65)));
    good(|m| m["actions"] = json!([]));
    one("package.duplicate", "actions[1].id", |m| m["actions"] = json!([action("a"), action("a")]));
    one("package.field_unknown", "actions[0].timeout", |m| m["actions"][0]["timeout"] = json!(1));
    one("package.field_missing", "actions[0].capabilities", |m| {
        m["actions"][0].as_object_mut().unwrap().remove("capabilities");
    });
    one_bound("package.text_length", "actions[0].label", 160, 161, |m| {
        m["actions"][0]["label"] = json!(text(161));
    });
    one("package.field_type", "actions[0]", |m| m["actions"][0] = json!("echo"));
}

/// P1-HOST-15: an action that is not declared is refused, and the answer lists those that are.
#[test]
fn an_undeclared_action_is_refused_by_name() {
    let manifest = good(|_| {});
    assert_eq!(manifest.require_action("echo").unwrap().id, "echo");
    let refused = manifest.require_action("eco").unwrap_err();
    assert_eq!((refused.code.as_str(), refused.blame), ("request.action", Blame::Caller));
    assert!(refused.message.contains("\"eco\"") && refused.message.contains("echo"), "{refused}");
}

/// P2-AUTH-07
#[test]
fn provider_adapters_are_refused_with_the_reason() {
    let problem = one("package.role", "role", |m| {
        m["role"] = json!("provider-adapter");
        m["category"] = json!("virtual-machines");
        m["capabilities"] = json!(["provider:admin"]);
        m["actions"] = json!([]);
        m["adapter"] = json!({
            "version": 1, "family": "virtual-machines", "execution": "controller", "transport": "winrm-jea",
            "consistency": "provider-lock", "operations": ["inventory", "status"]
        });
    });
    assert!(problem.message.contains("contract of their own"), "{problem}");
    good(|m| m["role"] = json!("module"));
    one("package.choice", "role", |m| m["role"] = json!("plugin"));
    one("package.adapter", "adapter", |m| m["adapter"] = json!({}));
    one("package.adapter", "capabilities[1]", |m| m["capabilities"] = json!(["a:b", "provider:admin"]));
}

#[test]
fn files() {
    let digest = "ab".repeat(32);
    let manifest = good(|m| m["files"] = json!({"main.py": digest, "lib/x.so.1": digest}));
    assert_eq!(manifest.files["lib/x.so.1"].to_string(), digest);
    one("package.member_path", r#"files["../x"]"#, |m| {
        m["files"] = json!({"main.py": digest, "../x": digest})
    });
    one("package.files_manifest", r#"files["Manifest.JSON"]"#, |m| {
        m["files"] = json!({"main.py": digest, "Manifest.JSON": digest});
    });
    one("package.member_duplicate", r#"files["main.py"]"#, |m| {
        m["files"] = json!({"Main.py": digest, "main.py": digest});
    });
    for wrong in [json!("AB".repeat(32)), json!("ab"), json!(7)] {
        one("package.files_digest", r#"files["main.py"]"#, |m| m["files"] = json!({"main.py": wrong}));
    }
    let many = |count: usize| {
        let mut files: serde_json::Map<_, _> = (1..count).map(|i| (format!("f{i}"), json!(digest))).collect();
        files.insert("main.py".to_owned(), json!(digest));
        Value::Object(files)
    };
    assert_eq!(good(|m| m["files"] = many(255)).files.len(), 255);
    one_bound("package.count", "files", 255, 256, |m| m["files"] = many(256));
}

#[test]
fn all_problems_are_found_at_once() {
    let problems = bad(|m| {
        m["id"] = json!("Bad");
        m["version"] = json!("1");
        m["actions"][0]["parameters"]["message"]["type"] = json!("text");
        m["extra"] = json!(1);
    });
    let mut found = places(&problems);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("package.field_unknown", "extra"),
            ("package.identifier", "id"),
            ("package.schema_type", "actions[0].parameters.message.type"),
            ("package.version", "version"),
        ]
    );
}
