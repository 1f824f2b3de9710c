//! The launcher of a host, the profile of an action, and what a launch that failed means.

use modberth_package::hints::ResourceHints;
use modberth_package::limits::HINT_MEMORY_MIB;
use modberth_protocol::{Blame, Code, Violation};
use modberth_sandbox::{LaunchError, Launcher, Limits, Options, Profile};

/// The least memory of a module in bytes: no control group with less is made.
const LEAST_MEMORY: u64 = HINT_MEMORY_MIB.0.unsigned_abs() << 20;

/// The resources with none so low that no module could start.
pub(crate) fn raised(mut resources: Limits) -> Limits {
    resources.memory_bytes = resources.memory_bytes.max(LEAST_MEMORY);
    resources.tasks = resources.tasks.max(1);
    resources.cpu_percent = resources.cpu_percent.max(1);
    resources
}

/// The launcher that confines; with `rlimits_only` the one that does without control groups.
pub(crate) fn launcher(
    actions: usize,
    resources: &Limits,
    rlimits_only: bool,
) -> Result<Launcher, Violation> {
    // The builder has bounded it.
    let options = Options::new(u32::try_from(actions).unwrap_or(u32::MAX), resources.clone());
    if rlimits_only {
        Launcher::rlimits_only(options).map_err(|error| unavailable(&error.to_string()))
    } else {
        Launcher::confined(options).map_err(|error| unavailable(&error.to_string()))
    }
}

fn unavailable(why: &str) -> Violation {
    Violation::new(Code::SandboxUnavailable, format!("{}.", in_one_line(why)))
}

/// A text of several lines, commands among them, in one. Two spaces stand where a line ended, and only there.
fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for part in text.lines() {
        let words: Vec<&str> = part.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push_str(if line.ends_with([':', ';']) { "  " } else { ";  " });
        }
        line.push_str(&words.join(" "));
    }
    line
}

/// The profile of an action whose package asks for these resources, on a host that gives at most `ceiling`.
pub(crate) fn profile(ceiling: &Limits, hints: &ResourceHints) -> Profile {
    let mut profile = Profile::action();
    profile.limits = ceiling.clone();
    let limits = &mut profile.limits;
    if let Some(mib) = hints.memory_mib {
        limits.memory_bytes = limits.memory_bytes.min(u64::from(mib) << 20);
    }
    if let Some(tasks) = hints.tasks {
        limits.tasks = limits.tasks.min(tasks);
    }
    if let Some(percent) = hints.cpu_percent {
        limits.cpu_percent = limits.cpu_percent.min(percent);
    }
    profile
}

/// Why no process runs. `native`: the program is the module's own.
pub(crate) fn fault(error: &LaunchError, native: bool) -> Violation {
    let told = |code| Violation::new(code, format!("{error}."));
    match error {
        LaunchError::Limit(fault) => {
            let mut violation = told(Code::SandboxLimit).file(fault.file.display().to_string());
            // Some limits are numbers and some are not.
            if let (Ok(wanted), Ok(actual)) = (fault.wanted.parse::<u64>(), fault.actual.parse::<u64>()) {
                violation = violation.limit(wanted).actual(actual);
            }
            violation
        }
        LaunchError::Unstoppable { .. } => told(Code::SandboxUnavailable),
        // The program is there and may be started, but is none: wrong architecture, or a missing loader.
        LaunchError::Program { .. } if native => told(Code::ProcessLaunch).blame(Blame::Module),
        _ => told(Code::ProcessLaunch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_stands_in_one_line() {
        let text = "the groups:\n  memory: closed\n  Or as root:\n    mkdir -p /x   # first\n    for a in b; do c; done\n";
        assert_eq!(
            in_one_line(text),
            "the groups:  memory: closed;  Or as root:  mkdir -p /x # first;  for a in b; do c; done"
        );
        let violation = unavailable(text);
        assert_eq!((violation.code.as_str(), violation.blame), ("sandbox.unavailable", Blame::Host));
        assert!(!violation.message.contains("\\u000a"), "{violation}");
    }

    #[test]
    fn no_limit_is_so_low_that_nothing_starts() {
        let limits = |memory_bytes, tasks, cpu_percent| {
            let mut limits = Limits::default();
            (limits.memory_bytes, limits.tasks, limits.cpu_percent) = (memory_bytes, tasks, cpu_percent);
            limits
        };
        let (nothing, least) = (limits(0, 0, 0), limits(16 << 20, 1, 1));
        assert_eq!(raised(nothing), least);
        assert_eq!(raised(Limits::default()), Limits::default());
    }

    #[test]
    fn a_package_lowers_limits_and_never_raises_them() {
        let mut hints = ResourceHints::default();
        (hints.memory_mib, hints.tasks, hints.cpu_percent) = (Some(64), Some(1_000), Some(50));
        let limits = profile(&Limits::default(), &hints).limits;
        assert_eq!((limits.memory_bytes, limits.tasks, limits.cpu_percent), (64 << 20, 32, 50));
    }
}
