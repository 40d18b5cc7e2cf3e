//! An operation under way: what is still to be asked, and what was asked.

use backend::{FilePieces, Op, OpError};
use backend_net::{Place, Trail};

use crate::framing::Framing;
use crate::ranges::ByteRange;

/// A message under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) asked: PartRequest,
    /// The reply closes its connection.
    pub(crate) close: bool,
    pub(crate) status: u16,
    /// Whether the reply is text: an error, or a page of a listing.
    pub(crate) text: bool,
    pub(crate) framing: Framing,
}

/// What a message asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartRequest {
    /// Nothing: this part is free.
    Nothing,
    /// The size of the object.
    Head,
    /// All of the object.
    Whole,
    /// Bytes of it.
    Range(ByteRange),
    /// A page of a listing.
    Page,
    /// That the object be replaced.
    Put,
}

impl Part {
    const FREE: Self =
        Self { asked: PartRequest::Nothing, close: false, status: 0, text: false, framing: Framing::Ended };
}

/// An operation under way; at most `PARTS` requests of it at once.
#[derive(Debug)]
pub struct Task<const PARTS: usize> {
    pub(crate) op: Op,
    pub(crate) parts: [Part; PARTS],
    pub(crate) under_way: u8,
    /// Whether a HEAD comes before anything else.
    pub(crate) look: bool,
    /// Bytes of a whole object that were asked so far; `None` before any were.
    asked_to: Option<u64>,
    pub(crate) failed: Option<OpError>,
    /// Prefixes of a listing that are done.
    pub(crate) root: u32,
    /// Where a listing goes on.
    pub(crate) token: Option<String>,
    /// Tokens of the prefix that is being listed.
    pub(crate) trail: Trail,
    /// The part whose text is being read.
    pub(crate) scanning: Option<u32>,
    /// What is found in texts.
    pub(crate) scan: Option<Box<crate::scan::Scan>>,
}

/// How the bytes of an object are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bytes of one range; `None` asks for the whole object at once.
    pub(crate) part_bytes: Option<u64>,
    pub(crate) block_bytes: u32,
}

impl<const PARTS: usize> Task<PARTS> {
    pub(crate) fn new(op: Op, look: bool) -> Self {
        Self {
            op,
            parts: [Part::FREE; PARTS],
            under_way: 0,
            look,
            asked_to: None,
            failed: None,
            root: 0,
            token: None,
            trail: Trail::default(),
            scanning: None,
            scan: None,
        }
    }

    /// What to ask next; `None` while replies are awaited, and at the end.
    pub(crate) fn next(&mut self, cut: Cut) -> Option<(u32, PartRequest)> {
        let part = self.parts.iter().position(|part| part.asked == PartRequest::Nothing)?;
        let asked = self.next_asked(cut)?;
        self.parts[part] = Part { asked, ..Part::FREE };
        self.under_way += 1;
        Some((part as u32, asked))
    }

    fn next_asked(&mut self, cut: Cut) -> Option<PartRequest> {
        if self.failed.is_some() {
            return None;
        }
        let alone = self.under_way == 0;
        match self.op {
            Op::Stat { .. } | Op::GetAttr { .. } => alone.then_some(PartRequest::Head),
            // Never begun: `Asking::check` refuses it.
            Op::Write { .. } | Op::Names { .. } => None,
            Op::List { .. } => alone.then_some(PartRequest::Page),
            Op::WriteFile { .. } => alone.then_some(PartRequest::Put),
            Op::Read { offset, len, .. } => {
                alone.then_some(PartRequest::Range(ByteRange { offset, len: u64::from(len) }))
            }
            Op::ReadFile { bytes, .. } => {
                if self.look {
                    // The HEAD comes alone: what it says decides whether the object is worth asking for.
                    self.look = !alone;
                    return alone.then_some(PartRequest::Head);
                }
                if matches!(self.parts[0].asked, PartRequest::Head) {
                    return None;
                }
                let asked_to = self.asked_to.unwrap_or(0);
                let Some(part_bytes) = cut.part_bytes.filter(|part_bytes| *part_bytes < bytes) else {
                    let first = self.asked_to.replace(bytes).is_none();
                    return first.then_some(PartRequest::Whole);
                };
                let last = cut.last_piece(bytes);
                // What lies before the last piece passes through the buffer, where the last piece must stay.
                let end = if asked_to < last { last } else { bytes };
                let len = part_bytes.min(end - asked_to);
                if len == 0 || (asked_to == last && self.front_is_under_way(last)) {
                    return None;
                }
                self.asked_to = Some(asked_to + len);
                Some(PartRequest::Range(ByteRange { offset: asked_to, len }))
            }
        }
    }

