//! Landlock: a second lock on files, beside mounts, that the kernel keeps for a process and all it starts
//! (P1-HOST-28).
//!
//! What no rule names is refused with EACCES. Where the kernel has it, so are TCP and UDP, and abstract sockets and
//! signals of anybody outside. What each version of the kernel's interface knows:
//!
//! | version | Linux | adds |
//! |---|---|---|
//! | 1 | 5.13 | opening, running, making and removing files |
//! | 2 | 5.19 | moving a file to another folder (before: always refused) |
//! | 3 | 6.2 | truncating (before: always permitted) |
//! | 4 | 6.7 | TCP: binding and connecting |
//! | 5 | 6.10 | `ioctl` on device nodes |
//! | 6 | 6.12 | abstract sockets and signals |
//! | 9 | 7.1 | connecting to sockets by their path |
//! | 10 | 7.2 | UDP: binding, connecting and sending |
//!
//! Versions 7 and 8 concern logs and threads. A later version is used as version 10.
//!
//! Landlock does not judge `stat`, `chmod`, `mmap` of an open file as code, or what was opened before: mounts do
//! (`noexec` for the scratch space), and the launcher hands over three pipes.

use std::ffi::CString;

use crate::raw::syscall;

/// What the module may do below a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read and run files, list folders.
    Read,
    /// Everything but running files and making device nodes. Also connecting to sockets that lie there.
    ReadWrite,
    /// Read and write a device node, and no `ioctl` of its driver.
    Device,
}

/// What the module may do at a path, and below it where it is a folder.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// The path as the child sees it at the time of [`restrict`]. Symbolic links are followed.
    pub(crate) path: CString,
    /// What the module may do there.
    pub(crate) access: Access,
}

/// Whether the module may use the machine's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Neither TCP nor UDP.
    Refused,
    /// Both.
    Permitted,
}

// Access rights of files and folders, in the order in which the kernel got them.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const MAKE_SYM: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
const RESOLVE_UNIX: u64 = 1 << 16;

/// What a rule on something that is no folder may hold.
const FILE: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX;

const VERSION_1: u64 = EXECUTE
    | WRITE_FILE
    | READ_FILE
    | READ_DIR
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_CHAR
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_BLOCK
    | MAKE_SYM;

/// LANDLOCK_ACCESS_NET_BIND_TCP, LANDLOCK_ACCESS_NET_CONNECT_TCP.
const TCP: u64 = 0b11;
/// LANDLOCK_ACCESS_NET_BIND_UDP, LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP.
const UDP: u64 = 0b1100;
/// LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL.
const SCOPES: u64 = 0b11;

const CREATE_RULESET_VERSION: usize = 1;
const RULE_PATH_BENEATH: usize = 1;

/// What `landlock_create_ruleset` takes; older kernels know only the beginning of it.
#[repr(C)]
struct Attributes {
    files: u64,
    network: u64,
    scopes: u64,
}

/// What `landlock_add_rule` takes for a path.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// The version of the kernel's interface, from 1; `None` where the kernel has no Landlock or did not switch it on.
pub(crate) fn abi() -> Option<u32> {
    // SAFETY: asks for a number; no pointer is given.
    let answer =
        unsafe { syscall(libc::SYS_landlock_create_ruleset, [0, 0, CREATE_RULESET_VERSION, 0, 0, 0]) };
    u32::try_from(answer).ok().filter(|version| *version >= 1)
}

/// The rights on files that a version knows.
const fn known(abi: u32) -> u64 {
    let mut rights = VERSION_1;
    if abi >= 2 {
        rights |= REFER;
    }
    if abi >= 3 {
        rights |= TRUNCATE;
    }
    if abi >= 5 {
        rights |= IOCTL_DEV;
    }
    if abi >= 9 {
        rights |= RESOLVE_UNIX;
    }
    rights
}

