//! Writing a file: several WRITEs under way on a connection of the engine, then a COMMIT.

use backend::{Arena, Buf, Clock, Completion, OpError, StoreError};
use backend_net::{Settings, Wire};

use crate::protocol::{Nfs, Task};
use crate::xdr::Handle;

/// WRITEs under way at once.
// Several, so that the line is busy while a WRITE is answered.
const DEPTH: u32 = 4;

/// Bytes of one WRITE, at most: large enough that the call does not matter.
const WRITE_BYTES_MAX: u32 = 1 << 20;

/// A connection that writes one file at a time.
pub(crate) struct Upload {
    wire: Wire<Nfs>,
    clock: Clock,
    free: Vec<Buf>,
    /// The buffer that is being filled, and how many bytes it has.
    filling: Option<(Buf, usize)>,
    write_bytes: usize,
    /// Offset of the next WRITE.
    offset: u64,
    done: Vec<Completion>,
}

/// Why a file could not be written.
#[derive(Debug)]
pub(crate) enum Lost {
    /// An operation failed; with what the server said.
    Operation(OpError, Option<String>),
    /// The connection cannot go on.
    Queue(backend::QueueError),
}

impl Upload {
    /// Connects to a server that takes `write_bytes_max` bytes in one WRITE.
    pub(crate) fn open(protocol: Nfs, settings: &Settings, write_bytes_max: u32) -> Result<Self, StoreError> {
        let write_bytes = write_bytes_max.clamp(1, WRITE_BYTES_MAX);
        let arena = Arena::new(DEPTH, write_bytes).map_err(|error| StoreError::Unavailable {
            what: "writing".to_owned(),
            reason: error.to_string(),
            hint: "free some memory".to_owned(),
        })?;
        let clock = Clock::real();
        let wire = Wire::connect(protocol, settings, DEPTH, 1, &clock)?;
        let (free, write_bytes) = (arena.buffers(), write_bytes as usize);
        Ok(Self { wire, clock, free, filling: None, write_bytes, offset: 0, done: Vec::new() })
    }

    /// Begins another file.
    pub(crate) fn begin(&mut self) {
        self.wire.protocol_mut().begin_file();
        self.offset = 0;
        // A connection that the server closed meanwhile is noticed, and made anew, before anything is sent on it. What
        // is wrong with one that cannot be is said by the first WRITE.
        let _ = self.turn(0);
    }

    /// Appends bytes to the file.
    pub(crate) fn write(&mut self, file: &Handle, mut bytes: &[u8]) -> Result<(), Lost> {
        while !bytes.is_empty() {
            let (mut buf, filled) = match self.filling.take() {
                Some(filling) => filling,
                None => (self.free_buffer()?, 0),
            };
            let count = bytes.len().min(self.write_bytes - filled);
            buf.as_mut_slice()[filled..filled + count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            self.filling = Some((buf, filled + count));
            if filled + count == self.write_bytes {
                self.send(file)?;
            }
        }
        Ok(())
    }

    /// Waits until all that was written is kept for good.
    pub(crate) fn commit(&mut self, file: &Handle) -> Result<(), Lost> {
        self.send(file)?;
        // Nothing was written, so there is nothing to commit.
        if self.offset == 0 {
            return Ok(());
        }
        // A COMMIT covers what the server has answered. One that overtook a WRITE would not cover it.
        self.drain(0)?;
        let buf = self.free_buffer()?;
        self.start(Task::commit(*file), buf)?;
        self.drain(0)
    }

    fn send(&mut self, file: &Handle) -> Result<(), Lost> {
        if let Some((buf, filled)) = self.filling.take() {
            self.start(Task::write(*file, self.offset, filled as u32), buf)?;
            self.offset += filled as u64;
        }
        Ok(())
    }

    fn start(&mut self, task: Task, buf: Buf) -> Result<(), Lost> {
        if self.wire.start(0, task, buf).is_err() {
            // There are as many buffers as operations it takes.
            return Err(Lost::Operation(OpError::from_errno(libc::EBUSY), None));
        }
        self.turn(0)
    }

    fn free_buffer(&mut self) -> Result<Buf, Lost> {
        self.drain(DEPTH - 1)?;
        self.free.pop().ok_or(Lost::Operation(OpError::from_errno(libc::ENOBUFS), None))
    }

    /// Waits until at most `most` operations are under way.
    fn drain(&mut self, most: u32) -> Result<(), Lost> {
        while self.wire.in_flight() > most {
            self.turn(1)?;
        }
        Ok(())
    }

    fn turn(&mut self, min: usize) -> Result<(), Lost> {
        let until_ns = if min == 0 { self.clock.now_ns() } else { u64::MAX };
        self.wire.turn(min, until_ns, &mut self.done).map_err(Lost::Queue)?;
        let mut failed = None;
        for completion in self.done.drain(..) {
            failed = failed.or(completion.result.err());
            self.free.push(completion.buf);
        }
        match failed {
            Some(error) => Err(Lost::Operation(error, self.wire.report().first_failure)),
            None => Ok(()),
        }
    }
}
