//! How the command ends.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::error::ErrorKind;
use modberth_package::Problems;
use modberth_protocol::{Blame, Code, Violation};

use crate::args::Arguments;
use crate::report::Report;

/// The exit codes of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; every target has data.
    Success,
    /// Some target has an error, or a file was refused by `frame`.
    Partial,
    /// The command line is wrong.
    Usage,
    /// Refused before any process.
    Refused,
    /// The module failed.
    Module,
    /// Refused by policy.
    Policy,
    /// The host or the machine failed.
    Host,
    /// Interrupted by a signal.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Partial => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Module => 4,
            Self::Policy => 5,
            Self::Host => 6,
            Self::Interrupted => 130,
        }
    }

    /// The worse of the two, for a command that judges several things: the greater number.
    pub(crate) fn worse(self, other: Self) -> Self {
        if other.code() > self.code() { other } else { self }
    }

    /// The exit code of a failure. `launched` tells whether a process of the module was started.
    pub(crate) fn of(violation: &Violation, launched: bool) -> Self {
        match (violation.code, violation.blame) {
            (Code::ProcessCancelled, _) => Self::Interrupted,
            (Code::RequestFile, _) => Self::Usage,
            (_, Blame::Policy) => Self::Policy,
            (code, _) if code.as_str().starts_with("policy.") => Self::Policy,
            (_, Blame::Host) => Self::Host,
            (_, Blame::Module) if launched => Self::Module,
            (_, Blame::Module | Blame::Caller) => Self::Refused,
        }
    }
}

/// Why a command ended before it was done.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The command line is wrong; why, for people.
    Usage(String),
    /// Something was refused, or failed.
    Problems(Problems),
    /// Standard output or standard error cannot be written.
    Output(io::Error),
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Self {
        Self::Problems(violation.into())
    }
}

impl From<Problems> for Stop {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Stop {
    /// Says what happened, as far as it can be written.
    pub(crate) fn report(self, report: &mut Report) -> Exit {
        match self {
            Self::Usage(why) => {
                let mut command = Arguments::command();
                command.build();
                // Only `run` asks for more than its parser can.
                let command = match command.find_subcommand("run") {
                    Some(run) => &mut run.clone(),
                    None => &mut command,
                };
                let _ = command.error(ErrorKind::MissingRequiredArgument, why).print();
                Exit::Usage
            }
            Self::Problems(problems) => {
                // What was refused decides the exit code, even where it cannot be said.
                let _ = report.refusal(&problems);
                Exit::of(problems.first(), false)
            }
            Self::Output(error) => {
                let _ = report.note(&format!("cannot write: {error}"));
                Exit::Host
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_their_exit_codes() {
        let of = |code: Code, launched: bool| Exit::of(&Violation::new(code, "x"), launched).code();
        assert_eq!(of(Code::RequestFile, false), 2);
        assert_eq!(of(Code::RequestAction, false), 3);
        assert_eq!(of(Code::ParameterType, false), 3);
        assert_eq!(of(Code::PackageFieldUnknown, false), 3);
        assert_eq!(of(Code::OutputTargetMissing, true), 4);
        assert_eq!(of(Code::ProcessSignal, true), 4);
        assert_eq!(of(Code::PolicyCapability, false), 5);
        assert_eq!(of(Code::PolicyCapability, true), 5);
        assert_eq!(of(Code::HostIo, true), 6);
        assert_eq!(of(Code::HostBusy, false), 6);
        assert_eq!(of(Code::HostInterpreter, false), 6);
        assert_eq!(of(Code::ProcessCancelled, true), 130);
    }
}
