//! Sockets on their way to a server, and what to say when they do not get there.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use backend::{ErrorKind, OpError, StoreError};
use mio::net::TcpStream;
use rustls::CertificateError;
use socket2::{Domain, Protocol as Ip, SockAddr, Socket, Type};

use crate::SourcePort;
use crate::transport::DialError;

/// Ports below 1024 that are asked for: those above 511 are what `rresvport(3)` hands out.
const PRIVILEGED: std::ops::RangeInclusive<u16> = 512..=1023;

/// A socket that is connecting, and why it does not come from a port below 1024 where it was to.
pub(crate) struct Begun {
    pub(crate) stream: TcpStream,
    pub(crate) unprivileged: Option<&'static str>,
}

/// Begins to connect.
pub(crate) fn begin(address: SocketAddr, source: SourcePort) -> io::Result<Begun> {
    let mut unprivileged = None;
    if source == SourcePort::PrivilegedIfAllowed {
        // From the top, as rresvport(3) does.
        for port in PRIVILEGED.rev() {
            match connecting(address, Some(port)) {
                Ok(stream) => return Ok(Begun { stream, unprivileged: None }),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EADDRINUSE | libc::EADDRNOTAVAIL) => {}
                    Some(libc::EACCES | libc::EPERM) => {
                        unprivileged = Some("any: not allowed to bind below 1024");
                        break;
                    }
                    _ => return Err(error),
                },
            }
        }
        unprivileged = unprivileged.or(Some("any: none below 1024 is free"));
    }
    Ok(Begun { stream: connecting(address, None)?, unprivileged })
}

fn connecting(address: SocketAddr, port: Option<u16>) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Ip::TCP))?;
    // Nagle's algorithm waits for an acknowledgement that the peer delays by 40 ms: a server without this option
    // answered 23 small requests a second (measured).
    socket.set_tcp_nodelay(true)?;
    if let Some(port) = port {
        // A port that a connection left a minute ago still waits; it can be used again towards this server.
        socket.set_reuse_address(true)?;
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, port).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, port).into(),
        };
        socket.bind(&SockAddr::from(any))?;
    }
    match socket.connect(&SockAddr::from(address)) {
        Ok(()) => {}
        // connect(2): a socket that does not block tells by EINPROGRESS that it has begun.
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        Err(error) => return Err(error),
    }
    Ok(TcpStream::from_std(socket.into()))
}

impl DialError {
    /// The error of operations that waited for the connection.
    pub(crate) fn op_error(&self) -> OpError {
        let code = match self {
            Self::Io(error) => error.raw_os_error().unwrap_or(0).unsigned_abs(),
            Self::TimedOut => libc::ETIMEDOUT.unsigned_abs(),
            Self::Ended | Self::Tls(_) => 0,
        };
        OpError { kind: ErrorKind::Connect, code }
    }

    /// The error of a store that needs the connection.
    pub(crate) fn store_error(&self, engine: &str, address: SocketAddr) -> StoreError {
        let (reason, hint) = self.explain();
        let what = format!("{engine}: a connection to {address}");
        if self.is_ours() {
            return StoreError::Unavailable { what, reason, hint };
        }
        StoreError::NoConnection { what, reason, hint }
    }

    /// Whether this client, and not the server, is why there is no connection.
    fn is_ours(&self) -> bool {
        match self {
            // Told apart because a run waits for a server that is away, and waiting brings no descriptors.
            Self::Io(error) => matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)),
            Self::Tls(_) => true,
            Self::TimedOut | Self::Ended => false,
        }
    }

    fn explain(&self) -> (String, String) {
        let (reason, hint) = match self {
            Self::Io(error) => match error.raw_os_error() {
                Some(libc::ECONNREFUSED) => {
                    ("refused: nothing listens there".into(), "check the port, and that the server runs")
                }
                Some(libc::EHOSTUNREACH | libc::ENETUNREACH) => {
                    (format!("unreachable: {error}"), "check the address, routes and firewalls")
                }
                Some(libc::ETIMEDOUT) => return Self::TimedOut.explain(),
                Some(libc::EMFILE | libc::ENFILE) => (
                    error.to_string(),
                    "raise the limit of open files (`ulimit -n`), or ask fewer connections",
                ),
                _ => (error.to_string(), "check the address, and that the server takes more connections"),
            },
            Self::TimedOut => (
                "timed out: no answer".into(),
                "check the address and port, and that no firewall swallows what is sent there",
            ),
            Self::Ended => {
                (self.to_string(), "check that this port speaks TLS, and that it takes more connections")
            }
            Self::Tls(error) => return explain_tls(error),
        };
        (reason, hint.into())
    }
}

fn explain_tls(error: &rustls::Error) -> (String, String) {
    let (reason, hint) = match error {
        rustls::Error::InvalidCertificate(why) => match why {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
                format!("the server's certificate is for another name: {why}"),
                "use a name that the certificate holds",
            ),
            // The same issuer by name, with another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => (
                "the issuer of the server's certificate is not known here".into(),
                "give its certificate as `ca`, or install it on this machine",
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
                format!("the server's certificate has expired: {why}"),
                "renew it, or check the clock of this machine",
            ),
            other => (format!("the server's certificate is not trusted: {other}"), "check the certificate"),
        },
        // What a server without TLS answers to a handshake: text, or a message of its own protocol.
        rustls::Error::InvalidMessage(_) => {
            ("the server does not speak TLS there".into(), "check the port, or use http instead of https")
        }
        other => {
            (format!("no TLS: {other}"), "check which versions of TLS the server offers (1.2 and 1.3 go)")
        }
    };
    (reason, hint.into())
}
