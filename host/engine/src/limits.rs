//! Every time the host waits for something, in one place.

use std::time::Duration;

use modberth_protocol::json::{self, Profile};
use modberth_protocol::{Blame, Code, Violation};

/// How long the host waits, and for what. The defaults are also the ceilings: a limit can be shortened, never
/// lengthened.
///
/// As JSON ([`Limits::from_json`], [`Limits::to_json`]) it is an object of whole milliseconds, each field optional:
///
/// ```json
/// {"process_1_deadline_ms": 10000, "process_1_backstop_ms": 12000, "linger_ms": 500, "stop_ms": 10000,
///  "interpreter_ms": 10000}
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// An action of protocol 1, from [`Host::invoke`](crate::Host::invoke) to its outcome, waiting in the queue
    /// included (P1-HOST-25). Default and ceiling 10 seconds.
    pub process_1_deadline: Duration,
    /// A process of protocol 1 is killed this long after its launch, by a process other than the host, whatever the
    /// host does (P1-HOST-25). Default and ceiling 12 seconds.
    pub process_1_backstop: Duration,
    /// How long descendants of a module may live on after its own process has ended, before they are killed and the
    /// action fails with `process.left_behind`. Default and ceiling 500 milliseconds.
    pub linger: Duration,
    /// How long the host waits for killed processes to be gone, before it gives up on the machine. Default and
    /// ceiling 10 seconds.
    pub stop: Duration,
    /// How long an interpreter may take to say who it is. Default and ceiling 10 seconds.
    pub interpreter: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            process_1_deadline: Duration::from_secs(10),
            process_1_backstop: Duration::from_secs(12),
            linger: Duration::from_millis(500),
            stop: Duration::from_secs(10),
            interpreter: Duration::from_secs(10),
        }
    }
}

