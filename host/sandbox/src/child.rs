//! What the two kinds of processes that share the host's memory have in common: the keeper of the plain launcher and
//! the spare of the confined one. System calls only; see [`raw`].

use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use crate::raw;

/// A program that was just written can still be open for writing in a process that is being made at this moment
/// elsewhere in the host, until that one gives up what it inherited: this many tries, this many nanoseconds apart.
const BUSY_ROUNDS: u32 = 250;
const BUSY_PAUSE: libc::c_long = 2_000_000;

/// A program ready for execve.
pub(crate) struct Program {
    /// Its working directory.
    pub(crate) directory: CString,
    /// The command line; its first word is the program.
    pub(crate) arguments: Strings,
    /// The environment.
    pub(crate) environment: Strings,
}

impl Program {
    /// Runs the program in place of the calling process. Gives the error number when that fails.
    pub(crate) fn execute(&self) -> isize {
        let arguments = self.arguments.pointers.as_ptr();
        // SAFETY: the array holds at least the program's name: it is made from a command, which has one.
        let name = unsafe { *arguments };
        let environment = self.environment.pointers.as_ptr();
        let mut errno = 0;
        for _ in 0..BUSY_ROUNDS {
            errno =
                -call(libc::SYS_execve, [name as usize, arguments as usize, environment as usize, 0, 0, 0]);
            if errno != libc::ETXTBSY as isize {
                break;
            }
            let pause = libc::timespec { tv_sec: 0, tv_nsec: BUSY_PAUSE };
            call(libc::SYS_nanosleep, [&raw const pause as usize, 0, 0, 0, 0, 0]);
        }
        errno
    }
}

/// A NULL-terminated array of C strings and what it points to.
pub(crate) struct Strings {
    pointers: Vec<*const c_char>,
    owned: Vec<CString>,
}

// SAFETY: the pointers lead to the strings owned beside them, which never change.
unsafe impl Send for Strings {}
// SAFETY: as above.
unsafe impl Sync for Strings {}

impl Strings {
    pub(crate) fn new(owned: Vec<CString>) -> Self {
        let pointers =
            owned.iter().map(|text| text.as_ptr()).chain(std::iter::once(std::ptr::null())).collect();
        Self { pointers, owned }
    }

    /// The first string; empty when there is none.
    pub(crate) fn first(&self) -> OsString {
        self.owned.first().map(|text| OsStr::from_bytes(text.as_bytes()).to_owned()).unwrap_or_default()
    }
}

/// One system call; a negated error number when it fails.
pub(crate) fn call(number: libc::c_long, arguments: [usize; 6]) -> isize {
    // SAFETY: every caller in this crate passes pointers to live memory of the right size, and descriptors and
    // children of its own process only.
    unsafe { raw::syscall(number, arguments) }
}

/// Opens a file, closed on exec.
pub(crate) fn open(path: &CStr, flags: libc::c_int) -> isize {
    let flags = (flags | libc::O_CLOEXEC) as usize;
    call(libc::SYS_openat, [libc::AT_FDCWD as usize, path.as_ptr() as usize, flags, 0, 0, 0])
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    call(libc::SYS_clock_gettime, [libc::CLOCK_MONOTONIC as usize, &raw mut time as usize, 0, 0, 0, 0]);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// A span for ppoll.
pub(crate) fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    }
}

/// Sets every signal to its default. The host's handlers are of no use in another process, and what the host ignores
/// a module must not (SIGPIPE above all). All signals are blocked meanwhile. KILL and STOP answer with an error, which
/// is fine.
pub(crate) fn default_signals() {
    let default = [0usize; 4];
    for signal in 1..=64 {
        call(libc::SYS_rt_sigaction, [signal, default.as_ptr() as usize, 0, 8, 0, 0]);
    }
}

/// Stores a value where another process of the same memory waits, and wakes it.
pub(crate) fn announce(place: &AtomicU32, value: u32) {
    place.store(value, SeqCst);
    wake(place);
}

/// Wakes who waits at a place.
pub(crate) fn wake(place: &AtomicU32) {
    let wake = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
    call(libc::SYS_futex, [place.as_ptr() as usize, wake, i32::MAX as usize, 0, 0, 0]);
}

/// Ends the calling process.
pub(crate) fn exit(status: usize) -> ! {
    loop {
        call(libc::SYS_exit_group, [status, 0, 0, 0, 0, 0]);
    }
}
