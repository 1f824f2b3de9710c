//! The guardian: one process per host that ends modules when the host cannot (P1-HOST-25).
//!
//! It has a session and a control group of its own, and shares the host's memory, where each slot has a [`Watch`]: the
//! module's process, and when it has to be gone. When a deadline passes, and when the host has ended, it kills what
//! the watches name; the first process of a process namespace takes all others along. After the host's end it also
//! removes the control groups.
//!
//! The host's own deadlines are earlier. The guardian matters when the host is stopped or dead; that a module dies with
//! its host is besides the kernel's own doing (PR_SET_PDEATHSIG), so nothing depends on the guardian alone but the
//! deadline under a stopped host. A host whose guardian has died makes another before its next launch.

use std::ffi::{CString, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::event::EventfdFlags;
use rustix::process::Signal;

use crate::cgroup::{GuardianGroup, Tree};
use crate::child::{call, default_signals, exit, now, timespec};
use crate::clone::clone;
use crate::descriptors::{LOWEST, host_process, raised};
use crate::launcher::START_PATIENCE;
use crate::process::{Exit, wait_readable};
use crate::region::Stack;

/// Slots that one host can have.
pub(crate) const MOST_SLOTS: usize = 72;

/// One slot, as the guardian sees it.
#[derive(Default)]
pub(crate) struct Watch {
    /// One of the states below.
    state: AtomicU32,
    pid: AtomicI32,
    /// Nanoseconds of CLOCK_MONOTONIC; `u64::MAX`: none.
    deadline: AtomicU64,
    /// Nanoseconds that the module may go on after the host's end.
    grace: AtomicU64,
    /// The generation of the slot's control group; 0: it has none.
    generation: AtomicU32,
}

const IDLE: u32 = 0;
const LIVE: u32 = 1;
const KILLING: u32 = 2;
const FIRED: u32 = 3;

/// What host and guardian share.
struct Page {
    watches: [Watch; MOST_SLOTS],
    /// When the guardian looks up by itself.
    sleeps_until: AtomicU64,
    stop: AtomicU32,
    /// What goes to [`WAKE`] and after, all at [`LOWEST`] or above.
    descriptors: [RawFd; FIRST_DIRECTORY - WAKE],
    /// The tree's directory in each hierarchy, and how many there are.
    directories: [RawFd; MOST_HIERARCHIES],
    hierarchies: usize,
    /// `../NAME`, the tree as seen from its own directory.
    name: CString,
    stack: Stack,
}

// Where the guardian has its descriptors.
const HOST: usize = 3;
const WAKE: usize = 4;
const UNIFIED: usize = 5;
const V1_CPU: usize = 6;
const FIRST_DIRECTORY: usize = 7;
const MOST_HIERARCHIES: usize = 8;
/// Stands where there is no descriptor.
const NONE: RawFd = -1;

/// How long the guardian tries to empty and remove the groups of a host that has ended.
const CLEANUP: u64 = 5_000_000_000;
const CLEANUP_PAUSE: u64 = 2_000_000;
/// How long a host waits for a guardian that is killing this very slot.
const KILL_PATIENCE: Duration = Duration::from_millis(200);
/// How often a guardian is made before it is given up, if somebody kills it each time.
const ATTEMPTS: u32 = 3;
/// How long a guardian that was told to end is waited for.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// The host's handle.
pub(crate) struct Guardian {
    page: Arc<Page>,
    wake: OwnedFd,
    /// What the guardian gets copies of.
    _handed: Vec<OwnedFd>,
    /// The process; `None` before the first and after a failed start.
    process: Mutex<Option<OwnedFd>>,
}

impl Guardian {
    /// Starts a guardian for the groups of `tree`, if there are any.
    pub(crate) fn start(tree: Option<&Tree>) -> io::Result<Self> {
        let wake = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let wake = raised(wake, LOWEST)?;
        let mut handed = Vec::new();
        let mut high = |fd: Option<BorrowedFd<'_>>| -> io::Result<RawFd> {
            let Some(fd) = fd else { return Ok(NONE) };
            let copy = rustix::io::fcntl_dupfd_cloexec(fd, LOWEST)?;
            let number = copy.as_raw_fd();
            handed.push(copy);
            Ok(number)
        };
        let unified = high(tree.and_then(Tree::unified))?;
        let v1_cpu = high(tree.and_then(Tree::v1_cpu))?;
        let mut directories = [NONE; MOST_HIERARCHIES];
        let trees = tree.into_iter().flat_map(Tree::directories);
        for (place, directory) in directories.iter_mut().zip(trees) {
            *place = high(Some(directory))?;
        }
        let name = tree.map(|tree| format!("../{}", tree.name())).unwrap_or_default();
        let page = Arc::new(Page {
            watches: [const { Watch::new() }; MOST_SLOTS],
            sleeps_until: AtomicU64::new(0),
            stop: AtomicU32::new(0),
            descriptors: [wake.as_raw_fd(), unified, v1_cpu],
            hierarchies: directories.iter().filter(|fd| **fd != NONE).count(),
            directories,
            name: CString::new(name).unwrap_or_default(),
            stack: Stack::new()?,
        });
        let guardian = Self { page, wake, _handed: handed, process: Mutex::new(None) };
        guardian.ensure(tree)?;
        Ok(guardian)
    }

    fn lock(&self) -> MutexGuard<'_, Option<OwnedFd>> {
        self.process.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Starts another guardian where this one has died.
    pub(crate) fn ensure(&self, tree: Option<&Tree>) -> io::Result<()> {
        let mut process = self.lock();
        if let Some(guardian) = &*process {
            if !wait_readable(guardian.as_fd(), Some(Duration::ZERO))? {
                return Ok(());
            }
            tracing::warn!("the guardian process has died; starting another");
            reap(guardian)?;
            *process = None;
        }
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match self.make(tree)? {
                Ok(guardian) => {
                    *process = Some(guardian);
                    return Ok(());
                }
                Err(end) => {
                    tracing::warn!(?end, "the guardian process has ended at once");
                    last = end;
                }
            }
        }
        Err(io::Error::other(format!(
            "the guardian process ended at once {ATTEMPTS} times, at last with {last:?}"
        )))
    }

    /// Makes the process. Gives how it ended when it has ended before it watched over anything.
    fn make(&self, tree: Option<&Tree>) -> io::Result<Result<OwnedFd, Option<Exit>>> {
        let host = host_process(LOWEST)?;
        let group = tree.map(Tree::guardian).transpose()?;
        let argument: *const Start<'_> = &Start { page: &self.page, host: host.as_raw_fd() };
        self.page.sleeps_until.store(0, SeqCst);
        // SAFETY: the page and its stack live until the guardian is reaped (`Drop`), or for ever. The guardian takes
        // what `argument` leads to before it says so in `sleeps_until`, which is waited for below.
        let made = unsafe {
            clone(
                guardian,
                argument.cast_mut().cast(),
                &self.page.stack,
                0,
                group.as_ref().and_then(GuardianGroup::into_fd),
            )
        };
        let made = made?;
        let until = Instant::now() + START_PATIENCE;
        while self.page.sleeps_until.load(SeqCst) == 0 {
            // It says so within a few dozen system calls, or is gone.
            if wait_readable(made.fd.as_fd(), Some(Duration::from_micros(100)))? {
                return Ok(Err(reap(&made.fd)?));
            }
            if Instant::now() > until {
                let _ = rustix::process::pidfd_send_signal(&made.fd, Signal::KILL);
                // Once it is killed it cannot touch this memory for long, and it must not outlive it.
                wait_readable(made.fd.as_fd(), None)?;
                reap(&made.fd)?;
                let late =
                    format!("the guardian process has said nothing for {} s", START_PATIENCE.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, late));
            }
        }
        if let Some(group) = &group
            && group.into_fd().is_none()
        {
            group.adopt(made.pid)?;
        }
        Ok(Ok(made.fd))
    }

    /// The slot's group is now this one; 0: it has none.
    pub(crate) fn set_generation(&self, slot: u32, generation: u32) {
        if let Some(watch) = self.page.watches.get(slot as usize) {
            watch.generation.store(generation, SeqCst);
        }
    }

    /// Begins to watch over the module of a slot.
    pub(crate) fn watch(&self, slot: u32, pid: i32, backstop: Option<Duration>, grace: Duration) {
        let Some(watch) = self.page.watches.get(slot as usize) else { return };
        let nanoseconds = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let deadline = backstop.map_or(u64::MAX, |backstop| now().saturating_add(nanoseconds(backstop)));
        watch.pid.store(pid, SeqCst);
        watch.grace.store(nanoseconds(grace), SeqCst);
        watch.deadline.store(deadline, SeqCst);
        watch.state.store(LIVE, SeqCst);
        if deadline < self.page.sleeps_until.load(SeqCst) {
            // It holds a small counter, so this neither blocks nor fails.
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        }
    }

    /// Ends the watch before the module is reaped. True when the guardian has killed it.
    pub(crate) fn unwatch(&self, slot: u32) -> bool {
        let Some(watch) = self.page.watches.get(slot as usize) else { return false };
        let until = Instant::now() + KILL_PATIENCE;
        loop {
            match watch.state.compare_exchange(LIVE, IDLE, SeqCst, SeqCst) {
                // It is between looking and killing. It may have been killed itself there.
                Err(KILLING) if Instant::now() < until => std::thread::yield_now(),
                Err(FIRED | KILLING) => {
                    watch.state.store(IDLE, SeqCst);
                    return true;
                }
                _ => return false,
            }
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let process = self.lock().take();
        let Some(process) = process else { return };
        self.page.stop.store(1, SeqCst);
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        let ended = wait_readable(process.as_fd(), Some(STOP_PATIENCE)).unwrap_or(false) || {
            // Somebody has stopped it.
            let _ = rustix::process::pidfd_send_signal(&process, Signal::KILL);
            wait_readable(process.as_fd(), Some(STOP_PATIENCE)).unwrap_or(false)
        };
        if !ended || reap(&process).is_err() {
            // It may still run on its stack.
            std::mem::forget(Arc::clone(&self.page));
        }
    }
}

