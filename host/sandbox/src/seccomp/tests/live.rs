//! The filter loaded for real, in a child, and calls tried.

use std::io::Read;
use std::os::fd::AsRawFd;

use crate::raw::syscall;
use crate::seccomp::Filter;

/// One call: its number and arguments.
type Attempt = (libc::c_long, [usize; 6]);

/// Confines the calling process. Raw calls only, so that a child may use it.
pub(super) fn load(program: &libc::sock_fprog) -> Result<(), isize> {
    // SAFETY: no pointers.
    let answer = unsafe { syscall(libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0, 0]) };
    if answer != 0 {
        return Err(-answer);
    }
    let mode = libc::SECCOMP_SET_MODE_FILTER as usize;
    // SAFETY: the kernel reads the program, which the caller keeps alive.
    let answer = unsafe { syscall(libc::SYS_seccomp, [mode, 0, (&raw const *program) as usize, 0, 0, 0]) };
    if answer == 0 { Ok(()) } else { Err(-answer) }
}

/// Runs `child` in a forked process that the kernel ends after a minute, and tells how it ended: a wait status.
pub(crate) fn fork(child: impl FnOnce() -> u8) -> libc::c_int {
    // SAFETY: the child of this threaded process makes raw system calls only (so the callers promise) and ends
    // without running anybody's destructors.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        // SAFETY: no pointers. SIGALRM is the guard against a hang: its default is to end the process.
        let code = unsafe {
            libc::alarm(60);
            child()
        };
        // SAFETY: ends the process.
        unsafe { libc::_exit(code.into()) };
    }
    let mut status = 0;
    // SAFETY: the child of above, which nobody else waits for; the status is a local.
    let ended = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!(ended, pid);
    status
}

/// What each attempt answers under the filter.
fn answers(filter: &Filter, attempts: &[Attempt]) -> Vec<isize> {
    let program = filter.program();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut answers = vec![isize::MIN; attempts.len()];
    let status = fork(|| {
        if load(&program).is_err() {
            return 1;
        }
        for (answer, (number, arguments)) in answers.iter_mut().zip(attempts) {
            // SAFETY: the tests give pointers that live in the parent and thus in its copy here, or null.
            *answer = unsafe { syscall(*number, *arguments) };
        }
        let size = size_of_val(answers.as_slice());
        // SAFETY: writes the answers, less than a pipe holds.
        let written = unsafe {
            let pointer = answers.as_ptr() as usize;
            syscall(libc::SYS_write, [writer.as_raw_fd() as usize, pointer, size, 0, 0, 0])
        };
        if written == size as isize { 0 } else { 2 }
    });
    assert_eq!(status, 0, "the child loads, tries and reports");
    drop(writer);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    bytes.chunks_exact(8).map(|bytes| isize::from_ne_bytes(bytes.try_into().unwrap())).collect()
}

