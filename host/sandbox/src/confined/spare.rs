//! The spare: a process that is made ahead, goes into its sandbox, and sleeps until it is told what to run.
//!
//! Everything here runs in the host's memory but not in the host: system calls on a stack of its own, no allocation,
//! no locks, no panics. It reads [`Plan`], which was made before it, and [`Order`], which is put there once before the
//! host writes on the line; it says in [`Report`] how far it has come.
//!
//! Nothing of the package has run when it wakes, and none of its code is the module's: the program takes its place
//! with the last step.

use std::convert::Infallible;
use std::ffi::{CStr, CString, c_void};
use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};

use crate::child::{Program, announce, call, default_signals, exit};
use crate::confined::root::{self, Node, RootPlan};
use crate::landlock;
use crate::region::Stack;

/// What one spare and the host share.
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) order: OnceLock<Order>,
    pub(crate) report: Report,
    pub(crate) stack: Stack,
}

/// How to become a spare.
pub(crate) struct Plan {
    /// The module's ends of standard input, output and error, the spare's end of the line to the host, and the host as
    /// a process. All at least [`crate::descriptors::LOWEST`].
    pub(crate) descriptors: [RawFd; 5],
    /// The mount namespace to start from; without one the spare builds its root by [`Plan::root`].
    pub(crate) template: Option<RawFd>,
    /// What to build where there is no template.
    pub(crate) root: Option<RootPlan>,
    /// The network namespace to enter.
    pub(crate) network: Option<RawFd>,
    /// User and group id on the machine; `None`: those of the host.
    pub(crate) user: Option<u32>,
    /// CLONE_NEW… flags of the namespaces still to be made.
    pub(crate) unshare: usize,
    /// Options of the scratch file system.
    pub(crate) scratch: Option<CString>,
    /// The module has a host name of its own.
    pub(crate) host_name: bool,
    /// The spare ends with the thread that made it.
    pub(crate) ends_with_host: bool,
}

/// What to run, and the last of what it may do.
pub(crate) struct Order {
    pub(crate) program: Program,
    /// Places for the mounts in the order of the descriptors sent: the package first.
    pub(crate) mounts: Vec<Mount>,
    /// Options of another scratch file system than the plan's.
    pub(crate) scratch: Option<CString>,
    /// RLIMIT_ numbers and values.
    pub(crate) resources: Vec<(u32, u64)>,
    /// The version of Landlock and what stays allowed.
    pub(crate) landlock: Option<(u32, Vec<landlock::Rule>, landlock::Network)>,
    pub(crate) no_new_privileges: bool,
    /// The seccomp filter; lives as long as the launcher.
    pub(crate) filter: Option<libc::sock_fprog>,
}

// SAFETY: the filter's pointer leads to a program that lives as long as the launcher and never changes.
unsafe impl Send for Order {}
// SAFETY: as above.
unsafe impl Sync for Order {}

/// One mount of an order.
pub(crate) struct Mount {
    /// Its place, absolute.
    pub(crate) target: CString,
    /// Where it is on the machine; used by a spare that still sees the machine's root at `/old`.
    pub(crate) source: CString,
    /// MOUNT_ATTR_ flags.
    pub(crate) attributes: u64,
    /// What has to be made in the root first; used by a spare that built its own.
    pub(crate) nodes: Vec<(CString, Node)>,
}

/// How far a spare has come.
#[derive(Default)]
pub(crate) struct Report {
    /// A futex: 0 at first, then one of the states below.
    pub(crate) state: AtomicU32,
    /// The step that failed, as a [`Step`], and its error number.
    pub(crate) step: AtomicU32,
    pub(crate) errno: AtomicI32,
}

/// It has its user namespace and waits for the id maps.
pub(crate) const UNMAPPED: u32 = 1;
/// The host has written the id maps.
pub(crate) const MAPPED: u32 = 2;
/// It sleeps in its sandbox.
pub(crate) const READY: u32 = 3;
/// It has ended; see [`Report::step`].
pub(crate) const FAILED: u32 = 4;

/// A step on the way to the running module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Step {
    Session = 1,
    Descriptors,
    Template,
    Network,
    User,
    Namespaces,
    Root,
    Scratch,
    HostName,
    Host,
    Order,
    Package,
    Resources,
    Privileges,
    Landlock,
    Seccomp,
    Directory,
    Execute,
}

impl Step {
    /// What was being done, for an error text.
    pub(crate) fn describe(number: u32) -> &'static str {
        const TEXTS: [&str; 19] = [
            "starting",
            "beginning a session",
            "placing the descriptors",
            "entering the prepared mount namespace",
            "entering the network namespace",
            "becoming the slot's user",
            "making the namespaces",
            "building the module's root",
            "mounting the scratch space",
            "setting the host name",
            "watching the host",
            "hearing what to run",
            "mounting the package",
            "limiting resources",
            "giving up further privileges",
            "setting up Landlock",
            "loading the system call filter",
            "entering the package",
            "running the program",
        ];
        TEXTS.get(number as usize).copied().unwrap_or(TEXTS[0])
    }
}

