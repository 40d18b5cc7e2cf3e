//! An operation on its way: what to send next, and what has come.

use backend::{ErrorKind, FilePieces, OpError, Piece};
use backend_net::{Outcome, Trail};

use super::encode::Procedure;
use crate::xdr::{Attributes, FileType, Handle};

/// Calls of one operation that are under way at once, at most: a block larger than the server reads at once is read in
/// so many parts.
pub(crate) const PARTS_MAX: u32 = 16;

/// What to send next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Lookup,
    GetAttributes,
    Blocks,
    Names,
    Write,
    Commit,
    Create,
    /// The bytes of a file that is written anew.
    Pieces,
    Rename,
    /// What is left of a file that could not be written anew.
    Remove,
    /// Nothing before a reply.
    Wait,
}

/// A call under way, and its reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartCall {
    /// `None` when no call is.
    pub(super) asked: Option<Procedure>,
    /// Bytes that a READ or WRITE moves: where they are in the buffer, and how many.
    pub(super) at: u32,
    pub(super) len: u32,
    /// Bytes that the reply moved.
    pub(super) got: u32,
    /// Whether the file ends behind them.
    pub(super) is_last: bool,
    /// The reply brought a part; the rest is to be asked for.
    pub(super) again: bool,
    pub(super) failed: Option<OpError>,
}

const EMPTY: PartCall =
    PartCall { asked: None, at: 0, len: 0, got: 0, is_last: false, again: false, failed: None };

/// The bytes that are in the buffer, or about to come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) piece: Piece,
    /// Bytes asked for so far.
    asked: u32,
    /// Bytes not there yet.
    missing: u32,
    /// Whether anything was asked: a block without bytes takes a call as well.
    begun: bool,
}

impl Block {
    fn new(piece: Piece) -> Self {
        Self { piece, asked: 0, missing: piece.len, begun: false }
    }
}

/// Where a listing is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Listing {
    pub(super) cookie: u64,
    pub(super) verifier: [u8; 8],
    pub(super) entries: u64,
    /// Bytes of the reply that are not read yet.
    pub(super) left: usize,
    /// Entries in this reply.
    pub(super) in_page: u64,
    pub(super) is_last: bool,
    /// Names so far, `.` and `..` among them.
    seen: u64,
    trail: Trail,
}

impl Listing {
    /// At the end of a page that is not the last: whether the listing has come back to where it was, or has more than
    /// `most` names. Some exports go round for ever.
    pub(super) fn is_endless(&mut self, most: u64) -> bool {
        self.seen += self.in_page;
        !self.trail.goes_on(self.cookie) || self.seen > most
    }
}

/// Stages of a file that is written anew, as its phases count them: made, written, kept.
pub(super) const MADE: u32 = 0;
pub(super) const WRITTEN: u32 = 1;
pub(super) const KEPT: u32 = 2;

/// The stage of a name behind [`MADE`].
pub(super) const RENAMED: u32 = 1;

/// What follows once a file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Its bytes, and another file's name.
    Bytes {
        /// Whether a COMMIT keeps them.
        commits: bool,
    },
    /// Another name, and its removal.
    Names,
}

/// A file that is written under a name of its own and takes the place of another when it is whole.
#[derive(Debug)]
pub(super) struct Anew {
    pub(super) folder: Handle,
    /// What its name has until then, given to it alone.
    pub(super) number: u64,
    then: Then,
    /// The verifier of its first WRITE: any other of a later reply says that earlier bytes may be lost.
    pub(super) verifier: Option<[u8; 8]>,
    /// Whether it may lie there under its own name.
    pub(super) is_made: bool,
}

/// An operation under way.
#[derive(Debug)]
pub(crate) struct Task {
    /// Whether the bytes of the file follow once its size is known.
    then_reads: bool,
    pub(super) step: Step,
    /// Of the file, or of the folder that its name is in.
    pub(super) handle: Handle,
    pub(super) object: u32,
    pub(super) file: FilePieces,
    piece: u64,
    pub(super) block: Block,
    pub(super) slots: [PartCall; PARTS_MAX as usize],
    pub(super) names: Listing,
    /// Of an operation that writes a file anew.
    pub(super) anew: Option<Anew>,
    /// The stage that the last reply ended.
    pub(super) stage: Option<u32>,
    failed: Option<OpError>,
}

pub(super) const CHANGED: OpError = OpError { kind: ErrorKind::Changed, code: 0 };

impl Task {
    fn new(step: Step, handle: Handle) -> Self {
        Self {
            then_reads: false,
            step,
            handle,
            object: 0,
            file: FilePieces::new(0, 1),
            piece: 0,
            block: Block::new(Piece { offset: 0, len: 0 }),
            slots: [EMPTY; PARTS_MAX as usize],
            names: Listing::default(),
            anew: None,
            stage: None,
            failed: None,
        }
    }

