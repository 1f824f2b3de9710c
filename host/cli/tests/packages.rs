//! `modberth check`, `pack` and `inspect`.

mod support;

use std::fs;

use serde_json::{Value, json};
use support::{ECHO, ended, manifest, modberth, module, package, path, run, script};

#[test]
fn check_says_ok_with_the_digest() {
    let folder = module(ECHO);
    let done = run(&["check", path(&folder)]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.starts_with(&format!("ok {} org.example.play 1.2.3 ", path(&folder))), "{}", done.out);
    let done = run(&["check", "--json", path(&folder)]);
    let document = done.json();
    assert_eq!(document["ok"], true);
    let found = &document["packages"][0];
    assert_eq!(found["kind"], "folder");
    assert_eq!(found["id"], "org.example.play");
    assert_eq!(found["digest"].as_str().unwrap().len(), 64);
    assert_eq!(found["warnings"], json!([]));
}

#[test]
fn check_finds_every_problem_of_every_package() {
    let good = module(ECHO);
    let mut broken = manifest();
    broken["id"] = json!("Bad Id");
    broken["actions"][0]["parameters"]["count"]["min"] = json!(10);
    let bad = package(&broken, &[("main.py", b"")]);
    let done = run(&["check", path(&good), path(&bad), "/nonexistent"]);
    assert_eq!(done.code, 3);
    assert!(done.out.starts_with("ok "), "{}", done.out);
    done.says(&[
        "2 problems",
        "error[package.identifier]",
        "manifest.json, id",
        "error[package.schema_range]",
        "manifest.json, actions[0].parameters.count.min",
        "/nonexistent: 1 problem",
        "error[package.not_found]",
    ]);
    let document = run(&["check", "--json", path(&good), path(&bad), "/nonexistent"]).json();
    assert_eq!(document["ok"], false);
    let codes: Vec<Vec<&str>> = document["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            package["problems"]
                .as_array()
                .map(|all| all.iter().map(|problem| problem["code"].as_str().unwrap()).collect())
                .unwrap_or_default()
        })
        .collect();
    assert_eq!(
        codes,
        [vec![], vec!["package.identifier", "package.schema_range"], vec!["package.not_found"]]
    );
    assert_eq!(document["packages"][1]["problems"][0]["path"], "id");
}

#[test]
fn check_says_that_there_may_be_more_problems() {
    let mut broken = manifest();
    for number in 0..101 {
        broken[format!("x{number}")] = json!(1);
    }
    let done = run(&["check", path(&package(&broken, &[]))]);
    assert_eq!(done.code, 3);
    done.says(&[": the first 100 problems\n"]);
    assert_eq!(done.err.matches("error[package.field_unknown]").count(), 100);
}

