//! The thread that copies blocks into the cache beside the reads, and the blocks that wait for it.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use backend::{Arena, Buf, StoreError};
use plan::TierPolicy;

use crate::directory::{Block, Directory};

/// Most blocks that wait to be written. A block that comes while so many wait is not cached.
// Two batches of a deep queue. More would hide that the near storage is slower than the far one, which `skipped` is
// there to tell.
const WAITING_MAX: u32 = 64;

/// Seed of the victims that are drawn: the same in every repetition.
const SEED: u64 = 0x7469_6572;

/// A cache of one repetition, and its thread. The one that began it ends it; shares of it are the workers'.
#[derive(Debug)]
pub(crate) struct Filling {
    shared: Arc<Shared>,
    filler: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    directory: Mutex<Directory>,
    waiting: Mutex<Waiting>,
    /// Signals that a block waits, or that the cache ends.
    bell: Condvar,
    slot_bytes: u32,
    fills: AtomicU64,
    failed: AtomicU64,
    evictions: AtomicU64,
    /// Whether a worker has reported the counts that all workers share.
    is_counted: AtomicBool,
}

#[derive(Debug)]
struct Waiting {
    blocks: VecDeque<(Block, Buf)>,
    free: Vec<Buf>,
    ended: bool,
}

/// What was written, by all workers of a repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) fills: u64,
    pub(crate) failed: u64,
    pub(crate) evictions: u64,
}

impl Filling {
    /// An empty cache of `slots` of `slot_bytes` in `file`.
    pub(crate) fn begin(
        file: Arc<File>,
        policy: TierPolicy,
        (slots, slot_bytes): (u32, u32),
    ) -> Result<Self, StoreError> {
        let unavailable = |reason: String| StoreError::Unavailable {
            what: "a cache tier".to_owned(),
            reason,
            hint: "use smaller blocks, or lift the limit of memory or threads".to_owned(),
        };
        let arena = Arena::new(WAITING_MAX, slot_bytes).map_err(|error| unavailable(error.to_string()))?;
        let blocks = VecDeque::with_capacity(WAITING_MAX as usize);
        let shared = Arc::new(Shared {
            directory: Mutex::new(Directory::new(policy, slots, SEED)),
            waiting: Mutex::new(Waiting { blocks, free: arena.buffers(), ended: false }),
            bell: Condvar::new(),
            slot_bytes,
            fills: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
            is_counted: AtomicBool::new(false),
        });
        let filled = Arc::clone(&shared);
        let filler = Builder::new().name("tier-filler".to_owned()).spawn(move || filled.fill(&file));
        let filler = filler.map_err(|error| unavailable(error.to_string()))?;
        Ok(Self { shared, filler: Some(filler) })
    }

    /// The same for a worker.
    pub(crate) fn share(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), filler: None }
    }

    pub(crate) fn slot_bytes(&self) -> u32 {
        self.shared.slot_bytes
    }

    /// The slot of a block, held until [`Filling::release`].
    pub(crate) fn hit(&self, block: Block) -> Option<u32> {
        lock(&self.shared.directory).hit(block)
    }

    /// Ends the read of a slot.
    pub(crate) fn release(&self, slot: u32) {
        lock(&self.shared.directory).release(slot);
    }

    /// Hands over a copy of a block to be cached; `false` if too many are waiting already.
    pub(crate) fn offer(&self, block: Block, bytes: &[u8]) -> bool {
        // Never waits: a read that was answered must not be held up by its copy.
        let Some(mut buf) = lock(&self.shared.waiting).free.pop() else { return false };
        // Outside the lock, which all workers take.
        buf.as_mut_slice()[..bytes.len()].copy_from_slice(bytes);
        lock(&self.shared.waiting).blocks.push_back((block, buf));
        self.shared.bell.notify_one();
        true
    }

    /// What was written so far, to the first that asks; it is counted once.
    pub(crate) fn count_once(&self) -> Option<Filled> {
        let Shared { fills, failed, evictions, is_counted, .. } = &*self.shared;
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let filled = Filled { fills: get(fills), failed: get(failed), evictions: get(evictions) };
        (!is_counted.swap(true, Ordering::Relaxed)).then_some(filled)
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        let Some(filler) = self.filler.take() else { return };
        // Under the lock that the thread holds between looking and waiting, or the bell could ring in that gap.
        lock(&self.shared.waiting).ended = true;
        self.shared.bell.notify_all();
        // One that panicked has said so, and left a cache that is written no more.
        let _ = filler.join();
    }
}

impl Shared {
    /// Writes what waits until the cache ends; what waits then is left.
    fn fill(&self, file: &File) {
        while let Some((block, buf)) = self.next() {
            let fill = lock(&self.directory).begin_fill(block);
            if let Some(fill) = fill {
                let offset = u64::from(fill.slot) * u64::from(self.slot_bytes);
                // Whole slots, also for a last block that is short: direct writes are aligned, and nobody reads past
                // the block's length.
                let written = file.write_all_at(&buf.as_slice()[..self.slot_bytes as usize], offset);
                lock(&self.directory).end_fill(fill.slot, written.is_ok());
                let count = if written.is_ok() { &self.fills } else { &self.failed };
                count.fetch_add(1, Ordering::Relaxed);
                self.evictions.fetch_add(u64::from(fill.evicted.is_some()), Ordering::Relaxed);
            }
            lock(&self.waiting).free.push(buf);
        }
    }

    fn next(&self) -> Option<(Block, Buf)> {
        let mut waiting = lock(&self.waiting);
        loop {
            if waiting.ended {
                return None;
            }
            if let Some(next) = waiting.blocks.pop_front() {
                return Some(next);
            }
            waiting = self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
