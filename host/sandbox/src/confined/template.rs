//! Namespaces that are made once and entered often.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::thread::UnshareFlags;

use super::root::{self, Node, RootPlan};
use crate::descriptors::{LOWEST, raised};

/// A mount namespace with the module's root in it, and nothing running.
#[derive(Debug)]
pub(crate) struct Template {
    /// The namespace.
    pub(crate) namespace: OwnedFd,
    /// The file system of its root, for places of later mounts. All slots share it; none can write it.
    writable: OwnedFd,
}

impl Template {
    /// Makes one. Needs CAP_SYS_ADMIN.
    ///
    /// # Errors
    /// What was being done, and the machine's answer.
    pub(crate) fn build(plan: &RootPlan) -> Result<Self, (&'static str, io::Error)> {
        on_a_thread(|| {
            unshare(UnshareFlags::NEWNS).map_err(|error| ("making a mount namespace", error))?;
            let namespace = own_namespace("mnt").map_err(|error| ("opening the mount namespace", error))?;
            let root = root::build(plan, false).map_err(|errno| {
                ("building the module's root", io::Error::from_raw_os_error(errno as i32))
            })?;
            // SAFETY: `build` gives a fresh descriptor away.
            let writable = unsafe { OwnedFd::from_raw_fd(root.writable) };
            let writable = raised(writable, LOWEST).map_err(|error| ("keeping the module's root", error))?;
            Ok(Self { namespace, writable })
        })
        .unwrap_or_else(|error| Err(("starting a thread", error)))
    }

    /// Makes places for mounts.
    pub(crate) fn make_nodes(&self, steps: &[(std::ffi::CString, Node)]) -> io::Result<()> {
        root::make_nodes(self.writable.as_raw_fd(), steps)
            .map_err(|errno| io::Error::from_raw_os_error(errno as i32))
    }
}

/// A network namespace with nothing in it but a loopback device that is down. Needs CAP_SYS_ADMIN.
pub(crate) fn empty_network() -> io::Result<OwnedFd> {
    on_a_thread(|| {
        unshare(UnshareFlags::NEWNET)?;
        own_namespace("net")
    })?
}

/// Runs something on a thread of its own, which ends with all it has changed about itself.
fn on_a_thread<T: Send>(body: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().name("modberth-namespace".into()).spawn_scoped(scope, body)?;
        thread.join().map_err(|_| io::Error::other("the thread panicked"))
    })
}

/// Gives the calling thread namespaces of its own.
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // A mount namespace of one's own needs a root and working directory of one's own.
    let flags = if flags.contains(UnshareFlags::NEWNS) { flags | UnshareFlags::FS } else { flags };
    // SAFETY: the calling thread does nothing else and ends soon; nothing of the host's is shared that it relies on.
    unsafe { rustix::thread::unshare_unsafe(flags)? };
    Ok(())
}

fn own_namespace(kind: &str) -> io::Result<OwnedFd> {
    raised(File::open(format!("/proc/thread-self/ns/{kind}"))?.into(), LOWEST)
}
