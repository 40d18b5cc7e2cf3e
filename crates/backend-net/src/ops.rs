//! Operations under way and the messages that they are made of. No sockets.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};

use backend::{Buf, Completion, ErrorKind, FilePieces, OpError, Stamps};

use crate::{Fate, Mark, Message, Outcome, Payload, Phases, Protocol};

/// Bytes of the buffer for bodies whose operation has failed already.
// Read and thrown away rather than closed: the connection is good, and another one costs round trips.
const SINK_BYTES: usize = 64 << 10;

/// An operation under way.
struct Exchange<T> {
    token: u32,
    task: T,
    buf: Buf,
    stamps: Stamps,
    /// Marks of the phases that have happened.
    reached: usize,
    /// Messages written so far.
    written: u32,
    under_way: u32,
    /// Whether it is among those that wait for a connection.
    waits: bool,
    result: Option<Result<u64, OpError>>,
    received_bytes: u64,
}

/// A place for a message under way.
#[derive(Clone, Copy, Default)]
pub(crate) struct MessageSlot {
    sequence: u32,
    pub(crate) busy: bool,
    pub(crate) connection: u32,
    pub(crate) handed_ns: u64,
    exchange: u32,
    part: u32,
    /// Number among the messages of its operation.
    number: u32,
    sent: bool,
}

/// A message that was written.
pub(crate) struct Written {
    pub(crate) slot: u32,
    pub(crate) exchange: u32,
    pub(crate) message: Message,
}

/// All operations of an engine.
pub(crate) struct Ops<P: Protocol> {
    pub(crate) protocol: P,
    phases: Phases,
    parts_max: u32,
    exchanges: Vec<Option<Exchange<P::Task>>>,
    free: Vec<u32>,
    slots: Vec<MessageSlot>,
    /// First in, first out, so that numbers are used up evenly.
    free_slots: VecDeque<u32>,
    slot_bits: u32,
    waiting: VecDeque<u32>,
    pub(crate) ended: Vec<Completion>,
    sink: Vec<u8>,
    pub(crate) under_way: u32,
    pub(crate) messages: u64,
    pub(crate) wasted_bytes: u64,
}

impl<P: Protocol> Ops<P> {
    pub(crate) fn new(protocol: P, depth: u32) -> Self {
        // A number that another process used a moment ago may still be known to the server.
        Self::numbered_from(RandomState::new().build_hasher().finish() as u32, protocol, depth)
    }

    /// The same whose messages are numbered from `sequence`.
    pub(crate) fn numbered_from(sequence: u32, protocol: P, depth: u32) -> Self {
        let parts_max = protocol.parts_max().max(1);
        let slots = depth.saturating_mul(parts_max).max(1);
        Self {
            phases: protocol.phases(),
            protocol,
            parts_max,
            exchanges: (0..depth).map(|_| None).collect(),
            free: (0..depth).rev().collect(),
            slots: vec![MessageSlot { sequence, ..MessageSlot::default() }; slots as usize],
            free_slots: (0..slots).collect(),
            slot_bits: u32::BITS - (slots - 1).leading_zeros(),
            waiting: VecDeque::with_capacity(depth as usize),
            ended: Vec::with_capacity(depth as usize),
            sink: vec![0; SINK_BYTES],
            under_way: 0,
            messages: 0,
            wasted_bytes: 0,
        }
    }

    /// Operations begun and not yet ended.
    pub(crate) fn in_flight(&self) -> u32 {
        (self.exchanges.len() - self.free.len()) as u32
    }

    pub(crate) fn room(&self) -> usize {
        self.free.len()
    }

    pub(crate) fn slots(&self) -> &[MessageSlot] {
        &self.slots
    }

    pub(crate) fn anybody_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the end of a phase is when a message was sent: only then is that moment asked for.
    pub(crate) fn stamps_sending(&self) -> bool {
        self.phases.marks.contains(&Mark::Sent)
    }

