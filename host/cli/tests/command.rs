//! What all commands share: help, completions, colour, closed outputs.

mod support;

use std::process::{Command, Stdio};

use support::{ECHO, ended, modberth, module, path, run};

#[test]
fn help_lists_commands_and_exit_codes() {
    let done = run(&["--help"]);
    assert_eq!(done.code, 0);
    for part in ["run", "check", "pack", "inspect", "frame", "completions", "Exit codes:", "130  interrupted"]
    {
        assert!(done.out.contains(part), "{part}");
    }
    let done = run(&["run", "--help"]);
    assert!(done.out.contains("string-list") && done.out.contains("Exit codes:"), "{}", done.out);
    assert!(run(&["--version"]).out.starts_with("modberth "));
}

#[test]
fn completions_for_every_shell() {
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

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = module(ECHO);
    for arguments in
        [&["inspect", path(&folder)][..], &["check", "--json", path(&folder)], &["completions", "bash"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(assert_cmd::cargo::cargo_bin!("modberth"))
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
