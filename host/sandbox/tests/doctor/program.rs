//! The program that the tests of the doctor put into the sandbox: `probe probe LAYER FACT=VALUE…`.

use std::ffi::OsString;
use std::process::ExitCode;

use modberth_sandbox::doctor::probe;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match words.as_slice() {
        [word, layer, facts @ ..] if word == "probe" => probe::run(layer, facts).into(),
        _ => ExitCode::from(2),
    }
}
