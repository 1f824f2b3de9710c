//! Benchmarks of Modberth. `cargo xtask bench [NAME…] [--json]` builds this in release mode and runs it.
//!
//! A bench is a function that returns rows; each is registered once in [`BENCHES`]. Comparisons go through [`pairs::measure`],
//! so both sides run interleaved in random order. Every number stands beside the command that gave it.

mod examples;
mod machine;
mod pairs;
mod row;
mod sandbox;
mod sdk_start;
mod strict_json;
mod whole;

use clap::Parser;
use row::{Row, Want};
use std::path::PathBuf;
use std::process::ExitCode;

/// What a bench needs from outside.
pub(crate) struct Context {
    /// The list that `cargo xtask examples --json` printed.
    pub(crate) examples: Option<PathBuf>,
    /// Benches or rows that were asked for, by name or prefix; all when empty.
    names: Vec<String>,
}

impl Context {
    /// Whether a row was asked for.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| row.starts_with(name.as_str()))
    }
}

/// A bench: its name, one line about it, and the function that measures.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: fn(&Context) -> Result<Vec<Row>, String>,
}

/// Every bench, in the order it is printed.
const BENCHES: &[Bench] = &[
    Bench {
        name: "strict-json",
        about: "the strict check with the typed view, against a parser that builds values and checks less",
        run: strict_json::rows,
    },
    Bench {
        name: "sdk-start",
        about: "what the SDK adds to the start of a bare interpreter, for one whole echo action",
        run: sdk_start::rows,
    },
    Bench {
        name: "sandbox",
        about: "a confined action against the same program without a host and in bubblewrap, and what is left of it",
        run: sandbox::rows,
    },
    Bench { name: "host", about: "what the host itself needs", run: sandbox::host_rows },
];

/// Measures Modberth and prints one row per claim.
#[derive(Parser)]
struct Options {
    /// Benches or rows to run, by name or prefix; all when none is given.
    names: Vec<String>,
    /// Print one JSON object a line instead of a table.
    #[arg(long)]
    json: bool,
    /// List the benches and stop.
    #[arg(long)]
    list: bool,
    /// Exit with status 1 when a bar is missed.
    #[arg(long)]
    check: bool,
    /// The example list that `cargo xtask examples --json` printed.
    #[arg(long, value_name = "FILE")]
    examples: Option<PathBuf>,
    /// What a bench starts this program again for.
    #[arg(long, hide = true, requires = "package")]
    part: Option<sandbox::Part>,
    /// The package folder of that part.
    #[arg(long, hide = true)]
    package: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.list {
        for bench in BENCHES {
            println!("{:<14} {}", bench.name, bench.about);
        }
        return ExitCode::SUCCESS;
    }
    if let (Some(part), Some(package)) = (options.part, &options.package) {
        return match sandbox::run_part(part, package) {
            Ok(line) => {
                println!("{line}");
                ExitCode::SUCCESS
            }
            Err(message) => {
                eprintln!("bench: {message}");
                ExitCode::FAILURE
            }
        };
    }
    match run(&options) {
        Ok(missed) if options.check && missed > 0 => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs what was asked for; returns how many bars were missed.
fn run(options: &Options) -> Result<usize, String> {
    let wanted = |bench: &Bench| {
        options.names.is_empty()
            || options.names.iter().any(|name| bench.name == name.split('/').next().unwrap_or(name))
    };
    if let Some(name) = options.names.iter().find(|name| {
        let bench = name.split('/').next().unwrap_or(name);
        BENCHES.iter().all(|known| known.name != bench)
    }) {
        let known: Vec<_> = BENCHES.iter().map(|bench| bench.name).collect();
        return Err(format!("there is no bench \"{name}\"; the benches are {}", known.join(", ")));
    }
    let context = Context { examples: options.examples.clone(), names: options.names.clone() };
    if !options.json {
        println!("{}\n", machine::describe());
        println!(
            "{:<34} {:>9} {:>13} {:>13} {:>13} {:>6}",
            "row", "ratio", "bar", "base", "measured", "runs"
        );
    }
    let (mut missed, mut printed) = (0, 0);
    for bench in BENCHES.iter().filter(|bench| wanted(bench)) {
        for row in (bench.run)(&context).map_err(|error| format!("{}: {error}", bench.name))? {
            if !context.wants(&row.name) {
                continue;
            }
            missed += usize::from(row.met == Some(false));
            printed += 1;
            print(&row, options.json)?;
        }
    }
    if printed == 0 {
        return Err("no row has a name that begins as asked".to_owned());
    }
    Ok(missed)
}

fn print(row: &Row, json: bool) -> Result<(), String> {
    if json {
        println!("{}", serde_json::to_string(row).map_err(|error| error.to_string())?);
        return Ok(());
    }
    if let Some(why) = &row.not_run {
        println!("{:<34} not run: {why}", row.name);
        return Ok(());
    }
    let bar = match (row.want, row.bar) {
        (Some(Want::AtLeast), Some(bar)) => format!(">= {bar}"),
        (Some(Want::AtMost), Some(bar)) => format!("<= {bar}"),
        _ => "-".to_owned(),
    };
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1} {}", row.unit));
    let verdict = if row.met == Some(false) { "  MISSED" } else { "" };
    println!(
        "{:<34} {:>9.3} {:>13} {:>13} {:>13} {:>6}{verdict}",
        row.name,
        row.ratio,
        bar,
        number(row.base_median),
        number(row.value.or(row.median)),
        row.runs
    );
    if let Some(note) = &row.note {
        println!("{:<34} {note}", "");
    }
    Ok(())
}
