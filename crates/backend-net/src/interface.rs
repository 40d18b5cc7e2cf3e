//! Which way packets leave.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The network interface that a connection to `address` would use, as `/sys/class/net` calls it; `None` where it is
/// not known. Nothing is sent.
pub fn interface_to(address: SocketAddr) -> Option<String> {
    named(source_towards(address)?)
}

/// Whether an address is one of this host's: then packets to it come from it. Nothing is sent.
pub fn is_local(address: SocketAddr) -> bool {
    address.ip().is_loopback() || source_towards(address) == Some(address.ip())
}

/// The address that packets to `address` come from: connecting a socket of datagrams sends none.
fn source_towards(address: SocketAddr) -> Option<IpAddr> {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).ok()?;
    // connect(2) on UDP only looks up the route and sets the source address.
    socket.connect(address).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// The interface that has the address `own`.
fn named(own: IpAddr) -> Option<String> {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `list` is valid for a write; what is put there is freed below, once.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return None;
    }
    let mut found = None;
    let mut next = list;
    while !next.is_null() && found.is_none() {
        // SAFETY: a member of the list that getifaddrs made, which is freed after the loop.
        let entry = unsafe { &*next };
        if ip(entry.ifa_addr) == Some(own) {
            // SAFETY: the name is a C string that lives as long as the list.
            found = Some(unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned());
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list is the one that getifaddrs made; nothing refers to it any more.
    unsafe { libc::freeifaddrs(list) };
    found
}

fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: not null, and every socket address begins with its family.
    match i32::from(unsafe { address.cast::<libc::sa_family_t>().read_unaligned() }) {
        libc::AF_INET => {
            // SAFETY: the family says that it is a sockaddr_in.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that it is a sockaddr_in6.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_reached_over_its_own_interface() {
        let name = interface_to("127.0.0.1:9".parse().unwrap()).expect("loopback has an interface");
        assert!(std::path::Path::new("/sys/class/net").join(&name).exists(), "{name}");
    }

    #[test]
    fn addresses_of_this_host_are_told_from_others() {
        let local = |address: &str| is_local(address.parse().unwrap());
        assert!(local("127.0.0.1:2049") && local("127.8.9.10:2049") && local("[::1]:2049"));
        assert!(!local("192.0.2.7:2049"), "of the range for documentation, RFC 5737");
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        // Without any route there is no other address of this host's to try.
        if socket.connect("192.0.2.7:2049").is_ok() {
            let own = socket.local_addr().unwrap().ip();
            assert!(is_local((own, 2049).into()), "{own}");
        }
    }
}