#[test]
fn check_warns_of_what_runs_elsewhere_only() {
    let mut other = manifest();
    let architecture = if cfg!(target_arch = "x86_64") { "aarch64" } else { "x86_64" };
    other["runtime"]["architecture"] = json!(architecture);
    other["runtime"]["entry"] = json!("app/__main__.py");
    let folder = package(&other, &[("app/__main__.py", b"")]);
    let done = run(&["check", path(&folder)]);
    assert_eq!(done.code, 0);
    done.says(&["warning: ", "package.architecture", architecture, "FICC runs the file itself"]);
    // A warning has the same shape in every command.
    let check = run(&["check", "--json", path(&folder)]).json();
    let warnings = check["packages"][0]["warnings"].as_array().unwrap();
    let names: Vec<_> = warnings.iter().map(|warning| warning["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["main_folder", "package.architecture"]);
    assert_eq!(run(&["inspect", "--json", path(&folder)]).json()["warnings"][0], warnings[0]);
}

#[test]
fn check_has_nothing_to_warn_of_where_nothing_runs() {
    let mut declarative = manifest();
    declarative["runtime"] = json!({"kind": "declarative", "language": "none"});
    let done = run(&["check", path(&package(&declarative, &[]))]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
}

/// Root may read everything, so this asks as somebody else.
#[test]
fn what_is_closed_to_the_user_is_the_callers_to_mend() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let work = tempfile::tempdir().unwrap();
    let chmod = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    chmod(work.path(), 0o755);
    // The command itself may lie where only root comes.
    let command = work.path().join("modberth");
    fs::copy(assert_cmd::cargo::cargo_bin!("modberth"), &command).unwrap();
    chmod(&command, 0o755);
    let folder = work.path().join("package");
    fs::create_dir(&folder).unwrap();
    support::write_package(&folder, &manifest(), &[("main.py", b""), ("lib/x.py", b"")]);
    fs::write(work.path().join("x.zip"), b"").unwrap();
    for (closed, given, code, message) in [
        ("package/payload/lib", "package", "package.file_mode", "payload/lib"),
        ("package/payload", "package", "package.file_mode", "payload"),
        ("package", "package", "package.io", "Permission denied"),
        ("x.zip", "x.zip", "package.io", "Permission denied"),
    ] {
        let closed = work.path().join(closed);
        chmod(&closed, 0o000);
        let mut check = std::process::Command::new(&command);
        check.arg("check").arg(work.path().join(given));
        if rustix::process::geteuid().is_root() {
            check.uid(65_534).gid(65_534);
        }
        let output = check.output().unwrap();
        chmod(&closed, 0o755);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{err}");
        for part in [code, message, "blame    caller"] {
            assert!(err.contains(part), "{part} is not in:\n{err}");
        }
    }
}

#[test]
fn pack_names_the_archive_and_is_deterministic() {
    let (one, two) = (module(ECHO), module(ECHO));
    let work = tempfile::tempdir().unwrap();
    let name = "org.example.play-1.2.3.ficc-module.zip";
    let done = ended(modberth().current_dir(work.path()).args(["pack", path(&one)]));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.starts_with(&format!("packed {name} ")), "{}", done.out);
    let first = fs::read(work.path().join(name)).unwrap();
    let done = ended(modberth().current_dir(work.path()).args(["pack", path(&two), "--json"]));
    assert_eq!(done.code, 0, "{}", done.err);
    let document = done.json();
    assert_eq!(document["written"], false);
    assert_eq!(document["path"], name);
    assert_eq!(document["bytes"], first.len());
    assert_eq!(document["digest"], run(&["check", "--json", path(&two)]).json()["packages"][0]["digest"]);
    // Into a folder.
    let sub = work.path().join("sub");
    fs::create_dir(&sub).unwrap();
    assert_eq!(run(&["pack", path(&two), "-o", sub.to_str().unwrap()]).code, 0);
    assert_eq!(fs::read(sub.join(name)).unwrap(), first);
}

#[test]
fn pack_never_overwrites_unless_forced() {
    let folder = module(ECHO);
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("x.zip");
    fs::write(&out, b"precious").unwrap();
    let done = run(&["pack", path(&folder), "-o", out.to_str().unwrap(), "--json"]);
    assert_eq!(done.code, 3);
    assert_eq!(done.json()["failure"]["code"], "package.output_exists");
    done.says(&["error[package.output_exists]", "--force"]);
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    assert_eq!(run(&["pack", path(&folder), "-o", out.to_str().unwrap(), "--force"]).code, 0);
    assert_eq!(run(&["check", out.to_str().unwrap()]).code, 0);
}

#[test]
fn pack_refuses_links_and_warns_of_main_folders() {
    let folder = module(ECHO);
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("payload/passwd")).unwrap();
    let work = tempfile::tempdir().unwrap();
    let done = ended(modberth().current_dir(work.path()).args(["pack", path(&folder)]));
    assert_eq!(done.code, 3);
    done.says(&["error[package.file_link]", "where    payload/passwd"]);
    let mut main = manifest();
    main["runtime"]["entry"] = json!("app/__main__.py");
    let folder = package(&main, &[("app/__main__.py", b"")]);
    let done = ended(modberth().current_dir(work.path()).args(["pack", path(&folder)]));
    assert_eq!(done.code, 0);
    done.says(&["warning: app/__main__.py runs as its folder here"]);
}

