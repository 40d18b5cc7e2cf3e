//! What a connection has yet to send.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;

use crate::ops::Ops;
use crate::{Message, Protocol};

/// Slices of one send, at most.
pub(crate) const SLICES_MAX: usize = 32;

/// Sent bytes that are kept in front of unsent ones, at most.
const KEPT_BYTES: usize = 64 << 10;

enum What {
    /// Of `Outbox::bytes`, in order.
    Written,
    /// Of the buffer of an operation.
    Payload { exchange: u32, at: usize },
    /// Of the protocol's own.
    Fixed(&'static [u8]),
}

struct Piece {
    what: What,
    left: usize,
    /// The message that ends with it.
    ends: Option<u32>,
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

    pub(crate) fn push(&mut self, written_bytes: usize, exchange: u32, message: &Message, slot: u32) {
        self.pieces.push_back(Piece { what: What::Written, left: written_bytes, ends: None });
        if let Some(Range { start, end }) = message.payload.clone() {
            let what = What::Payload { exchange, at: start };
            self.pieces.push_back(Piece { what, left: end.saturating_sub(start), ends: None });
        }
        if !message.trailer.is_empty() {
            let what = What::Fixed(message.trailer);
            self.pieces.push_back(Piece { what, left: message.trailer.len(), ends: None });
        }
        if let Some(last) = self.pieces.back_mut() {
            last.ends = Some(slot);
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
            if count + 2 > SLICES_MAX {
                break;
            }
            let bytes = match piece.what {
                What::Written => {
                    end += piece.left;
                    continue;
                }
                What::Payload { exchange, at } => ops.payload(exchange, at..at + piece.left),
                What::Fixed(bytes) => &bytes[bytes.len() - piece.left..],
            };
            if end > run {
                into[count] = IoSlice::new(&self.bytes[run..end]);
                count += 1;
                run = end;
            }
            into[count] = IoSlice::new(bytes);
            count += 1;
        }
        if end > run && count < SLICES_MAX {
            into[count] = IoSlice::new(&self.bytes[run..end]);
            count += 1;
        }
        count
    }

    /// `bytes` of it were taken.
    pub(crate) fn advance(&mut self, mut bytes: usize) {
        while let Some(piece) = self.pieces.front_mut() {
            let step = bytes.min(piece.left);
            match &mut piece.what {
                What::Written => self.at += step,
                What::Payload { at, .. } => *at += step,
                What::Fixed(_) => {}
            }
            piece.left -= step;
            bytes -= step;
            if piece.left > 0 {
                break;
            }
            self.taken.extend(piece.ends);
            self.pieces.pop_front();
        }
        if self.pieces.is_empty() {
            self.bytes.clear();
            self.at = 0;
        } else if self.at > KEPT_BYTES {
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
