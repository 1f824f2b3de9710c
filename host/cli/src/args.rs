//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};

/// All exit codes, for the command as a whole.
const EXITS: &str = "\
Exit codes:
    0  done; of `run`: every target has data
    1  `run`: some target has an error; `frame`: a file was refused
    2  the command line is wrong, or a file it names cannot be read
    3  refused before any process: a bad package, request or parameter
    4  the module failed
    5  refused by policy
    6  the host or this machine failed
  130  interrupted";

const RUN_EXITS: &str = "\
Exit codes:
    0  every target has data
    1  the module answered, and some target has an error
    2  the command line is wrong, or a file it names cannot be read
    3  refused before any process: a bad package, request, parameter or limit
    4  the module failed
    5  refused by policy
    6  the host or this machine failed
  130  interrupted";

const CHECK_EXITS: &str = "\
Exit codes; of several packages the greatest counts:
    0  every package is right; warnings do not count
    2  the command line is wrong
    3  a package is wrong, or not there
    6  this machine failed to read it";

const PACK_EXITS: &str = "\
Exit codes:
    0  packed, or the same archive was there already
    2  the command line is wrong
    3  the package is wrong or not there, or the archive cannot stand at that path
    6  this machine failed to read or write";

const INSPECT_EXITS: &str = "\
Exit codes:
    0  shown
    2  the command line is wrong
    3  the package is wrong, or not there
    6  this machine failed to read it";

const FRAME_EXITS: &str = "\
Exit codes; of several files the greatest counts:
    0  every file is right
    1  a file was refused
    2  the command line is wrong, or a file cannot be read";

const DOCTOR_EXITS: &str = "\
Exit codes:
    0  modules are confined: every layer stopped the program that attacked it
    2  the command line is wrong
    3  modules are refused on this machine; what is missing is printed, and how to get it
    6  a layer does not hold, or the doctor could not look
  130  interrupted";

const COMPLETIONS_HELP: &str = "\
To install the script, for example:
    bash  modberth completions bash > ~/.local/share/bash-completion/completions/modberth
    zsh   modberth completions zsh > DIR/_modberth, with DIR in fpath
    fish  modberth completions fish > ~/.config/fish/completions/modberth.fish

Exit codes:
    0  printed
    2  the command line is wrong";

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
    Run(Box<Run>),
    Check(Check),
    Pack(Pack),
    Inspect(Inspect),
    /// Look at raw streams of frames
    #[command(subcommand, after_help = FRAME_EXITS)]
    Frame(FrameCommand),
    /// Say whether this machine confines modules, and prove it
    ///
    /// Shows what the machine has and what a module gets, then runs one program for each layer in the sandbox that modules
    /// get and lets it try to get out. Where something is missing, the commands that bring it are printed.
    #[command(after_help = DOCTOR_EXITS)]
    Doctor,
    /// Print a script that completes this command in a shell
    #[command(after_help = COMPLETIONS_HELP)]
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
#[command(
    after_help = RUN_EXITS,
    after_long_help = format!("{RUN_HELP}\n{RUN_EXITS}"),
    override_usage = "modberth run [OPTIONS] <PATH> <ACTION>"
)]
pub(crate) struct Run {
    /// A package folder, or an archive
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: PathBuf,

    /// The action, as the manifest names it
    pub(crate) action: Option<String>,

    /// A target id; give it again for each target of the batch
    #[arg(short, long = "target", value_name = "ID")]
    pub(crate) targets: Vec<String>,

    /// A parameter, read by its declared type
    #[arg(short, long = "parameter", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) parameters: Vec<(String, String)>,

    /// All parameters as a file with one JSON object; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "parameters", value_hint = ValueHint::FilePath)]
    pub(crate) params: Option<PathBuf>,

    /// A shorter deadline than that of the protocol, in milliseconds: 1 to 10000
    #[arg(long, value_name = "MS")]
    pub(crate) deadline: Option<u64>,

    /// A file with a JSON object of shorter waiting limits, such as {"process_1_deadline_ms": 2000}
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) limits: Option<PathBuf>,

    /// Run without control groups: memory and processor time of the module as a whole are not bounded
    #[arg(long)]
    pub(crate) unsafe_rlimits_only: bool,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a parameter is NAME=VALUE".to_owned()),
    }
}

/// Say whether packages are right, or everything that is wrong with them.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXITS)]
pub(crate) struct Check {
    /// Package folders and archives
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
}

/// Pack a package folder into an archive; the same content always gives the same bytes.
#[derive(Debug, Args)]
#[command(after_help = PACK_EXITS)]
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
#[command(after_help = INSPECT_EXITS)]
pub(crate) struct Inspect {
    /// A package folder, or an archive
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FrameCommand {
    Decode(Decode),
    Check(FrameCheck),
}

/// Show the frames of raw streams.
#[derive(Debug, Args)]
#[command(after_help = FRAME_EXITS)]
pub(crate) struct Decode {
    /// Files with frames; - is standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Show payloads over several lines
    #[arg(long)]
    pub(crate) pretty: bool,
}

/// Check the frames of raw streams and the JSON in them, by the rules of the process protocols.
///
/// What the messages say, such as a missing field of a hello, is not checked; `modberth run` does that.
#[derive(Debug, Args)]
#[command(after_help = FRAME_EXITS)]
pub(crate) struct FrameCheck {
    /// Files with frames; - is standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// The files hold one bare JSON document each, no frames
    #[arg(long)]
    pub(crate) json_only: bool,
}
