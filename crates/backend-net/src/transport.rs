//! A socket, encrypted or not, that never blocks.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::AsRawFd as _;

use mio::net::TcpStream;
use rustls::ClientConnection;
use socket2::SockRef;

use crate::Tls;

/// Why a connection could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("no answer in time")]
    TimedOut,
    #[error("the server closed it during the TLS handshake")]
    Ended,
    #[error("{0}")]
    Tls(rustls::Error),
}

/// A socket that counts.
struct Socket {
    stream: TcpStream,
    /// From how many bytes on it is readable.
    readable_from: usize,
    sent_bytes: u64,
    received_bytes: u64,
    calls: u64,
}

/// What went over a socket.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traffic {
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    /// Calls to send or receive.
    pub(crate) calls: u64,
}

impl Traffic {
    pub(crate) fn add(&mut self, other: Self) {
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.calls += other.calls;
    }
}

impl Socket {
    fn wake_from(&mut self, bytes: usize) {
        if bytes == self.readable_from {
            return;
        }
        let value = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        self.calls += 1;
        // SAFETY: the descriptor is open, and the option is one integer that outlives the call.
        let failed = unsafe {
            libc::setsockopt(
                self.stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVLOWAT,
                (&raw const value).cast(),
                size_of_val(&value) as libc::socklen_t,
            )
        };
        // A kernel that has no such option wakes this thread more often, and nothing else.
        if failed == 0 {
            self.readable_from = bytes;
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        let bytes = self.stream.read(buf)?;
        self.received_bytes += bytes as u64;
        Ok(bytes)
    }

    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.calls += 1;
        let bytes = self.stream.read_vectored(bufs)?;
        self.received_bytes += bytes as u64;
        Ok(bytes)
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(buf)])
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.calls += 1;
        // writev(2) would raise SIGPIPE where the peer has gone.
        let bytes = match bufs {
            [one] => SockRef::from(&self.stream).send_with_flags(one, libc::MSG_NOSIGNAL),
            many => SockRef::from(&self.stream).send_vectored_with_flags(many, libc::MSG_NOSIGNAL),
        }?;
        self.sent_bytes += bytes as u64;
        Ok(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket, and its encryption if it has one.
pub(crate) struct Transport {
    socket: Socket,
    // rustls' buffered connection: its unbuffered one was 0-9 % cheaper (measured) for twice the code.
    tls: Option<Box<ClientConnection>>,
}

impl Transport {
    pub(crate) fn new(stream: TcpStream, tls: Option<&Tls>) -> Result<Self, DialError> {
        let tls = tls
            .map(|tls| ClientConnection::new(tls.config.clone(), tls.name.clone()).map(Box::new))
            .transpose()
            .map_err(DialError::Tls)?;
        let socket = Socket { stream, readable_from: 1, sent_bytes: 0, received_bytes: 0, calls: 0 };
        Ok(Self { socket, tls })
    }

    /// Goes on with the connection and its handshake. Whether it is complete.
    pub(crate) fn establish(&mut self) -> Result<bool, DialError> {
        // A socket that connects tells of it as writable, and of its failure too: mio asks for SO_ERROR
        // first, then for the peer's address, before it is taken for connected.
        if let Some(error) = self.socket.stream.take_error()? {
            return Err(self.cut_off(error));
        }
        match self.socket.stream.peer_addr() {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotConnected => return Ok(false),
            Err(error) => return Err(DialError::Io(error)),
        }
        let Some(tls) = &mut self.tls else { return Ok(true) };
        // Until nothing is left to send, as the last flight of TLS 1.3 is the client's.
        while tls.is_handshaking() || tls.wants_write() {
            let step = if tls.wants_write() {
                tls.write_tls(&mut self.socket)
            } else {
                tls.read_tls(&mut self.socket).and_then(|bytes| {
                    if bytes == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
                })
            };
            match step {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.cut_off(error)),
            }
            if let Err(error) = tls.process_new_packets() {
                // The alert tells the server why; whether it arrives does not matter.
                let _ = tls.write_tls(&mut self.socket);
                return Err(DialError::Tls(error));
            }
        }
        Ok(true)
    }

    /// An error on the way; a server that hangs up on a handshake often means that it speaks no TLS.
    fn cut_off(&self, error: io::Error) -> DialError {
        use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
        match error.kind() {
            ConnectionReset | BrokenPipe | UnexpectedEof if self.tls.is_some() => DialError::Ended,
            _ => DialError::Io(error),
        }
    }

    /// Whether a receive that brought less than asked has emptied the socket.
    pub(crate) fn short_is_empty(&self) -> bool {
        // rustls reads records in pieces of its own, so less than was asked says nothing of the socket.
        self.tls.is_none()
    }

    /// Lets the socket be readable once so many bytes are there, of which none may be in doubt; the end of the stream is
    /// told of at once. Does nothing for an encrypted one, whose records have lengths of their own.
    pub(crate) fn wake_from(&mut self, bytes: usize) {
        if self.tls.is_none() {
            self.socket.wake_from(bytes);
        }
    }

    /// Fills `first`, then `second`; 0 is the end of the stream.
    pub(crate) fn receive(&mut self, first: &mut [u8], second: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return match (first.is_empty(), second.is_empty()) {
                (true, _) => self.socket.read(second),
                (false, true) => self.socket.read(first),
                (false, false) => {
                    self.socket.read_vectored(&mut [IoSliceMut::new(first), IoSliceMut::new(second)])
                }
            };
        };
        let (mut got, mut ended) = (0, false);
        loop {
            while got < first.len() + second.len() {
                let room =
                    if got < first.len() { &mut first[got..] } else { &mut second[got - first.len()..] };
                match tls.reader().read(room) {
                    Ok(0) => return Ok(got),
                    Ok(bytes) => got += bytes,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // An end without TLS's own goodbye: whether bytes are missing shows in the protocol above.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(got),
                    Err(error) => return Err(error),
                }
            }
            if got > 0 || ended {
                return Ok(got);
            }
            // Asked only when rustls has nothing left: what it has decrypted must not wait for the network.
            ended = tls.read_tls(&mut self.socket)? == 0;
            if let Err(error) = tls.process_new_packets() {
                let _ = tls.write_tls(&mut self.socket);
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
    }

    /// Takes bytes to send; 0 when it takes no more for now.
    pub(crate) fn send(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.write_vectored(slices),
            Some(tls) => {
                let bytes = tls.writer().write_vectored(slices)?;
                self.flush().map(|_| bytes)
            }
        }
    }

    /// Hands over what was taken; whether all is with the kernel.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        while tls.wants_write() {
            match tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Whether bytes that were taken wait for room.
    pub(crate) fn holds_back(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    pub(crate) fn traffic(&self) -> Traffic {
        let Socket { sent_bytes, received_bytes, calls, .. } = self.socket;
        Traffic { sent_bytes, received_bytes, calls }
    }

    /// Version and cipher, where it is encrypted.
    pub(crate) fn encryption(&self) -> Option<String> {
        let tls = self.tls.as_ref()?;
        let version = match tls.protocol_version()? {
            rustls::ProtocolVersion::TLSv1_3 => "TLS1.3",
            rustls::ProtocolVersion::TLSv1_2 => "TLS1.2",
            _ => "TLS",
        };
        let suite = tls.negotiated_cipher_suite()?.suite();
        Some(format!("{version} {}", suite.as_str().unwrap_or("unknown")))
    }
}
