//! A slot: what one module at a time uses, and the spare that waits in it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::Signal;
use rustix::thread::futex;

use super::guardian::Guardian;
use super::layer::Layer;
use super::root::RootPlan;
use super::running::wait_exit;
use super::spare::{self, FAILED, MAPPED, Plan, READY, Report, Shared, Step, UNMAPPED};
use super::template::empty_network;
use super::{Ground, Started};
use crate::cgroup::Group;
use crate::child::wake;
use crate::clone::{Made, clone};
use crate::descriptors::{Ends, LOWEST, host_process};
use crate::launcher::{LaunchError, START_PATIENCE, machine};
use crate::process::{Streams, wait_readable};
use crate::profile::Limits;
use crate::region::Stack;

/// How often a spare is made before it is given up, if it is killed each time.
const ATTEMPTS: u32 = 5;

/// What one module at a time uses.
pub(crate) struct Slot {
    pub(crate) index: u32,
    /// Counts the groups that the slot has had.
    generation: u32,
    /// The slot's control group; `None` where there are none, and before the first.
    pub(crate) group: Option<Group>,
    /// The limits that the group was given last.
    limits: Option<Limits>,
    /// Something was killed in the group, so the next module gets another: some kernels kill everything that is started
    /// in a group that was killed once.
    pub(crate) spoiled: bool,
    network: Option<OwnedFd>,
}

/// What a spare is prepared for, as far as that cannot be settled later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kind {
    /// The machine's network.
    pub(crate) network: bool,
    /// It may outlive its host for a while.
    pub(crate) outlives: bool,
}

impl Slot {
    pub(crate) fn new(index: u32) -> Self {
        Self { index, generation: 0, group: None, limits: None, spoiled: false, network: None }
    }

    /// A group with these limits, a new one where the last is spoiled.
    fn settle(&mut self, ground: &Ground, guardian: &Guardian, limits: &Limits) -> Result<(), LaunchError> {
        let Some(tree) = &ground.tree else { return Ok(()) };
        // A child that runs out of memory before it runs its program would take the host along, whose memory it
        // shares. What earlier modules have left in the group must not bring it there.
        let in_use = self.group.as_ref().and_then(Group::memory_in_use).unwrap_or(0);
        self.spoiled |= in_use > limits.memory_bytes / 2;
        if self.spoiled
            && let Some(group) = self.group.take()
        {
            guardian.set_generation(self.index, 0);
            group.retire().map_err(machine("removing a control group"))?;
        }
        self.spoiled = false;
        if self.group.is_none() {
            self.generation += 1;
            let group = tree.group(self.index, self.generation).map_err(machine("making a control group"))?;
            guardian.set_generation(self.index, self.generation);
            self.group = Some(group);
            self.limits = None;
        }
        self.limit(limits)
    }

    /// Gives the group these limits. Those that it has got are not written again: if they are not there any more, that
    /// is to be seen.
    pub(crate) fn limit(&mut self, limits: &Limits) -> Result<(), LaunchError> {
        if self.limits.as_ref() != Some(limits)
            && let Some(group) = &mut self.group
        {
            self.limits = None;
            group.set(limits)?;
            self.limits = Some(limits.clone());
        }
        Ok(())
    }

    /// The guardian has taken the bound on processor time away.
    pub(crate) fn quota_was_lifted(&mut self) {
        self.limits = None;
    }

    /// Takes the bound on processor time away for a kill: what has used it up would die slowly.
    pub(crate) fn lift_quota(&mut self) {
        if let Some(group) = &self.group {
            self.limits = None;
            if let Err(error) = group.lift_quota() {
                tracing::debug!(%error, "the processor quota stays for the kill");
            }
        }
    }

    /// The slot's own user on the machine: one for each, so that no module can signal or look at another. `None`: the
    /// host's.
    pub(crate) fn user(&self, ground: &Ground) -> Option<u32> {
        ground.users.as_ref().map(|users| users.of(self.index))
    }
}

/// A process that waits in its slot.
pub(crate) struct Spare {
    pub(crate) slot: Slot,
    pub(crate) kind: Kind,
    body: Body,
    pub(crate) streams: Streams,
}