    /// Begins an operation; gives its buffer back when there is no room.
    pub(crate) fn start(&mut self, token: u32, task: P::Task, buf: Buf, now_ns: u64) -> Result<(), Buf> {
        let Some(exchange) = self.free.pop() else { return Err(buf) };
        self.exchanges[exchange as usize] = Some(Exchange {
            token,
            task,
            buf,
            stamps: Stamps { begun_ns: now_ns, ..Stamps::default() },
            reached: 0,
            written: 0,
            under_way: 0,
            waits: true,
            result: None,
            received_bytes: 0,
        });
        self.waiting.push_back(exchange);
        Ok(())
    }

    /// Has the first operation that waits write its next message for `connection`. It stays the first while it may
    /// have more; `None` when nobody waits, or the first has nothing to send for now and waits no more.
    pub(crate) fn write_next(&mut self, connection: u32, out: &mut Vec<u8>, now_ns: u64) -> Option<Written> {
        let index = self.waiting.front().copied()?;
        let (Some(exchange), Some(place)) =
            (self.exchanges[index as usize].as_mut(), self.free_slots.front().copied())
        else {
            self.waiting.pop_front();
            if let Some(exchange) = self.exchanges[index as usize].as_mut() {
                exchange.waits = false;
            }
            return None;
        };
        let slot = &mut self.slots[place as usize];
        let before = out.len();
        let message = if exchange.under_way < self.parts_max {
            let id = numbered(slot.sequence, self.slot_bits, place);
            self.protocol.next(&mut exchange.task, id, out)
        } else {
            None
        };
        let Some(message) = message else {
            out.truncate(before);
            exchange.waits = false;
            self.waiting.pop_front();
            if exchange.under_way == 0 {
                // Nothing to send and nothing awaited: it would stay for ever.
                exchange.result = Some(Err(OpError { kind: ErrorKind::Protocol, code: 0 }));
                self.complete(index, now_ns);
            }
            return None;
        };
        match &message.payload {
            // As an earlier attempt left it, the buffer has the number of a later piece.
            Some(Payload::Object(pieces)) => pieces.number(0, exchange.buf.as_mut_slice()),
            // Once for all of its parts: what was sent in part must stay as it is.
            Some(Payload::PieceOf { pieces, number, part }) if part.start == 0 => {
                pieces.number(*number, exchange.buf.as_mut_slice());
            }
            _ => {}
        }
        *slot = MessageSlot {
            sequence: slot.sequence,
            busy: true,
            connection,
            handed_ns: now_ns,
            exchange: index,
            part: message.part,
            number: exchange.written,
            sent: false,
        };
        exchange.written += 1;
        exchange.under_way += 1;
        self.free_slots.pop_front();
        self.under_way += 1;
        self.messages += 1;
        Some(Written { slot: place, exchange: index, message })
    }

    /// The message of number `id`, if it is under way on `connection`.
    pub(crate) fn find(&self, id: u32, connection: u32) -> Option<u32> {
        let place = id & ((1_u64 << self.slot_bits) - 1) as u32;
        // The place is in the low bits, so a reply finds its message without a hash map; the sequence above
        // it tells a late reply to an earlier message apart.
        let slot = self.slots.get(place as usize)?;
        let known = slot.busy
            && slot.connection == connection
            && numbered(slot.sequence, self.slot_bits, place) == id;
        known.then_some(place)
    }

    fn exchange_of(&mut self, slot: u32) -> (MessageSlot, &mut P, &mut Exchange<P::Task>) {
        let slot = self.slots[slot as usize];
        let exchange = self.exchanges[slot.exchange as usize].as_mut();
        (slot, &mut self.protocol, exchange.expect("a message under way keeps its operation"))
    }

