//! The null backend: answers at once, from no storage.
//!
//! It measures the client itself. Its throughput is the ceiling that every other figure of a run is held
//! against, and the cost of the whole worker loop is what its benchmark reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset::{Key, Objects};
use rustix::time::Timespec;

use crate::{
    CacheAction, Clock, Completion, FilePieces, IoQueue, Limits, Op, QueueError, QueueReport, QueueSpec,
    Request, Residency, Stamps, Store, StoreError,
};

const NS_PER_S: u64 = 1_000_000_000;

/// The golden ratio, in units of 2^-64: its multiples fall far from each other in a unit, however many there are.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A storage without data.
#[derive(Debug, Default)]
pub struct NullStore {
    /// What its queues copy from; empty where they copy nothing.
    source: Arc<Vec<u8>>,
    /// Queues that were opened.
    queues: AtomicU64,
}

impl NullStore {
    /// One that copies each read into its buffer out of `source_bytes` of memory, which it holds as long as it lives: a read
    /// through the page cache must be copied, and direct I/O moves no byte by processor.
    pub fn copying(source_bytes: u64) -> Self {
        // Not zeros: the allocator would hand out pages that are all mapped to one zero page, which fits every cache.
        Self { source: Arc::new(vec![0x5a; source_bytes as usize]), queues: AtomicU64::new(0) }
    }

    /// Where the next queue begins to copy.
    fn begins(&self) -> usize {
        // Apart from those before it: queues that went through the memory side by side would find what the first of them
        // has just brought into a cache.
        let turn = self.queues.fetch_add(1, Ordering::Relaxed).wrapping_mul(GOLDEN);
        ((u128::from(turn) * self.source.len() as u128) >> 64) as usize
    }
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
        Ok(Box::new(NullQueue {
            clock: spec.clock.clone(),
            depth: spec.depth as usize,
            block_bytes: spec.block_bytes,
            source: Arc::clone(&self.source),
            next: self.begins(),
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
            Op::Stat { .. } | Op::GetAttr { .. } | Op::List { .. } | Op::Names { .. } => 0,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_that_copy_begin_far_from_each_other() {
        let store = NullStore::copying(1 << 20);
        for queues in 1..=16_usize {
            let mut begins: Vec<usize> = (0..queues).map(|_| store.begins()).collect();
            begins.sort_unstable();
            let round = begins[0] + (1 << 20);
            let apart = begins.iter().zip(begins[1..].iter().chain([&round])).map(|(one, next)| next - one);
            assert!(apart.min() > Some((1 << 20) / queues / 3), "{begins:?}");
        }
    }
}
