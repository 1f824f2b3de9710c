//! Where the command reads from: packages, files, standard input. Every read is bounded.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use modberth_host::Module;
use modberth_package::{Archive, Folder, Package, Problems, Warning, install};
use modberth_protocol::{Code, Violation};
use tempfile::TempDir;

/// A package that was read, whatever it stands in.
pub(crate) struct Source {
    pub(crate) kind: &'static str,
    pub(crate) package: Package,
    pub(crate) warnings: Vec<Warning>,
    /// Bytes of the archive that it is or packs to.
    pub(crate) size: u64,
    /// The folder, if it is one.
    pub(crate) folder: Option<Folder>,
}

/// Reads and checks a package folder or an archive.
pub(crate) fn read(path: &Path) -> Result<Source, Problems> {
    if path.is_dir() {
        let folder = Folder::open(path)?;
        Ok(Source {
            kind: "folder",
            package: folder.package.clone(),
            warnings: folder.warnings.clone(),
            size: folder.size as u64,
            folder: Some(folder),
        })
    } else {
        let archive = Archive::open(path)?;
        let size = path.metadata().map_or(0, |metadata| metadata.len());
        Ok(Source {
            kind: "archive",
            package: archive.package,
            warnings: archive.warnings,
            size,
            folder: None,
        })
    }
}

/// A module that can be run, with the folder that an archive was unpacked into.
pub(crate) struct Runnable {
    pub(crate) module: Module,
    _unpacked: Option<Unpacked>,
}

/// An unpacked archive in a temporary folder, removed at the end.
struct Unpacked {
    path: PathBuf,
    /// Dropped after the folder in it is gone.
    _store: TempDir,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // Unpacked folders are closed even to their owner, so the temporary folder alone could not remove them.
        install::remove(&self.path);
    }
}

/// Opens a package folder as it is, or unpacks an archive.
pub(crate) fn open(path: &Path) -> Result<Runnable, Problems> {
    if path.is_dir() {
        let folder = Folder::open(path)?;
        return Ok(Runnable { module: folder.into(), _unpacked: None });
    }
    let archive = Archive::open(path)?;
    let store = tempfile::Builder::new().prefix("modberth-").tempdir().map_err(|error| {
        Violation::new(Code::PackageIo, format!("Could not make a temporary folder: {error}."))
    })?;
    let path = store.path().join(archive.package.digest.to_string());
    let parent = store.path().to_owned();
    let unpacked = Unpacked { path, _store: store };
    let path = install::unpack(&archive, &parent)?;
    Ok(Runnable { module: Module::new(archive.package, path), _unpacked: Some(unpacked) })
}

/// A file that the command line names; `-` is standard input.
pub(crate) fn open_file(path: &Path) -> Result<Box<dyn Read>, Violation> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(unreadable(path, &io::Error::from(io::ErrorKind::IsADirectory)));
    }
    Ok(Box::new(file))
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Violation {
    Violation::new(Code::RequestFile, format!("Cannot read {}: {error}.", label(path))).file(label(path))
}

/// The name of a file for people and for JSON.
pub(crate) fn label(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The whole of a file, at most `most` bytes; the next byte is refused with the code given.
pub(crate) fn read_file(path: &Path, most: usize, too_large: Code) -> Result<Vec<u8>, Violation> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    open_file(path)?
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() > most {
        return Err(Violation::new(too_large, format!("At most {most} bytes are read; there are more."))
            .file(label(path))
            .limit(most)
            .actual(bytes.len()));
    }
    Ok(bytes)
}