    pub(crate) fn head(&mut self, slot: u32, bytes: &[u8]) -> crate::Head {
        let (slot, protocol, exchange) = self.exchange_of(slot);
        protocol.head(&mut exchange.task, slot.part, bytes)
    }

    pub(crate) fn text(&mut self, slot: u32, bytes: &[u8]) -> crate::Text {
        let (slot, protocol, exchange) = self.exchange_of(slot);
        protocol.text(&mut exchange.task, slot.part, bytes)
    }

    /// Room of the buffer of a message's operation.
    pub(crate) fn buffer_bytes(&mut self, slot: u32) -> usize {
        self.exchange_of(slot).2.buf.as_slice().len()
    }

    /// Where the bytes of a body go: `range` of the buffer, or the sink if the operation has failed already.
    pub(crate) fn body(&mut self, slot: u32, range: std::ops::Range<usize>) -> &mut [u8] {
        let exchange = self.slots[slot as usize].exchange as usize;
        match self.exchanges[exchange].as_mut() {
            Some(exchange) if !matches!(exchange.result, Some(Err(_))) => {
                &mut exchange.buf.as_mut_slice()[range]
            }
            _ => {
                let len = range.len().min(SINK_BYTES);
                &mut self.sink[..len]
            }
        }
    }

    /// Bytes of the buffer that are sent.
    pub(crate) fn payload(&self, exchange: u32, range: std::ops::Range<usize>) -> &[u8] {
        self.exchanges[exchange as usize].as_ref().map_or(&[], |exchange| &exchange.buf.as_slice()[range])
    }

    /// Makes the buffer of an operation that piece of its object.
    pub(crate) fn number(&mut self, exchange: u32, pieces: FilePieces, number: u64) {
        if let Some(exchange) = self.exchanges[exchange as usize].as_mut() {
            pieces.number(number, exchange.buf.as_mut_slice());
        }
    }

    /// Bytes of data came for a message.
    pub(crate) fn received(&mut self, slot: u32, bytes: u64, now_ns: u64) {
        self.exchange_of(slot).2.received_bytes += bytes;
        self.mark(slot, Mark::FirstByte, now_ns);
    }

    /// The message was handed to the kernel in full.
    pub(crate) fn sent(&mut self, slot: u32, now_ns: u64) {
        self.slots[slot as usize].sent = true;
        if self.slots[slot as usize].number == 0 {
            self.mark(slot, Mark::Sent, now_ns);
        }
    }

    /// Something happened that may end a phase; what was passed over counts with it.
    pub(crate) fn mark(&mut self, slot: u32, mark: Mark, now_ns: u64) {
        let marks = self.phases.marks;
        let exchange = self.exchange_of(slot).2;
        if let Some(at) = marks.iter().skip(exchange.reached).position(|other| *other == mark) {
            for _ in 0..=at {
                exchange.stamps.phase_ns[exchange.reached] = now_ns;
                exchange.reached += 1;
            }
        }
    }

    /// The reply to a message was read to its end.
    pub(crate) fn replied(&mut self, slot: u32, now_ns: u64) -> Fate {
        let number = self.slots[slot as usize].number;
        let sent = self.slots[slot as usize].sent;
        self.mark(slot, Mark::Reply(number), now_ns);
        let (message, protocol, exchange) = self.exchange_of(slot);
        let mut reply = protocol.ended(&mut exchange.task, message.part);
        if let Some(stage) = reply.stage {
            self.mark(slot, Mark::Stage(stage), now_ns);
        }
        if !sent {
            // What is left of a request that was answered early would be taken for the next one. And a server that has
            // not had the whole request can refuse it, but what it delivers was asked by somebody else.
            reply.fate = Fate::Close;
            if matches!(reply.outcome, Outcome::Ended(Ok(_)) | Outcome::Goes) {
                reply.outcome = Outcome::Ended(Err(OpError { kind: ErrorKind::Protocol, code: 0 }));
            }
        }
        self.release(slot);
        self.follow(message.exchange, reply.outcome, now_ns);
        reply.fate
    }

