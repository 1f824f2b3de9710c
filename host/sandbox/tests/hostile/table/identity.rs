//! Who it is, and what it was told.

use modberth_sandbox::Layer::{Landlock, NoNewPrivileges, OrdinaryUser, Seccomp};

use crate::row::Shown::Line;
use crate::row::{Row, always, attack, outcome};

pub(crate) const ROWS: &[Row] = &[
    always("become-root", &["EPERM"]),
    attack("become-other", &["EPERM"], &[Seccomp]),
    attack("capabilities", &["none"], &[OrdinaryUser]),
    attack("capset", &["EPERM"], &[Seccomp]),
    outcome("environment", Line("stopped PATH=/usr/bin LANG=C.UTF-8 TMPDIR=/tmp")),
    outcome("who", Line("1000:1000:1000:1000")),
    // The other two set it as well, because they need it.
    attack("no-new-privileges", &["1"], &[NoNewPrivileges, Landlock, Seccomp])
        .by_any(&[NoNewPrivileges, Landlock]),
];
