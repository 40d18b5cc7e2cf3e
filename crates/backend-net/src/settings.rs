//! How a queue reaches its server.

use std::net::SocketAddr;
use std::sync::Arc;

/// Where connections go and how long things may take.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Addresses of the server; connections are spread over them in turn. At least one.
    pub addresses: Vec<SocketAddr>,
    /// Connections of a queue that is opened without a number of its own, at least one.
    pub connections: u32,
    /// Patience for a connection to be made, its TLS handshake included.
    pub connect_timeout_ns: u64,
    /// Patience for a reply: for as long nothing at all may come on its connection. One that is still coming has ten
    /// times as long.
    pub reply_timeout_ns: u64,
    /// Encryption.
    pub tls: Option<Tls>,
    /// The port that connections come from.
    pub source_port: SourcePort,
}

/// Encryption of a connection.
#[derive(Debug, Clone)]
pub struct Tls {
    /// Trust and ciphers.
    pub config: Arc<rustls::ClientConfig>,
    /// The name that the server must prove to be.
    pub name: rustls::pki_types::ServerName<'static>,
}

/// The port that connections come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourcePort {
    /// Any.
    Any,
    /// One below 1024 where this process may, as NFS servers ask by default; else any, and the report says so.
    // exports(5): `secure`, the default of Linux servers, refuses ports of 1024 and above.
    PrivilegedIfAllowed,
}