impl Access {
    /// The rights as of the newest version.
    const fn rights(self) -> u64 {
        match self {
            Self::Read => EXECUTE | READ_FILE | READ_DIR,
            Self::ReadWrite => known(u32::MAX) & !(EXECUTE | MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV),
            // Opening with O_TRUNC, as a shell does for `> /dev/null`.
            Self::Device => READ_FILE | WRITE_FILE | TRUNCATE,
        }
    }
}

impl Attributes {
    /// What is refused unless a rule permits it, and how many bytes of this the kernel knows.
    const fn new(abi: u32, network: Network) -> (Self, usize) {
        let network = match (network, abi) {
            (Network::Permitted, _) | (_, ..=3) => 0,
            (Network::Refused, ..=9) => TCP,
            (Network::Refused, 10..) => TCP | UDP,
        };
        let scopes = if abi >= 6 { SCOPES } else { 0 };
        let size = match abi {
            ..=3 => 8,
            4 | 5 => 16,
            6.. => 24,
        };
        (Self { files: known(abi), network, scopes }, size)
    }
}

/// Confines the calling thread and all it starts: what no rule names is refused. It cannot be taken back.
///
/// `abi` is what [`abi`] answered, or less. The caller has set `no_new_privs`. In a process that shares its parent's
/// memory this makes system calls only and touches no memory but its stack and `rules`.
///
/// # Errors
/// The kernel's error number, positive: ENOENT and the like where a path of a rule cannot be opened, EPERM without
/// `no_new_privs`, E2BIG inside 16 layers of Landlock. The process is then not confined, and must not go on.
pub(crate) fn restrict(abi: u32, rules: &[Rule], network: Network) -> Result<(), isize> {
    let (attributes, size) = Attributes::new(abi, network);
    // SAFETY: the kernel reads `size` bytes, at most as many as the structure has.
    let ruleset = checked(unsafe {
        let pointer = (&raw const attributes) as usize;
        syscall(libc::SYS_landlock_create_ruleset, [pointer, size, 0, 0, 0, 0])
    })?;
    let result = rules.iter().try_for_each(|rule| add(ruleset, abi, rule)).and_then(|()| {
        // SAFETY: the descriptor is the ruleset made above; no pointer is given.
        checked(unsafe { syscall(libc::SYS_landlock_restrict_self, [ruleset, 0, 0, 0, 0, 0]) }).map(drop)
    });
    close(ruleset);
    result
}

/// Adds one rule.
fn add(ruleset: usize, abi: u32, rule: &Rule) -> Result<(), isize> {
    let mut allowed = rule.access.rights() & known(abi);
    let parent = match open(rule, libc::O_DIRECTORY) {
        Err(error) if error == libc::ENOTDIR as isize => {
            allowed &= FILE;
            open(rule, 0)?
        }
        answer => answer?,
    };
    let beneath = PathBeneath { allowed, parent: parent as i32 };
    // SAFETY: the kernel reads the structure; both descriptors are open.
    let answer = checked(unsafe {
        let pointer = (&raw const beneath) as usize;
        syscall(libc::SYS_landlock_add_rule, [ruleset, RULE_PATH_BENEATH, pointer, 0, 0, 0])
    });
    close(parent);
    answer.map(drop)
}

/// Opens the path of a rule as a place only: nothing is read, no driver notices.
fn open(rule: &Rule, flags: libc::c_int) -> Result<usize, isize> {
    let flags = (libc::O_PATH | libc::O_CLOEXEC | flags) as usize;
    // SAFETY: the path ends with a zero byte and lives as long as the rule.
    checked(unsafe {
        syscall(libc::SYS_openat, [libc::AT_FDCWD as usize, rule.path.as_ptr() as usize, flags, 0, 0, 0])
    })
}

/// Closes a descriptor that this file opened.
fn close(descriptor: usize) {
    // SAFETY: the descriptor was opened here and nobody else knows of it.
    let _ = unsafe { syscall(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0]) };
}

/// A kernel's answer: what it gave, or its error number.
fn checked(answer: isize) -> Result<usize, isize> {
    usize::try_from(answer).map_err(|_| -answer)
}

#[cfg(test)]
mod tests;
