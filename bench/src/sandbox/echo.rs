//! The echo action through a host, end to end, and the same module without one.

use super::made;
use crate::examples::Example;
use crate::whole::{frames, whole_process};
use modberth_host::{Host, Invocation, Module};
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// How the subject of a row is told.
pub(super) const INVOKE: &str = "Host::invoke(echo, 2 targets), wait, Outcome::to_json";

/// A host and the module it runs.
pub(super) struct Echo<'a> {
    pub(super) host: &'a Host,
    pub(super) module: Module,
}

impl<'a> Echo<'a> {
    pub(super) fn open(host: &'a Host, example: &Example) -> Result<Self, String> {
        Ok(Self { host, module: made::open(&example.dir)? })
    }

    /// One action: request, checks, process, results, JSON of the outcome.
    pub(super) fn act(&self) -> Result<Duration, String> {
        let begin = Instant::now();
        let invocation = Invocation::new(self.module.clone(), "echo")
            .targets(["a", "b"])
            .parameters(r#"{"message":"Hello"}"#);
        let outcome = self.host.invoke(invocation).wait();
        let json = outcome.to_json();
        let took = begin.elapsed();
        let confined = outcome.process.as_ref().is_some_and(|process| process.confinement.is_confined());
        if confined && outcome.results().is_some_and(|results| results.results.len() == 2) {
            Ok(took)
        } else {
            Err(format!("the echo action: {json}"))
        }
    }

    /// The command line that the host starts, as words.
    pub(super) fn command(&self) -> Result<Vec<String>, String> {
        let line = self.host.command_line(&self.module).map_err(|violation| violation.to_string())?;
        Ok(line.iter().map(|word| word.to_string_lossy().into_owned()).collect())
    }
}

/// A command that gets the same frames.
pub(super) struct Bare {
    command: Vec<String>,
    input: Vec<u8>,
    answers: bool,
}

impl Bare {
    /// `answers`: whether it writes results; an empty program does not.
    pub(super) fn new(command: Vec<String>, answers: bool) -> Self {
        Self { command, input: frames(), answers }
    }

    pub(super) fn run(&self) -> Result<Duration, String> {
        whole_process(&self.command, &self.input, self.answers)
    }

    pub(super) fn line(&self) -> String {
        format!("{} < FRAMES", self.command.join(" "))
    }
}

/// bubblewrap around the same program: namespaces, read-only binds and a tmpfs; it knows no limits and loads no filter here.
pub(super) fn bubblewrap(bwrap: &Path, payload: &Path, entry: &str) -> Vec<String> {
    let (bwrap, payload) = (bwrap.display().to_string(), payload.display().to_string());
    let entry = format!("/module/{entry}");
    [
        bwrap.as_str(),
        "--unshare-all",
        "--ro-bind",
        "/usr",
        "/usr",
        "--symlink",
        "usr/bin",
        "/bin",
        "--symlink",
        "usr/lib",
        "/lib",
        "--symlink",
        "usr/lib64",
        "/lib64",
        "--tmpfs",
        "/tmp",
        "--ro-bind",
        &payload,
        "/module",
        "--chdir",
        "/module",
        "--new-session",
        "--die-with-parent",
        &entry,
    ]
    .map(str::to_owned)
    .to_vec()
}

/// `count` runs in a row on each of `at_once` threads, and the time of each.
pub(super) fn block(
    at_once: usize,
    count: usize,
    run: impl Fn() -> Result<Duration, String> + Sync,
) -> Result<Vec<Duration>, String> {
    if at_once == 1 {
        return (0..count).map(|_| run()).collect();
    }
    let start = Barrier::new(at_once);
    let series = || {
        start.wait();
        (0..count).map(|_| run()).collect::<Result<Vec<_>, _>>()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(series)).collect();
        let mut times = Vec::with_capacity(at_once * count);
        for thread in threads {
            times.extend(thread.join().map_err(|_| "a thread of the bench panicked".to_owned())??);
        }
        Ok(times)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn bubblewrap_shares_nothing_and_binds_the_package_read_only() {
        let line = bubblewrap(Path::new("/usr/bin/bwrap"), Path::new("/p/payload"), "bin/echo");
        assert_eq!(line[..2], ["/usr/bin/bwrap", "--unshare-all"]);
        assert_eq!(line.last().unwrap(), "/module/bin/echo");
        let bind = line.iter().position(|word| word == "/p/payload").unwrap();
        assert_eq!([&*line[bind - 1], &*line[bind + 1]], ["--ro-bind", "/module"]);
        assert!(!line.iter().any(|word| word == "--bind" || word.starts_with("--share")));
    }

    #[test]
    fn a_block_runs_each_thread_as_often_as_asked() {
        let ran = AtomicUsize::new(0);
        let run = || Ok(Duration::from_micros(ran.fetch_add(1, Ordering::SeqCst) as u64));
        assert_eq!(block(1, 3, run).unwrap().len(), 3);
        assert_eq!(block(2, 5, run).unwrap().len(), 10);
        assert_eq!(ran.load(Ordering::SeqCst), 13);
        assert_eq!(block(2, 1, || Err("gone".to_owned())).unwrap_err(), "gone");
    }
}
