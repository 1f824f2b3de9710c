//! The example modules: building them, filling their payload folders, and listing how to start them.

mod languages;
mod payload;

use crate::lock::Lock;
use crate::tools::Tools;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use languages::Language;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// One built example, as `cargo xtask examples --json` lists it. Paths are absolute.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Example {
    /// The folder below `examples/`.
    pub(crate) name: String,
    /// `c`, `cpp`, `rust`, `python`, `js` or `ts`.
    pub(crate) language: &'static str,
    /// Process protocol.
    pub(crate) protocol: u32,
    /// The package folder: manifest and payload.
    pub(crate) dir: PathBuf,
    /// The manifest.
    pub(crate) manifest: PathBuf,
    /// Starts the module from any working directory, with the interpreter and flags that the host uses.
    pub(crate) command: Vec<String>,
}

/// What xtask reads of a manifest.
#[derive(Deserialize)]
struct Manifest {
    runtime: Runtime,
}

#[derive(Deserialize)]
struct Runtime {
    kind: String,
    entry: String,
    #[serde(default = "one")]
    protocol: u32,
}

fn one() -> u32 {
    1
}

/// Where the list is kept for tests and benches.
pub(crate) fn list_file(workspace: &Workspace) -> PathBuf {
    workspace.built("examples.json")
}

/// Builds every example that is not current, writes the list, and returns it. Several processes may call this at once.
///
/// # Errors
///
/// A build fails, or an example lacks a file.
pub(crate) fn build(workspace: &Workspace, tools: &Tools) -> Result<Vec<Example>> {
    build_telling(workspace, tools, |_| {})
}

/// The same, and says each example's name before it is built.
pub(crate) fn build_telling(
    workspace: &Workspace,
    tools: &Tools,
    tell: impl Fn(&str),
) -> Result<Vec<Example>> {
    let _lock = Lock::take(workspace, "examples")?;
    let mut examples = Vec::new();
    for name in names(workspace)? {
        for language in languages(&workspace.at("examples").join(&name))? {
            let dir = workspace.at("examples").join(&name).join(language.folder());
            let shown = format!("examples/{name}/{}", language.folder());
            tell(&shown);
            language
                .build(workspace, tools, &name, &dir)
                .and_then(|files| payload::fill(&dir, files))
                .or_else(|problem| payload::remove(&dir).and(Err(problem)))
                .context(shown)?;
            examples.push(describe(tools, &name, language, &dir)?);
        }
    }
    let text = serde_json::to_string_pretty(&examples)? + "\n";
    let file = list_file(workspace);
    if fs::read_to_string(&file).ok().as_deref() != Some(text.as_str()) {
        // Readers that run at the same time see the old list or the new one, never half of it.
        let new = file.with_extension("json.new");
        fs::write(&new, &text).with_context(|| new.display().to_string())?;
        fs::rename(&new, &file).with_context(|| file.display().to_string())?;
    }
    Ok(examples)
}

/// Names of the folders below `examples/`.
fn names(workspace: &Workspace) -> Result<Vec<String>> {
    subfolders(&workspace.at("examples"))
}

fn subfolders(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The languages in which an example is there. A folder that holds nothing but what builds made is none.
fn languages(example: &Path) -> Result<Vec<Language>> {
    let mut found = Vec::new();
    for folder in subfolders(example)? {
        let dir = example.join(&folder);
        if crate::stamp::files(&dir)?.is_empty() {
            continue;
        }
        let Some(language) = Language::ALL.into_iter().find(|language| language.folder() == folder) else {
            let known = Language::ALL.map(Language::folder).join(", ");
            bail!("{} is no language; the folders of an example are {known}", dir.display());
        };
        if !dir.join("manifest.json").is_file() {
            bail!("{} has no manifest.json", dir.display());
        }
        found.push(language);
    }
    found.sort_by_key(|language| Language::ALL.iter().position(|known| known == language));
    Ok(found)
}

fn describe(tools: &Tools, name: &str, language: Language, dir: &Path) -> Result<Example> {
    let manifest = dir.join("manifest.json");
    let text = fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
    let Manifest { runtime } = serde_json::from_str(&text).with_context(|| manifest.display().to_string())?;
    let entry = dir.join("payload").join(&runtime.entry);
    if !entry.is_file() {
        bail!("{}: the build made no {}", dir.display(), runtime.entry);
    }
    let entry = entry.display().to_string();
    let command = match runtime.kind.as_str() {
        "native" => vec![entry],
        "python" => {
            let python = tools.python.path.display().to_string();
            [python.as_str(), "-I", "-S", "-B", entry.as_str()].map(str::to_owned).to_vec()
        }
        "javascript" => vec![tools.node.display().to_string(), "--no-addons".to_owned(), entry],
        other => bail!("{}: runtime kind {other} starts nothing", manifest.display()),
    };
    Ok(Example {
        name: name.to_owned(),
        language: language.folder(),
        protocol: runtime.protocol,
        dir: dir.to_owned(),
        manifest,
        command,
    })
}

/// The verb `examples`.
pub(crate) fn print(workspace: &Workspace, tools: &Tools, json: bool) -> Result<()> {
    let examples = build(workspace, tools)?;
    if json {
        println!("{}", serde_json::to_string_pretty(&examples)?);
        return Ok(());
    }
    println!("{:<10} {:<8} {:>8}  {:<28} command", "name", "language", "protocol", "package folder");
    for example in &examples {
        println!(
            "{:<10} {:<8} {:>8}  {:<28} {}",
            example.name,
            example.language,
            example.protocol,
            workspace.shown(&example.dir).to_string(),
            example.command.join(" ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_may_lack_languages_but_not_its_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let example = folder.path();
        for language in ["python", "cpp"] {
            fs::create_dir(example.join(language)).unwrap();
            fs::write(example.join(language).join("manifest.json"), "{}").unwrap();
        }
        // What a build left of an example that is gone.
        fs::create_dir_all(example.join("rust/payload")).unwrap();
        fs::write(example.join("rust/payload/echo"), "").unwrap();
        assert_eq!(languages(example).unwrap(), [Language::Cpp, Language::Python]);

        fs::create_dir(example.join("pyhton")).unwrap();
        fs::write(example.join("pyhton/manifest.json"), "{}").unwrap();
        let problem = languages(example).unwrap_err().to_string();
        assert!(problem.contains("pyhton is no language") && problem.contains("c, cpp, rust"), "{problem}");
        fs::remove_dir_all(example.join("pyhton")).unwrap();
        fs::remove_file(example.join("cpp/manifest.json")).unwrap();
        fs::write(example.join("cpp/main.cpp"), "").unwrap();
        let problem = languages(example).unwrap_err().to_string();
        assert!(problem.ends_with("cpp has no manifest.json"), "{problem}");
    }
}
