//! Whether an endpoint can be reached at all: a name, an address, a connection, a certificate, in this order, so that
//! an error names the step that failed.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use backend::StoreError;
use backend_net::{Tls, explain_tls};
use plan::Addresses;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::origin::Origin;
use crate::trust::Trust;

/// Patience for a connection.
// The SDK's own default is 3.1 s; a SYN that is lost is sent again after 1 and 3 s.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Certificates to trust beside those of the system.
///
/// # Errors
/// The file cannot be read, or holds no certificate.
pub fn read_ca(path: &Path) -> Result<Vec<u8>, StoreError> {
    let refuse = |reason: String| StoreError::Unavailable {
        what: format!("ca = \"{}\"", path.display()),
        reason,
        hint: "name a file with certificates in PEM (-----BEGIN CERTIFICATE-----)".to_owned(),
    };
    let text = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    let certificates = CertificateDer::pem_slice_iter(&text).flatten().count();
    if certificates == 0 { Err(refuse("it holds no certificate".to_owned())) } else { Ok(text) }
}

/// Encryption towards an endpoint; `None` where it is asked for by `http://`.
///
/// # Errors
/// There is nobody to trust.
pub fn tls(origin: &Origin, trust: &Trust) -> Result<Option<Tls>, StoreError> {
    if !origin.https {
        return Ok(None);
    }
    let refuse = |reason: String| StoreError::Unavailable {
        what: origin.shown(),
        reason,
        hint: "check SSL_CERT_FILE and SSL_CERT_DIR, or name a certificate by ca = \"FILE\"".to_owned(),
    };
    let mut roots = RootCertStore::empty();
    // Certificates that cannot be read are passed over: systems carry some that no library accepts.
    roots.add_parsable_certificates(trust.roots.certificates().iter().cloned());
    if let Some(ca) = &trust.ca {
        roots.add_parsable_certificates(CertificateDer::pem_slice_iter(ca).flatten());
    }
    if roots.is_empty() {
        return Err(refuse("no certificate to trust was found".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refuse(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Only HTTP/1.1 is spoken here: a server that chose h2 would be sent what it cannot read.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(origin.host.clone()).map_err(|error| refuse(error.to_string()))?;
    Ok(Some(Tls { config: Arc::new(config), name }))
}

/// The addresses that connections go to; each was connected to once, to see whether it answers. `advice` is what to do where
/// the name has no address.
///
/// # Errors
/// The step that failed: no address, no connection, no trust.
pub fn reach(
    origin: &Origin,
    addresses: Addresses,
    tls: Option<&Tls>,
    advice: &str,
) -> Result<Vec<SocketAddr>, StoreError> {
    let found = (origin.host.as_str(), origin.port).to_socket_addrs();
    let mut distinct: Vec<SocketAddr> = Vec::new();
    for address in found.map_err(|error| no_address(origin, advice, &error))? {
        if !distinct.contains(&address) {
            distinct.push(address);
        }
    }
    let mut reached = Vec::new();
    let mut failed = None;
    for address in distinct {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(socket) => {
                // One handshake is enough: all addresses stand for one name, and so for one certificate.
                if let (Some(tls), true) = (tls, reached.is_empty()) {
                    shake_hands(origin, socket, tls)?;
                }
                reached.push(address);
                if addresses == Addresses::First {
                    break;
                }
            }
            Err(error) => failed = Some((address, error)),
        }
    }
    match failed {
        _ if !reached.is_empty() => Ok(reached),
        Some((address, error)) => Err(no_connection(origin, address, &error)),
        None => Err(no_address(origin, advice, &io::Error::other("it has none"))),
    }
}

fn no_address(origin: &Origin, advice: &str, error: &io::Error) -> StoreError {
    unavailable(origin, format!("the name {} has no address: {error}", origin.host), advice)
}

fn no_connection(origin: &Origin, address: SocketAddr, error: &io::Error) -> StoreError {
    let (reason, hint) = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            (format!("{address} refuses connections"), "is the service running, and is this its port?")
        }
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => (
            format!("{address} does not answer within {} s", CONNECT_TIMEOUT.as_secs()),
            "a firewall drops what it is sent, or the address is wrong",
        ),
        _ => (format!("{address} cannot be connected to: {error}"), "check the address and the route to it"),
    };
    unavailable(origin, reason, hint)
}

fn unavailable(origin: &Origin, reason: String, hint: &str) -> StoreError {
    // curl and the AWS tools look at these, so a user behind a proxy may wonder why nothing is reached.
    let names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
    let proxy = names.iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let hint = match proxy {
        // The value may hold a password.
        Some(name) => format!("{hint}; {name} is set, but storage is never measured through a proxy"),
        None => hint.to_owned(),
    };
    StoreError::Unavailable { what: origin.shown(), reason, hint }
}

fn shake_hands(origin: &Origin, mut socket: TcpStream, tls: &Tls) -> Result<(), StoreError> {
    let failed = |error: io::Error| no_trust(origin, &error);
    socket.set_read_timeout(Some(CONNECT_TIMEOUT)).map_err(failed)?;
    socket.set_write_timeout(Some(CONNECT_TIMEOUT)).map_err(failed)?;
    let connection = ClientConnection::new(Arc::clone(&tls.config), tls.name.clone());
    let mut connection = connection.map_err(|error| no_trust(origin, &io::Error::other(error)))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).map_err(failed)?;
    }
    Ok(())
}

fn no_trust(origin: &Origin, error: &io::Error) -> StoreError {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let (reason, hint) = match cause {
        Some(cause) => explain_tls(cause, &origin.host),
        None if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => (
            format!("it does not answer the TLS handshake within {} s", CONNECT_TIMEOUT.as_secs()),
            "does this port speak TLS? If not, write the endpoint with http://",
        ),
        None => (
            format!("the connection ended during the TLS handshake: {error}"),
            "does this port speak TLS? If not, write the endpoint with http://",
        ),
    };
    unavailable(origin, reason, hint)
}
