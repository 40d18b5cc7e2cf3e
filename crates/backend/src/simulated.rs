//! A simulated storage on the virtual clock: scripted latencies and faults, exact to the nanosecond.
//!
//! The device serves up to `channels` operations at a time, each for the latency that its script says,
//! first come first served. Content is what a generated dataset holds, or what was written over it, so a mixed-up buffer is
//! found. Of an object that was written whole its last piece is kept.
//! A whole file that is read spends equal parts of its service in each of its four phases; the first has the queueing too.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dataset::{Key, Objects, payload};
use plan::Operation;

use crate::{
    CacheAction, Clock, Completion, ErrorKind, FilePieces, IoQueue, Limits, Op, OpError, PHASE_STAMPS, Piece,
    QueueError, QueueReport, QueueSpec, Request, Residency, Stamps, Store, StoreError,
};

/// What happens to one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Time in service, once a channel is free.
    pub latency_ns: u64,
    /// How it ends instead of well.
    pub fault: Option<Fault>,
}

impl Step {
    /// An operation that ends well after `latency_ns`.
    pub fn ok(latency_ns: u64) -> Self {
        Self { latency_ns, fault: None }
    }
}

/// A scripted failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The operation ends with this error.
    Error(OpError),
    /// The operation ends well with wrong bytes.
    Corrupt,
    /// The operation ends well, and the second half of its bytes never came: what lay in the buffer before is left there.
    Short,
    /// The queue breaks.
    Break,
}

/// Phases of a whole file.
const FILE_PHASES: [&str; PHASE_STAMPS + 1] = ["open_ns", "stat_ns", "read_ns", "close_ns"];

type Script = dyn Fn(u64) -> Step + Send + Sync;

/// A storage whose every operation is scripted by its number.
#[derive(Clone)]
pub struct Simulated {
    clock: Clock,
    channels: u32,
    seed: u64,
    script: Arc<Script>,
    served: Arc<AtomicU64>,
    away_ns: Range<u64>,
    blocks: bool,
    cache_actions: Arc<Mutex<Vec<CacheAction>>>,
    written: Arc<Mutex<Written>>,
}

/// What was written, by object and offset.
type Written = BTreeMap<(u32, u64), Block>;

/// What was written at one place.
struct Block {
    bytes: Vec<u8>,
    /// Whether its object ends with it.
    is_end: bool,
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").field("channels", &self.channels).finish_non_exhaustive()
    }
}

impl Simulated {
    /// A device of `channels` servers. `script` is asked once per operation, numbered from 0 over the life of
    /// the store; `seed` is that of the content.
    pub fn new(
        clock: &Clock,
        channels: u32,
        seed: u64,
        script: impl Fn(u64) -> Step + Send + Sync + 'static,
    ) -> Self {
        Self {
            clock: clock.clone(),
            channels,
            seed,
            script: Arc::new(script),
            served: Arc::default(),
            away_ns: 0..0,
            blocks: false,
            cache_actions: Arc::default(),
            written: Arc::default(),
        }
    }

    /// What was asked of the page cache, in order.
    pub fn cache_actions(&self) -> Vec<CacheAction> {
        self.cache_actions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same device, whose client does not run in this span of time: a wait that ends inside it returns at
    /// its end.
    #[must_use]
    pub fn with_client_away(self, away_ns: Range<u64>) -> Self {
        Self { away_ns, ..self }
    }

    /// The same device, read by threads that each wait in one read, as many as its queue is deep: while all of them do,
    /// nobody looks before the first read ends.
    #[must_use]
    pub fn with_blocking_reads(self) -> Self {
        Self { blocks: true, ..self }
    }

    fn written(&self) -> std::sync::MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass until `ns`, and on to the end of the client's absence.
    fn sleep_until(&self, ns: u64) {
        // Only a wait that ends inside the span is late: the device goes on meanwhile, as a disk does while its
        // process is stopped.
        self.clock.advance_to(if self.away_ns.contains(&ns) { self.away_ns.end } else { ns });
    }
}

impl Store for Simulated {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("storage", format!("simulated, {} channels", self.channels))]
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        Ok(Limits { direct_align_bytes: Some(1), page_cache: false })
    }

    crate::store::holds_no_data!("the simulated storage");

    /// Bytes of an object of [`Objects::Uniform`], whatever the script does to timed reads: a block as it was written last, where
    /// just that block was, and else what a generated dataset holds.
    fn read_at(&self, key: &Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        // The number in a generated name is all that decides its bytes, so the store needs no list of objects.
        let number = key.as_str().rsplit('/').next().and_then(|name| name.strip_suffix(".bin")?.parse().ok());
        let unknown =
            StoreError::Unsupported { store: "the simulated storage", action: "read what it does not hold" };
        let number = number.ok_or(unknown)?;
        payload::fill(self.seed, number, offset, buf);
        if let Some(block) = self.written().get(&(number, offset)) {
            let length = block.bytes.len().min(buf.len());
            buf[..length].copy_from_slice(&block.bytes[..length]);
            if block.is_end {
                return Ok(length);
            }
        }
        Ok(buf.len())
    }

    fn cache(&self, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        self.cache_actions.lock().unwrap_or_else(PoisonError::into_inner).push(action);
        Ok(Residency {
            resident_bytes: Some(0),
            total_bytes: objects.total_bytes(),
            method: "simulated",
            names_dropped: None,
        })
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        Ok(Box::new(SimulatedQueue {
            store: self.clone(),
            objects: Arc::clone(spec.objects),
            operation: spec.operation,
            depth: spec.depth as usize,
            block_bytes: spec.block_bytes,
            // A heap of the times at which channels get free: first come, first served, without a step of time for
            // each event.
            channels_free_at_ns: (0..self.channels).map(|_| Reverse(0)).collect(),
            waiting: Vec::new(),
            returned: 0,
        }))
    }
}

