//! A storage slowed down as declared: each operation is carried out as fast as it goes, and its end is held back until it is due.
//!
//! So a claim about a disk or a volume can be played on any path, without root. Nothing is faster than declared; what the storage
//! itself takes longer for stays as slow as it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dataset::{Draws, Objects};
use feed::bounds::Burst;
use plan::{Delay, Emulation};

use crate::null::pass_time;
use crate::{
    CacheAction, Clock, Completion, Entry, IoQueue, Limits, ObjectWriter, Op, Owned, PHASE_STAMPS,
    QueueError, QueueReport, QueueSpec, Request, Residency, SharedStore, Store, StoreError,
};

/// What the operations on one storage share, through whichever queue they come.
#[derive(Debug)]
pub struct Slowness {
    first_byte: Option<Delay>,
    metadata: Option<Delay>,
    operations: Rate,
    bytes: Rate,
    seek_ns: Option<u64>,
    draws: Draws,
    line: Mutex<Line>,
}

/// How fast operations or bytes pass.
#[derive(Debug, Clone, Copy)]
struct Rate {
    /// Time of one, while there are credits if it bursts; zero where nothing is declared.
    unit_ns: f64,
    credits: Option<Credits>,
}

/// Credits of a rate that bursts. Each unit spends one.
#[derive(Debug, Clone, Copy)]
struct Credits {
    /// Time in which one comes back.
    unit_ns: f64,
    /// Time in which all of them do.
    all_ns: f64,
}

impl Rate {
    fn new(per_s: Option<f64>, burst: Option<Burst>) -> Self {
        // Thirty years are as good as for ever, and can be subtracted.
        let each_ns = |per_s: Option<f64>| per_s.map_or(0.0, |per_s| (1e9 / per_s).min(1e18));
        let refilled_ns = each_ns(per_s);
        Self {
            unit_ns: burst.map_or(refilled_ns, |burst| each_ns(Some(burst.per_s))),
            credits: burst.map(|burst| Credits { unit_ns: refilled_ns, all_ns: burst.credits * refilled_ns }),
        }
    }
}

/// What serves one operation after another.
#[derive(Debug, Default)]
struct Line {
    /// Where its schedule ends.
    free_ns: f64,
    /// Where the head stands: an object, and the byte behind the last that was moved.
    head: (u32, u64),
    /// When the credits of operations would all be back, if nothing more was spent; and those of bytes.
    // A time and not a balance: nothing has to be added up while nothing happens.
    full_ns: [f64; 2],
    /// Queues that may have operations on it.
    queues: usize,
}

