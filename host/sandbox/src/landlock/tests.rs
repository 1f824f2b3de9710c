//! Landlock in force, in a child. Every verdict is the kernel's answer to a raw call.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Access, Network, Rule, abi, restrict};
use crate::raw::syscall;
use crate::seccomp::fork;

const EACCES: isize = libc::EACCES as isize;

fn rule(path: &Path, access: Access) -> Rule {
    Rule { path: CString::new(path.as_os_str().as_bytes()).unwrap(), access }
}

/// This machine's version. The tests need one.
fn newest() -> u32 {
    abi().expect("this kernel has Landlock")
}

fn no_new_privs() -> isize {
    // SAFETY: no pointers.
    unsafe { syscall(libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0, 0]) }
}

/// Opens a path: 0 or an error number. The descriptor goes with the process.
fn open(path: &CStr, flags: libc::c_int) -> isize {
    let arguments = [libc::AT_FDCWD as usize, path.as_ptr() as usize, flags as usize, 0o600, 0, 0];
    // SAFETY: the path ends with a zero byte.
    (-unsafe { syscall(libc::SYS_openat, arguments) }).max(0)
}

/// A call with up to two paths: 0 or an error number.
fn on_paths(number: libc::c_long, arguments: [usize; 6]) -> isize {
    // SAFETY: the callers give paths that end with a zero byte.
    (-unsafe { syscall(number, arguments) }).max(0)
}

fn execute(path: &CStr) -> isize {
    // A program of many names looks at the one it is called by.
    let words = [path.as_ptr(), std::ptr::null()];
    let arguments = [path.as_ptr() as usize, words.as_ptr() as usize, 0, 0, 0, 0];
    // SAFETY: path and word end with a zero byte, the words with a null pointer; no environment.
    (-unsafe { syscall(libc::SYS_execve, arguments) }).max(0)
}

/// What stands where in the tests.
struct World {
    _folder: tempfile::TempDir,
    rules: Vec<Rule>,
    package: CString,
    package_file: CString,
    scratch_file: CString,
    scratch_new: CString,
    scratch_other: CString,
    scratch_pipe: CString,
    scratch_node: CString,
    scratch_program: CString,
    outside: CString,
    outside_new: CString,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["package", "scratch", "scratch/a", "outside"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in ["package/file", "scratch/file", "outside/file"] {
            fs::write(folder.path().join(name), "text").unwrap();
        }
        fs::copy("/usr/bin/true", folder.path().join("scratch/program")).unwrap();
        fs::set_permissions(folder.path().join("scratch/program"), fs::Permissions::from_mode(0o755))
            .unwrap();
        let path = |name: &str| CString::new(folder.path().join(name).as_os_str().as_bytes()).unwrap();
        let mut rules = vec![
            rule(&folder.path().join("package"), Access::Read),
            rule(&folder.path().join("scratch"), Access::ReadWrite),
            rule(Path::new("/dev/null"), Access::Device),
        ];
        // What the program's loader opens.
        for system in ["/usr", "/lib", "/lib64", "/etc/ld.so.cache"].map(Path::new) {
            if system.exists() {
                rules.push(rule(system, Access::Read));
            }
        }
        Self {
            rules,
            package: path("package"),
            package_file: path("package/file"),
            scratch_file: path("scratch/file"),
            scratch_new: path("scratch/new"),
            scratch_other: path("scratch/a/other"),
            scratch_pipe: path("scratch/pipe"),
            scratch_node: path("scratch/node"),
            scratch_program: path("scratch/program"),
            outside: path("outside/file"),
            outside_new: path("outside/new"),
            _folder: folder,
        }
    }

    /// How a child ends that confines itself as `version` knows and then does what `child` says: its exit status, or
    /// 250 and 251 where it cannot be confined.
    fn confined(&self, version: u32, child: impl FnOnce(&Self) -> isize) -> i32 {
        let status = fork(|| {
            if no_new_privs() != 0 {
                return 250;
            }
            if restrict(version, &self.rules, Network::Refused).is_err() {
                return 251;
            }
            child(self) as u8
        });
        assert!(libc::WIFEXITED(status), "wait status {status:#x}");
        libc::WEXITSTATUS(status)
    }
}

const AT: usize = libc::AT_FDCWD as usize;

