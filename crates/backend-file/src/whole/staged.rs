//! Whole files through a ring: each on its way from stage to stage, and all entries that are ready handed over
//! in one call.
//!
//! A file is opened into the ring's own table, read and closed, so it needs no descriptor of the process. Its
//! size is not asked for: no entry can ask it of such a file, and one that asks by name is always left to another
//! thread of the kernel. Instead the last read asks for more than the plan knows and finds nothing. A slot is
//! used again only after its file was closed. Each phase ends when its completion is seen; one reading of the
//! clock serves a batch.

use std::mem;
use std::os::fd::FromRawFd;
use std::sync::Arc;

use backend::{
    Clock, Completion, FilePieces, Op, OpError, QueueReport, QueueSpec, Request, Stamps, StoreError,
};
use plan::{Cache, Operation};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;

use super::entries::{Entries, EntryMemory, FileSlots};
use super::names::Names;
use super::pieces::Pieces;
use super::stages::{FileFlight, Stage, Then};
use crate::span::{granted_align, read_flags};
use crate::uring::available;
use crate::uring::register::Buffers;
use crate::uring::ring::Ring;
use crate::uring::turns::{Outbox, Turns};

/// Phases of a whole file.
const PHASES: &[&str] = &["open_ns", "read_ns", "close_ns"];

/// How long a queue that is given up waits for one more answer. A local file is opened in less, and a server that is gone
/// never opens it.
const GIVE_UP_NS: u64 = 1_000_000_000;

/// One thread's ring and the files on their way.
pub(super) struct StagedFiles {
    outbox: Outbox,
    names: Arc<Names>,
    entries: Entries,
    operation: Operation,
    block_bytes: u32,
    align_bytes: u32,
    clock: Clock,
    /// By the number that an entry carries.
    flights: Vec<Option<FileFlight>>,
    memory: Box<[EntryMemory]>,
    free: Vec<u32>,
    /// Reused for what a look finds.
    reaped: Vec<(u32, i32)>,
    short_reads: u64,
    opens: u64,
}

impl StagedFiles {
    /// Opens a ring on the calling thread, which alone may use it.
    pub(super) fn open(names: Arc<Names>, spec: &QueueSpec<'_>) -> Result<Self, StoreError> {
        if spec.operation == Operation::List {
            return Err(StoreError::Unsupported { store: "io_uring", action: "list folders" });
        }
        let direct = spec.cache == Cache::Bypass;
        let (mut flags, align_bytes) = names.open_flags(direct)?;
        if !names.reads_never_block() {
            flags.remove(OFlags::NONBLOCK);
        }
        let ring = Ring::open(spec.depth).map_err(|error| available::refused(&error))?;
        let buffers = Buffers::register(&ring, spec.arena, spec.registered)?;
        let slots = FileSlots::register(&ring, spec.depth, spec.registered)?;
        let depth = spec.depth as usize;
        Ok(Self {
            outbox: Outbox::new(ring, spec.depth, spec.submit_batch),
            names,
            entries: Entries::new(slots, buffers, flags, read_flags(spec.cache)),
            operation: spec.operation,
            block_bytes: spec.block_bytes,
            align_bytes,
            clock: spec.clock.clone(),
            flights: (0..depth).map(|_| None).collect(),
            memory: (0..depth).map(|_| EntryMemory::new()).collect(),
            free: (0..spec.depth).rev().collect(),
            reaped: Vec::with_capacity(depth),
            short_reads: 0,
            opens: 0,
        })
    }

    fn first_stage(&self, request: &Request) -> Result<(u32, Pieces, Stage), OpError> {
        let room = request.buf.as_slice().len();
        match request.op {
            Op::ReadFile { object, bytes } if self.operation == Operation::ReadFile => {
                let file = FilePieces::new(bytes, self.block_bytes);
                Ok((object, Pieces::new(file, room, self.align_bytes, true)?, Stage::Open))
            }
            Op::Stat { object } if self.operation == Operation::Stat => {
                let file = FilePieces::new(self.names.objects().bytes(object), self.block_bytes);
                Ok((object, Pieces::new(file, room, 1, true)?, Stage::Look))
            }
            _ => Err(OpError::from_errno(libc::EOPNOTSUPP)),
        }
    }

    fn refuse(&self, request: Request, error: OpError) -> Completion {
        let now_ns = self.clock.now_ns();
        let stamps = Stamps { begun_ns: now_ns, done_ns: now_ns, ..Stamps::default() };
        Completion { token: request.token, buf: request.buf, result: Err(error), stamps }
    }

    /// Fills the entry for the stage that an operation is in.
    fn fill(&mut self, number: u32) {
        let Some(flight) = &mut self.flights[number as usize] else { return };
        flight.keeps_time = self.entries.keeps_times();
        let memory = &mut self.memory[number as usize];
        let entry = self.entries.entry(number, flight, memory, &self.names);
        // SAFETY: the flight owns its buffer, and the queue the memory of its entries and the folders, until the
        // completion of this entry is reaped; what is given up is leaked.
        unsafe { self.outbox.push(number, entry) };
    }

