//! The vm stage: the tests of the sandbox in a machine whose only groups are those of cgroup v2, as root and as an ordinary user.

use super::{Run, Stage};
use crate::vm::{self, Machine, console};
use anyhow::Result;

/// The stage.
pub(crate) const VM: Stage = Stage {
    name: "vm",
    about: "tests of the sandbox in a machine with cgroup v2 alone, as root and as a user",
    slow: true,
    run,
};

fn run(run: &mut Run<'_>) -> Result<()> {
    let machine = match Machine::find(run.workspace) {
        Ok(machine) => machine,
        Err(why) => {
            run.not_run("vm", &format!("{why:#}"));
            return Ok(());
        }
    };
    let image = vm::image(run.workspace, run.tools, &machine)?;
    run.note(&image.about());
    let (text, ended) = machine.test(&image);
    run.note(&text);
    let names: Vec<&str> = image.tests.iter().map(|program| program.name.as_str()).collect();
    let report = console::read(&text, &names);
    if let Some((release, seconds)) = &report.started {
        run.say(format!("  Linux {release} was up after {seconds:.1} s"));
    }
    for ran in &report.ran {
        let mut line = format!("  {} {:<28} {} passed", ran.round, ran.name, ran.counts.passed);
        if ran.counts.failed > 0 {
            line.push_str(&format!(", {} FAILED", ran.counts.failed));
        }
        if ran.counts.skipped > 0 {
            line.push_str(&format!(", {} skipped", ran.counts.skipped));
        }
        match ran.seconds {
            Some(seconds) => line.push_str(&format!(", {seconds:.1} s")),
            None => line.push_str(", did not end"),
        }
        run.say(line);
    }
    run.add(report.counts, report.problems);
    // The emulator's own trouble, such as a deadline that passed, comes on top of what the console lacks.
    if let Err(problem) = ended {
        run.judge(Err(problem));
    }
    Ok(())
}
