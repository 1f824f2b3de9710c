//! The host: from an invocation to its outcome.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use modberth_package::hints::ResourceHints;
use modberth_protocol::process::{Failure, HostSession, Request, Results};
use modberth_protocol::{Blame, Code, Violation};
use modberth_sandbox::{Confinement, Launch, Launcher, Profile};

use crate::checks::{self, Ground};
use crate::exchange::{self, Terms};
use crate::interpreter::{Interpreter, InterpreterKind, Interpreters, Sight, Wait};
use crate::invocation::{Invocation, Module};
use crate::launch;
use crate::limits::{Limits, millis};
use crate::outcome::{Outcome, ProcessReport};
use crate::queue::{Job, Queue, Refusal, WAITING};
use crate::running::{Canceller, Running, Ticket};

/// Actions that run at once, unless the builder says otherwise.
const ACTIONS: usize = 4;
/// Most actions at once that a host can be built with.
const MOST_ACTIONS: usize = 64;

/// Builds a [`Host`].
#[derive(Debug, Default)]
#[must_use]
pub struct HostBuilder {
    limits: Limits,
    resources: modberth_sandbox::Limits,
    actions: Option<usize>,
    python: Option<PathBuf>,
    node: Option<PathBuf>,
    launcher: Option<Launcher>,
    rlimits_only: bool,
}

impl HostBuilder {
    /// Shortens what the host waits for; see [`Limits`]. What is longer than its ceiling is cut to it.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits.capped();
        self
    }

    /// How much of the machine one module may use. A package can ask for less in `modberth.json`, never for more.
    ///
    /// Less than 16 MiB of memory, one task or one percent of a processor is raised to that: no module could start.
    pub fn resources(mut self, resources: modberth_sandbox::Limits) -> Self {
        self.resources = launch::raised(resources);
        self
    }

    /// How many actions run at once: 1 to 64, default 4. More wait, at most 64.
    pub fn actions(mut self, actions: usize) -> Self {
        self.actions = Some(actions);
        self
    }

    /// The Python interpreter. Without it the host looks for one.
    pub fn python(mut self, path: impl Into<PathBuf>) -> Self {
        self.python = Some(path.into());
        self
    }

    /// The Node.js program. Without it the host looks for one.
    pub fn node(mut self, path: impl Into<PathBuf>) -> Self {
        self.node = Some(path.into());
        self
    }

    /// Does without control groups: only each process of a module is limited, not the module as a whole, so its memory
    /// and processor time are not bounded. Everything else that confines a module is put up where this machine has it.
    ///
    /// Such a host does not conform (P1-HOST-26). Its log warns, and every outcome says so. For machines that give the
    /// host no control groups, and modules that are trusted. Has no effect beside [`HostBuilder::launcher`].
    pub fn rlimits_only(mut self, only: bool) -> Self {
        self.rlimits_only = only;
        self
    }

    /// The launcher. Without it modules are confined, or the host is not built.
    pub fn launcher(mut self, launcher: Launcher) -> Self {
        self.launcher = Some(launcher);
        self
    }

    /// Makes the host and starts its threads: one for each action at once, and one.
    ///
    /// # Errors
    /// `sandbox.unavailable` where this machine cannot confine modules; the message says what is missing and two ways
    /// to get it. `host.io` where it starts no threads.
    pub fn build(self) -> Result<Host, Violation> {
        let actions = self.actions.unwrap_or(ACTIONS).clamp(1, MOST_ACTIONS);
        let launcher = match self.launcher {
            Some(launcher) => launcher,
            None => launch::launcher(actions, &self.resources, self.rlimits_only)?,
        };
        let confinement = launcher.confinement();
        if !confinement.is_confined() {
            tracing::warn!("modules of this host are {confinement}");
        }
        let (queue, threads) = Queue::start(actions)
            .map_err(|error| Violation::new(Code::HostIo, format!("Cannot start a thread: {error}.")))?;
        let interpreters = Interpreters::new(
            [self.python, self.node],
            self.limits.interpreter,
            Sight { hidden: launcher.reach().is_none(), user: launcher.module_user() },
        );
        let shared = Shared { launcher, limits: self.limits, resources: self.resources, interpreters };
        Ok(Host { inner: Arc::new(Inner { shared: Arc::new(shared), queue, threads }) })
    }
}

/// Runs actions of modules. Cheap to clone and to share between threads and runtimes.
///
/// Dropping the last clone cancels everything that waits or runs and blocks until no process is left.
#[derive(Debug, Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

/// What the slots need.
#[derive(Debug)]
struct Shared {
    launcher: Launcher,
    limits: Limits,
    resources: modberth_sandbox::Limits,
    interpreters: Interpreters,
}