/// The process itself. Dropped, it is killed and waited for.
struct Body {
    shared: Arc<Shared>,
    process: OwnedFd,
    pid: i32,
    line: OwnedFd,
}

impl Spare {
    /// Prepares one. On an error the slot comes back.
    pub(crate) fn prepare(
        mut slot: Slot,
        kind: Kind,
        ground: &Ground,
        guardian: &Guardian,
    ) -> Result<Self, Box<(Slot, LaunchError)>> {
        let made = slot.settle(ground, guardian, &ground.limits).and_then(|()| {
            let mut into = slot.group.is_some() && ground.clones_into_groups();
            for attempt in 1.. {
                match make(&mut slot, kind, ground, into) {
                    Ok(made) => return Ok(made),
                    Err(Failure { killed: true, .. }) if attempt < ATTEMPTS => {
                        // Somebody may have killed it. But some kernels kill what is started in a group when another
                        // above it was killed once.
                        if into && attempt > 1 {
                            tracing::debug!(
                                "what is started in its control group is killed; moving it there instead"
                            );
                            ground.never_clone_into_groups();
                            into = false;
                        }
                    }
                    Err(Failure { error, .. }) => return Err(error),
                }
            }
            Err(LaunchError::Late(START_PATIENCE))
        });
        match made {
            Ok((body, streams)) => Ok(Self { slot, kind, body, streams }),
            Err(error) => {
                slot.spoiled = true;
                Err(Box::new((slot, error)))
            }
        }
    }

    /// Whether it still waits.
    pub(crate) fn is_waiting(&self) -> bool {
        wait_readable(self.body.process.as_fd(), Some(Duration::ZERO)).is_ok_and(|ended| !ended)
    }

    /// Ends it and gives the slot back.
    pub(crate) fn discard(self) -> Slot {
        let Self { slot, body, .. } = self;
        drop(body);
        slot
    }

    /// Its process id on the machine.
    pub(crate) fn pid(&self) -> i32 {
        self.body.pid
    }

    /// Puts the order where the spare finds it and wakes it with the descriptors that belong to it.
    pub(crate) fn send(&self, order: spare::Order, mounts: &[OwnedFd]) -> Result<(), Started> {
        use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
        // A spare gets one order; another one would be a fault of this crate and is not obeyed.
        let _ = self.body.shared.order.set(order);
        let fds: Vec<_> = mounts.iter().map(AsFd::as_fd).collect();
        let mut space =
            vec![std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(spare::MOST_MOUNTS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&fds));
        }
        match rustix::net::sendmsg(
            &self.body.line,
            &[io::IoSlice::new(b"g")],
            &mut control,
            SendFlags::NOSIGNAL,
        ) {
            Ok(_) => Ok(()),
            // One that is being killed closes the line first.
            Err(Errno::PIPE | Errno::CONNRESET) => Err(Started::Killed),
            Err(errno) => Err(machine("telling the process what to run")(errno.into()).into()),
        }
    }

    /// Waits until the program runs in place of the spare: it closes the line then.
    pub(crate) fn wait_started(&self, until: Instant) -> Result<(), Started> {
        let patience = until.saturating_duration_since(Instant::now());
        if !wait_readable(self.body.line.as_fd(), Some(patience))
            .map_err(machine("waiting for the module's start"))?
        {
            return Err(LaunchError::Late(START_PATIENCE).into());
        }
        let report = &self.body.shared.report;
        match report.step.load(SeqCst) {
            0 if self.has_run() => Ok(()),
            0 => Err(Started::Killed),
            step => Err(Started::Step(step, io::Error::from_raw_os_error(report.errno.load(SeqCst)))),
        }
    }

    /// Whether the process has run a program. One that is killed closes the line as well.
    fn has_run(&self) -> bool {
        let pid = self.body.pid;
        // The name changes with the program; it is cheaper to ask for than the rest.
        if std::fs::read(format!("/proc/{pid}/comm")).is_ok_and(|name| name != spare::NAME_LINE) {
            return true;
        }
        // A program may have that name too.
        const PF_FORKNOEXEC: u64 = 0x40;
        self.flags().is_some_and(|flags| flags & PF_FORKNOEXEC == 0)
    }

    /// Whether the process is about to end, or has. It leaves its control group before anybody is told of its end.
    pub(crate) fn is_ending(&self) -> bool {
        const PF_EXITING: u64 = 0x4;
        self.flags().is_none_or(|flags| flags & PF_EXITING != 0)
    }

    /// The kernel's flags of the process.
    fn flags(&self) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.body.pid)).ok()?;
        // The ninth field. The second is a name that may hold anything.
        stat.rsplit(')').next()?.split(' ').nth(7)?.parse().ok()
    }

    /// Takes it apart once its program runs.
    pub(crate) fn into_running(self) -> (Slot, OwnedFd, Streams) {
        let Self { slot, body, streams, .. } = self;
        (slot, body.release(), streams)
    }
}

