//! Files that are not the module's, and files without end.

use std::fs;
use std::io::Write;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::attempt::{
    Answer, Refusal, Verdict, Ways, at, call, counted, end, fork, in_child, into, leave, only, runs, text,
};
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("host-files", host_files),
    ("host-file-written", host_file_written),
    ("proc-sys-etc", proc_sys_etc),
    ("dot-dot", dot_dot),
    ("package-symlink", package_symlink),
    ("root-list", root_list),
    ("write-package", write_package),
    ("write-system", write_system),
    ("scratch-fill", scratch_fill),
    ("scratch-fill-unlinked", scratch_fill_unlinked),
    ("scratch-inodes", scratch_inodes),
    ("scratch-depth", scratch_depth),
    ("scratch-links", scratch_links),
    ("scratch-exec", scratch_exec),
    ("data-exec", data_exec),
    ("sparse-file", sparse_file),
    ("fallocate", fallocate),
    ("mknod", mknod),
    ("hard-link", hard_link),
    ("setuid-program", setuid_program),
    ("setuid-own", setuid_own),
    ("setuid-file", setuid_file),
    ("file-handle", file_handle),
    ("file-handle-open", file_handle_open),
    ("flock-usr", flock_usr),
    ("record-lock-usr", record_lock_usr),
    ("channel-record-lock", channel_record_lock),
    ("channel-futex", channel_futex),
    ("dnotify", dnotify),
    ("inotify", inotify),
    ("fanotify", fanotify),
    ("device-ioctl", device_ioctl),
    ("page-cache", page_cache),
    ("xattr", xattr),
    ("syncfs", syncfs),
];

fn read(path: impl AsRef<Path>) -> Result<(), Refusal> {
    Ok(fs::metadata(&path).and_then(|_| fs::File::open(&path)).map(drop)?)
}

/// A file of the host, by its whole path.
fn host_files(ground: &Ground) -> Verdict {
    let file = ground.fact("file");
    Ways::default()
        .by("read", || read(file))
        .by("O_PATH", || {
            call(libc::SYS_openat, [cwd(), at(text(file).as_bytes_with_nul()), libc::O_PATH as usize])
        })
        .by("stat", || Ok(fs::symlink_metadata(file)?))
        .by("readlink", || match fs::read_link(file) {
            // It is there, and no link.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(PathBuf::new()),
            answer => Ok(answer?),
        })
        .by("chdir", || Ok(std::env::set_current_dir(Path::new(file).parent().unwrap_or(Path::new("/")))?))
        .verdict()
}

/// A file of the host that everybody may write to.
fn host_file_written(ground: &Ground) -> Verdict {
    let file = ground.fact("file");
    Ways::default()
        .by("truncate", || call(libc::SYS_truncate, [at(text(file).as_bytes_with_nul()), 1]))
        .by("write", || Ok(fs::OpenOptions::new().append(true).open(file)?.write_all(b"written")?))
        .verdict()
}

const CWD: libc::c_int = libc::AT_FDCWD;

fn cwd() -> usize {
    CWD as usize
}

/// What a machine shows about itself and others.
fn proc_sys_etc(_: &Ground) -> Verdict {
    let places = [
        "/proc",
        "/proc/self/mem",
        "/proc/self/root",
        "/proc/self/exe",
        "/proc/1/environ",
        "/proc/sys/kernel",
        "/proc/kcore",
        "/proc/sysrq-trigger",
        "/proc/thread-self",
        "/sys",
        "/sys/kernel",
        "/sys/fs/cgroup",
        "/etc",
        "/etc/passwd",
        "/etc/shadow",
        "/etc/hostname",
        "/etc/resolv.conf",
        "/etc/ld.so.preload",
        "/root",
        "/home",
        "/var",
        "/var/lib/dpkg",
        "/var/run/docker.sock",
        "/run",
        "/boot",
        "/srv",
        "/mnt",
        "/opt",
        "/dev/fd",
        "/dev/stdin",
        "/dev/stdout",
        "/dev/shm",
        "/dev/mqueue",
        "/dev/pts",
        "/dev/ptmx",
        "/dev/tty",
        "/dev/console",
        "/dev/mem",
        "/dev/kmem",
        "/dev/port",
        "/dev/kmsg",
        "/dev/random",
        "/dev/full",
        "/dev/fuse",
        "/dev/kvm",
        "/dev/loop0",
        "/dev/loop-control",
        "/dev/sda",
        "/dev/vda",
        "/dev/net/tun",
        "/dev/vsock",
        "/dev/userfaultfd",
        "/dev/uinput",
        "/dev/snapshot",
        "/dev/hugepages",
        "/old/etc",
        "/.old",
        "/put_old",
    ];
    Ways::default().each(places, |place| read(place)).verdict()
}

