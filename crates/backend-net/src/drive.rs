//! What the engine does with one connection: make, read, write, lose.

use std::io::{self, IoSlice};
use std::mem;

use backend::OpError;

use crate::Protocol;
use crate::conn::Loss;
use crate::dial;
use crate::link::State;
use crate::outbox::SLICES_MAX;
use crate::transport::{DialError, Transport};
use crate::wire::Wire;

/// A reply is given up after this many times the patience, even while the connection brings other bytes.
const PATIENCE_IN_ALL: u64 = 10;

/// Bytes read from one connection before the others have their turn.
// Without it one connection that brings a large object would keep all others waiting for the whole of it.
const BUDGET_BYTES: usize = 1 << 20;

impl<P: Protocol> Wire<P> {
    /// Waits for sockets and serves those that are ready.
    pub(crate) fn look(&mut self, patience_ns: u64) -> io::Result<()> {
        let left = self.left.len();
        self.readiness.wait(if left == 0 { patience_ns } else { 0 })?;
        for at in 0..self.readiness.ready.len() {
            let ready = self.readiness.ready[at];
            self.links[ready.link].peer_closed |= ready.closed;
            match self.links[ready.link].state {
                State::Down { .. } => {}
                State::Dialing { .. } => self.establish(ready.link),
                State::Up { .. } => {
                    if !self.links[ready.link].left_over {
                        self.receive(ready.link);
                    }
                    self.flush(ready.link);
                }
            }
        }
        // Edge-triggered: epoll does not report again the connections that were left at their budget.
        for at in 0..left {
            let index = self.left[at];
            if mem::take(&mut self.links[index].left_over) {
                self.receive(index);
                self.flush(index);
            }
        }
        self.left.drain(..left);
        Ok(())
    }

    /// Dials connections whose pause is over, and gives up dialling where it took too long.
    pub(crate) fn dial_again(&mut self, now_ns: u64) {
        for index in 0..self.links.len() {
            if let State::Dialing { since_ns, .. } = self.links[index].state
                && now_ns.saturating_sub(since_ns) >= self.settings.connect_timeout_ns
            {
                self.dial_failed(index, DialError::TimedOut);
            }
            // A loop, since a dial can fail at once and the next address is tried in the same turn.
            while matches!(self.links[index].state, State::Down { retry_ns } if retry_ns <= now_ns) {
                if let Err(error) = self.dial(index, now_ns) {
                    self.dial_failed(index, error);
                }
            }
        }
    }

    fn dial(&mut self, index: usize, now_ns: u64) -> Result<(), DialError> {
        let link = &mut self.links[index];
        let address = self.settings.addresses[link.address];
        let mut begun = dial::begin(address, self.settings.source_port)?;
        self.unprivileged = self.unprivileged.or(begun.unprivileged);
        self.readiness.register(&mut begun.stream, index)?;
        let transport = Box::new(Transport::new(begun.stream, self.settings.tls.as_ref())?);
        link.peer_closed = false;
        link.state = State::Dialing { transport, since_ns: now_ns };
        Ok(())
    }

    fn dial_failed(&mut self, index: usize, error: DialError) {
        let now_ns = self.clock.now_ns();
        self.count_traffic(index);
        let op_error = error.op_error();
        let link = &mut self.links[index];
        self.failed = Some((self.settings.addresses[link.address], error));
        // A server with several addresses is down only when all of them are. The pause begins after the last.
        link.address = (link.address + 1) % self.settings.addresses.len();
        link.tried += 1;
        if link.tried < self.settings.addresses.len() {
            link.pass_on(now_ns);
            return;
        }
        link.tried = 0;
        link.pause(now_ns);
        if self.up == 0 {
            self.ops.fail_waiting(op_error, now_ns);
        }
    }

    fn establish(&mut self, index: usize) {
        let link = &mut self.links[index];
        let State::Dialing { transport, .. } = &mut link.state else { return };
        match transport.establish() {
            Ok(false) => {}
            Err(error) => self.dial_failed(index, error),
            Ok(true) => {
                self.encryption = self.encryption.take().or_else(|| transport.encryption());
                let state = mem::replace(&mut link.state, State::Down { retry_ns: u64::MAX });
                if let State::Dialing { transport, .. } = state {
                    link.state = State::Up { transport };
                }
                link.tried = 0;
                self.up += 1;
                self.counts.opened += 1;
                if !self.pipelines {
                    self.idle.push(index);
                }
                // Edge-triggered: what came with the end of the handshake is not reported again.
                self.receive(index);
            }
        }
    }

    /// Reads until nothing is left, or the others must have their turn.
    fn receive(&mut self, index: usize) {
        self.receive_until(index, None);
    }