impl Slowness {
    /// As `asked`, with all credits there. Rates of a single connection and faults mean nothing here; scenarios refuse them.
    pub fn new(asked: &Emulation) -> Self {
        Self {
            first_byte: asked.first_byte,
            metadata: asked.metadata,
            operations: Rate::new(asked.requests_per_s, asked.request_burst),
            bytes: Rate::new(asked.total_bps, asked.byte_burst),
            seek_ns: asked.seek_ns,
            draws: Draws::new(asked.seed, 0),
            line: Mutex::default(),
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When an operation that begins at `now_ns` may end.
    fn due_ns(&self, op: Op, now_ns: u64) -> u64 {
        let (place, bytes) = match op {
            Op::Read { object, offset, len } | Op::Write { object, offset, len } => {
                (Some((object, offset)), u64::from(len))
            }
            Op::ReadFile { object, bytes } | Op::WriteFile { object, bytes } => (Some((object, 0)), bytes),
            Op::Stat { .. } | Op::GetAttr { .. } | Op::List { .. } | Op::Names { .. } => (None, 0),
        };
        let delay = if place.is_some() { self.first_byte } else { self.metadata };
        let delay_ns = delay.map_or(0, |delay| self.draws.delay_ns(delay));
        let mut line = self.line();
        let seek_ns = match (self.seek_ns, place) {
            (Some(seek_ns), Some(place)) if place != line.head => seek_ns,
            _ => 0,
        };
        line.head = place.map_or(line.head, |(object, offset)| (object, offset + bytes));
        let moving_ns = bytes as f64 * self.bytes.unit_ns;
        // The slower of both limits decides, as a volume has them: so many operations and so many bytes a second.
        let own_ns = self.operations.unit_ns.max(moving_ns) + seek_ns as f64;
        // A line that had nothing to do has earned nothing but credits.
        let begins_ns = line.free_ns.max(now_ns as f64);
        let mut ends_ns = begins_ns + own_ns;
        for (number, (rate, units)) in
            [(self.operations, 1.0), (self.bytes, bytes as f64)].into_iter().enumerate()
        {
            if let Some(Credits { unit_ns, all_ns }) = rate.credits {
                // Those that were all there when it begins are no more than all.
                let full_ns = line.full_ns[number].max(begins_ns) + units * unit_ns;
                line.full_ns[number] = full_ns;
                ends_ns = ends_ns.max(full_ns - all_ns);
            }
        }
        line.free_ns = ends_ns;
        let least_ns = (moving_ns + seek_ns as f64).ceil() as u64;
        now_ns.saturating_add(delay_ns).saturating_add(least_ns).max(ends_ns.ceil() as u64)
    }
}

/// A queue that may have operations on the line.
#[derive(Debug)]
struct Served {
    by: Arc<Slowness>,
    clock: Clock,
}

impl Served {
    fn new(by: &Arc<Slowness>, clock: &Clock) -> Self {
        by.line().queues += 1;
        Self { by: Arc::clone(by), clock: clock.clone() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let now_ns = self.clock.now_ns();
        let mut line = self.by.line();
        line.queues -= 1;
        // Nobody waits for what was given up, and a repetition must not wait for what the one before it left behind: neither
        // for its turn nor for credits that it would have spent beyond the last.
        if line.queues == 0 {
            line.free_ns = line.free_ns.min(now_ns as f64);
            for (full_ns, rate) in line.full_ns.iter_mut().zip([self.by.operations, self.by.bytes]) {
                let all_ns = rate.credits.map_or(0.0, |credits| credits.all_ns);
                *full_ns = full_ns.min(now_ns as f64 + all_ns);
            }
        }
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
        let inner = self.inner.open_queue(spec)?;
        let moving = inner.phases().iter().position(|phase| MOVING.contains(phase)).unwrap_or(PHASE_STAMPS);
        Ok(Box::new(SlowedQueue {
            inner,
            served: Served::new(&self.slowness, spec.clock),
            held: Held { due_ns: vec![0; depth], completions: Vec::with_capacity(depth), moving },
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
    served: Served,
    held: Held,
    /// Room for what is handed over at once, and for what has ended of it.
    taken: Vec<(u32, Op)>,
    ended: Vec<Completion>,
}

/// The phase of a whole file in which its bytes are waited for: opening and closing it stay as fast as they are.
const MOVING: [&str; 2] = ["read_ns", "write_ns"];

/// What has ended and is not due yet.
struct Held {
    /// When the operation of a buffer is due, by its number.
    due_ns: Vec<u64>,
    completions: Vec<Completion>,
    /// Number of the phase that is held up; the last one where it is beyond those that are stamped.
    moving: usize,
}

impl Held {
    /// Takes what the inner queue has ended.
    fn take(&mut self, ended: &mut Vec<Completion>) {
        for mut completion in ended.drain(..) {
            let stamps = &mut completion.stamps;
            let held_ns = self.due_ns[completion.buf.slot() as usize].saturating_sub(stamps.done_ns);
            stamps.done_ns += held_ns;
            // What was not reached stays so.
            for end_ns in stamps.phase_ns.iter_mut().skip(self.moving).filter(|end_ns| **end_ns > 0) {
                *end_ns += held_ns;
            }
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
        let now_ns = self.served.clock.now_ns();
        // What is held takes a place of the queue, as what has not ended does.
        self.taken.clear();
        self.taken.extend(requests.iter().map(|request| (request.buf.slot(), request.op)));
        let before = requests.len();
        self.inner.submit(requests, &mut self.ended)?;
        for (slot, op) in self.taken.drain(..).take(before - requests.len()) {
            let due_ns = self.served.by.due_ns(op, now_ns);
            self.held.due_ns[slot as usize] = due_ns;
        }
        self.held.take(&mut self.ended);
        Ok(())
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let already = done.len();
        loop {
            self.inner.wait(0, self.served.clock.now_ns(), &mut self.ended)?;
            self.held.take(&mut self.ended);
            let now_ns = self.served.clock.now_ns();
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
                pass_time(&self.served.clock, wake_ns);
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
        let Self { inner, served, mut held, mut ended, .. } = *self;
        let clock = &served.clock;
        let abandoned = inner.close(until_ns, &mut ended);
        held.take(&mut ended);
        let last_ns = held.dues_ns().max().unwrap_or(0);
        if last_ns > clock.now_ns() {
            pass_time(clock, last_ns.min(until_ns));
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
    fn the_bytes_of_an_operation_move_after_its_first_byte() {
        let asked = Emulation {
            first_byte: Some(Delay::Constant { ns: 5 * MS }),
            total_bps: Some(4096.0 * 1e3),
            ..Emulation::default()
        };
        assert_eq!(
            dues(&asked, &[(op(0, 0), 0), (op(0, 4096), 0), (op(9, 0), 20 * MS)]),
            [6 * MS, 6 * MS, 26 * MS]
        );
    }

    /// A block of 4 KiB every millisecond until 30 of them are spent, then every 4 ms.
    const BLOCK_BPS: f64 = 4096.0 * 250.0;
    const BURST: Burst = Burst { per_s: 4096.0 * 1000.0, credits: 4096.0 * 30.0 };

    fn bursting() -> Emulation {
        Emulation { total_bps: Some(BLOCK_BPS), byte_burst: Some(BURST), ..Emulation::default() }
    }

    #[test]
    fn bytes_given_by_any_time_are_those_of_the_formula() {
        let blocks: Vec<(Op, u64)> = (0..100).map(|block| (op(0, block * 4096), 0)).collect();
        let dues = dues(&bursting(), &blocks);
        assert_eq!((dues[0], dues[39], dues[40], dues[99]), (MS, 40 * MS, 44 * MS, 280 * MS));
        for ms in 0..=280 {
            let given = dues.iter().filter(|due_ns| **due_ns <= ms * MS).count() * 4096;
            let formula = BURST.given(BLOCK_BPS, ms as f64 / 1e3);
            // As many blocks as are whole; seconds of a millisecond are no binary fraction.
            assert_eq!(given, (formula / 4096.0 + 1e-9) as usize * 4096, "by {ms} ms");
        }
        assert!((BURST.lasts_s(BLOCK_BPS) - 0.040).abs() < 1e-12);
    }

    #[test]
    fn credits_run_out_whatever_the_rate_that_brings_them_back() {
        let never = 1e-310;
        let requests = Emulation {
            requests_per_s: Some(never),
            request_burst: Some(Burst { per_s: 1000.0, credits: 1.0 }),
            ..Emulation::default()
        };
        let bytes = Emulation { total_bps: Some(never), ..Emulation::default() };
        let year_ns = 365 * 24 * 3600 * 1_000_000_000;
        assert!(dues(&requests, &[(op(0, 0), 0), (op(0, 4096), 0)])[1] > year_ns);
        assert!(dues(&bytes, &[(op(0, 0), u64::MAX - 1)])[0] > year_ns);
    }

    #[test]
    fn operations_burst_by_credits_of_their_own() {
        let asked = Emulation {
            requests_per_s: Some(125.0),
            request_burst: Some(Burst { per_s: 500.0, credits: 3.0 }),
            ..Emulation::default()
        };
        let reads: Vec<(Op, u64)> = (0..6).map(|block| (op(0, block * 4096), 0)).collect();
        // Four come at 2 ms: the first 8 ms bring a fourth credit.
        assert_eq!(dues(&asked, &reads), [2, 4, 6, 8, 16, 24].map(|ms| ms * MS));
        let names = [(Op::Stat { object: 1 }, 0); 6];
        assert_eq!(dues(&asked, &names), [2, 4, 6, 8, 16, 24].map(|ms| ms * MS), "a look is an operation");
        let both = Emulation { total_bps: Some(4096.0 * 100.0), ..asked };
        assert_eq!(
            dues(&both, &reads[..5]),
            [10, 20, 30, 40, 50].map(|ms| ms * MS),
            "the slower limit decides"
        );
    }

    #[test]
    fn a_pause_brings_credits_back_and_never_more_than_there_were() {
        let spent = |pause_ms: u64| {
            let slowness = Slowness::new(&bursting());
            let ends = |count: u64, now_ns: u64| {
                (0..count).map(|block| slowness.due_ns(op(0, block * 4096), now_ns)).collect::<Vec<u64>>()
            };
            assert_eq!(ends(40, 0)[39], 40 * MS);
            let begin_ns = (40 + pause_ms) * MS;
            ends(60, begin_ns).into_iter().map(|end_ns| (end_ns - begin_ns) / MS).collect::<Vec<u64>>()
        };
        assert_eq!(spent(0)[..2], [4, 8]);
        // 60 ms bring 15 blocks: 20 are given at 1 ms, for 5 more come back meanwhile.
        assert_eq!(spent(60)[18..22], [19, 20, 24, 28]);
        for pause_ms in [120, 1_000_000] {
            assert_eq!(spent(pause_ms)[38..42], [39, 40, 44, 48], "after {pause_ms} ms");
        }
    }

    /// Whatever is asked for when: no span of time has more than credits and rate allow for it, and the operation that it cuts.
    #[test]
    fn nothing_is_faster_than_declared() {
        let asked = Emulation { seek_ns: Some(MS / 4), ..bursting() };
        let slowness = Slowness::new(&asked);
        let draws = Draws::new(7, 0);
        let mut now_ns = 0;
        let mut ends: Vec<(u64, u64)> = Vec::new();
        for number in 0..400_u32 {
            let len = 4096 << (number % 3);
            now_ns += draws.delay_ns(Delay::LogNormal { p50_ns: 3 * MS, p99_ns: 90 * MS });
            for object in 0..number % 4 {
                ends.push((slowness.due_ns(Op::Read { object, offset: 0, len }, now_ns), u64::from(len)));
            }
        }
        for (first, (from_ns, _)) in ends.iter().enumerate() {
            let mut bytes = 0;
            for (end_ns, len) in &ends[first + 1..] {
                bytes += len;
                let span_s = (end_ns - from_ns) as f64 / 1e9;
                let most = BURST.given(BLOCK_BPS, span_s) + 1.0;
                assert!(bytes as f64 <= most, "{bytes} in {span_s} s, where {most} may be");
            }
        }
        assert!(ends.len() > 500, "{}", ends.len());
    }

    #[test]
    fn a_head_moves_to_what_does_not_follow() {
        let asked = Emulation { seek_ns: Some(8 * MS), ..Emulation::default() };
        let ops = [(op(0, 0), 0), (op(0, 4096), 0), (op(0, 0), 0), (op(1, 4096), 0)];
        assert_eq!(dues(&asked, &ops), [0, 0, 8 * MS, 16 * MS]);
    }

    /// Slowed down to 500 operations a second.
    fn five_hundred(own: Simulated) -> Slowed {
        let asked = Emulation { requests_per_s: Some(500.0), ..Emulation::default() };
        Slowed::new(Arc::new(own), Arc::new(Slowness::new(&asked)))
    }

    /// Four reads under way on `store`.
    fn four_under_way(clock: &Clock, store: &Slowed) -> Box<dyn IoQueue> {
        four_of(Operation::Read, |slot| op(0, u64::from(slot) * 4096), clock, store)
    }

    /// Four operations under way on `store`, which holds four objects of 1 MiB.
    fn four_of(
        operation: Operation,
        each: impl Fn(u32) -> Op,
        clock: &Clock,
        store: &Slowed,
    ) -> Box<dyn IoQueue> {
        let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 4, 1 << 20));
        let arena = crate::Arena::new(4, 4096).unwrap();
        let mut queue = store
            .open_queue(&QueueSpec {
                depth: 4,
                submit_batch: 4,
                connections: 0,
                block_bytes: 4096,
                cache: Cache::Bypass,
                operation,
                writes: None,
                advice: plan::Advice::Normal,
                registered: plan::Registered::Off,
                objects: &objects,
                arena: &arena,
                clock,
            })
            .unwrap();
        let mut requests: Vec<Request> = arena
            .buffers()
            .into_iter()
            .map(|buf| Request { token: buf.slot(), op: each(buf.slot()), buf })
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
        let mut queue = four_under_way(&clock, &five_hundred(own));
        let mut done = Vec::new();
        queue.wait(4, MS, &mut done).unwrap();
        assert!(done.is_empty() && clock.now_ns() == MS, "the deadline comes first");
        queue.wait(4, 60_000 * MS, &mut done).unwrap();
        let ends: Vec<(u32, u64)> = done.iter().map(|one| (one.token, one.stamps.done_ns)).collect();
        assert_eq!(ends, [(0, 2 * MS), (1, 4 * MS), (2, 6 * MS), (3, 8 * MS)]);
        queue.wait(1, u64::MAX, &mut done).unwrap();
        assert_eq!(queue.close(0, &mut done), 0);
    }

    /// Each phase takes a millisecond by itself, and the bytes are held back for six more.
    #[test]
    fn what_is_held_back_of_a_whole_file_is_the_phase_in_which_its_bytes_move() {
        let clock = Clock::simulated();
        let own = Simulated::new(&clock, 8, 7, |_| Step::ok(4 * MS));
        let asked = Emulation { first_byte: Some(Delay::Constant { ns: 10 * MS }), ..Emulation::default() };
        let store = Slowed::new(Arc::new(own), Arc::new(Slowness::new(&asked)));
        let file = |object| Op::ReadFile { object, bytes: 1 << 20 };
        let mut done = Vec::new();
        let mut queue = four_of(Operation::ReadFile, file, &clock, &store);
        assert_eq!(queue.phases(), ["open_ns", "stat_ns", "read_ns", "close_ns"]);
        queue.wait(4, u64::MAX, &mut done).unwrap();
        for Completion { stamps, .. } in &done {
            assert_eq!(stamps.phase_ns, [MS, 2 * MS, 9 * MS], "opened, looked at, and read");
            assert_eq!(stamps.done_ns, 10 * MS);
        }
    }

    #[test]
    fn what_is_not_due_when_a_queue_is_closed_is_given_up() {
        let clock = Clock::simulated();
        let own = Simulated::new(&clock, 8, 7, |_| Step::ok(MS));
        let mut done = Vec::new();
        assert_eq!(four_under_way(&clock, &five_hundred(own)).close(5 * MS, &mut done), 2);
        assert_eq!(done.iter().map(|one| one.token).collect::<Vec<_>>(), [0, 1]);
    }

    /// When the operations of the next queue end, after one was closed at 3 ms with some of its four given up.
    fn ends_after_giving_up(asked: &Emulation) -> Vec<u64> {
        let clock = Clock::simulated();
        let own = Simulated::new(&clock, 8, 7, |_| Step::ok(MS));
        let store = Slowed::new(Arc::new(own), Arc::new(Slowness::new(asked)));
        assert!(four_under_way(&clock, &store).close(3 * MS, &mut Vec::new()) >= 2);
        assert_eq!(clock.now_ns(), 3 * MS);
        let mut done = Vec::new();
        let mut queue = four_under_way(&clock, &store);
        queue.wait(4, u64::MAX, &mut done).unwrap();
        done.iter().map(|one| one.stamps.done_ns / MS).collect()
    }

    #[test]
    fn what_was_given_up_does_not_reach_into_the_next_repetition() {
        let asked = Emulation { requests_per_s: Some(500.0), ..Emulation::default() };
        assert_eq!(ends_after_giving_up(&asked), [5, 7, 9, 11]);
        // No credit is left, and another comes every 2 ms.
        let burst = Burst { per_s: 1000.0, credits: 1.0 };
        assert_eq!(ends_after_giving_up(&Emulation { request_burst: Some(burst), ..asked }), [5, 7, 9, 11]);
    }

    #[test]
    fn what_was_given_up_keeps_its_turn_while_another_queue_is_open() {
        let clock = Clock::simulated();
        let own = Simulated::new(&clock, 8, 7, |_| Step::ok(MS));
        let store = five_hundred(own);
        let mut other = four_under_way(&clock, &store);
        assert_eq!(four_under_way(&clock, &store).close(9 * MS, &mut Vec::new()), 4);
        let mut done = Vec::new();
        other.wait(4, u64::MAX, &mut done).unwrap();
        assert_eq!(done.last().unwrap().stamps.done_ns, 8 * MS);
        let mut third = four_under_way(&clock, &store);
        third.wait(4, u64::MAX, &mut done).unwrap();
        assert_eq!(
            done.last().unwrap().stamps.done_ns,
            24 * MS,
            "nothing overtakes what was promised to the other"
        );
    }
}
