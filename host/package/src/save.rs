//! Archives as files: reading them within their bound, writing them whole or not at all.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use modberth_protocol::{Blame, Code, Violation};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::archive::{Archive, too_large};
use crate::fields::shown;
use crate::limits::ARCHIVE_BYTES;
use crate::problem::{Problems, failed_at_named};

/// What became of an archive that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It was written.
    Written,
    /// A file with the same bytes was there already; it was left alone.
    Same,
}

/// Opens an ordinary file without waiting on a pipe; `None` if there is none of this name.
fn open(path: &Path) -> Result<Option<File>, Violation> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(failed_at_named("open", path, &error.into())),
    };
    let metadata = file.metadata().map_err(|error| failed_at_named("look at", path, &error))?;
    if metadata.is_file() {
        Ok(Some(file))
    } else {
        Err(Violation::new(
            Code::PackageFileSpecial,
            format!("{} is no ordinary file.", shown(&path.to_string_lossy())),
        )
        .file(path.to_string_lossy())
        // The path comes from the caller, not from a package.
        .blame(Blame::Caller))
    }
}

/// At most one byte more than an archive may have.
fn read_bounded(file: File, path: &Path) -> Result<Vec<u8>, Violation> {
    let mut bytes = Vec::new();
    let most = u64::try_from(ARCHIVE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(|error| failed_at_named("read", path, &error))?;
    Ok(bytes)
}

impl Archive {
    /// Reads an archive from a file and checks it in full; see [`Archive::inspect`].
    ///
    /// # Errors
    /// `package.not_found`, and everything that [`Archive::inspect`] refuses.
    pub fn open(path: &Path) -> Result<Self, Problems> {
        let file = open(path)?.ok_or_else(|| {
            Violation::new(
                Code::PackageNotFound,
                format!("There is no folder and no archive {}.", shown(&path.to_string_lossy())),
            )
            .file(path.to_string_lossy())
        })?;
        let bytes = read_bounded(file, path)?;
        if bytes.len() > ARCHIVE_BYTES {
            let size = path.metadata().ok().and_then(|metadata| usize::try_from(metadata.len()).ok());
            return Err(too_large(size.unwrap_or(bytes.len())).file(path.to_string_lossy()).into());
        }
        if !bytes.starts_with(b"PK") {
            let message = format!("{} is no package.", shown(&path.to_string_lossy()));
            return Err(Violation::new(Code::PackageArchiveFormat, message)
                // The caller named a file that was never meant as one.
                .blame(Blame::Caller)
                .file(path.to_string_lossy())
                .offset(0_u64)
                .advise("Give the folder that holds manifest.json, or an archive that modberth pack made.")
                .into());
        }
        Self::inspect(&bytes).map_err(|problems| problems.of_archive(&path.to_string_lossy()))
    }
}

/// Writes an archive to a path: to a file beside it first, made safe on disk, then renamed. The mode is 0644.
///
/// # Errors
/// `package.output_exists` if something else stands there and `force` is not set; `package.io` if the file system
/// refuses.
pub fn save(bytes: &[u8], path: &Path, force: bool) -> Result<Saved, Violation> {
    let same = || -> Result<bool, Violation> {
        open(path)?.map_or(Ok(false), |file| Ok(read_bounded(file, path)? == bytes))
    };
    if same()? {
        return Ok(Saved::Same);
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if let Err(error) = folder.metadata()
        && error.kind() == io::ErrorKind::NotFound
    {
        let name = folder.to_string_lossy();
        return Err(Violation::new(Code::PackageIo, format!("The folder {} does not exist.", shown(&name)))
            .blame(Blame::Caller)
            .file(name)
            .advise("Make the folder, or write the archive to another one."));
    }
    let write = || -> io::Result<()> {
        // First, as a folder that cannot be opened cannot be made safe on disk later.
        let opened = File::open(folder)?;
        let mut file = tempfile::Builder::new()
            .prefix(".modberth-")
            .suffix(".zip")
            .tempfile_in(folder)
            // Its own message names a file that nobody asked for.
            .map_err(|error| io::Error::from(error.kind()))?;
        file.write_all(bytes)?;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(0o644))?;
        file.as_file().sync_all()?;
        if force {
            file.persist(path).map_err(|error| error.error)?;
        } else {
            file.persist_noclobber(path).map_err(|error| error.error)?;
        }
        opened.sync_all()
    };
    match write() {
        Ok(()) => Ok(Saved::Written),
        // Something stands there: a file from before, a link that leads nowhere, or what another process has written
        // meanwhile, which may be the same.
        Err(error) if !force && error.kind() == io::ErrorKind::AlreadyExists => {
            if same()? {
                return Ok(Saved::Same);
            }
            Err(Violation::new(
                Code::PackageOutputExists,
                format!("{} exists and holds something else.", shown(&path.to_string_lossy())),
            )
            .file(path.to_string_lossy()))
        }
        Err(error) => Err(failed_at_named("write", path, &error)),
    }
}