    fn answered(&mut self, number: u32, answer: i32, now_ns: u64) -> Option<Completion> {
        let place = self.flights.get_mut(number as usize)?;
        let flight = place.as_mut()?;
        // open(2): O_NOATIME is EPERM for a user who does not own the file. Tried once, then left out for all files.
        if flight.stage == Stage::Open && flight.keeps_time && answer == -libc::EPERM {
            self.entries.touch();
            self.fill(number);
            return None;
        }
        match flight.answer(answer, &self.memory[number as usize].look, now_ns) {
            Then::End => {
                let mut flight = place.take()?;
                if flight.is_changed() {
                    flight.settle(self.names.look(flight.object, &mut self.memory[number as usize].name));
                }
                self.free.push(number);
                return Some(flight.land(now_ns));
            }
            Then::Short => self.short_reads += 1,
            Then::GoOn => {}
        }
        self.fill(number);
        None
    }

    /// Closes what is open among the descriptors of the process although nobody will read it.
    ///
    /// What the kernel has begun to open is waited for: nobody else learns of that descriptor. So is what it has begun
    /// to close, because the end of a ring cancels what no thread of the kernel has taken up.
    fn close_descriptors(&mut self) {
        let numbers = 0..self.flights.len() as u32;
        let mut in_kernel: Vec<bool> = numbers.map(|number| !self.outbox.holds(number)).collect();
        loop {
            for (number, answer) in self.outbox.ring.completions() {
                let Some(Some(flight)) = self.flights.get_mut(number as usize) else { continue };
                in_kernel[number as usize] = false;
                if flight.stage == Stage::Close && answer != -libc::ECANCELED {
                    flight.fd = -1;
                }
                let _ = flight.answer(answer, &self.memory[number as usize].look, 0);
            }
            let mut begun = self.flights.iter().zip(&in_kernel).filter(|(_, in_kernel)| **in_kernel);
            let is_missing = |flight: &FileFlight| matches!(flight.stage, Stage::Open | Stage::Close);
            if !begun.any(|(flight, _)| flight.as_ref().is_some_and(is_missing)) {
                break;
            }
            match self.outbox.ring.enter(0, 1, Some(GIVE_UP_NS)) {
                Err(error) if error.raw_os_error() != Some(libc::EINTR) => break,
                _ => {}
            }
        }
        for (flight, in_kernel) in self.flights.iter().zip(in_kernel) {
            let Some(flight) = flight else { continue };
            if flight.fd >= 0 && !(in_kernel && flight.stage == Stage::Close) {
                // SAFETY: the kernel gave the descriptor to this flight, and nobody else closes it.
                drop(unsafe { OwnedFd::from_raw_fd(flight.fd) });
            }
        }
    }
}

impl Turns for StagedFiles {
    fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn take(&mut self, request: Request) -> Result<(), Completion> {
        let (object, pieces, stage) = match self.first_stage(&request) {
            Ok(first) => first,
            Err(error) => return Err(self.refuse(request, error)),
        };
        // `submit` takes no more requests than there are free numbers.
        if let Some(number) = self.free.pop() {
            self.opens += u64::from(stage == Stage::Open);
            self.flights[number as usize] =
                Some(FileFlight::new(request.token, request.buf, object, pieces, stage));
            self.fill(number);
        }
        Ok(())
    }

    fn begin(&mut self, number: u32, now_ns: u64) {
        if let Some(flight) = &mut self.flights[number as usize] {
            flight.begin(now_ns);
        }
    }

    fn look(&mut self, done: &mut Vec<Completion>) {
        // Taken out of the queue: an answer may fill the next entry, which borrows the whole queue.
        let mut reaped = mem::take(&mut self.reaped);
        reaped.extend(self.outbox.ring.completions());
        if !reaped.is_empty() {
            let now_ns = self.clock.now_ns();
            for (number, answer) in reaped.drain(..) {
                done.extend(self.answered(number, answer, now_ns));
            }
        }
        self.reaped = reaped;
    }

    fn depth(&self) -> usize {
        self.flights.len()
    }

    fn free(&self) -> usize {
        self.free.len()
    }

    /// A stage that has ended is not kept waiting for those of others.
    fn want(&self, missing: u32) -> u32 {
        missing.min(1)
    }

    fn phases(&self) -> &'static [&'static str] {
        if self.operation == Operation::ReadFile { PHASES } else { &[] }
    }

    fn report(&self) -> QueueReport {
        let mut granted = vec![
            ("ring", self.outbox.ring.flags().to_owned()),
            ("buffers", self.entries.buffers.summary()),
            ("files", self.entries.slots.summary()),
            ("folders", self.names.summary()),
        ];
        granted.extend(granted_align(self.align_bytes));
        QueueReport {
            granted,
            short_reads: self.short_reads,
            opens: self.opens,
            enters: self.outbox.enters(),
            ..QueueReport::default()
        }
    }
}

impl Drop for StagedFiles {
    fn drop(&mut self) {
        if self.outstanding() == 0 {
            return;
        }
        if self.entries.slots != FileSlots::Ring {
            self.close_descriptors();
        }
        // The kernel may still write to what the flights point to.
        mem::forget(mem::take(&mut self.memory));
        for flight in self.flights.iter_mut().filter_map(Option::take) {
            mem::forget(flight.buf);
        }
    }
}
