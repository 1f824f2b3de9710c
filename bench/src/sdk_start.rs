//! What the SDK costs over a bare interpreter: whole processes, frames on standard input, started as the host starts them.
//!
//! The subject is one echo action of the built example package: start, import of the SDK, exchange, exit. The baseline is the same
//! interpreter with the same flags and an empty program. `ratio` is the median of what the SDK takes longer than the bare interpreter
//! of its pair, over the median of the bare interpreter.

use crate::examples;
use crate::row::{Row, Want};
use crate::whole::{frames, whole_process};
use crate::{Context, pairs};

/// Pairs of processes per language. The ratio of so many differs by about a hundredth between runs on an idle machine.
const RUNS: usize = 240;

/// The rows: Python, and Node with the CommonJS package.
pub(crate) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let all = examples::all(context)?;
    let row = |name, language, bar| row(name, examples::echo(&all, language)?, bar);
    Ok(vec![row("sdk-start/python", "python", 0.45)?, row("sdk-start/node-cjs", "js", 0.12)?])
}

fn row(name: &str, example: &examples::Example, bar: f64) -> Result<Row, String> {
    // The flags are what stands between the interpreter and the entry.
    let (entry, interpreter) =
        example.command.split_last().ok_or_else(|| format!("{}: empty command", example.language))?;
    let mut bare = interpreter.to_vec();
    bare.push("/dev/null".to_owned());
    let input = frames();
    let pairs = pairs::measure(
        RUNS,
        || whole_process(&bare, &input, false),
        || whole_process(&example.command, &input, true),
    )?;
    Ok(Row::compared(name, pairs.added(), pairs.runs, pairs.base, pairs.subject)
        .sides(
            "the bare interpreter, same flags, an empty program",
            bare.join(" "),
            format!("{} {entry} < FRAMES", interpreter.join(" ")),
        )
        .bar(Want::AtMost, bar))
}