impl Body {
    /// The process, which has left the memory that it shared with the host.
    fn release(self) -> OwnedFd {
        let body = std::mem::ManuallyDrop::new(self);
        // SAFETY: each field is moved out or dropped once, and the body itself is never dropped.
        unsafe {
            drop(std::ptr::read(&body.shared));
            drop(std::ptr::read(&body.line));
            std::ptr::read(&body.process)
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        // It fails only when the process is gone.
        let _ = rustix::process::pidfd_send_signal(&self.process, Signal::KILL);
        let ended = wait_readable(self.process.as_fd(), Some(START_PATIENCE)).unwrap_or(false);
        if !ended || wait_exit(self.process.as_fd(), true).is_err() {
            tracing::error!("a process that waited for a module does not end");
            // It may still run in there. Losing a few pages is right then.
            std::mem::forget(Arc::clone(&self.shared));
        }
    }
}

/// Why there is no spare.
struct Failure {
    error: LaunchError,
    /// A signal ended it before it said anything.
    killed: bool,
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        Self { error, killed: false }
    }
}

fn make(slot: &mut Slot, kind: Kind, ground: &Ground, into_group: bool) -> Result<(Body, Streams), Failure> {
    let until = Instant::now() + START_PATIENCE;
    let layers = &ground.layers;
    let own_network = layers.has(Layer::NetworkNamespace) && !kind.network;
    if own_network && ground.template.is_some() && slot.network.is_none() {
        let made = empty_network().map_err(machine("making a network namespace"))?;
        slot.network = Some(made);
    }
    let pipe = |made: io::Result<Ends>| made.map_err(machine("making pipes"));
    let stdin = pipe(Ends::to_other(LOWEST))?;
    let stdout = pipe(Ends::from_other(LOWEST))?;
    let stderr = pipe(Ends::from_other(LOWEST))?;
    let line = pipe(Ends::line(LOWEST))?;
    let host = host_process(LOWEST).map_err(machine("making a descriptor of the host"))?;
    let others = [stdin.other, stdout.other, stderr.other, line.other, host];
    let (at_clone, later) = namespaces(ground, own_network);
    let shared = Arc::new(Shared {
        plan: Plan {
            descriptors: others.each_ref().map(|end| end.as_raw_fd()),
            template: ground.template.as_ref().map(|template| template.namespace.as_raw_fd()),
            root: ground.builds_roots().then(|| root_plan(ground)),
            network: slot.network.as_ref().filter(|_| own_network).map(|network| network.as_raw_fd()),
            user: slot.user(ground),
            unshare: later as usize,
            scratch: layers.has(Layer::MountNamespace).then(|| scratch_options(ground, &ground.limits)),
            host_name: layers.has(Layer::UtsNamespace),
            ends_with_host: !kind.outlives,
        },
        order: OnceLock::new(),
        report: Report::default(),
        stack: Stack::new().map_err(machine("making a stack"))?,
    });
    let group = slot.group.as_ref().filter(|_| into_group).and_then(Group::into_fd);
    let argument = Arc::as_ptr(&shared).cast_mut().cast();
    // SAFETY: the stack lives in `shared`, which `Body` keeps until the process has ended or runs its program, or
    // leaks. `spare` keeps to system calls, the plan, the order and the atomics of the report.
    let made = unsafe { clone(spare::spare, argument, &shared.stack, at_clone, group) };
    let Made { pid, fd } = made.map_err(machine("making a process"))?;
    let body = Body { shared: Arc::clone(&shared), process: fd, pid, line: line.host };
    drop(others);
    if let Some(group) = &slot.group
        && (!into_group || !group.is_complete_by_clone())
    {
        group.adopt(pid, !into_group).map_err(LaunchError::from)?;
    }
    if wait_state(&shared.report, &body, UNMAPPED, until) == UNMAPPED {
        write_maps(pid, ground, slot).map_err(machine("writing the id maps of a user namespace"))?;
        // What the spare says itself meanwhile stays.
        if shared.report.state.compare_exchange(UNMAPPED, MAPPED, SeqCst, SeqCst).is_ok() {
            wake(&shared.report.state);
        }
    }
    match wait_state(&shared.report, &body, READY, until) {
        READY => Ok((body, Streams::new(stdin.host, stdout.host, stderr.host))),
        FAILED => {
            let step = shared.report.step.load(SeqCst);
            let source = io::Error::from_raw_os_error(shared.report.errno.load(SeqCst));
            Err(LaunchError::Machine { doing: Step::describe(step), source }.into())
        }
        _ => {
            let killed = wait_readable(body.process.as_fd(), Some(Duration::ZERO)).unwrap_or(false);
            Err(Failure { error: LaunchError::Late(START_PATIENCE), killed })
        }
    }
}