/// Up and out of the folder, the root, and what an open folder leads to.
fn dot_dot(_: &Ground) -> Verdict {
    let up = "../".repeat(64);
    let from = |folder: &str, flags: libc::c_int| -> Answer {
        let folder = call(libc::SYS_openat, [cwd(), at(text(folder).as_bytes_with_nul()), flags as usize])?;
        let path = text(format!("{}etc/passwd", "../".repeat(64)));
        call(libc::SYS_openat, [folder, at(path.as_bytes_with_nul()), 0])
    };
    Ways::default()
        .by("working directory", || read(format!("{up}etc/passwd")))
        .by("/usr", || from("/usr", libc::O_RDONLY))
        .by("/tmp by O_PATH", || from("/tmp", libc::O_PATH))
        .by("/dev by O_PATH", || from("/dev", libc::O_PATH))
        .by("chdir", || {
            in_child(|| {
                for _ in 0..64 {
                    std::env::set_current_dir("..")?;
                }
                read("etc/passwd").map(|()| 0)
            })
        })
        .verdict()
}

/// Links of the package that lead out of it.
fn package_symlink(ground: &Ground) -> Verdict {
    Ways::default()
        .by("absolute", || read("passwd"))
        .by("up", || read("up"))
        .by("through the root", || read("root/etc/passwd"))
        .by("of its own", || {
            let link = ground.scratch().join("escape");
            symlink("/etc/passwd", &link)?;
            read(&link)
        })
        .verdict()
}

/// Everything at the top; and whether any of it can be taken away.
fn root_list(_: &Ground) -> Verdict {
    let mut names: Vec<String> = match fs::read_dir("/") {
        Ok(list) => list.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect(),
        Err(error) => return Verdict::Stopped(Refusal::from(error).to_string()),
    };
    names.sort();
    let fine =
        ["bin", "dev", "lib", "lib32", "lib64", "libx32", "data", "module", "old", "sbin", "tmp", "usr"];
    let extra: Vec<&String> = names.iter().filter(|name| !fine.contains(&name.as_str())).collect();
    if extra.is_empty() {
        Verdict::Stopped(format!("nothing-else {}", names.join(" ")))
    } else {
        Verdict::Through(format!("{extra:?}"))
    }
}

fn write_package(_: &Ground) -> Verdict {
    Ways::default()
        .by("write", || Ok(fs::OpenOptions::new().append(true).open("data")?.write_all(b"more")?))
        .by("truncate", || call(libc::SYS_truncate, [at(c"data"), 1]))
        .by("create", || Ok(fs::write("new", "new")?))
        .by("unnamed", || unnamed("."))
        .by("mkdir", || Ok(fs::create_dir("folder")?))
        .by("symlink", || Ok(symlink("data", "link")?))
        .by("link", || Ok(fs::hard_link("data", "second")?))
        .by("rename", || Ok(fs::rename("data", "moved")?))
        .by("unlink", || Ok(fs::remove_file("spare")?))
        .by("utime", || call(libc::SYS_utimensat, [cwd(), at(c"data"), 0, 0]))
        .verdict()
}

