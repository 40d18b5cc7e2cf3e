//! A connection and its socket, while there is one.

use crate::conn::Conn;
use crate::transport::Transport;

/// The first pause after a failure, and the longest.
// A server that refuses is not dialled in a loop, and one that starts again is found within a second.
const PAUSE_NS: std::ops::RangeInclusive<u64> = 10_000_000..=1_000_000_000;

/// Where a connection stands.
pub(crate) enum State {
    /// There is none; it is dialled again from then on.
    Down { retry_ns: u64 },
    /// It is being made since then.
    Dialing { transport: Box<Transport>, since_ns: u64 },
    /// It is made.
    Up { transport: Box<Transport> },
}

/// One of the connections of an engine, made anew as often as it ends.
pub(crate) struct Link {
    pub(crate) conn: Conn,
    pub(crate) state: State,
    /// Index of the address it goes to.
    pub(crate) address: usize,
    /// Addresses tried in a row in vain.
    pub(crate) tried: usize,
    pause_ns: u64,
    /// When bytes came last, or some of a request went that is not yet sent in full.
    pub(crate) moved_ns: u64,
    /// Whether it was left at its budget, with more to read.
    pub(crate) left_over: bool,
    /// Whether the peer has said its last: it is read until its end, not until it is empty.
    pub(crate) peer_closed: bool,
    /// Whether it is among those that have something to send.
    pub(crate) dirty: bool,
}

impl Link {
    pub(crate) fn new(conn: Conn, address: usize) -> Self {
        Self {
            conn,
            state: State::Down { retry_ns: 0 },
            address,
            tried: 0,
            pause_ns: 0,
            moved_ns: 0,
            left_over: false,
            peer_closed: false,
            dirty: false,
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        matches!(self.state, State::Up { .. })
    }

    pub(crate) fn transport(&self) -> Option<&Transport> {
        match &self.state {
            State::Down { .. } => None,
            State::Dialing { transport, .. } | State::Up { transport } => Some(transport),
        }
    }

    /// No socket any more; the pause before the next begins, longer each time until a reply has come.
    pub(crate) fn pause(&mut self, now_ns: u64) {
        // Not by having connected alone: a server that accepts and drops at once would be dialled without a
        // pause.
        if self.conn.answered {
            self.pause_ns = 0;
        }
        self.state = State::Down { retry_ns: now_ns.saturating_add(self.pause_ns) };
        self.pause_ns = (self.pause_ns * 2).clamp(*PAUSE_NS.start(), *PAUSE_NS.end());
        self.conn.clear();
        (self.left_over, self.peer_closed) = (false, false);
    }

    /// The next address is dialled at once.
    pub(crate) fn pass_on(&mut self, now_ns: u64) {
        self.state = State::Down { retry_ns: now_ns };
        self.conn.clear();
    }
}
