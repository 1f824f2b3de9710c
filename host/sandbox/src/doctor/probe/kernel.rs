//! What the kernel offers beside files and sockets: other users' memory, names, rights, and large interfaces.

use std::io;

use super::attempt::{Ways, answered};
use super::{Answer, Facts, Verdict, Wrong};
use crate::child::call;

/// Attaches to shared memory of the host by its key.
pub(super) fn shared_memory(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let key = facts.number("key", i32::MAX as u64)?;
    let mut ways = Ways::default();
    ways.by("shared memory of the host", answered(call(libc::SYS_shmget, [key as usize, 0, 0, 0, 0, 0])));
    Ok(ways.answer())
}

/// Sees the machine's host name.
pub(super) fn host_name(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let machine = facts.get("name")?;
    let system = rustix::system::uname();
    let seen = system.nodename().to_string_lossy();
    Ok(if machine.as_encoded_bytes() == system.nodename().to_bytes() {
        Answer::new(Verdict::GotThrough, format!("the machine is {seen}"))
    } else {
        Answer::new(Verdict::Stopped, format!("the host name is {seen}"))
    })
}

/// Takes back that it ends with the thread that made it.
pub(super) fn death_signal(_: &Facts<'_>) -> Result<Answer, Wrong> {
    let mut ways = Ways::default();
    let clear = [libc::PR_SET_PDEATHSIG as usize, 0, 0, 0, 0, 0];
    ways.by("PR_SET_PDEATHSIG", answered(call(libc::SYS_prctl, clear)));
    Ok(ways.answer())
}

/// Looks for capabilities, and for the user 0.
pub(super) fn capabilities(_: &Facts<'_>) -> Result<Answer, Wrong> {
    let user = rustix::process::geteuid();
    let sets = match rustix::thread::capabilities(None) {
        Ok(sets) => sets,
        Err(errno) => return Ok(Answer::new(Verdict::Unclear, format!("capget: {errno}"))),
    };
    Ok(if user.is_root() || !sets.effective.is_empty() || !sets.permitted.is_empty() {
        let effective = sets.effective.bits();
        Answer::new(Verdict::GotThrough, format!("user {}, capabilities {effective:#x}", user.as_raw()))
    } else {
        Answer::new(Verdict::Stopped, format!("user {}, no capability", user.as_raw()))
    })
}

/// Whether a set-user-id program would give it anything.
pub(super) fn privileges(_: &Facts<'_>) -> Result<Answer, Wrong> {
    Ok(match rustix::thread::no_new_privs() {
        Ok(true) => Answer::new(Verdict::Stopped, "no_new_privs is 1"),
        Ok(false) => Answer::new(Verdict::GotThrough, "no_new_privs is 0"),
        Err(errno) => Answer::new(Verdict::Unclear, format!("PR_GET_NO_NEW_PRIVS: {errno}")),
    })
}

/// Calls that no module needs. Any answer but a refusal means that the kernel has looked at the call; all of them are
/// made so that nothing comes of it, should the kernel do it.
pub(super) fn calls(_: &Facts<'_>) -> Result<Answer, Wrong> {
    const NOBODY: usize = i32::MAX as usize;
    let empty = c"".as_ptr() as usize;
    let mut room = [0u64; 32];
    let room = room.as_mut_ptr() as usize;
    // io_uring_params is 120 bytes, the part of bpf_attr that is told 16.
    const PTRACE_CONT: usize = libc::PTRACE_CONT as usize;
    const KEYCTL_GET_KEYRING_ID: usize = 0;
    const SESSION_KEYRING: usize = -3isize as usize;
    const BPF_MAP_GET_NEXT_ID: usize = 12;
    let tried = [
        ("ptrace", libc::SYS_ptrace, [PTRACE_CONT, NOBODY, 0, 0, 0, 0]),
        ("mount", libc::SYS_mount, [empty, empty, empty, 0, 0, 0]),
        ("unshare", libc::SYS_unshare, [0; 6]),
        ("setns", libc::SYS_setns, [usize::MAX, 0, 0, 0, 0, 0]),
        ("bpf", libc::SYS_bpf, [BPF_MAP_GET_NEXT_ID, room, 16, 0, 0, 0]),
        ("io_uring", libc::SYS_io_uring_setup, [0, room, 0, 0, 0, 0]),
        ("keyctl", libc::SYS_keyctl, [KEYCTL_GET_KEYRING_ID, SESSION_KEYRING, 0, 0, 0, 0]),
        ("userfaultfd", libc::SYS_userfaultfd, [usize::MAX, 0, 0, 0, 0, 0]),
        ("process_vm_readv", libc::SYS_process_vm_readv, [NOBODY, 0, 0, 0, 0, 0]),
        ("perf_event_open", libc::SYS_perf_event_open, [0, NOBODY, 0, 0, 0, 0]),
        ("memfd_create", libc::SYS_memfd_create, [empty, usize::MAX, 0, 0, 0, 0]),
    ];
    let mut ways = Ways::default();
    for (name, number, arguments) in tried {
        let came = answered(call(number, arguments));
        ways.by(name, looked_at(came));
    }
    Ok(ways.answer())
}

/// A call was stopped where it was refused before anybody looked at what it asks for.
fn looked_at(came: io::Result<usize>) -> io::Result<()> {
    match came {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => Err(error),
        _ => Ok(()),
    }
}
