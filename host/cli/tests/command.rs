//! What all commands share: help, completions, colour, closed outputs.

mod support;

use std::process::{Command, Stdio};

use support::{ECHO, confines, ended, flags_for, frame, modberth, module, path, run};

#[test]
fn help_lists_commands_and_exit_codes() {
    let done = run(&["--help"]);
    assert_eq!(done.code, 0);
    for part in [
        "run",
        "check",
        "pack",
        "inspect",
        "frame",
        "doctor",
        "completions",
        "Exit codes:",
        "130  interrupted",
    ] {
        assert!(done.out.contains(part), "{part}");
    }
    let done = run(&["run", "--help"]);
    assert!(done.out.contains("string-list") && done.out.contains("Exit codes:"), "{}", done.out);
    assert!(run(&["--version"]).out.starts_with("modberth "));
}

/// The help of each command has its own exit codes, as `docs/exit-codes.md` has them.
#[test]
fn the_help_of_a_command_has_its_exit_codes() {
    for (command, codes) in [
        (&["run"][..], &["0", "1", "2", "3", "4", "5", "6", "130"][..]),
        (&["check"], &["0", "2", "3", "6"]),
        (&["pack"], &["0", "2", "3", "6"]),
        (&["inspect"], &["0", "2", "3", "6"]),
        (&["frame"], &["0", "1", "2"]),
        (&["frame", "check"], &["0", "1", "2"]),
        (&["frame", "decode"], &["0", "1", "2"]),
        (&["doctor"], &["0", "2", "3", "6", "130"]),
        (&["completions"], &["0", "2"]),
    ] {
        for flag in ["--help", "-h"] {
            let done = run(&[command, &[flag]].concat());
            let (_, exits) = done.out.split_once("Exit codes").unwrap_or_else(|| panic!("{}", done.out));
            let found: Vec<_> =
                exits.lines().skip(1).map_while(|line| line.split_whitespace().next()).collect();
            assert_eq!(found, codes, "{command:?} {flag}");
        }
    }
    assert!(run(&["frame", "check", "--help"]).out.contains("is not checked"));
    assert!(run(&["completions", "--help"]).out.contains("bash-completion/completions/modberth"));
}

#[test]
fn completions_for_every_shell() {
    let done = run(&["completions", "bash", "--json"]);
    let document = done.json();
    assert_eq!((&document["ok"], &document["shell"]), (&serde_json::json!(true), &serde_json::json!("bash")));
    assert_eq!(document["script"], run(&["completions", "bash"]).out);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = run(&["completions", shell]);
        assert_eq!(done.code, 0);
        assert!(done.out.contains("modberth") && done.out.contains("inspect"), "{shell}");
    }
    assert_eq!(run(&["completions", "tcsh"]).code, 2);
}

#[test]
fn colour_follows_the_flag_and_the_environment() {
    let folder = module(ECHO);
    let check = ["check", path(&folder)];
    assert!(!run(&check).out.contains('\u{1b}'));
    assert!(run(&[&check[..], &["--color", "always"]].concat()).out.contains("\u{1b}["));
    assert!(!run(&[&check[..], &["--color", "never"]].concat()).out.contains('\u{1b}'));
    assert!(!ended(modberth().env("NO_COLOR", "1").args(check)).out.contains('\u{1b}'));
    let bad = run(&["check", "/nonexistent", "--color", "always"]);
    assert!(bad.err.contains("\u{1b}["), "{}", bad.err);
    // JSON is never coloured.
    assert!(!run(&[&check[..], &["--color", "always", "--json"]].concat()).out.contains('\u{1b}'));
    let wide = run(&["run", path(&folder), "play", "-t", "a", "--color", "always"]);
    assert!(wide.out.contains("\u{1b}["), "{}", wide.out);
}

/// A pipe that nobody reads.
fn unread() -> Stdio {
    let (_, writer) = std::io::pipe().unwrap();
    writer.into()
}

fn status(arguments: &[&str], out: Stdio, err: Stdio) -> (Option<i32>, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("modberth"))
        .args(arguments)
        .args(flags_for(arguments))
        .stdout(out)
        .stderr(err)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = module(ECHO);
    for arguments in
        [&["inspect", path(&folder)][..], &["check", "--json", path(&folder)], &["completions", "bash"]]
    {
        let done = status(arguments, unread(), Stdio::piped());
        assert_eq!(done, (Some(0), String::new(), String::new()), "{arguments:?}");
    }
}

/// What a command found out is its exit code, and what it does does not depend on who listens.
#[test]
fn a_reader_that_goes_away_changes_no_exit_code() {
    let failing = module("sys.exit(7)");
    let partial = module("answer(lambda t: {'error': {'code': 'gone', 'message': ''}})");
    let frames = failing.path().join("frames");
    std::fs::write(&frames, [0; 4]).unwrap();
    let frames = frames.to_str().unwrap();
    for (arguments, code) in [
        (&["run", path(&failing), "play", "-t", "a"][..], 4),
        (&["run", path(&partial), "play", "-t", "a"], 1),
        (&["run", path(&partial), "paly", "-t", "a"], 3),
        (&["check", path(&partial), "/nonexistent"], 3),
        (&["inspect", "/nonexistent"], 3),
        (&["frame", "check", frames], 1),
        (&["frame", "decode", frames], 1),
    ] {
        let with_json = [arguments, &["--json"]].concat();
        for arguments in [arguments, &with_json] {
            assert_eq!(status(arguments, unread(), Stdio::null()).0, Some(code), "{arguments:?}");
            assert_eq!(status(arguments, Stdio::null(), unread()).0, Some(code), "{arguments:?}");
        }
    }
}

/// The warning that less is confined stands first on standard error; the action runs all the same.
#[test]
fn an_action_runs_without_a_reader_of_standard_error() {
    let folder = module(ECHO);
    let mut arguments = vec!["run", path(&folder), "play", "-t", "a", "--json"];
    if confines() {
        arguments.push("--unsafe-rlimits-only");
    }
    let (code, out, _) = status(&arguments, Stdio::piped(), unread());
    assert_eq!(code, Some(0));
    assert!(out.contains(r#""outcome":"results""#), "{out}");
}

#[test]
fn frames_are_shown_only_as_long_as_somebody_reads() {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("modberth"))
        .args(["frame", "decode", "-"])
        .stdin(Stdio::piped())
        .stdout(unread())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // A stream that is far from its end when the command ends: nobody takes the rest.
    let ended = (0..1_000_000).any(|_| std::io::Write::write_all(&mut input, &frame(b"{}")).is_err());
    drop(input);
    assert!(ended);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_output_that_cannot_be_written_is_a_fault_of_the_machine() {
    let folder = module(ECHO);
    for arguments in [
        &["run", path(&folder), "play", "-t", "a", "--json"][..],
        &["check", path(&folder)],
        &["inspect", path(&folder)],
        &["completions", "bash"],
        &["--version"],
        &["--help"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let (code, _, err) = status(arguments, full.into(), Stdio::piped());
        assert_eq!(code, Some(6), "{arguments:?}");
        assert!(err.contains("cannot write: No space left on device"), "{err}");
    }
    assert_eq!(status(&["--version"], unread(), Stdio::null()).0, Some(0));
}
