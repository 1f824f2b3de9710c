//! The file system a module sees: an empty read-only root with `/usr`, three devices, and places for the package and
//! the scratch space.
//!
//! The plan is made by the host. It is carried out by system calls alone, because it runs in two places: on a thread
//! of the host, which makes the template that all slots copy, and, where the host may not make mounts, in the spare
//! itself, which shares the host's memory.

use std::ffi::{CStr, CString};
use std::fs;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::child::call;

/// Where the module finds its scratch space.
pub(crate) const SCRATCH: &CStr = c"/tmp";
/// Where the machine's own root lies while a spare waits that had to build its root itself.
const OLD_ROOT: &CStr = c"old";

/// Links of a merged `/usr`, or folders of their own on older systems.
const PROGRAM_FOLDERS: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];
const DEVICES: [&str; 3] = ["dev/null", "dev/zero", "dev/urandom"];

/// MOUNT_ATTR_ flags of everything that is bound: read-only, no set-user-id, and (but for devices) no devices.
const FILES: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
const DEVICE: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;

/// What a piece of the machine is bound onto.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Folder,
    File,
}

/// What the root consists of. Targets are relative to it.
pub(crate) struct RootPlan {
    folders: Vec<CString>,
    files: Vec<CString>,
    links: Vec<(CString, CString)>,
    binds: Vec<RootBind>,
    /// The binds and the root itself cannot be written. Always, but for tests.
    pub(crate) read_only: bool,
}

struct RootBind {
    source: CString,
    target: CString,
    attributes: u64,
}

impl RootPlan {
    /// The plan for this machine.
    pub(crate) fn new() -> Self {
        let mut plan = Self {
            folders: ["dev", "module", "tmp", "old", "usr"].map(c_text).into(),
            files: DEVICES.map(c_text).into(),
            links: Vec::new(),
            binds: vec![RootBind { source: c_text("/usr"), target: c_text("usr"), attributes: FILES }],
            read_only: true,
        };
        for device in DEVICES {
            let source = c_text(&format!("/{device}"));
            plan.binds.push(RootBind { source, target: c_text(device), attributes: DEVICE });
        }
        for name in PROGRAM_FOLDERS {
            let place = Path::new("/").join(name);
            let Ok(data) = fs::symlink_metadata(&place) else { continue };
            if let Ok(target) = fs::read_link(&place) {
                // A link that leads elsewhere would dangle.
                let Ok(target) = CString::new(target.as_os_str().as_bytes()) else { continue };
                plan.links.push((target, c_text(name)));
            } else if data.is_dir() {
                plan.folders.push(c_text(name));
                let source = c_text(&format!("/{name}"));
                plan.binds.push(RootBind { source, target: c_text(name), attributes: FILES });
            }
        }
        plan
    }
}

/// The program folders at the top that are no links into `/usr`.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    let is_folder = |place: &PathBuf| fs::symlink_metadata(place).is_ok_and(|data| data.is_dir());
    PROGRAM_FOLDERS.iter().map(|name| Path::new("/").join(name)).filter(is_folder).collect()
}

fn c_text(text: &str) -> CString {
    // None of these texts holds NUL.
    CString::new(text).unwrap_or_default()
}

/// The folders above `path` and, with `node`, what stands at its end, relative to the root, outermost first.
pub(crate) fn steps_to(path: &Path, node: Node) -> Vec<(CString, Node)> {
    let mut steps = Vec::new();
    let mut place = PathBuf::new();
    let names: Vec<_> = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    for (index, name) in names.iter().enumerate() {
        place.push(name);
        let kind = if index + 1 == names.len() { node } else { Node::Folder };
        if let Ok(text) = CString::new(place.as_os_str().as_bytes()) {
            steps.push((text, kind));
        }
    }
    steps
}

