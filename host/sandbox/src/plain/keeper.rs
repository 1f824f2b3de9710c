//! The keeper: the process between the host and one module. See the crate's page for what it is for.
//!
//! Everything here runs in the host's memory but not in the host: no allocation, no locks, no panics, no libc, only
//! [`raw::syscall`] on the keeper's own stack. What it needs is in [`Plan`], made before it starts and unchanged
//! after; what it has to say is in [`Report`], all atomics.

use std::ffi::{CStr, c_void};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::SeqCst};

use crate::child::{Program, announce, call, default_signals, exit, now, open, timespec};
use crate::raw;
use crate::region::Stack;
use crate::resources;

/// Plan and report of one keeper, shared between it and the host.
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) report: Report,
    /// The stack the keeper runs on.
    pub(crate) keeper_stack: Stack,
    /// The stack the module's process runs on between its making and its exec.
    pub(crate) module_stack: Stack,
}

/// What the keeper has to do.
pub(crate) struct Plan {
    /// What to run; `None` only tries whether a keeper can be set up.
    pub(crate) program: Option<Program>,
    /// The module's ends of its standard input, output and error, the control line, the write end of
    /// the pipe that says "ended", and the host as a process. All at least [`Plan::LOWEST`].
    pub(crate) descriptors: [RawFd; 6],
    /// The keeper is process 1 of a namespace; otherwise it has to be a subreaper.
    pub(crate) namespace: bool,
    /// Contents of uid_map and gid_map, when the keeper also has a user namespace of its own.
    pub(crate) maps: Option<(Vec<u8>, Vec<u8>)>,
    /// RLIMIT_ numbers and values for the module.
    pub(crate) resources: Vec<(u32, u64)>,
    /// Nanoseconds of CLOCK_MONOTONIC at which everything is killed.
    pub(crate) backstop: Option<u64>,
}

impl Plan {
    /// Descriptors handed to the keeper lie at or above this, so that putting them at 0 to 5 overwrites none.
    pub(crate) const LOWEST: RawFd = 16;
}

/// What the keeper has done and seen.
#[derive(Default)]
pub(crate) struct Report {
    /// The keeper's pid as it sees itself, for the module to compare its parent with.
    keeper: AtomicI32,
    /// A futex: [`PENDING`], [`STARTED`] or [`FAILED`].
    pub(crate) state: AtomicU32,
    /// The step that failed, as a [`Step`], and its error number.
    pub(crate) step: AtomicU32,
    pub(crate) errno: AtomicI32,
    /// 1 once `code` and `status` (as in siginfo_t) and `cpu_micros` say how the module ended.
    pub(crate) ended: AtomicU32,
    pub(crate) code: AtomicI32,
    pub(crate) status: AtomicI32,
    pub(crate) cpu_micros: AtomicU64,
    /// 1 when the keeper killed because the backstop passed.
    pub(crate) backstop: AtomicU32,
    /// 1 when the keeper has ended with nothing left, as it should.
    pub(crate) clean: AtomicU32,
}

/// The keeper is still setting up.
pub(crate) const PENDING: u32 = 0;
/// The module runs.
pub(crate) const STARTED: u32 = 1;
/// The module could not be started; see [`Report::step`].
pub(crate) const FAILED: u32 = 2;

/// A step on the way to the running module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Step {
    /// Nothing failed.
    None = 0,
    /// Writing the id maps of the user namespace.
    Maps = 1,
    /// Beginning a session.
    Session = 2,
    /// Becoming a subreaper.
    Subreaper = 3,
    /// Placing the descriptors.
    Descriptors = 4,
    /// Watching for ended children.
    Signals = 5,
    /// Making the module's process.
    Process = 6,
    /// Entering the working directory.
    Directory = 7,
    /// Forbidding core dumps.
    Cores = 8,
    /// Running the program.
    Execute = 9,
    /// Giving up privileges that a program could bring along.
    Privileges = 10,
    /// Limiting other resources.
    Resources = 11,
}

impl Step {
    /// What was being done, for an error text.
    pub(crate) fn describe(number: u32) -> &'static str {
        match number {
            1 => "writing the id maps of the user namespace",
            2 => "beginning a session",
            3 => "becoming a subreaper",
            4 => "placing the descriptors",
            5 => "watching for ended children",
            6 => "making the process",
            7 => "entering the package folder",
            8 => resources::NO_CORES,
            9 => "running the program",
            10 => "giving up further privileges",
            11 => "limiting resources",
            _ => "starting",
        }
    }
}

