//! Running one row and seeing what comes of it.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use modberth_sandbox::{Command, Exit, Launch, Launcher, Process, Usage, Word};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::common::alive;
use crate::row::{Kind, PROGRAMS, Row};
use crate::world::World;

/// A guard against hangs: at least ten times what any row takes.
const GUARD: Duration = Duration::from_secs(60);
/// As much as is kept of a stream.
const MOST: usize = 64 << 10;
/// More than any pipe holds that was not made larger, and as much as the largest message.
const INPUT: usize = 4 << 20;

/// How a row is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drive {
    /// Until everything is gone.
    ToTheEnd,
    /// Until its own process has ended; then the host stops the rest.
    UntilEnded,
    /// Until it has said a line; then the host stops it.
    UntilLine,
    /// Until it has closed its output; then the host stops it.
    UntilClosed,
    /// Until it has written more than is kept to standard output; then the host stops it.
    FloodsOutput,
    /// The same for standard error.
    FloodsErrors,
    /// Until it has said a line; then the host writes more than a pipe holds, without ever waiting, and stops it.
    WritesInput,
}

/// What was seen of a run.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Its first line.
    pub(crate) line: String,
    /// How its own process ended.
    pub(crate) exit: Option<Exit>,
    usage: Option<Usage>,
    /// The backstop killed it.
    pub(crate) backstop: bool,
    /// Everything was gone before the host stopped it.
    pub(crate) alone: bool,
    /// Processes with its marker after it was stopped.
    pub(crate) left: Vec<u32>,
    /// What was noticed outside.
    pub(crate) noticed: Vec<&'static str>,
    /// What the host's writing came to.
    pub(crate) written: Option<(usize, Option<Errno>)>,
    /// What it wrote to standard error.
    #[allow(dead_code)]
    errors: String,
}

impl Seen {
    /// What it used, as the kernel counted.
    pub(crate) fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }
}

/// Runs a row.
pub(crate) fn run(row: &Row, kind: Kind, launcher: Launcher) -> Result<Seen, Failed> {
    let world = World::new()?;
    let profile = kind.profile(row, &world);
    let program = match kind.writes_package() {
        true => Word::text(format!("{PROGRAMS}/hostile")),
        false => Word::package("hostile"),
    };
    let mut command = Command::new(program).arg(Word::text(row.name)).arg(Word::text(world.marker()));
    for fact in world.facts(kind)? {
        command = command.arg(Word::text(fact));
    }
    let process = launcher.launch(&Launch::new(world.package(), &command, &profile))?;
    let until = Instant::now() + GUARD;
    let mut output = Vec::new();
    let mut written = None;
    match row.drive {
        Drive::ToTheEnd => {
            if !process.wait_gone(Some(GUARD))? {
                return Err(late(row, process));
            }
        }
        Drive::UntilEnded => {
            if !ready(process.ended(), PollFlags::IN, until)? {
                return Err(late(row, process));
            }
        }
        Drive::UntilLine | Drive::WritesInput => {
            read(process.stdout(), &mut output, until, |text| text.contains(&b'\n'))?;
        }
        Drive::UntilClosed => read(process.stdout(), &mut output, until, |_| false)?,
        Drive::FloodsOutput => read(process.stdout(), &mut output, until, |text| text.len() >= MOST)?,
        Drive::FloodsErrors => read(process.stderr(), &mut output, until, |text| text.len() >= MOST)?,
    }
    if row.drive == Drive::WritesInput {
        written = Some(write(&process)?);
    }
    let alone = process.wait_gone(Some(Duration::ZERO))?;
    let (out, err) = (process.stdout().try_clone_to_owned()?, process.stderr().try_clone_to_owned()?);
    let ended = process.stop(GUARD)?;
    let left = alive(world.marker());
    let mut errors = Vec::new();
    // Nobody holds the other ends any more, so these end.
    read(std::os::fd::AsFd::as_fd(&out), &mut output, until, |text| text.len() >= MOST)?;
    read(std::os::fd::AsFd::as_fd(&err), &mut errors, until, |text| text.len() >= MOST)?;
    let mut noticed = world.noticed()?;
    for end in [&out, &err] {
        if !rustix::fs::fcntl_getfl(end)?.contains(OFlags::NONBLOCK) {
            noticed.push("a stream of the host's that blocks");
        }
    }
    let line = String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned();
    Ok(Seen {
        line,
        exit: ended.exit,
        usage: ended.usage,
        backstop: ended.backstop,
        alone,
        left,
        noticed,
        written,
        errors: String::from_utf8_lossy(&errors).into_owned(),
    })
}

fn late(row: &Row, process: Process) -> Failed {
    let stopped = process.stop(GUARD);
    format!("{} was still there after {} s; stopping it: {stopped:?}", row.name, GUARD.as_secs()).into()
}

/// Waits for something on a descriptor.
fn ready(fd: BorrowedFd<'_>, events: PollFlags, until: Instant) -> Result<bool, Errno> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut polled = [PollFd::from_borrowed_fd(fd, events)];
        match rustix::event::poll(&mut polled, Timespec::try_from(left).ok().as_ref()) {
            Err(Errno::INTR) => {}
            answer => return answer.map(|count| count == 1),
        }
    }
}

/// Reads until there is enough, or to the end.
fn read(
    fd: BorrowedFd<'_>,
    text: &mut Vec<u8>,
    until: Instant,
    enough: impl Fn(&[u8]) -> bool,
) -> Result<(), Failed> {
    let mut chunk = [0; 4096];
    while !enough(text) {
        if !ready(fd, PollFlags::IN, until)? {
            return Err(format!("nothing more came; so far {:?}", String::from_utf8_lossy(text)).into());
        }
        match rustix::io::read(fd, &mut chunk) {
            Ok(0) => return Ok(()),
            Ok(got) => text.extend(chunk.iter().take(got)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes until the pipe takes no more or breaks. It must never wait: the launcher's ends do not block.
fn write(process: &Process) -> Result<(usize, Option<Errno>), Failed> {
    let stdin = process.stdin().ok_or("no standard input")?;
    let chunk = [b'x'; 4096];
    let mut written = 0;
    while written < INPUT {
        match rustix::io::write(stdin, &chunk) {
            Ok(more) => written += more,
            Err(Errno::INTR) => {}
            Err(error) => return Ok((written, Some(error))),
        }
    }
    Ok((written, None))
}
