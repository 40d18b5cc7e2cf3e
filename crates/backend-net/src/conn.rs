//! A connection without its socket: bytes in, bytes out.

use backend::{ErrorKind, OpError};

use crate::ops::{MessageSlot, Ops};
use crate::outbox::Outbox;
use crate::{Fate, Frame, Head, Mark, Protocol, Text};

/// A connection whose head is longer is given up.
// A length in a head is a claim of the server. A client library that believed a fragment header of 0xFFFFFFFF
// was seen to allocate 2 GiB and wait for ever.
const HEAD_BYTES_MAX: usize = 256 << 10;

/// A body of so many bytes is waited for in pieces, and not for whatever comes.
// Beside libnfs over four connections, 1 MiB at depth 8: 0.98 of its throughput for 1.02 of its processor time, where waking
// up for whatever came took 0.96 and 1.05 on a quiet machine, 0.88 and 1.26 on a busy one. Pieces of 128 KiB, 512 KiB and 1
// MiB were worse, and so were pieces of a body of 128 KiB, which comes in two or three segments.
const BODY_IN_PIECES_BYTES: u64 = 2 * PIECE_BYTES;
const PIECE_BYTES: u64 = 256 << 10;

/// Why a connection is given up, for the messages on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The same for all.
    All(OpError),
    /// The error is that of one message; for the others the connection ended.
    One { slot: u32, error: OpError },
    /// Messages handed over until then got no reply in time; for the others the connection ended.
    Late { handed_until_ns: u64 },
}

impl Loss {
    pub(crate) fn protocol() -> Self {
        Self::All(OpError { kind: ErrorKind::Protocol, code: 0 })
    }

    pub(crate) fn reset() -> Self {
        Self::All(OpError::from_errno(libc::ECONNRESET))
    }

    pub(crate) fn error_of(self, place: u32, slot: &MessageSlot) -> OpError {
        match self {
            Self::All(error) => error,
            Self::One { slot: one, error } if one == place => error,
            Self::Late { handed_until_ns } if slot.handed_ns <= handed_until_ns => {
                OpError::from_errno(libc::ETIMEDOUT)
            }
            Self::One { .. } | Self::Late { .. } => OpError::from_errno(libc::ECONNRESET),
        }
    }
}

/// What the next bytes are.
#[derive(Clone, Copy)]
enum Reading {
    Head,
    Data(Body),
    Skip { slot: u32, left: usize },
    Text { slot: u32 },
}

#[derive(Clone, Copy)]
struct Body {
    slot: u32,
    at: usize,
    wrap: usize,
    left: u64,
    trailer: usize,
    /// All of it.
    bytes: u64,
}

/// The outcome of one step through the bytes at hand.
enum Step {
    Again,
    Wait,
    Lost(Loss),
}

/// The state of one connection.
pub(crate) struct Conn {
    index: u32,
    pipelines: bool,
    input: Input,
    reading: Reading,
    /// Fewer unread bytes than this are not looked at.
    need: usize,
    /// The message whose reply begins the unread bytes.
    framed: Option<u32>,
    /// The message under way, where there is one at a time.
    current: Option<u32>,
    /// Bytes of a body that [`Conn::rooms`] offered room for.
    offered: usize,
    pub(crate) out: Outbox,
    pub(crate) under_way: u32,
    /// Whether a reply was read to its end.
    pub(crate) answered: bool,
}

impl Conn {
    /// `read_bytes`: what is asked from a socket at once while a head is expected.
    pub(crate) fn new(index: u32, pipelines: bool, read_bytes: usize) -> Self {
        Self {
            index,
            pipelines,
            input: Input::new(read_bytes),
            reading: Reading::Head,
            need: 1,
            framed: None,
            current: None,
            offered: 0,
            out: Outbox::default(),
            under_way: 0,
            answered: false,
        }
    }

    /// Forgets everything: the next bytes are those of another connection.
    pub(crate) fn clear(&mut self) {
        self.input.clear();
        self.out.clear();
        self.reading = Reading::Head;
        (self.need, self.framed, self.current, self.offered) = (1, None, None, 0);
        (self.under_way, self.answered) = (0, false);
    }

    /// Whether it takes another message.
    pub(crate) fn takes_more(&self) -> bool {
        self.pipelines || self.under_way == 0
    }

    /// Lets the first operation that waits write a message. Whether it wrote one.
    pub(crate) fn write<P: Protocol>(&mut self, ops: &mut Ops<P>, now_ns: u64) -> bool {
        let before = self.out.writing().len();
        let Some(written) = ops.write_next(self.index, self.out.writing(), now_ns) else { return false };
        let written_bytes = self.out.writing().len() - before;
        self.out.push(written_bytes, &written);
        self.under_way += 1;
        self.current = Some(written.slot);
        true
    }

