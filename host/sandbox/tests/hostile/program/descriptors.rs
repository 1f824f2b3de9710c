//! Descriptors: too many of them, those of others, and those that are left open.

use std::os::fd::RawFd;

use std::os::fd::AsRawFd;

use crate::attempt::{Refusal, Verdict, Ways, at, call, counted, into};
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("descriptor-exhaustion", descriptor_exhaustion),
    ("descriptors-in-flight", descriptors_in_flight),
    ("inherited-descriptors", inherited_descriptors),
    ("stream-as-folder", stream_as_folder),
    ("stdout-options", stdout_options),
    ("fcntl-rest", fcntl_rest),
    ("ioctl-rest", ioctl_rest),
];

const MOST: u64 = 200;

fn descriptor_exhaustion(_: &Ground) -> Verdict {
    let mut count = 0;
    while count < MOST {
        if let Err(refusal) = call(libc::SYS_dup, [0]) {
            return counted(count, Some(refusal));
        }
        count += 1;
    }
    counted(count, None)
}

/// Descriptors that nobody holds, because they are on their way through a socket.
fn descriptors_in_flight(_: &Ground) -> Verdict {
    let mut pair = [0 as RawFd; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK;
    if let Err(refusal) =
        call(libc::SYS_socketpair, [libc::AF_UNIX as usize, kind as usize, 0, into(&mut pair)])
    {
        return counted(0, Some(refusal));
    }
    // One descriptor in each message: header of 16 bytes, the number, padding.
    let control = [20usize, (libc::SOL_SOCKET as usize) | (libc::SCM_RIGHTS as usize) << 32, 0];
    let byte = [0u8];
    let part = [at(&byte), 1];
    let message = [0usize, 0, at(&part), 1, at(&control), 24, 0];
    for count in 0..MOST {
        if let Err(refusal) = call(libc::SYS_sendmsg, [pair[0] as usize, at(&message), 0]) {
            return counted(count, Some(refusal));
        }
    }
    counted(MOST, None)
}

/// Descriptors of the host that were left open.
fn inherited_descriptors(_: &Ground) -> Verdict {
    let open: Vec<String> = (3..65_536usize)
        .filter(|fd| call(libc::SYS_fcntl, [*fd, libc::F_GETFD as usize]).is_ok())
        .map(|fd| fd.to_string())
        .collect();
    if open.is_empty() { Verdict::Stopped("none".into()) } else { Verdict::Through(open.join(" ")) }
}

/// A stream that is something else than a pipe leads somewhere.
fn stream_as_folder(_: &Ground) -> Verdict {
    let mut ways = Ways::default();
    for fd in 0..3usize {
        ways = ways
            .by(format!("{fd} as a folder"), || call(libc::SYS_openat, [fd, at(c"."), libc::O_PATH as usize]))
            .by(format!("{fd} as a working directory"), || call(libc::SYS_fchdir, [fd]))
            .by(format!("{fd} moved"), || match call(libc::SYS_lseek, [fd, 0, 1]) {
                // A pipe.
                Err(refusal) if refusal == Refusal::errno(libc::ESPIPE) => Err(Refusal::errno(libc::ENOTDIR)),
                answer => answer,
            });
    }
    ways.verdict()
}

/// Changes what the host's ends of the streams share with its own, if anything.
fn stdout_options(_: &Ground) -> Verdict {
    for fd in 0..3usize {
        let _ = call(libc::SYS_fcntl, [fd, libc::F_SETPIPE_SZ as usize, 1 << 20]);
        let _ =
            call(libc::SYS_fcntl, [fd, libc::F_SETFL as usize, (libc::O_NONBLOCK | libc::O_ASYNC) as usize]);
        // A pipe alone: as root by hand, with standard input from /dev/null, this would take that from everybody.
        if call(libc::SYS_lseek, [fd, 0, 1]) == Err(Refusal::errno(libc::ESPIPE)) {
            let _ = call(libc::SYS_fchmod, [fd, 0]);
        }
    }
    let _ = call(libc::SYS_fcntl, [1, libc::F_SETFL as usize, 0]);
    Verdict::Stopped("its-own".into())
}

/// Commands for a descriptor of its own that no module needs: who is told of it, and how long data lives.
fn fcntl_rest(_: &Ground) -> Verdict {
    let own = std::process::id() as usize;
    let owner = [1i32, std::process::id() as i32];
    let hint = 0u64;
    let commands = [
        ("F_SETOWN", libc::F_SETOWN as usize, own),
        ("F_GETOWN", libc::F_GETOWN as usize, 0),
        ("F_SETSIG", 10, libc::SIGURG as usize),
        ("F_SETOWN_EX", 15, at(&owner)),
        ("F_ADD_SEALS", 1033, 0),
        ("F_SET_RW_HINT", 1036, at(&hint)),
    ];
    commands
        .iter()
        .fold(Ways::default(), |ways, (name, command, argument)| {
            ways.by(*name, || call(libc::SYS_fcntl, [0, *command, *argument]))
        })
        .verdict()
}

/// Commands for files of the machine: how they lie on its disks, and sharing their blocks.
fn ioctl_rest(_: &Ground) -> Verdict {
    let file = match std::fs::File::open("/usr/bin/env") {
        Ok(file) => file,
        Err(error) => return Verdict::Stopped(Refusal::from(error).to_string()),
    };
    let mut answer = [0u64; 64];
    let commands = [
        ("FIGETBSZ", 2usize),
        ("FIBMAP", 1),
        ("FIOASYNC", 0x5452),
        ("FIOQSIZE", 0x5460),
        ("FS_IOC_GETFLAGS", 0x8008_6601),
        ("FS_IOC_FIEMAP", 0xC020_660B),
        ("FS_IOC_FSGETXATTR", 0x801C_581F),
        ("FICLONE", 0x4004_9409),
        ("NS_GET_PARENT", 0xB702),
    ];
    commands
        .iter()
        .fold(Ways::default(), |ways, (name, command)| {
            ways.by(*name, || call(libc::SYS_ioctl, [file.as_raw_fd() as usize, *command, into(&mut answer)]))
        })
        .verdict()
}
