//! Waiting for sockets, to the microsecond.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

const NS_PER_MS: u64 = 1_000_000;

/// Sockets that one wait tells of, at most; those left are told of by the next.
const EVENTS_MAX: usize = 1024;

/// A socket that has something to say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    pub(crate) link: usize,
    /// The peer will send no more.
    pub(crate) closed: bool,
}

/// An epoll instance, edge-triggered.
pub(crate) struct Readiness {
    poll: Poll,
    events: Events,
    pub(crate) ready: Vec<Ready>,
    /// Calls into the kernel.
    pub(crate) calls: u64,
}

impl Readiness {
    pub(crate) fn new(sockets: usize) -> io::Result<Self> {
        let room = sockets.clamp(1, EVENTS_MAX);
        Ok(Self {
            poll: Poll::new()?,
            events: Events::with_capacity(room),
            ready: Vec::with_capacity(room),
            calls: 0,
        })
    }

    /// Both directions from the start: an edge for writing comes only after a send has found no room, so a
    /// connection without a rest to send is not woken by it.
    pub(crate) fn register(&self, stream: &mut TcpStream, link: usize) -> io::Result<()> {
        self.poll.registry().register(stream, Token(link), Interest::READABLE | Interest::WRITABLE)
    }

    /// Waits for sockets, `patience_ns` at most; a signal or the whole milliseconds being over may end it before.
    pub(crate) fn wait(&mut self, patience_ns: u64) -> io::Result<()> {
        self.ready.clear();
        let whole_ms = (patience_ns / NS_PER_MS).min(60_000);
        if whole_ms == 0 && patience_ns > 0 && !self.wait_below_ms(patience_ns)? {
            return Ok(());
        }
        self.calls += 1;
        match self.poll.poll(&mut self.events, Some(Duration::from_millis(whole_ms))) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        for event in &self.events {
            // A hang-up comes once with an edge-triggered epoll, so it is kept until the connection was read
            // to its end.
            let closed = event.is_read_closed() || event.is_error();
            self.ready.push(Ready { link: event.token().0, closed });
        }
        Ok(())
    }

    /// `epoll_wait` counts in milliseconds, which a paced load cannot: a shorter wait is a `ppoll` of the epoll
    /// instance. Whether something is ready.
    fn wait_below_ms(&mut self, patience_ns: u64) -> io::Result<bool> {
        self.calls += 1;
        let mut poll = libc::pollfd { fd: self.poll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // ppoll(2) counts in nanoseconds. An epoll descriptor is itself readable while one of its sockets is
        // ready (epoll(7)).
        let time = libc::timespec { tv_sec: 0, tv_nsec: patience_ns.cast_signed() };
        // SAFETY: one descriptor and a time, both of which outlive the call; no signal mask.
        let count = unsafe { libc::ppoll(&raw mut poll, 1, &raw const time, std::ptr::null()) };
        if count >= 0 {
            return Ok(count > 0);
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) }
    }
}
