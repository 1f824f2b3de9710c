//! Files. The scratch space has 8 MiB and 1,024 files; the package and everything else cannot be written.

use modberth_sandbox::Layer::{
    Landlock, MountNamespace, ReadOnlyFiles, ResourceLimits, ScratchLimit, Seccomp,
};

use crate::row::Shown::{Line, Stopped, StoppedAfter, ThroughUnless};
use crate::row::{Row, always, attack, outcome};

pub(crate) const ROWS: &[Row] = &[
    attack("host-files", &["ENOENT"], &[MountNamespace, Landlock]),
    attack("host-file-written", &["ENOENT"], &[MountNamespace, Landlock]).noticed(),
    attack("proc-sys-etc", &["ENOENT"], &[MountNamespace, Landlock]),
    attack("dot-dot", &["ENOENT"], &[MountNamespace, Landlock]),
    attack("package-symlink", &["ENOENT"], &[MountNamespace, Landlock]),
    attack("root-list", &["EACCES"], &[MountNamespace, Landlock]),
    attack("write-package", &["EROFS"], &[ReadOnlyFiles, Landlock]).by_any(&[ReadOnlyFiles]).noticed(),
    always("write-system", &["EACCES+EROFS"]),
    attack("scratch-fill", &[], &[ScratchLimit]).sees(StoppedAfter("ENOSPC", 8 << 20, 8 << 20)),
    attack("scratch-fill-unlinked", &[], &[ScratchLimit]).sees(StoppedAfter("ENOSPC", 8 << 20, 8 << 20)),
    attack("scratch-inodes", &[], &[ScratchLimit]).sees(StoppedAfter("ENOSPC", 1024, 1024)),
    attack("scratch-depth", &[], &[ScratchLimit]).sees(StoppedAfter("ENOSPC", 1024, 1024)),
    outcome("scratch-links", Stopped(&["ELOOP"])),
    always("scratch-exec", &["EACCES+ENOSYS+EPERM"]),
    always("data-exec", &["EACCES+ENOSYS+EPERM"]).service_only(),
    // A service has folders that may hold larger files.
    attack("sparse-file", &["EFBIG"], &[ResourceLimits]).action_only(),
    attack("fallocate", &["EFBIG"], &[ResourceLimits, ScratchLimit])
        .by_any(&[ResourceLimits, ScratchLimit])
        .in_service(Stopped(&["ENOSPC"])),
    always("mknod", &["EPERM"]),
    // Before Linux 6.10 a descriptor alone is no name to link from.
    always("hard-link", &["EXDEV", "ENOENT+EXDEV"]).noticed(),
    outcome("setuid-program", Stopped(&["unchanged"])),
    always("setuid-own", &["EACCES"]),
    attack("setuid-file", &["EPERM"], &[Seccomp]),
    attack("file-handle", &["EPERM"], &[Seccomp]),
    always("file-handle-open", &["EPERM"]),
    attack("flock-usr", &["EPERM"], &[Seccomp]),
    attack("record-lock-usr", &["EPERM"], &[Seccomp]).in_service(Stopped(&["EBADF+EPERM"])),
    // A database of a service needs such locks. Modules that run at the same time and want to can tell each other
    // something by them, and in other ways, like the load of the machine; none of them hinders anybody.
    attack("channel-record-lock", &["EPERM"], &[Seccomp]).in_service(Line("got-through F_GETLK")),
    outcome("channel-futex", Line("got-through wake")),
    attack("dnotify", &["EPERM"], &[Seccomp]),
    attack("inotify", &["EPERM"], &[Seccomp]),
    attack("fanotify", &["EPERM"], &[Seccomp]),
    attack("device-ioctl", &["EPERM"], &[Seccomp, Landlock]).by_any(&[Seccomp, Landlock]),
    attack("page-cache", &["ENOSYS+EPERM"], &[Seccomp]),
    attack("xattr", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["EOPNOTSUPP"])),
    attack("syncfs", &["EPERM"], &[Seccomp]),
];
