//! User ids on the machine for the modules of one host.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The first id of the first host. Nobody hands these ids out: those below belong to people (directory services give ids
/// up to 2,000,400,000), to ranges for containers (`/etc/subuid`) and to systemd, those from 2,147,352,576 on to systemd
/// again. Whoever has the id of a slot could signal its module and look into it.
const FIRST: u32 = 2_100_000_000;
/// Ids that one host has for itself; more than it can have slots.
const EACH: u32 = 128;
/// Hosts that can have ids of their own at one time.
const HOSTS: u32 = 512;

/// A range of user ids that no other host of this machine uses at the same time.
#[derive(Debug)]
pub(crate) struct Users {
    first: u32,
    /// An abstract socket nobody talks to: its name is this host's as long as it is open, and it goes with the host.
    _claim: Option<UnixDatagram>,
}

impl Users {
    /// Claims a range. Where somebody has taken all names, hosts share the last one: their modules are then kept apart by
    /// namespaces alone.
    pub(crate) fn claim() -> io::Result<Self> {
        for host in 0..HOSTS {
            let name = SocketAddr::from_abstract_name(format!("modberth-users-{host}"))?;
            match UnixDatagram::bind_addr(&name) {
                Ok(claim) => return Ok(Self { first: FIRST + host * EACH, _claim: Some(claim) }),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
        }
        tracing::warn!("all {HOSTS} ranges of user ids are taken; this host shares one");
        Ok(Self { first: FIRST + HOSTS * EACH, _claim: None })
    }

    /// The id of a slot.
    pub(crate) fn of(&self, slot: u32) -> u32 {
        self.first + slot % EACH
    }
}

#[cfg(test)]
mod tests {
    use super::Users;

    #[test]
    fn two_hosts_have_different_users_and_give_them_back() {
        let (one, other) = (Users::claim().unwrap(), Users::claim().unwrap());
        let ids = |users: &Users| users.of(0)..=users.of(127);
        assert!(!ids(&one).contains(&other.of(0)) && !ids(&other).contains(&one.of(0)));
        assert_eq!(one.of(127) - one.of(0), 127);
        // Beyond what directory services and container tools give away, and before systemd's.
        assert!(
            one.of(0) > 2_000_400_000 && super::FIRST + (super::HOSTS + 1) * super::EACH <= 2_147_352_576
        );
    }
}
