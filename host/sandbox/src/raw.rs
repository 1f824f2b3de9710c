//! System calls for code that shares the host's memory: no allocation, no `errno`, no libc.
//!
//! libc keeps `errno` in the memory of the calling thread. The keeper runs beside the thread that made it and with
//! the same thread pointer, so a libc call in it would write over the `errno` of a running host thread. These
//! functions return the kernel's answer as it is: a value, or a negated error number.

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("modberth-sandbox knows x86_64 and aarch64");

/// One system call with six arguments. Returns what the kernel returns: -4095..=-1 is a negated error number.
///
/// # Safety
/// The caller vouches for the call: pointers valid for what the kernel does with them, descriptors its own.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn syscall(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let answer: isize;
    // SAFETY: the x86_64 Linux convention; the kernel changes rax, rcx, r11 and memory only. The rest is the
    // caller's promise.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

/// One system call with six arguments. Returns what the kernel returns: -4095..=-1 is a negated error number.
///
/// # Safety
/// The caller vouches for the call: pointers valid for what the kernel does with them, descriptors its own.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn syscall(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let answer: isize;
    // SAFETY: the aarch64 Linux convention; the kernel changes x0 and memory only. The rest is the caller's promise.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") arguments[0] as isize => answer,
            in("x1") arguments[1],
            in("x2") arguments[2],
            in("x3") arguments[3],
            in("x4") arguments[4],
            in("x5") arguments[5],
            options(nostack),
        );
    }
    answer
}

/// What a new process runs: never returns.
pub(crate) type Entry = extern "C" fn(*mut core::ffi::c_void) -> !;

/// `clone3`: the new process runs `entry(argument)` on the stack that `arguments` names, the caller gets its pid or
/// a negated error number.
///
/// # Safety
/// `arguments` names a stack of its own, 16-byte aligned at its top and alive as long as the new process uses it.
/// With CLONE_VM, `entry` keeps to system calls and to memory that nobody else uses at the time.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn clone3(
    arguments: &libc::clone_args,
    entry: Entry,
    argument: *mut core::ffi::c_void,
) -> isize {
    let answer: isize;
    // SAFETY: in the parent this is an ordinary system call. In the child the stack pointer is the new stack's top
    // (aligned, so the call leaves it as the ABI asks), and control never comes back from `entry`.
    unsafe {
        core::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 as isize => answer,
            in("rdi") arguments as *const libc::clone_args,
            in("rsi") size_of::<libc::clone_args>(),
            in("r12") argument,
            in("r13") entry,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    answer
}

/// `clone3`: the new process runs `entry(argument)` on the stack that `arguments` names, the caller gets its pid or
/// a negated error number.
///
/// # Safety
/// `arguments` names a stack of its own, 16-byte aligned at its top and alive as long as the new process uses it.
/// With CLONE_VM, `entry` keeps to system calls and to memory that nobody else uses at the time.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn clone3(
    arguments: &libc::clone_args,
    entry: Entry,
    argument: *mut core::ffi::c_void,
) -> isize {
    let answer: isize;
    // SAFETY: in the parent this is an ordinary system call. In the child the stack pointer is the new stack's top
    // (aligned), and control never comes back from `entry`.
    unsafe {
        core::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x20",
            "blr x21",
            "brk #1",
            "2:",
            in("x8") libc::SYS_clone3,
            inlateout("x0") arguments as *const libc::clone_args as isize => answer,
            in("x1") size_of::<libc::clone_args>(),
            in("x20") argument,
            in("x21") entry,
        );
    }
    answer
}
