//! What runs in the sandbox and tries to get out of it: `probe LAYER FACT=VALUE…`.
//!
//! Outside a sandbox a probe does no harm: it writes only to places it is told, bounds what it takes (64 processes,
//! 256 MiB, 32 MiB of files, two seconds), takes nothing along and leaves nothing behind. There it gets through.

mod attempt;
mod files;
mod kernel;
mod network;
mod processes;
mod resources;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What came of a probe, as the first word of its line and its exit status say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing worked.
    Stopped,
    /// Something did.
    GotThrough,
    /// The probe could not find out.
    Unclear,
}

impl Verdict {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Stopped, Self::GotThrough, Self::Unclear];

    /// The words at the beginning of the line.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::GotThrough => "got through",
            Self::Unclear => "unclear",
        }
    }

    /// The exit status that goes with it.
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Stopped => 0,
            Self::GotThrough => 1,
            Self::Unclear => 3,
        }
    }
}

/// A verdict with what it rests on, one line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    verdict: Verdict,
    because: String,
}

impl Answer {
    fn new(verdict: Verdict, because: impl Into<String>) -> Self {
        Self { verdict, because: because.into() }
    }
}

/// A fact is missing or wrong: the command line is. The text says which.
type Wrong = String;

/// A probe: from the facts it was given to what came of it.
type Probe = fn(&Facts<'_>) -> Result<Answer, Wrong>;

/// Every probe, by the name of its layer.
const PROBES: [(&str, Probe); 17] = [
    ("mount_namespace", files::machine),
    ("read_only_files", files::read_only),
    ("landlock", files::root),
    ("scratch_limit", files::scratch),
    ("network_namespace", network::connect),
    ("ipc_namespace", kernel::shared_memory),
    ("uts_namespace", kernel::host_name),
    ("process_namespace", processes::others),
    ("death_signal", kernel::death_signal),
    ("ordinary_user", kernel::capabilities),
    ("no_new_privileges", kernel::privileges),
    ("seccomp", kernel::calls),
    ("environment", processes::environment),
    ("memory_limit", resources::memory),
    ("task_limit", processes::tasks),
    ("cpu_limit", resources::processor),
    ("resource_limits", resources::each),
];

/// What the probe was told: `NAME=VALUE` words.
struct Facts<'a>(&'a [OsString]);

impl Facts<'_> {
    fn get(&self, name: &str) -> Result<&OsStr, Wrong> {
        self.0
            .iter()
            .find_map(|word| {
                let rest = word.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
                Some(OsStr::from_bytes(rest))
            })
            .ok_or_else(|| format!("the fact {name}=… is missing"))
    }

    fn path(&self, name: &str) -> Result<PathBuf, Wrong> {
        self.get(name).map(PathBuf::from)
    }

    /// A whole number, cut to `most`.
    fn number(&self, name: &str, most: u64) -> Result<u64, Wrong> {
        let text = self.get(name)?;
        let number: Option<u64> = text.to_str().and_then(|text| text.parse().ok());
        number
            .map(|number| number.min(most))
            .ok_or_else(|| format!("the fact {name} is no whole number: {}", text.display()))
    }

    /// All values of a fact that may be given several times.
    fn all(&self, name: &str) -> Vec<OsString> {
        let value = |word: &OsString| {
            let rest = word.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(OsString::from_vec(rest.to_vec()))
        };
        self.0.iter().filter_map(value).collect()
    }
}

/// Runs the probe of `layer`, prints one line on standard output (`stopped: …`, `got through: …` or `unclear: …`) and
/// gives the exit status: 0, 1 or 3 in this order, 2 with a line on standard error where the command line is wrong.
///
/// Called from a program with one thread, which ends with this status and does nothing else.
pub fn run(layer: &OsStr, facts: &[OsString]) -> u8 {
    let found = PROBES.iter().find(|(name, _)| layer == OsStr::new(name));
    let answer = match found {
        Some((_, probe)) => probe(&Facts(facts)),
        None => Err(format!("there is no probe for {}", layer.display())),
    };
    match answer {
        Ok(Answer { verdict, because }) => {
            let line = format!("{}: {}\n", verdict.words(), because.replace('\n', " "));
            match std::io::stdout().write_all(line.as_bytes()) {
                Ok(()) => verdict.status(),
                Err(_) => Verdict::Unclear.status(),
            }
        }
        Err(why) => {
            // Nothing is left to say it with if this fails.
            let _ = writeln!(std::io::stderr(), "probe {}: {why}", layer.display());
            2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_and_cut_to_their_bounds() {
        let words: Vec<OsString> =
            ["a=1", "b=x=y", "c=", "a=2", "tasks=1000"].into_iter().map(OsString::from).collect();
        let facts = Facts(&words);
        assert_eq!(facts.number("a", 9), Ok(1));
        assert_eq!(facts.number("tasks", 64), Ok(64));
        assert_eq!(facts.get("b"), Ok(OsStr::new("x=y")));
        assert_eq!(facts.all("a"), ["1", "2"]);
        assert_eq!(facts.number("c", 9), Err("the fact c is no whole number: ".to_owned()));
        assert_eq!(facts.get("d"), Err("the fact d=… is missing".to_owned()));
    }

    #[test]
    fn a_wrong_command_line_is_no_verdict() {
        assert_eq!(run(OsStr::new("nothing"), &[]), 2);
        for name in ["mount_namespace", "scratch_limit", "network_namespace", "task_limit", "memory_limit"] {
            assert_eq!(run(OsStr::new(name), &[]), 2, "{name}");
        }
    }

    #[test]
    fn every_check_has_its_probe() {
        let probes: Vec<&str> = PROBES.iter().map(|(name, _)| *name).collect();
        let checks: Vec<&str> = super::super::checks().iter().map(|check| check.name()).collect();
        assert_eq!(probes, checks);
    }
}
