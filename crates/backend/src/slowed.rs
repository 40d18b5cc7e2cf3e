//! A storage slowed down as declared: each operation is carried out as fast as it goes, and its end is held back until it is due.
//!
//! So a claim about a disk or a volume can be played on any path, without root. Nothing is faster than declared; what the storage
//! itself takes longer for stays as slow as it is.

use std::sync::{Arc, Mutex, PoisonError};

use dataset::{Draws, Objects};
use plan::{Delay, Emulation};

use crate::null::pass_time;
use crate::{
    CacheAction, Clock, Completion, Entry, IoQueue, Limits, ObjectWriter, Op, Owned, QueueError, QueueReport,
    QueueSpec, Request, Residency, SharedStore, Store, StoreError,
};

/// What the operations on one storage share, through whichever queue they come.
#[derive(Debug)]
pub struct Slowness {
    first_byte: Option<Delay>,
    metadata: Option<Delay>,
    per_op_ns: f64,
    per_byte_ns: f64,
    seek_ns: Option<u64>,
    draws: Draws,
    line: Mutex<Line>,
}

/// What serves one operation after another.
#[derive(Debug, Default)]
struct Line {
    /// Where its schedule ends.
    free_ns: f64,
    /// Where the head stands: an object, and the byte behind the last that was moved.
    head: (u32, u64),
}

impl Slowness {
    /// As `asked`. Rates of a single connection and faults mean nothing here; scenarios refuse them.
    pub fn new(asked: &Emulation) -> Self {
        let each_ns = |per_s: Option<f64>| per_s.map_or(0.0, |per_s| 1e9 / per_s);
        Self {
            first_byte: asked.first_byte,
            metadata: asked.metadata,
            per_op_ns: each_ns(asked.requests_per_s),
            per_byte_ns: each_ns(asked.total_bps),
            seek_ns: asked.seek_ns,
            draws: Draws::new(asked.seed, 0),
            line: Mutex::default(),
        }
    }

    /// When an operation that begins at `now_ns` may end.
    fn due_ns(&self, op: Op, now_ns: u64) -> u64 {
        let (place, bytes) = match op {
            Op::Read { object, offset, len } | Op::Write { object, offset, len } => {
                (Some((object, offset)), u64::from(len))
            }
            Op::ReadFile { object, bytes } => (Some((object, 0)), bytes),
            Op::Stat { .. } | Op::GetAttr { .. } | Op::List { .. } => (None, 0),
        };
        let delay = if place.is_some() { self.first_byte } else { self.metadata };
        let delay_ns = delay.map_or(0, |delay| self.draws.delay_ns(delay));
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let seek_ns = match (self.seek_ns, place) {
            (Some(seek_ns), Some(place)) if place != line.head => seek_ns,
            _ => 0,
        };
        line.head = place.map_or(line.head, |(object, offset)| (object, offset + bytes));
        // The slower of both limits decides, as a volume has them: so many operations and so many bytes a second.
        let own_ns = self.per_op_ns.max(bytes as f64 * self.per_byte_ns) + seek_ns as f64;
        // One that had nothing to do has earned nothing.
        line.free_ns = line.free_ns.max(now_ns as f64) + own_ns;
        (now_ns + delay_ns).max(line.free_ns.ceil() as u64)
    }
}

/// A store whose queues are slowed down. Untimed work is not.
pub struct Slowed {
    inner: SharedStore,
    slowness: Arc<Slowness>,
}

impl Slowed {
    /// `inner`, whose queues share `slowness` with those of every other store that has it.
    pub fn new(inner: SharedStore, slowness: Arc<Slowness>) -> Self {
        Self { inner, slowness }
    }
}

impl Store for Slowed {
    fn facts(&self) -> Vec<(&'static str, String)> {
        self.inner.facts()
    }

    fn block_device(&self) -> Option<String> {
        self.inner.block_device()
    }

    fn network_interface(&self) -> Option<String> {
        self.inner.network_interface()
    }

    fn nfs_mount_point(&self) -> Option<std::path::PathBuf> {
        self.inner.nfs_mount_point()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        self.inner.limits()
    }

    fn list(
        &self,
        prefix: Option<&dataset::Key>,
        each: &mut dyn FnMut(Entry) -> std::ops::ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.inner.list(prefix, each)
    }

    fn folders(&self) -> Result<Vec<dataset::Key>, StoreError> {
        self.inner.folders()
    }

    fn stat(&self, key: &dataset::Key) -> Result<Option<Entry>, StoreError> {
        self.inner.stat(key)
    }

    fn read_at(&self, key: &dataset::Key, offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        self.inner.read_at(key, offset, buf)
    }

    fn create_folder(&self, folder: &dataset::Key, marker: &dataset::Marker) -> Result<Owned, StoreError> {
        self.inner.create_folder(folder, marker)
    }

    fn read_marker(&self, key: &dataset::Key) -> Result<Option<dataset::Marker>, StoreError> {
        self.inner.read_marker(key)
    }

