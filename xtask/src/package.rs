//! `cargo xtask package`: what would be handed to others, below `package` of the target directory.

use crate::examples;
use crate::run::Job;
use crate::stamp::all_files;
use crate::tools::Tools;
use crate::vendor;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Packs the examples, gathers the SDK files, and checks what the registries' own tools say.
pub(crate) fn run(workspace: &Workspace, tools: &Tools) -> Result<()> {
    let folder = workspace.built("package");
    let mut made = examples_packed(workspace, tools, &folder)?;
    made.extend(sdk_files(workspace, tools, &folder.join("sdk"))?);
    made.extend(registry_packages(workspace, tools, &folder)?);
    for path in made {
        let size = fs::metadata(&path).with_context(|| path.display().to_string())?.len();
        println!("{size:>10}  {}", workspace.shown(&path));
    }
    Ok(())
}

/// Each example as an archive, packed by the host's own command.
fn examples_packed(workspace: &Workspace, tools: &Tools, folder: &Path) -> Result<Vec<PathBuf>> {
    Job::new("cargo").args(["build", "--quiet", "--package", "modberth"]).dir(&workspace.root).capture()?;
    let archives = folder.join("examples");
    fs::create_dir_all(&archives).with_context(|| archives.display().to_string())?;
    for old in all_files(&archives)? {
        remove(&old)?;
    }
    for example in examples::build(workspace, tools)? {
        Job::new(workspace.built("debug/modberth"))
            .arg("pack")
            .arg(&example.dir)
            .arg("--output")
            .arg(&archives)
            .capture()?;
    }
    all_files(&archives)
}

/// The files that a module carries, by language.
fn sdk_files(workspace: &Workspace, tools: &Tools, folder: &Path) -> Result<Vec<PathBuf>> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut made = Vec::new();
    for (language, source) in vendor::all(workspace, tools)? {
        for file in all_files(&source)? {
            let target = folder.join(language).join(file.strip_prefix(&source).unwrap_or(&file));
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
            }
            fs::copy(&file, &target).with_context(|| file.display().to_string())?;
            made.push(target);
        }
    }
    Ok(made)
}

/// What would go to the registries of Python and npm, and the check that every crate lists its files.
fn registry_packages(workspace: &Workspace, tools: &Tools, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut made = Vec::new();
    let wheels = folder.join("python");
    fs::create_dir_all(&wheels).with_context(|| wheels.display().to_string())?;
    for old in all_files(&wheels)? {
        remove(&old)?;
    }
    Job::new(&tools.venv)
        .args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"])
        .arg(&wheels)
        .arg(workspace.at("sdk-python"))
        .capture()?;
    made.extend(all_files(&wheels)?);
    let npm = folder.join("npm");
    fs::create_dir_all(&npm).with_context(|| npm.display().to_string())?;
    for old in all_files(&npm)? {
        remove(&old)?;
    }
    for package in ["sdk-js", "sdk-ts"] {
        let dir = workspace.at(package);
        Job::new("npm").args(["run", "--silent", "check:package"]).dir(&dir).capture()?;
        Job::new("npm").args(["pack", "--silent", "--pack-destination"]).arg(&npm).dir(&dir).capture()?;
    }
    made.extend(all_files(&npm)?);
    for package in published(workspace)? {
        let list = Job::new("cargo")
            .args(["package", "--quiet", "--list", "--allow-dirty", "--package", &package])
            .dir(&workspace.root)
            .capture()?;
        for needed in ["Cargo.toml", "README.md", "src/"] {
            if !list.lines().any(|line| line.starts_with(needed)) {
                bail!("the crate {package} would be published without {needed}");
            }
        }
    }
    Ok(made)
}

/// The crates that can be published.
fn published(workspace: &Workspace) -> Result<Vec<String>> {
    let text = Job::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .dir(&workspace.root)
        .capture()?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    Ok(packages
        .iter()
        .filter(|package| package["publish"].is_null())
        .filter_map(|package| package["name"].as_str().map(str::to_owned))
        .collect())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}
