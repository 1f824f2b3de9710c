//! Sockets. A service has AF_UNIX, and nothing to connect to but what it is given.

use modberth_sandbox::Layer::{Landlock, MountNamespace, NetworkNamespace, Seccomp};

use crate::row::Shown::{Stopped, ThroughUnless};
use crate::row::{Row, always, attack};

pub(crate) const ROWS: &[Row] = &[
    attack("socket-inet", &["EPERM"], &[Seccomp, NetworkNamespace, Landlock])
        .by_any(&[Seccomp, NetworkNamespace, Landlock])
        .noticed(),
    attack("socket-udp", &["EPERM"], &[Seccomp, NetworkNamespace, Landlock])
        .by_any(&[Seccomp, NetworkNamespace])
        .noticed(),
    attack("socket-listen", &["EPERM"], &[Seccomp, NetworkNamespace, Landlock]).by_any(&[Seccomp, Landlock]),
    attack("socket-unix-abstract", &["EPERM"], &[Seccomp, NetworkNamespace, Landlock])
        .by_any(&[Seccomp, NetworkNamespace, Landlock])
        .in_service(Stopped(&["ECONNREFUSED"]))
        .noticed(),
    attack("socket-unix-path", &["EPERM"], &[Seccomp, MountNamespace, Landlock])
        .in_service(Stopped(&["ENOENT"]))
        .noticed(),
    attack("socketpair-sendto", &["EPERM"], &[Seccomp, NetworkNamespace, Landlock])
        .by_any(&[Seccomp, NetworkNamespace, Landlock])
        .in_service(Stopped(&["ECONNREFUSED"]))
        .noticed(),
    attack("socket-netlink", &["EPERM"], &[Seccomp]),
    always("socket-packet", &["EPERM"]),
    attack("socket-alg", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["EAFNOSUPPORT"])),
    // No network namespace knows it.
    attack("socket-vsock", &["EPERM"], &[Seccomp]).then(ThroughUnless(&["EAFNOSUPPORT"])),
    always("socket-xdp", &["EPERM"]).then(ThroughUnless(&["EAFNOSUPPORT"])),
    always("socket-raw", &["EPERM"]),
    attack("socket-families", &["EPERM"], &[Seccomp]),
    attack("socketcall-options", &["EPERM"], &[Seccomp]),
];
