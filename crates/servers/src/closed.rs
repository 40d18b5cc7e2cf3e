//! A port without a server.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// A port of 127.0.0.1 at which nothing listens, for as long as this process lives: it is the other end of a connection that stays
/// open. A port that was only free a moment ago may be somebody's by now.
///
/// # Errors
/// Where no socket can be had.
pub fn closed_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let held = TcpStream::connect(listener.local_addr()?)?;
    let port = held.local_addr()?.port();
    // Two descriptors until the process ends.
    std::mem::forget((listener, held));
    Ok(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_port_refuses_and_is_nobody_elses() {
        let port = closed_port().unwrap();
        let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err());
    }
}
