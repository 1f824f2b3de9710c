//! Filling the payload folder of an example.

use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// One file of a payload.
pub(super) struct Member {
    /// Its path inside the payload.
    pub(super) name: String,
    /// The file that is copied.
    pub(super) source: PathBuf,
    /// Whether it is the native entry.
    pub(super) executable: bool,
}

impl Member {
    /// An ordinary file.
    pub(super) fn file(name: impl Into<String>, source: impl Into<PathBuf>) -> Self {
        Member { name: name.into(), source: source.into(), executable: false }
    }

    /// A native entry.
    pub(super) fn program(name: impl Into<String>, source: impl Into<PathBuf>) -> Self {
        Member { name: name.into(), source: source.into(), executable: true }
    }
}

/// Makes `payload/` hold exactly these files and the `modberth.json` beside the manifest. Files that are already right stay
/// untouched, so a module that another process just starts is not pulled away.
pub(super) fn fill(dir: &Path, mut members: Vec<Member>) -> Result<()> {
    members.retain(|member| member.name != "modberth.json");
    members.push(Member::file("modberth.json", dir.join("modberth.json")));
    let payload = dir.join("payload");
    fs::create_dir_all(&payload).with_context(|| payload.display().to_string())?;
    for member in &members {
        let target = payload.join(&member.name);
        let wanted = fs::read(&member.source).with_context(|| member.source.display().to_string())?;
        let mode = if member.executable { 0o755 } else { 0o644 };
        let current = fs::metadata(&target)
            .is_ok_and(|data| data.permissions().mode() & 0o777 == mode && data.len() == wanted.len() as u64)
            && fs::read(&target).is_ok_and(|bytes| bytes == wanted);
        if current {
            continue;
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        // A running program's file cannot be written; a new one takes its name.
        let new = target.with_file_name(format!(".new-{}", std::process::id()));
        fs::write(&new, wanted)
            .and_then(|()| fs::set_permissions(&new, fs::Permissions::from_mode(mode)))
            .and_then(|()| fs::rename(&new, &target))
            .with_context(|| target.display().to_string())?;
    }
    remove_others(&payload, &payload, &members)
}

/// Takes the payload away, so that nothing starts a program of sources that are no longer there.
pub(super) fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir.join("payload")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| dir.join("payload").display().to_string())
        }
        _ => Ok(()),
    }
}

/// Removes what no longer belongs to the payload.
fn remove_others(payload: &Path, folder: &Path, members: &[Member]) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.strip_prefix(payload).unwrap_or(&path);
        if path.is_dir() && !path.is_symlink() {
            if members.iter().any(|member| Path::new(&member.name).starts_with(name)) {
                remove_others(payload, &path, members)?;
            } else {
                fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
            }
        } else if members.iter().all(|member| Path::new(&member.name) != name) {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_payload_holds_exactly_its_files_and_is_left_alone_when_right() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        fs::write(dir.join("modberth.json"), "{}").unwrap();
        fs::write(dir.join("program"), "one").unwrap();
        fs::create_dir_all(dir.join("payload/old")).unwrap();
        fs::write(dir.join("payload/old/file"), "").unwrap();
        fs::write(dir.join("payload/stray"), "").unwrap();
        let members = || {
            vec![Member::program("echo", dir.join("program")), Member::file("lib/data", dir.join("program"))]
        };
        fill(dir, members()).unwrap();
        let list = || {
            let mut names: Vec<_> = crate::stamp::files(&dir.join("payload")).unwrap();
            names.sort();
            names
                .iter()
                .map(|path| path.strip_prefix(dir.join("payload")).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(list(), ["echo", "lib/data", "modberth.json"].map(PathBuf::from));
        let entry = dir.join("payload/echo");
        let before = fs::metadata(&entry).unwrap();
        assert_eq!(before.permissions().mode() & 0o777, 0o755);
        fill(dir, members()).unwrap();
        assert_eq!(fs::metadata(&entry).unwrap().ino(), before.ino());
        fs::write(dir.join("program"), "two").unwrap();
        fill(dir, members()).unwrap();
        assert_eq!(fs::read(&entry).unwrap(), b"two");
        remove(dir).unwrap();
        assert!(!dir.join("payload").exists());
        remove(dir).unwrap();
    }
}