    fn create(&self, owned: &Owned, key: &dataset::Key) -> Result<Box<dyn ObjectWriter + Send>, StoreError> {
        self.inner.create(owned, key)
    }

    fn remove(&self, owned: &Owned, key: &dataset::Key) -> Result<(), StoreError> {
        self.inner.remove(owned, key)
    }

    fn remove_empty_folder(&self, owned: &Owned, key: &dataset::Key) -> Result<bool, StoreError> {
        self.inner.remove_empty_folder(owned, key)
    }

    fn cache(&self, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        self.inner.cache(action, objects)
    }

    fn open_queue(&self, spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        let depth = spec.depth as usize;
        Ok(Box::new(SlowedQueue {
            inner: self.inner.open_queue(spec)?,
            slowness: Arc::clone(&self.slowness),
            clock: spec.clock.clone(),
            held: Held { due_ns: vec![0; depth], completions: Vec::with_capacity(depth) },
            taken: Vec::with_capacity(depth),
            ended: Vec::with_capacity(depth),
        }))
    }

    fn free_bytes(&self) -> Result<Option<u64>, StoreError> {
        self.inner.free_bytes()
    }
}

struct SlowedQueue {
    inner: Box<dyn IoQueue>,
    slowness: Arc<Slowness>,
    clock: Clock,
    held: Held,
    /// Room for what is handed over at once, and for what has ended of it.
    taken: Vec<(u32, Op)>,
    ended: Vec<Completion>,
}

/// What has ended and is not due yet.
struct Held {
    /// When the operation of a buffer is due, by its number.
    due_ns: Vec<u64>,
    completions: Vec<Completion>,
}

impl Held {
    /// Takes what the inner queue has ended.
    fn take(&mut self, ended: &mut Vec<Completion>) {
        for mut completion in ended.drain(..) {
            let due_ns = self.due_ns[completion.buf.slot() as usize];
            completion.stamps.done_ns = completion.stamps.done_ns.max(due_ns);
            self.completions.push(completion);
        }
    }

    /// Lets go what is due by `now_ns`, in the order in which it was.
    fn release(&mut self, now_ns: u64, done: &mut Vec<Completion>) {
        self.completions.sort_by_key(|completion| completion.stamps.done_ns);
        let due = self.completions.partition_point(|completion| completion.stamps.done_ns <= now_ns);
        done.extend(self.completions.drain(..due));
    }

    /// When each is due.
    fn dues_ns(&self) -> impl Iterator<Item = u64> {
        self.completions.iter().map(|completion| completion.stamps.done_ns)
    }
}

impl IoQueue for SlowedQueue {
    fn submit(&mut self, requests: &mut Vec<Request>, _done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let now_ns = self.clock.now_ns();
        // What is held takes a place of the queue, as what has not ended does.
        self.taken.clear();
        self.taken.extend(requests.iter().map(|request| (request.buf.slot(), request.op)));
        let before = requests.len();
        self.inner.submit(requests, &mut self.ended)?;
        for (slot, op) in self.taken.drain(..).take(before - requests.len()) {
            let due_ns = self.slowness.due_ns(op, now_ns);
            self.held.due_ns[slot as usize] = due_ns;
        }
        self.held.take(&mut self.ended);
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let already = done.len();
        loop {
            self.inner.wait(0, self.clock.now_ns(), &mut self.ended)?;
            self.held.take(&mut self.ended);
            let now_ns = self.clock.now_ns();
            self.held.release(now_ns, done);
            if done.len() - already >= min || now_ns >= until_ns {
                return Ok(());
            }
            let wake_ns = self.held.dues_ns().fold(until_ns, u64::min);
            if self.inner.in_flight() > 0 {
                self.inner.wait(1, wake_ns, &mut self.ended)?;
                self.held.take(&mut self.ended);
            } else if wake_ns == u64::MAX {
                // Nothing could end such a wait.
                return Ok(());
            } else {
                pass_time(&self.clock, wake_ns);
            }
        }
    }

    fn in_flight(&self) -> u32 {
        self.inner.in_flight() + self.held.completions.len() as u32
    }

    fn was_cached(&self, buffer: u32) -> bool {
        self.inner.was_cached(buffer)
    }