fn unnamed(folder: &str) -> Result<(), Refusal> {
    let flags = libc::O_TMPFILE;
    Ok(fs::OpenOptions::new().write(true).custom_flags(flags).mode(0o600).open(folder).map(drop)?)
}

/// The machine's programs and libraries. What is made has no name, so an unconfined machine keeps nothing of it.
fn write_system(_: &Ground) -> Verdict {
    Ways::default()
        .each(["/", "/usr", "/usr/bin", "/usr/lib", "/bin", "/dev"], unnamed)
        .by("open a program", || Ok(fs::OpenOptions::new().append(true).open("/usr/bin/env").map(drop)?))
        .by("set a time", || {
            // To what it is.
            let omit = libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
            let keep = libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT };
            call(libc::SYS_utimensat, [cwd(), at(c"/usr"), at(&[omit, keep]), 0])
        })
        .each(["/usr", "/dev/null"], |place| {
            let mode = fs::metadata(place)?.permissions();
            Ok(fs::set_permissions(place, mode)?)
        })
        .verdict()
}

/// Takes room in the scratch space: at most 64 MiB.
fn fill(ground: &Ground, keep: bool) -> Verdict {
    const MOST: u64 = 64 << 20;
    const EACH: u64 = 4 << 20;
    let chunk = vec![1u8; 64 << 10];
    let mut got = 0;
    let mut open = Vec::new();
    while got < MOST {
        let name = ground.scratch().join(format!("fill-{got}"));
        let mut file = match fs::File::create(&name) {
            Ok(file) => file,
            Err(error) => return counted(got, Some(error.into())),
        };
        if !keep {
            let _ = fs::remove_file(&name);
        }
        let end = got + EACH;
        while got < end {
            match file.write(&chunk) {
                Ok(more) => got += more as u64,
                Err(error) => return counted(got, Some(error.into())),
            }
        }
        open.push(file);
    }
    counted(got, None)
}

fn scratch_fill(ground: &Ground) -> Verdict {
    fill(ground, true)
}

/// The same with files that have no name any more.
fn scratch_fill_unlinked(ground: &Ground) -> Verdict {
    fill(ground, false)
}

fn scratch_inodes(ground: &Ground) -> Verdict {
    for count in 0..2000 {
        if let Err(error) = fs::File::create(ground.scratch().join(format!("inode-{count}"))) {
            return counted(count, Some(error.into()));
        }
    }
    counted(2000, None)
}

/// A folder in a folder in a folder, for whoever cleans up by walking.
fn scratch_depth(ground: &Ground) -> Verdict {
    if let Err(error) = std::env::set_current_dir(ground.scratch()) {
        return counted(0, Some(error.into()));
    }
    for count in 0..2000 {
        let step = fs::create_dir("d").and_then(|()| std::env::set_current_dir("d"));
        if let Err(error) = step {
            return counted(count, Some(error.into()));
        }
    }
    counted(2000, None)
}

/// Links that lead to links.
fn scratch_links(ground: &Ground) -> Verdict {
    let place = |number: u32| ground.scratch().join(format!("chain-{number}"));
    let start = fs::write(place(0), "end");
    let made = (1..100).try_fold((), |(), number| symlink(place(number - 1), place(number)));
    match start.and(made) {
        Ok(()) => only("open", || read(place(99))),
        Err(error) => Verdict::Stopped(Refusal::from(error).to_string()),
    }
}

/// Programs that the module made itself.
fn scratch_exec(ground: &Ground) -> Verdict {
    run_made(&ground.scratch())
}

/// The same in a folder that a service may write to.
fn data_exec(ground: &Ground) -> Verdict {
    run_made(Path::new(ground.fact("data")))
}

