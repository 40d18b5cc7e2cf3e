//! One accepted connection, which ends early where a fault says so.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::calls::Calls;

/// Where the connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutAt {
    /// So many bytes behind the head of the next HTTP response.
    BehindHead(u64),
    /// After so many bytes.
    After(u64),
}

#[derive(Debug, Clone, Copy)]
struct Cut {
    place: CutAt,
    reset: bool,
}

/// Tells a connection from outside where to end.
#[derive(Debug, Default)]
pub(crate) struct Scissors(Mutex<Option<Cut>>);

impl Scissors {
    /// Ends the connection in the middle of the body of the next HTTP response.
    pub(crate) fn cut_body(&self, body_bytes: u64, reset: bool) {
        self.set(Some(Cut { place: CutAt::BehindHead(body_bytes / 2), reset }));
    }

    /// Resets the connection after `bytes` more.
    pub(crate) fn reset_after(&self, bytes: u64) {
        self.set(Some(Cut { place: CutAt::After(bytes), reset: true }));
    }

    fn get(&self) -> Option<Cut> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, cut: Option<Cut>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cut;
    }
}

/// A connection as the protocol's server sees it.
pub(crate) struct Line {
    socket: TcpStream,
    scissors: Arc<Scissors>,
    /// Calls on their way in, where the protocol marks them.
    calls: Option<Calls>,
    is_cut: bool,
}

impl Line {
    pub(crate) fn new(socket: TcpStream, scissors: &Arc<Scissors>, calls: Option<Calls>) -> Self {
        Self { socket, scissors: Arc::clone(scissors), calls, is_cut: false }
    }

    /// How much of `bytes` may still go before the cut; an error once it is there.
    fn before_cut(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_cut {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let Some(cut) = self.scissors.get() else { return Ok(usize::MAX) };
        let left = match cut.place {
            CutAt::After(left) => left,
            CutAt::BehindHead(left) => {
                // The first write after the cut was set begins with the head of the response.
                let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").map_or(0, |at| at + 4);
                head as u64 + left
            }
        };
        self.scissors.set(Some(Cut { place: CutAt::After(left), reset: cut.reset }));
        if left == 0 {
            self.is_cut = true;
            if cut.reset {
                // Closed with a linger of nothing, a connection ends by RST and what it has not sent is lost.
                self.socket.set_zero_linger()?;
            }
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(left as usize)
    }

    fn count_to_cut(&self, bytes: usize) {
        if let Some(Cut { place: CutAt::After(left), reset }) = self.scissors.get() {
            let place = CutAt::After(left - (bytes as u64).min(left));
            self.scissors.set(Some(Cut { place, reset }));
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let most = self.before_cut(bytes)?.min(bytes.len());
        let sent = ready!(Pin::new(&mut self.socket).poll_write(cx, &bytes[..most]))?;
        self.count_to_cut(sent);
        Poll::Ready(Ok(sent))
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line = &mut *self;
        // To the server too the connection is gone; it must not read on what a client still sends.
        if line.is_cut {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        match &mut line.calls {
            None => Pin::new(&mut line.socket).poll_read(cx, out),
            Some(calls) => calls.poll_read(&mut line.socket, cx, out),
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_cut || self.scissors.get().is_some() {
            // One slice at a time: the cut may lie in any of them.
            let first = slices.iter().find(|slice| !slice.is_empty()).map_or(&[][..], |slice| slice);
            return self.poll_send(cx, first);
        }
        Pin::new(&mut self.socket).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