struct SimulatedQueue {
    store: Simulated,
    objects: Arc<Objects>,
    operation: Operation,
    depth: usize,
    block_bytes: u32,
    channels_free_at_ns: BinaryHeap<Reverse<u64>>,
    /// Taken and not yet returned; `done_ns` lies in the future.
    waiting: Vec<Completion>,
    returned: u64,
}

impl SimulatedQueue {
    fn begin(&mut self, mut request: Request) -> Result<Completion, QueueError> {
        let begun_ns = self.store.clock.now_ns();
        let step = (self.store.script)(self.store.served.fetch_add(1, Ordering::Relaxed));
        let free_ns = self.channels_free_at_ns.pop().map_or(0, |Reverse(ns)| ns);
        let done_ns = begun_ns.max(free_ns) + step.latency_ns;
        self.channels_free_at_ns.push(Reverse(done_ns));
        let result = match step.fault {
            Some(Fault::Break) => return Err(broken()),
            Some(Fault::Error(error)) => Err(error),
            // One flipped bit of the first byte is the least that a check must find, and every check looks there.
            Some(Fault::Corrupt) => self.corrupt(&mut request),
            Some(Fault::Short) => self.fill_half(&mut request),
            None => self.fill(&mut request),
        };
        Ok(Completion {
            token: request.token,
            buf: request.buf,
            result,
            stamps: Stamps { begun_ns, phase_ns: self.phase_ns(done_ns, step.latency_ns), done_ns },
        })
    }

    /// Ends of the phases of an operation in service for `latency_ns`, but for the last.
    fn phase_ns(&self, done_ns: u64, latency_ns: u64) -> [u64; PHASE_STAMPS] {
        let phases = FILE_PHASES.len() as u64;
        // Counted from the end, which is exact; the first phase takes the remainder, and the time in the queue as a
        // real open does.
        let left = |phase: usize| latency_ns / phases * (phases - 1 - phase as u64);
        match self.operation {
            Operation::ReadFile => std::array::from_fn(|phase| done_ns - left(phase)),
            _ => [0; PHASE_STAMPS],
        }
    }

    /// What an operation answers. A whole file leaves its last piece in the buffer.
    fn fill(&self, request: &mut Request) -> Result<u64, OpError> {
        match request.op {
            Op::Read { object, offset, len } => self.fill_block(request, object, offset, len),
            Op::ReadFile { object, bytes } if bytes == self.objects.bytes(object) => {
                let last = FilePieces::new(bytes, self.block_bytes).last();
                self.fill_block(request, object, last.offset, last.len).map(|_| bytes)
            }
            Op::ReadFile { .. } => Err(OpError { kind: ErrorKind::Changed, code: 0 }),
            Op::Write { object, offset, len } => {
                self.keep(request, (object, Piece { offset, len }), false)?;
                Ok(u64::from(len))
            }
            Op::WriteFile { object, bytes } => {
                let pieces = FilePieces::new(bytes, self.block_bytes);
                pieces.number(pieces.count() - 1, request.buf.as_mut_slice());
                self.keep(request, (object, pieces.last()), true)?;
                Ok(bytes)
            }
            Op::Stat { .. } | Op::GetAttr { .. } | Op::Names { .. } => Ok(0),
            Op::List { .. } => Ok(u64::from(self.objects.count())),
        }
    }

