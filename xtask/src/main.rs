//! The front door of the workspace: `cargo xtask VERB`. Each verb sets up what it needs by itself.

mod bench;
mod counts;
mod demo;
mod errors;
mod examples;
mod generate;
mod lock;
mod markdown;
mod package;
mod requirements;
mod run;
mod sources;
mod stages;
mod stamp;
mod tools;
mod vendor;
mod vm;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use workspace::Workspace;

/// The front door of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Options {
    #[command(subcommand)]
    verb: Verb,
}

/// One line of help each: the doc comment.
#[derive(Subcommand)]
enum Verb {
    /// Set up everything, build the host and the example modules, run them and print a table
    Demo,
    /// Run every test in every language
    Test {
        /// Leave out what takes long: the test machine, fuzzing and long counts
        #[arg(long)]
        fast: bool,
        /// Run this stage only; may be given several times
        #[arg(long, value_name = "STAGE")]
        only: Vec<String>,
        /// Run the stage `vm` only: the tests of the sandbox in a machine of their own
        #[arg(long, conflicts_with = "only")]
        vm: bool,
        /// Run only these tests there, by the beginnings of their names, such as modberth-sandbox/lib
        #[arg(long, value_name = "NAME", requires = "vm", conflicts_with = "shell")]
        program: Vec<String>,
        /// Start that machine with a shell instead of the tests
        #[arg(long, requires = "vm")]
        shell: bool,
        /// List the stages and stop
        #[arg(long)]
        list: bool,
    },
    /// Build the host, the SDKs and the example modules
    Build,
    /// Check format and style in every language
    Lint,
    /// Pack the example modules and gather the files of every SDK that a module carries
    Package,
    /// Measure; one row per claim of docs/performance.md
    Bench {
        /// Benches or rows, by name or prefix; all when none is given
        names: Vec<String>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
        /// List the benches and stop
        #[arg(long)]
        list: bool,
        /// Exit with status 1 when a bar is missed
        #[arg(long)]
        check: bool,
    },
    /// Build the API documentation with warnings denied, and check every page
    Docs,
    /// Build every example module and list how to start it
    Examples {
        /// Print a JSON list and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Write the files that are made from others: constants of the error codes, the error index, the requirement list
    Generate {
        /// Write nothing; fail when a file is not current
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    match start(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) if problem.is::<stages::Quiet>() => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("xtask: {problem:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(options: Options) -> Result<()> {
    run::watch_signals()?;
    let workspace = Workspace::find()?;
    let ready = || tools::prepare(&workspace);
    match options.verb {
        Verb::Demo => demo::run(&workspace, &ready()?),
        Verb::Test { list: true, .. } => {
            for stage in stages::test::ALL {
                println!(
                    "{:<14} {}{}",
                    stage.name,
                    stage.about,
                    if stage.slow { " (not with --fast)" } else { "" }
                );
            }
            Ok(())
        }
        Verb::Test { shell: true, .. } => vm::shell(&workspace, &ready()?),
        Verb::Test { fast, mut only, vm, program, .. } => {
            vm::only(program);
            if vm {
                only.push("vm".to_owned());
            }
            let chosen = stages::choose(stages::test::ALL, &only, fast)?;
            stages::run(&workspace, &ready()?, &chosen)
        }
        Verb::Build => stages::run(&workspace, &ready()?, stages::build::ALL),
        Verb::Lint => stages::run(&workspace, &ready()?, &[&stages::lint::LINT]),
        Verb::Docs => stages::run(&workspace, &ready()?, &[&stages::docs::DOCS]),
        Verb::Package => package::run(&workspace, &ready()?),
        Verb::Bench { names, json, list, check } => {
            bench::run(&workspace, ready, &bench::Asked { names, json, list, check })
        }
        Verb::Examples { json } => examples::print(&workspace, &ready()?, json),
        Verb::Generate { check } => {
            for path in generate::run(&workspace, check)? {
                println!("{}", path.display());
            }
            Ok(())
        }
    }
}
