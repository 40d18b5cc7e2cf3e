//! One read or write on its way: what to ask next, and what an answer means.

use backend::{ErrorKind, Op, OpError};
use plan::{Cache, Durability};

/// `RWF_DONTCACHE` of linux/fs.h: pages that the read brought in are dropped after it. Since Linux 6.14, where the
/// file system takes it; elsewhere the read fails (EOPNOTSUPP).
pub(crate) const RWF_DONTCACHE: u32 = 0x80;

/// `RWF_DSYNC` of linux/fs.h: the write ends when its bytes are kept, as with `O_DSYNC`.
const RWF_DSYNC: u32 = 0x2;

/// `RWF_SYNC` of linux/fs.h: the write ends when its bytes and all that is known of the file are kept, as with `O_SYNC`.
const RWF_SYNC: u32 = 0x4;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the file.
    Read,
    /// Into the file.
    Write,
}

/// How the blocks of a queue are moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    /// Flags of each read, as `preadv2` takes them.
    pub(crate) read_flags: u32,
    /// Flags of each write, as `pwritev2` takes them; absent where blocks are only read.
    pub(crate) write_flags: Option<u32>,
}

impl How {
    /// Which way an operation moves a block, and the block's object, offset and length.
    pub(crate) fn block(self, op: Op) -> Result<(Direction, u32, (u64, u32)), OpError> {
        match op {
            Op::Read { object, offset, len } => Ok((Direction::Read, object, (offset, len))),
            Op::Write { object, offset, len } if self.write_flags.is_some() => {
                Ok((Direction::Write, object, (offset, len)))
            }
            _ => Err(OpError::from_errno(libc::EOPNOTSUPP)),
        }
    }

    /// Flags of a call that moves bytes this way.
    pub(crate) fn flags(self, direction: Direction) -> u32 {
        match direction {
            Direction::Read => self.read_flags,
            Direction::Write => self.write_flags.unwrap_or(0),
        }
    }
}

/// Flags of a write, as `pwritev2` takes them.
pub(crate) fn write_flags(durability: Durability) -> u32 {
    match durability {
        Durability::None => 0,
        Durability::Data => RWF_DSYNC,
        Durability::Full => RWF_SYNC,
    }
}

/// Flags of a read, as `preadv2` takes them.
pub(crate) fn read_flags(cache: Cache) -> u32 {
    if cache == Cache::DontCache { RWF_DONTCACHE } else { 0 }
}

/// The alignment of direct reads for the record; nothing for reads through the page cache.
pub(crate) fn granted_align(align_bytes: u32) -> Option<(&'static str, String)> {
    (align_bytes > 1).then(|| ("direct_align_bytes", align_bytes.to_string()))
}

/// The part of an object that one operation reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    offset: u64,
    len: u32,
    filled: u32,
    direction: Direction,
    /// Alignment less one: every alignment is a power of two, and a division costs more than the rest of this.
    align_mask: u32,
}

/// What an answer of the kernel means for the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The operation has ended.
    Ended(Result<u64, OpError>),
    /// Nothing was moved for now; ask the same again.
    Repeat,
    /// A part was moved; ask for the rest.
    Short,
}

impl Span {
    /// A move of `len` bytes at `offset`, through a buffer of `room` bytes. `align` is 1 but for direct I/O, which asks whole
    /// blocks: the last one of a sample is read in full and comes back as far as the file goes. A write of a part of a block
    /// is refused.
    pub(crate) fn new(
        direction: Direction,
        (offset, len): (u64, u32),
        align: u32,
        room: usize,
    ) -> Result<Self, OpError> {
        debug_assert!(align.is_power_of_two());
        let align_mask = align - 1;
        let asked = (u64::from(len) + u64::from(align_mask)) & !u64::from(align_mask);
        // Some file systems answer an unaligned direct read through the page cache, without a word.
        // A write in full would make the file longer.
        let is_longer = direction == Direction::Write && asked != u64::from(len);
        if offset & u64::from(align_mask) != 0 || asked > room as u64 || is_longer {
            return Err(OpError::from_errno(libc::EINVAL));
        }
        Ok(Self { offset, len, filled: 0, direction, align_mask })
    }

    /// Which way it moves bytes.
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Bytes of the buffer that are done with already.
    pub(crate) fn filled(&self) -> u32 {
        self.filled
    }