    fn front_is_under_way(&self, last: u64) -> bool {
        self.parts.iter().any(|part| matches!(part.asked, PartRequest::Range(range) if range.offset < last))
    }

    /// A message has its reply, or was lost.
    pub(crate) fn free(&mut self, part: u32) {
        // Freed once, whether its reply was read or it was lost.
        if self.parts[part as usize].asked != PartRequest::Nothing {
            self.parts[part as usize] = Part::FREE;
            self.under_way -= 1;
        }
        if self.scanning == Some(part) {
            self.scanning = None;
        }
    }

    /// Whether all of a whole object was asked and answered.
    pub(crate) fn is_answered(&self, bytes: u64) -> bool {
        self.under_way == 0 && self.asked_to == Some(bytes)
    }

    pub(crate) fn fail(&mut self, error: OpError) {
        self.failed.get_or_insert(error);
    }
}

impl Cut {
    fn last_piece(&self, bytes: u64) -> u64 {
        FilePieces::new(bytes, self.block_bytes).last().offset
    }

    /// Where bytes from `offset` on of an object of `bytes` go.
    ///
    /// The last piece of an object lies at the start of the buffer in the end. Bytes of that piece go to their own
    /// place in it, so its ranges may arrive in any order. Everything before it streams through the buffer and is gone
    /// again: those ranges are all answered before the last piece is asked for.
    pub(crate) fn place(&self, offset: u64, bytes: u64) -> Place {
        let last = self.last_piece(bytes);
        let wrap = self.block_bytes.max(1) as usize;
        Place { at: offset.saturating_sub(last) as usize % wrap, wrap }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the order of replies: every byte is asked for once, and those of the last piece are not
        /// overwritten by others.
        #[test]
        fn ranges_cover_an_object_and_leave_its_last_piece_in_place(
            bytes in 1_u64..3_000, part_bytes in 1_u64..700, block_bytes in 1_u32..1_500,
            order in proptest::collection::vec(0_usize..4, 64),
        ) {
            let cut = Cut { part_bytes: Some(part_bytes), block_bytes };
            let content = |at: u64| (at % 251) as u8;
            let mut task = Task::<4>::new(Op::ReadFile { object: 0, bytes }, false);
            let mut buffer = vec![0; block_bytes as usize];
            let (mut open, mut asked, mut turn) = (Vec::new(), 0, 0);
            loop {
                while let Some(message) = task.next(cut) {
                    open.push(message);
                }
                if open.is_empty() {
                    break;
                }
                let (part, message) = open.swap_remove(order[turn % 64] % open.len());
                turn += 1;
                let (offset, len) = match message {
                    PartRequest::Range(ByteRange { offset, len }) => (offset, len),
                    PartRequest::Whole => (0, bytes),
                    other => panic!("{other:?}"),
                };
                let place = if message == PartRequest::Whole {
                    Place { at: 0, wrap: block_bytes as usize }
                } else {
                    cut.place(offset, bytes)
                };
                let mut at = place.at;
                for byte in offset..offset + len {
                    buffer[at] = content(byte);
                    at = (at + 1) % place.wrap;
                }
                asked += len;
                task.free(part);
            }
            prop_assert!(task.is_answered(bytes));
            prop_assert_eq!(asked, bytes);
            let last = FilePieces::new(bytes, block_bytes).last();
            for (place, at) in (last.offset..bytes).enumerate() {
                prop_assert_eq!(buffer[place], content(at));
            }
        }
    }

    #[test]
    fn a_look_comes_alone_and_first() {
        let cut = Cut { part_bytes: None, block_bytes: 4096 };
        let mut task = Task::<2>::new(Op::ReadFile { object: 0, bytes: 10 }, true);
        assert_eq!(task.next(cut), Some((0, PartRequest::Head)));
        assert_eq!(task.next(cut), None);
        assert!(!task.is_answered(10));
        task.free(0);
        assert_eq!(task.next(cut), Some((0, PartRequest::Whole)));
        assert_eq!(task.next(cut), None);
    }
}