/// CLONE_NEW… flags for making the process, and for it to make later.
fn namespaces(ground: &Ground, own_network: bool) -> (libc::c_int, libc::c_int) {
    let layers = &ground.layers;
    let mut rest = libc::CLONE_NEWUSER | libc::CLONE_NEWNS;
    for (layer, flag) in
        [(Layer::IpcNamespace, libc::CLONE_NEWIPC), (Layer::UtsNamespace, libc::CLONE_NEWUTS)]
    {
        if layers.has(layer) {
            rest |= flag;
        }
    }
    if ground.template.is_some() {
        // The network is the slot's, made ahead; a new one costs more than all the others together.
        (libc::CLONE_NEWPID, rest | libc::CLONE_NEWCGROUP)
    } else {
        let network = if own_network { libc::CLONE_NEWNET } else { 0 };
        (libc::CLONE_NEWPID | rest | network, libc::CLONE_NEWCGROUP)
    }
}

fn root_plan(ground: &Ground) -> RootPlan {
    let mut plan = RootPlan::new();
    plan.read_only = ground.layers.has(Layer::ReadOnlyFiles);
    plan
}

/// Options of the scratch file system: its owner is the module, and it holds so many bytes and files.
pub(crate) fn scratch_options(ground: &Ground, limits: &Limits) -> CString {
    let id = ground.inner_id();
    let mut options = format!("mode=0700,uid={id},gid={id}");
    if ground.layers.has(Layer::ScratchLimit) {
        // The root folder counts as one.
        let inodes = limits.scratch_inodes.saturating_add(1);
        options.push_str(&format!(",size={},nr_inodes={inodes}", limits.scratch_bytes));
    }
    CString::new(options).unwrap_or_default()
}

/// Maps one id each: the slot's user, or that of the host, is an ordinary user inside.
fn write_maps(pid: i32, ground: &Ground, slot: &Slot) -> io::Result<()> {
    let (user, group) = match slot.user(ground) {
        Some(user) => (user, user),
        None => (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()),
    };
    let inside = ground.inner_id();
    std::fs::write(format!("/proc/{pid}/setgroups"), "deny")?;
    std::fs::write(format!("/proc/{pid}/uid_map"), format!("{inside} {user} 1"))?;
    std::fs::write(format!("/proc/{pid}/gid_map"), format!("{inside} {group} 1"))
}

/// Waits until the spare has come to `wanted` or beyond, has failed, or is gone. Gives where it is.
fn wait_state(report: &Report, body: &Body, wanted: u32, until: Instant) -> u32 {
    loop {
        // Looked at before the state: one that is gone has said all it had to say.
        let gone = wait_readable(body.process.as_fd(), Some(Duration::ZERO)).unwrap_or(false);
        let state = report.state.load(SeqCst);
        if state >= wanted || gone || Instant::now() >= until {
            return state;
        }
        // One that is killed wakes nobody, so it is looked for now and then.
        let slice = rustix::thread::Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        // Whatever ends the wait, the loop looks again.
        let _ = futex::wait(&report.state, futex::Flags::PRIVATE, state, Some(&slice));
    }
}
