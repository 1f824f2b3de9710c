//! Modberth: run modules nobody has to trust.

mod args;
mod check;
mod exit;
mod frame;
mod inspect;
mod json;
mod pack;
mod report;
mod run;
mod source;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::args::{Arguments, Command, FrameCommand};
use crate::exit::{Exit, Stop};
use crate::report::Report;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(wrong) => return not_run(&wrong).into(),
    };
    let mut report = Report::new(arguments.json, arguments.color);
    let done = match &arguments.command {
        Command::Run(run) => run::run(run, &mut report),
        Command::Check(check) => check::check(&check.paths, &mut report),
        Command::Pack(pack) => pack::pack(pack, &mut report),
        Command::Inspect(inspect) => inspect::inspect(&inspect.path, &mut report),
        Command::Frame(FrameCommand::Decode(decode)) => {
            frame::decode(&decode.files, decode.pretty, &mut report)
        }
        Command::Frame(FrameCommand::Check(check)) => {
            frame::check(&check.files, check.json_only, &mut report)
        }
        Command::Completions { shell } => completions(*shell, &mut report),
    };
    let exit = match done {
        Ok(exit) => exit,
        Err(stop) => stop.report(&mut report),
    };
    exit.into()
}

/// The command line is wrong, or asks for help or the version, which stand on standard output like any other answer.
fn not_run(wrong: &clap::Error) -> Exit {
    match wrong.print() {
        // A wrong command line is wrong whether or not it can be said.
        _ if wrong.use_stderr() => Exit::Usage,
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            // Nothing is left to say it with if this fails, too.
            let _ = writeln!(io::stderr(), "cannot write: {error}");
            Exit::Host
        }
        _ => Exit::Success,
    }
}

fn completions(shell: clap_complete::Shell, report: &mut Report) -> Result<Exit, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "modberth", &mut script);
    report.bytes(&script)?;
    Ok(Exit::Success)
}
