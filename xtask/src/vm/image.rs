//! The first root file system of the machine: two archives, one after the other, because the first changes rarely. Tests find
//! helper programs by the paths that were compiled into them, so everything stands where it does outside.

use super::machine::SECONDS;
use super::suites::{Built, Program};
use crate::run::Job;
use crate::stamp::{Inputs, Stamp, all_files};
use crate::tools::python::Python;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::copy;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

const INIT: &str = include_str!("init.sh");

/// Root, and the ordinary user with the number that most first users have.
const USERS: &str = "root:x:0:0:root:/root:/bin/sh\ntester:x:1000:1000:tester:/tmp:/bin/sh\n";
const GROUPS: &str = "root:x:0:\ntester:x:1000:\n";

/// What of Python's library no module of the tests loads, and most of its size.
const LEFT_OUT: &[&str] = &["config-", "test", "idlelib", "lib2to3", "pydoc_data", "distutils", "ensurepip"];

/// A packed image.
pub(crate) struct Image {
    /// The file.
    pub(crate) path: PathBuf,
    /// The tests in it.
    pub(crate) tests: Vec<Program>,
}

impl Image {
    /// Packs it; an archive whose content is the same is kept.
    pub(super) fn make(workspace: &Workspace, python: &Python, busybox: &Path, built: Built) -> Result<Self> {
        let system = system(workspace, python, busybox)?;
        let tests = tests(workspace, &built)?;
        let path = workspace.built("vm/image.cpio");
        let mut image = fs::File::create(&path).with_context(|| path.display().to_string())?;
        for part in [system, tests] {
            copy(&mut fs::File::open(&part)?, &mut image).with_context(|| part.display().to_string())?;
        }
        Ok(Image { path, tests: built.tests })
    }

    /// One line about it.
    pub(crate) fn about(&self) -> String {
        let size = fs::metadata(&self.path).map(|data| data.len() >> 20).unwrap_or_default();
        format!("{} ({size} MiB)", self.path.display())
    }
}

/// The archive of what belongs to the system: busybox, Python, users.
fn system(workspace: &Workspace, python: &Python, busybox: &Path) -> Result<PathBuf> {
    let archive = workspace.built("vm/system.cpio");
    let inputs = Inputs::default()
        .value(include_str!("image.rs"))
        .path(busybox)?
        .value(python.path.as_os_str().as_encoded_bytes())
        .path(&python.path)?;
    let stamp = Stamp::new(workspace, "vm-system", inputs)?;
    if stamp.is_current(std::slice::from_ref(&archive)) {
        return Ok(archive);
    }
    stamp.clear()?;
    let mut tree = Tree::new(workspace.built("vm/system"))?;
    for folder in ["usr/bin", "usr/lib", "usr/lib64", "usr/sbin"] {
        tree.folder(Path::new(folder))?;
    }
    for name in ["bin", "lib", "lib64", "sbin"] {
        tree.link(Path::new(name), &format!("usr/{name}"))?;
    }
    tree.file(busybox, Path::new("/usr/bin/busybox"))?;
    for name in Job::new(busybox).arg("--list").capture()?.lines() {
        if name != "busybox" {
            tree.link(&Path::new("usr/bin").join(name), "busybox")?;
        }
    }
    tree.text(Path::new("etc/passwd"), USERS, 0o644)?;
    tree.text(Path::new("etc/group"), GROUPS, 0o644)?;
    // An interpreter elsewhere lives in somebody's home with more than it needs.
    if python.path.starts_with("/usr/bin") {
        interpreter(&mut tree, python)?;
    }
    tree.pack(&archive)?;
    stamp.set()?;
    Ok(archive)
}

/// Python and its library.
fn interpreter(tree: &mut Tree, python: &Python) -> Result<()> {
    tree.program(&python.path, &[])?;
    if let Some(name) = python.path.file_name().and_then(|name| name.to_str())
        && name != "python3"
    {
        tree.link(Path::new("usr/bin/python3"), name)?;
    }
    let script = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let library = Job::new(&python.path).args(["-I", "-S", "-c", script]).capture()?;
    let library = Path::new(library.trim());
    for path in all_files(library)? {
        let inside = path.strip_prefix(library)?;
        let first = inside.components().next().map(|part| part.as_os_str().to_string_lossy());
        let first = first.unwrap_or_default();
        let left_out = LEFT_OUT.iter().any(|name| match name.strip_suffix('-') {
            Some(_) => first.starts_with(name),
            None => first == *name,
        });
        if left_out {
            continue;
        }
        if path.extension().is_some_and(|extension| extension == "so") {
            tree.program(&path, &[])?;
        } else {
            tree.file(&path, &path)?;
        }
    }
    Ok(())
}

