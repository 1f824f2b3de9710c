//! The launcher that confines modules.
//!
//! At its start it looks at what the machine has and makes what all modules share: the host's control groups, a mount
//! namespace with the module's root in it, the guardian, and the thread that prepares spares. A launch takes a spare,
//! hands it the package, reads the limits back, and gives the running module away. `ARCHITECTURE.md` has the picture.

mod give;
mod guardian;
mod layer;
mod pool;
mod root;
mod running;
mod slot;
mod spare;
mod template;
mod users;

use std::ffi::CString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::process::DumpableBehavior;

use crate::cgroup::{self, Counters, LimitFault, Tree};
use crate::landlock::{self, Network};
use crate::launcher::{Launch, LaunchError, START_PATIENCE, c_string, machine, program};
use crate::process::{Body, Process};
use crate::profile::{Bind, Confinement, Limits, Profile, SocketFamily};
use crate::seccomp::Filter;

use guardian::{Guardian, MOST_SLOTS};
use layer::Layers;
use pool::Pool;
use root::{Node, RootPlan};
use slot::{Kind, Spare};
use spare::{Mount, Order, Step};
use template::Template;
use users::Users;

pub use layer::Layer;
pub(crate) use running::Confined;

/// What a module with the machine's network needs to find names and trust servers.
const NETWORK_FILES: [&str; 4] = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl"];

/// Binds that a profile can have, beside the package and the files for the network.
const MOST_BINDS: usize = spare::MOST_MOUNTS - 1 - NETWORK_FILES.len();

/// The module's user and group id as it sees them itself.
const INNER_ID: u32 = 1000;

/// How a confining launcher is set up.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Modules at one time: 1 to 64, default 4. One more launch waits, for five seconds at most.
    pub slots: u32,
    /// The limits that slots are prepared with. A launch with others costs a few system calls more.
    pub limits: Limits,
    layers: Layers,
}

impl Default for Options {
    fn default() -> Self {
        Self { slots: 4, limits: Limits::default(), layers: Layers::default() }
    }
}

impl Options {
    /// For `slots` modules at one time, prepared with `limits`.
    pub fn new(slots: u32, limits: Limits) -> Self {
        Self { slots: slots.clamp(1, 64), limits, layers: Layers::default() }
    }

    /// Leaves layers out, so that a test can show that it is they that stop an attack.
    #[cfg(feature = "weaken")]
    #[must_use]
    pub fn without(mut self, layers: &[Layer]) -> Self {
        self.layers.remove(layers);
        self
    }
}

/// Why modules cannot be confined on this machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// Memory, tasks or processor time cannot be bounded.
    #[error("{0}")]
    Groups(Box<cgroup::Unavailable>),
    /// A namespace, a mount or a process cannot be made.
    #[error("{doing}: {source}. {fix}")]
    Machine {
        /// What was being done.
        doing: String,
        /// The machine's answer.
        source: io::Error,
        /// What helps.
        fix: &'static str,
    },
}

const NAMESPACES_FIX: &str = "An ordinary user needs user namespaces: set user.max_user_namespaces above 0 (sysctl), \
on Ubuntu give the program an AppArmor profile with `userns,` or set \
kernel.apparmor_restrict_unprivileged_userns=0, in a container allow unshare and mount; or run the host as root";

impl Unavailable {
    fn machine(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Machine { doing: doing.into(), source, fix: NAMESPACES_FIX }
    }
}

/// What all slots stand on.
pub(crate) struct Ground {
    layers: Layers,
    limits: Limits,
    tree: Option<Tree>,
    /// `None`: the host may not make mounts, so each spare builds its root in a user namespace.
    template: Option<Template>,
    /// Users for the modules; `None`: they have the host's.
    users: Option<Users>,
    landlock: Option<u32>,
    /// The system call filters: without sockets, with AF_UNIX, with the network, with both.
    filters: [OnceLock<Filter>; 4],
    into_groups: AtomicBool,
}

