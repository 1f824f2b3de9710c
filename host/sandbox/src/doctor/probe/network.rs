//! Sockets.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::attempt::{Ways, answered};
use super::{Answer, Facts, Wrong};
use crate::child::call;

/// Connects to listeners of the doctor, over TCP and by an abstract name, and makes a socket of a family that no
/// network namespace knows.
pub(super) fn connect(facts: &Facts<'_>) -> Result<Answer, Wrong> {
    let name = facts.get("abstract")?;
    let mut ways = Ways::default();
    // A machine may have no loopback device.
    for address in facts.all("tcp") {
        let address: SocketAddr = address
            .to_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| format!("the fact tcp is no address: {}", address.display()))?;
        ways.by("TCP to the host", TcpStream::connect_timeout(&address, Duration::from_secs(1)));
    }
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name.as_encoded_bytes());
    ways.by("AF_UNIX to the host", address.and_then(|address| UnixStream::connect_addr(&address)));
    ways.by("AF_VSOCK", vsock());
    Ok(ways.answer())
}

fn vsock() -> io::Result<()> {
    let kind = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as usize;
    let socket = answered(call(libc::SYS_socket, [libc::AF_VSOCK as usize, kind, 0, 0, 0, 0]))?;
    call(libc::SYS_close, [socket, 0, 0, 0, 0, 0]);
    Ok(())
}
