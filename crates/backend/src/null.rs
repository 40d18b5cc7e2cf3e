//! The null backend: answers at once, from no storage.
//!
//! It measures the client itself. Its throughput is the ceiling that every other figure of a run is held
//! against, and the cost of the whole worker loop is what its benchmark reports.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use dataset::{Key, Objects};
use rustix::time::Timespec;

use crate::{
    CacheAction, Clock, Completion, FilePieces, IoQueue, Limits, Op, QueueError, QueueReport, QueueSpec,
    Request, Residency, Stamps, Store, StoreError,
};

/// Bytes that are copied from, more than the caches of a processor hold: a page cache is read from memory.
// Server processors have last-level caches of up to several hundred MiB; where all of this fits, the ceiling of
// copies is too high, which makes the client look faster than it is. Twice as much would be missed by small machines.
const SOURCE_BYTES: usize = 256 << 20;

const NS_PER_S: u64 = 1_000_000_000;

/// Shared by all queues that copy, and gone with the last of them: what it held would be missing from the page cache that
/// is measured next, where a limit is set to the memory of this process.
static SOURCE: Mutex<Weak<Vec<u8>>> = Mutex::new(Weak::new());

/// The memory that copying queues read from. A caller that opens one queue after another holds it meanwhile, so that it is
/// allocated once.
pub fn source() -> Arc<Vec<u8>> {
    let mut shared = SOURCE.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        // Not zeros: the allocator would hand out pages that are all mapped to one zero page, which fits every cache.
        let made = Arc::new(vec![0x5a; SOURCE_BYTES]);
        *shared = Arc::downgrade(&made);
        made
    })
}

/// A storage without data.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullStore {
    /// Copy each read into its buffer, as a read through the page cache must; direct I/O moves no byte by
    /// processor.
    pub copies: bool,
}

impl Store for NullStore {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("storage", "none: the client's own ceiling".to_owned())]
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        Ok(Limits { direct_align_bytes: None, page_cache: false })
    }

    crate::store::holds_no_data!("the null target");

    fn read_at(&self, _: &Key, _: u64, _: &mut [u8]) -> Result<usize, StoreError> {
        Err(StoreError::Unsupported { store: "the null target", action: "read an object untimed" })
    }

    fn cache(&self, _action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        Ok(Residency {
            resident_bytes: None,
            total_bytes: objects.total_bytes(),
            method: "none",
            names_dropped: None,
        })
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        // Held by the queue: a run of several ceilings opens one queue after the other and would fill it anew each
        // time (see `source`).
        let source = if self.copies { source() } else { Arc::default() };
        Ok(Box::new(NullQueue {
            clock: spec.clock.clone(),
            depth: spec.depth as usize,
            block_bytes: spec.block_bytes,
            source,
            next: 0,
            ended: Vec::with_capacity(spec.depth as usize),
        }))
    }
}

struct NullQueue {
    clock: Clock,
    depth: usize,
    block_bytes: u32,
    /// What is copied into the buffers, from one end to the other; empty when nothing is.
    source: Arc<Vec<u8>>,
    next: usize,
    /// Taken and not yet returned, stamped when they were taken.
    ended: Vec<Completion>,
}

impl NullQueue {
    /// What an operation answers: the bytes that it would read, copied where copies are asked for.
    fn serve(&mut self, request: &mut Request) -> u64 {
        let bytes = match request.op {
            Op::Read { len, .. } | Op::Write { len, .. } => u64::from(len),
            Op::ReadFile { bytes, .. } | Op::WriteFile { bytes, .. } => bytes,
            Op::Stat { .. } | Op::GetAttr { .. } | Op::List { .. } => 0,
        };
        if !self.source.is_empty() {
            let pieces = match request.op {
                Op::ReadFile { bytes, .. } | Op::WriteFile { bytes, .. } => {
                    FilePieces::new(bytes, self.block_bytes)
                }
                _ => FilePieces::new(bytes, bytes as u32),
            };
            (0..pieces.count()).for_each(|number| self.copy(request, pieces.get(number).len as usize));
        }
        bytes
    }

    fn copy(&mut self, request: &mut Request, bytes: usize) {
        let mut rest = &mut request.buf.as_mut_slice()[..bytes];
        while !rest.is_empty() {
            // The source is walked from one end to the other, so that what is copied next was not just used.
            let part = rest.len().min(self.source.len() - self.next);
            let (head, tail) = rest.split_at_mut(part);
            head.copy_from_slice(&self.source[self.next..self.next + part]);
            self.next = (self.next + part) % self.source.len();
            rest = tail;
        }
    }
}

/// A wait with nothing outstanding: lets time pass until `until_ns`. Returns at once if that is `u64::MAX`, since nothing
/// would end the wait.
pub fn pass_time(clock: &Clock, until_ns: u64) {
    if until_ns == u64::MAX {
        return;
    }
    clock.advance_to(until_ns);
    let left_ns = until_ns.saturating_sub(clock.now_ns());
    let tv_sec = (left_ns / NS_PER_S).cast_signed();
    let tv_nsec = (left_ns % NS_PER_S).cast_signed();
    // A signal ends it early, as it ends any wait.
    let _ = rustix::thread::nanosleep(&Timespec { tv_sec, tv_nsec });
}

impl IoQueue for NullQueue {
    fn submit(&mut self, requests: &mut Vec<Request>, _done: &mut Vec<Completion>) -> Result<(), QueueError> {
        // What a full queue leaves with the caller is part of the cost that the ceiling measures.
        let accepted = requests.len().min(self.depth - self.ended.len());
        let begun_ns = self.clock.now_ns();
        for mut request in requests.drain(..accepted) {
            let bytes = self.serve(&mut request);
            self.ended.push(Completion {
                token: request.token,
                buf: request.buf,
                result: Ok(bytes),
                stamps: Stamps { begun_ns, done_ns: begun_ns, ..Stamps::default() },
            });
        }
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        // With anything ended a wait returns at once: time that the null target lets pass is time that it does not
        // measure.
        if min > 0 && self.ended.is_empty() {
            pass_time(&self.clock, until_ns);
        }
        // One reading for the whole batch, as the real queues do it: two readings an operation were measured to cost
        // 31 ns more.
        let done_ns = self.clock.now_ns();
        for completion in &mut self.ended {
            completion.stamps.done_ns = done_ns;
        }
        done.append(&mut self.ended);
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.ended.len() as u32
    }

    fn report(&self) -> QueueReport {
        QueueReport::default()
    }

    fn close(mut self: Box<Self>, _until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        done.append(&mut self.ended);
        0
    }
}
