//! The three streams, used so that whoever is at the other end waits, fills up or breaks.

use std::io::Write;

use crate::attempt::{Verdict, leave};
use crate::lives::live;
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("stdout-flood", |_| flood(&mut std::io::stdout())),
    ("stderr-flood", |_| flood(&mut std::io::stderr())),
    ("stdout-bytes", stdout_bytes),
    ("stdin-unread", stdin_unread),
    ("stdin-closed", stdin_closed),
    ("early-exit", |_| leave(7)),
];

/// 64 MiB.
fn flood(stream: &mut dyn Write) -> Verdict {
    let chunk = [b'x'; 64 << 10];
    for _ in 0..1024 {
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    live()
}

/// A byte at a time, and no line ever.
fn stdout_bytes(_: &Ground) -> Verdict {
    let mut out = std::io::stdout();
    for _ in 0..1 << 20 {
        let _ = out.write_all(b"x").and_then(|()| out.flush());
    }
    live()
}

fn stdin_unread(_: &Ground) -> Verdict {
    println!("not reading");
    live()
}

fn stdin_closed(_: &Ground) -> Verdict {
    // SAFETY: nothing reads it.
    unsafe { libc::close(0) };
    println!("closed");
    live()
}
