//! The queue that reads by `pread`, in line: what a `DataLoader` worker does.

use std::io::IoSliceMut;
use std::sync::Arc;

use backend::{
    Clock, Completion, IoQueue, Op, OpError, QueueError, QueueReport, QueueSpec, Request, Stamps, StoreError,
};
use rustix::fd::BorrowedFd;
use rustix::io::{Errno, ReadWriteFlags};

use crate::files::{FileTable, QueueFiles};
use crate::pause::pause;
use crate::span::{Answer, Span, read_flags};

/// One thread's blocking reads. Every request ends inside `submit`.
pub(crate) struct PreadQueue {
    files: QueueFiles,
    align_bytes: u32,
    read_flags: ReadWriteFlags,
    clock: Clock,
    short_reads: u64,
    enters: u64,
}

impl PreadQueue {
    /// A queue over the files of `table`.
    pub(crate) fn open(table: Arc<FileTable>, spec: &QueueSpec<'_>) -> Result<Self, StoreError> {
        let align_bytes = table.align_bytes();
        let clock = spec.clock.clone();
        let read_flags = ReadWriteFlags::from_bits_retain(read_flags(spec.cache).cast_unsigned());
        Ok(Self {
            files: QueueFiles::new(table, 1)?,
            align_bytes,
            read_flags,
            clock,
            short_reads: 0,
            enters: 0,
        })
    }

    fn read(&mut self, request: &mut Request) -> Result<u64, OpError> {
        let Op::Read { object, offset, len } = request.op else {
            return Err(OpError::from_errno(libc::EOPNOTSUPP));
        };
        let buffer = request.buf.as_mut_slice();
        let mut span = Span::new(offset, len, self.align_bytes, buffer.len())?;
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
            let answer = read_at(file, room, offset, self.read_flags);
            match span.answer(answer.map_or_else(|errno| -errno.raw_os_error(), as_result)) {
                Answer::Ended(result) => break result,
                Answer::Repeat => {}
                Answer::Short => self.short_reads += 1,
            }
        };
        self.files.unpin(in_use);
        result
    }
}

impl IoQueue for PreadQueue {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        // The end of one read is the beginning of the next: one reading of the clock serves both.
        let mut begun_ns = self.clock.now_ns();
        for mut request in requests.drain(..) {
            let result = self.read(&mut request);
            let done_ns = self.clock.now_ns();
            let stamps = Stamps { begun_ns, done_ns, ..Stamps::default() };
            done.push(Completion { token: request.token, buf: request.buf, result, stamps });
            begun_ns = done_ns;
        }
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, _done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let left_ns = until_ns.saturating_sub(self.clock.now_ns());
        // Nothing is ever outstanding; only time can end this wait, and none that has no end is begun.
        if min > 0 && left_ns > 0 && until_ns != u64::MAX {
            pause(left_ns);
        }
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        0
    }

    fn report(&self) -> QueueReport {
        QueueReport {
            granted: vec![("open_files", self.files.table().summary())],
            short_reads: self.short_reads,
            opens: self.files.opens(),
            enters: self.enters,
        }
    }

    fn close(self: Box<Self>, _until_ns: u64, _done: &mut Vec<Completion>) -> u32 {
        0
    }
}

/// The plain call where no flag is wanted: it is the one that everybody makes.
fn read_at(
    file: BorrowedFd<'_>,
    room: &mut [u8],
    offset: u64,
    flags: ReadWriteFlags,
) -> Result<usize, Errno> {
    if flags.is_empty() {
        rustix::io::pread(file, room, offset)
    } else {
        rustix::io::preadv2(file, &mut [IoSliceMut::new(room)], offset, flags)
    }
}

/// As a completion of a ring says it; Linux reads less than 2 GiB at once.
pub(crate) fn as_result(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}
