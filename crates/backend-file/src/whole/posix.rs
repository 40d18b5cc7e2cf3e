//! Whole files by blocking calls, in line: what a `DataLoader` worker does.

use std::mem::MaybeUninit;
use std::sync::Arc;

use backend::{Clock, FilePieces, Op, OpError, PHASE_STAMPS, QueueReport, QueueSpec, Request, StoreError};
use plan::{Cache, Operation};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, RawDir, fstat};
use rustix::io::{Errno, ReadWriteFlags};

use super::names::{Name, Names};
use super::pieces::{Pieces, PiecesAnswer, judge_size};
use crate::inline::Serve;
use crate::pread::read_at;
use crate::span::{granted_align, read_flags};
use crate::{failure, tree};

/// Phases of a whole file.
const PHASES: &[&str] = &["open_ns", "stat_ns", "read_ns", "close_ns"];

/// One thread's blocking calls.
pub(super) struct PosixCalls {
    names: Arc<Names>,
    name: Name,
    operation: Operation,
    folders: Vec<String>,
    flags: OFlags,
    read_flags: ReadWriteFlags,
    block_bytes: u32,
    align_bytes: u32,
    clock: Clock,
    short_reads: u64,
    opens: u64,
    enters: u64,
}

impl PosixCalls {
    pub(super) fn open(names: Arc<Names>, spec: &QueueSpec<'_>) -> Result<Self, StoreError> {
        let lists = spec.operation == Operation::List;
        let (flags, align_bytes) = names.open_flags(spec.cache == Cache::Bypass && !lists)?;
        let folders = if lists { names.objects().folders() } else { Vec::new() };
        Ok(Self {
            name: Name::new(),
            operation: spec.operation,
            folders: folders
                .into_iter()
                .map(|key| key.map_or(".".to_owned(), |key| key.to_string()))
                .collect(),
            flags,
            read_flags: ReadWriteFlags::from_bits_retain(read_flags(spec.cache)),
            block_bytes: spec.block_bytes,
            align_bytes,
            clock: spec.clock.clone(),
            short_reads: 0,
            opens: 0,
            enters: 0,
            names,
        })
    }

    fn read_file(
        &mut self,
        object: u32,
        bytes: u64,
        buffer: &mut [u8],
        phase_ns: &mut [u64; PHASE_STAMPS],
    ) -> Result<u64, OpError> {
        let file = self.open_file(object).map_err(failure::of_operation)?;
        phase_ns[0] = self.clock.now_ns();
        // fstat, and the close as `file` is dropped. The operation ends only after it, so the close is timed.
        self.enters += 2;
        let stat = fstat(&file).map_err(failure::of_operation)?;
        judge_size(stat.st_mode, stat.st_size.unsigned_abs(), bytes)?;
        phase_ns[1] = self.clock.now_ns();
        let read = self.read_all(&file, bytes, buffer)?;
        phase_ns[2] = self.clock.now_ns();
        Ok(read)
    }

    fn open_file(&mut self, object: u32) -> Result<OwnedFd, Errno> {
        let start = self.names.locate(object, &mut self.name);
        self.enters += 1;
        self.opens += 1;
        tree::keeping_times(&mut self.flags, |flags| self.names.open_file(start, &self.name, flags))
    }

    fn read_all(&mut self, file: &OwnedFd, bytes: u64, buffer: &mut [u8]) -> Result<u64, OpError> {
        let file_pieces = FilePieces::new(bytes, self.block_bytes);
        let mut pieces = Pieces::new(file_pieces, buffer.len(), self.align_bytes, false)?;
        if bytes == 0 {
            return Ok(0);
        }
        loop {
            let ask = pieces.ask();
            let room = &mut buffer[ask.skip as usize..][..ask.len as usize];
            self.enters += 1;
            match pieces.answer(read_at(file.as_fd(), room, ask.offset, self.read_flags)) {
                PiecesAnswer::Ended(result) => return result,
                PiecesAnswer::Short => self.short_reads += 1,
                PiecesAnswer::Repeat | PiecesAnswer::Next => {}
            }
        }
    }

    fn stat(&mut self, object: u32) -> Result<u64, OpError> {
        self.enters += 1;
        let (mode, bytes) = self.names.look(object, &mut self.name)?;
        judge_size(mode, bytes, self.names.objects().bytes(object)).map(|()| 0)
    }

    fn list(&mut self, folder: u32, buffer: &mut [u8]) -> Result<u64, Errno> {
        let path = self.folders.get(folder as usize).ok_or(Errno::NOENT)?;
        // openat and close; getdents64 is counted where its buffer is filled.
        self.enters += 2;
        self.opens += 1;
        let folder = tree::keeping_times(&mut self.flags, |flags| self.names.open_folder(path, flags))?;
        count_entries(&folder, buffer, &mut self.enters)
    }
}

/// Entries of a folder without `.` and `..`, by as many calls as its buffer makes necessary.
fn count_entries(folder: &OwnedFd, buffer: &mut [u8], enters: &mut u64) -> Result<u64, Errno> {
    // SAFETY: bytes are no stricter than bytes that may be uninitialised, and what lists a folder writes only
    // initialised ones.
    let buffer = unsafe { &mut *(std::ptr::from_mut(buffer) as *mut [MaybeUninit<u8>]) };
    let mut names = RawDir::new(folder.as_fd(), buffer);
    let mut entries = 0;
    *enters += 1;
    loop {
        *enters += u64::from(names.is_buffer_empty());
        match names.next() {
            Some(Ok(entry)) => entries += u64::from(!matches!(entry.file_name().to_bytes(), b"." | b"..")),
            Some(Err(Errno::INTR)) => {}
            Some(Err(errno)) => return Err(errno),
            None => return Ok(entries),
        }
    }
}

impl Serve for PosixCalls {
    fn serve(&mut self, request: &mut Request, phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<u64, OpError> {
        match request.op {
            Op::ReadFile { object, bytes } if self.operation == Operation::ReadFile => {
                self.read_file(object, bytes, request.buf.as_mut_slice(), phase_ns)
            }
            Op::Stat { object } if self.operation == Operation::Stat => self.stat(object),
            Op::List { folder } if self.operation == Operation::List => {
                self.list(folder, request.buf.as_mut_slice()).map_err(failure::of_operation)
            }
            _ => Err(OpError::from_errno(libc::EOPNOTSUPP)),
        }
    }

    fn phases(&self) -> &'static [&'static str] {
        if self.operation == Operation::ReadFile { PHASES } else { &[] }
    }

    fn report(&self) -> QueueReport {
        let mut granted = vec![("folders", self.names.summary())];
        granted.extend(granted_align(self.align_bytes));
        QueueReport {
            granted,
            short_reads: self.short_reads,
            opens: self.opens,
            enters: self.enters,
            ..QueueReport::default()
        }
    }
}
