//! Sockets: to the machine, to other modules, and of kinds that reach parts of the kernel no module needs.

use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixDatagram, UnixStream};
use std::time::Duration;

use crate::attempt::{Refusal, Verdict, Ways, at, call, into, only};
use crate::{Behaviour, Ground};

pub(crate) const ALL: &[Behaviour] = &[
    ("socket-inet", socket_inet),
    ("socket-udp", socket_udp),
    ("socket-listen", socket_listen),
    ("socket-unix-abstract", socket_unix_abstract),
    ("socket-unix-path", socket_unix_path),
    ("socketpair-sendto", socketpair_sendto),
    ("socket-netlink", |_| family(libc::AF_NETLINK)),
    ("socket-packet", |_| family(libc::AF_PACKET)),
    ("socket-alg", |_| family(libc::AF_ALG)),
    ("socket-vsock", |_| family(libc::AF_VSOCK)),
    ("socket-xdp", |_| family(libc::AF_XDP)),
    ("socket-raw", socket_raw),
    ("socket-families", socket_families),
    ("socketcall-options", socketcall_options),
];

fn loopback(ground: &Ground) -> SocketAddr {
    ([127, 0, 0, 1], ground.fact("port").parse().unwrap_or(9)).into()
}

/// A byte to a peer that listens outside.
fn socket_inet(ground: &Ground) -> Verdict {
    only("connect", || Ok(TcpStream::connect_timeout(&loopback(ground), Duration::from_secs(5))?))
}

fn socket_udp(ground: &Ground) -> Verdict {
    let peer = SocketAddr::from(([127, 0, 0, 1], ground.fact("udp").parse().unwrap_or(9)));
    only("send", || {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        Ok(socket.send_to(b"out", peer)?)
    })
}

/// Takes a port of the machine.
fn socket_listen(_: &Ground) -> Verdict {
    only("listen", || Ok(TcpListener::bind("127.0.0.1:0")?))
}

fn socket_unix_abstract(ground: &Ground) -> Verdict {
    only("connect", || {
        let address = UnixAddr::from_abstract_name(ground.fact("abstract"))?;
        Ok(UnixStream::connect_addr(&address)?)
    })
}

fn socket_unix_path(ground: &Ground) -> Verdict {
    only("connect", || Ok(UnixStream::connect(ground.fact("socket"))?))
}

/// An end of a pair that sends to somebody who is not the other end.
fn socketpair_sendto(ground: &Ground) -> Verdict {
    let address = || UnixAddr::from_abstract_name(ground.fact("datagram"));
    let pair = |kind: libc::c_int| {
        let mut ends = [0i32; 2];
        call(libc::SYS_socketpair, [libc::AF_UNIX as usize, kind as usize, 0, into(&mut ends)])?;
        Ok::<_, Refusal>(ends)
    };
    Ways::default()
        .by("datagrams", || {
            let (one, _other) = UnixDatagram::pair()?;
            Ok(one.send_to_addr(b"out", &address()?)?)
        })
        .by("connect again", || {
            let [end, _] = pair(libc::SOCK_DGRAM)?;
            let mut name = [0u8; 110];
            let text = ground.fact("datagram").as_bytes();
            let kind = (libc::AF_UNIX as u16).to_ne_bytes();
            // Family, a zero byte, the name.
            name.iter_mut().zip(kind.iter().chain(&[0]).chain(text)).for_each(|(place, byte)| *place = *byte);
            call(libc::SYS_connect, [end as usize, at(&name), 3 + text.len()])
        })
        .verdict()
}

/// Any socket of a family.
fn family(family: libc::c_int) -> Verdict {
    let kinds = [
        ("stream", libc::SOCK_STREAM),
        ("datagram", libc::SOCK_DGRAM),
        ("raw", libc::SOCK_RAW),
        ("packets", libc::SOCK_SEQPACKET),
    ];
    let ways = kinds.iter().fold(Ways::default(), |ways, (name, kind)| {
        ways.by(*name, || call(libc::SYS_socket, [family as usize, *kind as usize, 0]))
    });
    ways.verdict()
}

fn socket_raw(_: &Ground) -> Verdict {
    let raw = |family: libc::c_int, protocol: libc::c_int| {
        move || call(libc::SYS_socket, [family as usize, libc::SOCK_RAW as usize, protocol as usize])
    };
    Ways::default()
        .by("icmp", raw(libc::AF_INET, libc::IPPROTO_ICMP))
        .by("ip", raw(libc::AF_INET, libc::IPPROTO_RAW))
        .by("icmp6", raw(libc::AF_INET6, libc::IPPROTO_ICMPV6))
        .verdict()
}

/// Every family there is or will be, but AF_UNIX.
fn socket_families(_: &Ground) -> Verdict {
    let kinds = [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET, libc::SOCK_RDM];
    (0..64)
        .filter(|family| *family != libc::AF_UNIX)
        .fold(Ways::default(), |ways, family| {
            kinds.iter().fold(ways, |ways, kind| {
                ways.by(format!("{family}/{kind}"), || {
                    call(libc::SYS_socket, [family as usize, *kind as usize, 0])
                })
            })
        })
        .verdict()
}

/// Options of a socket that take programs and reach upper layers of the kernel.
fn socketcall_options(_: &Ground) -> Verdict {
    let set = |level: libc::c_int, option: libc::c_int, value: [u8; 16]| {
        move || {
            let mut ends = [0i32; 2];
            let kind = libc::SOCK_STREAM as usize;
            call(libc::SYS_socketpair, [libc::AF_UNIX as usize, kind, 0, into(&mut ends)])?;
            let end = ends[0] as usize;
            call(libc::SYS_setsockopt, [end, level as usize, option as usize, at(&value), 16])
        }
    };
    /// A filter of one instruction, RET with everything.
    const PROGRAM: [u64; 1] = [0xffff_ffff_0000_0006];
    let mut filter = [0u8; 16];
    let address = at(&PROGRAM).to_ne_bytes();
    filter
        .iter_mut()
        .zip([1, 0, 0, 0, 0, 0, 0, 0].iter().chain(&address))
        .for_each(|(place, byte)| *place = *byte);
    Ways::default()
        .by("filter", set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, filter))
        .by("priority", set(libc::SOL_SOCKET, libc::SO_PRIORITY, [0; 16]))
        .by("peek", set(libc::SOL_SOCKET, libc::SO_PEEK_OFF, [0; 16]))
        .verdict()
}
