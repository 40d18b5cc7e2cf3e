//! The engine under a queue.

use std::net::SocketAddr;

use backend::{Buf, Clock, Completion, OpError, QueueError, QueueReport, StoreError};

use crate::conn::Conn;
use crate::link::{Link, State};
use crate::ops::Ops;
use crate::readiness::Readiness;
use crate::transport::{DialError, Traffic};
use crate::{Protocol, Settings};

/// How often time-outs are looked for: their resolution, in exchange for no timer per message.
// Looking through all slots this often cost nothing that could be measured; a timer for each request cost 1-2
// % of the processor.
const TICK_NS: u64 = 250_000_000;

/// Bodies from here on are received straight into their buffers; smaller ones come with their heads, in one call.
const LARGE_BYTES: u32 = 16 << 10;

/// The engine: connections, operations under way on them, and operations that wait for one.
///
/// A queue is a thin layer over it; a writer outside any measurement may use it directly.
pub struct Wire<P: Protocol> {
    pub(crate) ops: Ops<P>,
    pub(crate) links: Vec<Link>,
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) readiness: Readiness,
    pub(crate) pipelines: bool,
    /// Connections that are made.
    pub(crate) up: usize,
    /// Those of them that have nothing to do, the last used last: it is the warmest. Only where there is one message
    /// at a time.
    pub(crate) idle: Vec<usize>,
    /// Connections with something to send.
    pub(crate) dirty: Vec<usize>,
    /// Connections left at their budget.
    pub(crate) left: Vec<usize>,
    /// Whose turn it is: the number of a connection where messages share them, else that of an address.
    next: usize,
    next_tick_ns: u64,
    pub(crate) counts: Counts,
    /// The last connection that could not be made.
    pub(crate) failed: Option<(SocketAddr, DialError)>,
    pub(crate) unprivileged: Option<&'static str>,
    pub(crate) encryption: Option<String>,
}

/// Counts other than those of operations.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) opened: u64,
    pub(crate) lost: u64,
    /// Of sockets that are closed.
    pub(crate) traffic: Traffic,
    /// Messages by address.
    pub(crate) to: Vec<u64>,
}

impl<P: Protocol> Wire<P> {
    /// Makes `connections` connections (at least one) and waits until all are made, encryption included; `depth`
    /// operations may be under way at once. May block for the connect time-out.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] names the first address that could not be reached, why, and what to do.
    pub fn connect(
        protocol: P,
        settings: &Settings,
        depth: u32,
        connections: u32,
        clock: &Clock,
    ) -> Result<Self, StoreError> {
        Self::connect_for(protocol, settings, depth, connections, clock, LARGE_BYTES)
    }

    /// As [`Wire::connect`], for bodies of `block_bytes`.
    pub(crate) fn connect_for(
        protocol: P,
        settings: &Settings,
        depth: u32,
        connections: u32,
        clock: &Clock,
        block_bytes: u32,
    ) -> Result<Self, StoreError> {
        let name = protocol.name();
        let unavailable = |reason: String, hint: &str| StoreError::Unavailable {
            what: format!("{name}: its connections"),
            reason,
            hint: hint.to_owned(),
        };
        if settings.addresses.is_empty() {
            return Err(unavailable("the server has no address".into(), "check the name of the server"));
        }
        let connections = connections.max(1) as usize;
        let readiness = Readiness::new(connections).map_err(|error| {
            unavailable(format!("no epoll instance: {error}"), "raise the limit of open files (`ulimit -n`)")
        })?;
        let pipelines = protocol.pipelines();
        // Measured: one receive for head and body of a small reply; for a large one as few bytes as hold its head.
        let read_bytes = match (block_bytes < LARGE_BYTES, pipelines) {
            (true, true) => 64 << 10,
            (true, false) => 8 << 10,
            (false, _) => 4 << 10,
        };
        let link = |index: usize| {
            Link::new(Conn::new(index as u32, pipelines, read_bytes), index % settings.addresses.len())
        };
        let mut wire = Self {
            ops: Ops::new(protocol, depth.max(1)),
            links: (0..connections).map(link).collect(),
            settings: settings.clone(),
            clock: clock.clone(),
            readiness,
            pipelines,
            up: 0,
            idle: Vec::with_capacity(connections),
            dirty: Vec::with_capacity(connections),
            left: Vec::with_capacity(connections),
            next: 0,
            next_tick_ns: 0,
            counts: Counts { to: vec![0; settings.addresses.len()], ..Counts::default() },
            failed: None,
            unprivileged: None,
            encryption: None,
        };
        // All of them before the first operation: a dial inside the measured window would be measured.
        wire.establish_all(name)?;
        Ok(wire)
    }