impl Watch {
    const fn new() -> Self {
        Self {
            state: AtomicU32::new(IDLE),
            pid: AtomicI32::new(0),
            deadline: AtomicU64::new(u64::MAX),
            grace: AtomicU64::new(0),
            generation: AtomicU32::new(0),
        }
    }
}

/// Takes an ended process off the process table.
fn reap(process: &OwnedFd) -> io::Result<Option<Exit>> {
    Ok(super::running::wait_exit(process.as_fd(), true)?.map(|(exit, _)| exit))
}

/// What a guardian is started with.
struct Start<'a> {
    page: &'a Page,
    host: RawFd,
}

/// The guardian itself: system calls only, see [`crate::child`].
extern "C" fn guardian(argument: *mut c_void) -> ! {
    // SAFETY: see where it is made.
    let (page, host) = unsafe {
        let start = &*argument.cast::<Start<'static>>();
        (start.page, start.host)
    };
    call(libc::SYS_prctl, [libc::PR_SET_NAME as usize, c"modberth-guard".as_ptr() as usize, 0, 0, 0, 0]);
    default_signals();
    call(libc::SYS_setsid, [0; 6]);
    let mut place = HOST;
    let mut put = |fd: RawFd| {
        if fd != NONE {
            call(libc::SYS_dup3, [fd as usize, place, 0, 0, 0, 0]);
        } else {
            call(libc::SYS_close, [place, 0, 0, 0, 0, 0]);
        }
        place += 1;
    };
    put(host);
    page.descriptors.iter().for_each(|&fd| put(fd));
    page.directories.iter().for_each(|&fd| put(fd));
    call(libc::SYS_close_range, [FIRST_DIRECTORY + MOST_HIERARCHIES, u32::MAX as usize, 0, 0, 0, 0]);
    call(libc::SYS_close_range, [0, 2, 0, 0, 0, 0]);
    loop {
        let next = end_late(page);
        page.sleeps_until.store(next.max(1), SeqCst);
        // A deadline that was set before the host could see this is seen here.
        if end_late(page) < next {
            continue;
        }
        match sleep(next) {
            Woken::Host => leave(page),
            Woken::Told if page.stop.load(SeqCst) == 1 => exit(0),
            Woken::Told | Woken::Time => {}
        }
    }
}

