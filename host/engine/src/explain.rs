//! What the kernel counted, in the words of who has to change something: a module that was killed for its memory says
//! nothing itself.

use std::time::Duration;

use modberth_protocol::process::Failure;
use modberth_protocol::{Blame, Code, Violation};
use modberth_sandbox::{Limits, Usage};

/// The period over which processor time is counted.
const PERIOD: Duration = Duration::from_millis(100);

/// What a failed action had, what its host could give, and what it used.
pub(crate) struct Bounds<'a> {
    /// The limits in force.
    pub(crate) limits: &'a Limits,
    /// The most that this host gives to a module.
    pub(crate) ceiling: &'a Limits,
    /// What the kernel counted.
    pub(crate) usage: Usage,
    /// From the launch to the end.
    pub(crate) ran: Duration,
}

impl Bounds<'_> {
    /// Says in a failure which limit explains it: killed for memory first, then refused tasks, then processor time.
    pub(crate) fn explain(&self, failure: &mut Failure) {
        // Whoever cancelled needs no explanation, and where the host failed the module's limits are none.
        if failure.violation.code == Code::ProcessCancelled || failure.violation.blame == Blame::Host {
            return;
        }
        if let Some(note) = self.throttled(failure.violation.code) {
            failure.notes.insert(0, note);
        }
        if let Some(note) = self.tasks() {
            failure.notes.insert(0, note);
        }
        self.memory(failure);
    }

    fn memory(&self, failure: &mut Failure) {
        let killed = self.usage.oom_kills.unwrap_or(0);
        if killed == 0 {
            return;
        }
        let mib = |limits: &Limits| limits.memory_bytes >> 20;
        let (has, most) = (mib(self.limits), mib(self.ceiling));
        let processes = if killed == 1 { "one of its processes" } else { "its processes" };
        let message =
            format!("The module reached its memory limit of {has} MiB, and the kernel killed {processes}.");
        let remedy = format!("Work on less at a time{}.", more("limits.memory_mib", has, most, " MiB"));
        let violation = &mut failure.violation;
        if matches!(violation.code, Code::ProcessSignal | Code::ProcessExitStatus) {
            violation.message = format!("{message} {}", violation.message);
            *violation = violation.clone().advise(remedy);
        } else {
            failure.notes.insert(0, Violation::new(Code::ProcessMemory, message).advise(remedy));
        }
    }

    fn tasks(&self) -> Option<Violation> {
        let refused = self.usage.refused_tasks.filter(|refused| *refused > 0)?;
        let (has, most) = (self.limits.tasks, self.ceiling.tasks);
        let message = format!(
            "The module wanted more than its {has} processes and threads at one time; {refused} were refused."
        );
        let remedy = format!(
            "Use fewer processes and threads at one time{}.",
            more("limits.tasks", has.into(), most.into(), "")
        );
        Some(Violation::new(Code::ProcessTasks, message).limit(has).advise(remedy))
    }

    /// Only where it explains a deadline: held up in half of the periods or more.
    fn throttled(&self, code: Code) -> Option<Violation> {
        let periods = self.usage.throttled_periods.filter(|_| code == Code::ProcessDeadline)?;
        let all = self.ran.as_millis() / PERIOD.as_millis();
        if periods == 0 || u128::from(periods) * 2 < all {
            return None;
        }
        let (has, most) = (self.limits.cpu_percent, self.ceiling.cpu_percent);
        let message = format!(
            "The module was held up in {periods} of {all} periods of {} ms, because it had used its processor time: \
             {has} % of one processor.",
            PERIOD.as_millis()
        );
        let remedy = format!(
            "Compute less{}.",
            more("limits.cpu_percent", has.into(), most.into(), " % of one processor")
        );
        Some(Violation::new(Code::ProcessThrottled, message).limit(has).advise(remedy))
    }
}

/// How to get more of something, where this host gives more.
fn more(field: &str, has: u64, most: u64, unit: &str) -> String {
    if has < most {
        format!(", or ask for more in modberth.json: {field}, on this host up to {most}{unit}")
    } else {
        format!("; {most}{unit} is the most that this host gives a module (modberth.json, {field})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(code: Code, usage: impl FnOnce(&mut Usage)) -> Failure {
        let mut used = Usage::default();
        usage(&mut used);
        let mut limits = Limits::default();
        (limits.memory_bytes, limits.cpu_percent) = (32 << 20, 50);
        let bounds = Bounds {
            limits: &limits,
            ceiling: &Limits::default(),
            usage: used,
            ran: Duration::from_millis(1_000),
        };
        let mut failure = Failure::from(Violation::new(code, "As it was."));
        bounds.explain(&mut failure);
        failure
    }

    fn notes(failure: &Failure) -> Vec<&'static str> {
        failure.notes.iter().map(|note| note.code.as_str()).collect()
    }

    #[test]
    fn memory_comes_first_and_keeps_the_code() {
        for code in [Code::ProcessSignal, Code::ProcessExitStatus] {
            let failure = explained(code, |usage| usage.oom_kills = Some(1));
            assert_eq!(failure.violation.code, code);
            assert_eq!(
                failure.violation.message,
                "The module reached its memory limit of 32 MiB, and the kernel killed one of its processes. As it was."
            );
            assert_eq!(
                failure.violation.remedy(),
                "Work on less at a time, or ask for more in modberth.json: limits.memory_mib, on this host up to 128 MiB."
            );
            assert_eq!(notes(&failure), Vec::<&str>::new());
        }
        let failure = explained(Code::OutputId, |usage| usage.oom_kills = Some(2));
        assert_eq!((&*failure.violation.message, notes(&failure)), ("As it was.", vec!["process.memory"]));
    }

    #[test]
    fn tasks_and_processor_time_are_notes() {
        let both = |usage: &mut Usage| {
            usage.refused_tasks = Some(7);
            usage.throttled_periods = Some(5);
        };
        let failure = explained(Code::ProcessDeadline, both);
        assert_eq!(notes(&failure), ["process.tasks", "process.throttled"]);
        assert!(failure.notes[0].message.contains("its 32 processes and threads"), "{}", failure.notes[0]);
        assert!(failure.notes[0].remedy().contains("32 is the most that this host gives"));
        assert!(failure.notes[1].message.contains("in 5 of 10 periods"), "{}", failure.notes[1]);
        assert!(failure.notes[1].remedy().contains("limits.cpu_percent, on this host up to 100 %"));
        // Processor time explains a deadline and nothing else.
        assert_eq!(notes(&explained(Code::ProcessExitStatus, both)), ["process.tasks"]);
        let little = |usage: &mut Usage| usage.throttled_periods = Some(4);
        assert_eq!(notes(&explained(Code::ProcessDeadline, little)), Vec::<&str>::new());
    }

    #[test]
    fn a_cancelled_action_and_a_failed_host_are_not_explained() {
        for code in [Code::ProcessCancelled, Code::HostIo] {
            let failure = explained(code, |usage| {
                usage.oom_kills = Some(1);
                usage.refused_tasks = Some(1);
            });
            assert_eq!((&*failure.violation.message, notes(&failure)), ("As it was.", vec![]));
        }
    }
}