    /// Makes every connection, or fails with the first that cannot be made.
    fn establish_all(&mut self, name: &str) -> Result<(), StoreError> {
        let until_ns = self.clock.now_ns().saturating_add(self.settings.connect_timeout_ns);
        loop {
            let now_ns = self.clock.now_ns();
            if self.failed.is_none() {
                self.dial_again(now_ns);
            }
            if self.failed.is_none() && self.up < self.links.len() && now_ns >= until_ns {
                let address = self.links.iter().find(|link| !link.is_up()).map_or(0, |link| link.address);
                self.failed = Some((self.settings.addresses[address], DialError::TimedOut));
            }
            if let Some((address, error)) = self.failed.take() {
                return Err(error.store_error(name, address, self.settings.tls.as_ref()));
            }
            if self.up == self.links.len() {
                return Ok(());
            }
            let patience_ns = until_ns.saturating_sub(now_ns).min(TICK_NS);
            self.look(patience_ns).map_err(|error| StoreError::Unavailable {
                what: format!("{name}: waiting for its connections"),
                reason: error.to_string(),
                hint: "raise the limit of open files (`ulimit -n`)".into(),
            })?;
        }
    }

    /// Begins an operation; [`Wire::turn`] sends it. Gives the buffer back when as many are under way as may be.
    pub fn start(&mut self, token: u32, task: P::Task, buf: Buf) -> Result<(), Buf> {
        let now_ns = self.clock.now_ns();
        self.ops.start(token, task, buf, now_ns)
    }

    /// Sends what was started and returns when at least `min` operations have ended since the call, or `until_ns` has
    /// come; what ended goes to `done`. `min = 0` only looks. A wait that nothing can end is not begun.
    pub fn turn(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let wanted = done.len().saturating_add(min);
        self.push(done);
        loop {
            let is_over = done.len() >= wanted || (until_ns == u64::MAX && self.ops.in_flight() == 0);
            let patience_ns = if is_over { 0 } else { self.patience_ns(self.clock.now_ns(), until_ns) };
            self.look(patience_ns).map_err(|source| QueueError {
                engine: self.ops.protocol.name(),
                action: "wait for its connections",
                hint: "look for the cause in the system's log; the repetition can be run again".into(),
                source,
            })?;
            let now_ns = self.clock.now_ns();
            self.keep_house(now_ns);
            self.push(done);
            if is_over || done.len() >= wanted || now_ns >= until_ns {
                return Ok(());
            }
        }
    }

    /// Operations started and not yet returned.
    pub fn in_flight(&self) -> u32 {
        self.ops.in_flight() + self.ops.ended.len() as u32
    }

    /// The protocol.
    pub fn protocol(&self) -> &P {
        &self.ops.protocol
    }

    /// The protocol.
    pub fn protocol_mut(&mut self) -> &mut P {
        &mut self.ops.protocol
    }

