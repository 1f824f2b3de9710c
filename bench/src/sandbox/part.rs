//! Measurements that need a process of their own: this program starts itself again with `--part`, and reads one line of JSON.

use super::{flight, kill, repeat};
use clap::ValueEnum;
use rustix::process::Signal;
use serde::de::DeserializeOwned;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Kills hosts, and waits for what they ran.
    Kill,
    /// A host to be killed.
    Victim,
    /// Thousands of actions of one host.
    Repeat,
    /// Many actions of one host at once.
    Flight,
}

impl Part {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Does what a part does, in the process that was started for it, and gives the line that it prints.
pub(crate) fn run(part: Part, package: &Path) -> Result<String, String> {
    // Nothing of it outlives the bench.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("PR_SET_PDEATHSIG: {error}"))?;
    let found = match part {
        Part::Kill => serde_json::to_string(&kill::run(package)?),
        Part::Victim => return kill::victim(package),
        Part::Repeat => serde_json::to_string(&repeat::run(package)?),
        Part::Flight => serde_json::to_string(&flight::run(package)?),
    };
    found.map_err(|error| error.to_string())
}

/// A command that starts a part.
pub(super) fn command(part: Part, package: &Path) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let mut command = Command::new(own);
    command
        .args(["--part", &part.name(), "--package"])
        .arg(package)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    Ok(command)
}

/// Starts a part, waits for its end no longer than `patience`, and reads what it found.
pub(super) fn ask<T: DeserializeOwned>(part: Part, package: &Path, patience: Duration) -> Result<T, String> {
    let failed = |what: &str, error: &dyn std::fmt::Display| format!("part {}: {what}: {error}", part.name());
    let mut child = command(part, package)?.spawn().map_err(|error| failed("start", &error))?;
    let status = wait(&mut child, patience).map_err(|error| failed("wait", &error))?;
    let mut line = String::new();
    let read = child.stdout.take().map(|out: ChildStdout| out.take(1 << 16).read_to_string(&mut line));
    read.transpose().map_err(|error| failed("read", &error))?;
    if !status.success() {
        return Err(failed("ended with", &status));
    }
    serde_json::from_str(&line).map_err(|error| failed(line.trim(), &error))
}

/// Waits for a child's end; kills it when it takes too long. What it prints until then fits into a pipe.
fn wait(child: &mut Child, patience: Duration) -> Result<ExitStatus, String> {
    let until = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        if Instant::now() >= until {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Err(format!("killed after {} s", patience.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_does_not_end_is_killed() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let problem = wait(&mut child, Duration::from_millis(1)).unwrap_err();
        assert_eq!(problem, "killed after 0 s");
        assert!(child.try_wait().unwrap().is_some());
    }
}