    /// Offset and length to ask for now.
    pub(crate) fn ask(&self) -> (u64, u32) {
        // `new` has seen that the rounded length fits into a buffer.
        let rest = (self.len - self.filled + self.align_mask) & !self.align_mask;
        (self.offset + u64::from(self.filled), rest)
    }

    /// Takes the kernel's answer: bytes moved, or a negative error number.
    pub(crate) fn answer(&mut self, result: i32) -> Answer {
        let Ok(bytes) = u32::try_from(result) else {
            return match -result {
                libc::EINTR | libc::EAGAIN => Answer::Repeat,
                errno => Answer::Ended(Err(OpError::from_errno(errno))),
            };
        };
        self.filled = self.len.min(self.filled.saturating_add(bytes));
        if self.filled == self.len {
            return Answer::Ended(Ok(u64::from(self.len)));
        }
        // Direct I/O stops between blocks only at the end of the file, and cannot go on from there.
        if bytes == 0 || bytes & self.align_mask != 0 {
            return Answer::Ended(Err(match self.direction {
                Direction::Read => OpError { kind: ErrorKind::Eof, code: 0 },
                // write(2) has no end of the file to stop at: the device took a part, and no more.
                Direction::Write => OpError { kind: ErrorKind::Io, code: 0 },
            }));
        }
        Answer::Short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EOF: Answer = Answer::Ended(Err(OpError { kind: ErrorKind::Eof, code: 0 }));

    #[test]
    fn a_short_read_is_continued_where_it_stopped() {
        let mut span = Span::new(Direction::Read, (1000, 300), 1, 4096).unwrap();
        assert_eq!(span.ask(), (1000, 300));
        assert_eq!(span.answer(100), Answer::Short);
        assert_eq!((span.ask(), span.filled()), ((1100, 200), 100));
        assert_eq!(span.answer(-libc::EINTR), Answer::Repeat);
        assert_eq!(span.ask(), (1100, 200));
        assert_eq!(span.answer(200), Answer::Ended(Ok(300)));
    }

    #[test]
    fn the_end_before_the_bytes_asked_is_an_error() {
        let mut span = Span::new(Direction::Read, (0, 300), 1, 4096).unwrap();
        assert_eq!(span.answer(100), Answer::Short);
        assert_eq!(span.answer(0), EOF);
    }

    #[test]
    fn direct_reads_ask_whole_blocks_and_take_the_tail() {
        let mut span = Span::new(Direction::Read, (4096, 700), 512, 4096).unwrap();
        assert_eq!(span.ask(), (4096, 1024));
        assert_eq!(span.answer(700), Answer::Ended(Ok(700)));
        let mut span = Span::new(Direction::Read, (4096, 2000), 512, 4096).unwrap();
        assert_eq!(span.answer(512), Answer::Short);
        assert_eq!(span.ask(), (4608, 1536));
        assert_eq!(span.answer(100), EOF, "the file was cut inside a block");
    }

    #[test]
    fn misaligned_and_oversized_reads_are_refused() {
        assert!(Span::new(Direction::Read, (100, 512), 512, 4096).is_err());
        assert!(Span::new(Direction::Read, (0, 4097), 4096, 4096).is_err());
        assert_eq!(Span::new(Direction::Read, (0, 0), 1, 4096).unwrap().answer(0), Answer::Ended(Ok(0)));
    }

    #[test]
    fn a_write_moves_whole_blocks_and_has_no_end_to_stop_at() {
        let write = |offset, len| Span::new(Direction::Write, (offset, len), 512, 4096);
        assert!(write(4096, 700).is_err(), "it would make the file longer");
        let mut span = write(4096, 2048).unwrap();
        assert_eq!(span.answer(512), Answer::Short);
        assert_eq!(span.ask(), (4608, 1536));
        let taken_in_part = OpError { kind: ErrorKind::Io, code: 0 };
        assert_eq!(span.answer(0), Answer::Ended(Err(taken_in_part)));
    }

    #[test]
    fn errors_keep_their_number() {
        let mut span = Span::new(Direction::Read, (0, 10), 1, 4096).unwrap();
        let error = OpError { kind: ErrorKind::Io, code: libc::EIO as u32 };
        assert_eq!(span.answer(-libc::EIO), Answer::Ended(Err(error)));
    }
}
