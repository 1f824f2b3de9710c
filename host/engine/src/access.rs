//! Whether the module can read its own files (P1-HOST-28): it runs under a user of its own, and finds out nothing by
//! itself that the host could say.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use modberth_package::manifest::{Process, ProcessKind};
use modberth_protocol::{Code, Violation};
use rustix::fs::Access;

use crate::invocation::Module;

/// A file that has gone, or that the module cannot read or start, is named here. `user`: the user that modules run
/// under, where it is another than the host's.
///
/// The launcher puts the package's folder before the module, so what lies above that folder does not matter.
pub(crate) fn members(module: &Module, process: &Process, user: Option<u32>) -> Result<(), Violation> {
    let mut folders: Vec<&Path> = Vec::new();
    for member in &module.package.members {
        let inside = Path::new(&member.path);
        for folder in inside.ancestors().skip(1) {
            if user.is_some() && !folders.contains(&folder) {
                folders.push(folder);
                let name = if folder.as_os_str().is_empty() { "." } else { &*folder.to_string_lossy() };
                check(&module.folder.join(folder), name, Wanted::Enter, user)?;
            }
        }
        let start = process.kind == ProcessKind::Native && member.path == process.entry;
        let wanted = if start { Wanted::Start } else { Wanted::Read };
        check(&module.folder.join(inside), &member.path, wanted, user)?;
    }
    Ok(())
}

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Read,
    Start,
    /// Of a folder: to look into it and at what it holds.
    Enter,
}

impl Wanted {
    const fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Start => "started",
            Self::Enter => "entered and read",
        }
    }

    /// Read, and execute where that is needed, as the last digit of a mode.
    const fn bits(self) -> u32 {
        match self {
            Self::Read => 0o4,
            Self::Start | Self::Enter => 0o5,
        }
    }
}

/// Why a user who is neither the owner nor in the group cannot do this, by the mode of the file; `None` if he can.
pub(crate) fn closed(data: &Metadata, wanted: Wanted, user: u32) -> Option<String> {
    let mode = data.mode() & 0o7_777;
    (mode & wanted.bits() != wanted.bits()).then(|| {
        let verb = wanted.verb();
        format!("it has the mode {mode:04o} and cannot be {verb} by the user {user} that modules run under")
    })
}

fn check(path: &Path, name: &str, wanted: Wanted, user: Option<u32>) -> Result<(), Violation> {
    let refused = |why: &str| {
        let message = format!("{}: {why}.", path.display());
        Violation::new(Code::PackageFileMode, message).file(name)
    };
    let data = match fs::metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let message = format!("{} is gone.", path.display());
            return Err(Violation::new(Code::PackageMemberMissing, message).file(name));
        }
        Err(error) => return Err(refused(&format!("it cannot be {}: {error}", wanted.verb()))),
    };
    if let Some(user) = user {
        return match closed(&data, wanted, user) {
            Some(why) => Err(refused(&why)
                .advise("Open it to other users: in the package's folder, chmod -R a+rX payload.")),
            None => Ok(()),
        };
    }
    let access = match wanted {
        Wanted::Read => Access::READ_OK,
        Wanted::Start | Wanted::Enter => Access::READ_OK | Access::EXEC_OK,
    };
    rustix::fs::access(path, access).map_err(|errno| {
        let mode = data.mode() & 0o7_777;
        refused(&format!("it has the mode {mode:04o} and cannot be {}: {errno}", wanted.verb()))
    })
}