impl Ground {
    fn look(options: Options, tree: Option<Tree>) -> Result<Self, Unavailable> {
        let Options { limits, layers, .. } = options;
        let template = if layers.has(Layer::MountNamespace) && rustix::process::geteuid().is_root() {
            let mut plan = RootPlan::new();
            plan.read_only = layers.has(Layer::ReadOnlyFiles);
            match Template::build(&plan) {
                Ok(template) => Some(template),
                // Root in a container without the capability. It may still have user namespaces.
                Err((doing, error)) if error.kind() == io::ErrorKind::PermissionDenied => {
                    tracing::debug!(doing, %error, "no template; each spare builds its own root");
                    None
                }
                Err((doing, error)) => return Err(Unavailable::machine(doing, error)),
            }
        } else {
            None
        };
        let users = match &template {
            Some(_) => {
                // Spares share the host's memory under a user of their own. To whoever has that user's id, the kernel
                // would open the memory of root.
                rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
                    .map_err(|errno| Unavailable::machine("closing the host's memory", errno.into()))?;
                let claimed = Users::claim();
                Some(claimed.map_err(|error| Unavailable::machine("claiming user ids", error))?)
            }
            None => None,
        };
        let landlock = landlock::abi().filter(|_| layers.has(Layer::Landlock));
        let filters = [const { OnceLock::new() }; 4];
        let into_groups = AtomicBool::new(true);
        Ok(Self { layers, limits, tree, template, users, landlock, filters, into_groups })
    }

    /// Whether a spare has to build its root itself.
    fn builds_roots(&self) -> bool {
        self.template.is_none() && self.layers.has(Layer::MountNamespace)
    }

    fn clones_into_groups(&self) -> bool {
        self.into_groups.load(Relaxed)
    }

    fn never_clone_into_groups(&self) {
        self.into_groups.store(false, Relaxed);
    }

    fn inner_id(&self) -> u32 {
        if self.layers.has(Layer::OrdinaryUser) { INNER_ID } else { 0 }
    }

    fn filter(&self, unix: bool, internet: bool) -> Option<&Filter> {
        if !self.layers.has(Layer::Seccomp) {
            return None;
        }
        let place = usize::from(unix) | usize::from(internet) << 1;
        self.filters.get(place).map(|filter| filter.get_or_init(|| Filter::new(unix, internet)))
    }
}

/// The launcher's inside.
pub(crate) struct Sandbox {
    // They go in this order: spares, the guardian, and then the groups that both lived in.
    pool: Arc<Pool>,
    guardian: Arc<Guardian>,
    ground: Arc<Ground>,
    nursery: Option<JoinHandle<()>>,
    grouped: bool,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("grouped", &self.grouped).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Looks at the machine and prepares the first slot.
    pub(crate) fn new(options: Options, grouped: bool) -> Result<Arc<Self>, Unavailable> {
        let groups = |error| Unavailable::Groups(Box::new(error));
        let tree = match grouped {
            true => Some(Tree::here().map_err(groups)?),
            false => None,
        };
        let slots = options.slots.clamp(1, 64);
        let ground = Arc::new(Ground::look(options, tree)?);
        let guardian = Guardian::start(ground.tree.as_ref())
            .map_err(|error| Unavailable::machine("starting the guardian process", error))?;
        let guardian = Arc::new(guardian);
        // One slot more than modules, so that the next action does not wait for the last one's slot to be ready again.
        let pool = Arc::new(Pool::new((slots + 1).min(MOST_SLOTS as u32)));
        let nursery = pool::start(Arc::clone(&pool), Arc::clone(&ground), Arc::clone(&guardian))
            .map_err(|error| Unavailable::machine("starting a thread", error))?;
        let sandbox = Arc::new(Self { pool, guardian, ground, nursery: Some(nursery), grouped });
        let spare = sandbox.pool.take(Kind::default(), Instant::now() + START_PATIENCE);
        let spare = spare.map_err(|error| match error {
            LaunchError::Machine { doing, source } => Unavailable::machine(doing, source),
            other => Unavailable::machine("preparing a process", io::Error::other(other.to_string())),
        })?;
        sandbox.pool.put(spare);
        Ok(sandbox)
    }

