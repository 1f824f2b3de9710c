//! What the runner sees of a process, proven on small programs of the system.

use std::time::Duration;

use modberth_conformance::subject::{End, Feed, Subject};

fn shell(script: &str) -> Subject {
    Subject::new(&["/bin/sh", "-c", script]).expect("a command")
}

#[test]
fn output_streams_and_exit_status_are_observed() {
    let seen = shell("cat; echo problem >&2; exit 3").feed(&Feed::whole("text")).expect("it starts");
    assert_eq!(seen.stdout, b"text");
    assert_eq!(seen.stderr, b"problem\n");
    assert_eq!(seen.end, End::Exited(3));
    assert_eq!(seen.unread, 0);
}

#[test]
fn a_signal_is_told_from_an_exit() {
    assert_eq!(shell("kill -9 $$").feed(&Feed::whole("")).expect("it starts").end, End::Signalled(9));
}

#[test]
fn the_environment_is_exactly_that_of_a_module() {
    let seen = Subject::new(&["env"]).expect("env is installed").feed(&Feed::whole("")).expect("it starts");
    let mut lines: Vec<_> = std::str::from_utf8(&seen.stdout).expect("text").lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["LANG=C.UTF-8", "PATH=/usr/bin", "TMPDIR=/tmp"]);
}

#[test]
fn pieces_arrive_one_by_one() {
    // dd reports how many short reads it made: one per piece when none of them melted together.
    let script = "dd bs=4096 of=/dev/null";
    let one_by_one = shell(script).feed(&Feed::whole(vec![b'x'; 300]).every(1)).expect("it starts");
    assert!(one_by_one.stderr_text().starts_with("0+300 records in"), "{}", one_by_one.stderr_text());
    let cut = shell(script).feed(&Feed::whole("abcdef").cut_at(&[2, 2, 5, 6, 99])).expect("it starts");
    assert!(cut.stderr_text().starts_with("0+3 records in"), "{}", cut.stderr_text());
    let whole = shell(script).feed(&Feed::whole("abcdef")).expect("it starts");
    assert!(whole.stderr_text().starts_with("0+1 records in"), "{}", whole.stderr_text());
}

#[test]
fn an_open_input_is_no_end_of_input() {
    let seen = shell("dd bs=1 count=4 2>/dev/null; exit 5")
        .feed(&Feed::whole("1234").stays_open())
        .expect("it starts");
    assert_eq!((seen.stdout.as_slice(), seen.end), (b"1234".as_slice(), End::Exited(5)));
}

#[test]
fn a_module_that_stops_reading_leaves_the_rest_unread() {
    let seen = shell("exit 0").feed(&Feed::whole(vec![0; 4 << 20])).expect("it starts");
    assert_eq!(seen.end, End::Exited(0));
    assert!(seen.unread > 3 << 20, "{} bytes unread", seen.unread);
}

#[test]
fn a_late_module_is_stopped_with_all_its_descendants() {
    let seen = shell("echo begun; sleep 1000 & sleep 1000")
        .feed_within(&Feed::whole(""), Duration::from_millis(300))
        .expect("it starts");
    assert_eq!((seen.stdout.as_slice(), seen.end), (b"begun\n".as_slice(), End::Late));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let missing = Subject::new(&["/nowhere/module"]).expect("a path is not looked up").feed(&Feed::whole(""));
    assert!(missing.expect_err("it cannot start").to_string().starts_with("/nowhere/module: "));
    assert!(Subject::new(&["no-such-program-of-modberth"]).is_err());
    assert!(Subject::new::<&str>(&[]).is_err());
}
