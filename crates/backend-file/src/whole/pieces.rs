//! A whole file while it is read piece by piece: what to ask next, and what an answer means.

use backend::{ErrorKind, FilePieces, OpError, Piece};
use rustix::fs::FileType;

/// A file of a planned size, read from its start to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pieces {
    file: FilePieces,
    /// Number of the piece in the buffer.
    number: u64,
    /// Bytes of that piece that are there.
    filled: u32,
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
pub(super) enum PiecesAnswer {
    /// All is read, or can not be.
    Ended(Result<u64, OpError>),
    /// Ask the same again.
    Repeat,
    /// A part was read; ask for the rest.
    Short,
    /// The piece is there; ask for the next.
    Next,
}

impl Pieces {
    /// A file through a buffer of `room`. `align` is 1 but for direct I/O, which asks whole blocks: every piece but
    /// the last must be of such, and the last is asked in full and comes back as far as the file goes.
    pub(super) fn new(file: FilePieces, room: usize, align: u32, beyond: bool) -> Result<Self, OpError> {
        let first = file.get(0).len;
        let aligned = file.count() == 1 || first.is_multiple_of(align);
        if !aligned || first.next_multiple_of(align) as usize > room {
            return Err(OpError::from_errno(libc::EINVAL));
        }
        Ok(Self { file, number: 0, filled: 0, align, beyond })
    }

    /// Bytes of the file by the plan.
    pub(super) fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    fn piece(&self) -> Piece {
        self.file.get(self.number)
    }

    fn is_last(&self) -> bool {
        let Piece { offset, len } = self.piece();
        offset + u64::from(len) == self.bytes()
    }

    /// What to read now.
    pub(super) fn ask(&self) -> Ask {
        let Piece { offset, len: piece } = self.piece();
        let rest = piece - self.filled;
        let len = rest.next_multiple_of(self.align);
        // A block asked in full looks beyond the end by itself.
        let extra = if self.beyond && self.is_last() && len == rest { self.align } else { 0 };
        Ask { offset: offset + u64::from(self.filled), skip: self.filled, len, extra }
    }

    /// Takes the kernel's answer: bytes read, or a negative error number.
    pub(super) fn answer(&mut self, result: i32) -> PiecesAnswer {
        let Ok(read) = u32::try_from(result) else {
            return match -result {
                libc::EINTR | libc::EAGAIN => PiecesAnswer::Repeat,
                errno => PiecesAnswer::Ended(Err(OpError::from_errno(errno))),
            };
        };
        let piece = self.piece().len;
        let filled = self.filled.saturating_add(read);
        if filled > piece {
            return PiecesAnswer::Ended(Err(OpError { kind: ErrorKind::Changed, code: 0 }));
        }
        self.filled = filled;
        if filled < piece {
            // Direct I/O stops between blocks only at the end of the file, and cannot go on from there.
            let ended = read == 0 || !read.is_multiple_of(self.align);
            let eof = OpError { kind: ErrorKind::Eof, code: 0 };
            return if ended { PiecesAnswer::Ended(Err(eof)) } else { PiecesAnswer::Short };
        }
        if self.is_last() {
            return PiecesAnswer::Ended(Ok(self.bytes()));
        }
        self.number += 1;
        self.filled = 0;
        PiecesAnswer::Next
    }
}

