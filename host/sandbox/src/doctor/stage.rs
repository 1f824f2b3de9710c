//! What probes are set against: a package with the program in it, and things of the host that they must not reach.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr as LocalAddr, UnixListener};
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;
use tempfile::TempDir;

/// The program's name in its package.
pub(super) const PROGRAM: &str = "modberth";
/// A file of the package that everybody may write to, so that it is the sandbox that keeps a probe from it.
pub(super) const WRITABLE: &str = "writable";

/// Everything is taken away when it is dropped.
#[derive(Debug)]
pub(super) struct Stage {
    folder: TempDir,
    tcp: Option<(TcpListener, SocketAddr)>,
    local: UnixListener,
    local_name: OsString,
    memory: SharedMemory,
}

impl Stage {
    /// Copies `program` and opens the listeners.
    pub(super) fn new(program: &Path) -> io::Result<Self> {
        let folder = folder()?;
        let package = folder.path().join("package");
        fs::create_dir(&package)?;
        fs::copy(program, package.join(PROGRAM))?;
        // The probe has a user of its own, and must not be stopped by the modes of files.
        for (path, mode) in [
            (package.join(PROGRAM), 0o555),
            (package.join(WRITABLE), 0o666),
            (folder.path().join("canary"), 0o666),
            (package.clone(), 0o755),
            (folder.path().to_owned(), 0o755),
        ] {
            if !path.exists() {
                fs::write(&path, CONTENT)?;
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
        let local_name = folder.path().as_os_str().to_owned();
        let local = UnixListener::bind_addr(&LocalAddr::from_abstract_name(local_name.as_encoded_bytes())?)?;
        local.set_nonblocking(true)?;
        Ok(Self { tcp: loopback(), local, local_name, memory: SharedMemory::new()?, folder })
    }

    /// The package folder.
    pub(super) fn package(&self) -> PathBuf {
        self.folder.path().join("package")
    }

    /// A file of the host that everybody may read and write.
    pub(super) fn canary(&self) -> PathBuf {
        self.folder.path().join("canary")
    }

    /// The listener on the loopback device, where there is one.
    pub(super) fn tcp(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().map(|(_, address)| *address)
    }

    /// The abstract name of the other listener.
    pub(super) fn local_name(&self) -> &OsStr {
        &self.local_name
    }

    /// The key of shared memory that everybody may read and write.
    pub(super) fn memory_key(&self) -> i32 {
        self.memory.key
    }

    /// The first file that is not as it was made. `None`: all are.
    pub(super) fn changed(&self) -> Option<PathBuf> {
        [self.canary(), self.package().join(WRITABLE)]
            .into_iter()
            .find(|path| fs::read(path).ok().as_deref() != Some(CONTENT))
    }

    /// Makes the files again as they were.
    pub(super) fn restore(&self) -> io::Result<()> {
        for path in [self.canary(), self.package().join(WRITABLE)] {
            fs::write(path, CONTENT)?;
        }
        Ok(())
    }

    /// How many have connected to a listener since the last look.
    pub(super) fn visitors(&self) -> usize {
        let tcp = || self.tcp.as_ref().is_some_and(|(listener, _)| listener.accept().is_ok());
        let local = || self.local.accept().is_ok();
        // A probe connects once to each; whoever else does must not keep this busy.
        (0..16).filter(|_| tcp()).count() + (0..16).filter(|_| local()).count()
    }
}

/// What the files hold.
const CONTENT: &[u8] = b"made by modberth doctor\n";

/// A temporary folder from which programs can be run.
fn folder() -> io::Result<TempDir> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let places = [Some(std::env::temp_dir()), Some("/var/tmp".into()), home];
    let mut fault = io::Error::other("no folder for temporary files");
    for place in places.into_iter().flatten() {
        let made = rustix::fs::statvfs(&place).map_err(io::Error::from).and_then(|system| {
            if system.f_flag.contains(StatVfsMountFlags::NOEXEC) {
                return Err(io::Error::other("programs cannot be run there (noexec)"));
            }
            tempfile::Builder::new().prefix("modberth-doctor-").tempdir_in(&place)
        });
        match made {
            Ok(folder) => return Ok(folder),
            Err(error) => fault = io::Error::new(error.kind(), format!("{}: {error}", place.display())),
        }
    }
    Err(fault)
}

/// A listener on the loopback device. A machine may have none that is up.
fn loopback() -> Option<(TcpListener, SocketAddr)> {
    let listener = ["127.0.0.1:0", "[::1]:0"].iter().find_map(|address| TcpListener::bind(address).ok())?;
    listener.set_nonblocking(true).ok()?;
    let address = listener.local_addr().ok()?;
    Some((listener, address))
}

/// A page of shared memory, removed when dropped.
#[derive(Debug)]
struct SharedMemory {
    key: i32,
    /// Negative: this kernel has none.
    id: i32,
}

impl SharedMemory {
    fn new() -> io::Result<Self> {
        // A key that is taken is tried again with another.
        for attempt in 0..64 {
            let key = (std::process::id() as i32 ^ (attempt << 22)) & i32::MAX;
            // SAFETY: numbers come in, a number goes out.
            let id = unsafe { libc::shmget(key, 4096, libc::IPC_CREAT | libc::IPC_EXCL | 0o666) };
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                _ if id >= 0 => return Ok(Self { key, id }),
                Some(libc::EEXIST) => {}
                Some(libc::ENOSYS | libc::EPERM) => return Ok(Self { key, id: -1 }),
                _ => return Err(error),
            }
        }
        Err(io::Error::from_raw_os_error(libc::EEXIST))
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        if self.id >= 0 {
            // SAFETY: the id is this value's own; IPC_RMID reads no pointer.
            unsafe { libc::shmctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
        }
    }
}
