//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};

/// Exit codes as they stand in the help of every command that starts a module.
const EXITS: &str = "\
Exit codes:
    0  done; every target has data
    1  some target has an error; or `frame` refused a file
    2  the command line is wrong, or a file it names cannot be read
    3  refused before any process: a bad package, request or parameter
    4  the module failed
    5  refused by policy
    6  the host or this machine failed
  130  interrupted";

/// Run modules nobody has to trust.
#[derive(Debug, Parser)]
#[command(name = "modberth", version, about, after_help = EXITS, propagate_version = true)]
pub(crate) struct Arguments {
    /// Print JSON on standard output instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to use colour; auto follows the terminal and NO_COLOR
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one action of a module on a batch of targets
    Run(Box<Run>),
    /// Say whether packages are right, or everything that is wrong with them
    Check(Check),
    /// Pack a package folder into an archive; the same content always gives the same bytes
    Pack(Pack),
    /// Show what a package is: actions, parameters, files, digest
    Inspect(Inspect),
    /// Look at raw streams of frames
    #[command(subcommand)]
    Frame(FrameCommand),
    /// Print a script that completes this command in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const RUN_HELP: &str = "\
Parameters given by -p are read by the type that the action declares:

    string       the text itself
    integer      5        number  0.5      boolean  true
    string-list  one item for each -p, or a JSON array: -p 'items=[\"a\",\"b\"]'

Example:
    modberth run examples/echo/python echo --target a --target b -p message=Hello
";

/// Run one action of a module on a batch of targets.
///
/// The results stand on standard output, in the order of the targets. What the module wrote to standard error follows on
/// standard error. Ctrl-C cancels the action, and waits until no process of it is left.
#[derive(Debug, Args)]
#[command(after_help = EXITS, after_long_help = format!("{RUN_HELP}\n{EXITS}"))]
pub(crate) struct Run {
    /// A package folder, or an archive
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: PathBuf,

    /// The action, as the manifest names it
    pub(crate) action: String,

    /// A target id; give it again for each target of the batch
    #[arg(short, long = "target", value_name = "ID")]
    pub(crate) targets: Vec<String>,

    /// A parameter, read by its declared type
    #[arg(short, long = "parameter", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) parameters: Vec<(String, String)>,

    /// All parameters as a file with one JSON object; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "parameters", value_hint = ValueHint::FilePath)]
    pub(crate) params: Option<PathBuf>,

    /// A shorter deadline than that of the protocol, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) deadline: Option<u64>,

    /// A file with a JSON object of shorter waiting limits, such as {"process_1_deadline_ms": 2000}
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) limits: Option<PathBuf>,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a parameter is NAME=VALUE".to_owned()),
    }
}

/// Say whether packages are right, or everything that is wrong with them.
#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub(crate) struct Check {
    /// Package folders and archives
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
}

/// Pack a package folder into an archive; the same content always gives the same bytes.
#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub(crate) struct Pack {
    /// The folder with manifest.json and payload/
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    /// The archive, or a folder for it [default: ID-VERSION.ficc-module.zip here]
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// Replace a file that holds something else
    #[arg(long)]
    pub(crate) force: bool,
}

/// Show what a package is: actions, parameters, files, digest.
#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub(crate) struct Inspect {
    /// A package folder, or an archive
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FrameCommand {
    /// Show the frames of raw streams; exit 1 if anything is wrong with them
    Decode(Decode),
    /// Check raw streams of frames strictly; exit 0 accepted, 1 refused
    Check(FrameCheck),
}

/// Show the frames of raw streams; exit 1 if anything is wrong with them.
#[derive(Debug, Args)]
pub(crate) struct Decode {
    /// Files with frames; - is standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Show payloads over several lines
    #[arg(long)]
    pub(crate) pretty: bool,
}

/// Check raw streams of frames strictly; exit 0 accepted, 1 refused.
#[derive(Debug, Args)]
pub(crate) struct FrameCheck {
    /// Files with frames; - is standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// The files hold one bare JSON document each, no frames
    #[arg(long)]
    pub(crate) json_only: bool,
}
