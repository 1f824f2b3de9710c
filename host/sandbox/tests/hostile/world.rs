//! What a run can reach outside, and whether it did.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::common;
use crate::row::Kind;

/// What the file of the host holds.
const HOST_FILE: &str = "of the host";

/// Peers that listen, a file of the host that everybody may write to, and a package of which the same is true: what
/// keeps it whole is the sandbox, not its mode.
pub(crate) struct World {
    folder: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    stream: UnixListener,
    datagram: UnixDatagram,
    path: UnixListener,
    marker: String,
    package_before: BTreeMap<PathBuf, Item>,
}

/// What is compared of a file.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    mode: u32,
    size: u64,
    links: u64,
    changed: (i64, i64),
    content: Vec<u8>,
}

/// The program, and the same with root's set-user-id bit: copied once, and linked into each package.
fn programs() -> io::Result<&'static Path> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    if let Some(folder) = FOLDER.get() {
        return Ok(folder);
    }
    static MAKING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _making = MAKING.lock();
    if let Some(folder) = FOLDER.get() {
        return Ok(folder);
    }
    // Beside the program, so that all of it goes with the build's own files; the name is this process's.
    let folder = std::env::temp_dir().join(format!("modberth-hostile-{}", std::process::id()));
    fs::create_dir(&folder)?;
    for (name, mode) in [("hostile", 0o755), ("setuid", 0o4755)] {
        let place = folder.join(name);
        fs::copy(common::hostile(), &place)?;
        fs::set_permissions(&place, fs::Permissions::from_mode(mode))?;
    }
    Ok(FOLDER.get_or_init(|| folder))
}

/// Removes the copies.
pub(crate) fn clean() -> io::Result<()> {
    match fs::remove_dir_all(std::env::temp_dir().join(format!("modberth-hostile-{}", std::process::id()))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn open_folder(place: &Path, mode: u32) -> io::Result<()> {
    fs::create_dir_all(place)?;
    fs::set_permissions(place, fs::Permissions::from_mode(mode))
}

fn open_file(place: &Path, text: &str) -> io::Result<()> {
    fs::write(place, text)?;
    fs::set_permissions(place, fs::Permissions::from_mode(0o666))
}

impl World {
    /// Makes one.
    pub(crate) fn new() -> io::Result<Self> {
        let programs = programs()?;
        let folder = tempfile::tempdir()?;
        let marker = common::marker();
        let base = folder.path();
        open_folder(base, 0o755)?;
        for name in ["package", "scratch", "host", "data"] {
            open_folder(&base.join(name), 0o777)?;
        }
        let package = base.join("package");
        for name in ["hostile", "setuid"] {
            fs::hard_link(programs.join(name), package.join(name))?;
        }
        open_file(&package.join("data"), "of the package")?;
        open_file(&package.join("spare"), "of the package")?;
        symlink("/etc/passwd", package.join("passwd"))?;
        symlink(format!("{}etc/passwd", "../".repeat(40)), package.join("up"))?;
        symlink("/", package.join("root"))?;
        open_file(&base.join("host/file"), HOST_FILE)?;
        let tcp = TcpListener::bind("127.0.0.1:0")?;
        let udp = UdpSocket::bind("127.0.0.1:0")?;
        let stream = UnixListener::bind_addr(&SocketAddr::from_abstract_name(format!("{marker}-s"))?)?;
        let datagram = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(format!("{marker}-d"))?)?;
        let path = UnixListener::bind(base.join("host/socket"))?;
        fs::set_permissions(base.join("host/socket"), fs::Permissions::from_mode(0o777))?;
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        stream.set_nonblocking(true)?;
        datagram.set_nonblocking(true)?;
        path.set_nonblocking(true)?;
        let package_before = items(&package)?;
        Ok(Self { folder, tcp, udp, stream, datagram, path, marker, package_before })
    }

    /// What every process of the run has on its command line.
    pub(crate) fn marker(&self) -> &str {
        &self.marker
    }

    /// The package.
    pub(crate) fn package(&self) -> PathBuf {
        self.folder.path().join("package")
    }

    /// A folder to write to where the machine's own is seen.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.folder.path().join("scratch")
    }

    /// A folder that a service is given.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// What the program is told.
    pub(crate) fn facts(&self, kind: Kind) -> io::Result<Vec<String>> {
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let place = |name: &str| self.folder.path().join("host").join(name).display().to_string();
        let data = if kind.sees_machine() { self.data() } else { PathBuf::from("/data") };
        Ok(vec![
            format!("data={}", data.display()),
            format!("port={}", self.tcp.local_addr()?.port()),
            format!("udp={}", self.udp.local_addr()?.port()),
            format!("abstract={}-s", self.marker),
            format!("datagram={}-d", self.marker),
            format!("socket={}", place("socket")),
            format!("file={}", place("file")),
            format!("host={}", host.trim_end()),
            format!("pid={}", std::process::id()),
        ])
    }

    /// What was reached.
    pub(crate) fn noticed(&self) -> io::Result<Vec<&'static str>> {
        let mut noticed = Vec::new();
        let mut note = |what, happened: bool| {
            if happened {
                noticed.push(what);
            }
        };
        note("a TCP connection", self.tcp.accept().is_ok());
        note("a UDP packet", self.udp.recv(&mut [0; 16]).is_ok());
        note("a connection to an abstract socket", self.stream.accept().is_ok());
        note("a datagram to an abstract socket", self.datagram.recv(&mut [0; 16]).is_ok());
        note("a connection to a socket by its path", self.path.accept().is_ok());
        let file = fs::read(self.folder.path().join("host/file"))?;
        note("a changed file of the host", file != HOST_FILE.as_bytes());
        note("a changed package", items(&self.package())? != self.package_before);
        Ok(noticed)
    }
}

/// All of a folder, with the folder itself.
fn items(folder: &Path) -> io::Result<BTreeMap<PathBuf, Item>> {
    let mut items = BTreeMap::new();
    let mut note = |place: &Path, whole: bool| -> io::Result<()> {
        let data = fs::symlink_metadata(place)?;
        let content = if whole && data.is_file() { fs::read(place)? } else { Vec::new() };
        let changed = (data.mtime(), data.mtime_nsec());
        // The programs are linked into every package, so their links are counted by nobody.
        let links = if whole { data.nlink() } else { 0 };
        items
            .insert(place.to_owned(), Item { mode: data.mode(), size: data.size(), links, changed, content });
        Ok(())
    };
    note(folder, true)?;
    for entry in fs::read_dir(folder)? {
        let place = entry?.path();
        let shared = place.ends_with("hostile") || place.ends_with("setuid");
        note(&place, !shared)?;
    }
    Ok(items)
}