    /// See [`crate::Launcher::confinement`].
    pub(crate) fn confinement(&self) -> Confinement {
        if self.grouped {
            Confinement::Full
        } else {
            Confinement::WithoutGroups {
                why: "without control groups only each process of the module was limited, not the module as a whole: \
                      its memory and processor time were not bounded"
                    .into(),
            }
        }
    }

    /// See [`crate::Launcher::module_user`].
    pub(crate) fn module_user(&self) -> Option<u32> {
        self.ground.users.as_ref().map(|users| users.of(0))
    }

    /// See [`crate::Launcher::launch`].
    pub(crate) fn launch(sandbox: &Arc<Self>, launch: &Launch<'_>) -> Result<Process, LaunchError> {
        let until = Instant::now() + START_PATIENCE;
        let package = std::path::absolute(&launch.package).map_err(machine("finding the package folder"))?;
        loop {
            let (order, trees) = sandbox.order(launch, &package)?;
            match Self::launch_once(sandbox, launch, order, &trees, until) {
                Ok(process) => return Ok(process),
                // Somebody killed the spare. Nothing has run, and there are others.
                Err(Started::Killed) if Instant::now() < until => {}
                Err(Started::Killed) => return Err(LaunchError::Late(START_PATIENCE)),
                Err(Started::Fault(error)) => return Err(error),
                Err(Started::Step(step, source)) if step == Step::Execute as u32 => {
                    let program = launch.command.line(&package).swap_remove(0);
                    return Err(LaunchError::Program { program, source });
                }
                Err(Started::Step(step, source)) => {
                    return Err(LaunchError::Machine { doing: Step::describe(step), source });
                }
            }
        }
    }

    fn launch_once(
        sandbox: &Arc<Self>,
        launch: &Launch<'_>,
        order: Order,
        trees: &[OwnedFd],
        until: Instant,
    ) -> Result<Process, Started> {
        let (profile, guardian) = (launch.profile, &sandbox.guardian);
        guardian
            .ensure(sandbox.ground.tree.as_ref())
            .map_err(machine("starting another guardian process"))?;
        let kind = Kind { network: profile.network, outlives: !profile.grace.is_zero() };
        let mut spare = sandbox.pool.take(kind, until)?;
        let launched = Instant::now();
        if let Some(user) = spare.slot.user(&sandbox.ground) {
            for bind in profile.binds.iter().filter(|bind| bind.writable && bind.source.is_dir()) {
                if let Err(source) = give::give(&bind.source, user) {
                    sandbox.pool.put(spare);
                    return Err(LaunchError::Give { folder: bind.source.clone(), source }.into());
                }
            }
        }
        match sandbox.start(&mut spare, order, trees, profile, until) {
            Ok((before, peak)) => {
                let (slot, process, streams) = spare.into_running();
                let confined = Confined::new(Arc::clone(sandbox), slot, process, before, peak);
                Ok(Process::new(streams, Body::Confined(Box::new(confined)), sandbox.confinement(), launched))
            }
            Err(error) => {
                let backstop = guardian.unwatch(spare.slot.index);
                let mut slot = spare.discard();
                if backstop {
                    slot.quota_was_lifted();
                }
                slot.spoiled |= matches!(error, Started::Fault(LaunchError::Limit(_)));
                sandbox.pool.give_back(slot);
                Err(error)
            }
        }
    }

