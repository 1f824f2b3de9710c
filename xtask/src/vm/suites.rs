//! What runs in the machine: test programs as cargo builds them, with the helper programs they start.

use crate::run::Job;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::PathBuf;

/// Tests of one crate.
struct Suite {
    package: &'static str,
    /// Its folder below the root of the work tree.
    folder: &'static str,
    tests: Tests,
}

/// Which tests of a crate.
enum Tests {
    /// All of them, those of the library included.
    All,
    /// These files of its folder `tests`. One that does not exist is an error.
    Named(&'static [&'static str]),
}

/// Everything that depends on the kernel's interfaces for groups, namespaces and filters.
const SUITES: &[Suite] = &[
    Suite { package: "modberth-sandbox", folder: "host/sandbox", tests: Tests::All },
    Suite { package: "modberth-host", folder: "host/engine", tests: Tests::Named(HOST) },
];

/// What a module sees through the engine. Its other tests have deadlines in real time, and emulated processors are slow.
const HOST: &[&str] = &["confinement"];

/// A test program.
#[derive(Debug)]
pub(crate) struct Program {
    /// `CRATE/TEST`, without white space.
    pub(crate) name: String,
    /// The crate's folder, where cargo starts its tests.
    pub(crate) folder: PathBuf,
    /// The program.
    pub(crate) path: PathBuf,
}

/// What was built.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// The tests, in the order in which they run.
    pub(crate) tests: Vec<Program>,
    /// Programs that tests find by their paths: examples and binaries.
    pub(crate) helpers: Vec<PathBuf>,
}

impl Built {
    /// Leaves the tests whose names begin with one of `names`; all when there is none.
    pub(super) fn keep(&mut self, names: &[String]) -> Result<()> {
        for name in names {
            if !self.tests.iter().any(|program| program.name.starts_with(name.as_str())) {
                let all: Vec<&str> = self.tests.iter().map(|program| program.name.as_str()).collect();
                bail!("no test begins with {name}; there are {}", all.join(", "));
            }
        }
        let wanted = |program: &Program| names.iter().any(|name| program.name.starts_with(name.as_str()));
        let (kept, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.tests)
            .into_iter()
            .partition(|program| names.is_empty() || wanted(program));
        self.tests = kept;
        // A test may start another one.
        self.helpers.extend(others.into_iter().map(|program| program.path));
        Ok(())
    }
}

/// What cargo says about one thing that it built.
#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    executable: Option<PathBuf>,
    target: Target,
    profile: Profile,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Builds all of it.
///
/// # Errors
///
/// It does not compile, or a test that is named here does not exist.
pub(crate) fn build(workspace: &Workspace) -> Result<Built> {
    let mut job = Job::new("cargo").args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    for suite in SUITES {
        job = job.args(["--package", suite.package]);
    }
    sort(&job.dir(&workspace.root).capture()?, workspace)
}

/// Sorts what cargo printed, a JSON object a line.
fn sort(messages: &str, workspace: &Workspace) -> Result<Built> {
    let mut built = Built::default();
    // Messages of other kinds have other fields.
    let artifacts: Vec<Artifact> =
        messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for suite in SUITES {
        let folder = workspace.at(suite.folder);
        let manifest = folder.join("Cargo.toml");
        let mut found: Vec<(&Artifact, &PathBuf)> = artifacts
            .iter()
            .filter(|artifact| artifact.manifest_path == manifest)
            .filter_map(|artifact| Some((artifact, artifact.executable.as_ref()?)))
            .collect();
        found.sort_by(|(one, _), (other, _)| one.target.name.cmp(&other.target.name));
        for (artifact, path) in &found {
            let kind = |wanted: &str| artifact.target.kind.iter().any(|kind| kind == wanted);
            let integration = kind("test");
            let name = if kind("lib") { "lib" } else { artifact.target.name.as_str() };
            let wanted = match suite.tests {
                Tests::All => true,
                Tests::Named(names) => integration && names.contains(&name),
            };
            if !artifact.profile.test {
                built.helpers.push((*path).clone());
            } else if wanted {
                built.tests.push(Program {
                    name: format!("{}/{name}", suite.package),
                    folder: folder.clone(),
                    path: (*path).clone(),
                });
            }
        }
        if let Tests::Named(names) = suite.tests {
            for name in names {
                let full = format!("{}/{name}", suite.package);
                built.tests.iter().find(|program| program.name == full).with_context(|| {
                    format!("{full} is to run in the machine, but cargo built no such test")
                })?;
            }
        } else if found.is_empty() {
            bail!("cargo built no test of {}", suite.package);
        }
    }
    Ok(built)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(folder: &str, kind: &str, name: &str, test: bool) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/w/{folder}/Cargo.toml","executable":"/w/target/{name}","target":{{"name":"{name}","kind":["{kind}"]}},"profile":{{"test":{test}}}}}"#
        )
    }

    #[test]
    fn tests_and_helpers_are_told_apart() {
        let workspace = Workspace { root: "/w".into(), target: "/w/target".into() };
        let sandbox = [
            artifact("host/sandbox", "test", "stop", true),
            artifact("host/sandbox", "lib", "modberth_sandbox", true),
            artifact("host/sandbox", "example", "hostile", false),
            r#"{"reason":"compiler-message","message":{}}"#.to_owned(),
            artifact("host/engine", "test", "other", true),
        ];
        // What is named in the list must be there.
        assert!(sort(&sandbox.join("\n"), &workspace).is_err());
        let named: Vec<String> =
            HOST.iter().map(|name| artifact("host/engine", "test", name, true)).collect();
        assert!(sort(&named.join("\n"), &workspace).is_err());
        let all = format!("{}\n{}", sandbox.join("\n"), named.join("\n"));
        let mut built = sort(&all, &workspace).unwrap();
        let names: Vec<&str> = built.tests.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(
            names[..3],
            ["modberth-sandbox/lib", "modberth-sandbox/stop", "modberth-host/confinement"]
        );
        assert_eq!(names.len(), 2 + HOST.len());
        assert_eq!(built.tests[1].folder, PathBuf::from("/w/host/sandbox"));
        assert_eq!(built.helpers, [PathBuf::from("/w/target/hostile")]);
        built.keep(&[]).unwrap();
        assert_eq!(built.tests.len(), 2 + HOST.len());
        let error = built.keep(&["modberth-host".to_owned(), "modberth-none".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("modberth-none; there are modberth-sandbox/lib, "), "{error}");
        built.keep(&["modberth-host/c".to_owned(), "modberth-sandbox/s".to_owned()]).unwrap();
        let names: Vec<&str> = built.tests.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["modberth-sandbox/stop", "modberth-host/confinement"]);
        assert!(built.helpers.contains(&PathBuf::from("/w/target/modberth_sandbox")));
    }
}