    pub(super) fn read(handle: Handle, offset: u64, len: u32) -> Self {
        let block = Block::new(Piece { offset, len });
        Self { block, file: FilePieces::new(u64::from(len), len), ..Self::new(Step::Blocks, handle) }
    }

    /// A file in `folder`, with the size of the plan.
    pub(super) fn read_file(folder: Handle, object: u32, file: FilePieces) -> Self {
        let block = Block::new(file.get(0));
        Self { then_reads: true, object, file, block, ..Self::new(Step::Lookup, folder) }
    }

    pub(super) fn stat(folder: Handle, object: u32, bytes: u64) -> Self {
        let file = FilePieces::new(bytes, 1);
        Self { object, file, ..Self::new(Step::Lookup, folder) }
    }

    pub(super) fn get_attributes(handle: Handle, bytes: u64) -> Self {
        let file = FilePieces::new(bytes, 1);
        Self { file, ..Self::new(Step::GetAttributes, handle) }
    }

    pub(super) fn list(folder: Handle) -> Self {
        Self::new(Step::Names, folder)
    }

    /// The first `len` bytes of the buffer, to be written at `offset`.
    pub(crate) fn write(handle: Handle, offset: u64, len: u32) -> Self {
        let mut task = Self::new(Step::Write, handle);
        task.block = Block::new(Piece { offset, len });
        task.slots[0].len = len;
        task
    }

    pub(crate) fn commit(handle: Handle) -> Self {
        Self::new(Step::Commit, handle)
    }

    /// A new file in `folder`, in the place of `object` with the size of the plan, or for its name alone.
    pub(super) fn make(folder: Handle, object: u32, file: FilePieces, number: u64, then: Then) -> Self {
        let anew = Anew { folder, number, then, verifier: None, is_made: false };
        let block = Block::new(file.get(0));
        Self { object, file, block, anew: Some(anew), ..Self::new(Step::Create, folder) }
    }

    /// Ends the operation with its first failure; what is left of a file that was written anew is removed before.
    pub(super) fn fail(&mut self, error: OpError) -> Outcome {
        let error = *self.failed.get_or_insert(error);
        if self.anew.as_ref().is_none_or(|anew| !anew.is_made) {
            return Outcome::Ended(Err(error));
        }
        // Not beside a WRITE that may still arrive.
        if self.slots.iter().all(|slot| slot.asked.is_none()) {
            self.step = Step::Remove;
        }
        Outcome::Goes
    }

    /// A call of the operation was lost with its connection, or got no reply in time.
    pub(super) fn lost(&mut self, part: u32, error: OpError) -> Outcome {
        let asked = self.slots.get_mut(part as usize).and_then(|slot| slot.asked.take());
        match (asked, &mut self.anew) {
            // It may have been heard, or not.
            (Some(Procedure::Create), Some(anew)) => anew.is_made = true,
            // What cannot be removed is known to `clean` by its name.
            (Some(Procedure::Remove), _) => return self.removed(Some(error)),
            _ => {}
        }
        self.fail(error)
    }

    /// REMOVE was answered, or lost: the last call of an operation on names, and of one that failed before.
    pub(super) fn removed(&mut self, failed: Option<OpError>) -> Outcome {
        self.anew = None;
        match self.failed.or(failed) {
            Some(error) => self.fail(error),
            None => Outcome::Ended(Ok(0)),
        }
    }

    /// RENAME was answered.
    pub(super) fn renamed(&mut self) -> Outcome {
        if self.makes_names() {
            self.stage = Some(RENAMED);
            self.step = Step::Remove;
            return Outcome::Goes;
        }
        Outcome::Ended(Ok(self.file.bytes()))
    }

