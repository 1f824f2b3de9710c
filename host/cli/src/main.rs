//! Modberth: run modules nobody has to trust.

mod args;
mod check;
mod doctor;
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

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use modberth_sandbox::doctor::probe;
use serde_json::json;

use crate::args::{Arguments, Command, FrameCommand};
use crate::exit::{Exit, Stop};
use crate::report::Report;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == "probe") {
        // What the doctor starts in a sandbox. It is no command for people, so neither help nor completions have it.
        let (layer, facts) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
        return probe::run(&layer, &facts).into();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(wrong) => return not_run(&with_tip(wrong)).into(),
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
        Command::Doctor => doctor::doctor(&mut report),
        Command::Completions { shell } => completions(*shell, &mut report),
    };
    let exit = match done {
        Ok(exit) => exit,
        Err(stop) => stop.report(&mut report),
    };
    exit.into()
}

/// A word that reads like a parameter was most likely meant as one, and a command that lacks letters as that command.
fn with_tip(mut wrong: clap::Error) -> clap::Error {
    let meant = match wrong.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if wrong.kind() == ErrorKind::UnknownArgument => {
            (word.contains('=') && !word.starts_with('-')).then(|| word.clone())
        }
        _ => None,
    };
    let similar = match wrong.get(ContextKind::InvalidSubcommand) {
        // Short words are too unlike any other for the parser's own measure.
        Some(ContextValue::String(word)) if wrong.get(ContextKind::SuggestedSubcommand).is_none() => {
            Arguments::command()
                .get_subcommands()
                .map(|command| command.get_name().to_owned())
                .find(|name| is_within(word, name))
        }
        _ => None,
    };
    let tip = meant
        .map(|word| format!("to give a parameter, use '-p {word}'"))
        .or_else(|| similar.map(|name| format!("a similar command exists: 'modberth {name}'")));
    if let Some(tip) = tip {
        wrong.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    wrong
}

/// Whether the letters of the word, two at least, stand in the name in this order.
fn is_within(word: &str, name: &str) -> bool {
    let mut letters = name.chars();
    word.len() > 1 && word.chars().all(|wanted| letters.any(|letter| letter == wanted))
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
    if report.is_json() {
        let script = String::from_utf8_lossy(&script);
        report.document(&json!({"ok": true, "shell": shell.to_string(), "script": script}))?;
    } else {
        report.bytes(&script)?;
    }
    Ok(Exit::Success)
}
