//! What the host refuses before a process starts: each with its own code and place, and nothing runs. The module here
//! would take a mark, and never does.

mod support;

use std::sync::Arc;
use std::time::Duration;

use modberth_host::{Grant, Host, Invocation, Module, Outcome};
use modberth_package::manifest::{Architecture, Protocol, Runtime};
use modberth_protocol::Violation;
use serde_json::json;
use support::{Scripted, builder, failure, honest, host, manifest, package};

/// A module that takes a mark and would answer well.
fn marking() -> Scripted {
    let script: Vec<_> = [json!({"take": "mark"})].into_iter().chain(honest()).collect();
    Scripted::new(&script)
}

/// Invokes, and asserts that no process ran and that the refusal has this code and blame.
fn refused(scripted: &Scripted, invocation: Invocation, code: &str, blame: &str) -> Violation {
    let outcome = host().invoke(invocation).wait();
    assert!(!outcome.is_launched(), "{outcome}");
    assert!(!scripted.has_taken("mark"), "a process ran: {outcome}");
    let violation = failure(&outcome).violation.clone();
    assert_eq!((violation.code.as_str(), violation.blame.as_str()), (code, blame), "{outcome}");
    violation
}

fn invoke(scripted: &Scripted, action: &str, targets: &[&str], parameters: &str) -> Invocation {
    Invocation::new(scripted.module.clone(), action).targets(targets.iter().copied()).parameters(parameters)
}

// The module of these tests does run, and take its mark, when nothing is wrong.
#[test]
fn the_mark_tells_that_it_ran() {
    let scripted = marking();
    let outcome = host().invoke(scripted.play()).wait();
    assert!(outcome.results().is_some(), "{outcome}");
    assert!(scripted.has_taken("mark"));
}

// P1-HOST-15
#[test]
fn an_undeclared_action() {
    let scripted = marking();
    for action in ["other", "Play", "play ", "", "__proto__"] {
        let violation =
            refused(&scripted, invoke(&scripted, action, &["a"], "{}"), "request.action", "caller");
        assert_eq!(violation.place.path.as_deref(), Some("action"));
        assert!(violation.message.contains("play, typed, long, privileged"), "{violation}");
    }
}