    /// Reads the limits back (P1-HOST-26), wakes the spare and waits until its program runs.
    fn start(
        &self,
        spare: &mut Spare,
        order: Order,
        trees: &[OwnedFd],
        profile: &Profile,
        until: Instant,
    ) -> Result<(Counters, bool), Started> {
        let pid = spare.pid();
        let (limits, layers) = (&profile.limits, &self.ground.layers);
        let mut counters = Default::default();
        let limits = weakened(limits, layers);
        spare.slot.limit(&limits)?;
        if let Some(group) = &spare.slot.group {
            // The spare sleeps, so the group holds it for certain, and nothing of the package has run.
            match group.verify(&limits, pid) {
                // Somebody kills it at this moment.
                Err(fault) if fault.limit == "membership" && spare.is_ending() => {
                    return Err(Started::Killed);
                }
                verdict => verdict?,
            }
            counters = (group.counters(), group.reset_peak());
        }
        self.guardian.watch(spare.slot.index, pid, profile.backstop, profile.grace);
        spare.send(order, trees)?;
        spare.wait_started(until)?;
        Ok(counters)
    }

    /// What the spare is told, and the mounts it is given.
    fn order(&self, launch: &Launch<'_>, package: &Path) -> Result<(Order, Vec<OwnedFd>), LaunchError> {
        let (ground, profile) = (&self.ground, launch.profile);
        let mounted = ground.layers.has(Layer::MountNamespace);
        let inner = if mounted { Path::new("/module") } else { package };
        let mut mounts = Vec::new();
        let mut trees = Vec::new();
        if mounted {
            if profile.binds.len() > MOST_BINDS {
                return Err(LaunchError::Profile {
                    what: format!("{} binds", profile.binds.len()),
                    why: "a module has at most 11",
                });
            }
            let attributes = root::package_attributes(ground.layers.has(Layer::ReadOnlyFiles));
            self.mount(package, inner, attributes, &mut mounts, &mut trees)?;
            for bind in network_files(profile).iter().chain(&profile.binds) {
                if !bind.source.is_absolute() || !bind.target.is_absolute() {
                    return Err(LaunchError::Profile {
                        what: format!("the bind of {} at {}", bind.source.display(), bind.target.display()),
                        why: "both must be absolute paths",
                    });
                }
                let attributes = root::bind_attributes(bind.writable);
                self.mount(&bind.source, &bind.target, attributes, &mut mounts, &mut trees)?;
            }
        }
        let scratch = (mounted && scratch_differs(&profile.limits, &ground.limits))
            .then(|| slot::scratch_options(ground, &profile.limits));
        let unix = profile.socket_families.contains(&SocketFamily::Unix);
        let order = Order {
            program: program(launch, inner)?,
            mounts,
            scratch,
            resources: match ground.layers.has(Layer::ResourceLimits) {
                true => resources(profile, ground.tree.is_some()),
                false => Vec::new(),
            },
            landlock: match ground.landlock {
                Some(abi) => {
                    let network = if profile.network { Network::Permitted } else { Network::Refused };
                    Some((abi, rules(profile)?, network))
                }
                None => None,
            },
            no_new_privileges: ground.layers.has(Layer::NoNewPrivileges) || ground.landlock.is_some(),
            filter: ground.filter(unix, profile.network).map(Filter::program),
        };
        Ok((order, trees))
    }

    /// Adds one mount with these MOUNT_ATTR_ flags to an order: as a descriptor where the host may make mounts, else as a path.
    fn mount(
        &self,
        source: &Path,
        target: &Path,
        attributes: u64,
        mounts: &mut Vec<Mount>,
        trees: &mut Vec<OwnedFd>,
    ) -> Result<(), LaunchError> {
        let doing = "mounting a folder of the package or the interpreter";
        let data = std::fs::metadata(source).map_err(machine(doing))?;
        let nodes = root::steps_to(target, if data.is_dir() { Node::Folder } else { Node::File });
        let place = c_string(target.as_os_str(), "a bind")?;
        let path = match &self.ground.template {
            Some(template) => {
                template.make_nodes(&nodes).map_err(machine(doing))?;
                let path = c_string(source.as_os_str(), "a bind")?;
                let tree = root::clone_tree(libc::AT_FDCWD, &path, attributes)
                    .map_err(|errno| machine(doing)(io::Error::from_raw_os_error(errno as i32)))?;
                // SAFETY: the kernel has given a fresh descriptor.
                trees.push(unsafe { OwnedFd::from_raw_fd(tree as i32) });
                path
            }
            None => {
                let mut old = b"/old".to_vec();
                old.extend_from_slice(source.as_os_str().as_bytes());
                CString::new(old).map_err(|_| LaunchError::Nul { what: "a bind" })?
            }
        };
        mounts.push(Mount { target: place, source: path, attributes, nodes });
        Ok(())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.pool.close();
        if let Some(nursery) = self.nursery.take()
            && nursery.join().is_err()
        {
            tracing::error!("the thread that prepares processes has panicked");
        }
    }
}

