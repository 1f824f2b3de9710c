//! The test machine: Debian's kernel in an emulator, with nothing but groups of cgroup v2, for tests whose subject is the
//! kernel's own interface. The machine that runs xtask may have other groups, and it keeps them.
//!
//! - `suites.rs`: which tests run there.
//! - `packages.rs`: kernel and busybox from Debian's packages, nothing installed.
//! - `image.rs`: the first root file system, where every program stands at the path it has outside.
//! - `init.sh`: what the machine does.
//! - `machine.rs`: the emulator.
//! - `console.rs`: what the machine said.

pub(crate) mod console;
mod image;
mod machine;
mod packages;
mod suites;

pub(crate) use image::Image;
pub(crate) use machine::Machine;

use crate::tools::Tools;
use crate::workspace::Workspace;
use anyhow::Result;
use std::sync::OnceLock;

static ONLY: OnceLock<Vec<String>> = OnceLock::new();

/// Runs only the tests whose names begin so; all when none is given. Once.
pub(crate) fn only(names: Vec<String>) {
    // A process has one command line.
    let _ = ONLY.set(names);
}

/// Builds the tests and packs them.
///
/// # Errors
///
/// They do not compile, or the image cannot be written.
pub(crate) fn image(workspace: &Workspace, tools: &Tools, machine: &Machine) -> Result<Image> {
    let mut built = suites::build(workspace)?;
    if let Some(names) = ONLY.get() {
        built.keep(names)?;
    }
    Image::make(workspace, &tools.python, &machine.packages.busybox, built)
}

/// A shell in the machine, on this terminal.
///
/// # Errors
///
/// The machine cannot be had, or does not start.
pub(crate) fn shell(workspace: &Workspace, tools: &Tools) -> Result<()> {
    let machine = Machine::find(workspace)?;
    let image = image(workspace, tools, &machine)?;
    machine.shell(&image)
}
