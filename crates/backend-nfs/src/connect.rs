//! Connections of the control plane: addresses, source ports, time-outs, and records that stay within bounds.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::{io, mem};

use nfs3_client::io::{AsyncRead, AsyncWrite};
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::Patience;
use crate::failure::Failure;
use crate::xdr::{LAST_FRAGMENT, VERIFIER_BYTES_MAX};

/// A reply's record, at most: the largest read or listing that is asked for here, with room for its head.
pub(crate) const RECORD_BYTES_MAX: u32 = (4 << 20) + (64 << 10);

/// Ports that servers take for a sign of root; the range is that of Linux (`sunrpc.min_resvport`).
const PRIVILEGED_PORTS: std::ops::Range<u16> = 665..1024;

/// Where the next search for a privileged port begins.
static NEXT_PORT: AtomicU16 = AtomicU16::new(0);

/// Addresses of a host, in the resolver's order.
pub(crate) fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let mut addresses = Vec::new();
    for address in (host, port).to_socket_addrs()? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() { Err(io::Error::other("it has no address")) } else { Ok(addresses) }
}

/// A connection, and whether it comes from a privileged port.
pub(crate) async fn connect(to: SocketAddr, patience: Patience) -> Result<(Io, bool), Failure> {
    match timeout(patience.connect, dial(to)).await {
        Ok(Ok((stream, privileged))) => Ok((Io::new(Arc::new(stream)), privileged)),
        Ok(Err(error)) => Err(Failure::Connect(error)),
        Err(_) => Err(Failure::ConnectTimeout(patience.connect)),
    }
}

async fn dial(to: SocketAddr) -> io::Result<(TcpStream, bool)> {
    // Beginning elsewhere each time: a port that was used a moment ago is in TIME_WAIT towards the same
    // server.
    let first = NEXT_PORT.fetch_add(1, Ordering::Relaxed).wrapping_add(std::process::id() as u16);
    for step in 0..PRIVILEGED_PORTS.len() as u16 {
        let port = PRIVILEGED_PORTS.start + first.wrapping_add(step) % PRIVILEGED_PORTS.len() as u16;
        let socket = match bound(to, port) {
            Ok(socket) => socket,
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => continue,
            // This user may not bind it, or no such port is free: any port will do.
            Err(_) => break,
        };
        match TcpSocket::from_std_stream(socket.into()).connect(to).await {
            Ok(stream) => return no_delay(stream).map(|stream| (stream, true)),
            // An earlier connection of the same two ports has not been forgotten yet.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable) => {}
            Err(error) => return Err(error),
        }
    }
    // Without the right to a privileged port any will do: a server that insists says so, and the facts name
    // the port's kind.
    TcpStream::connect(to).await.and_then(no_delay).map(|stream| (stream, false))
}

fn bound(to: SocketAddr, port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM.nonblocking().cloexec(), None)?;
    let from = match to {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)),
    };
    socket.bind(&from.into())?;
    Ok(socket)
}

fn no_delay(stream: TcpStream) -> io::Result<TcpStream> {
    // The library's own connector leaves Nagle's algorithm on: a call that follows another at once would wait
    // for an acknowledgement, up to 40 ms.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A socket for the client library, which trusts what it reads: lengths are checked here, before it allocates, and
/// a connection that was closed ends its calls.
pub(crate) struct Io {
    stream: Arc<TcpStream>,
    /// Bytes left of the record that is being read; at 0 the next four are a record mark.
    left: u32,
    /// A record that came in fragments, joined.
    joined: Vec<u8>,
}

impl Io {
    fn new(stream: Arc<TcpStream>) -> Self {
        Self { stream, left: 0, joined: Vec::new() }
    }

    pub(crate) fn stream(&self) -> Arc<TcpStream> {
        Arc::clone(&self.stream)
    }

    async fn read_some(&self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.readable().await?;
            match self.stream.try_read(into) {
                // The library's own `async_read_exact` takes 0 bytes for progress: with nfs3_client 0.9.1 a
                // server that closed kept a core at 99 % for ever.
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                ended => return ended,
            }
        }
    }

    async fn fill(&self, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            let read = self.read_some(into).await?;
            into = &mut into[read..];
        }
        Ok(())
    }

    /// Reads a record whose first fragment has `mark`: the library takes records in one fragment only.
    async fn join(&self, mut mark: u32) -> io::Result<Vec<u8>> {
        let mut record = Vec::new();
        loop {
            let (from, length) = (record.len(), (mark & !LAST_FRAGMENT) as usize);
            // A mark of 0xFFFFFFFF made the library allocate 2 GiB and wait. An empty fragment would let a
            // server send marks for ever.
            if length == 0 || from + length > RECORD_BYTES_MAX as usize {
                return Err(nonsense(format!("a fragment of {length} B behind {from} B")));
            }
            record.resize(from + length, 0);
            self.fill(&mut record[from..]).await?;
            if mark & LAST_FRAGMENT != 0 {
                return Ok(record);
            }
            let mut next = [0; 4];
            self.fill(&mut next).await?;
            mark = u32::from_be_bytes(next);
        }
    }
}