/// The spare's end of the line, and the host as a process.
const LINE: usize = 3;
const HOST: usize = 4;
/// The first descriptor that the host sends along with an order.
const FIRST_MOUNT: usize = HOST + 1;

/// The process's name until its program runs, and as /proc shows it.
const NAME: &CStr = c"modberth-spare";
pub(crate) const NAME_LINE: &[u8] = b"modberth-spare\n";

/// Mounts that an order can have: the package and fifteen more.
pub(crate) const MOST_MOUNTS: usize = 16;

type Fault = (Step, isize);

/// The spare. `argument` is a `*const Shared` that lives until the spare is gone or runs its program.
pub(crate) extern "C" fn spare(argument: *mut c_void) -> ! {
    // SAFETY: the host keeps the Shared alive until this process has ended or left this memory, and changes only
    // atomics and, before it writes on the line, the order.
    let shared = unsafe { &*argument.cast::<Shared>() };
    let Err((step, errno)) = go(shared);
    shared.report.errno.store(errno as i32, SeqCst);
    shared.report.step.store(step as u32, SeqCst);
    announce(&shared.report.state, FAILED);
    exit(127)
}

fn go(shared: &Shared) -> Result<Infallible, Fault> {
    let plan = &shared.plan;
    call(libc::SYS_prctl, [libc::PR_SET_NAME as usize, NAME.as_ptr() as usize, 0, 0, 0, 0]);
    default_signals();
    step(Step::Session, libc::SYS_setsid, [0; 6])?;
    for (place, &source) in plan.descriptors.iter().enumerate() {
        step(Step::Descriptors, libc::SYS_dup3, [source as usize, place, 0, 0, 0, 0])?;
    }
    if let Some(template) = plan.template {
        let flags = libc::CLONE_NEWNS as usize;
        step(Step::Template, libc::SYS_setns, [template as usize, flags, 0, 0, 0, 0])?;
    }
    if let Some(network) = plan.network {
        let flags = libc::CLONE_NEWNET as usize;
        step(Step::Network, libc::SYS_setns, [network as usize, flags, 0, 0, 0, 0])?;
    }
    step(Step::Descriptors, libc::SYS_close_range, [FIRST_MOUNT, u32::MAX as usize, 0, 0, 0, 0])?;
    if let Some(user) = plan.user {
        let user = user as usize;
        step(Step::User, libc::SYS_setgroups, [0; 6])?;
        step(Step::User, libc::SYS_setresgid, [user, user, user, 0, 0, 0])?;
        step(Step::User, libc::SYS_setresuid, [user, user, user, 0, 0, 0])?;
        // This user must not look into the memory, which is the host's. The host has seen to that, but the change of
        // the user sets the flag to what fs.suid_dumpable says.
        step(Step::User, libc::SYS_prctl, [libc::PR_SET_DUMPABLE as usize, 0, 0, 0, 0, 0])?;
    }
    step(Step::Namespaces, libc::SYS_unshare, [plan.unshare, 0, 0, 0, 0, 0])?;
    announce(&shared.report.state, UNMAPPED);
    while shared.report.state.load(SeqCst) == UNMAPPED {
        let wait = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
        let place = shared.report.state.as_ptr() as usize;
        let patience = crate::child::timespec(1_000_000_000);
        call(libc::SYS_futex, [place, wait, UNMAPPED as usize, &raw const patience as usize, 0, 0]);
        // A host that is gone answers nobody.
        watch_host()?;
    }
    let root = match &plan.root {
        Some(root) => Some(root::build(root, true).map_err(|errno| (Step::Root, errno))?),
        None => None,
    };
    if let Some(scratch) = &plan.scratch {
        mount_scratch(scratch)?;
    }
    let name = c"modberth";
    if plan.host_name {
        step(
            Step::HostName,
            libc::SYS_sethostname,
            [name.as_ptr() as usize, name.count_bytes(), 0, 0, 0, 0],
        )?;
    }
    if plan.ends_with_host {
        let kill = libc::SIGKILL as usize;
        step(Step::Host, libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, kill, 0, 0, 0, 0])?;
    }
    // It may have ended before that call.
    watch_host()?;
    announce(&shared.report.state, READY);
    let sent = hear()?;
    let Some(order) = shared.order.get() else { return Err((Step::Order, libc::EPROTO as isize)) };
    obey(order, sent, root.as_ref())
}