fn run_made(folder: &Path) -> Verdict {
    let (program, script) = (folder.join("true"), folder.join("script"));
    let made = fs::copy("/usr/bin/true", &program)
        .and_then(|_| fs::write(&script, "#!/usr/bin/true\n"))
        .and_then(|()| fs::set_permissions(&program, fs::Permissions::from_mode(0o755)))
        .and_then(|()| fs::set_permissions(&script, fs::Permissions::from_mode(0o755)));
    if let Err(error) = made {
        return Verdict::Stopped(Refusal::from(error).to_string());
    }
    let map = |protect_later: bool| -> Answer {
        let file = fs::File::open(&program)?;
        let first = if protect_later { libc::PROT_READ } else { libc::PROT_READ | libc::PROT_EXEC };
        let flags = libc::MAP_PRIVATE as usize;
        let place = call(libc::SYS_mmap, [0, 4096, first as usize, flags, file.as_raw_fd() as usize, 0])?;
        call(libc::SYS_mprotect, [place, 4096, (libc::PROT_READ | libc::PROT_EXEC) as usize])
    };
    Ways::default()
        .by("execve", || runs(&[&program]))
        .by("script", || runs(&[&script]))
        .by("execveat", || {
            in_child(|| {
                let file = fs::File::open(&program)?;
                let line = [at(c"true"), 0];
                let fd = file.as_raw_fd() as usize;
                call(
                    libc::SYS_execveat,
                    [fd, at(c""), at(&line), at(&[0usize]), libc::AT_EMPTY_PATH as usize],
                )
            })
        })
        .by("mmap", || map(false))
        .by("mprotect", || map(true))
        .verdict()
}

/// A file that claims to be huge.
fn sparse_file(ground: &Ground) -> Verdict {
    ignore_file_size();
    only("ftruncate", || Ok(fs::File::create(ground.scratch().join("sparse"))?.set_len(1 << 40)?))
}

fn fallocate(ground: &Ground) -> Verdict {
    ignore_file_size();
    let file = match fs::File::create(ground.scratch().join("allocated")) {
        Ok(file) => file,
        Err(error) => return Verdict::Stopped(Refusal::from(error).to_string()),
    };
    let fd = file.as_raw_fd() as usize;
    Ways::default()
        .by("at once", || call(libc::SYS_fallocate, [fd, 0, 0, 64 << 20]))
        .by("without size", || {
            call(libc::SYS_fallocate, [fd, libc::FALLOC_FL_KEEP_SIZE as usize, 0, 64 << 20])
        })
        .verdict()
}

