//! What a connection has yet to send.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;

use backend::FilePieces;

use crate::ops::{Ops, Written};
use crate::{Payload, Protocol};

/// Slices of one send, at most.
pub(crate) const SLICES_MAX: usize = 32;

/// Sent bytes that are kept in front of unsent ones, at most.
const KEPT_BYTES: usize = 64 << 10;

/// Where the bytes of a piece are.
enum Source {
    /// The next of `Outbox::bytes`.
    Written,
    /// The buffer of an operation.
    Payload { exchange: u32, at: usize },
    /// The same buffer again and again, from `at` on in the piece of this number.
    Object { exchange: u32, pieces: FilePieces, number: u64, at: usize },
    /// Bytes of the protocol (padding).
    Fixed(&'static [u8]),
}

struct Piece {
    source: Source,
    left: usize,
    /// The message that ends with it.
    ends: Option<u32>,
}

impl Piece {
    /// Whether nothing of it comes behind what is in the buffer.
    fn is_last(&self) -> bool {
        !matches!(self.source, Source::Object { pieces, number, .. } if number + 1 < pieces.count())
    }

    /// Goes on to the next piece of its object, where there is one; whether it did.
    fn goes_on<P: Protocol>(&mut self, ops: &mut Ops<P>) -> bool {
        if self.is_last() {
            return false;
        }
        let Source::Object { exchange, pieces, number, at } = &mut self.source else { return false };
        (*number, *at) = (*number + 1, 0);
        self.left = pieces.get(*number).len as usize;
        // Here and not when it is sent: what was sent in part must stay as it is.
        ops.number(*exchange, *pieces, *number);
        true
    }
}

/// Requests in order: bytes written by a protocol, payloads where they lie, padding.
#[derive(Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    at: usize,
    pieces: VecDeque<Piece>,
    /// Messages of which all bytes were taken.
    pub(crate) taken: Vec<u32>,
}

impl Outbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Where a protocol writes; [`Outbox::push`] takes what it wrote.
    pub(crate) fn writing(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Queues a message, of which the protocol has just written `written_bytes`.
    pub(crate) fn push(&mut self, written_bytes: usize, written: &Written) {
        let Written { slot, exchange, message } = written;
        self.pieces.push_back(Piece { source: Source::Written, left: written_bytes, ends: None });
        let exchange = *exchange;
        match message.payload.clone() {
            Some(Payload::Part(part) | Payload::PieceOf { part, .. }) => {
                let Range { start, end } = part;
                let source = Source::Payload { exchange, at: start };
                self.pieces.push_back(Piece { source, left: end.saturating_sub(start), ends: None });
            }
            Some(Payload::Object(pieces)) => {
                let source = Source::Object { exchange, pieces, number: 0, at: 0 };
                let left = pieces.get(0).len as usize;
                self.pieces.push_back(Piece { source, left, ends: None });
            }
            None => {}
        }
        if !message.trailer.is_empty() {
            let source = Source::Fixed(message.trailer);
            self.pieces.push_back(Piece { source, left: message.trailer.len(), ends: None });
        }
        if let Some(last) = self.pieces.back_mut() {
            last.ends = Some(*slot);
        }
    }

    /// The first unsent bytes; how many slices they are.
    pub(crate) fn slices<'a, P: Protocol>(
        &'a self,
        ops: &'a Ops<P>,
        into: &mut [IoSlice<'a>; SLICES_MAX],
    ) -> usize {
        let (mut run, mut end, mut count) = (self.at, self.at, 0);
        for piece in &self.pieces {
            // A payload may need a second slice, for what was written before it.
            if count + 2 > SLICES_MAX {
                break;
            }
            let bytes = match piece.source {
                Source::Written => {
                    end += piece.left;
                    continue;
                }
                Source::Payload { exchange, at } | Source::Object { exchange, at, .. } => {
                    ops.payload(exchange, at..at + piece.left)
                }
                Source::Fixed(bytes) => &bytes[bytes.len() - piece.left..],
            };
            if end > run {
                into[count] = IoSlice::new(&self.bytes[run..end]);
                count += 1;
                run = end;
            }
            into[count] = IoSlice::new(bytes);
            count += 1;
            // What follows is not in the buffer yet.
            if !piece.is_last() {
                return count;
            }
        }
        if end > run && count < SLICES_MAX {
            into[count] = IoSlice::new(&self.bytes[run..end]);
            count += 1;
        }
        count
    }

    /// `bytes` of it were taken.
    pub(crate) fn advance<P: Protocol>(&mut self, mut bytes: usize, ops: &mut Ops<P>) {
        while let Some(piece) = self.pieces.front_mut() {
            let step = bytes.min(piece.left);
            match &mut piece.source {
                Source::Written => self.at += step,
                Source::Payload { at, .. } | Source::Object { at, .. } => *at += step,
                Source::Fixed(_) => {}
            }
            piece.left -= step;
            bytes -= step;
            if piece.left > 0 {
                break;
            }
            if piece.goes_on(ops) {
                continue;
            }
            self.taken.extend(piece.ends);
            self.pieces.pop_front();
        }
        if self.pieces.is_empty() {
            self.bytes.clear();
            self.at = 0;
        } else if self.at > KEPT_BYTES {
            // A connection that is never empty would otherwise keep all that it ever sent.
            self.bytes.drain(..self.at);
            self.at = 0;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.at = 0;
        self.pieces.clear();
        self.taken.clear();
    }
}
