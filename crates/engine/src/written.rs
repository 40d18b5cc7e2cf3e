//! What is written over objects, in place or anew, and whether the storage has kept it.
//!
//! Every page of every write is unlike all that was written before, so that a storage that looks for blocks of that size which it
//! has already finds none. Buffers are filled before the window, and each write stamps its pages with its own number: to fill a
//! buffer for each write would measure the processor. Of a whole object each page says which piece it is of besides, so that an
//! object of any size is written from one buffer.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use backend::{Buf, ErrorKind, FilePieces, PAGE_BYTES, Piece, StoreError};
use dataset::payload::Payload;
use dataset::{Order, ReadSpan};
use plan::{Cell, Operation};

use crate::outstanding::Outstanding;
use crate::recorder::Recorder;
use crate::spec::RepSpec;

/// Bytes of a stamp: the number of the repetition, then that of the write. Behind it stands the number of a piece
/// ([`FilePieces::number`]).
const STAMP_BYTES: usize = 16;

/// Writes of each worker that are read again.
pub(crate) const REREAD_PER_WORKER: usize = 8;

/// Time after which no further write is read again.
// Nothing is measured meanwhile: many threads with large blocks on a slow storage would take as long as the repetition.
const REREAD_NS: u64 = 1_000_000_000;

/// The content of one repetition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fresh {
    /// Unlike that of any other repetition of any run.
    number: u64,
    compressible_percent: u8,
}

impl Fresh {
    /// Content that nothing was written with before, of which this share compresses.
    pub(crate) fn new(compressible_percent: u8) -> Self {
        // From the randomness that hash maps are seeded with: a clock gives two processes the same number.
        Self { number: RandomState::new().build_hasher().finish(), compressible_percent }
    }

    /// Fills the buffer of slot `slot` of worker `worker`.
    pub(crate) fn fill(&self, worker: u32, buf: &mut Buf) {
        let payload = Payload { seed: self.number, compressible_percent: self.compressible_percent };
        let number = u64::from(worker) << 32 | u64::from(buf.slot());
        payload.fill(number, 0, buf.as_mut_slice());
    }

    /// Makes the bytes of a buffer those of one write.
    #[inline]
    pub(crate) fn stamp(&self, ticket: u64, bytes: &mut [u8]) {
        let stamp = self.stamp_of(ticket);
        for page in bytes.chunks_mut(PAGE_BYTES) {
            let length = page.len().min(STAMP_BYTES);
            page[..length].copy_from_slice(&stamp[..length]);
        }
    }

    fn stamp_of(&self, ticket: u64) -> [u8; STAMP_BYTES] {
        let mut stamp = [0; STAMP_BYTES];
        let (number, write) = stamp.split_at_mut(8);
        number.copy_from_slice(&self.number.to_le_bytes());
        write.copy_from_slice(&ticket.to_le_bytes());
        stamp
    }

    /// The number of the write of this repetition that stamped a page; `None` of any other bytes.
    fn write_of(&self, page: &[u8]) -> Option<u64> {
        let number = self.number.to_le_bytes();
        let rest = page.strip_prefix(&number)?;
        Some(u64::from_le_bytes(rest.get(..8)?.try_into().ok()?))
    }

    /// Whether `found` is what the write of `ticket` left, page by page, or what another write of that place made of a page.
    fn agrees(&self, order: &Order, ticket: u64, written: &[u8], found: &[u8]) -> Agreement {
        let mut agreement = Agreement::Same;
        let is_of_block = |other: &u64| *other != ticket && order.at(*other) == order.at(ticket);
        for (written, found) in written.chunks(PAGE_BYTES).zip(found.chunks(PAGE_BYTES)) {
            // A page that is shorter than a stamp does not say whose it is.
            if written == found || found.len() < STAMP_BYTES {
                continue;
            }
            match self.write_of(found).filter(is_of_block) {
                Some(_) => agreement = Agreement::WrittenSince,
                None => return Agreement::Other,
            }
        }
        agreement
    }
}

/// What lies where something was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreement {
    /// What was written.
    Same,
    /// What another write of the repetition left there.
    WrittenSince,
    /// Neither.
    Other,
}

/// A write that ended well, and the buffer that still holds its bytes.
pub(crate) struct Kept {
    pub(crate) slot: Outstanding,
    pub(crate) buf: Buf,
}

/// The writes of a worker that are read again: of its buffers, those whose last write ended well.
pub(crate) fn kept(buffers: Vec<Buf>, slots: &[Outstanding]) -> Vec<Kept> {
    let kept = buffers.into_iter().map(|buf| Kept { slot: slots[buf.slot() as usize], buf });
    kept.filter(|kept| kept.slot.writes && kept.slot.has_moved).take(REREAD_PER_WORKER).collect()
}

/// What of a write is still in its buffer.
struct Expected {
    offset: u64,
    len: usize,
    /// Bytes that are asked for behind it, where there must be none.
    beyond: usize,
}