    fn phases(&self) -> &'static [&'static str] {
        self.inner.phases()
    }

    fn report(&self) -> QueueReport {
        self.inner.report()
    }

    fn close(self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        let Self { inner, clock, mut held, mut ended, .. } = *self;
        let abandoned = inner.close(until_ns, &mut ended);
        held.take(&mut ended);
        let last_ns = held.dues_ns().max().unwrap_or(0);
        if last_ns > clock.now_ns() {
            pass_time(&clock, last_ns.min(until_ns));
        }
        // What is not due by then is given up, as by a storage that has not ended it.
        held.release(until_ns.max(clock.now_ns()), done);
        abandoned + held.completions.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use dataset::Key;
    use plan::{Cache, Operation};

    use super::*;
    use crate::simulated::{Simulated, Step};

    const MS: u64 = 1_000_000;

    fn op(object: u32, offset: u64) -> Op {
        Op::Read { object, offset, len: 4096 }
    }

    fn dues(asked: &Emulation, ops: &[(Op, u64)]) -> Vec<u64> {
        let slowness = Slowness::new(asked);
        ops.iter().map(|(op, now_ns)| slowness.due_ns(*op, *now_ns)).collect()
    }

    #[test]
    fn bytes_and_operations_pass_one_after_another_and_the_slower_limit_decides() {
        let rate = Emulation { total_bps: Some(4096.0 * 1e3), ..Emulation::default() };
        let at_once = [(op(0, 0), 0), (op(0, 4096), 0), (op(1, 0), 10 * MS)];
        assert_eq!(dues(&rate, &at_once), [MS, 2 * MS, 11 * MS], "a pause earns nothing");
        let ops = Emulation { requests_per_s: Some(500.0), ..rate };
        assert_eq!(dues(&ops, &at_once), [2 * MS, 4 * MS, 12 * MS]);
    }

    #[test]
    fn a_delay_is_the_least_time_and_passes_side_by_side() {
        let asked = Emulation {
            first_byte: Some(Delay::Constant { ns: 5 * MS }),
            metadata: Some(Delay::Constant { ns: 3 * MS }),
            ..Emulation::default()
        };
        assert_eq!(dues(&asked, &[(op(0, 0), 0), (op(9, 0), MS)]), [5 * MS, 6 * MS]);
        assert_eq!(dues(&asked, &[(Op::Stat { object: 1 }, MS)]), [4 * MS]);
    }

    #[test]
    fn a_head_moves_to_what_does_not_follow() {
        let asked = Emulation { seek_ns: Some(8 * MS), ..Emulation::default() };
        let ops = [(op(0, 0), 0), (op(0, 4096), 0), (op(0, 0), 0), (op(1, 4096), 0)];
        assert_eq!(dues(&asked, &ops), [0, 0, 8 * MS, 16 * MS]);
    }

    /// Four operations under way on `own`, of which 500 a second may end.
    fn four_under_way(clock: &Clock, own: Simulated) -> Box<dyn IoQueue> {
        let asked = Emulation { requests_per_s: Some(500.0), ..Emulation::default() };
        let store = Slowed::new(Arc::new(own), Arc::new(Slowness::new(&asked)));
        let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 1, 1 << 20));
        let arena = crate::Arena::new(4, 4096).unwrap();
        let mut queue = store
            .open_queue(&QueueSpec {
                depth: 4,
                submit_batch: 4,
                connections: 0,
                block_bytes: 4096,
                cache: Cache::Bypass,
                operation: Operation::Read,
                writes: None,
                advice: plan::Advice::Normal,
                registered: plan::Registered::Off,
                objects: &objects,
                arena: &arena,
                clock,
            })
            .unwrap();
        let place = |buf: &crate::Buf| op(0, u64::from(buf.slot()) * 4096);
        let mut requests: Vec<Request> = arena
            .buffers()
            .into_iter()
            .map(|buf| Request { token: buf.slot(), op: place(&buf), buf })
            .collect();
        requests.sort_by_key(|request| request.token);
        let mut done = Vec::new();
        queue.submit(&mut requests, &mut done).unwrap();
        assert_eq!((queue.in_flight(), done.len()), (4, 0));
        queue
    }

    #[test]
    fn ends_come_when_they_are_due_and_never_before_the_storages_own() {
        let clock = Clock::simulated();
        // The storage takes a millisecond, and six for its third operation.
        let own = Simulated::new(&clock, 8, 7, |n| Step::ok(if n == 2 { 6 * MS } else { MS }));
        let mut queue = four_under_way(&clock, own);
        let mut done = Vec::new();
        queue.wait(4, MS, &mut done).unwrap();
        assert!(done.is_empty() && clock.now_ns() == MS, "the deadline comes first");
        queue.wait(4, 60_000 * MS, &mut done).unwrap();
        let ends: Vec<(u32, u64)> = done.iter().map(|one| (one.token, one.stamps.done_ns)).collect();
        assert_eq!(ends, [(0, 2 * MS), (1, 4 * MS), (2, 6 * MS), (3, 8 * MS)]);
        queue.wait(1, u64::MAX, &mut done).unwrap();
        assert_eq!(queue.close(0, &mut done), 0);
    }

    #[test]
    fn what_is_not_due_when_a_queue_is_closed_is_given_up() {
        let clock = Clock::simulated();
        let own = Simulated::new(&clock, 8, 7, |_| Step::ok(MS));
        let mut done = Vec::new();
        assert_eq!(four_under_way(&clock, own).close(5 * MS, &mut done), 2);
        assert_eq!(done.iter().map(|one| one.token).collect::<Vec<_>>(), [0, 1]);
    }
}