const CONTROL: usize = 3;
const ENDED: usize = 4;
const HOST: usize = 5;
/// Rounds of killing before the keeper gives up on a module that forks faster than it is killed.
const ROUNDS: u32 = 100_000;
/// Nanoseconds that a round of killing waits for somebody to end before the next.
const ROUND_PAUSE: u64 = 10_000_000;
/// Ended children that are reaped before the keeper looks up again: a module can end children faster than one process
/// reaps them.
const REAPED_AT_ONCE: u32 = 64;

/// The keeper. `argument` is a `*const Shared` that lives until the keeper is gone.
pub(crate) extern "C" fn keeper(argument: *mut c_void) -> ! {
    // SAFETY: the host keeps the Shared alive until it has reaped this process, and changes only its atomics.
    let shared = unsafe { &*argument.cast::<Shared>() };
    let watch = match set_up(shared) {
        Ok(watch) => watch,
        Err((step, errno)) => fail(&shared.report, step, errno),
    };
    if shared.plan.program.is_none() {
        announce(&shared.report.state, STARTED);
        exit(0);
    }
    let module = match start(shared) {
        Ok(module) => module,
        Err((step, errno)) => fail(&shared.report, step, errno),
    };
    announce(&shared.report.state, STARTED);
    let keeper = Keeper { shared, watch, module };
    keeper.keep()
}

/// The part between the module's start and the end of everything.
struct Keeper<'a> {
    shared: &'a Shared,
    /// The descriptor that tells of ended children.
    watch: usize,
    module: isize,
}

/// What is left after some reaping.
#[derive(PartialEq)]
enum Left {
    /// No child.
    Nothing,
    /// Children that run.
    Running,
    /// Perhaps further ended children.
    More,
}

