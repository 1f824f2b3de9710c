//! Programs that live longer than they should, or end in their own way. `tests/stop.rs` launches them; those that lay
//! siege to what stops modules are rows of the table as well.

use std::io::{Read, Write};
use std::time::Duration;

use crate::attempt::fork;

/// Longest life of anything this program starts, in seconds.
const LIFE: u64 = 120;

/// Runs one of them; `false` where there is none of this name.
pub(crate) fn run(name: &str) -> bool {
    match name {
        // Says what it sees of its surroundings.
        "look" => look(),
        // Ends only when its input does.
        "wait" => {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        }
        // Forks twice, begins a session, ignores every signal, closes its standard streams and lives on.
        "daemon" => {
            fork_then_exit();
            daemon();
        }
        // The same, but keeps standard output open.
        "hold-stdout" => {
            if fork() == 0 {
                detach();
                live();
            }
        }
        // Leaves a child that stopped itself.
        "stopped-child" => {
            if fork() == 0 {
                detach();
                // SAFETY: stops this process.
                unsafe { libc::raise(libc::SIGSTOP) };
                live();
            }
        }
        // Ignores every signal and hangs.
        "ignore" => {
            ignore_signals();
            live();
        }
        // Closes all three streams and lives on: end of output is not the end.
        "close-and-live" => {
            close_streams();
            live();
        }
        // 32 daemons of which each keeps starting others for a while.
        "storm" => storm(),
        // A short-lived child, ended by itself soon after its parent.
        "short-child" => {
            if fork() == 0 {
                close_streams();
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        "abort" => std::process::abort(),
        "kill-self" => {
            // SAFETY: ends this process.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
        "segfault" => {
            // SAFETY: it is meant to fail: nothing is mapped there.
            unsafe { std::ptr::null_mut::<u8>().wrapping_add(8).write_volatile(1) };
        }
        "kill-parent" => {
            // SAFETY: sends a signal.
            let answer = unsafe { libc::kill(libc::getppid(), libc::SIGKILL) };
            println!("{answer}");
            daemon();
        }
        // Stops the keeper and goes on.
        "stop-parent" => {
            // SAFETY: sends a signal.
            unsafe { libc::kill(libc::getppid(), libc::SIGSTOP) };
            daemon();
        }
        // Every signal that could be blocked; the number of the last one is told when the parent is still there.
        "signal-parent" => {
            // SAFETY: asks for a number.
            let parent = unsafe { libc::getppid() };
            for signal in (1..=64).filter(|signal| ![libc::SIGKILL, libc::SIGSTOP].contains(signal)) {
                // SAFETY: sends a signal; through the system call, because libc refuses its own two.
                unsafe { libc::syscall(libc::SYS_kill, parent, signal) };
            }
            println!("sent");
            live();
        }
        // A child holds it in a trace, so that it cannot be reaped while that child lives.
        "traced" => {
            // SAFETY: this program may be traced by its child, whatever the machine's policy.
            unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
            if fork() == 0 {
                detach();
                // SAFETY: neither touches this process's memory.
                let seized = unsafe {
                    libc::ptrace(libc::PTRACE_SEIZE, libc::getppid(), 0usize, 0usize) == 0
                        && libc::ptrace(libc::PTRACE_INTERRUPT, libc::getppid(), 0usize, 0usize) == 0
                };
                println!("{}", if seized { "traced" } else { "refused" });
            }
            live();
        }
        "burn" => {
            let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            while used.tv_sec == 0 && used.tv_nsec < 60_000_000 {
                // SAFETY: fills the structure.
                unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut used) };
            }
        }
        _ => return false,
    }
    true
}

fn look() {
    let mut out = std::io::stdout().lock();
    let mut input = String::new();
    let _ = std::io::stdin().read_to_string(&mut input);
    let _ = writeln!(out, "stdin={input}");
    let _ = writeln!(out, "cwd={}", std::env::current_dir().unwrap_or_default().display());
    let _ = writeln!(out, "args={:?}", std::env::args().collect::<Vec<_>>());
    for (name, value) in std::env::vars_os() {
        let _ = writeln!(out, "env {}={}", name.display(), value.display());
    }
    let mut open: Vec<i32> = std::fs::read_dir("/proc/self/fd")
        .map(|list| list.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
        .unwrap_or_default();
    // Reading the folder opened one itself: only those that still are open count.
    // SAFETY: asks about a number.
    open.retain(|fd| unsafe { libc::fcntl(*fd, libc::F_GETFD) } != -1);
    open.sort_unstable();
    let _ = writeln!(out, "fds={open:?}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("Sig") || line.starts_with("Umask")) {
        let _ = writeln!(out, "{}", line.replace('\t', ""));
    }
    // SAFETY: asks about this process.
    let (pid, session, group) = unsafe { (libc::getpid(), libc::getsid(0), libc::getpgrp()) };
    let _ = writeln!(out, "leader={}", pid == session && pid == group);
    let mut cores = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: fills the structure.
    unsafe { libc::getrlimit(libc::RLIMIT_CORE, &mut cores) };
    let _ = writeln!(out, "cores={}", cores.rlim_max);
    // SAFETY: asks about this process.
    let _ = writeln!(out, "no_new_privs={}", unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) });
}

fn fork_then_exit() {
    if fork() != 0 {
        std::process::exit(0);
    }
}

fn daemon() -> ! {
    detach();
    fork_then_exit();
    detach();
    close_streams();
    live()
}

pub(crate) fn detach() {
    // SAFETY: both calls only change this process.
    unsafe { libc::setsid() };
    ignore_signals();
    // SAFETY: as above. The death signal of the parent is not wanted.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, 0) };
}

pub(crate) fn ignore_signals() {
    for signal in 1..=64 {
        // SAFETY: sets a disposition.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

pub(crate) fn close_streams() {
    for stream in 0..3 {
        // SAFETY: nothing uses them afterwards.
        unsafe { libc::close(stream) };
    }
}

pub(crate) fn live() -> ! {
    std::thread::sleep(Duration::from_secs(LIFE));
    std::process::exit(0)
}

fn storm() -> ! {
    close_streams();
    for _ in 0..5 {
        // 2^5 processes.
        fork();
        detach();
    }
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_secs(LIFE) {
        // One child at a time each, dead soon: pids keep changing.
        match fork() {
            0 => {
                detach();
                std::thread::sleep(Duration::from_millis(2));
                std::process::exit(0);
            }
            -1 => std::thread::sleep(Duration::from_millis(1)),
            // SAFETY: waits for a child of this process.
            child => unsafe {
                libc::waitpid(child, std::ptr::null_mut(), 0);
            },
        }
    }
    std::process::exit(0)
}
