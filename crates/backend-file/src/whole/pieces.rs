//! A whole file while it is read through a smaller buffer: what to ask next, and what an answer means.

use backend::{ErrorKind, OpError};

/// A file of a planned size, read from its start to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pieces {
    bytes: u64,
    /// First byte of the piece in the buffer.
    at: u64,
    /// Bytes of that piece that are there.
    filled: u32,
    room: u32,
    align: u32,
    /// Whether the last read asks for more than the plan knows, to see that nothing is there.
    beyond: bool,
}

/// A read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) offset: u64,
    /// Where in the buffer.
    pub(super) skip: u32,
    pub(super) len: u32,
    /// Bytes asked beyond the end, behind those.
    pub(super) extra: u32,
}

/// What an answer means for the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// All is read, or can not be.
    Ended(Result<u64, OpError>),
    /// Ask the same again.
    Repeat,
    /// A part was read; ask for the rest.
    Short,
    /// The buffer is full; ask for the next piece.
    Next,
}

impl Pieces {
    /// A file of `bytes`, through a buffer of `room`. `align` is 1 but for direct I/O, which asks whole blocks:
    /// the last is asked in full and comes back as far as the file goes.
    pub(super) fn new(bytes: u64, room: usize, align: u32, beyond: bool) -> Result<Self, OpError> {
        let room = u32::try_from(room).unwrap_or(u32::MAX) / align * align;
        if room == 0 {
            return Err(OpError::from_errno(libc::EINVAL));
        }
        Ok(Self { bytes, at: 0, filled: 0, room, align, beyond })
    }

    /// Bytes of the file by the plan.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn piece(&self) -> u32 {
        (self.bytes - self.at).min(u64::from(self.room)) as u32
    }

    fn is_last(&self) -> bool {
        self.bytes - self.at <= u64::from(self.room)
    }

    /// What to read now.
    pub(super) fn ask(&self) -> Ask {
        let rest = self.piece() - self.filled;
        let len = rest.next_multiple_of(self.align);
        // A block asked in full looks beyond the end by itself.
        let extra = if self.beyond && self.is_last() && len == rest { self.align } else { 0 };
        Ask { offset: self.at + u64::from(self.filled), skip: self.filled, len, extra }
    }

    /// Takes the kernel's answer: bytes read, or a negative error number.
    pub(super) fn answer(&mut self, result: i32) -> Answer {
        let Ok(read) = u32::try_from(result) else {
            return match -result {
                libc::EINTR | libc::EAGAIN => Answer::Repeat,
                errno => Answer::Ended(Err(OpError::from_errno(errno))),
            };
        };
        let piece = self.piece();
        let filled = self.filled.saturating_add(read);
        if filled > piece {
            return Answer::Ended(Err(OpError { kind: ErrorKind::Changed, code: 0 }));
        }
        self.filled = filled;
        if filled < piece {
            // Direct I/O stops between blocks only at the end of the file, and cannot go on from there.
            let ended = read == 0 || !read.is_multiple_of(self.align);
            let eof = OpError { kind: ErrorKind::Eof, code: 0 };
            return if ended { Answer::Ended(Err(eof)) } else { Answer::Short };
        }
        if self.is_last() {
            return Answer::Ended(Ok(self.bytes));
        }
        self.at += u64::from(piece);
        self.filled = 0;
        Answer::Next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EOF: Answer = Answer::Ended(Err(OpError { kind: ErrorKind::Eof, code: 0 }));
    const CHANGED: Answer = Answer::Ended(Err(OpError { kind: ErrorKind::Changed, code: 0 }));

    fn ask(offset: u64, skip: u32, len: u32, extra: u32) -> Ask {
        Ask { offset, skip, len, extra }
    }

    #[test]
    fn a_file_is_read_in_pieces_and_short_reads_go_on() {
        let mut pieces = Pieces::new(10_000, 4096, 1, false).unwrap();
        assert_eq!(pieces.ask(), ask(0, 0, 4096, 0));
        assert_eq!(pieces.answer(4000), Answer::Short);
        assert_eq!(pieces.ask(), ask(4000, 4000, 96, 0));
        assert_eq!(pieces.answer(-libc::EINTR), Answer::Repeat);
        assert_eq!(pieces.answer(96), Answer::Next);
        assert_eq!(pieces.answer(4096), Answer::Next);
        assert_eq!(pieces.ask(), ask(8192, 0, 1808, 0));
        assert_eq!(pieces.answer(1808), Answer::Ended(Ok(10_000)));
    }

    #[test]
    fn the_last_read_looks_beyond_the_end_where_it_is_asked_to() {
        let mut pieces = Pieces::new(5000, 4096, 1, true).unwrap();
        assert_eq!(pieces.ask(), ask(0, 0, 4096, 0));
        assert_eq!(pieces.answer(4096), Answer::Next);
        assert_eq!(pieces.ask(), ask(4096, 0, 904, 1));
        assert_eq!(pieces.clone().answer(904), Answer::Ended(Ok(5000)));
        assert_eq!(pieces.answer(905), CHANGED);
        let full = Pieces::new(4096, 4096, 1, true).unwrap();
        assert_eq!(full.ask(), ask(0, 0, 4096, 1));
        assert_eq!(Pieces::new(0, 4096, 1, true).unwrap().ask(), ask(0, 0, 0, 1));
        assert_eq!(Pieces::new(0, 4096, 1, true).unwrap().answer(0), Answer::Ended(Ok(0)));
    }

    #[test]
    fn direct_reads_ask_whole_blocks_and_take_the_tail() {
        let mut pieces = Pieces::new(4800, 4096, 512, true).unwrap();
        assert_eq!(pieces.answer(4096), Answer::Next);
        assert_eq!(pieces.ask(), ask(4096, 0, 1024, 0));
        assert_eq!(pieces.clone().answer(1024), CHANGED, "the block was full");
        assert_eq!(pieces.clone().answer(600), EOF, "cut inside a block");
        assert_eq!(pieces.answer(704), Answer::Ended(Ok(4800)));
        assert_eq!(Pieces::new(4096, 4096, 512, true).unwrap().ask(), ask(0, 0, 4096, 512));
        assert_eq!(Pieces::new(9000, 5000, 512, false).unwrap().ask(), ask(0, 0, 4608, 0));
        assert!(Pieces::new(9000, 4096, 8192, false).is_err());
    }

    #[test]
    fn the_end_before_the_bytes_asked_is_an_error_and_errors_keep_their_number() {
        let mut pieces = Pieces::new(300, 4096, 1, true).unwrap();
        assert_eq!(pieces.answer(100), Answer::Short);
        assert_eq!(pieces.answer(0), EOF);
        let error = OpError { kind: ErrorKind::Io, code: libc::EIO as u32 };
        assert_eq!(pieces.answer(-libc::EIO), Answer::Ended(Err(error)));
    }
}