/// The names in JSON, each with its field.
type Field = (&'static str, fn(&mut Limits) -> &mut Duration);
const FIELDS: [Field; 5] = [
    ("process_1_deadline_ms", |limits| &mut limits.process_1_deadline),
    ("process_1_backstop_ms", |limits| &mut limits.process_1_backstop),
    ("linger_ms", |limits| &mut limits.linger),
    ("stop_ms", |limits| &mut limits.stop),
    ("interpreter_ms", |limits| &mut limits.interpreter),
];

impl Limits {
    /// Reads shortened limits; what the object does not name keeps its default.
    ///
    /// # Errors
    /// `host.limits` with the field, the ceiling and the actual value for an unknown field, a value that is no whole
    /// number of milliseconds, 0, or more than the ceiling; a `json.*` code where the bytes are no strict JSON object.
    pub fn from_json(bytes: &[u8]) -> Result<Self, Violation> {
        let root =
            json::parse(bytes, &Profile::PROCESS).map_err(|violation| violation.blame(Blame::Caller))?;
        let mut limits = Self::default();
        for (name, value) in root.members().into_iter().flatten() {
            let Some((_, field)) = FIELDS.iter().find(|(known, _)| *known == name) else {
                let known = FIELDS.map(|(name, _)| name).join(", ");
                let message = format!("There is no limit of this name; there are {known}.");
                return Err(Violation::new(Code::HostLimits, message).path(name));
            };
            let field = field(&mut limits);
            let ceiling = millis(*field);
            let actual = value.as_integer();
            let Some(actual) = actual.and_then(|actual| u64::try_from(actual).ok()) else {
                let message = format!("The limit is a whole number of milliseconds, 1 to {ceiling}.");
                return Err(Violation::new(Code::HostLimits, message).path(name).limit(ceiling));
            };
            *field = within(actual, ceiling).map_err(|fault| fault.path(name))?;
        }
        Ok(limits)
    }

    /// A deadline for one invocation, in milliseconds: shorter than that of the protocol, by the rule for all limits.
    ///
    /// # Errors
    /// `host.limits`, as [`Limits::from_json`] gives it.
    pub fn deadline(milliseconds: u64) -> Result<Duration, Violation> {
        within(milliseconds, millis(Self::default().process_1_deadline))
    }

    /// The limits as [`Limits::from_json`] reads them.
    pub fn to_json(&self) -> String {
        let mut copy = *self;
        let fields = FIELDS.map(|(name, field)| format!("\"{name}\":{}", millis(*field(&mut copy))));
        format!("{{{}}}", fields.join(","))
    }

    /// The same limits with none above its ceiling. [`HostBuilder::limits`](crate::HostBuilder::limits) applies it.
    #[must_use]
    pub fn capped(mut self) -> Self {
        let mut ceilings = Self::default();
        for (_, field) in FIELDS {
            let ceiling = *field(&mut ceilings);
            let value = field(&mut self);
            *value = (*value).min(ceiling);
        }
        self
    }
}

/// The milliseconds, if they are 1 to the ceiling.
fn within(actual: u64, ceiling: u64) -> Result<Duration, Violation> {
    if (1..=ceiling).contains(&actual) {
        return Ok(Duration::from_millis(actual));
    }
    let message = format!("The limit is 1 to {ceiling} ms; found {actual}. Limits can only be shortened.");
    Err(Violation::new(Code::HostLimits, message).limit(actual.clamp(1, ceiling)).actual(actual))
}

/// A duration in whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    // P1-HOST-25: 10 seconds, and a backstop of 12.
    #[test]
    fn the_defaults_are_those_of_the_specification() {
        let text = r#"{"process_1_deadline_ms":10000,"process_1_backstop_ms":12000,"linger_ms":500,"stop_ms":10000,"interpreter_ms":10000}"#;
        assert_eq!(Limits::default().to_json(), text);
        assert_eq!(Limits::from_json(text.as_bytes()), Ok(Limits::default()));
        assert_eq!(Limits::from_json(b"{}"), Ok(Limits::default()));
    }

    #[test]
    fn a_file_shortens() {
        let limits = Limits::from_json(br#"{"process_1_deadline_ms":250,"linger_ms":1}"#).unwrap();
        assert_eq!(limits.process_1_deadline, Duration::from_millis(250));
        assert_eq!(limits.linger, Duration::from_millis(1));
        assert_eq!(limits.stop, Duration::from_secs(10));
    }

    #[test]
    fn a_file_never_lengthens() {
        let refused = Limits::from_json(br#"{"process_1_deadline_ms":10001}"#).unwrap_err();
        assert_eq!(refused.code.as_str(), "host.limits");
        assert_eq!(refused.place.path.as_deref(), Some("process_1_deadline_ms"));
        assert_eq!((refused.limit, refused.actual), (Some(10_000), Some(10_001)));
        let zero = Limits::from_json(br#"{"process_1_deadline_ms":0}"#).unwrap_err();
        assert_eq!((zero.limit, zero.actual), (Some(1), Some(0)));
        // The deadline of one invocation keeps the same rule.
        assert_eq!(Limits::deadline(10_000), Ok(Duration::from_secs(10)));
        for (wrong, bound) in [(0, 1), (10_001, 10_000)] {
            let refused = Limits::deadline(wrong).unwrap_err();
            assert_eq!(refused.code.as_str(), "host.limits");
            assert_eq!((refused.limit, refused.actual), (Some(bound), Some(wrong)));
        }
        let lengthened = Limits { linger: Duration::from_secs(60), ..Limits::default() };
        assert_eq!(lengthened.capped(), Limits::default());
    }

    #[test]
    fn a_wrong_file_is_named() {
        for (text, path) in [
            (&br#"{"linger_ms":0}"#[..], "linger_ms"),
            (br#"{"linger_ms":1.5}"#, "linger_ms"),
            (br#"{"linger_ms":-1}"#, "linger_ms"),
            (br#"{"linger_ms":true}"#, "linger_ms"),
            (br#"{"linger":1}"#, "linger"),
        ] {
            let refused = Limits::from_json(text).unwrap_err();
            assert_eq!(refused.code, Code::HostLimits);
            assert_eq!(refused.place.path.as_deref(), Some(path));
        }
        assert_eq!(Limits::from_json(b"[]").unwrap_err().code, Code::JsonNotObject);
        assert_eq!(
            Limits::from_json(br#"{"stop_ms":1,"stop_ms":2}"#).unwrap_err().code,
            Code::JsonDuplicateKey
        );
    }
}