/// Why a spare did not become a module.
pub(crate) enum Started {
    Fault(LaunchError),
    /// A step failed in the spare.
    Step(u32, io::Error),
    /// Somebody has killed the spare.
    Killed,
}

impl From<LaunchError> for Started {
    fn from(error: LaunchError) -> Self {
        Self::Fault(error)
    }
}

impl From<LimitFault> for Started {
    fn from(fault: LimitFault) -> Self {
        Self::Fault(fault.into())
    }
}

/// The limits without those whose layers are off.
fn weakened(limits: &Limits, layers: &Layers) -> Limits {
    let mut limits = limits.clone();
    if !layers.has(Layer::MemoryLimit) {
        limits.memory_bytes = 1 << 40;
    }
    if !layers.has(Layer::TaskLimit) {
        limits.tasks = 4096;
    }
    if !layers.has(Layer::CpuLimit) {
        limits.cpu_percent = 100 * 64;
    }
    limits
}

fn scratch_differs(one: &Limits, other: &Limits) -> bool {
    (one.scratch_bytes, one.scratch_inodes) != (other.scratch_bytes, other.scratch_inodes)
}

/// RLIMIT_ numbers and values of each process of a module. `grouped`: the module as a whole is bounded too.
pub(crate) fn resources(profile: &Profile, grouped: bool) -> Vec<(u32, u64)> {
    let limits = &profile.limits;
    let mut resources = vec![
        // 0 would still start a core_pattern program; 1 stops both that and a file.
        (libc::RLIMIT_CORE, 1),
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
        let seconds = backstop.as_secs() + 1;
        resources.push((libc::RLIMIT_CPU, seconds * u64::from(limits.cpu_percent.max(100)) / 100));
    }
    if !grouped {
        resources.push((libc::RLIMIT_DATA, limits.memory_bytes));
        if rustix::process::geteuid().is_root() {
            // The module has a user of its own; as the user of an ordinary host its processes would count as well.
            resources.push((libc::RLIMIT_NPROC, u64::from(limits.tasks)));
        }
    }
    resources
}

/// Binds of the machine's files for the network, for a profile that has it.
fn network_files(profile: &Profile) -> Vec<Bind> {
    let there = NETWORK_FILES.iter().map(Path::new).filter(|path| profile.network && path.exists());
    there.map(|path| Bind { source: path.to_owned(), target: path.to_owned(), writable: false }).collect()
}

/// What Landlock leaves allowed.
fn rules(profile: &Profile) -> Result<Vec<landlock::Rule>, LaunchError> {
    use landlock::{Access, Rule};
    let mut rules = Vec::new();
    let mut rule = |path: &Path, access| -> Result<(), LaunchError> {
        rules.push(Rule { path: c_string(path.as_os_str(), "a bind")?, access });
        Ok(())
    };
    rule(Path::new("/usr"), Access::Read)?;
    rule(Path::new("/module"), Access::Read)?;
    rule(Path::new("/tmp"), Access::ReadWrite)?;
    for device in ["/dev/null", "/dev/zero", "/dev/urandom"] {
        rule(Path::new(device), Access::Device)?;
    }
    for place in root::program_folders() {
        rule(&place, Access::Read)?;
    }
    for bind in network_files(profile).iter().chain(&profile.binds) {
        rule(&bind.target, if bind.writable { Access::ReadWrite } else { Access::Read })?;
    }
    Ok(rules)
}
