//! An address that answers nothing.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

/// Connections beyond the backlog that are made, so that it is full whatever the kernel rounds it to.
const FILL: usize = 4;

/// An address on this machine where requests to connect vanish: a listener whose backlog is full and stays so.
/// Needs no root.
#[derive(Debug)]
pub struct Blackhole {
    address: SocketAddr,
    _listener: TcpListener,
    /// Kept open: an end closed by its peer would still hold its place, but the kernel may reap it.
    _waiting: Vec<TcpStream>,
}

impl Blackhole {
    /// Opens one on the loopback interface.
    ///
    /// # Errors
    ///
    /// The system's, where it refuses a socket.
    pub fn open() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        // Asked again, the kernel takes the new length of the backlog.
        // Linux drops the SYN to a listener whose backlog is full, as a firewall would; nothing is refused.
        rustix::net::listen(&listener, 0)?;
        let address = listener.local_addr()?;
        let waiting = (0..FILL).map(|_| half_open(address)).collect::<io::Result<_>>()?;
        Ok(Self { address, _listener: listener, _waiting: waiting })
    }

    /// Where nothing answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A socket on its way to `address`, without waiting for it to arrive.
fn half_open(address: SocketAddr) -> io::Result<TcpStream> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    match connect(&socket, &address) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}
