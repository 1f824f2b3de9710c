//! A row of the table.

use modberth_sandbox::{Bind, Exit, Layer, Profile};
use rustix::io::Errno;

use crate::drive::{Drive, Seen};
use crate::world::World;

/// Where the program lies when it cannot be run from the package.
pub(crate) const PROGRAMS: &str = "/programs";

/// How a behaviour is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As an action, with every layer.
    Action,
    /// As a long-lived backend, with every layer. It has the limits of an action here, and a folder to write to.
    Service,
    /// As an action, without these layers.
    #[cfg_attr(not(feature = "weaken"), allow(dead_code))]
    Weak(&'static [Layer]),
    /// As an action, unconfined.
    Plain,
}

impl Kind {
    /// The first part of the test's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Service => "service",
            Self::Weak(_) => "without",
            Self::Plain => "plain",
        }
    }

    /// Whether the module sees the machine's own files.
    pub(crate) fn sees_machine(self) -> bool {
        match self {
            Self::Action | Self::Service => false,
            Self::Weak(layers) => layers.contains(&Layer::MountNamespace),
            Self::Plain => true,
        }
    }

    /// Whether the package can be written. Nothing can be run from it then.
    pub(crate) fn writes_package(self) -> bool {
        matches!(self, Self::Weak(layers) if layers.contains(&Layer::ReadOnlyFiles))
    }

    /// The profile of such a run.
    pub(crate) fn profile(self, row: &Row, world: &World) -> Profile {
        let mut profile = Profile::action();
        if self == Self::Service {
            let limits = profile.limits;
            profile = Profile::service();
            profile.limits = limits;
            profile.binds.push(Bind { source: world.data(), target: "/data".into(), writable: true });
        }
        if self.writes_package() {
            let target = PROGRAMS.into();
            profile.binds.push(Bind { source: world.package(), target, writable: false });
        }
        if self.sees_machine() {
            for (name, value) in &mut profile.environment {
                if name == "TMPDIR" {
                    *value = world.scratch().into();
                }
            }
        }
        (row.tune)(&mut profile);
        profile
    }
}

/// What stops an attack.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Held {
    /// These layers. Without all of them it gets through.
    By(&'static [Layer]),
    /// Besides layers, something that cannot be left out: the process and user namespaces, the user of the slot, or
    /// what the kernel refuses to everybody but root.
    Always,
    /// It is no attack.
    Outcome,
}

/// What is seen of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shown {
    /// The first word after `stopped` is one of these.
    Stopped(&'static [&'static str]),
    /// The same, with a number behind it that lies between these two.
    StoppedAfter(&'static str, u64, u64),
    /// It was stopped, or killed, in whatever way.
    #[cfg_attr(not(feature = "weaken"), allow(dead_code))]
    Halted,
    /// It was stopped, in another way than this.
    StoppedOtherwise(&'static str),
    /// The whole line.
    Line(&'static str),
    /// It got through, as it says itself and, where the row says so, as is noticed outside.
    Through,
    /// The same, or the first word after `stopped` is one of these: this kernel does not have it at all.
    ThroughUnless(&'static [&'static str]),
    /// Something that only outside can be seen.
    Outside(fn(&Seen) -> Result<(), String>),
}

impl Shown {
    /// Whether this is what was seen.
    pub(crate) fn check(&self, seen: &Seen) -> Result<(), String> {
        let words: Vec<&str> = seen.line.split(' ').collect();
        let (verdict, how) = (words.first().copied(), words.get(1).copied());
        let number = words.get(2).and_then(|word| word.parse::<u64>().ok());
        let fine = match *self {
            Self::Stopped(allowed) => {
                verdict == Some("stopped") && how.is_some_and(|how| allowed.contains(&how))
            }
            Self::StoppedAfter(word, low, high) => {
                verdict == Some("stopped")
                    && how == Some(word)
                    && number.is_some_and(|number| (low..=high).contains(&number))
            }
            Self::Halted => verdict != Some("got-through"),
            Self::StoppedOtherwise(word) => verdict == Some("stopped") && how.is_some_and(|how| how != word),
            Self::Line(line) => seen.line == line,
            Self::Through => verdict == Some("got-through"),
            Self::ThroughUnless(lacking) => {
                verdict == Some("got-through")
                    || verdict == Some("stopped") && how.is_some_and(|how| lacking.contains(&how))
            }
            Self::Outside(check) => return check(seen),
        };
        if fine { Ok(()) } else { Err(format!("wanted {self:?}, and the line was {:?}", seen.line)) }
    }
}

/// A row. Made by [`attack`] or [`outcome`] and what follows.
pub(crate) struct Row {
    /// The behaviour of the program.
    pub(crate) name: &'static str,
    /// In which profiles, beside the one of an action.
    action: bool,
    service: bool,
    expected: Shown,
    in_service: Option<Shown>,
    /// What stops it.
    pub(crate) held: Held,
    /// Those of the layers that are each enough without the others.
    #[cfg_attr(not(feature = "weaken"), allow(dead_code))]
    pub(crate) alone: &'static [Layer],
    /// What is seen when that is off.
    pub(crate) shown: Shown,
    /// Whether somebody outside notices when it gets through.
    pub(crate) noticed: bool,
    /// How it is run.
    pub(crate) drive: Drive,
    tune: fn(&mut Profile),
}

/// An attack that the layers stop; the first word behind `stopped` is `how`.
pub(crate) const fn attack(
    name: &'static str,
    how: &'static [&'static str],
    layers: &'static [Layer],
) -> Row {
    Row {
        name,
        action: true,
        service: true,
        expected: Shown::Stopped(how),
        in_service: None,
        held: Held::By(layers),
        alone: &[],
        shown: Shown::Through,
        noticed: false,
        drive: Drive::ToTheEnd,
        tune: |_| {},
    }
}