    /// A message was lost, or got no reply in time.
    pub(crate) fn lost(&mut self, slot: u32, error: OpError, now_ns: u64) {
        let (message, protocol, exchange) = self.exchange_of(slot);
        let outcome = protocol.lost(&mut exchange.task, message.part, error);
        self.release(slot);
        self.follow(message.exchange, outcome, now_ns);
    }

    /// Ends whatever waits for a connection.
    pub(crate) fn fail_waiting(&mut self, error: OpError, now_ns: u64) {
        for _ in 0..self.waiting.len() {
            let Some(index) = self.waiting.pop_front() else { break };
            let Some(exchange) = self.exchanges[index as usize].as_mut() else { continue };
            exchange.waits = false;
            exchange.result = Some(Err(error));
            if exchange.under_way == 0 {
                self.complete(index, now_ns);
            }
        }
    }

    /// Ends everything; no message is under way any more.
    pub(crate) fn fail_all(&mut self, error: OpError, now_ns: u64) {
        self.waiting.clear();
        for index in 0..self.exchanges.len() {
            if let Some(exchange) = self.exchanges[index].as_mut() {
                exchange.waits = false;
                exchange.result = Some(Err(error));
                self.complete(index as u32, now_ns);
            }
        }
    }

    fn release(&mut self, place: u32) {
        let slot = &mut self.slots[place as usize];
        slot.busy = false;
        // A server may keep calls by their number to answer a repeated one: one was measured to drop repeats
        // for 60 s without a reply.
        slot.sequence = slot.sequence.wrapping_add(1);
        self.free_slots.push_back(place);
        self.under_way -= 1;
        if let Some(exchange) = self.exchanges[slot.exchange as usize].as_mut() {
            exchange.under_way -= 1;
        }
    }

    fn follow(&mut self, index: u32, outcome: Outcome, now_ns: u64) {
        let Some(exchange) = self.exchanges[index as usize].as_mut() else { return };
        if let Outcome::Ended(result) = outcome
            && (exchange.result.is_none() || result.is_err() && matches!(exchange.result, Some(Ok(_))))
        {
            // The first error is kept: those of other parts are often its consequence. An error takes the
            // place of a success, as an operation is good only if all its parts are.
            exchange.result = Some(result);
        }
        if exchange.result.is_some() {
            if exchange.under_way == 0 {
                self.complete(index, now_ns);
            } else if exchange.waits {
                exchange.waits = false;
                self.waiting.retain(|other| *other != index);
            }
        } else if !exchange.waits {
            exchange.waits = true;
            self.waiting.push_back(index);
        }
    }

    fn complete(&mut self, index: u32, now_ns: u64) {
        let Some(mut exchange) = self.exchanges[index as usize].take() else { return };
        if exchange.waits {
            self.waiting.retain(|other| *other != index);
        }
        let error = OpError { kind: ErrorKind::Protocol, code: 0 };
        let result = exchange.result.unwrap_or(Err(error));
        let stamps = &mut exchange.stamps;
        if result.is_ok() {
            // Phases that were passed over (a reply without a body) end with the operation, so that they add
            // up to it.
            stamps.phase_ns[exchange.reached..self.phases.marks.len()].fill(now_ns);
        } else {
            // Counted apart: they went over the wire, and are no goodput.
            self.wasted_bytes += exchange.received_bytes;
        }
        stamps.done_ns = now_ns;
        self.free.push(index);
        self.ended.push(Completion {
            token: exchange.token,
            buf: exchange.buf,
            result,
            stamps: exchange.stamps,
        });
    }
}

/// The number of a message: the sequence of its place above the place itself. Repeats after 2^32 messages.
fn numbered(sequence: u32, slot_bits: u32, place: u32) -> u32 {
    sequence.checked_shl(slot_bits).unwrap_or(0) | place
}