    /// Where the next bytes go: first the one slice, then the other. At most one of them is empty.
    pub(crate) fn rooms<'a, P: Protocol>(&'a mut self, ops: &'a mut Ops<P>) -> (&'a mut [u8], &'a mut [u8]) {
        let Reading::Data(data) = self.reading else {
            self.offered = 0;
            return (&mut [], self.input.spare(self.need));
        };
        let end = data.wrap.min(data.at.saturating_add(usize::try_from(data.left).unwrap_or(usize::MAX)));
        let body = ops.body(data.slot, data.at..end);
        self.offered = body.len();
        // The head of the next reply costs no call of its own where replies may follow each other.
        // Offered only with the last part of a body: bytes behind an unfinished one belong to it.
        let last = self.offered as u64 == data.left;
        (body, if last && self.pipelines { self.input.spare(1) } else { &mut [] })
    }

    /// Takes `bytes` that were put where [`Conn::rooms`] said; an error says why the connection must be given up.
    pub(crate) fn filled<P: Protocol>(
        &mut self,
        bytes: usize,
        ops: &mut Ops<P>,
        now_ns: u64,
    ) -> Result<(), Loss> {
        let body = bytes.min(self.offered);
        self.offered = 0;
        if body > 0 {
            self.advance(body, ops, now_ns);
        }
        self.input.filled(bytes - body);
        loop {
            match self.step(ops, now_ns) {
                Step::Again => {}
                Step::Wait => return Ok(()),
                Step::Lost(loss) => return Err(loss),
            }
        }
    }

    /// Bytes that are sure to come before anything has to be done: of a large body that has begun, its next piece.
    pub(crate) fn awaited_bytes(&self) -> usize {
        match self.reading {
            // Not before it has begun: its first byte may be the end of a phase.
            Reading::Data(Body { left, bytes, .. }) if left < bytes && bytes >= BODY_IN_PIECES_BYTES => {
                left.clamp(1, PIECE_BYTES) as usize
            }
            _ => 1,
        }
    }

    /// What the end of the stream means here.
    pub(crate) fn at_end(&self) -> Loss {
        match self.reading {
            // Between replies nothing was cut. A server may close an idle connection at any time.
            Reading::Head => Loss::reset(),
            Reading::Data(Body { slot, .. }) | Reading::Skip { slot, .. } | Reading::Text { slot } => {
                Loss::One { slot, error: OpError { kind: ErrorKind::Truncated, code: 0 } }
            }
        }
    }

    fn step<P: Protocol>(&mut self, ops: &mut Ops<P>, now_ns: u64) -> Step {
        match self.reading {
            Reading::Head => self.head(ops, now_ns),
            Reading::Data(data) if data.left == 0 => {
                self.reading = Reading::Skip { slot: data.slot, left: data.trailer };
                Step::Again
            }
            Reading::Data(data) => self.copy(data, ops, now_ns),
            Reading::Skip { slot, left } => {
                let used = left.min(self.input.unread().len());
                self.input.used(used);
                self.reading = Reading::Skip { slot, left: left - used };
                if left > used { Step::Wait } else { self.finish(slot, ops, now_ns) }
            }
            Reading::Text { slot } => self.text(slot, ops, now_ns),
        }
    }

    fn head<P: Protocol>(&mut self, ops: &mut Ops<P>, now_ns: u64) -> Step {
        let bytes = self.input.unread();
        let len = bytes.len();
        if len == 0 {
            return Step::Wait;
        }
        // Bytes that nobody asked for: whatever follows on this connection cannot be told from a reply.
        if self.under_way == 0 {
            return Step::Lost(Loss::protocol());
        }
        if len < self.need {
            return Step::Wait;
        }
        // Kept from the call before, where a head comes in pieces: a frame is looked for once.
        let slot = match self.framed {
            Some(slot) => slot,
            None => match ops.protocol.frame(bytes) {
                Frame::Need(need) => return self.wants(need, len),
                Frame::Broken(error) => return Step::Lost(Loss::All(error)),
                Frame::Reply { id } => {
                    let slot = match id {
                        Some(id) => ops.find(id, self.index),
                        // Without a number, replies that may come in any order cannot be told apart.
                        None if self.pipelines => None,
                        None => self.current,
                    };
                    let Some(slot) = slot else { return Step::Lost(Loss::protocol()) };
                    self.framed = Some(slot);
                    slot
                }
            },
        };
        let (head_bytes, reading) = match ops.head(slot, bytes) {
            Head::Need(need) => return self.wants(need, len),
            Head::Broken(error) => return Step::Lost(Loss::One { slot, error }),
            Head::Text { head_bytes } => (head_bytes, Reading::Text { slot }),
            Head::Data { head_bytes, body_bytes, place, trailer_bytes } => {
                // The protocol has computed this from what the server sent; nothing is written outside of the
                // buffer even if it is wrong.
                let fits = place.wrap <= ops.buffer_bytes(slot) && place.at < place.wrap;
                if body_bytes > 0 && !fits {
                    return Step::Lost(Loss::protocol());
                }
                let trailer = trailer_bytes as usize;
                let data = Body {
                    slot,
                    at: place.at,
                    wrap: place.wrap,
                    left: body_bytes,
                    trailer,
                    bytes: body_bytes,
                };
                (head_bytes, Reading::Data(data))
            }
        };
        if head_bytes > len {
            return Step::Lost(Loss::protocol());
        }
        self.input.used(head_bytes);
        ops.mark(slot, Mark::Head, now_ns);
        self.reading = reading;
        Step::Again
    }

    /// More bytes are needed than the `have` at hand.
    fn wants(&mut self, need: usize, have: usize) -> Step {
        self.need = need.max(have + 1);
        if self.need > HEAD_BYTES_MAX { Step::Lost(Loss::protocol()) } else { Step::Wait }
    }

    fn copy<P: Protocol>(&mut self, data: Body, ops: &mut Ops<P>, now_ns: u64) -> Step {
        let unread = self.input.unread();
        let room = ops.body(data.slot, data.at..data.wrap);
        let bytes = room.len().min(unread.len()).min(usize::try_from(data.left).unwrap_or(usize::MAX));
        if bytes == 0 {
            return Step::Wait;
        }
        // Small bodies come in the same receive as their heads. To copy 4 KiB costs less than a second call
        // into the kernel.
        room[..bytes].copy_from_slice(&unread[..bytes]);
        self.input.used(bytes);
        self.advance(bytes, ops, now_ns);
        Step::Again
    }

    /// `bytes` of the body are where they belong.
    fn advance<P: Protocol>(&mut self, bytes: usize, ops: &mut Ops<P>, now_ns: u64) {
        if let Reading::Data(data) = &mut self.reading {
            data.left -= bytes as u64;
            data.at += bytes;
            if data.at >= data.wrap {
                data.at = 0;
            }
            ops.received(data.slot, bytes as u64, now_ns);
        }
    }

    fn text<P: Protocol>(&mut self, slot: u32, ops: &mut Ops<P>, now_ns: u64) -> Step {
        let len = self.input.unread().len();
        match ops.text(slot, self.input.unread()) {
            Text::Broken(error) => Step::Lost(Loss::One { slot, error }),
            Text::Ended { used } | Text::More { used } if used > len => Step::Lost(Loss::protocol()),
            Text::Ended { used } => {
                self.input.used(used);
                self.finish(slot, ops, now_ns)
            }
            Text::More { used } => {
                self.input.used(used);
                if used > 0 && used < len {
                    return Step::Again;
                }
                // A protocol that uses nothing waits for more; a server could let it wait for any amount of
                // memory.
                if used == 0 && len >= HEAD_BYTES_MAX {
                    return Step::Lost(Loss::protocol());
                }
                self.need = 1;
                Step::Wait
            }
        }
    }

    fn finish<P: Protocol>(&mut self, slot: u32, ops: &mut Ops<P>, now_ns: u64) -> Step {
        self.reading = Reading::Head;
        (self.need, self.framed, self.current) = (1, None, None);
        self.under_way -= 1;
        self.answered = true;
        match ops.replied(slot, now_ns) {
            Fate::Keep => Step::Again,
            // Others that were sent on it get no reply, and are counted as connections reset.
            Fate::Close => Step::Lost(Loss::reset()),
        }
    }

    /// Bytes that heads take in memory.
    #[cfg(test)]
    pub(crate) fn head_capacity(&self) -> usize {
        self.input.capacity()
    }
}

/// Bytes that were read and not yet used: heads, and whatever came with them. The buffer grows when a head needs it.
struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes asked from a socket at once, at most, while no more are needed.
    read_bytes: usize,
}

impl Input {
    fn new(read_bytes: usize) -> Self {
        Self { bytes: vec![0; read_bytes], start: 0, end: 0, read_bytes }
    }

    fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Where more goes, at least one byte, and as much as makes [`Input::unread`] `need` bytes long.
    fn spare(&mut self, need: usize) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let need = need.max(self.end - self.start + 1).min(HEAD_BYTES_MAX);
        if self.bytes.len() - self.start < need && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() < need {
            self.bytes.resize(need.next_power_of_two(), 0);
        }
        let until = self.bytes.len().min(self.end + self.read_bytes.max(need));
        &mut self.bytes[self.end..until]
    }

    /// So many bytes were put where [`Input::spare`] said.
    fn filled(&mut self, bytes: usize) {
        self.end = (self.end + bytes).min(self.bytes.len());
    }

    fn used(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
    }

    fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests;