    /// The same; `told` is what a sender was told of the end of the stream.
    fn receive_until(&mut self, index: usize, told: Option<Loss>) {
        let mut budget = BUDGET_BYTES;
        loop {
            let link = &mut self.links[index];
            let State::Up { transport } = &mut link.state else { return };
            let (first, second) = link.conn.rooms(&mut self.ops);
            let asked = first.len() + second.len();
            let bytes = match transport.receive(first, second) {
                Ok(0) => {
                    let loss = told.unwrap_or_else(|| link.conn.at_end());
                    return self.lose(index, loss);
                }
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return self.lose(index, broken_by(&error)),
            };
            let was_busy = !link.conn.takes_more();
            let now_ns = self.clock.now_ns();
            link.moved_ns = now_ns;
            if let Err(loss) = link.conn.filled(bytes, &mut self.ops, now_ns) {
                return self.lose(index, loss);
            }
            // Not of protocols that share connections: those always take more.
            if was_busy && link.conn.takes_more() {
                self.idle.push(index);
            }
            budget = budget.saturating_sub(bytes);
            // epoll(7): a stream that gave less than was asked is empty, which saves the call that would
            // answer EAGAIN. Not behind the peer's last word: the edge has been told, and the end of the
            // stream is read by one more call.
            if bytes < asked && transport.short_is_empty() && !link.peer_closed {
                break;
            }
            if budget == 0 {
                link.left_over = true;
                self.left.push(index);
                return;
            }
        }
        let link = &mut self.links[index];
        if let State::Up { transport } = &mut link.state {
            transport.wake_from(link.conn.awaited_bytes());
        }
    }

    /// Sends what a connection has to send, as far as there is room.
    pub(crate) fn flush(&mut self, index: usize) {
        loop {
            let link = &mut self.links[index];
            let State::Up { transport } = &mut link.state else { return };
            if link.conn.out.is_empty() && !transport.holds_back() {
                return;
            }
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let count = link.conn.out.slices(&self.ops, &mut slices);
            let sent = if count == 0 { Ok(0) } else { transport.send(&slices[..count]) };
            let done = sent.and_then(|bytes| {
                link.conn.out.advance(bytes, &mut self.ops);
                Ok((bytes, transport.flush()?))
            });
            match done {
                Ok((bytes, flushed)) => {
                    if flushed {
                        self.note_sent(index);
                    }
                    let link = &mut self.links[index];
                    if bytes > 0 && !link.conn.out.is_empty() {
                        // A large request on a slow line is slow, not lost.
                        link.moved_ns = self.clock.now_ns();
                    }
                    if bytes == 0 && !flushed {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // The kernel tells of a reset once: the end of the stream behind it is then no end of a body.
                    let is_reset = error.kind() == io::ErrorKind::ConnectionReset;
                    // The reason may have been sent before the connection was closed.
                    self.receive_until(index, is_reset.then(Loss::reset));
                    return self.lose(index, broken_by(&error));
                }
            }
        }
    }

    fn note_sent(&mut self, index: usize) {
        let taken = &mut self.links[index].conn.out.taken;
        if taken.is_empty() {
            return;
        }
        // The clock is read only where a phase ends here; others are spared the call.
        let now_ns = if self.ops.stamps_sending() { self.clock.now_ns() } else { 0 };
        for slot in taken.drain(..) {
            self.ops.sent(slot, now_ns);
        }
    }

    /// Gives a connection up; each message on it is lost, once.
    fn lose(&mut self, index: usize, loss: Loss) {
        if !self.links[index].is_up() {
            return;
        }
        let now_ns = self.clock.now_ns();
        self.counts.lost += u64::from(self.links[index].conn.under_way > 0);
        self.count_traffic(index);
        self.up -= 1;
        self.idle.retain(|other| *other != index);
        let (under_way, answered) = (self.links[index].conn.under_way, self.links[index].conn.answered);
        // The socket goes first: what is lost may be sent again, and never on this one.
        self.links[index].pause(now_ns);
        if under_way == 0 {
            if !answered && self.up == 0 {
                // A server that takes connections and drops them at once: who waits for one would wait for ever.
                self.ops.fail_waiting(OpError::from_errno(libc::ECONNRESET), now_ns);
            }
            return;
        }
        for place in 0..self.ops.slots().len() as u32 {
            let slot = self.ops.slots()[place as usize];
            if slot.busy && slot.connection as usize == index {
                self.ops.lost(place, loss.error_of(place, &slot), now_ns);
            }
        }
    }

    /// Keeps the counts of a socket that is about to be closed.
    fn count_traffic(&mut self, index: usize) {
        if let Some(transport) = self.links[index].transport() {
            self.counts.traffic.add(transport.traffic());
        }
    }

    /// Gives up connections on which a reply has not come in time: nothing at all came for as long, or other things
    /// came for ten times as long. A large reply on a slow line is slow, not lost.
    pub(crate) fn give_up_late(&mut self, now_ns: u64) {
        let patience_ns = self.settings.reply_timeout_ns;
        let Some(handed_until_ns) = now_ns.checked_sub(patience_ns) else { return };
        for place in 0..self.ops.slots().len() {
            let slot = self.ops.slots()[place];
            if !slot.busy || slot.handed_ns > handed_until_ns {
                continue;
            }
            let link = slot.connection as usize;
            if self.links[link].moved_ns <= handed_until_ns {
                // What a slow line has brought of a body may be less than this thread is woken for.
                self.receive(link);
                if !self.ops.slots()[place].busy {
                    continue;
                }
            }
            let is_silent = self.links[link].moved_ns <= handed_until_ns;
            if is_silent || now_ns - slot.handed_ns >= patience_ns.saturating_mul(PATIENCE_IN_ALL) {
                self.lose(link, Loss::Late { handed_until_ns });
            }
        }
    }
}

fn broken_by(error: &io::Error) -> Loss {
    match error.raw_os_error() {
        // send(2): EPIPE says that the connection was closed before, which is a reset to whoever has a
        // request on it.
        Some(libc::EPIPE) | None if error.kind() != io::ErrorKind::InvalidData => Loss::reset(),
        Some(errno) => Loss::All(OpError::from_errno(errno)),
        None => Loss::protocol(),
    }
}