    /// Whether names are all that it is about.
    pub(super) fn makes_names(&self) -> bool {
        self.anew.as_ref().is_some_and(|anew| anew.then == Then::Names)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Which piece of the file is in the buffer.
    pub(super) fn piece(&self) -> u64 {
        self.piece
    }

    /// The file is there, whose name is all that counts.
    pub(super) fn named(&mut self) {
        self.stage = Some(MADE);
        self.step = Step::Rename;
    }

    /// The file that is written anew has this handle.
    pub(super) fn made(&mut self, file: Handle) {
        self.handle = file;
        self.stage = Some(MADE);
        self.step = Step::Pieces;
        if self.file.bytes() == 0 {
            self.kept();
        }
    }

    /// All bytes of the file that is written anew were answered.
    fn filled(&mut self) {
        if self.anew.as_ref().is_some_and(|anew| anew.then == (Then::Bytes { commits: true })) {
            self.stage = Some(WRITTEN);
            self.step = Step::Commit;
        } else {
            self.kept();
        }
    }

    fn kept(&mut self) {
        self.stage = Some(KEPT);
        self.step = Step::Rename;
    }

    /// COMMIT was answered.
    pub(super) fn committed(&mut self) -> Outcome {
        if self.anew.is_none() {
            return Outcome::Ended(Ok(0));
        }
        self.kept();
        Outcome::Goes
    }

    /// The next part of the block to ask for, at most `most` bytes, in one of `parts` slots.
    pub(super) fn next_part(&mut self, parts: u32, most: u32) -> Option<u32> {
        let slots = &mut self.slots[..parts as usize];
        // First the rest of a short read: its place in the buffer is fixed, and the block ends only with it.
        if let Some(part) = slots.iter().position(|slot| slot.again) {
            slots[part].again = false;
            return Some(part as u32);
        }
        if self.block.begun && self.block.asked == self.block.piece.len {
            return None;
        }
        let part = slots.iter().position(|slot| slot.asked.is_none())?;
        let len = most.min(self.block.piece.len - self.block.asked);
        slots[part] = PartCall { at: self.block.asked, len, ..EMPTY };
        self.block.asked += len;
        self.block.begun = true;
        Some(part as u32)
    }

    /// What the attributes say of the file.
    pub(super) fn judge(&self, attributes: &Attributes) -> Result<(), OpError> {
        match attributes.kind {
            FileType::File if attributes.bytes == self.file.bytes() => Ok(()),
            FileType::File => Err(CHANGED),
            FileType::Link => Err(OpError::from_errno(libc::ELOOP)),
            FileType::Folder => Err(OpError::from_errno(libc::EISDIR)),
            FileType::Special => Err(OpError::from_errno(libc::EINVAL)),
        }
    }

    /// The file is there with its size.
    pub(super) fn looked(&mut self) -> Outcome {
        if self.anew.is_some() {
            return Outcome::Goes;
        }
        if self.then_reads && self.file.bytes() > 0 {
            self.step = Step::Blocks;
            return Outcome::Goes;
        }
        Outcome::Ended(Ok(0))
    }

    /// Takes the answer to a READ, or to a WRITE of a piece, and says whether it was a part only.
    pub(super) fn took(&mut self, part: u32) -> (Outcome, bool) {
        let slot = &mut self.slots[part as usize];
        slot.at += slot.got;
        slot.len -= slot.got;
        self.block.missing -= slot.got;
        if slot.len > 0 {
            let error = match (slot.is_last, slot.got) {
                (true, _) => ErrorKind::Eof,
                // Neither bytes nor the end: it would be asked for without end.
                (false, 0) => ErrorKind::Protocol,
                (false, _) => {
                    slot.again = true;
                    return (Outcome::Goes, true);
                }
            };
            return (self.fail(OpError { kind: error, code: 0 }), false);
        }
        if self.block.missing > 0 {
            return (Outcome::Goes, false);
        }
        self.piece += 1;
        if self.piece >= self.file.count() {
            if self.anew.is_none() {
                return (Outcome::Ended(Ok(self.file.bytes())), false);
            }
            self.filled();
            return (Outcome::Goes, false);
        }
        self.block = Block::new(self.file.get(self.piece));
        (Outcome::Goes, false)
    }

    /// A WRITE was answered.
    pub(super) fn wrote(&mut self) -> Outcome {
        let slot = &mut self.slots[0];
        slot.at += slot.got;
        slot.len -= slot.got;
        if slot.len == 0 {
            return Outcome::Ended(Ok(u64::from(self.block.piece.len)));
        }
        if slot.got == 0 {
            return self.fail(OpError { kind: ErrorKind::Protocol, code: 0 });
        }
        self.step = Step::Write;
        Outcome::Goes
    }

    /// A page of names was read.
    pub(super) fn listed(&mut self) -> Outcome {
        if self.names.is_last {
            return Outcome::Ended(Ok(self.names.entries));
        }
        self.step = Step::Names;
        Outcome::Goes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages until the listing is found to have no end.
    fn pages(cookies: impl Iterator<Item = u64>, most: u64) -> Option<usize> {
        let mut names = Listing { in_page: 10, ..Listing::default() };
        cookies.take(100_000).position(|cookie| {
            names.cookie = cookie;
            names.is_endless(most)
        })
    }

    #[test]
    fn a_listing_that_goes_round_is_found_out_and_a_long_one_is_not() {
        for (way, circle) in [(0, 1), (0, 2), (1, 2), (5, 1), (1_000, 7), (3, 1_000)] {
            let cookies = (1..=way).chain((way + 1..=way + circle).cycle());
            let found = pages(cookies, u64::MAX).expect("it goes round");
            assert!(found as u64 <= 3 * (way + circle) + 2, "{way} pages, then {circle} for ever: {found}");
        }
        assert_eq!(pages([0, 0].into_iter(), u64::MAX), Some(1), "back at the start");
        assert_eq!(pages(1.., u64::MAX), None);
        assert_eq!(pages(1.., 99), Some(9), "more names than there can be");
    }
}
