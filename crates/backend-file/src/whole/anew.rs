//! Whole files written anew by blocking calls, in line: what a saver does that lets nobody find half a file.
//!
//! A file is made under a name of its own in the folder of the one that it replaces, written, written back as far as is
//! promised, and renamed over it. One that fails is removed again; of a killed process it stays under a name that `clean`
//! knows.

use std::sync::Arc;

use backend::{
    Clock, ErrorKind, FilePieces, Op, OpError, PHASE_STAMPS, Piece, QueueReport, QueueSpec, Request,
    StoreError, unfinished_name,
};
use plan::{Cache, Durability};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, fdatasync, fsync, ftruncate, openat, renameat};
use rustix::io::Errno;

use super::names::{Holder, Name, Names};
use crate::inline::Serve;
use crate::span::granted_align;
use crate::tree::FILE_MODE;
use crate::{failure, tree, write};

/// Phases of a file that is written: the last has the renaming, and the writing back of the name.
const PHASES: &[&str] = &["create_ns", "write_ns", "sync_ns", "rename_ns"];

/// One thread's files, one after the other.
pub(super) struct WritesAnew {
    names: Arc<Names>,
    name: Name,
    /// The name of a file until it is whole. One of each queue is enough, which writes one at a time.
    // Made once, so that nothing is allocated for an operation.
    temporary: String,
    flags: OFlags,
    align_bytes: u32,
    block_bytes: u32,
    durability: Durability,
    clock: Clock,
    short_writes: u64,
    opens: u64,
    enters: u64,
}

impl WritesAnew {
    pub(super) fn open(
        names: Arc<Names>,
        durability: Durability,
        spec: &QueueSpec<'_>,
    ) -> Result<Self, StoreError> {
        let direct = spec.cache == Cache::Bypass;
        let (_, align_bytes) = names.open_flags(direct)?;
        Ok(Self {
            names,
            name: Name::new(),
            temporary: unfinished_name("anew"),
            flags: if direct { write::NEW_FILE | OFlags::DIRECT } else { write::NEW_FILE },
            align_bytes,
            block_bytes: spec.block_bytes,
            durability,
            clock: spec.clock.clone(),
            short_writes: 0,
            opens: 0,
            enters: 0,
        })
    }

    fn replace(
        &mut self,
        object: u32,
        bytes: u64,
        buffer: &mut [u8],
        phase_ns: &mut [u64; PHASE_STAMPS],
    ) -> Result<u64, OpError> {
        let names = Arc::clone(&self.names);
        let folder = names.holder(object, &mut self.name).map_err(failure::of_operation)?;
        self.enters += 1;
        self.opens += 1;
        let file = openat(&folder, &*self.temporary, self.flags, FILE_MODE).map_err(failure::of_operation)?;
        phase_ns[0] = self.clock.now_ns();
        let replaced = self.finish(&folder, file, bytes, buffer, phase_ns);
        if replaced.is_err() {
            // What cannot be removed is known to `clean` by its name.
            let _ = tree::unlink(folder.as_fd(), &self.temporary);
        }
        replaced.map(|()| bytes)
    }

    /// Fills the new file and lets it appear in the place of the old one.
    fn finish(
        &mut self,
        folder: &Holder<'_>,
        file: OwnedFd,
        bytes: u64,
        buffer: &mut [u8],
        phase_ns: &mut [u64; PHASE_STAMPS],
    ) -> Result<(), OpError> {
        self.fill(&file, bytes, buffer)?;
        phase_ns[1] = self.clock.now_ns();
        self.keep(file).map_err(failure::of_operation)?;
        phase_ns[2] = self.clock.now_ns();
        self.enters += 1;
        renameat(folder, &*self.temporary, folder, self.name.as_c_str()).map_err(failure::of_operation)?;
        // The bytes are found again by their new name alone: what is to outlive a power cut has both.
        if self.durability == Durability::None {
            return Ok(());
        }
        self.enters += 3;
        write::sync_folder(folder).map_err(failure::of_operation)
    }

    /// Writes the bytes of a file, in pieces of a block.
    fn fill(&mut self, file: &OwnedFd, bytes: u64, buffer: &mut [u8]) -> Result<(), OpError> {
        let pieces = FilePieces::new(bytes, self.block_bytes);
        let align_bytes = self.align_bytes as usize;
        for number in 0..pieces.count() {
            pieces.number(number, buffer);
            let Piece { offset, len } = pieces.get(number);
            // Direct I/O writes whole blocks of the device; what is too much of the last is cut off below.
            let whole = (len as usize).next_multiple_of(align_bytes);
            let is_cut = whole > len as usize;
            if whole > buffer.len() || (is_cut && number + 1 < pieces.count()) {
                return Err(OpError::from_errno(libc::EINVAL));
            }
            self.write(file, &buffer[..whole], offset)?;
            if is_cut {
                self.enters += 1;
                ftruncate(file, bytes).map_err(failure::of_operation)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, file: &OwnedFd, mut rest: &[u8], mut offset: u64) -> Result<(), OpError> {
        while !rest.is_empty() {
            self.enters += 1;
            match rustix::io::pwrite(file, rest, offset) {
                Ok(0) => return Err(OpError { kind: ErrorKind::Io, code: 0 }),
                Ok(written) => {
                    (rest, offset) = (&rest[written..], offset + written as u64);
                    self.short_writes += u64::from(!rest.is_empty());
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failure::of_operation(errno)),
            }
        }
        Ok(())
    }

    /// Writes back what is promised of a file, and closes it.
    fn keep(&mut self, file: OwnedFd) -> Result<(), Errno> {
        self.enters += 2;
        match self.durability {
            Durability::None => self.enters -= 1,
            Durability::Data => fdatasync(&file)?,
            Durability::Full => fsync(&file)?,
        }
        // Closed before it is renamed: NFS reports a full disk at close, and then nothing may appear.
        write::close(file)
    }
}

impl Serve for WritesAnew {
    fn serve(&mut self, request: &mut Request, phase_ns: &mut [u64; PHASE_STAMPS]) -> Result<u64, OpError> {
        match request.op {
            Op::WriteFile { object, bytes } => {
                self.replace(object, bytes, request.buf.as_mut_slice(), phase_ns)
            }
            _ => Err(OpError::from_errno(libc::EOPNOTSUPP)),
        }
    }

    fn phases(&self) -> &'static [&'static str] {
        PHASES
    }

    fn report(&self) -> QueueReport {
        let mut granted = vec![("folders", self.names.summary())];
        granted.extend(granted_align(self.align_bytes));
        QueueReport {
            granted,
            short_reads: self.short_writes,
            opens: self.opens,
            enters: self.enters,
            ..QueueReport::default()
        }
    }
}