    /// What was granted and counted so far. `enters` counts waits, sends and receives.
    pub fn report(&self) -> QueueReport {
        let mut traffic = self.counts.traffic;
        for transport in self.links.iter().filter_map(Link::transport) {
            traffic.add(transport.traffic());
        }
        let mut granted = vec![("connections", self.links.len().to_string())];
        granted.extend(self.encryption.clone().map(|tls| ("tls", tls)));
        granted.extend(self.unprivileged.map(|why| ("source_port", why.to_owned())));
        let mut counted: Vec<(String, u64)> = [
            ("connections_opened", self.counts.opened),
            ("connections_lost", self.counts.lost),
            ("messages", self.ops.messages),
            ("wire_sent_bytes", traffic.sent_bytes),
            ("wire_received_bytes", traffic.received_bytes),
            ("wasted_bytes", self.ops.wasted_bytes),
        ]
        .map(|(name, count)| (name.to_owned(), count))
        .into();
        let to = self.settings.addresses.iter().zip(&self.counts.to);
        // By address: with several, the record must show whether the server took them evenly.
        counted.extend(to.map(|(address, count)| (format!("messages_to/{address}"), *count)));
        let enters = self.readiness.calls + traffic.calls;
        let mut report = QueueReport { granted, enters, counted, ..QueueReport::default() };
        self.ops.protocol.report(&mut report);
        report
    }

    /// Ends everything as timed out. The sockets are closed: nobody writes to a buffer any more.
    pub(crate) fn give_up(&mut self, done: &mut Vec<Completion>) {
        // First the sockets, then the operations: a buffer that is handed back is no one's to write to.
        self.links.clear();
        let now_ns = self.clock.now_ns();
        self.ops.fail_all(OpError::from_errno(libc::ETIMEDOUT), now_ns);
        done.append(&mut self.ops.ended);
    }

    /// Sends whatever can be sent and hands out what has ended.
    pub(crate) fn push(&mut self, done: &mut Vec<Completion>) {
        self.write_waiting();
        while let Some(index) = self.dirty.pop() {
            self.links[index].dirty = false;
            self.flush(index);
        }
        done.append(&mut self.ops.ended);
    }

    fn write_waiting(&mut self) {
        if !self.ops.anybody_waits() || self.up == 0 {
            return;
        }
        let now_ns = self.clock.now_ns();
        while self.ops.anybody_waits() {
            let Some(index) = self.choose() else { return };
            let link = &mut self.links[index];
            if !link.conn.write(&mut self.ops, now_ns) {
                continue;
            }
            self.counts.to[link.address] += 1;
            if !link.dirty {
                link.dirty = true;
                self.dirty.push(index);
            }
            if self.pipelines {
                self.next = index + 1;
            } else {
                self.next = link.address + 1;
                if let Some(at) = self.idle.iter().rposition(|idle| *idle == index) {
                    self.idle.remove(at);
                }
            }
        }
    }

    /// The connection for the next message: the last one used among the idle ones to the address whose turn it is, or,
    /// where messages share connections, the next in turn among those with the fewest under way.
    fn choose(&self) -> Option<usize> {
        if !self.pipelines {
            let addresses = self.settings.addresses.len();
            // The one used last: its window of congestion is open, and its state is in the cache.
            let warmest = |address: usize| {
                self.idle.iter().rev().copied().find(|index| self.links[*index].address == address)
            };
            return (0..addresses).find_map(|step| warmest((self.next + step) % addresses));
        }
        let count = self.links.len();
        (0..count)
            .map(|step| (self.next + step) % count)
            .filter(|index| self.links[*index].is_up())
            .min_by_key(|index| self.links[*index].conn.under_way)
    }

    /// Time-outs and connections to be made, where they are due.
    fn keep_house(&mut self, now_ns: u64) {
        if self.up < self.links.len() {
            self.dial_again(now_ns);
        }
        if now_ns >= self.next_tick_ns {
            self.next_tick_ns = now_ns.saturating_add(TICK_NS);
            self.give_up_late(now_ns);
        }
    }

    /// How long nothing but a socket can matter.
    fn patience_ns(&self, now_ns: u64, until_ns: u64) -> u64 {
        let mut at_ns = until_ns;
        if self.ops.under_way > 0 {
            // Time-outs are looked for between waits, so a wait must not outlast the next look.
            at_ns = at_ns.min(self.next_tick_ns);
        }
        if self.up < self.links.len() {
            at_ns = at_ns.min(now_ns.saturating_add(TICK_NS));
            for link in &self.links {
                if let State::Down { retry_ns } = link.state {
                    at_ns = at_ns.min(retry_ns);
                }
            }
        }
        at_ns.saturating_sub(now_ns)
    }
}