/// Makes what `steps` names below `root`; what is there already is fine.
pub(crate) fn make_nodes(root: RawFd, steps: &[(CString, Node)]) -> Result<(), isize> {
    for (path, node) in steps {
        let path = path.as_ptr() as usize;
        let answer = match node {
            Node::Folder => call(libc::SYS_mkdirat, [root as usize, path, 0o755, 0, 0, 0]),
            Node::File => {
                call(libc::SYS_mknodat, [root as usize, path, (libc::S_IFREG | 0o444) as usize, 0, 0, 0])
            }
        };
        if answer < 0 && answer != -(libc::EEXIST as isize) {
            return Err(-answer);
        }
    }
    Ok(())
}

/// A root that was built.
pub(crate) struct Root {
    /// The root's file system, writable and mounted nowhere.
    pub(crate) writable: RawFd,
}

/// Builds the root and enters it. The calling thread has a mount namespace of its own. With `keep_old` the machine's
/// root stays at `/old` until [`forget_old`].
pub(crate) fn build(plan: &RootPlan, keep_old: bool) -> Result<Root, isize> {
    // What the machine mounts later is seen in the old root; nothing goes the other way.
    mount(None, c"/", None, libc::MS_REC | libc::MS_SLAVE, None)?;
    let file_system =
        checked(call(libc::SYS_fsopen, [c"tmpfs".as_ptr() as usize, FSOPEN_CLOEXEC, 0, 0, 0, 0]))?;
    for (name, value) in [(c"mode", c"0755"), (c"size", c"1m"), (c"nr_inodes", c"1024")] {
        configure(file_system, FSCONFIG_SET_STRING, Some((name, value)))?;
    }
    configure(file_system, FSCONFIG_CMD_CREATE, None)?;
    let attributes = (libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV) as usize;
    let root = checked(call(libc::SYS_fsmount, [file_system, FSMOUNT_CLOEXEC, attributes, 0, 0, 0]))?;
    close(file_system);
    // A detached mount takes no mounts on older kernels, so it is put somewhere first. /tmp is everywhere.
    attach(root, libc::AT_FDCWD, SCRATCH)?;
    for folder in &plan.folders {
        checked(call(libc::SYS_mkdirat, [root, folder.as_ptr() as usize, 0o755, 0, 0, 0]))?;
    }
    for file in &plan.files {
        let mode = (libc::S_IFREG | 0o444) as usize;
        checked(call(libc::SYS_mknodat, [root, file.as_ptr() as usize, mode, 0, 0, 0]))?;
    }
    for (target, place) in &plan.links {
        checked(call(
            libc::SYS_symlinkat,
            [target.as_ptr() as usize, root, place.as_ptr() as usize, 0, 0, 0],
        ))?;
    }
    for bind in &plan.binds {
        let attributes =
            if plan.read_only { bind.attributes } else { bind.attributes & !libc::MOUNT_ATTR_RDONLY };
        let tree = clone_tree(libc::AT_FDCWD, &bind.source, attributes)?;
        attach(tree, root as RawFd, &bind.target)?;
        close(tree);
    }
    let writable = checked(open_tree(root as RawFd, c"", 0))?;
    checked(call(libc::SYS_fchdir, [root, 0, 0, 0, 0, 0]))?;
    let old = if keep_old { OLD_ROOT } else { c"." };
    checked(call(libc::SYS_pivot_root, [c".".as_ptr() as usize, old.as_ptr() as usize, 0, 0, 0, 0]))?;
    if !keep_old {
        checked(call(libc::SYS_umount2, [c".".as_ptr() as usize, libc::MNT_DETACH as usize, 0, 0, 0, 0]))?;
    }
    checked(call(libc::SYS_chdir, [c"/".as_ptr() as usize, 0, 0, 0, 0, 0]))?;
    if plan.read_only {
        set_attributes(libc::AT_FDCWD, c"/", 0, libc::MOUNT_ATTR_RDONLY)?;
    }
    close(root);
    Ok(Root { writable: writable as RawFd })
}