// P1-HOST-28
#[test]
fn loaded_it_allows_and_refuses() {
    const EPERM: isize = -(libc::EPERM as isize);
    const ENOSYS: isize = -(libc::ENOSYS as isize);
    let mut pair = [0_i32; 2];
    let pair = pair.as_mut_ptr() as usize;
    // SAFETY: asks for a number.
    let uid = unsafe { libc::getuid() } as isize;
    let refused: &[Attempt] = &[
        (libc::SYS_ptrace, [0; 6]),
        (libc::SYS_unshare, [libc::CLONE_NEWUSER as usize, 0, 0, 0, 0, 0]),
        (libc::SYS_clone, [libc::CLONE_NEWUSER as usize | 17, 0, 0, 0, 0, 0]),
        (libc::SYS_socket, [libc::AF_UNIX as usize, 1, 0, 0, 0, 0]),
        (libc::SYS_socket, [libc::AF_INET as usize, 1, 0, 0, 0, 0]),
        (libc::SYS_socket, [libc::AF_VSOCK as usize, 1, 0, 0, 0, 0]),
        (libc::SYS_socketpair, [libc::AF_UNIX as usize, 2, 0, pair, 0, 0]),
        (libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, 0, 0, 0, 0, 0]),
        (libc::SYS_prctl, [libc::PR_SET_DUMPABLE as usize, 1, 0, 0, 0, 0]),
        (libc::SYS_ioctl, [0, libc::TIOCSTI as usize, 0, 0, 0, 0]),
        (libc::SYS_flock, [0, libc::LOCK_EX as usize, 0, 0, 0, 0]),
        (libc::SYS_inotify_init1, [0; 6]),
        (libc::SYS_memfd_create, [c"x".as_ptr() as usize, 0, 0, 0, 0, 0]),
        (libc::SYS_io_uring_setup, [0; 6]),
        (
            libc::SYS_mmap,
            [
                0,
                2 << 20,
                libc::PROT_READ as usize,
                (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB) as usize,
                usize::MAX,
                0,
            ],
        ),
        (libc::SYS_seccomp, [0; 6]),
    ];
    let absent: &[Attempt] = &[
        (libc::SYS_clone3, [0; 6]),
        (libc::SYS_execveat, [0; 6]),
        // mseal, Linux 6.10; a number nobody has.
        (462, [0; 6]),
        (600, [0; 6]),
    ];
    // Allowed: what comes is the kernel's own answer, EBADF or a value.
    let allowed: &[(Attempt, isize)] = &[
        ((libc::SYS_getuid, [0; 6]), uid),
        ((libc::SYS_close, [4095, 0, 0, 0, 0, 0]), -(libc::EBADF as isize)),
        ((libc::SYS_ioctl, [4095, libc::FIONREAD as usize, 0, 0, 0, 0]), -(libc::EBADF as isize)),
        ((libc::SYS_fcntl, [4095, libc::F_GETFL as usize, 0, 0, 0, 0]), -(libc::EBADF as isize)),
        ((libc::SYS_socketpair, [libc::AF_UNIX as usize, 1, 0, pair, 0, 0]), 0),
        ((libc::SYS_prctl, [libc::PR_GET_NO_NEW_PRIVS as usize, 0, 0, 0, 0, 0]), 1),
        ((libc::SYS_prctl, [libc::PR_GET_SECCOMP as usize, 0, 0, 0, 0, 0]), 2),
    ];
    let filter = Filter::new(false, false);
    assert_eq!(answers(&filter, refused), vec![EPERM; refused.len()]);
    assert_eq!(answers(&filter, absent), vec![ENOSYS; absent.len()]);
    let (attempts, expected): (Vec<Attempt>, Vec<isize>) = allowed.iter().copied().unzip();
    assert_eq!(answers(&filter, &attempts), expected);
}

#[test]
fn loaded_it_opens_the_families_of_the_profile() {
    let socket =
        |family: libc::c_int| (libc::SYS_socket, [family as usize, libc::SOCK_STREAM as usize, 0, 0, 0, 0]);
    let attempts =
        [socket(libc::AF_UNIX), socket(libc::AF_INET), socket(libc::AF_VSOCK), socket(libc::AF_NETLINK)];
    for (unix, internet) in [(true, false), (false, true), (true, true)] {
        let opened: Vec<bool> =
            answers(&Filter::new(unix, internet), &attempts).iter().map(|answer| *answer >= 0).collect();
        assert_eq!(opened, [unix, internet, false, false]);
    }
}

/// getpid by the 32-bit convention and by x32's.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_other_conventions_of_x86_64_are_closed() {
    let filter = Filter::new(true, true);
    assert_eq!(answers(&filter, &[(libc::SYS_getpid | 0x4000_0000, [0; 6])]), [-(libc::ENOSYS as isize)]);
    let program = filter.program();
    let status = fork(|| {
        if load(&program).is_err() {
            return 1;
        }
        // SAFETY: getpid changes rax only; r8 to r11 are scratch in this entry of the kernel.
        unsafe {
            std::arch::asm!("int 0x80", inout("eax") 20 => _, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
        }
        2
    });
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSYS, "wait status {status:#x}");
}
