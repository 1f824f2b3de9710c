//! The emulator. Its processors are emulated too: where xtask itself runs in a virtual machine, as in CI, hardware support is
//! missing or does not work, and everywhere the same is tested.

use super::Image;
use super::packages::{self, Packages};
use crate::lock::Lock;
use crate::run::Job;
use crate::tools::apt;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const EMULATOR: &str = "qemu-system-x86_64";

/// Most minutes for everything in the machine: a guard against a hang.
const MINUTES: u64 = 40;

/// Most seconds for one test program: another such guard, so that the programs after it still run.
pub(super) const SECONDS: u64 = 600;

/// A machine that can be started.
pub(crate) struct Machine {
    pub(super) packages: Packages,
    console: PathBuf,
    /// Two machines would write one console.
    _lock: Lock,
}

impl Machine {
    /// Installs and fetches what the machine consists of.
    ///
    /// # Errors
    ///
    /// Something cannot be had here.
    pub(crate) fn find(workspace: &Workspace) -> Result<Self> {
        if std::env::consts::ARCH != "x86_64" {
            bail!("the machine is an x86_64 one, and the tests are built for {}", std::env::consts::ARCH);
        }
        let lock = Lock::take(workspace, "vm")?;
        apt::install_machine()?;
        Ok(Machine {
            packages: packages::get(workspace)?,
            console: workspace.own("logs/vm-console.log")?,
            _lock: lock,
        })
    }

    /// Runs the tests and returns what the console said, even when the machine did not end by itself, which is the error.
    pub(crate) fn test(&self, image: &Image) -> (String, Result<()>) {
        let run = || -> Result<()> {
            // The console of an earlier run must not pass for this one's.
            fs::write(&self.console, "").with_context(|| self.console.display().to_string())?;
            let serial = format!("file:{}", self.console.display());
            Job::new(EMULATOR)
                .args(self.arguments(image, ""))
                .args(["-display", "none", "-monitor", "none", "-serial", &serial])
                .minutes(MINUTES)
                .capture()
                .map(drop)
        };
        let result = run();
        let console = fs::read(&self.console).unwrap_or_default();
        (String::from_utf8_lossy(&console).into_owned(), result)
    }

    /// Gives this terminal a shell in the machine, until it ends. Control-A X ends the machine from outside.
    pub(crate) fn shell(&self, image: &Image) -> Result<()> {
        let status = Command::new(EMULATOR)
            .args(self.arguments(image, "vm.shell"))
            .args(["-nographic", "-serial", "mon:stdio"])
            .status()
            .with_context(|| format!("cannot start {EMULATOR}"))?;
        if !status.success() {
            bail!("{EMULATOR} ended with {status}");
        }
        Ok(())
    }

    fn arguments(&self, image: &Image, word: &str) -> Vec<String> {
        let kernel = self.packages.kernel.display().to_string();
        let initrd = image.path.display().to_string();
        // A kernel that panics ends the emulator. The messages of ordinary events, such as a process that is killed for its
        // memory, would stand in the middle of other lines.
        let line = format!(
            "console=ttyS0 quiet loglevel=1 panic=-1 mitigations=off no5lvl random.trust_cpu=on rdinit=/init {word}"
        );
        ["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2048", "-nodefaults", "-no-reboot"]
            .into_iter()
            .chain(["-kernel", &kernel, "-initrd", &initrd, "-append", &line])
            .map(str::to_owned)
            .collect()
    }
}