// P1-HOST-13
#[test]
fn a_batch_of_none_or_too_many_or_twice_the_same() {
    let scripted = marking();
    let ids: Vec<String> = (0..65).map(|number| number.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let violation =
        refused(&scripted, invoke(&scripted, "play", &[], "{}"), "request.target_count", "caller");
    assert_eq!((violation.limit, violation.actual), (Some(1), Some(0)));
    let violation =
        refused(&scripted, invoke(&scripted, "play", &ids, "{}"), "request.target_count", "caller");
    assert_eq!((violation.limit, violation.actual), (Some(64), Some(65)));
    let violation = refused(
        &scripted,
        invoke(&scripted, "play", &["a", "b", "a"], "{}"),
        "request.target_duplicate",
        "caller",
    );
    assert_eq!(violation.place.path.as_deref(), Some("targets[2]"));
    assert_eq!(violation.place.target.as_deref(), Some("a"));
}

// P1-HOST-14
#[test]
fn an_illegal_target() {
    let scripted = marking();
    let long = "é".repeat(129);
    for (id, bound) in [("", 1), (&*long, 128)] {
        let violation = refused(
            &scripted,
            invoke(&scripted, "play", &["ok", id], "{}"),
            "request.target_length",
            "caller",
        );
        assert_eq!(violation.place.path.as_deref(), Some("targets[1]"));
        assert_eq!((violation.limit, violation.actual), (Some(bound), Some(id.chars().count() as u64)));
    }
    // P1-HOST-33: NUL too, which no frame may hold.
    for id in ["a/b", "a\\b", "a:b", "a\0b"] {
        let violation =
            refused(&scripted, invoke(&scripted, "play", &[id], "{}"), "request.target_character", "caller");
        assert_eq!(violation.place.path.as_deref(), Some("targets[0]"));
    }
}

// P1-HOST-14: ids are opaque; these 64 strange ones are one legal batch.
#[test]
fn strange_targets_are_legal() {
    let mut ids: Vec<String> = [
        "__proto__",
        "constructor",
        "prototype",
        " a ",
        "a",
        "A",
        "..",
        "b\nc",
        "é",
        "e\u{301}",
        "\u{2028}",
        "\"",
        "{}",
    ]
    .map(str::to_owned)
    .to_vec();
    ids.extend(["x", "é", "字", "😀"].map(|character| character.repeat(128)));
    while ids.len() < 64 {
        ids.push(format!("t{}", ids.len()));
    }
    let rows: Vec<String> = ids.iter().map(|id| json!({"target": id, "data": id}).to_string()).collect();
    let scripted =
        Scripted::new(&[json!({"read": true}), support::hello(), support::result(&rows.join(","))]);
    let outcome = host().invoke(Invocation::new(scripted.module.clone(), "play").targets(&ids)).wait();
    let results = outcome.results().unwrap_or_else(|| panic!("{outcome}"));
    assert!(results.results.iter().map(|row| &row.target).eq(&ids));
}

// P1-HOST-16
#[test]
fn parameters_against_the_schema() {
    let scripted = marking();
    for (parameters, code, name) in [
        ("{}", "parameter.missing", "text"),
        (r#"{"text":"x","other":1}"#, "parameter.unknown", "other"),
        (r#"{"text":1}"#, "parameter.type", "text"),
        (r#"{"text":null}"#, "parameter.type", "text"),
        (r#"{"text":"123456"}"#, "parameter.length", "text"),
        (r#"{"text":"x","list":"y"}"#, "parameter.type", "list"),
        (r#"{"text":"x","list":["a","b","c"]}"#, "parameter.items", "list"),
        (r#"{"text":"x","list":[""]}"#, "parameter.item_empty", "list"),
        (r#"{"text":"x","list":["a","a"]}"#, "parameter.item_duplicate", "list"),
        (r#"{"text":"x","count":0}"#, "parameter.range", "count"),
        (r#"{"text":"x","count":1.0}"#, "parameter.type", "count"),
        (r#"{"text":"x","count":true}"#, "parameter.type", "count"),
        (r#"{"text":"x","ratio":true}"#, "parameter.type", "ratio"),
        (r#"{"text":"x","flag":0}"#, "parameter.type", "flag"),
        (r#"{"text":"x","pick":"z"}"#, "parameter.choice", "pick"),
    ] {
        let violation = refused(&scripted, invoke(&scripted, "typed", &["a"], parameters), code, "caller");
        assert_eq!(violation.place.parameter.as_deref(), Some(name), "{violation}");
    }
}

// P1-HOST-33: the strict rules bind what a caller sends.
#[test]
fn parameters_are_strict_json() {
    let scripted = marking();
    let deep = format!(r#"{{"text":{}1{}}}"#, "[".repeat(11), "]".repeat(11));
    for (parameters, code) in [
        (&br#"{"text":"x","text":"y"}"#[..], "json.duplicate_key"),
        (br#"{"text":"x","t\u0065xt":"y"}"#, "json.duplicate_key"),
        (br#"{"text":"\u0000"}"#, "json.nul"),
        (b"{\"text\":\"\xff\"}", "json.utf8"),
        (br#"{"text":"\ud800"}"#, "json.surrogate"),
        (br#"{"text":NaN}"#, "json.syntax"),
        (br#"{"text":1e999}"#, "json.nonfinite"),
        (br#"{"text":9007199254740992}"#, "json.integer_range"),
        (deep.as_bytes(), "json.depth"),
        (br#"{"text":"x"} {}"#, "json.trailing"),
        (br#"{"text":"#, "json.truncated"),
        (b"", "json.truncated"),
    ] {
        let invocation = invoke(&scripted, "typed", &["a"], "").parameters(parameters);
        let violation = refused(&scripted, invocation, code, "caller");
        assert!(violation.place.path.as_deref().unwrap().starts_with("parameters"), "{violation}");
    }
    for parameters in ["[]", "1", "null", "\"x\""] {
        let invocation = invoke(&scripted, "typed", &["a"], parameters);
        refused(&scripted, invocation, "request.parameters_type", "caller");
    }
}

// P1-FRAME-02: a request that no frame can carry.
#[test]
fn a_request_that_is_too_large() {
    let scripted = marking();
    let items: Vec<String> = (0..128).map(|number| format!("{number:03}{}", "é".repeat(8189))).collect();
    let parameters = json!({ "one": items }).to_string();
    assert!(parameters.len() > 1_048_576);
    let violation =
        refused(&scripted, invoke(&scripted, "long", &["a"], &parameters), "request.too_large", "caller");
    assert_eq!(violation.limit, Some(1_048_576));
    assert_eq!(violation.actual, Some(parameters.len() as u64));
    // Just below as parameters, above as a frame.
    let fill = "x".repeat(8189);
    let items: Vec<String> = (0..128).map(|number| format!("{number:03}{fill}")).collect();
    let mut items = json!({ "one": items }).to_string();
    assert!(items.len() > 1_048_576);
    items = items.replacen("xxxx", "", (items.len() - 1_048_570) / 4);
    assert!(items.len() <= 1_048_576);
    let violation =
        refused(&scripted, invoke(&scripted, "long", &["a"], &items), "request.too_large", "caller");
    assert!(violation.actual.unwrap() > 1_048_576);
}

#[test]
fn an_action_with_capabilities() {
    let scripted = marking();
    let invocation = invoke(&scripted, "privileged", &["a"], "{}").grant(Grant::new("system:read", ["a"]));
    let violation = refused(&scripted, invocation, "policy.capability", "policy");
    assert!(violation.message.contains("system:read"), "{violation}");
}

#[test]
fn a_package_of_protocol_2() {
    let mut scripted = marking();
    let mut package = (*scripted.module.package).clone();
    if let Runtime::Process(process) = &mut package.manifest.runtime {
        process.protocol = Protocol::Two;
    }
    scripted.module.package = Arc::new(package);
    let violation = refused(&scripted, scripted.play(), "host.protocol", "host");
    assert_eq!((violation.limit, violation.actual), (Some(1), Some(2)));
}

#[test]
fn a_declarative_package() {
    let mut declarative = manifest();
    declarative["runtime"] = json!({"kind": "declarative", "language": "none"});
    let (_folder, module) = package(&declarative, &[]);
    let outcome = host().invoke(Invocation::new(module, "play").target("a")).wait();
    assert_eq!(support::code(&outcome), "package.declarative");
    assert!(!outcome.is_launched());
}

// P1-HOST-29
#[test]
fn a_package_for_another_architecture() {
    let other = if cfg!(target_arch = "x86_64") { Architecture::Aarch64 } else { Architecture::X86_64 };
    let mut scripted = marking();
    let mut package = (*scripted.module.package).clone();
    if let Runtime::Process(process) = &mut package.manifest.runtime {
        process.architecture = other;
    }
    scripted.module.package = Arc::new(package);
    let violation = refused(&scripted, scripted.play(), "package.architecture", "caller");
    assert!(violation.message.contains(other.as_str()) && violation.message.contains(std::env::consts::ARCH));
    // An interpreted package may say any, or exactly this machine.
    for architecture in ["any", std::env::consts::ARCH] {
        let mut python = manifest();
        python["runtime"] = json!({"kind": "python", "language": "python", "entry": "main.py", "platform": "linux",
            "architecture": architecture});
        let (_folder, module) = support::package(&python, &[("main.py", b"import sys; sys.exit(7)")]);
        let outcome = host().invoke(Invocation::new(module, "play").target("a")).wait();
        assert_eq!(support::code(&outcome), "process.exit_status");
    }
}

#[test]
fn a_member_that_is_gone_or_closed() {
    let scripted = marking();
    std::fs::remove_file(scripted.path("script.json")).unwrap();
    let violation = refused(&scripted, scripted.play(), "package.member_missing", "module");
    assert_eq!(violation.place.file.as_deref(), Some("script.json"));

    let scripted = marking();
    std::fs::remove_file(scripted.path("scripted")).unwrap();
    std::fs::write(scripted.path("scripted"), "#!/bin/sh\n").unwrap();
    let violation = refused(&scripted, scripted.play(), "package.file_mode", "caller");
    assert_eq!(violation.place.file.as_deref(), Some("scripted"));
    assert!(violation.message.contains("cannot be started"), "{violation}");
}

/// P1-HOST-28: a confined module runs under a user of its own, so what that user cannot read is told with file and mode.
#[test]
fn a_member_that_the_modules_user_cannot_read() {
    if !support::confines() || !rustix::process::geteuid().is_root() {
        return support::not_run("a_member_that_the_modules_user_cannot_read");
    }
    for (name, mode, shown, verb) in [
        ("script.json", 0o600, "0600", "cannot be read"),
        ("scripted", 0o700, "0700", "cannot be started"),
        ("scripted", 0o744, "0744", "cannot be started"),
        (".", 0o711, "0711", "cannot be entered and read"),
    ] {
        let scripted = marking();
        if name == "scripted" {
            // The program itself is shared by all tests.
            let bytes = std::fs::read(scripted.path(name)).unwrap();
            std::fs::remove_file(scripted.path(name)).unwrap();
            std::fs::write(scripted.path(name), bytes).unwrap();
        }
        support::open_to_all(&scripted.path(name), mode);
        let violation = refused(&scripted, scripted.play(), "package.file_mode", "caller");
        assert_eq!(violation.place.file.as_deref(), Some(name));
        for part in [shown, verb, "by the user ", "that modules run under"] {
            assert!(violation.message.contains(part), "{part}: {violation}");
        }
        assert!(violation.remedy().contains("chmod -R a+rX"), "{violation}");
        // A host that runs modules as its own user, root, reads and starts all of it.
        if mode & 0o100 != 0 || name != "scripted" {
            let plain = support::plain().build().unwrap();
            assert!(plain.invoke(scripted.play()).wait().is_launched(), "{name}");
        }
    }
}

#[test]
fn an_entry_that_is_no_program() {
    let scripted = marking();
    let entry = scripted.path("scripted");
    std::fs::remove_file(&entry).unwrap();
    std::fs::write(&entry, "no program\n").unwrap();
    std::fs::set_permissions(&entry, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let violation = refused(&scripted, scripted.play(), "process.launch", "module");
    assert!(violation.message.contains("cannot run"), "{violation}");
}

#[test]
fn an_interpreter_that_is_not_there() {
    let mut python = manifest();
    python["runtime"] = json!({"kind": "python", "language": "python", "entry": "main.py", "platform": "linux", "architecture": "any"});
    let (_folder, module) = package(&python, &[("main.py", b"")]);
    let invoke = |host: Host| host.invoke(Invocation::new(module.clone(), "play").target("a")).wait();
    let told = |outcome: &Outcome, text: &str| {
        let violation = &failure(outcome).violation;
        assert_eq!(violation.code.as_str(), "host.interpreter");
        assert!(violation.message.contains(text), "{violation}");
        assert!(!outcome.is_launched());
    };
    told(&invoke(builder().python("/no/such/python").build().unwrap()), "/no/such/python");

    // One that is too old, one that hangs, one that says nothing.
    let folder = tempfile::tempdir().unwrap();
    let program = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path
    };
    let old = program("old", "echo /bin/sh; echo 3.10.9");
    told(&invoke(builder().python(old).build().unwrap()), "version 3.10.9 is older than 3.11");
    let silent = program("silent", "exit 0");
    told(&invoke(builder().python(silent).build().unwrap()), "No such file");
    let hanging = program("hanging", "exec sleep 60");
    let limits = modberth_host::Limits::from_json(br#"{"interpreter_ms":50}"#).unwrap();
    told(&invoke(builder().python(hanging).limits(limits).build().unwrap()), "no answer after 50 ms");
}

#[test]
fn a_deadline_that_leaves_no_time() {
    let scripted = marking();
    let invocation = scripted.play().deadline(Duration::ZERO);
    let violation = refused(&scripted, invocation, "process.deadline", "caller");
    assert_eq!(violation.limit, Some(0));
    assert_eq!(violation.remedy(), "Give a longer deadline.");
}

/// P1-HOST-16: texts are parameters like any other: checked with the request, refused with its outcome.
#[test]
fn parameters_as_texts_and_from_a_file() {
    let scripted = marking();
    let typed = || Invocation::new(scripted.module.clone(), "typed").target("a");
    let violation =
        refused(&scripted, typed().parameter_texts([("text", "123456")]), "parameter.length", "caller");
    assert_eq!((violation.limit, violation.actual), (Some(5), Some(6)));
    assert_eq!(violation.place.path.as_deref(), Some("parameters.text"));
    // The file is named, for JSON that is none and for values that do not fit.
    for (json, code) in [(r#"{"text":"#, "json.truncated"), (r#"{"text":"123456"}"#, "parameter.length")] {
        let violation = refused(&scripted, typed().parameters_of_file(json, "p.json"), code, "caller");
        assert_eq!(violation.place.file.as_deref(), Some("p.json"));
    }
}

// The refusal's own process count: none. What ran before is no excuse either.
#[test]
fn a_refusal_says_who_and_what() {
    let scripted = marking();
    let module: Module = scripted.module.clone();
    let outcome = host().invoke(Invocation::new(module, "nothing").caller("alice")).wait();
    assert_eq!((outcome.caller.as_str(), outcome.action.as_str()), ("alice", "nothing"));
    assert_eq!(outcome.package, "org.example.scripted");
    assert_eq!(outcome.digest.len(), 64);
    assert!(outcome.process.is_none());
}
