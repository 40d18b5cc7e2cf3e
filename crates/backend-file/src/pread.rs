//! Reads by `pread`, in line: what a `DataLoader` worker does.

use std::io::IoSliceMut;
use std::sync::Arc;

use backend::{Op, OpError, PHASE_STAMPS, QueueReport, QueueSpec, Request, StoreError};
use rustix::fd::BorrowedFd;
use rustix::io::ReadWriteFlags;

use crate::files::{FileTable, QueueFiles};
use crate::inline::Serve;
use crate::span::{Answer, Span, read_flags};

/// One thread's blocking reads.
pub(crate) struct Preads {
    files: QueueFiles,
    align_bytes: u32,
    read_flags: ReadWriteFlags,
    short_reads: u64,
    enters: u64,
}

impl Preads {
    /// Reads of the files of `table`.
    pub(crate) fn open(table: Arc<FileTable>, spec: &QueueSpec<'_>) -> Result<Self, StoreError> {
        let align_bytes = table.align_bytes();
        let read_flags = ReadWriteFlags::from_bits_retain(read_flags(spec.cache));
        Ok(Self { files: QueueFiles::new(table, 1)?, align_bytes, read_flags, short_reads: 0, enters: 0 })
    }

    fn read(&mut self, request: &mut Request) -> Result<u64, OpError> {
        let Op::Read { object, offset, len } = request.op else {
            return Err(OpError::from_errno(libc::EOPNOTSUPP));
        };
        let buffer = request.buf.as_mut_slice();
        let mut span = Span::new(offset, len, self.align_bytes, buffer.len())?;
        // A file that is not open is opened here, inside the read: where more files exist than may be open,
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
            match span.answer(read_at(file, room, offset, self.read_flags)) {
                Answer::Ended(result) => break result,
                Answer::Repeat => {}
                Answer::Short => self.short_reads += 1,
            }
        };
        self.files.unpin(in_use);
        result
    }
}

impl Serve for Preads {
    fn serve(&mut self, request: &mut Request, _phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<u64, OpError> {
        self.read(request)
    }

    fn report(&self) -> QueueReport {
        QueueReport {
            granted: vec![("open_files", self.files.table().summary())],
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
    match read {
        // read(2): Linux transfers at most 2,147,479,552 bytes in one call.
        Ok(bytes) => i32::try_from(bytes).unwrap_or(i32::MAX),
        Err(errno) => -errno.raw_os_error(),
    }
}