impl Expected {
    /// The block; of a whole object its last piece, where it ends.
    fn of(span: ReadSpan, cell: &Cell) -> Self {
        let ReadSpan { offset, len, .. } = span;
        if cell.operation() != Operation::WriteFile {
            return Self { offset, len: len as usize, beyond: 0 };
        }
        let Piece { offset, len } = FilePieces::new(len, cell.block_bytes).last();
        Self { offset, len: len as usize, beyond: 1 }
    }
}

/// Reads again what was written last, when all workers have ended: it would be a load beside those that still write.
pub(crate) struct Again<'a> {
    spec: &'a RepSpec<'a>,
    order: &'a Order,
    fresh: &'a Fresh,
    /// When it ends at the latest.
    until_ns: u64,
    /// Whether a read failed: a server that is away would keep each of the others waiting as long.
    has_failed: bool,
}

impl<'a> Again<'a> {
    pub(crate) fn of(spec: &'a RepSpec<'a>, order: &'a Order, fresh: &'a Fresh) -> Self {
        Self { spec, order, fresh, until_ns: spec.clock.now_ns() + REREAD_NS, has_failed: false }
    }

    /// Reads what one write left, and counts what is not there.
    pub(crate) fn read(&mut self, kept: &Kept, recorder: &mut Recorder) {
        let Self { spec, order, fresh, .. } = *self;
        if self.has_failed || spec.is_stopped() || spec.clock.now_ns() >= self.until_ns {
            return;
        }
        let Kept { slot, buf } = kept;
        let Expected { offset, len, beyond } = Expected::of(slot.span, spec.cell);
        let mut found = vec![0; len + beyond];
        match spec.store.read_at(&spec.data.objects().key(slot.span.object), offset, &mut found) {
            Ok(bytes) if bytes == len => {
                match fresh.agrees(order, slot.ticket, &buf.as_slice()[..bytes], &found[..bytes]) {
                    Agreement::Same => recorder.verified += 1,
                    Agreement::WrittenSince => {}
                    Agreement::Other => {
                        recorder.verified += 1;
                        recorder.count_error(ErrorKind::Corrupt);
                    }
                }
            }
            Ok(bytes) if bytes > len => recorder.count_error(ErrorKind::Changed),
            Ok(_) => recorder.count_error(ErrorKind::Eof),
            // A model of a storage keeps nothing.
            Err(StoreError::Unsupported { .. }) => self.has_failed = true,
            Err(error) => {
                self.has_failed = true;
                recorder.count_error(error.kind());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dataset::{Data, Key, Objects};
    use plan::{Durability, Engine, Task};

    use super::*;

    const FRESH: Fresh = Fresh { number: 7, compressible_percent: 0 };

    fn order() -> Order {
        let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 4, 16_384));
        let cell = Cell { task: Task::Write(Durability::Data), ..Cell::plain(Engine::Null, 8192, 1) };
        Order::of_cell(&Data::files(objects, Some(1)), &cell).unwrap()
    }

    /// A block as the write of `ticket` has it.
    fn block(ticket: u64) -> Vec<u8> {
        let mut bytes = vec![0xa5; 8192];
        FRESH.stamp(ticket, &mut bytes);
        bytes
    }

    #[test]
    fn each_page_of_each_write_is_unlike_all_others() {
        let pages: std::collections::BTreeSet<Vec<u8>> =
            (0..50).map(|ticket| block(ticket)[..4096].to_vec()).collect();
        assert_eq!(pages.len(), 50);
        assert_eq!(FRESH.write_of(&block(9)[4096..]), Some(9), "every page is stamped");
        assert_ne!(Fresh::new(0).number, Fresh::new(0).number, "two repetitions");
    }

    #[test]
    fn a_block_is_kept_written_since_or_lost() {
        let order = order();
        // The same block in the next epoch, whose order differs.
        let of = |ticket: u64| order.at(ticket);
        let again = (8..16).find(|ticket| of(*ticket) == of(3)).unwrap();
        let agrees = |found: &[u8]| FRESH.agrees(&order, 3, &block(3), found);
        assert_eq!(agrees(&block(3)), Agreement::Same);
        assert_eq!(agrees(&block(again)), Agreement::WrittenSince);
        let torn = [&block(3)[..4096], &block(again)[4096..]].concat();
        assert_eq!(agrees(&torn), Agreement::WrittenSince, "two writes at once may each leave a page");
        assert_eq!(agrees(&block(4)), Agreement::Other, "a block of another place");
        assert_eq!(agrees(&[0; 8192]), Agreement::Other, "what lay there before");
        let mut flipped = block(3);
        flipped[8191] ^= 1;
        assert_eq!(agrees(&flipped), Agreement::Other, "its stamp is right and its bytes are not");
    }

    #[test]
    fn a_short_last_block_is_stamped_as_far_as_it_goes() {
        let mut bytes = [0; 4100];
        FRESH.stamp(5, &mut bytes);
        assert_eq!(bytes[4096..], 7_u64.to_le_bytes()[..4]);
    }
}