impl Keeper<'_> {
    fn keep(&self) -> ! {
        loop {
            let left = self.reap();
            if left == Left::Nothing {
                self.leave();
            }
            let remaining = self.shared.plan.backstop.map(|at| at.saturating_sub(now()));
            if remaining == Some(0) {
                self.shared.report.backstop.store(1, SeqCst);
                self.kill();
            }
            let wait = if left == Left::More { Some(0) } else { remaining };
            if self.wait(wait) {
                self.kill();
            }
        }
    }

    /// Waits until a child has ended, the host says so or is gone, or `nanoseconds` have passed. True when all is to be
    /// killed.
    fn wait(&self, nanoseconds: Option<u64>) -> bool {
        let polled = |fd: usize| libc::pollfd { fd: fd as RawFd, events: libc::POLLIN, revents: 0 };
        // A byte on the control line or its end means "kill". A process that the host has forked can hold the line
        // open when the host is gone, so the host itself is watched too.
        let mut polled = [polled(self.watch), polled(CONTROL), polled(HOST)];
        self.sleep(&mut polled, nanoseconds);
        polled[1].revents != 0 || polled[2].revents != 0
    }

    /// Polls, then empties the descriptor that tells of ended children.
    fn sleep(&self, polled: &mut [libc::pollfd], nanoseconds: Option<u64>) {
        let time = nanoseconds.map(timespec);
        let timeout = time.as_ref().map_or(0, |time| std::ptr::from_ref(time) as usize);
        call(libc::SYS_ppoll, [polled.as_mut_ptr() as usize, polled.len(), timeout, 0, 0, 0]);
        // What is read does not matter: one signal can stand for many children.
        let mut drain = [0u8; size_of::<libc::signalfd_siginfo>()];
        call(libc::SYS_read, [self.watch, drain.as_mut_ptr() as usize, drain.len(), 0, 0, 0]);
    }

    /// Reaps what has ended.
    fn reap(&self) -> Left {
        for _ in 0..REAPED_AT_ONCE {
            // SAFETY: both are plain data for which all zeros is a value.
            let (mut info, mut usage): (libc::siginfo_t, libc::rusage) =
                unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
            let answer = call(
                libc::SYS_waitid,
                [
                    libc::P_ALL as usize,
                    0,
                    &raw mut info as usize,
                    (libc::WEXITED | libc::WNOHANG | libc::__WALL) as usize,
                    &raw mut usage as usize,
                    0,
                ],
            );
            if answer == -(libc::EINTR as isize) {
                continue;
            }
            if answer < 0 {
                return Left::Nothing;
            }
            // SAFETY: waitid filled the fields of an ended child, or left them zero.
            let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
            if pid == 0 {
                return Left::Running;
            }
            let report = &self.shared.report;
            // Once the module is reaped, its number may belong to one of its descendants.
            if pid as isize == self.module && report.ended.load(SeqCst) == 0 {
                report.code.store(info.si_code, SeqCst);
                report.status.store(status, SeqCst);
                report.cpu_micros.store(micros(&usage.ru_utime) + micros(&usage.ru_stime), SeqCst);
                report.ended.store(1, SeqCst);
                call(libc::SYS_close, [ENDED, 0, 0, 0, 0, 0]);
            }
        }
        Left::More
    }

    /// Kills everything below and ends.
    fn kill(&self) -> ! {
        for _ in 0..ROUNDS {
            if self.shared.plan.namespace {
                // Everyone in the namespace but this process, in one go, so no fork slips through.
                call(libc::SYS_kill, [-1isize as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
            } else {
                kill_children();
            }
            match self.reap() {
                Left::Nothing => self.leave(),
                Left::More => {}
                // One that ends hands its children over; one that is traced by another is to be reaped only when its
                // tracer is gone. Both are killed in the next round.
                Left::Running => {
                    let watch = libc::pollfd { fd: self.watch as RawFd, events: libc::POLLIN, revents: 0 };
                    self.sleep(&mut [watch], Some(ROUND_PAUSE));
                }
            }
        }
        // In a namespace, the kernel kills and waits for what is left.
        exit(1)
    }

    fn leave(&self) -> ! {
        self.shared.report.clean.store(1, SeqCst);
        exit(0)
    }
}

/// Kills every child of this process. Its children are not reaped meanwhile, so no number can belong to another.
fn kill_children() {
    let list = open(c"/proc/thread-self/children", libc::O_RDONLY);
    if list < 0 {
        return;
    }
    let mut buffer = [0u8; 1024];
    let mut pid: usize = 0;
    loop {
        let got = call(libc::SYS_read, [list as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0]);
        if got <= 0 {
            break;
        }
        for &byte in buffer.iter().take(got as usize) {
            if byte.is_ascii_digit() {
                pid = pid.wrapping_mul(10).wrapping_add(usize::from(byte - b'0'));
            } else if pid != 0 {
                call(libc::SYS_kill, [pid, libc::SIGKILL as usize, 0, 0, 0, 0]);
                pid = 0;
            }
        }
    }
    call(libc::SYS_close, [list as usize, 0, 0, 0, 0, 0]);
}

/// Brings the keeper into its place: own session, own descriptors and nothing of the host's. Gives the descriptor
/// that tells of ended children.
fn set_up(shared: &Shared) -> Result<usize, (Step, isize)> {
    let plan = &shared.plan;
    if let Some((users, groups)) = &plan.maps {
        write_file(c"/proc/self/setgroups", b"deny").map_err(|errno| (Step::Maps, errno))?;
        write_file(c"/proc/self/uid_map", users).map_err(|errno| (Step::Maps, errno))?;
        write_file(c"/proc/self/gid_map", groups).map_err(|errno| (Step::Maps, errno))?;
    }
    call(libc::SYS_prctl, [libc::PR_SET_NAME as usize, c"modberth-keeper".as_ptr() as usize, 0, 0, 0, 0]);
    step(Step::Session, libc::SYS_setsid, [0; 6])?;
    if !plan.namespace {
        step(Step::Subreaper, libc::SYS_prctl, [libc::PR_SET_CHILD_SUBREAPER as usize, 1, 0, 0, 0, 0])?;
    }
    for (place, &source) in plan.descriptors.iter().enumerate() {
        step(Step::Descriptors, libc::SYS_dup3, [source as usize, place, 0, 0, 0, 0])?;
    }
    step(Step::Descriptors, libc::SYS_close_range, [HOST + 1, u32::MAX as usize, 0, 0, 0, 0])?;
    default_signals();
    let mask = 1u64 << (libc::SIGCHLD - 1);
    let flags = (libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) as usize;
    let watch =
        step(Step::Signals, libc::SYS_signalfd4, [usize::MAX, &raw const mask as usize, 8, flags, 0, 0])?;
    Ok(watch as usize)
}

/// Makes the module's process and waits until it runs its program. Gives its pid in the keeper's namespace.
fn start(shared: &Shared) -> Result<isize, (Step, isize)> {
    shared.report.keeper.store(call(libc::SYS_getpid, [0; 6]) as i32, SeqCst);
    // SAFETY: plain data for which all zeros is a value.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = (libc::CLONE_VM | libc::CLONE_VFORK) as u64;
    arguments.exit_signal = libc::SIGCHLD as u64;
    arguments.stack = shared.module_stack.lowest();
    arguments.stack_size = Stack::SIZE as u64;
    // SAFETY: the stack is the module's own and lives as long as `shared`; `module` makes system calls only, and
    // with CLONE_VFORK this process sleeps until it is through.
    let pid = unsafe { raw::clone3(&arguments, module, std::ptr::from_ref(shared).cast_mut().cast()) };
    if pid < 0 {
        return Err((Step::Process, -pid));
    }
    for place in 0..3 {
        call(libc::SYS_close, [place, 0, 0, 0, 0, 0]);
    }
    let failed = shared.report.step.load(SeqCst);
    if failed != Step::None as u32 {
        return Err((Step::None, 0));
    }
    Ok(pid)
}

/// The module's process between its making and its program.
extern "C" fn module(argument: *mut c_void) -> ! {
    // SAFETY: as in `keeper`.
    let shared = unsafe { &*argument.cast::<Shared>() };
    let Err((step, errno)) = become_module(shared);
    note(&shared.report, step, errno);
    exit(127)
}

fn become_module(shared: &Shared) -> Result<std::convert::Infallible, (Step, isize)> {
    let Some(program) = &shared.plan.program else { return Err((Step::Execute, libc::ENOENT as isize)) };
    step(Step::Session, libc::SYS_setsid, [0; 6])?;
    // Should the keeper be killed, the module goes too.
    step(
        Step::Session,
        libc::SYS_prctl,
        [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0],
    )?;
    // It may have been killed before that call.
    if call(libc::SYS_getppid, [0; 6]) != shared.report.keeper.load(SeqCst) as isize {
        return Err((Step::Session, libc::ESRCH as isize));
    }
    // A set-user-id program would run as a user whom the keeper of an ordinary user cannot kill.
    step(Step::Privileges, libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0, 0])?;
    step(Step::Descriptors, libc::SYS_close_range, [3, u32::MAX as usize, 0, 0, 0, 0])?;
    step(Step::Directory, libc::SYS_chdir, [program.directory.as_ptr() as usize, 0, 0, 0, 0, 0])?;
    call(libc::SYS_umask, [0o077, 0, 0, 0, 0, 0]);
    resources::set(&shared.plan.resources).map_err(|(resource, errno)| match resource {
        libc::RLIMIT_CORE => (Step::Cores, errno),
        _ => (Step::Resources, errno),
    })?;
    let nothing = 0u64;
    step(
        Step::Signals,
        libc::SYS_rt_sigprocmask,
        [libc::SIG_SETMASK as usize, &raw const nothing as usize, 0, 8, 0, 0],
    )?;
    Err((Step::Execute, program.execute()))
}

fn step(step: Step, number: libc::c_long, arguments: [usize; 6]) -> Result<isize, (Step, isize)> {
    let answer = call(number, arguments);
    if answer < 0 { Err((step, -answer)) } else { Ok(answer) }
}

fn write_file(path: &CStr, bytes: &[u8]) -> Result<(), isize> {
    let file = open(path, libc::O_WRONLY);
    if file < 0 {
        return Err(-file);
    }
    let written = call(libc::SYS_write, [file as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]);
    call(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]);
    if written < 0 { Err(-written) } else { Ok(()) }
}

fn micros(time: &libc::timeval) -> u64 {
    (time.tv_sec as u64).wrapping_mul(1_000_000).wrapping_add(time.tv_usec as u64)
}

/// Notes what failed, unless something is noted already.
fn note(report: &Report, step: Step, errno: isize) {
    if step != Step::None {
        report.errno.store(errno as i32, SeqCst);
        report.step.store(step as u32, SeqCst);
    }
}

fn fail(report: &Report, step: Step, errno: isize) -> ! {
    note(report, step, errno);
    announce(&report.state, FAILED);
    exit(127)
}
