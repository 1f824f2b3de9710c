//! Admission of native entries: what a program file must be before the host starts it.

use std::path::{Path, PathBuf};

use modberth_protocol::{Code, Violation};
use object::LittleEndian;
use object::elf;
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use crate::manifest::Architecture;

/// Most program headers of an entry.
const HEADERS: usize = 1_024;
/// Fewest and most bytes of the name of the program loader, its NUL included.
const LOADER_BYTES: (usize, usize) = (2, 4_096);
/// Where the package stands inside the sandbox.
const MODULE_FOLDER: &str = "/module/";
/// The system folders from which a program loader may come.
const SYSTEM_FOLDERS: [&str; 5] = ["/usr", "/lib", "/lib64", "/bin", "/sbin"];

type Header = elf::FileHeader64<LittleEndian>;

/// A native entry that may be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The program loader that it asks for; a static program has none.
    pub loader: Option<String>,
}

impl Program {
    /// Checks the bytes of a native entry: ELF, 64 bits, little-endian, version 1, System V or Linux, a program for the
    /// declared architecture, 1 to 1,024 program headers inside the file, at least one part to load and at most one
    /// program loader.
    ///
    /// # Errors
    /// `package.native_format`; `package.native_machine` for a program of another architecture (P1-HOST-29).
    pub fn read(bytes: &[u8], architecture: Architecture) -> Result<Self, Violation> {
        let refuse = |message: String| Violation::new(Code::PackageNativeFormat, message);
        if !bytes.starts_with(&elf::ELFMAG) {
            return Err(refuse("The native entry is no ELF program.".to_owned()));
        }
        let header = Header::parse(bytes).map_err(|error| {
            refuse(format!("The native entry is no 64-bit ELF program of version 1: {error}."))
        })?;
        let little = LittleEndian;
        if header.e_ident.data != elf::ELFDATA2LSB {
            return Err(refuse("The native entry is not little-endian.".to_owned()));
        }
        if header.e_ident.version != elf::EV_CURRENT
            || header.e_version.get(little) != u32::from(elf::EV_CURRENT.0)
        {
            return Err(refuse("The native entry is not of ELF version 1.".to_owned()));
        }
        if ![elf::ELFOSABI_SYSV, elf::ELFOSABI_GNU].contains(&header.e_ident.os_abi) {
            return Err(refuse(format!(
                "The native entry is built for the system interface {}; System V (0) and Linux (3) run here.",
                header.e_ident.os_abi
            )));
        }
        let kind = header.e_type.get(little);
        if ![elf::ET_EXEC, elf::ET_DYN].contains(&kind) {
            return Err(refuse(format!("The native entry is an ELF file of type {kind}, not a program.")));
        }
        let machine = header.e_machine.get(little);
        let wanted = match architecture {
            Architecture::Aarch64 => elf::EM_AARCH64,
            Architecture::X86_64 | Architecture::Any => elf::EM_X86_64,
        };
        if machine != wanted {
            return Err(Violation::new(
                Code::PackageNativeMachine,
                format!(
                    "The native entry is built for ELF machine {machine}; the manifest says {architecture}, which is {wanted}."
                ),
            ));
        }
        if usize::from(header.e_ehsize.get(little)) != size_of::<Header>()
            || usize::from(header.e_phentsize.get(little)) != size_of::<elf::ProgramHeader64<LittleEndian>>()
        {
            return Err(refuse("The native entry has ELF headers of a wrong size.".to_owned()));
        }
        let count = usize::from(header.e_phnum.get(little));
        if !(1..=HEADERS).contains(&count) {
            return Err(refuse(format!(
                "The native entry has {count} program headers; 1 to {HEADERS} are allowed."
            ))
            .limit(HEADERS)
            .actual(count));
        }
        let headers = header.program_headers(little, bytes).map_err(|_| {
            refuse("The program headers of the native entry lie outside the file.".to_owned())
        })?;
        if !headers.iter().any(|header| header.p_type(little) == elf::PT_LOAD) {
            return Err(refuse("The native entry has no part to load.".to_owned()));
        }
        let mut loaders = headers.iter().filter(|header| header.p_type(little) == elf::PT_INTERP);
        let loader = loaders.next();
        if loaders.next().is_some() {
            return Err(refuse("The native entry asks for more than one program loader.".to_owned()));
        }
        let loader = loader
            .map(|header| {
                let (offset, size) = header.file_range(little);
                loader_name(bytes, offset, size).ok_or_else(|| {
                    refuse("The name of the program loader of the native entry is damaged.".to_owned())
                })
            })
            .transpose()?;
        Ok(Self { loader })
    }

    /// Finds the program loader: a file that resolves to a system folder of this machine, or one of the package through
    /// `/module/`. `payload` is the folder that stands at `/module`. A static program needs none.
    ///
    /// # Errors
    /// `package.native_loader`.
    pub fn find_loader(&self, payload: &Path) -> Result<Option<PathBuf>, Violation> {
        let Some(name) = &self.loader else { return Ok(None) };
        let (place, allowed) = match name.strip_prefix(MODULE_FOLDER) {
            Some(member) => {
                (payload.join(member), vec![payload.canonicalize().unwrap_or_else(|_| payload.into())])
            }
            None => (PathBuf::from(name), SYSTEM_FOLDERS.iter().map(PathBuf::from).collect()),
        };
        let found = if name.starts_with('/') { place.canonicalize().ok() } else { None };
        found
            .filter(|found| found.is_file() && allowed.iter().any(|folder| found.starts_with(folder)))
            .map(Some)
            .ok_or_else(|| {
                Violation::new(
                    Code::PackageNativeLoader,
                    format!(
                        "The native entry asks for the program loader {}, which is neither in {} nor in the package.",
                        crate::fields::shown(name),
                        SYSTEM_FOLDERS.join(" ")
                    ),
                )
            })
    }
}

/// The NUL-ended name at this place of the file.
fn loader_name(bytes: &[u8], offset: u64, size: u64) -> Option<String> {
    let (offset, size) = (usize::try_from(offset).ok()?, usize::try_from(size).ok()?);
    if !(LOADER_BYTES.0..=LOADER_BYTES.1).contains(&size) {
        return None;
    }
    let name = bytes.get(offset..offset.checked_add(size)?)?.strip_suffix(&[0])?;
    if name.contains(&0) { None } else { String::from_utf8(name.to_vec()).ok() }
}
