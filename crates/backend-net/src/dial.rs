//! Sockets on their way to a server, and what to say when they do not get there.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use backend::{ErrorKind, OpError, StoreError};
use mio::net::TcpStream;
use rustls::CertificateError;
use socket2::{Domain, Protocol as Ip, SockAddr, Socket, Type};

use crate::transport::DialError;
use crate::{SourcePort, Tls};

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
    pub(crate) fn store_error(&self, engine: &str, address: SocketAddr, tls: Option<&Tls>) -> StoreError {
        let host = tls.map_or_else(|| address.to_string(), |tls| tls.name.to_str().into_owned());
        let (reason, hint) = self.explain(&host);
        let hint = hint.to_owned();
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

    fn explain(&self, host: &str) -> (String, &'static str) {
        match self {
            Self::Io(error) => match error.raw_os_error() {
                Some(libc::ECONNREFUSED) => {
                    ("refused: nothing listens there".into(), "check the port, and that the server runs")
                }
                Some(libc::EHOSTUNREACH | libc::ENETUNREACH) => {
                    (format!("unreachable: {error}"), "check the address, routes and firewalls")
                }
                Some(libc::ETIMEDOUT) => Self::TimedOut.explain(host),
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
            Self::Tls(error) => explain_tls(error, host),
        }
    }
}

/// What is wrong with a server's encryption, and what to do; `host` is the name that it had to prove.
pub fn explain_tls(error: &rustls::Error, host: &str) -> (String, &'static str) {
    match error {
        rustls::Error::InvalidCertificate(why) => match why {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
                format!("its certificate is for another name than {host}"),
                "write the endpoint as the certificate has it; where a bucket's name makes the difference, write \
                 style = \"path\"",
            ),
            // A signature that does not fit is that of another authority of the same name.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => (
                "its certificate is of an authority that this machine does not trust".to_owned(),
                "name the authority's certificate by ca = \"FILE\"",
            ),
            why => (
                format!("its certificate is not valid: {why}"),
                "check the certificate and this machine's clock",
            ),
        },
        // What a server without TLS answers to a handshake: text, or a message of its own protocol.
        rustls::Error::InvalidMessage(_) => {
            ("it does not speak TLS".to_owned(), "write the endpoint with http://, or another port")
        }
        why => (format!("no encrypted connection: {why}"), "check the service's TLS settings"),
    }
}