// P1-HOST-28
#[test]
fn what_no_rule_names_is_refused() {
    let world = World::new();
    for version in 1..=newest() {
        let check = |child: fn(&World) -> isize| world.confined(version, child);
        let refused = EACCES as i32;
        assert_eq!(
            check(|w| open(&w.outside, libc::O_RDONLY)),
            refused,
            "reading outside, version {version}"
        );
        assert_eq!(check(|w| open(&w.outside, libc::O_WRONLY)), refused, "writing outside");
        assert_eq!(
            check(|w| open(&w.outside_new, libc::O_CREAT | libc::O_WRONLY)),
            refused,
            "making outside"
        );
        assert_eq!(check(|_| open(c"/", libc::O_DIRECTORY)), refused, "listing outside");
        assert_eq!(check(|_| open(c"/proc/self/status", libc::O_RDONLY)), refused, "/proc");
        assert_eq!(
            check(|w| on_paths(libc::SYS_unlinkat, [AT, w.outside.as_ptr() as usize, 0, 0, 0, 0])),
            refused
        );
        assert_eq!(
            check(|w| {
                let (from, to) = (w.scratch_file.as_ptr() as usize, w.outside_new.as_ptr() as usize);
                on_paths(libc::SYS_renameat2, [AT, from, AT, to, 0, 0])
            }),
            refused,
            "moving out of the scratch space"
        );
    }
    assert_eq!(
        fs::read_to_string(Path::new(std::ffi::OsStr::from_bytes(world.outside.as_bytes()))).unwrap(),
        "text"
    );
}

#[test]
fn the_package_is_read_and_run_and_not_written() {
    let world = World::new();
    for version in 1..=newest() {
        let check = |child: fn(&World) -> isize| world.confined(version, child);
        assert_eq!(check(|w| open(&w.package_file, libc::O_RDONLY)), 0, "version {version}");
        assert_eq!(check(|w| open(&w.package, libc::O_DIRECTORY)), 0);
        assert_eq!(check(|w| open(&w.package_file, libc::O_WRONLY)), EACCES as i32);
        // The program takes the place of the child and ends with 0; a refusal would be the child's own status. It is
        // not one of this test's making: children of other tests could still hold that open for writing.
        assert_eq!(check(|_| execute(c"/usr/bin/true")), 0);
    }
}

#[test]
fn the_scratch_space_is_written_and_not_run() {
    let world = World::new();
    for version in 1..=newest() {
        let check = |child: fn(&World) -> isize| world.confined(version, child);
        assert_eq!(check(|w| open(&w.scratch_file, libc::O_RDWR)), 0, "version {version}");
        assert_eq!(check(|w| open(&w.scratch_file, libc::O_WRONLY | libc::O_TRUNC)), 0);
        assert_eq!(check(|w| open(&w.scratch_new, libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY)), 0);
        // Version 1 cannot permit moving to another folder.
        let moving = if version == 1 { libc::EXDEV } else { 0 };
        let moved = check(|w| {
            let (from, to) = (w.scratch_new.as_ptr() as usize, w.scratch_other.as_ptr() as usize);
            on_paths(libc::SYS_renameat2, [AT, from, AT, to, 0, 0])
        });
        assert_eq!(moved, moving);
        let rest = if version == 1 {
            |w: &World| w.scratch_new.as_ptr()
        } else {
            |w: &World| w.scratch_other.as_ptr()
        };
        let removed =
            world.confined(version, |w| on_paths(libc::SYS_unlinkat, [AT, rest(w) as usize, 0, 0, 0, 0]));
        assert_eq!(removed, 0);
        let node = |path: fn(&World) -> &CStr, kind: u32| {
            world.confined(version, |w| {
                let device = libc::makedev(1, 3) as usize;
                on_paths(
                    libc::SYS_mknodat,
                    [AT, path(w).as_ptr() as usize, kind as usize | 0o600, device, 0, 0],
                )
            })
        };
        assert_eq!(node(|w| &w.scratch_node, libc::S_IFCHR), EACCES as i32, "device nodes");
        assert_eq!(node(|w| &w.scratch_node, libc::S_IFBLK), EACCES as i32, "device nodes");
        assert_eq!(node(|w| &w.scratch_pipe, libc::S_IFIFO), 0, "named pipes");
        assert_eq!(
            check(|w| on_paths(libc::SYS_unlinkat, [AT, w.scratch_pipe.as_ptr() as usize, 0, 0, 0, 0])),
            0
        );
        assert_eq!(check(|w| execute(&w.scratch_program)), EACCES as i32);
    }
}

#[test]
fn a_device_is_read_and_written() {
    let world = World::new();
    for version in 1..=newest() {
        let check = |child: fn(&World) -> isize| world.confined(version, child);
        assert_eq!(check(|_| open(c"/dev/null", libc::O_RDWR)), 0, "version {version}");
        assert_eq!(check(|_| open(c"/dev/null", libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC)), 0);
        assert_eq!(check(|_| open(c"/dev/zero", libc::O_RDONLY)), EACCES as i32);
    }
}