enum Woken {
    Host,
    Told,
    Time,
}

/// Sleeps until the host has ended, somebody writes on the wake descriptor, or it is `until`.
fn sleep(until: u64) -> Woken {
    let polled = |fd: usize| libc::pollfd { fd: fd as RawFd, events: libc::POLLIN, revents: 0 };
    let mut polled = [polled(HOST), polled(WAKE)];
    let time = timespec(until.saturating_sub(now()));
    let timeout = if until == u64::MAX { 0 } else { &raw const time as usize };
    call(libc::SYS_ppoll, [polled.as_mut_ptr() as usize, polled.len(), timeout, 0, 0, 0]);
    if polled[0].revents != 0 {
        return Woken::Host;
    }
    if polled[1].revents != 0 {
        let mut counter = 0u64;
        call(libc::SYS_read, [WAKE, &raw mut counter as usize, 8, 0, 0, 0]);
        return Woken::Told;
    }
    Woken::Time
}

/// Kills what is late and gives the next deadline.
fn end_late(page: &Page) -> u64 {
    let time = now();
    let mut next = u64::MAX;
    for (slot, watch) in page.watches.iter().enumerate() {
        if watch.state.load(SeqCst) != LIVE {
            continue;
        }
        let deadline = watch.deadline.load(SeqCst);
        if deadline <= time {
            kill(slot, watch);
        } else {
            next = next.min(deadline);
        }
    }
    next
}