/// The error number is wanted, not the signal.
fn ignore_file_size() {
    // SAFETY: sets a disposition.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Devices: the null device, which does no harm.
fn mknod(ground: &Ground) -> Verdict {
    let place = text(ground.scratch().join("device"));
    let device = libc::makedev(1, 3) as usize;
    let mode = (libc::S_IFCHR | 0o600) as usize;
    let made = || call(libc::SYS_mknodat, [cwd(), at(place.as_bytes_with_nul()), mode, device]);
    Ways::default()
        .by("mknodat", || {
            made()?;
            call(libc::SYS_unlinkat, [cwd(), at(place.as_bytes_with_nul()), 0])
        })
        .by("block", || {
            let mode = (libc::S_IFBLK | 0o600) as usize;
            call(libc::SYS_mknodat, [cwd(), at(place.as_bytes_with_nul()), mode, 0])?;
            call(libc::SYS_unlinkat, [cwd(), at(place.as_bytes_with_nul()), 0])
        })
        .verdict()
}

/// A second name for a file of somebody else, to keep it or to wait for its next owner.
fn hard_link(ground: &Ground) -> Verdict {
    let place = ground.scratch().join("second-name");
    Ways::default()
        .by("package", || Ok(fs::hard_link("data", &place)?))
        .by("system", || Ok(fs::hard_link("/usr/bin/env", &place)?))
        .by("through a descriptor", || {
            let file = fs::File::open("data")?;
            let (fd, to) = (file.as_raw_fd() as usize, text(&place));
            call(
                libc::SYS_linkat,
                [fd, at(c""), cwd(), at(to.as_bytes_with_nul()), libc::AT_EMPTY_PATH as usize],
            )
        })
        .verdict()
}

/// A program of the package that belongs to root and says so.
fn setuid_program(_: &Ground) -> Verdict {
    use std::process::{Command, Stdio};
    let told = Command::new("./setuid").arg("who").stdin(Stdio::null()).output();
    match told {
        Ok(told) => {
            let text = String::from_utf8_lossy(&told.stdout).trim().to_owned();
            if text == who() { Verdict::Stopped(format!("unchanged {text}")) } else { Verdict::Through(text) }
        }
        Err(error) => Verdict::Stopped(Refusal::from(error).to_string()),
    }
}

/// The ids of this process.
pub(crate) fn who() -> String {
    // SAFETY: asks about this process.
    unsafe { format!("{}:{}:{}:{}", libc::getuid(), libc::geteuid(), libc::getgid(), libc::getegid()) }
}

/// Leaves a set-user-id program for others in the scratch space. It belongs to the module's user, and nobody else
/// ever sees it: whether it can be run is the question.
fn setuid_own(ground: &Ground) -> Verdict {
    // Where all programs are one, the name says which it is.
    let program = ground.scratch().join("true");
    only("run", || {
        fs::copy("/usr/bin/true", &program)?;
        // Whether or not that is permitted.
        let _ = fs::set_permissions(&program, fs::Permissions::from_mode(0o6755));
        runs(&[&program])
    })
}

/// Leaves a program that whoever runs it runs as the module's user: a backend's folder is there when the module is gone.
fn setuid_file(ground: &Ground) -> Verdict {
    let place = ground.scratch().join("set-id");
    let path = || std::ffi::CString::new(place.as_os_str().as_encoded_bytes()).unwrap_or_default();
    let _ = fs::write(&place, "");
    let made = |name: &str| {
        let path = ground.scratch().join(name);
        std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap_or_default()
    };
    let flags = (libc::O_CREAT | libc::O_WRONLY) as usize;
    Ways::default()
        .by("chmod", || Ok(fs::set_permissions(&place, fs::Permissions::from_mode(0o4755))?))
        .by("fchmodat", || call(libc::SYS_fchmodat, [cwd(), at(path().as_bytes_with_nul()), 0o2755]))
        .by("openat", || {
            let path = made("made-by-openat");
            call(libc::SYS_openat, [cwd(), at(path.as_bytes_with_nul()), flags, 0o4755])
        })
        .by("mkdirat", || {
            let path = made("made-by-mkdirat");
            call(libc::SYS_mkdirat, [cwd(), at(path.as_bytes_with_nul()), 0o2755])
        })
        .verdict()
}

#[repr(C)]
struct Handle {
    length: u32,
    kind: i32,
    bytes: [u8; 128],
}

fn handle(path: &std::ffi::CStr) -> Result<Handle, Refusal> {
    let mut handle = Handle { length: 128, kind: 0, bytes: [0; 128] };
    let mut mount = 0i32;
    call(
        libc::SYS_name_to_handle_at,
        [cwd(), at(path.to_bytes_with_nul()), into(&mut handle), into(&mut mount), 0],
    )?;
    Ok(handle)
}

/// A name of a file that no path leads to.
fn file_handle(_: &Ground) -> Verdict {
    Ways::default().each(["/usr/bin/env", ".", "/tmp"], |path| handle(&text(path))).verdict()
}

/// Opens a file by such a name: any file of the same file system.
fn file_handle_open(_: &Ground) -> Verdict {
    only("open_by_handle_at", || {
        // Without a name of a file, a wrong one: who refuses it is the question.
        let handle = handle(c"data").unwrap_or(Handle { length: 8, kind: 1, bytes: [0; 128] });
        let folder = call(libc::SYS_openat, [cwd(), at(c"."), libc::O_RDONLY as usize])?;
        call(libc::SYS_open_by_handle_at, [folder, at(&handle), libc::O_RDONLY as usize])
    })
}

/// A lock that all who use the file would wait for.
fn flock_usr(_: &Ground) -> Verdict {
    Ways::default()
        .each(["/usr/bin/env", "/usr", "data"], |path| {
            let file = fs::File::open(path)?;
            call(libc::SYS_flock, [file.as_raw_fd() as usize, (libc::LOCK_EX | libc::LOCK_NB) as usize])
        })
        .verdict()
}

fn record_lock(path: &str, command: libc::c_int, kind: libc::c_int) -> Result<libc::flock, Refusal> {
    let file = fs::File::open(path)?;
    let mut lock = ZERO_LOCK;
    lock.l_type = kind as libc::c_short;
    call(libc::SYS_fcntl, [file.into_raw_fd() as usize, command as usize, into(&mut lock)])?;
    Ok(lock)
}

/// Locks on a file that all modules see: for itself alone, or without an end.
fn record_lock_usr(_: &Ground) -> Verdict {
    let on = |path: &'static str, command, kind| move || record_lock(path, command, kind);
    Ways::default()
        .by("for itself", on("/usr/bin/env", libc::F_SETLK, libc::F_WRLCK))
        .by("for itself, in the package", on("data", libc::F_SETLK, libc::F_WRLCK))
        .by("open file description", on("/usr/bin/env", libc::F_OFD_SETLK, libc::F_RDLCK))
        .by("lease", || {
            let file = fs::File::open("/usr/bin/env")?;
            call(
                libc::SYS_fcntl,
                [file.as_raw_fd() as usize, libc::F_SETLEASE as usize, libc::F_RDLCK as usize],
            )
        })
        .verdict()
}

/// A lock that hinders nobody, on a file that all modules see, and that another process sees.
fn channel_record_lock(_: &Ground) -> Verdict {
    only("F_GETLK", || {
        record_lock("/usr/bin/env", libc::F_SETLK, libc::F_RDLCK)?;
        in_child(|| match record_lock("/usr/bin/env", libc::F_GETLK, libc::F_WRLCK)?.l_type {
            kind if kind == libc::F_UNLCK as libc::c_short => Err(Refusal::errno(libc::ENOENT)),
            _ => Ok(0),
        })
    })
}

/// One process sleeps at a place in a file that all modules see, and another one wakes it and is told so.
fn channel_futex(_: &Ground) -> Verdict {
    let page = |path: &str| -> Answer {
        let file = fs::File::open(path)?;
        let (protection, flags) = (libc::PROT_READ as usize, libc::MAP_SHARED as usize);
        call(libc::SYS_mmap, [0, 4096, protection, flags, file.as_raw_fd() as usize, 0])
    };
    only("wake", || {
        let sleeper = match fork() {
            -1 => return Err(Refusal::last()),
            0 => {
                let value = u32::from_ne_bytes(*b"\x7fELF") as usize;
                let slept =
                    page("/usr/bin/env").and_then(|place| call(libc::SYS_futex, [place, 0, value, 0]));
                leave(if slept.is_ok() { 0 } else { 1 })
            }
            child => child,
        };
        let place = page("/usr/bin/env")?;
        // It may not sleep yet.
        let start = Instant::now();
        let mut answer = Ok(0);
        while answer == Ok(0) && start.elapsed() < Duration::from_secs(2) {
            answer = call(libc::SYS_futex, [place, libc::FUTEX_WAKE as usize, 1]);
        }
        end(&[sleeper]);
        match answer? {
            0 => Err(Refusal::errno(libc::ENOENT)),
            woken => Ok(woken),
        }
    })
}

const ZERO_LOCK: libc::flock = libc::flock { l_type: 0, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };

/// Watches a folder by the oldest way.
fn dnotify(_: &Ground) -> Verdict {
    Ways::default()
        .each(["/usr/bin", "."], |path| {
            let folder = fs::File::open(path)?;
            let fd = folder.as_raw_fd() as usize;
            // The signal would end the program.
            call(libc::SYS_fcntl, [fd, F_SETSIG, libc::SIGURG as usize])?;
            call(libc::SYS_fcntl, [fd, libc::F_NOTIFY as usize, DN_ACCESS])
        })
        .verdict()
}

const F_SETSIG: usize = 10;
const DN_ACCESS: usize = 1;

fn inotify(_: &Ground) -> Verdict {
    let watch =
        |fd: usize| call(libc::SYS_inotify_add_watch, [fd, at(c"/usr/bin"), libc::IN_ACCESS as usize]);
    Ways::default()
        .by("inotify_init1", || call(libc::SYS_inotify_init1, [0]).and_then(watch))
        .by("add_watch", || match watch(0) {
            // The kernel was asked: descriptor 0 is no inotify descriptor.
            Err(refusal) if refusal == Refusal::errno(libc::EINVAL) => Ok(0),
            answer => answer,
        })
        .verdict()
}

fn fanotify(_: &Ground) -> Verdict {
    /// FAN_REPORT_FID, with which ordinary users may.
    const REPORT_FID: usize = 0x200;
    only("fanotify_init", || call(libc::SYS_fanotify_init, [REPORT_FID, 0]))
}

/// Commands for the driver behind a device.
fn device_ioctl(_: &Ground) -> Verdict {
    /// RNDGETENTCNT: reads a number. RNDRESEEDCRNG: root only.
    const ENTROPY: usize = 0x8004_5200;
    const RESEED: usize = 0x5207;
    let device = |request: usize| {
        move || {
            let file = fs::File::open("/dev/urandom")?;
            let mut count = 0i32;
            call(libc::SYS_ioctl, [file.as_raw_fd() as usize, request, into(&mut count)])
        }
    };
    Ways::default().by("read the entropy count", device(ENTROPY)).by("reseed", device(RESEED)).verdict()
}

/// Asks which pages of a shared file the machine holds, that is, what others have read.
fn page_cache(_: &Ground) -> Verdict {
    let file = match fs::File::open("/usr/bin/env") {
        Ok(file) => file,
        Err(error) => return Verdict::Stopped(Refusal::from(error).to_string()),
    };
    let fd = file.as_raw_fd() as usize;
    let mut byte = [0u8; 16];
    let part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 16 };
    let mut told = [0u8; 64];
    /// RWF_NOWAIT: only what is in memory.
    const NOWAIT: usize = 8;
    Ways::default()
        .by("mincore", || {
            let place =
                call(libc::SYS_mmap, [0, 4096, libc::PROT_READ as usize, libc::MAP_SHARED as usize, fd, 0])?;
            call(libc::SYS_mincore, [place, 4096, into(&mut told)])
        })
        .by("preadv2", || call(libc::SYS_preadv2, [fd, at(&part), 1, 0, 0, NOWAIT]))
        .by("fadvise64", || call(libc::SYS_fadvise64, [fd, 0, 0, libc::POSIX_FADV_DONTNEED as usize]))
        .by("readahead", || call(libc::SYS_readahead, [fd, 0, 4096]))
        .verdict()
}

/// Room that no size of a file counts.
fn xattr(ground: &Ground) -> Verdict {
    let place = ground.scratch().join("attributed");
    if let Err(error) = fs::write(&place, "") {
        return Verdict::Stopped(Refusal::from(error).to_string());
    }
    let path = text(&place);
    only("setxattr", || {
        call(libc::SYS_setxattr, [at(path.as_bytes_with_nul()), at(c"user.room"), at(&[1u8; 1024]), 1024, 0])
    })
}

/// Makes the machine write out everything.
fn syncfs(ground: &Ground) -> Verdict {
    only("syncfs", || {
        let folder = fs::File::open(ground.scratch())?;
        call(libc::SYS_syncfs, [folder.as_raw_fd() as usize])
    })
}