    /// Ends an operation well with one bit of its bytes flipped, in the buffer or in what is kept.
    fn corrupt(&self, request: &mut Request) -> Result<u64, OpError> {
        let answer = self.fill(request)?;
        let written = match request.op {
            Op::Write { object, offset, .. } => Some((object, offset)),
            Op::WriteFile { object, bytes } => {
                Some((object, FilePieces::new(bytes, self.block_bytes).last().offset))
            }
            _ => None,
        };
        match written {
            Some(place) => {
                self.store.written().entry(place).and_modify(|block| block.bytes[0] ^= 1);
            }
            None => request.buf.as_mut_slice()[0] ^= 1,
        }
        Ok(answer)
    }

    fn keep(&self, request: &Request, (object, piece): (u32, Piece), is_end: bool) -> Result<(), OpError> {
        let Piece { offset, len } = piece;
        if offset + u64::from(len) > self.objects.bytes(object) {
            return Err(OpError { kind: ErrorKind::Eof, code: 0 });
        }
        let bytes = request.buf.as_slice()[..len as usize].to_vec();
        self.store.written().insert((object, offset), Block { bytes, is_end });
        Ok(())
    }

    fn fill_half(&self, request: &mut Request) -> Result<u64, OpError> {
        let before = request.buf.as_slice().to_vec();
        let answer = self.fill(request)?;
        let came = match request.op {
            Op::Read { len, .. } | Op::Write { len, .. } => len,
            Op::ReadFile { bytes, .. } | Op::WriteFile { bytes, .. } => {
                FilePieces::new(bytes, self.block_bytes).last().len
            }
            Op::Stat { .. } | Op::GetAttr { .. } | Op::List { .. } | Op::Names { .. } => 0,
        } as usize;
        request.buf.as_mut_slice()[came / 2..came].copy_from_slice(&before[came / 2..came]);
        Ok(answer)
    }

    fn fill_block(&self, request: &mut Request, object: u32, offset: u64, len: u32) -> Result<u64, OpError> {
        if offset + u64::from(len) > self.objects.bytes(object) {
            return Err(OpError { kind: ErrorKind::Eof, code: 0 });
        }
        payload::fill(self.store.seed, object, offset, &mut request.buf.as_mut_slice()[..len as usize]);
        Ok(u64::from(len))
    }

    /// Moves what has ended by `now_ns` to `done`, in the order of ending.
    fn reap(&mut self, now_ns: u64, done: &mut Vec<Completion>) {
        // Stable: of two that end at the same time the one that was submitted first is seen first, in every run.
        self.waiting.sort_by_key(|completion| completion.stamps.done_ns);
        let ended = self.waiting.partition_point(|completion| completion.stamps.done_ns <= now_ns);
        self.returned += ended as u64;
        done.extend(self.waiting.drain(..ended));
    }
}

fn broken() -> QueueError {
    QueueError {
        engine: "simulated",
        action: "go on",
        hint: "the script said so".to_owned(),
        source: std::io::Error::other("scripted break"),
    }
}

impl IoQueue for SimulatedQueue {
    fn submit(&mut self, requests: &mut Vec<Request>, _done: &mut Vec<Completion>) -> Result<(), QueueError> {
        // Depth is a promise of the caller; taking more would hide a worker that keeps too much outstanding.
        let accepted = requests.len().min(self.depth - self.waiting.len());
        for request in requests.drain(..accepted) {
            let completion = self.begin(request)?;
            self.waiting.push(completion);
        }
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        self.waiting.sort_by_key(|completion| completion.stamps.done_ns);
        if let Some(last_needed) = min.checked_sub(1) {
            let wanted_ns = self.waiting.get(last_needed).map_or(until_ns, |c| c.stamps.done_ns);
            // Blocking readers look at nothing while they are in a read. A job that is fed by them notices the end of
            // a step late, and tests of that lag need it.
            let is_blocked = self.store.blocks && self.waiting.len() == self.depth;
            let woken_ns = if is_blocked { wanted_ns } else { wanted_ns.min(until_ns) };
            // A wait that nothing can end is not begun.
            if woken_ns != u64::MAX {
                self.store.sleep_until(woken_ns);
            }
        }
        self.reap(self.store.clock.now_ns(), done);
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.waiting.len() as u32
    }

    fn phases(&self) -> &'static [&'static str] {
        match self.operation {
            Operation::ReadFile => &FILE_PHASES,
            _ => &[],
        }
    }

    fn report(&self) -> QueueReport {
        QueueReport { counted: vec![("messages".to_owned(), self.returned)], ..QueueReport::default() }
    }

    fn close(mut self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        let last_ns = self.waiting.iter().map(|completion| completion.stamps.done_ns).max().unwrap_or(0);
        // Closing waits as a real queue does, so that a repetition's clock shows what its end cost.
        self.store.clock.advance_to(last_ns.min(until_ns));
        self.reap(self.store.clock.now_ns(), done);
        self.waiting.len() as u32
    }
}
