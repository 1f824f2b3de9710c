//! Who it is, and what it was told.

use crate::attempt::{Verdict, Ways, at, call, into};
use crate::files::who;
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("become-root", become_root),
    ("become-other", become_other),
    ("capabilities", capabilities),
    ("capset", capset),
    ("environment", environment),
    ("who", |_| {
        println!("{}", who());
        crate::attempt::leave_flushed()
    }),
    ("no-new-privileges", no_new_privileges),
];

/// User 0, by every call.
fn become_root(_: &Ground) -> Verdict {
    Ways::default()
        .by("setuid", || call(libc::SYS_setuid, [0]))
        .by("setgid", || call(libc::SYS_setgid, [0]))
        .by("setreuid", || call(libc::SYS_setreuid, [0, 0]))
        .by("setresuid", || call(libc::SYS_setresuid, [0, 0, 0]))
        .by("setresgid", || call(libc::SYS_setresgid, [0, 0, 0]))
        .by("setgroups", || call(libc::SYS_setgroups, [1, at(&[0u32])]))
        .verdict()
}

/// The user it is, which needs no right: the filter has no reason to let even that through.
fn become_other(_: &Ground) -> Verdict {
    // SAFETY: asks about this process.
    let (user, group) = unsafe { (libc::getuid() as usize, libc::getgid() as usize) };
    Ways::default()
        .by("setuid", || call(libc::SYS_setuid, [user]))
        .by("setgid", || call(libc::SYS_setgid, [group]))
        .by("setresuid", || call(libc::SYS_setresuid, [user, user, user]))
        // These two answer with what was before, and never with an error of their own.
        .by("setfsuid", || call(libc::SYS_setfsuid, [user]))
        .by("setfsgid", || call(libc::SYS_setfsgid, [group]))
        .verdict()
}

const VERSION_3: u32 = 0x2008_0522;

fn sets() -> Result<[u32; 6], crate::attempt::Refusal> {
    let header = [VERSION_3, 0];
    let mut data = [0u32; 6];
    call(libc::SYS_capget, [at(&header), into(&mut data)])?;
    Ok(data)
}

/// Capabilities in effect, permitted or inheritable.
fn capabilities(_: &Ground) -> Verdict {
    match sets() {
        Ok(sets) if sets.iter().all(|set| *set == 0) => Verdict::Stopped("none".into()),
        Ok(sets) => Verdict::Through(format!("{sets:x?}")),
        Err(refusal) => Verdict::Stopped(refusal.to_string()),
    }
}

/// The capabilities that it has.
fn capset(_: &Ground) -> Verdict {
    Ways::default()
        .by("capset", || {
            let data = sets()?;
            call(libc::SYS_capset, [at(&[VERSION_3, 0]), at(&data)])
        })
        .verdict()
}

/// What stands in its environment, in order.
fn environment(_: &Ground) -> Verdict {
    let all: Vec<String> =
        std::env::vars_os().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
    Verdict::Stopped(all.join(" "))
}

/// Whether a program could give it more than it has.
fn no_new_privileges(_: &Ground) -> Verdict {
    match call(libc::SYS_prctl, [libc::PR_GET_NO_NEW_PRIVS as usize, 0, 0, 0, 0]) {
        Ok(0) => Verdict::Through("0".into()),
        Ok(set) => Verdict::Stopped(set.to_string()),
        Err(refusal) => Verdict::Stopped(refusal.to_string()),
    }
}