/// Kills the module of a slot. The host does not reap it meanwhile, so its number is its own.
fn kill(slot: usize, watch: &Watch) {
    if watch.state.compare_exchange(LIVE, KILLING, SeqCst, SeqCst).is_err() {
        return;
    }
    // A group that has used up its processor time would die slowly.
    let mut path = Path::new(slot, watch.generation.load(SeqCst));
    if path.exists() {
        path.write(UNIFIED, "/cpu.max", b"max 100000");
        path.write(V1_CPU, "/cpu.cfs_quota_us", b"-1");
    }
    let pid = watch.pid.load(SeqCst);
    if pid > 0 {
        call(libc::SYS_kill, [pid as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
    }
    watch.state.store(FIRED, SeqCst);
}

/// The host has ended: everything goes, in time.
fn leave(page: &Page) -> ! {
    let end = now();
    loop {
        let time = now();
        let mut last = 0;
        for (slot, watch) in page.watches.iter().enumerate() {
            if watch.state.load(SeqCst) != LIVE {
                continue;
            }
            let due = end.saturating_add(watch.grace.load(SeqCst));
            if due <= time {
                kill(slot, watch);
            } else {
                last = due.max(last);
            }
        }
        if last == 0 {
            break;
        }
        pause(CLEANUP_PAUSE.max((last - time).min(20_000_000)));
    }
    let until = now() + CLEANUP;
    while !remove(page) && now() < until {
        pause(CLEANUP_PAUSE);
    }
    // Its own group goes last. Where a process may not stand above groups, the next host removes it.
    let unified = UNIFIED;
    let file = openat(unified, c"../cgroup.procs".as_ptr() as usize, libc::O_WRONLY);
    if file >= 0 {
        call(libc::SYS_write, [file as usize, c"0".as_ptr() as usize, 1, 0, 0, 0]);
    }
    for hierarchy in 0..page.hierarchies {
        let directory = FIRST_DIRECTORY + hierarchy;
        let remove = libc::AT_REMOVEDIR as usize;
        call(libc::SYS_unlinkat, [directory, c"guardian".as_ptr() as usize, remove, 0, 0, 0]);
        call(libc::SYS_unlinkat, [directory, page.name.as_ptr() as usize, remove, 0, 0, 0]);
    }
    exit(0)
}

/// Kills what is left in the groups and removes them. True when none is left.
fn remove(page: &Page) -> bool {
    let mut all = true;
    for (slot, watch) in page.watches.iter().enumerate() {
        let mut path = Path::new(slot, watch.generation.load(SeqCst));
        if !path.exists() {
            continue;
        }
        path.write(UNIFIED, "/cgroup.kill", b"1");
        let mut gone = true;
        for hierarchy in 0..page.hierarchies {
            let place = path.with("");
            let answer = call(
                libc::SYS_unlinkat,
                [FIRST_DIRECTORY + hierarchy, place, libc::AT_REMOVEDIR as usize, 0, 0, 0],
            );
            gone &= answer == 0 || answer == -(libc::ENOENT as isize);
        }
        if gone {
            watch.generation.store(0, SeqCst);
        }
        all &= gone;
    }
    all
}

fn pause(nanoseconds: u64) {
    let time = timespec(nanoseconds);
    call(libc::SYS_nanosleep, [&raw const time as usize, 0, 0, 0, 0, 0]);
}

fn openat(at: usize, path: usize, flags: libc::c_int) -> isize {
    call(libc::SYS_openat, [at, path, (flags | libc::O_CLOEXEC) as usize, 0, 0, 0])
}

/// The path of a slot's group below the tree, `slotN.G`, and of files in it, without allocation.
struct Path {
    bytes: [u8; 64],
    length: usize,
}

impl Path {
    fn new(slot: usize, generation: u32) -> Self {
        let mut path = Self { bytes: [0; 64], length: 0 };
        if generation != 0 {
            path.push(b"slot");
            path.push_number(slot as u64);
            path.push(b".");
            path.push_number(u64::from(generation));
        }
        path
    }

    fn exists(&self) -> bool {
        self.length > 0
    }

    fn push(&mut self, text: &[u8]) {
        for (place, byte) in self.bytes.iter_mut().skip(self.length).zip(text) {
            *place = *byte;
        }
        self.length = (self.length + text.len()).min(self.bytes.len() - 1);
    }

    fn push_number(&mut self, number: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = number;
        while at > 0 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if let Some(digits) = digits.get(at..) {
            self.push(digits);
        }
    }

    /// The address of the path with `end` behind it and a NUL.
    fn with(&mut self, end: &str) -> usize {
        let length = self.length;
        self.push(end.as_bytes());
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = 0;
        }
        self.length = length;
        self.bytes.as_ptr() as usize
    }

    /// Writes to a file of the group, where the directory exists; a file that is not there is another kind of machine.
    fn write(&mut self, directory: usize, file: &str, text: &[u8]) {
        let path = self.with(file);
        let file = openat(directory, path, libc::O_WRONLY);
        if file >= 0 {
            call(libc::SYS_write, [file as usize, text.as_ptr() as usize, text.len(), 0, 0, 0]);
            call(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    fn text(path: &mut Path, end: &str) -> String {
        let address = path.with(end) as *const std::ffi::c_char;
        // SAFETY: `with` gives the address of a text that ends with NUL and lives in `path`.
        unsafe { std::ffi::CStr::from_ptr(address) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn paths_are_those_of_the_groups() {
        let mut path = Path::new(17, 4_294_967_295);
        assert!(path.exists());
        assert_eq!(text(&mut path, "/cpu.cfs_quota_us"), "slot17.4294967295/cpu.cfs_quota_us");
        assert_eq!(text(&mut path, ""), "slot17.4294967295");
        assert_eq!(text(&mut Path::new(0, 1), "/cgroup.kill"), "slot0.1/cgroup.kill");
        assert!(!Path::new(3, 0).exists());
    }
}