/// Carries the order out.
fn obey(order: &Order, sent: usize, root: Option<&root::Root>) -> Result<Infallible, Fault> {
    let package = |errno| (Step::Package, errno);
    for (index, mount) in order.mounts.iter().enumerate() {
        let tree = match root {
            // The machine's own root is still there.
            Some(root) => {
                root::make_nodes(root.writable, &mount.nodes).map_err(package)?;
                root::clone_tree(libc::AT_FDCWD, &mount.source, mount.attributes).map_err(package)?
            }
            None if index < sent => FIRST_MOUNT + index,
            None => return Err((Step::Order, libc::EPROTO as isize)),
        };
        root::attach(tree, libc::AT_FDCWD, &mount.target).map_err(package)?;
    }
    if root.is_some() {
        root::forget_old().map_err(|errno| (Step::Root, errno))?;
    }
    if let Some(scratch) = &order.scratch {
        mount_scratch(scratch)?;
    }
    step(Step::Descriptors, libc::SYS_close_range, [LINE + 1, u32::MAX as usize, 0, 0, 0, 0])?;
    step(
        Step::Descriptors,
        libc::SYS_fcntl,
        [LINE, libc::F_SETFD as usize, libc::FD_CLOEXEC as usize, 0, 0, 0],
    )?;
    let directory = order.program.directory.as_ptr() as usize;
    step(Step::Directory, libc::SYS_chdir, [directory, 0, 0, 0, 0, 0])?;
    call(libc::SYS_umask, [0o077, 0, 0, 0, 0, 0]);
    for &(resource, value) in &order.resources {
        let limit = libc::rlimit64 { rlim_cur: value, rlim_max: value };
        let place = &raw const limit as usize;
        step(Step::Resources, libc::SYS_prlimit64, [0, resource as usize, place, 0, 0, 0])?;
    }
    let nothing = 0u64;
    let mask = [libc::SIG_SETMASK as usize, &raw const nothing as usize, 0, 8, 0, 0];
    step(Step::Descriptors, libc::SYS_rt_sigprocmask, mask)?;
    if order.no_new_privileges {
        step(Step::Privileges, libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0, 0])?;
    }
    if let Some((abi, rules, network)) = &order.landlock {
        landlock::restrict(*abi, rules, *network).map_err(|errno| (Step::Landlock, errno))?;
    }
    if let Some(filter) = &order.filter {
        let mode = libc::SECCOMP_SET_MODE_FILTER as usize;
        step(Step::Seccomp, libc::SYS_seccomp, [mode, 0, std::ptr::from_ref(filter) as usize, 0, 0, 0])?;
    }
    Err((Step::Execute, order.program.execute()))
}

fn mount_scratch(options: &CStr) -> Result<(), Fault> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    root::mount(Some(c"tmpfs"), root::SCRATCH, Some(c"tmpfs"), flags, Some(options))
        .map_err(|errno| (Step::Scratch, errno))
}

/// Fails when the host is gone.
fn watch_host() -> Result<(), Fault> {
    let mut host = libc::pollfd { fd: HOST as RawFd, events: libc::POLLIN, revents: 0 };
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    call(libc::SYS_ppoll, [&raw mut host as usize, 1, &raw const now as usize, 0, 0, 0]);
    if host.revents == 0 { Ok(()) } else { Err((Step::Host, libc::ESRCH as isize)) }
}

/// Sleeps until the host writes on the line. Gives how many descriptors came along; they are [`FIRST_MOUNT`] and up.
fn hear() -> Result<usize, Fault> {
    const HEADER: usize = size_of::<libc::cmsghdr>();
    #[repr(C, align(8))]
    struct Room([u8; HEADER + MOST_MOUNTS * size_of::<RawFd>()]);
    let mut room = Room([0; HEADER + MOST_MOUNTS * size_of::<RawFd>()]);
    let mut byte = 0u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: plain data for which all zeros is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut room).cast();
    message.msg_controllen = size_of::<Room>() as _;
    loop {
        let flags = libc::MSG_CMSG_CLOEXEC as usize;
        let got = call(libc::SYS_recvmsg, [LINE, &raw mut message as usize, flags, 0, 0, 0]);
        match got {
            1 => break,
            0 => return Err((Step::Host, libc::ESRCH as isize)),
            _ if got == -(libc::EINTR as isize) => {}
            _ => return Err((Step::Order, -got)),
        }
    }
    // SAFETY: the kernel has written a header there, or has set the length below that of one.
    let header = unsafe { (&raw const room).cast::<libc::cmsghdr>().read() };
    let length = message.msg_controllen;
    if length < HEADER || header.cmsg_len <= HEADER {
        return Ok(0);
    }
    Ok((header.cmsg_len - HEADER) / size_of::<RawFd>())
}

fn step(step: Step, number: libc::c_long, arguments: [usize; 6]) -> Result<isize, Fault> {
    let answer = call(number, arguments);
    if answer < 0 { Err((step, -answer)) } else { Ok(answer) }
}
