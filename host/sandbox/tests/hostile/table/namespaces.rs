//! Namespaces, and processes beside one's own.

use modberth_sandbox::Layer::{Landlock, OrdinaryUser, Seccomp, UtsNamespace};

use crate::row::Shown::{Stopped, ThroughUnless};
use crate::row::{Row, always, attack};

pub(crate) const ROWS: &[Row] = &[
    attack("mount", &["EPERM"], &[Seccomp, OrdinaryUser, Landlock]).by_any(&[Seccomp]),
    // These three lead nowhere: without the layers the machine looks for the place and does not find it.
    attack("umount", &["EPERM"], &[Seccomp]).then(Stopped(&["ENOENT"])),
    attack("remount", &["EPERM"], &[Seccomp, OrdinaryUser, Landlock]).then(Stopped(&["ENOENT"])),
    attack("pivot-root", &["EPERM"], &[Seccomp, OrdinaryUser, Landlock]).then(Stopped(&["ENOENT"])),
    attack("chroot", &["EPERM"], &[Seccomp, OrdinaryUser]).by_any(&[Seccomp, OrdinaryUser]),
    attack("unshare", &["EPERM"], &[Seccomp]),
    attack("clone-newuser", &["EPERM"], &[Seccomp]),
    attack("clone3", &["ENOSYS"], &[Seccomp]),
    always("setns", &["EPERM"]),
    always("cgroup-escape", &["ENOENT"]),
    always("other-processes", &["alone"]),
    always("parent", &["none"]),
    attack("ptrace", &["EPERM"], &[Seccomp]),
    attack("process-vm", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["ENOSYS"])),
    attack("pidfd-getfd", &["EPERM"], &[Seccomp]),
    attack("kcmp", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["ENOSYS"])),
    attack("process-madvise", &["EPERM"], &[Seccomp]),
    attack("host-name-seen", &["modberth"], &[UtsNamespace]),
];
