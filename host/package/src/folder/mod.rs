//! Development folders: `manifest.json` beside `payload/`, run as they are.

mod access;
mod read;

use std::path::{Path, PathBuf};

use modberth_protocol::{Code, Violation};

pub use access::check_access;
pub(crate) use read::{Entry, open_unpacked, walk_unpacked};
use read::{open_folder, read_file, walk};

use crate::archive::{self, Contents, Packed};
use crate::fields::shown;
use crate::limits::{HINTS_NAME, MANIFEST_BYTES, MANIFEST_NAME, MEMBER_BYTES, PAYLOAD_NAME};
use crate::manifest::{Manifest, ProcessKind, Runtime};
use crate::package::Package;
use crate::problem::{Problems, Warning};

/// A package folder that keeps every rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Folder {
    /// What the package is. Its digest is that of the archive that the folder packs to.
    pub package: Package,
    /// The folder with `manifest.json`.
    pub root: PathBuf,
    /// The folder whose contents run: `payload` below the root.
    pub payload: PathBuf,
    /// Bytes of the archive that the folder packs to.
    pub size: usize,
    /// What is legal but worth knowing.
    pub warnings: Vec<Warning>,
}

impl Folder {
    /// Opens a package folder and checks it in full. Only the manifest and the payload count; sources beside them can give
    /// the warning `payload_differs`.
    ///
    /// # Errors
    /// Everything that is wrong. A payload that is not built gives `package.payload_missing`, which says what to build.
    /// Links, hard links, devices and names that no archive can hold are refused as when packing.
    pub fn open(root: &Path) -> Result<Self, Problems> {
        let packed = pack_folder(root)?;
        Ok(Self {
            package: packed.package,
            root: root.to_owned(),
            payload: root.join(PAYLOAD_NAME),
            size: packed.bytes.len(),
            warnings: packed.warnings,
        })
    }
}

/// Packs a package folder; see [`archive::pack`].
///
/// # Errors
/// As [`Folder::open`].
pub fn pack_folder(root: &Path) -> Result<Packed, Problems> {
    let folder = open_folder(root)?;
    let bytes =
        read_file(&folder, MANIFEST_NAME, MANIFEST_NAME, MANIFEST_BYTES, Code::PackageManifestTooLarge)?
            .ok_or_else(|| {
                Violation::new(
                    Code::PackageManifestMissing,
                    format!("{} has no manifest.json.", shown(&root.to_string_lossy())),
                )
                .file(MANIFEST_NAME)
            })?;
    // A manifest that cannot be read makes every word about the payload a guess.
    let manifest = Manifest::parse(&bytes.contents)?;
    let contents = payload(&folder, root, &manifest)?;
    let mut packed = archive::pack(&bytes.contents, &contents).map_err(Problems::in_folder)?;
    packed.warnings.extend(differing(&folder, &manifest, &contents));
    Ok(packed)
}

/// Warns of members whose source, the file of the same path beside `manifest.json`, has other bytes: most likely the
/// source was changed and the payload was not filled again. A compiled program has no such source.
fn differing(folder: &read::Open, manifest: &Manifest, contents: &Contents) -> Option<Warning> {
    let script = manifest.runtime.process().is_some_and(|process| process.kind != ProcessKind::Native);
    let most = usize::try_from(MEMBER_BYTES).unwrap_or(usize::MAX);
    let differs = |path: &str, bytes: &[u8]| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let parents = path.strip_suffix(name).unwrap_or_default();
        // What cannot be read is no source of the payload, and no fault of the package.
        let mut below: Option<read::Open> = None;
        for parent in parents.split('/').filter(|parent| !parent.is_empty()) {
            below = Some(below.as_ref().unwrap_or(folder).folder(parent).ok()??);
        }
        let at = below.as_ref().unwrap_or(folder);
        let source = read_file(at, name, path, most, Code::PackageMemberTooLarge).ok()??;
        Some(source.contents != bytes)
    };
    let (path, _) = contents
        .iter()
        .filter(|(path, _)| script || path.as_str() == HINTS_NAME)
        .find(|(path, bytes)| differs(path, bytes) == Some(true))?;
    Some(Warning {
        name: "payload_differs",
        message: format!(
            "{path} differs from {PAYLOAD_NAME}/{path}, which is what runs. Fill {PAYLOAD_NAME}/ again if the \
             source was changed."
        ),
    })
}

/// The contents of the payload, with the mode of a native entry checked.
fn payload(folder: &read::Open, root: &Path, manifest: &Manifest) -> Result<Contents, Problems> {
    let entry = match &manifest.runtime {
        Runtime::Process(process) => Some(process),
        Runtime::Declarative => None,
    };
    let missing = |path: &str| {
        Violation::new(
            Code::PackagePayloadMissing,
            format!("{} has no {path}.", shown(&root.to_string_lossy())),
        )
        .file(path)
        .advise(match path.strip_prefix(&format!("{PAYLOAD_NAME}/{PAYLOAD_NAME}/")) {
            Some(entry) => format!("The entry is relative to {PAYLOAD_NAME}/: write {entry} in runtime.entry."),
            None => format!(
                "Build the module so that {path} exists: docs/tutorial.md, 'Make your own package', has the commands for \
                 each language; for the examples of Modberth itself: cargo xtask examples."
            ),
        })
    };
    let Some(payload) = folder.folder(PAYLOAD_NAME)? else {
        return match entry {
            Some(process) => Err(missing(&format!("{PAYLOAD_NAME}/{}", process.entry)).into()),
            None => Ok(Contents::new()),
        };
    };
    let files = walk(&payload, PAYLOAD_NAME)?;
    if let Some(process) = entry {
        let path = format!("{PAYLOAD_NAME}/{}", process.entry);
        match files.iter().find(|file| file.path == process.entry) {
            None => return Err(missing(&path).into()),
            Some(file) if process.kind == ProcessKind::Native && file.mode & 0o111 == 0 => {
                return Err(
                    access::mode_problem(&path, file.mode, "the native entry cannot be started").into()
                );
            }
            Some(_) => {}
        }
    }
    Ok(files.into_iter().map(|file| (file.path, file.contents)).collect())
}