impl Host {
    /// A builder with the defaults of the specification.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Begins an action and returns at once. Everything about it is in the outcome, refusals included; this never
    /// blocks on a file or process.
    ///
    /// The request is checked first (`request.*`, `parameter.*`, `json.*`, `policy.*`), then it waits for a slot
    /// (`host.busy` when 64 wait already), then the package is checked against this machine (`package.*`,
    /// `host.interpreter`), and only then a process starts.
    pub fn invoke(&self, invocation: Invocation) -> Running {
        let begun = Instant::now();
        let (id, id_fault) = invocation_id();
        let ticket = Ticket::new(id);
        let running = Running::new(Arc::clone(&ticket), &self.inner.queue);
        let shared = Arc::clone(&self.inner.shared);
        let ceiling = shared.limits.process_1_deadline;
        let allowed = invocation.deadline.map_or(ceiling, |wished| wished.min(ceiling));
        tracing::debug!(
            id = %ticket.id, package = %invocation.module.package.manifest.id, action = %invocation.action,
            caller = %invocation.caller, targets = invocation.targets.len(), "invocation"
        );
        let request = match id_fault {
            Some(fault) => Err(fault),
            None => checks::request(&invocation, &ticket.id),
        };
        let action = Action { ticket, invocation, begun, allowed, shared };
        match request {
            Ok(request) => self.inner.queue.push(Box::new(Waiting { action, request })),
            Err(violation) => action.finish(Err(violation.into()), None),
        }
        running
    }

    /// The interpreter that runs modules of this kind.
    ///
    /// Blocks while it is looked for, the first time.
    ///
    /// # Errors
    /// `host.interpreter`: there is none, or none that is new enough; the message lists what was tried.
    pub fn interpreter(&self, kind: InterpreterKind) -> Result<Interpreter, Violation> {
        self.inner.shared.interpreters.get(kind, Wait::default())
    }

    /// The command line that starts a module, after the same checks of the package against this machine as
    /// [`Host::invoke`] makes.
    ///
    /// # Errors
    /// `package.*` and `host.interpreter`.
    pub fn command_line(&self, module: &Module) -> Result<Vec<OsString>, Violation> {
        let shared = &self.inner.shared;
        let profile = shared.profile(&module.package.hints.limits);
        let (command, _) = checks::command(module, &shared.ground(), &profile.limits, Wait::default())?;
        Ok(shared.launcher.command_line(&Launch::new(&module.folder, &command, &profile)))
    }