#[test]
fn inspect_shows_actions_parameters_and_files() {
    let mut shown = manifest();
    shown["description"] = json!("Bad \u{1b}[31mterminal\u{1b}[0m");
    let folder = package(
        &shown,
        &[
            ("main.py", script(ECHO).as_bytes()),
            (
                "modberth.json",
                br#"{"limits":{"memory_mib":64},"examples":{"play":[{"targets":["a"],"parameters":{}}]}}"#,
            ),
        ],
    );
    let done = run(&["inspect", path(&folder)]);
    assert_eq!(done.code, 0, "{}", done.err);
    for part in [
        "org.example.play 1.2.3",
        "python (python), entry main.py, architecture any, process protocol 1",
        "play (Play it)",
        "at most 20 code points",
        "1 to 9",
        "one of a, b, c",
        "main.py",
        "modberth.json",
        "64 MiB of memory",
        "Bad \\u001b[31mterminal",
    ] {
        assert!(done.out.contains(part), "{part} is not in:\n{}", done.out);
    }
    assert!(!done.out.contains('\u{1b}'));

    let document = run(&["inspect", "--json", path(&folder)]).json();
    assert_eq!(document["ok"], true);
    assert_eq!(document["runtime"]["protocol"], 1);
    assert_eq!(document["archive"], "org.example.play-1.2.3.ficc-module.zip");
    assert_eq!(document["limits"], json!({"memory_mib": 64, "tasks": null, "cpu_percent": null}));
    assert_eq!(document["actions"][0]["examples"], 1);
    let parameters = document["actions"][0]["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 5);
    let count = parameters.iter().find(|parameter| parameter["name"] == "count").unwrap();
    assert_eq!(*count, json!({"name": "count", "type": "integer", "required": false, "min": 1, "max": 9}));
    let files: Vec<&Value> = document["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(files, ["main.py", "modberth.json"]);

    // An archive shows the same.
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("x.zip");
    run(&["pack", path(&folder), "-o", out.to_str().unwrap()]);
    let archive = run(&["inspect", "--json", out.to_str().unwrap()]).json();
    assert_eq!(archive["kind"], "archive");
    for field in ["digest", "bytes", "files", "actions"] {
        assert_eq!(archive[field], document[field], "{field}");
    }
}

#[test]
fn inspect_of_a_broken_archive_says_where() {
    let work = tempfile::tempdir().unwrap();
    let folder = module(ECHO);
    let out = work.path().join("x.zip");
    run(&["pack", path(&folder), "-o", out.to_str().unwrap()]);
    let mut bytes = fs::read(&out).unwrap();
    bytes.push(0);
    fs::write(&out, bytes).unwrap();
    let done = run(&["inspect", "--json", out.to_str().unwrap()]);
    assert_eq!(done.code, 3);
    let failure = &done.json()["failure"];
    assert_eq!(failure["code"], "package.archive_end");
    assert!(failure["offset"].is_u64());
    done.says(&["error[package.archive_end]", &format!("where    {}, byte ", out.display())]);
}

#[test]
fn a_path_that_is_no_package_says_what_is_one() {
    let folder = module(ECHO);
    let file = folder.path().join("manifest.json");
    for command in [&["inspect"][..], &["check"], &["run"]] {
        let rest: &[&str] = if command == ["run"] { &["play", "-t", "a"] } else { &[] };
        let of = |path: &str| run(&[command, &[path], rest].concat());
        let done = of(file.to_str().unwrap());
        assert_eq!(done.code, 3);
        done.says(&[
            "error[package.archive_format]",
            file.to_str().unwrap(),
            "blame    caller",
            "remedy   Give the folder that holds manifest.json, or an archive",
        ]);
        of("/nonexistent/x").says(&[
            "error[package.not_found]: There is no folder and no archive",
            "where    /nonexistent/x",
        ]);
    }
    // Packing takes a folder alone.
    let done = run(&["pack", file.to_str().unwrap()]);
    assert_eq!(done.code, 3);
    done.says(&["is no folder.", "remedy   Give the folder that holds manifest.json.\n"]);
}

#[test]
fn pack_names_the_folder_that_is_not_there() {
    let folder = module(ECHO);
    let done = run(&["pack", path(&folder), "-o", "/nonexistent/x.zip"]);
    assert_eq!(done.code, 3);
    done.says(&["error[package.io]", "The folder \"/nonexistent\" does not exist.", "blame    caller"]);
    assert!(!done.err.contains(".modberth-"), "{}", done.err);
}

#[test]
fn pack_and_inspect_count_the_same_files() {
    let folder = module(ECHO);
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("x.zip");
    let packed = run(&["pack", path(&folder), "-o", out.to_str().unwrap()]);
    let shown = run(&["inspect", "--json", out.to_str().unwrap()]).json();
    assert_eq!(shown["files"].as_array().unwrap().len(), 1);
    assert!(packed.out.contains("manifest.json and 1 files"), "{}", packed.out);
}

#[test]
fn check_warns_of_a_protocol_that_does_not_run_here() {
    let mut two = manifest();
    two["runtime"]["protocol"] = json!(2);
    let folder = package(&two, &[("main.py", b"")]);
    let done = run(&["check", path(&folder)]);
    assert_eq!(done.code, 0, "{}", done.err);
    done.says(&["warning: It does not run on this host: host.protocol", "runtime.protocol"]);
}
