//! The stages of `cargo xtask test`, in their order.

use super::{Run, Stage, build, docs, faulty, fuzz, lint, vm};
use crate::run::Job;
use crate::{counts, examples};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Every stage. The examples come first, because tests of other stages start them.
pub(crate) const ALL: &[&Stage] = &[
    &build::EXAMPLES,
    &RUST,
    &C,
    &CPP,
    &PYTHON,
    &JS,
    &TS,
    &CONFORMANCE,
    &lint::LINT,
    &docs::DOCS,
    &SANITIZE,
    &vm::VM,
    &lint::DENY,
    &fuzz::FUZZ,
];

const RUST: Stage = Stage {
    name: "rust",
    about: "cargo test: host, Rust SDK, xtask, benches, doctests",
    slow: false,
    run: rust,
};
const C: Stage =
    Stage { name: "c", about: "ctest of the C SDK", slow: false, run: |run| native(run, "sdk-c") };
const CPP: Stage =
    Stage { name: "cpp", about: "ctest of the C++ SDK", slow: false, run: |run| native(run, "sdk-cpp") };
const SANITIZE: Stage = Stage {
    name: "sanitize",
    about: "ctest of the C and C++ SDKs under AddressSanitizer and UBSan",
    slow: true,
    run: sanitize,
};
const PYTHON: Stage = Stage { name: "python", about: "pytest of the Python SDK", slow: false, run: python };
const JS: Stage = Stage {
    name: "js",
    about: "node --test of the JavaScript SDK",
    slow: false,
    run: |run| build::js(run).and_then(|()| node(run, "sdk-js")),
};
const TS: Stage = Stage {
    name: "ts",
    about: "node --test of the TypeScript SDK",
    slow: false,
    run: |run| build::ts(run).and_then(|()| node(run, "sdk-ts")),
};
const CONFORMANCE: Stage = Stage {
    name: "conformance",
    about: "the same cases for the modules of all six languages",
    slow: false,
    run: conformance,
};

fn rust(run: &mut Run<'_>) -> Result<()> {
    let job = Job::new("cargo")
        .env("RUST_BACKTRACE", "0")
        .args(["test", "--workspace", "--no-fail-fast", "--exclude", "modberth-conformance"])
        .env("MODBERTH_EXAMPLES", examples::list_file(run.workspace))
        .dir(&run.workspace.root);
    run.tests(job, |output| Ok(counts::cargo(output)));
    // Once more with layers of the sandbox left out, to show that it is they that stop each attack, and that each probe of
    // the doctor can fail. In a build of its own: nothing else is ever built with this feature.
    let weakened = Job::new("cargo")
        .env("RUST_BACKTRACE", "0")
        .args(["test", "--package", "modberth-sandbox", "--features", "weaken", "--no-fail-fast"])
        .args(["--test", "hostile", "--test", "doctor"])
        .dir(&run.workspace.root);
    run.tests(weakened, |output| Ok(counts::cargo(output)));
    Ok(())
}

fn native(run: &mut Run<'_>, project: &str) -> Result<()> {
    let folder = build::cmake(run, project)?;
    ctest(run, &folder);
    Ok(())
}

fn sanitize(run: &mut Run<'_>) -> Result<()> {
    for (project, setting) in
        [("sdk-c", "-DMODBERTH_C_SANITIZE=ON"), ("sdk-cpp", "-DMODBERTH_CPP_SANITIZE=ON")]
    {
        let folder = run.workspace.built(format!("{project}-sanitize"));
        build::cmake_with(run, project, &folder, &["-DCMAKE_BUILD_TYPE=Debug", setting])?;
        ctest(run, &folder);
    }
    Ok(())
}

fn ctest(run: &mut Run<'_>, folder: &Path) {
    let report = folder.join("junit.xml");
    let job = Job::new("ctest")
        .args([
            "--output-on-failure",
            "--no-tests=error",
            "--timeout",
            "300",
            "--parallel",
            "2",
            "--output-junit",
        ])
        .arg(&report)
        .dir(folder);
    run.tests(job, |_| Ok(counts::junit(&fs::read_to_string(&report).context("the report of ctest")?)));
}

fn python(run: &mut Run<'_>) -> Result<()> {
    let report = run.workspace.own("pytest.xml")?;
    let job = Job::new(&run.tools.venv)
        .args(["-m", "pytest", "-q", "--junit-xml"])
        .arg(&report)
        .arg("tests")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .dir(run.workspace.at("sdk-python"));
    run.tests(job, |_| Ok(counts::junit(&fs::read_to_string(&report).context("the report of pytest")?)));
    Ok(())
}

fn node(run: &mut Run<'_>, package: &str) -> Result<()> {
    let job = Job::new("npm").args(["test", "--silent"]).dir(run.workspace.at(package));
    run.tests(job, |output| Ok(counts::node(output)));
    Ok(())
}

fn conformance(run: &mut Run<'_>) -> Result<()> {
    let faulty = faulty::build(run).context("faulty modules")?;
    let job = Job::new("cargo")
        .args(["test", "--package", "modberth-conformance", "--features", "six-languages", "--no-fail-fast"])
        .env("MODBERTH_EXAMPLES", examples::list_file(run.workspace))
        .env("MODBERTH_FAULTY", faulty)
        .env("RUST_BACKTRACE", "0")
        .dir(&run.workspace.root);
    run.tests(job, |output| Ok(counts::cargo(output)));
    Ok(())
}