    /// What keeps modules apart from the machine.
    pub fn confinement(&self) -> Confinement {
        self.inner.shared.launcher.confinement()
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.inner.shared.limits
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for ticket in self.queue.close() {
            Canceller::new(&ticket, &self.queue).cancel();
        }
        for thread in self.threads.drain(..) {
            // A slot's own thread drops the last clone only when a caller gave it one; it cannot wait for itself.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

impl Shared {
    fn ground(&self) -> Ground<'_> {
        Ground { interpreters: &self.interpreters, user: self.launcher.module_user() }
    }

    /// The profile of an action whose package asks for these resources.
    fn profile(&self, hints: &ResourceHints) -> Profile {
        let mut profile = launch::profile(&self.resources, hints);
        profile.backstop = Some(self.limits.process_1_backstop);
        profile
    }
}

/// 16 random bytes in hexadecimal; or zeros, and why there were none.
fn invocation_id() -> (String, Option<Violation>) {
    let mut bytes = [0u8; 16];
    let fault = getrandom::fill(&mut bytes)
        .err()
        .map(|error| Violation::new(Code::HostIo, format!("The machine gives no random bytes: {error}.")));
    (bytes.iter().map(|byte| format!("{byte:02x}")).collect(), fault)
}

/// An invocation and what belongs to it from beginning to end.
struct Action {
    ticket: Arc<Ticket>,
    invocation: Invocation,
    begun: Instant,
    allowed: Duration,
    shared: Arc<Shared>,
}

impl Action {
    fn deadline(&self) -> Instant {
        self.begun + self.allowed
    }

    /// Gives the outcome.
    fn finish(self, verdict: Result<Results, Failure>, process: Option<ProcessReport>) {
        let manifest = &self.invocation.module.package.manifest;
        let wall = self.begun.elapsed();
        // Absent where no process ran: nothing was unconfined then.
        let confined = process.as_ref().map(|process| process.confinement.is_confined());
        match &verdict {
            Ok(results) => tracing::info!(
                id = %self.ticket.id, package = %manifest.id, action = %self.invocation.action, confined,
                results = results.results.len(), wall_ms = millis(wall), "action done"
            ),
            Err(failure) => tracing::info!(
                id = %self.ticket.id, package = %manifest.id, action = %self.invocation.action, confined,
                code = %failure.violation.code, blame = %failure.violation.blame, wall_ms = millis(wall),
                "action failed"
            ),
        }
        let outcome = Outcome {
            id: self.ticket.id.clone(),
            package: manifest.id.clone(),
            version: manifest.version.clone(),
            digest: self.invocation.module.package.digest.to_string(),
            caller: self.invocation.caller,
            action: self.invocation.action,
            verdict,
            process,
            wall,
        };
        self.ticket.finish(outcome);
    }

    /// Everything on the slot's thread: the last checks, the launch, the exchange.
    fn perform(&self, request: Request) -> (Result<Results, Failure>, Option<ProcessReport>) {
        match self.launch() {
            Ok((process, bell, profile)) => {
                let terms = Terms {
                    deadline: self.deadline(),
                    allowed: self.allowed,
                    cancel: bell.as_fd(),
                    limits: &self.shared.limits,
                    resources: &profile.limits,
                    ceiling: &self.shared.resources,
                };
                let (verdict, report) = exchange::run(process, HostSession::new(request), &terms);
                (verdict, Some(report))
            }
            Err(violation) => (Err(violation.into()), None),
        }
    }

    fn launch(&self) -> Result<(modberth_sandbox::Process, crate::running::Bell, Profile), Violation> {
        let module = &self.invocation.module;
        let mut profile = self.shared.profile(&module.package.hints.limits);
        let bell = self.ticket.bell().map_err(|error| {
            Violation::new(Code::HostIo, format!("Cannot make an event descriptor: {error}."))
        })?;
        let wait = Wait { until: Some(self.deadline()), cancel: Some(bell.as_fd()) };
        let command = checks::command(module, &self.shared.ground(), &profile.limits, wait);
        if self.ticket.is_cancelled() {
            return Err(cancelled());
        }
        let is_spent = || Instant::now() >= self.deadline();
        let command = match command {
            // It was asked for less time than the host itself would give it.
            Err(fault) if fault.code == Code::HostInterpreter && self.is_shortened() && is_spent() => {
                let told = fault.message.trim_end_matches('.');
                return Err(self.late(&format!("there was too little time to ask the interpreter ({told})")));
            }
            command => {
                let (command, binds) = command?;
                profile.binds = binds;
                command
            }
        };
        if is_spent() {
            return Err(self.late("the checks before the launch took all of it"));
        }
        let process = self
            .shared
            .launcher
            .launch(&Launch::new(&module.folder, &command, &profile))
            .map_err(|error| launch::fault(&error, module.package.program.is_some()))?;
        let confinement = process.confinement();
        if confinement.is_confined() {
            tracing::debug!(id = %self.ticket.id, %confinement, "process started");
        } else {
            tracing::warn!(id = %self.ticket.id, %confinement, "process started");
        }
        Ok((process, bell, profile))
    }

    /// Whether the caller gave the action less time than it may have.
    fn is_shortened(&self) -> bool {
        self.allowed < self.shared.limits.process_1_deadline
    }

    /// The deadline passed before there was a process: the host was slow, not the module, or the caller gave it less time
    /// than it may have.
    fn late(&self, why: &str) -> Violation {
        let allowed = millis(self.allowed);
        let message = format!("No process was started before the deadline of {allowed} ms: {why}.");
        let violation = Violation::new(Code::ProcessDeadline, message)
            .limit(allowed)
            .actual(millis(self.begun.elapsed()));
        if self.is_shortened() {
            violation.blame(Blame::Caller).advise("Give a longer deadline.")
        } else {
            violation.blame(Blame::Host).advise("Try again when this machine has less to do.")
        }
    }
}

fn cancelled() -> Violation {
    Violation::new(Code::ProcessCancelled, "The action was cancelled before it had started.")
}

/// A checked invocation on its way to a slot.
struct Waiting {
    action: Action,
    request: Request,
}

impl Job for Waiting {
    fn ticket(&self) -> &Arc<Ticket> {
        &self.action.ticket
    }

    fn deadline(&self) -> Instant {
        self.action.deadline()
    }

    fn run(self: Box<Self>) {
        let Self { action, request } = *self;
        // Nothing in there panics by intent. If it does all the same, the caller is told and the slot lives on.
        let done = std::panic::catch_unwind(AssertUnwindSafe(|| action.perform(request)));
        let (verdict, process) = done.unwrap_or_else(|_| {
            let violation = Violation::new(Code::HostIo, "The host failed inside; its log says where.");
            (Err(violation.into()), None)
        });
        action.finish(verdict, process);
    }

    fn refuse(self: Box<Self>, why: Refusal) {
        let violation = match why {
            Refusal::Busy => Violation::new(
                Code::HostBusy,
                format!("All slots are taken and {WAITING} actions wait already."),
            )
            .limit(WAITING),
            Refusal::Late => self.action.late("the action still waited for its turn"),
            Refusal::Cancelled => cancelled(),
            Refusal::Closed => {
                Violation::new(Code::ProcessCancelled, "The host ended before the action had started.")
                    .blame(Blame::Host)
            }
        };
        self.action.finish(Err(violation.into()), None);
    }
}
