//! Blocks by `pread` and `pwrite`, in line: what a `DataLoader` worker does.

use std::io::{IoSlice, IoSliceMut};
use std::sync::Arc;

use backend::{OpError, PHASE_STAMPS, QueueReport, Request, StoreError};
use rustix::fd::BorrowedFd;
use rustix::io::ReadWriteFlags;

use crate::files::{FileTable, QueueFiles};
use crate::inline::Serve;
use crate::span::{Answer, Direction, How, Span};

/// One thread's blocking reads and writes.
pub(crate) struct BlockingBlocks {
    files: QueueFiles,
    align_bytes: u32,
    how: How,
    short_reads: u64,
    enters: u64,
}

impl BlockingBlocks {
    /// Blocks of the files of `table`.
    pub(crate) fn open(table: Arc<FileTable>, how: How) -> Result<Self, StoreError> {
        let align_bytes = table.align_bytes();
        let files = QueueFiles::new(table, 1)?;
        Ok(Self { files, align_bytes, how, short_reads: 0, enters: 0 })
    }

    fn move_block(&mut self, request: &mut Request) -> Result<u64, OpError> {
        let (direction, object, place) = self.how.block(request.op)?;
        let flags = ReadWriteFlags::from_bits_retain(self.how.flags(direction));
        let buffer = request.buf.as_mut_slice();
        let mut span = Span::new(direction, place, self.align_bytes, buffer.len())?;
        // A file that is not open is opened here, inside the operation: where more files exist than may be open,
        // that is part of what it costs.
        let in_use = match self.files.pin(object) {
            Some(in_use) => in_use,
            None => self.files.open(object)?,
        };
        // SAFETY: a file in use stays open until it is unpinned, below.
        let file = unsafe { BorrowedFd::borrow_raw(in_use.fd) };
        let result = loop {
            let (offset, bytes) = span.ask();
            let filled = span.filled() as usize;
            self.enters += 1;
            let room = &mut buffer[filled..filled + bytes as usize];
            let answer = match direction {
                Direction::Read => read_at(file, room, offset, flags),
                Direction::Write => write_at(file, room, offset, flags),
            };
            match span.answer(answer) {
                Answer::Ended(result) => break result,
                Answer::Repeat => {}
                Answer::Short => self.short_reads += 1,
            }
        };
        self.files.unpin(in_use);
        result
    }
}

impl Serve for BlockingBlocks {
    fn serve(&mut self, request: &mut Request, _phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<u64, OpError> {
        self.move_block(request)
    }

    fn report(&self) -> QueueReport {
        let table = self.files.table();
        QueueReport {
            granted: [("open_files", table.summary())].into_iter().chain(table.advised()).collect(),
            short_reads: self.short_reads,
            opens: self.files.opens(),
            enters: self.enters,
            ..QueueReport::default()
        }
    }
}

/// Reads once, and answers as a completion of a ring does: bytes read, or a negative error number.
pub(crate) fn read_at(file: BorrowedFd<'_>, room: &mut [u8], offset: u64, flags: ReadWriteFlags) -> i32 {
    // The plain call where no flag is wanted: it is the one that loaders make, so its cost is the one to
    // measure.
    let read = if flags.is_empty() {
        rustix::io::pread(file, room, offset)
    } else {
        rustix::io::preadv2(file, &mut [IoSliceMut::new(room)], offset, flags)
    };
    answered(read)
}

/// Writes once, and answers as a completion of a ring does.
fn write_at(file: BorrowedFd<'_>, bytes: &[u8], offset: u64, flags: ReadWriteFlags) -> i32 {
    answered(if flags.is_empty() {
        rustix::io::pwrite(file, bytes, offset)
    } else {
        rustix::io::pwritev2(file, &[IoSlice::new(bytes)], offset, flags)
    })
}

fn answered(moved: Result<usize, rustix::io::Errno>) -> i32 {
    match moved {
        // read(2), write(2): Linux transfers at most 2,147,479,552 bytes in one call.
        Ok(bytes) => i32::try_from(bytes).unwrap_or(i32::MAX),
        Err(errno) => -errno.raw_os_error(),
    }
}
