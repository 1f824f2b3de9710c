//! Limits that the kernel keeps for each process.

use crate::child::call;
use crate::profile::Profile;

/// An RLIMIT_ number and the value of both its limits.
pub(crate) type Resource = (u32, u64);

/// No core file and no program that takes cores: to such a program 0 would be no limit, and 1 stops both.
pub(crate) const NO_CORE: Resource = (libc::RLIMIT_CORE, 1);

/// What was being done, for an error text, when [`NO_CORE`] could not be set.
pub(crate) const NO_CORES: &str = "forbidding core dumps, which a program of this machine takes \
     (kernel.core_pattern): the host's hard limit of their size is 0 and has to be 1 or more (ulimit -Hc, LimitCORE=)";

/// Limits of each process of a module. `grouped`: the module as a whole is bounded too. None lies above the host's own
/// hard limit, which only root could raise.
pub(crate) fn of(profile: &Profile, grouped: bool) -> Vec<Resource> {
    let limits = &profile.limits;
    let mut resources = vec![
        (libc::RLIMIT_NOFILE, limits.open_files),
        (libc::RLIMIT_MSGQUEUE, 0),
        (libc::RLIMIT_MEMLOCK, 64 << 10),
        (libc::RLIMIT_SIGPENDING, 256),
        (libc::RLIMIT_NICE, 0),
        (libc::RLIMIT_RTPRIO, 0),
    ];
    if !profile.binds.iter().any(|bind| bind.writable) {
        // Nothing it can write to holds more.
        resources.push((libc::RLIMIT_FSIZE, limits.scratch_bytes));
    }
    if let Some(backstop) = profile.backstop {
        // The third way to end what spins, after the host and the guardian.
        let seconds = backstop.as_secs().saturating_add(1);
        let percent = u64::from(limits.cpu_percent.max(100));
        resources.push((libc::RLIMIT_CPU, seconds.saturating_mul(percent) / 100));
    }
    if !grouped {
        resources.push((libc::RLIMIT_DATA, limits.memory_bytes));
        if rustix::process::geteuid().is_root() {
            // The module has a user of its own; as the user of an ordinary host its processes would count as well.
            resources.push((libc::RLIMIT_NPROC, u64::from(limits.tasks)));
        }
    }
    for (resource, value) in &mut resources {
        *value = (*value).min(hard(*resource));
    }
    resources.push(cores());
    resources
}

/// [`NO_CORE`]; where the host's hard limit is 0 and cores are files, that is as good.
pub(crate) fn cores() -> Resource {
    let taken = || match std::fs::read("/proc/sys/kernel/core_pattern") {
        // A program, or a socket.
        Ok(pattern) => matches!(pattern.first(), Some(b'|' | b'@')),
        Err(_) => true,
    };
    if hard(libc::RLIMIT_CORE) == 0 && !taken() { (libc::RLIMIT_CORE, 0) } else { NO_CORE }
}

/// The calling process's hard limit.
pub(crate) fn hard(resource: u32) -> u64 {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: libc::RLIM64_INFINITY };
    // It fails for a number that this kernel does not know; then there is no limit.
    call(libc::SYS_prlimit64, [0, resource as usize, 0, &raw mut limit as usize, 0, 0]);
    limit.rlim_max
}

/// Sets limits of the calling process, by system calls alone. Gives the one that failed and its error number.
pub(crate) fn set(resources: &[Resource]) -> Result<(), (u32, isize)> {
    for &(resource, value) in resources {
        let limit = libc::rlimit64 { rlim_cur: value, rlim_max: value };
        let place = &raw const limit as usize;
        let answer = call(libc::SYS_prlimit64, [0, resource as usize, place, 0, 0, 0]);
        if answer < 0 {
            return Err((resource, -answer));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{cores, of};
    use crate::profile::Profile;

    fn value(profile: &Profile, resource: u32) -> Option<u64> {
        of(profile, true).into_iter().find(|(number, _)| *number == resource).map(|(_, value)| value)
    }

    #[test]
    fn an_action_has_the_limits_of_its_profile() {
        let profile = Profile::action();
        assert_eq!(value(&profile, libc::RLIMIT_NOFILE), Some(64));
        assert_eq!(value(&profile, libc::RLIMIT_FSIZE), Some(8 << 20));
        assert_eq!(value(&profile, libc::RLIMIT_CPU), Some(13));
        assert_eq!(value(&profile, libc::RLIMIT_CORE), Some(cores().1));
        assert_eq!(value(&profile, libc::RLIMIT_DATA), None);
    }

    #[test]
    fn a_backstop_may_be_as_long_as_there_are_seconds() {
        let mut profile = Profile::action();
        profile.backstop = Some(Duration::MAX);
        assert!(value(&profile, libc::RLIMIT_CPU).is_some_and(|seconds| seconds >= u64::MAX / 100));
    }
}