/// Whether an idle connection can carry another call: it is open and nothing unasked was sent on it.
pub(crate) fn is_idle(stream: &TcpStream) -> bool {
    let mut byte = [std::mem::MaybeUninit::uninit()];
    // A peek of 0 is the end of the stream, one of a byte something unasked. Only WouldBlock is a connection
    // at rest.
    matches!(SockRef::from(stream).peek(&mut byte), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

fn nonsense(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The library unpacks a reply's head before anything can be checked, and makes room for whatever length it names.
fn check_head(record: &[u8]) -> io::Result<()> {
    let word = |at: usize| {
        record.get(at..at + 4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    match (word(4), word(8), word(16)) {
        // Words of RFC 5531 section 9 behind the xid: REPLY (1), MSG_ACCEPTED (0), flavor and length of the
        // verifier.
        (Some(1), Some(0), Some(verifier)) if verifier as usize > VERIFIER_BYTES_MAX => {
            Err(nonsense(format!("a verifier of {verifier} B")))
        }
        (Some(1), ..) => Ok(()),
        _ => Err(nonsense("it is no reply to a remote procedure call".to_owned())),
    }
}

impl AsyncRead for Io {
    async fn async_read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.read_some(buf).await
    }

    async fn async_read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
        if self.joined.len() == buf.len() {
            buf.copy_from_slice(&mem::take(&mut self.joined));
        } else {
            self.fill(buf).await?;
        }
        if self.left > 0 {
            self.left = self.left.saturating_sub(buf.len() as u32);
            return check_head(buf);
        }
        if let Ok(mark) = <[u8; 4]>::try_from(&*buf) {
            let mut mark = u32::from_be_bytes(mark);
            if mark & LAST_FRAGMENT == 0 {
                self.joined = self.join(mark).await?;
                mark = LAST_FRAGMENT | self.joined.len() as u32;
                buf.copy_from_slice(&mark.to_be_bytes());
            }
            self.left = mark & !LAST_FRAGMENT;
            // 12 bytes: xid, REPLY, and whether it was accepted.
            if !(12..=RECORD_BYTES_MAX).contains(&self.left) {
                return Err(nonsense(format!("a record of {} B", self.left)));
            }
        }
        Ok(())
    }
}

impl AsyncWrite for Io {
    async fn async_write(&mut self, buf: &[u8]) -> io::Result<usize> {
        loop {
            self.stream.writable().await?;
            match self.stream.try_write(buf) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                ended => return ended,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_resolved_once_each_with_their_port() {
        assert_eq!(resolve("192.0.2.7", 2049).unwrap(), ["192.0.2.7:2049".parse().unwrap()]);
        assert_eq!(resolve("2001:db8::7", 111).unwrap(), ["[2001:db8::7]:111".parse().unwrap()]);
        let mut local = resolve("localhost", 1).unwrap();
        assert!(local.iter().all(|address| address.ip().is_loopback() && address.port() == 1), "{local:?}");
        let count = local.len();
        local.sort_unstable();
        local.dedup();
        assert_eq!(local.len(), count);
        assert!(resolve("no-such-host.invalid", 1).is_err());
    }
}