/// A file that is there with the size of the plan; the error says what else it is.
pub(super) fn judge_size(mode: u32, bytes: u64, planned: u64) -> Result<(), OpError> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile if bytes == planned => Ok(()),
        FileType::RegularFile => Err(OpError { kind: ErrorKind::Changed, code: 0 }),
        FileType::Symlink => Err(OpError::from_errno(libc::ELOOP)),
        FileType::Directory => Err(OpError::from_errno(libc::EISDIR)),
        _ => Err(OpError::from_errno(libc::EINVAL)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EOF: PiecesAnswer = PiecesAnswer::Ended(Err(OpError { kind: ErrorKind::Eof, code: 0 }));
    const CHANGED: PiecesAnswer = PiecesAnswer::Ended(Err(OpError { kind: ErrorKind::Changed, code: 0 }));

    fn ask(offset: u64, skip: u32, len: u32, extra: u32) -> Ask {
        Ask { offset, skip, len, extra }
    }

    /// A file through a buffer of one block, rounded up.
    fn pieces(bytes: u64, block_bytes: u32, align: u32, beyond: bool) -> Result<Pieces, OpError> {
        let room = block_bytes.next_multiple_of(4096) as usize;
        Pieces::new(FilePieces::new(bytes, block_bytes), room, align, beyond)
    }

    #[test]
    fn a_file_is_read_in_pieces_and_short_reads_go_on() {
        let mut file = pieces(10_000, 4096, 1, false).unwrap();
        assert_eq!(file.ask(), ask(0, 0, 4096, 0));
        assert_eq!(file.answer(4000), PiecesAnswer::Short);
        assert_eq!(file.ask(), ask(4000, 4000, 96, 0));
        assert_eq!(file.answer(-libc::EINTR), PiecesAnswer::Repeat);
        assert_eq!(file.answer(96), PiecesAnswer::Next);
        assert_eq!(file.answer(4096), PiecesAnswer::Next);
        assert_eq!(file.ask(), ask(8192, 0, 1808, 0));
        assert_eq!(file.answer(1808), PiecesAnswer::Ended(Ok(10_000)));
    }

    #[test]
    fn the_last_read_looks_beyond_the_end_where_it_is_asked_to() {
        let mut file = pieces(5000, 4096, 1, true).unwrap();
        assert_eq!(file.ask(), ask(0, 0, 4096, 0));
        assert_eq!(file.answer(4096), PiecesAnswer::Next);
        assert_eq!(file.ask(), ask(4096, 0, 904, 1));
        assert_eq!(file.clone().answer(904), PiecesAnswer::Ended(Ok(5000)));
        assert_eq!(file.answer(905), CHANGED);
        let full = pieces(4096, 4096, 1, true).unwrap();
        assert_eq!(full.ask(), ask(0, 0, 4096, 1));
        assert_eq!(pieces(0, 4096, 1, true).unwrap().ask(), ask(0, 0, 0, 1));
        assert_eq!(pieces(0, 4096, 1, true).unwrap().answer(0), PiecesAnswer::Ended(Ok(0)));
    }

    #[test]
    fn direct_reads_ask_whole_blocks_and_take_the_tail() {
        let mut file = pieces(4800, 4096, 512, true).unwrap();
        assert_eq!(file.answer(4096), PiecesAnswer::Next);
        assert_eq!(file.ask(), ask(4096, 0, 1024, 0));
        assert_eq!(file.clone().answer(1024), CHANGED, "the block was full");
        assert_eq!(file.clone().answer(600), EOF, "cut inside a block");
        assert_eq!(file.answer(704), PiecesAnswer::Ended(Ok(4800)));
        assert_eq!(pieces(4096, 4096, 512, true).unwrap().ask(), ask(0, 0, 4096, 512));
        assert_eq!(pieces(4900, 5000, 512, false).unwrap().ask(), ask(0, 0, 5120, 0));
        assert!(pieces(9000, 5000, 512, false).is_err(), "a second piece would begin inside a block");
        assert!(pieces(9000, 4096, 8192, false).is_err(), "the buffer holds no block");
    }

    #[test]
    fn the_end_before_the_bytes_asked_is_an_error_and_errors_keep_their_number() {
        let mut file = pieces(300, 4096, 1, true).unwrap();
        assert_eq!(file.answer(100), PiecesAnswer::Short);
        assert_eq!(file.answer(0), EOF);
        let error = OpError { kind: ErrorKind::Io, code: libc::EIO as u32 };
        assert_eq!(file.answer(-libc::EIO), PiecesAnswer::Ended(Err(error)));
    }

    #[test]
    fn only_a_file_of_the_planned_size_is_well() {
        assert_eq!(judge_size(libc::S_IFREG | 0o644, 10, 10), Ok(()));
        assert_eq!(judge_size(libc::S_IFREG, 11, 10).unwrap_err().kind, ErrorKind::Changed);
        assert_eq!(judge_size(libc::S_IFLNK, 10, 10).unwrap_err().code, libc::ELOOP as u32);
        assert_eq!(judge_size(libc::S_IFDIR, 10, 10).unwrap_err().code, libc::EISDIR as u32);
        assert_eq!(judge_size(libc::S_IFIFO, 10, 10).unwrap_err().kind, ErrorKind::Other);
    }
}