/// The archive of what belongs to the tests: programs, the libraries they need, and what the machine is to do.
fn tests(workspace: &Workspace, built: &Built) -> Result<PathBuf> {
    let archive = workspace.built("vm/tests.cpio");
    let mut inputs = Inputs::default().value(include_str!("image.rs")).value(INIT).value(SECONDS.to_string());
    let programs = || built.tests.iter().map(|program| &program.path).chain(&built.helpers);
    for path in programs() {
        inputs = inputs.value(path.as_os_str().as_encoded_bytes()).path(path)?;
    }
    let stamp = Stamp::new(workspace, "vm-tests", inputs)?;
    if stamp.is_current(std::slice::from_ref(&archive)) {
        return Ok(archive);
    }
    stamp.clear()?;
    let mut tree = Tree::new(workspace.built("vm/tests"))?;
    for path in programs() {
        tree.program(path, &["--strip-debug"])?;
    }
    let mut plan = String::new();
    for Program { name, folder, path } in &built.tests {
        tree.folder(inside(folder)?)?;
        let line = format!("{name}\t{}\t{}", folder.display(), path.display());
        if line.matches('\t').count() != 2 || line.contains('\n') {
            bail!("the path {} holds a tab or the end of a line", path.display());
        }
        plan.push_str(&line);
        plan.push('\n');
    }
    // Whoever runs the tests may write there.
    for folder in [Path::new("/tmp"), &workspace.built("tmp")] {
        let folder = tree.folder(inside(folder)?)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o1777))?;
    }
    tree.text(Path::new("vm/plan"), &plan, 0o644)?;
    tree.text(Path::new("vm/limit"), &format!("{SECONDS}\n"), 0o644)?;
    tree.text(Path::new("vm/init"), INIT, 0o755)?;
    tree.link(Path::new("init"), "vm/init")?;
    tree.pack(&archive)?;
    stamp.set()?;
    Ok(archive)
}

/// A folder that becomes an archive.
struct Tree {
    root: PathBuf,
    /// What already is in it, by its path from the root.
    known: BTreeSet<PathBuf>,
}

impl Tree {
    fn new(root: PathBuf) -> Result<Self> {
        if root.exists() {
            fs::remove_dir_all(&root).with_context(|| root.display().to_string())?;
        }
        fs::create_dir_all(&root).with_context(|| root.display().to_string())?;
        Ok(Tree { root, known: BTreeSet::new() })
    }

    /// Makes a folder and those above it, open to every user whatever they are outside; returns where it stands.
    fn folder(&mut self, path: &Path) -> Result<PathBuf> {
        let mut full = self.root.clone();
        let mut inner = PathBuf::new();
        for part in path.components() {
            inner.push(part);
            full.push(part);
            if self.known.insert(inner.clone()) {
                fs::create_dir(&full).with_context(|| full.display().to_string())?;
                fs::set_permissions(&full, Permissions::from_mode(0o755))?;
            }
        }
        Ok(full)
    }

    /// Where an entry is to stand, with its folder made; `None` when it already is there.
    fn place(&mut self, path: &Path) -> Result<Option<PathBuf>> {
        if !self.known.insert(path.to_owned()) {
            return Ok(None);
        }
        if let Some(parent) = path.parent() {
            self.folder(parent)?;
        }
        Ok(Some(self.root.join(path)))
    }

    fn link(&mut self, path: &Path, target: &str) -> Result<()> {
        if let Some(place) = self.place(path)? {
            symlink(target, &place).with_context(|| place.display().to_string())?;
        }
        Ok(())
    }

