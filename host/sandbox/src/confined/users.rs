//! User ids on the machine for the modules of one host.

use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::descriptors::above_streams;

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
    _claim: Option<OwnedFd>,
}

impl Users {
    /// Whether this process may have processes under these ids. Root of a user namespace, in a container without root's
    /// rights on the machine, often may not.
    pub(crate) fn are_mapped() -> bool {
        let has_all = |file: &str| std::fs::read_to_string(file).is_ok_and(|map| maps_all(&map));
        let may_leave_groups =
            std::fs::read("/proc/self/setgroups").is_ok_and(|text| !text.starts_with(b"deny"));
        may_leave_groups && has_all("/proc/self/uid_map") && has_all("/proc/self/gid_map")
    }

    /// Claims a range. Where somebody has taken all names, hosts share the last one: their modules are then kept apart by
    /// namespaces alone.
    pub(crate) fn claim() -> io::Result<Self> {
        for host in 0..HOSTS {
            let name = SocketAddr::from_abstract_name(format!("modberth-users-{host}"))?;
            match UnixDatagram::bind_addr(&name) {
                Ok(claim) => {
                    let claim = above_streams(claim.into())?;
                    return Ok(Self { first: FIRST + host * EACH, _claim: Some(claim) });
                }
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

/// Whether a text of `/proc/self/uid_map` has a line with all the ids: first id inside, outside, how many.
fn maps_all(map: &str) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(first)), _, Some(Ok(count))) = (numbers.next(), numbers.next(), numbers.next()) else {
            return false;
        };
        let last = u64::from(FIRST + (HOSTS + 1) * EACH);
        first <= u64::from(FIRST) && last <= first.saturating_add(count)
    })
}

#[cfg(test)]
mod tests {
    use super::{Users, maps_all};

    #[test]
    fn ids_are_there_where_one_line_maps_them_all() {
        assert!(maps_all("         0          0 4294967295\n"));
        assert!(maps_all("0 100000 65536\n2100000000 500000 65664\n"));
        for map in
            ["", "0 1000 1\n", "0 100000 65536\n", "2100000000 500000 65663\n", "2100000001 0 100000\n"]
        {
            assert!(!maps_all(map), "{map:?}");
        }
    }

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
