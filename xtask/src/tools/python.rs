//! CPython: the interpreters on this machine, and the virtual environment with the development tools.

use crate::run::Job;
use crate::stamp::{Inputs, Stamp};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The lowest version of CPython.
const PYTHON: (u32, u32) = (3, 11);

/// The newest minor version whose own program name (`python3.N`) is looked for.
const NEWEST: u32 = 19;

/// One interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Python {
    /// The program, symlinks and shims resolved.
    pub(crate) path: PathBuf,
    /// Major and minor version.
    pub(crate) version: (u32, u32),
    /// `sys.implementation.cache_tag`, which names its bytecode.
    pub(crate) cache_tag: String,
}

/// The interpreters and what each is for.
pub(crate) struct Pythons {
    /// Starts modules.
    pub(crate) host: Python,
    /// Makes the virtual environment.
    pub(crate) for_venv: Python,
    /// One for each cache tag.
    pub(crate) all: Vec<Python>,
}

/// Finds every CPython from 3.11 on: in the system's own places, then on the path, then among pyenv's versions.
///
/// # Errors
///
/// There is none.
pub(crate) fn find(workspace: &Workspace) -> Result<Pythons> {
    let mut known = Known::load(workspace)?;
    let mut all: Vec<Python> = Vec::new();
    // A shim leads to a program that is a candidate itself, and takes longer than all of them.
    for candidate in candidates().into_iter().filter(|candidate| !is_script(candidate)) {
        if let Some(python) = known.ask(&candidate)
            && all.iter().all(|other| other.path != python.path)
        {
            all.push(python);
        }
    }
    known.save()?;
    // The host takes the first that is called python3; the developer's own is the first on the path.
    let host = host_candidates("python3").iter().find_map(|path| known.ask(path)).with_context(|| {
        format!("CPython {}.{} or newer is needed (python3 on the path)", PYTHON.0, PYTHON.1)
    })?;
    let for_venv = on_path("python3").and_then(|path| known.ask(&path)).unwrap_or_else(|| host.clone());
    let mut tags: Vec<Python> = Vec::new();
    for python in all {
        if tags.iter().all(|other| other.cache_tag != python.cache_tag) {
            tags.push(python);
        }
    }
    Ok(Pythons { host, for_venv, all: tags })
}

/// Programs that may be a CPython, in the order of preference.
fn candidates() -> Vec<PathBuf> {
    let mut folders = host_folders();
    let pyenv = env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".pyenv")));
    if let Some(versions) = pyenv.and_then(|root| fs::read_dir(root.join("versions")).ok()) {
        let mut versions: Vec<_> = versions.flatten().map(|entry| entry.path().join("bin")).collect();
        versions.sort();
        folders.extend(versions);
    }
    let mut names = vec!["python3".to_owned()];
    names.extend((PYTHON.1..=NEWEST).rev().map(|minor| format!("python3.{minor}")));
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in folders {
        for name in &names {
            let path = folder.join(name);
            if is_program(&path) && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// Where the host looks for interpreters: fixed places first, then along the path.
fn host_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = vec!["/usr/bin".into(), "/usr/local/bin".into()];
    folders
        .extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()).filter(|path| path.is_absolute()));
    folders
}

/// The programs of this name in the order in which the host tries them.
pub(crate) fn host_candidates(name: &str) -> Vec<PathBuf> {
    host_folders().into_iter().map(|folder| folder.join(name)).filter(|path| is_program(path)).collect()
}

/// What interpreters answered before, kept by path, size and time, since starting a dozen of them takes a second.
struct Known {
    file: PathBuf,
    answers: BTreeMap<String, Option<Python>>,
    changed: bool,
}

impl Known {
    fn load(workspace: &Workspace) -> Result<Self> {
        let file = workspace.own("pythons.json")?;
        let answers = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Known { file, answers: answers.unwrap_or_default(), changed: false })
    }

    fn save(&self) -> Result<()> {
        if self.changed {
            fs::write(&self.file, serde_json::to_vec_pretty(&self.answers)?).context("pythons.json")?;
        }
        Ok(())
    }

    /// What a candidate is; `None` when it is no CPython from 3.11 on.
    fn ask(&mut self, candidate: &Path) -> Option<Python> {
        let real = candidate.canonicalize().ok()?;
        let data = fs::metadata(&real).ok()?;
        // A shim decides anew each time it is called, so what it said before does not count.
        let shim = is_script(&real);
        let key = format!("{}|{}|{}.{}", real.display(), data.len(), data.mtime(), data.mtime_nsec());
        if !shim && let Some(answer) = self.answers.get(&key) {
            return answer.clone();
        }
        let answer = question(candidate);
        if !shim {
            self.answers.insert(key, answer.clone());
            self.changed = true;
        }
        answer
    }
}

/// Starts a candidate and asks what it is.
fn question(candidate: &Path) -> Option<Python> {
    let script = "import os, sys\n\
        v = sys.version_info\n\
        print(sys.implementation.name, v[0], v[1], sys.implementation.cache_tag, os.path.realpath(sys.executable))";
    let text = Job::new(candidate).args(["-I", "-S", "-c", script]).minutes(1).capture().ok()?;
    let mut words = text.trim().splitn(5, ' ');
    let (name, major, minor) = (words.next()?, words.next()?, words.next()?);
    let version = (major.parse().ok()?, minor.parse().ok()?);
    let cache_tag = words.next()?.to_owned();
    (name == "cpython" && version >= PYTHON).then_some(Python {
        path: words.next()?.into(),
        version,
        cache_tag,
    })
}

/// The virtual environment below the target directory, made anew when the list of its packages changes.
pub(crate) fn venv(workspace: &Workspace, python: &Python) -> Result<PathBuf> {
    let list = workspace.at("sdk-python/requirements-dev.txt");
    if !list.exists() {
        bail!("{} is missing", workspace.shown(&list));
    }
    let folder = workspace.built("venv");
    let program = folder.join("bin/python");
    let inputs = Inputs::default()
        .value(python.path.as_os_str().as_encoded_bytes())
        .value(&python.cache_tag)
        .value(folder.as_os_str().as_encoded_bytes())
        .path(&list)?;
    let stamp = Stamp::new(workspace, "venv", inputs)?;
    if stamp.is_current(std::slice::from_ref(&program)) {
        return Ok(program);
    }
    stamp.clear()?;
    eprintln!("set-up: Python development tools");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    Job::new(&python.path).args(["-I", "-m", "venv"]).arg(&folder).capture()?;
    Job::new(&program)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"])
        .arg(&list)
        .capture()?;
    stamp.set()?;
    Ok(program)
}

/// The first program of this name on the path.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
}

/// Whether a program is a script, as the shims of version managers are.
fn is_script(path: &Path) -> bool {
    let mut first = [0; 2];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == *b"#!"
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.mode() & 0o111 != 0)
}