/// Connects to a port where nobody listens, as far as anybody knows: 0 or an error number.
fn connect() -> isize {
    let arguments = [libc::AF_INET as usize, libc::SOCK_STREAM as usize, 0, 0, 0, 0];
    // SAFETY: no pointers.
    let socket = unsafe { syscall(libc::SYS_socket, arguments) };
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: 1_u16.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_be(0x7F00_0001) },
        sin_zero: [0; 8],
    };
    let arguments = [socket as usize, (&raw const address) as usize, size_of_val(&address), 0, 0, 0];
    // SAFETY: the kernel reads the address.
    (-unsafe { syscall(libc::SYS_connect, arguments) }).max(0)
}

#[test]
fn tcp_is_refused_where_the_version_knows_it() {
    for version in 1..=newest() {
        let status = |network| {
            fork(move || match (no_new_privs(), restrict(version, &[], network)) {
                (0, Ok(())) => connect() as u8,
                _ => 251,
            })
        };
        let refused = libc::WEXITSTATUS(status(Network::Refused)) == libc::EACCES;
        assert_eq!(refused, version >= 4, "version {version}");
        assert_ne!(libc::WEXITSTATUS(status(Network::Permitted)), libc::EACCES, "version {version}");
    }
}

#[test]
fn signals_stay_inside_where_the_version_knows_it() {
    for version in 1..=newest() {
        // Signal 0 only asks. The parent is this test.
        let status = fork(|| match (no_new_privs(), restrict(version, &[], Network::Refused)) {
            // SAFETY: no pointers.
            (0, Ok(())) => unsafe {
                let parent = syscall(libc::SYS_getppid, [0; 6]);
                (-syscall(libc::SYS_kill, [parent as usize, 0, 0, 0, 0, 0])) as u8
            },
            _ => 251,
        });
        let expected = if version >= 6 { libc::EPERM } else { 0 };
        assert_eq!(libc::WEXITSTATUS(status), expected, "version {version}");
    }
}

#[test]
fn an_error_names_its_number_and_leaves_nothing_open() {
    let missing = rule(Path::new("/no/such/place"), Access::Read);
    let no_folder = rule(Path::new("/dev/null/below"), Access::Read);
    let status = fork(|| {
        // SAFETY: duplicates a descriptor and closes the duplicate.
        let lowest = || unsafe {
            let lowest = syscall(libc::SYS_fcntl, [2, libc::F_DUPFD as usize, 0, 0, 0, 0]);
            syscall(libc::SYS_close, [lowest as usize, 0, 0, 0, 0, 0]);
            lowest
        };
        let before = lowest();
        if restrict(1, std::slice::from_ref(&missing), Network::Refused) != Err(libc::ENOENT as isize) {
            return 1;
        }
        if restrict(1, std::slice::from_ref(&no_folder), Network::Refused) != Err(libc::ENOTDIR as isize) {
            return 2;
        }
        if before < 0 || lowest() != before { 3 } else { 0 }
    });
    assert_eq!(status, 0);
}

#[test]
fn without_no_new_privs_and_capabilities_nothing_is_confined() {
    let status = fork(|| {
        // _LINUX_CAPABILITY_VERSION_3 for this process; no capabilities at all.
        let (header, none) = ([0x2008_0522_u32, 0], [0_u32; 6]);
        let arguments = [header.as_ptr() as usize, none.as_ptr() as usize, 0, 0, 0, 0];
        // SAFETY: the kernel reads both.
        if unsafe { syscall(libc::SYS_capset, arguments) } != 0 {
            return 2;
        }
        u8::from(restrict(1, &[], Network::Refused) != Err(libc::EPERM as isize))
    });
    assert_eq!(status, 0);
}

#[test]
fn versions_to_come_are_used_as_the_newest_known() {
    for version in [10, 11, 4096, u32::MAX] {
        let (attributes, size) = super::Attributes::new(version, Network::Refused);
        assert_eq!(
            (attributes.files, attributes.network, attributes.scopes, size),
            (0x1_FFFF, 0b1111, 0b11, 24)
        );
    }
    let known = [(1, 0x1FFF, 0, 0, 8), (2, 0x3FFF, 0, 0, 8), (3, 0x7FFF, 0, 0, 8), (4, 0x7FFF, 3, 0, 16)];
    let later =
        [(5, 0xFFFF, 3, 0, 16), (6, 0xFFFF, 3, 3, 24), (8, 0xFFFF, 3, 3, 24), (9, 0x1_FFFF, 3, 3, 24)];
    for (version, files, network, scopes, bytes) in known.into_iter().chain(later) {
        let (attributes, size) = super::Attributes::new(version, Network::Refused);
        let found = (attributes.files, attributes.network, attributes.scopes, size);
        assert_eq!(found, (files, network, scopes, bytes), "version {version}");
        assert_eq!(super::Attributes::new(version, Network::Permitted).0.network, 0);
    }
}
