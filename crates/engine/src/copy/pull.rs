//! One worker's reads: one block after the other through its timed queue, with further attempts.

use backend::{Arena, Buf, Completion, ErrorKind, IoQueue, Op, OpError, QueueReport, QueueSpec, Request};
use plan::{COPY_BUFFERS, Operation};

use crate::error::RepError;
use crate::retry::BackOff;
use crate::spec::{RepSpec, own_seed};
use crate::trainer::share;
use crate::worker::{STALLED_NS, stalled};

/// How long a worker waits at most before it looks at the stop flag again.
const STOP_LATENCY_NS: u64 = 100_000_000;

/// Time for an outstanding read to end once the copy is over.
const DRAIN_NS: u64 = 30_000_000_000;

/// Blocks that each worker checks against the written content.
const VERIFIED_PER_WORKER: u64 = 8;

/// Bytes that are checked of such a block, from its first on: the check is part of the window, and takes less than a
/// hundredth of what a block takes.
const VERIFIED_BYTES: usize = 64 << 10;

/// The reading side of a worker.
pub(super) struct Pull<'a> {
    spec: &'a RepSpec<'a>,
    queue: Box<dyn IoQueue>,
    pub(super) free: Vec<Buf>,
    back_off: BackOff,
    requests: Vec<Request>,
    done: Vec<Completion>,
    pub(super) verified: u64,
}

/// Part of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) object: u32,
    pub(super) offset: u64,
    pub(super) len: u32,
}

/// A block that was read.
pub(super) struct Pulled {
    pub(super) buf: Buf,
    pub(super) begun_ns: u64,
    pub(super) done_ns: u64,
}

/// Why a block was not read.
pub(super) enum Unread {
    /// It failed, for the last time; the buffer is free again.
    Failed(OpError),
    /// The copy is to end, or the queue is broken and says so.
    Over(Option<String>),
}

impl<'a> Pull<'a> {
    /// Opens the queue of a worker on its thread.
    pub(super) fn open(spec: &'a RepSpec<'a>, index: u32) -> Result<Self, RepError> {
        let cell = spec.cell;
        // Buffers of the block size for small files would take gigabytes for nothing.
        let largest = spec.data.objects().bytes_max().min(u64::from(u32::MAX)) as u32;
        let block_bytes = cell.block_bytes.min(largest.max(1));
        let arena = Arena::of_pages(COPY_BUFFERS, block_bytes, cell.pages)?;
        let queue = spec.store.open_queue(&QueueSpec {
            depth: COPY_BUFFERS,
            // One read is outstanding at a time: depth comes from the number of workers.
            submit_batch: 1,
            connections: share(cell.connections, cell.threads, index),
            block_bytes,
            cache: cell.cache,
            operation: Operation::Read,
            writes: None,
            advice: cell.advice,
            registered: cell.registered,
            objects: spec.data.objects(),
            arena: &arena,
            clock: spec.clock,
        })?;
        Ok(Self {
            spec,
            queue,
            free: arena.buffers(),
            back_off: BackOff::new(own_seed(spec) ^ u64::from(index).rotate_left(48)),
            requests: Vec::with_capacity(1),
            done: Vec::with_capacity(1),
            verified: 0,
        })
    }

    /// The block at `offset` of an object, as long as a read may be.
    pub(super) fn block(&self, object: u32, offset: u64) -> Block {
        let left = self.spec.data.objects().bytes(object) - offset;
        Block { object, offset, len: left.min(u64::from(self.spec.cell.block_bytes)) as u32 }
    }

    /// Reads a block into `buf`, and again after a transient failure.
    pub(super) fn read(&mut self, block: Block, mut buf: Buf) -> Result<Pulled, Unread> {
        let mut begun_ns = None;
        let mut failures = 0;
        loop {
            let completion = self.attempt(block, buf)?;
            let begun_ns = *begun_ns.get_or_insert(completion.stamps.begun_ns);
            buf = completion.buf;
            // Corrupt bytes are an error of the read, before they are written anywhere.
            match completion.result.and_then(|_| self.check(block, &buf)) {
                Ok(()) => return Ok(Pulled { buf, begun_ns, done_ns: completion.stamps.done_ns }),
                Err(error) if error.kind.is_transient() && failures < self.spec.cell.retries => {
                    failures += 1;
                    let pause_ns = self.back_off.draw_ns(failures);
                    self.pause(pause_ns)?;
                }
                Err(error) => {
                    self.free.push(buf);
                    return Err(Unread::Failed(error));
                }
            }
        }
    }

    fn attempt(&mut self, block: Block, buf: Buf) -> Result<Completion, Unread> {
        let Block { object, offset, len } = block;
        self.requests.push(Request { token: buf.slot(), op: Op::Read { object, offset, len }, buf });
        self.queue.submit(&mut self.requests, &mut self.done).map_err(|error| broken(&error))?;
        let begun_ns = self.spec.clock.now_ns();
        loop {
            if let Some(completion) = self.done.pop() {
                return Ok(completion);
            }
            let now_ns = self.spec.clock.now_ns();
            if now_ns - begun_ns >= STALLED_NS {
                return Err(Unread::Over(Some(stalled(1))));
            }
            self.wait(now_ns.saturating_add(STOP_LATENCY_NS))?;
        }
    }

    fn pause(&mut self, pause_ns: u64) -> Result<(), Unread> {
        let until_ns = self.spec.clock.now_ns().saturating_add(pause_ns);
        loop {
            let now_ns = self.spec.clock.now_ns();
            if now_ns >= until_ns {
                return Ok(());
            }
            self.wait(until_ns.min(now_ns.saturating_add(STOP_LATENCY_NS)))?;
        }
    }

    fn wait(&mut self, until_ns: u64) -> Result<(), Unread> {
        if self.spec.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Unread::Over(None));
        }
        self.queue.wait(1, until_ns, &mut self.done).map_err(|error| broken(&error))
    }

    /// Holds the first blocks against what was written.
    fn check(&mut self, block: Block, buf: &Buf) -> Result<(), OpError> {
        if !self.spec.verify || self.verified >= VERIFIED_PER_WORKER {
            return Ok(());
        }
        let checked = VERIFIED_BYTES.min(block.len as usize);
        match self.spec.data.verify(block.object, block.offset, &buf.as_slice()[..checked]) {
            Ok(was_checked) => {
                self.verified += u64::from(was_checked);
                Ok(())
            }
            Err(_) => Err(OpError { kind: ErrorKind::Corrupt, code: 0 }),
        }
    }

    /// Waits for outstanding reads. Returns the queue's counts, and how many reads were abandoned.
    pub(super) fn close(mut self) -> (QueueReport, u32) {
        let until_ns = self.spec.clock.now_ns().saturating_add(DRAIN_NS);
        let outstanding = self.queue.in_flight() as usize;
        if outstanding > 0 {
            // What a broken queue holds is abandoned when it is closed.
            let _ = self.queue.wait(outstanding, until_ns, &mut self.done);
        }
        let report = self.queue.report();
        (report, self.queue.close(until_ns, &mut self.done))
    }
}

fn broken(error: &backend::QueueError) -> Unread {
    Unread::Over(Some(error.to_string()))
}