    fn text(&mut self, path: &Path, text: &str, mode: u32) -> Result<()> {
        if let Some(place) = self.place(path)? {
            fs::write(&place, text).with_context(|| place.display().to_string())?;
            fs::set_permissions(&place, Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// A copy of `from` at the absolute path `to`; it may be run if the original may.
    fn file(&mut self, from: &Path, to: &Path) -> Result<()> {
        if let Some(place) = self.place(inside(to)?)? {
            fs::copy(from, &place).with_context(|| from.display().to_string())?;
            let run = fs::metadata(from)?.permissions().mode() & 0o111 != 0;
            fs::set_permissions(&place, Permissions::from_mode(if run { 0o755 } else { 0o644 }))?;
        }
        Ok(())
    }

    /// A program or library at its own path, with the libraries it needs; `strip` says what objcopy takes away.
    fn program(&mut self, path: &Path, strip: &[&str]) -> Result<()> {
        if let Some(place) = self.place(inside(path)?)? {
            if strip.is_empty() {
                fs::copy(path, &place).with_context(|| path.display().to_string())?;
            } else {
                Job::new("objcopy").args(strip).args([path, &place]).capture()?;
            }
            fs::set_permissions(&place, Permissions::from_mode(0o755))?;
            for library in libraries(&Job::new("ldd").arg(path).env("LC_ALL", "C").capture()?)? {
                self.file(&library, &merged(&library))?;
            }
        }
        Ok(())
    }

    /// Packs everything in the format that the kernel reads, all owned by root.
    fn pack(&self, archive: &Path) -> Result<()> {
        let list = archive.with_extension("list");
        let mut text = Vec::new();
        // In this order a folder comes before what it holds.
        for path in &self.known {
            text.extend_from_slice(path.as_os_str().as_encoded_bytes());
            text.push(0);
        }
        fs::write(&list, text).with_context(|| list.display().to_string())?;
        let command =
            "exec cpio --null --create --format=newc --owner=0:0 --reproducible --quiet <\"$0\" >\"$1\"";
        Job::new("sh").args(["-c", command]).args([&list, archive]).dir(&self.root).capture().map(drop)
    }
}

/// An absolute path as one from the root, without steps upwards.
fn inside(path: &Path) -> Result<&Path> {
    let relative = path.strip_prefix("/").with_context(|| format!("{} is not absolute", path.display()))?;
    if relative.components().any(|part| !matches!(part, Component::Normal(_))) {
        bail!("{} is no plain path", path.display());
    }
    Ok(relative)
}

/// Where a library stands in the image, in which `/lib` is a link to `/usr/lib`.
fn merged(path: &Path) -> PathBuf {
    if path.starts_with("/lib") || path.starts_with("/lib64") {
        return Path::new("/usr").join(path.strip_prefix("/").unwrap_or(path));
    }
    path.to_owned()
}

/// The libraries that ldd found. What is no dynamic program has none.
fn libraries(printed: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for line in printed.lines().map(str::trim) {
        if line.ends_with("=> not found") {
            bail!("a library is missing: {line}");
        }
        let path = line.split_once(" => ").map_or(line, |(_, path)| path);
        if let Some((path, _)) = path.split_once(" (0x")
            && path.starts_with('/')
        {
            found.push(path.into());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_as_ldd_prints_them() {
        let printed = "\tlinux-vdso.so.1 (0x00007ffd3b5f2000)\n\
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f5a3c000000)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f5a3c3f4000)\n";
        let found = libraries(printed).unwrap();
        assert_eq!(
            found,
            [Path::new("/lib/x86_64-linux-gnu/libc.so.6"), Path::new("/lib64/ld-linux-x86-64.so.2")]
        );
        assert_eq!(merged(&found[1]), Path::new("/usr/lib64/ld-linux-x86-64.so.2"));
        assert_eq!(merged(Path::new("/usr/lib/x.so")), Path::new("/usr/lib/x.so"));
        assert_eq!(libraries("\tstatically linked\n").unwrap(), Vec::<PathBuf>::new());
        assert!(libraries("\tlibx.so.1 => not found\n").is_err());
    }

    #[test]
    fn only_plain_absolute_paths_stand_in_the_image() {
        assert_eq!(inside(Path::new("/usr/bin/x")).unwrap(), Path::new("usr/bin/x"));
        assert!(inside(Path::new("usr/bin/x")).is_err());
        assert!(inside(Path::new("/usr/../etc")).is_err());
    }

    #[test]
    fn an_archive_holds_folders_before_their_content_and_every_entry_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut tree = Tree::new(folder.path().join("tree")).unwrap();
        tree.text(Path::new("a/b/file"), "text", 0o644).unwrap();
        tree.text(Path::new("a/b/file"), "other", 0o600).unwrap();
        tree.link(Path::new("a/link"), "b").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("tree/a/b/file")).unwrap(), "text");
        let known: Vec<&Path> = tree.known.iter().map(PathBuf::as_path).collect();
        assert_eq!(known, ["a", "a/b", "a/b/file", "a/link"].map(Path::new));
    }
}