/// Takes the machine's root away that [`build`] left at `/old`.
pub(crate) fn forget_old() -> Result<(), isize> {
    checked(call(libc::SYS_umount2, [c"/old".as_ptr() as usize, libc::MNT_DETACH as usize, 0, 0, 0, 0]))
        .map(drop)
}

/// A copy of what is mounted at `path`, with everything below it, mounted nowhere yet.
pub(crate) fn clone_tree(at: RawFd, path: &CStr, attributes: u64) -> Result<usize, isize> {
    let tree = checked(open_tree(at, path, libc::AT_RECURSIVE as usize))?;
    match set_attributes(tree as RawFd, c"", (libc::AT_RECURSIVE | libc::AT_EMPTY_PATH) as usize, attributes)
    {
        Ok(()) => Ok(tree),
        Err(errno) => {
            close(tree);
            Err(errno)
        }
    }
}

/// MOUNT_ATTR_ flags of a package. Its programs can be run even where a test leaves it writable.
pub(crate) fn package_attributes(read_only: bool) -> u64 {
    if read_only { FILES } else { FILES & !libc::MOUNT_ATTR_RDONLY }
}

/// MOUNT_ATTR_ flags of a bind of a profile.
pub(crate) fn bind_attributes(writable: bool) -> u64 {
    if writable { libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC } else { FILES }
}

/// Puts a detached mount at its place.
pub(crate) fn attach(tree: usize, at: RawFd, place: &CStr) -> Result<(), isize> {
    let from_itself = libc::MOVE_MOUNT_F_EMPTY_PATH as usize;
    checked(call(
        libc::SYS_move_mount,
        [tree, c"".as_ptr() as usize, at as usize, place.as_ptr() as usize, from_itself, 0],
    ))
    .map(drop)
}

/// The old mount call, for what it is still good for.
pub(crate) fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    data: Option<&CStr>,
) -> Result<(), isize> {
    let text = |text: Option<&CStr>| text.map_or(0, |text| text.as_ptr() as usize);
    checked(call(
        libc::SYS_mount,
        [text(source), target.as_ptr() as usize, text(kind), flags as usize, text(data), 0],
    ))
    .map(drop)
}

fn open_tree(at: RawFd, path: &CStr, more: usize) -> isize {
    let empty = if path.is_empty() { libc::AT_EMPTY_PATH as usize } else { 0 };
    let flags = libc::OPEN_TREE_CLONE as usize | libc::OPEN_TREE_CLOEXEC as usize | empty | more;
    call(libc::SYS_open_tree, [at as usize, path.as_ptr() as usize, flags, 0, 0, 0])
}

fn set_attributes(at: RawFd, path: &CStr, flags: usize, attributes: u64) -> Result<(), isize> {
    let change = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let size = size_of::<libc::mount_attr>();
    checked(call(
        libc::SYS_mount_setattr,
        [at as usize, path.as_ptr() as usize, flags, &raw const change as usize, size, 0],
    ))
    .map(drop)
}

fn configure(file_system: usize, command: usize, option: Option<(&CStr, &CStr)>) -> Result<(), isize> {
    let (name, value) =
        option.map_or((0, 0), |(name, value)| (name.as_ptr() as usize, value.as_ptr() as usize));
    checked(call(libc::SYS_fsconfig, [file_system, command, name, value, 0, 0])).map(drop)
}

// linux/mount.h; libc has them only under other names.
const FSOPEN_CLOEXEC: usize = 1;
const FSMOUNT_CLOEXEC: usize = 1;
const FSCONFIG_SET_STRING: usize = 1;
const FSCONFIG_CMD_CREATE: usize = 6;

fn close(fd: usize) {
    call(libc::SYS_close, [fd, 0, 0, 0, 0, 0]);
}

fn checked(answer: isize) -> Result<usize, isize> {
    if answer < 0 { Err(-answer) } else { Ok(answer as usize) }
}