/// One that is stopped by more than can be left out.
pub(crate) const fn always(name: &'static str, how: &'static [&'static str]) -> Row {
    Row { held: Held::Always, ..attack(name, how, &[]) }
}

/// No attack.
pub(crate) const fn outcome(name: &'static str, expected: Shown) -> Row {
    Row { held: Held::Outcome, expected, ..attack(name, &[], &[]) }
}

impl Row {
    /// What is seen with every layer.
    pub(crate) const fn sees(self, expected: Shown) -> Self {
        Self { expected, ..self }
    }

    /// The same for a service, where it differs.
    pub(crate) const fn in_service(self, expected: Shown) -> Self {
        Self { in_service: Some(expected), ..self }
    }

    /// What is seen without the layers, where that is not "got-through": the machine's own refusal, or something
    /// outside.
    pub(crate) const fn then(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// Each of these layers is enough without the others.
    pub(crate) const fn by_any(self, alone: &'static [Layer]) -> Self {
        Self { alone, ..self }
    }

    /// Somebody outside notices it.
    pub(crate) const fn noticed(self) -> Self {
        Self { noticed: true, ..self }
    }

    /// Not as a service: its profile permits it, or has nothing to do with it.
    pub(crate) const fn action_only(self) -> Self {
        Self { service: false, ..self }
    }

    /// Not as an action, likewise.
    pub(crate) const fn service_only(self) -> Self {
        Self { action: false, ..self }
    }

    /// Run in another way than to its end.
    pub(crate) const fn driven(self, drive: Drive) -> Self {
        Self { drive, ..self }
    }

    /// With another profile.
    pub(crate) const fn tuned(self, tune: fn(&mut Profile)) -> Self {
        Self { tune, ..self }
    }

    /// The profiles it is run in.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind> + use<> {
        [(self.action, Kind::Action), (self.service, Kind::Service)]
            .into_iter()
            .filter_map(|(wanted, kind)| wanted.then_some(kind))
    }

    /// What is seen in a profile.
    pub(crate) fn expected(&self, kind: Kind) -> &Shown {
        match (&self.in_service, kind) {
            (Some(expected), Kind::Service) => expected,
            _ => &self.expected,
        }
    }
}

/// The kernel ended a process for its memory, and that was told.
pub(crate) fn out_of_memory(seen: &Seen) -> Result<(), String> {
    let kills = seen.usage().and_then(|usage| usage.oom_kills);
    let peak = seen.usage().and_then(|usage| usage.peak_memory);
    match kills {
        Some(1..) if !seen.line.starts_with("got-through") && peak.is_none_or(|peak| peak <= 128 << 20) => {
            Ok(())
        }
        _ => Err(format!(
            "wanted a kill for memory, at most 128 MiB and no success; {kills:?} kills, peak {peak:?}"
        )),
    }
}

/// The same of the module's own process.
pub(crate) fn killed_for_memory(seen: &Seen) -> Result<(), String> {
    out_of_memory(seen)?;
    if seen.exit == Some(Exit::Signal(9)) {
        Ok(())
    } else {
        Err(format!("wanted SIGKILL, got {:?}", seen.exit))
    }
}

/// It never had more memory than its limit, whatever it says.
pub(crate) fn within_memory(seen: &Seen) -> Result<(), String> {
    let peak = seen.usage().and_then(|usage| usage.peak_memory);
    if peak.is_none_or(|peak| peak <= 128 << 20) && !seen.line.starts_with("got-through") {
        Ok(())
    } else {
        Err(format!("wanted at most 128 MiB, peak {peak:?}"))
    }
}

/// It ended, one way or another, and never had more memory than its limit.
pub(crate) fn bounded_memory(seen: &Seen) -> Result<(), String> {
    let peak = seen.usage().and_then(|usage| usage.peak_memory);
    if seen.alone && peak.is_none_or(|peak| peak <= 128 << 20) {
        Ok(())
    } else {
        Err(format!("wanted an end and at most 128 MiB, peak {peak:?}"))
    }
}

/// It was held up for its use of the processor.
pub(crate) fn throttled(seen: &Seen) -> Result<(), String> {
    match seen.usage().and_then(|usage| usage.throttled_periods) {
        Some(1..) => Ok(()),
        other => Err(format!("wanted periods in which it was held up, got {other:?}")),
    }
}

/// It was not.
pub(crate) fn unthrottled(seen: &Seen) -> Result<(), String> {
    match seen.usage().and_then(|usage| usage.throttled_periods) {
        Some(0) => Ok(()),
        other => Err(format!("wanted no period in which it was held up, got {other:?}")),
    }
}

/// It ended by itself with status 0 and took all with it, though it left a process behind.
pub(crate) fn gone_by_itself(seen: &Seen) -> Result<(), String> {
    if seen.alone && seen.exit == Some(Exit::Status(0)) {
        Ok(())
    } else {
        Err(format!("wanted an end by itself with status 0, got {:?} ({})", seen.exit, seen.alone))
    }
}

/// Its own process ended, and what it left lived on until the host stopped it.
pub(crate) fn left_behind(seen: &Seen) -> Result<(), String> {
    if !seen.alone && seen.exit == Some(Exit::Status(0)) {
        Ok(())
    } else {
        Err(format!("wanted something left behind, got {:?} ({})", seen.exit, seen.alone))
    }
}

/// It lived until the host killed it.
pub(crate) fn killed_by_host(seen: &Seen) -> Result<(), String> {
    if !seen.alone && seen.exit == Some(Exit::Signal(9)) {
        Ok(())
    } else {
        Err(format!("wanted SIGKILL by the host, got {:?} ({})", seen.exit, seen.alone))
    }
}

/// It lived until the host killed it, and was refused processes meanwhile.
pub(crate) fn stormed(seen: &Seen) -> Result<(), String> {
    killed_by_host(seen)?;
    match seen.usage().and_then(|usage| usage.refused_tasks) {
        Some(1..) | None => Ok(()),
        other => Err(format!("wanted processes that were refused, got {other:?}")),
    }
}

/// The host wrote what a pipe holds, was told that it is full, and killed it.
pub(crate) fn left_unread(seen: &Seen) -> Result<(), String> {
    killed_by_host(seen)?;
    match seen.written {
        Some((1..=0x10_0000, Some(Errno::AGAIN))) => Ok(()),
        other => Err(format!("wanted a pipe that is full after at most 1 MiB, got {other:?}")),
    }
}

/// The host was told that nobody reads, and killed it.
pub(crate) fn broke_pipe(seen: &Seen) -> Result<(), String> {
    killed_by_host(seen)?;
    match seen.written {
        Some((0, Some(Errno::PIPE))) => Ok(()),
        other => Err(format!("wanted a broken pipe, got {other:?}")),
    }
}

/// It ended by itself with its own status.
pub(crate) fn ended_with_7(seen: &Seen) -> Result<(), String> {
    if seen.alone && seen.exit == Some(Exit::Status(7)) {
        Ok(())
    } else {
        Err(format!("wanted status 7, got {:?} ({})", seen.exit, seen.alone))
    }
}

/// It was killed when its time was over, not by the host.
pub(crate) fn killed_by_backstop(seen: &Seen) -> Result<(), String> {
    if seen.alone && seen.backstop && seen.exit == Some(Exit::Signal(9)) {
        Ok(())
    } else {
        Err(format!(
            "wanted SIGKILL by the backstop, got {:?} ({}, {})",
            seen.exit, seen.alone, seen.backstop
        ))
    }
}
