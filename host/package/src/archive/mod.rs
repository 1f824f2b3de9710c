//! Archives: reading them with every refusal, writing them so that the same content always gives the same bytes.

mod bytes;
mod canonical;
mod entry;
mod expand;
mod local;
mod structure;
mod write;

use std::collections::BTreeMap;
use std::fmt;

use modberth_protocol::{Code, Violation};

pub(crate) use write::write;

use crate::limits::{ARCHIVE_BYTES, MANIFEST_NAME};
use crate::package::Package;
use crate::problem::{Problems, Sink, Warning};

/// The members of a package without the manifest: path to bytes.
pub type Contents = BTreeMap<String, Vec<u8>>;

/// An archive that keeps every rule, with the bytes of its members.
#[derive(Clone)]
#[non_exhaustive]
pub struct Archive {
    /// What the package is. Its digest is that of the archive.
    pub package: Package,
    /// The bytes of `manifest.json`.
    pub manifest: Vec<u8>,
    /// The bytes of every other member.
    pub contents: Contents,
    /// What is legal but worth knowing.
    pub warnings: Vec<Warning>,
}

/// Shows the package; of the members, their number.
impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive")
            .field("package", &self.package)
            .field("contents", &self.contents.len())
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

impl Archive {
    /// Reads an archive and checks it in full: its structure, the manifest, the inventory, every digest, `modberth.json`
    /// and the native entry.
    ///
    /// The structure is read here and not by a ZIP library, because what libraries disagree about is refused: one end
    /// record and nothing after it, no ZIP64, no second disk, local headers equal to the central directory, no bytes
    /// that two members share. Bytes that no member owns are legal in the format; they give the warning `hidden_bytes`.
    /// Nothing is inflated before the whole structure has passed, and never past the sizes that it declares.
    ///
    /// # Errors
    /// Everything that is wrong; the structure ends at its first fault.
    pub fn inspect(bytes: &[u8]) -> Result<Self, Problems> {
        if bytes.len() > ARCHIVE_BYTES {
            return Err(too_large(bytes.len()).into());
        }
        let structure = structure::read(bytes)?;
        let mut contents = expand::expand(bytes, &structure.members)?;
        let manifest = contents.remove(MANIFEST_NAME).ok_or_else(|| {
            Violation::new(Code::PackageManifestMissing, "The archive has no manifest.json.")
        })?;
        let (package, mut warnings) = Package::check(&manifest, &contents, bytes)?;
        if structure.hidden > 0 {
            warnings.push(Warning {
                name: "hidden_bytes",
                message: format!(
                    "{} bytes of the archive belong to no member; the first is byte {}.",
                    structure.hidden, structure.first_hidden
                ),
            });
        }
        Ok(Self { package, manifest, contents, warnings })
    }
}

pub(crate) fn too_large(actual: usize) -> Violation {
    Violation::new(
        Code::PackageArchiveTooLarge,
        format!("An archive has at most {ARCHIVE_BYTES} bytes; this one has {actual}."),
    )
    .limit(ARCHIVE_BYTES)
    .actual(actual)
}

/// A manifest and its payload as one archive.
#[derive(Clone)]
#[non_exhaustive]
pub struct Packed {
    /// What the package is.
    pub package: Package,
    /// The bytes of the archive.
    pub bytes: Vec<u8>,
    /// What is legal but worth knowing.
    pub warnings: Vec<Warning>,
}

/// Shows the package; of the archive, its size.
impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed")
            .field("package", &self.package)
            .field("bytes", &self.bytes.len())
            .field("warnings", &self.warnings)
            .finish()
    }
}

/// Packs a manifest and a payload, and checks everything that [`Archive::inspect`] checks.
///
/// The archive is the same for the same content, on every machine: members stored without compression, sorted by
/// path, dated 1980-01-01, ordinary files of mode 0644; the manifest written compact, sorted, in ASCII, with `files`
/// filled in.
///
/// # Errors
/// Everything that is wrong with the manifest, the members and `modberth.json`; a `files` that is not empty and does
/// not agree with the payload; an archive that would be too large.
pub fn pack(manifest: &[u8], contents: &Contents) -> Result<Packed, Problems> {
    let filled = canonical::manifest(manifest, contents)?;
    let bytes = write(&filled, contents)?;
    let (package, warnings) = Package::check(&filled, contents, &bytes)?;
    Ok(Packed { package, bytes, warnings })
}

/// Members that break a rule of paths or sizes, in a payload that is about to be packed.
pub(crate) fn check_contents(contents: &Contents) -> Result<(), Problems> {
    use crate::fields::shown;
    use crate::limits::{EXPANDED_BYTES, MEMBER_BYTES, MEMBERS};
    use crate::member;
    use std::collections::BTreeSet;

    let mut sink = Sink::new("");
    if contents.len() + 1 > MEMBERS {
        sink.add(
            Violation::new(
                Code::PackageMembers,
                format!("A package has at most {MEMBERS} members; this one has {}.", contents.len() + 1),
            )
            .limit(MEMBERS)
            .actual(contents.len() + 1),
        );
    }
    let mut total = 0_u64;
    let mut folded = BTreeSet::new();
    for (path, bytes) in contents {
        let problem = |code, message: String| Violation::new(code, message).file(path);
        if let Err(fault) = member::check_path(path) {
            sink.add(problem(
                Code::PackageMemberPath,
                format!("{} is no member path: {}.", shown(path), fault.rule()),
            ));
            continue;
        }
        if member::folded(path) == MANIFEST_NAME {
            sink.add(problem(
                Code::PackageFilesManifest,
                "The manifest stands beside the payload, never in it.".to_owned(),
            ));
        }
        if !folded.insert(member::folded(path)) {
            sink.add(problem(
                Code::PackageMemberDuplicate,
                format!("Another member differs from {} only in case.", shown(path)),
            ));
        }
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        total = total.saturating_add(size);
        if size > MEMBER_BYTES {
            sink.add(
                problem(
                    Code::PackageMemberTooLarge,
                    format!("A member has at most {MEMBER_BYTES} bytes; this one has {size}."),
                )
                .limit(MEMBER_BYTES)
                .actual(size),
            );
        }
    }
    for path in contents.keys() {
        if let Some(parent) = member::parents(path).find(|parent| folded.contains(&member::folded(parent))) {
            sink.add(
                Violation::new(
                    Code::PackageMemberPrefix,
                    format!("{} is a file, so {} cannot stand below it.", shown(parent), shown(path)),
                )
                .file(path),
            );
        }
    }
    if total > EXPANDED_BYTES {
        sink.add(
            Violation::new(
                Code::PackageExpandedTooLarge,
                format!("The members have at most {EXPANDED_BYTES} bytes together; these have {total}."),
            )
            .limit(EXPANDED_BYTES)
            .actual(total),
        );
    }
    sink.finish(Some(()))
}
