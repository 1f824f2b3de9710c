//! A package as a whole: manifest, inventory, hints, native entry.

use std::collections::BTreeMap;

use modberth_protocol::{Code, Violation};
use serde::Serialize;

use crate::archive::Contents;
use crate::digest::Digest;
use crate::hints::Hints;
use crate::limits::{HINTS_NAME, MANIFEST_NAME};
use crate::manifest::{Architecture, Manifest, Process, ProcessKind, Runtime};
use crate::native::Program;
use crate::problem::{Problems, Sink, Warning};

/// One member of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    /// Its path inside the package.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// A package that keeps every rule: what runs, what it may ask for, and the identity by which it is granted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Package {
    /// The manifest.
    pub manifest: Manifest,
    /// What `modberth.json` adds; empty if the package has none.
    pub hints: Hints,
    /// The digest of the archive: the identity of the package.
    pub digest: Digest,
    /// Every member but the manifest, sorted by path.
    pub members: Vec<Member>,
    /// The native entry, if there is one.
    pub program: Option<Program>,
}

impl Package {
    /// Checks a manifest against the members that are there, and reads `modberth.json` and the native entry.
    pub(crate) fn check(
        manifest: &[u8],
        contents: &Contents,
        archive: &[u8],
    ) -> Result<(Self, Vec<Warning>), Problems> {
        let manifest = Manifest::parse(manifest)?;
        let mut sink = Sink::new("");
        if let Err(problems) = compare(&manifest.files, contents) {
            sink.extend(problems);
        }
        if let Some(process) = manifest.runtime.process()
            && !contents.contains_key(&process.entry)
            && !manifest.files.contains_key(&process.entry)
        {
            // An empty inventory of an empty archive agrees with it, but the manifest alone is legal only in a source
            // folder.
            sink.add(
                Violation::new(
                    Code::PackageEntry,
                    format!("The entry {} is not in the package.", crate::fields::shown(&process.entry)),
                )
                .file(MANIFEST_NAME)
                .path("runtime.entry"),
            );
        }
        let hints = match contents.get(HINTS_NAME).map(|bytes| Hints::parse(bytes, &manifest)) {
            Some(Ok(hints)) => hints,
            Some(Err(problems)) => {
                sink.extend(problems);
                Hints::default()
            }
            None => Hints::default(),
        };
        let program = match &manifest.runtime {
            Runtime::Process(process) if process.kind == ProcessKind::Native => contents
                .get(&process.entry)
                .map(|bytes| Program::read(bytes, process.architecture))
                .transpose()
                .unwrap_or_else(|fault| {
                    sink.add(fault.file(&process.entry));
                    None
                }),
            _ => None,
        };
        sink.finish(Some(()))?;
        let warnings = main_folder(&manifest);
        let members = contents
            .iter()
            .map(|(path, bytes)| Member {
                path: path.clone(),
                size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                digest: Digest::of(bytes),
            })
            .collect();
        let digest = Digest::of(archive);
        Ok((Self { manifest, hints, digest, members, program }, warnings))
    }

    /// What there is to run.
    ///
    /// # Errors
    /// `package.declarative` for a package without a process, `package.architecture` for one that is built for another
    /// machine than this (P1-HOST-29).
    pub fn runnable(&self) -> Result<&Process, Violation> {
        let Some(process) = self.manifest.runtime.process() else {
            return Err(Violation::new(
                Code::PackageDeclarative,
                format!("{} is declarative: there is no process to run.", self.manifest.id),
            ));
        };
        if !process.architecture.fits_this_machine() {
            let here = Architecture::of_this_machine().map_or(std::env::consts::ARCH, Architecture::as_str);
            return Err(Violation::new(
                Code::PackageArchitecture,
                format!(
                    "{} is built for {}; this machine is {here}.",
                    self.manifest.id, process.architecture
                ),
            )
            .path("runtime.architecture"));
        }
        Ok(process)
    }
}

/// The other system runs a `__main__.py` as a file, where this one runs its folder.
fn main_folder(manifest: &Manifest) -> Vec<Warning> {
    let Some(process) = manifest.runtime.process() else { return Vec::new() };
    let last = process.entry.rsplit('/').next();
    if process.kind != ProcessKind::Python || last != Some("__main__.py") {
        return Vec::new();
    }
    vec![Warning {
        name: "main_folder",
        message: format!(
            "{} runs as its folder here, so that it can import its siblings; FICC runs the file itself, where such \
             imports fail. Load siblings by their exact path, or ship a .pyz, to run on both.",
            process.entry
        ),
    }]
}

/// Compares the inventory with the members that are there.
pub(crate) fn compare(files: &BTreeMap<String, Digest>, contents: &Contents) -> Result<(), Problems> {
    let mut sink = Sink::new("");
    for path in files.keys().filter(|path| !contents.contains_key(*path)) {
        sink.add(
            Violation::new(Code::PackageMemberMissing, "files lists this member, but it is not there.")
                .file(path),
        );
    }
    for (path, bytes) in contents {
        match files.get(path) {
            None => sink.add(
                Violation::new(Code::PackageMemberUnlisted, "This member is not listed in files.").file(path),
            ),
            Some(stated) => {
                let actual = Digest::of(bytes);
                if actual != *stated {
                    sink.add(
                        Violation::new(
                            Code::PackageMemberDigest,
                            format!("This member has the digest {actual}; files states {stated}."),
                        )
                        .file(path),
                    );
                }
            }
        }
    }
    sink.finish(Some(()))
}
