//! The suite that every backend, the fakes included, must pass.
//!
//! A backend's test builds a [`Fixture`] over objects whose content is that of a generated dataset and
//! calls [`run`], [`run_writes`] where it writes blocks, [`run_write_files`] where it writes whole objects, [`run_names`] where
//! it makes names, and [`run_whole`] for what it offers besides; stores of objects also the checks of [`objects`]. A failed check panics with what was expected.

pub mod objects;
mod whole;
mod writes;

use std::collections::BTreeSet;
use std::sync::Arc;

use dataset::{Objects, payload};
use plan::{Advice, Cache, Operation, Registered};

use crate::{Arena, Buf, Clock, Completion, ErrorKind, IoQueue, Op, QueueSpec, Request, SharedStore};

pub use whole::{WholeFiles, run_whole};
pub use writes::{run_names, run_write_files, run_writes, unfinished_below, write_large_objects};

/// Far enough that a test never waits for it.
// A minute: a busy machine reaches ten seconds, and a queue that hangs is still found before the limit of a test.
const LATER_NS: u64 = 60_000_000_000;

/// A backend under test.
#[derive(Clone)]
pub struct Fixture {
    /// The store; its objects exist.
    pub store: SharedStore,
    /// At least two objects of at least 10,000 bytes, not a multiple of 4096.
    pub objects: Arc<Objects>,
    /// Seed of their content; `None` where reads carry no content (the null target).
    pub seed: Option<u64>,
    /// Cache treatments that the store supports.
    pub caches: Vec<Cache>,
    /// The clock of the queue.
    pub clock: Clock,
    /// Requests that one queue keeps outstanding.
    pub depth: u32,
}

/// Runs every check.
pub fn run(fixture: &Fixture) {
    for cache in &fixture.caches {
        let case = Case { fixture, cache: *cache };
        case.every_request_comes_back_once_with_its_buffer_and_bytes();
        case.a_full_queue_leaves_requests_with_the_caller();
        case.a_wait_for_nothing_only_looks();
        case.a_read_past_the_end_is_an_error_and_returns_its_buffer();
        case.closing_returns_what_is_outstanding();
        case.threads_do_not_mix_up_each_others_reads();
    }
}

/// Runs operations to their ends, as many at once as there are free buffers, and hands each end to `each` with the number
/// of its operation. For tests: waits only where nothing has ended yet, since what ended while it was handed over is not
/// waited for again.
///
/// # Panics
/// Where the queue breaks, or no operation has ended for `patience_ns`.
pub fn drive(
    queue: &mut dyn IoQueue,
    free: &mut Vec<Buf>,
    ops: &[Op],
    (clock, patience_ns): (&Clock, u64),
    mut each: impl FnMut(usize, &Completion),
) {
    let (mut requests, mut done) = (Vec::new(), Vec::new());
    let (mut next, mut ended) = (0, 0);
    let mut until_ns = clock.now_ns().saturating_add(patience_ns);
    while ended < ops.len() {
        while let (Some(op), Some(_)) = (ops.get(next), free.last()) {
            let buf = free.pop().expect("a buffer is free");
            requests.push(Request { token: next as u32, op: *op, buf });
            next += 1;
        }
        queue.submit(&mut requests, &mut done).expect("submit");
        if done.is_empty() {
            queue.wait(1, until_ns, &mut done).expect("wait");
        }
        // A queue whose waits return with nothing would spin here for ever; the name of the test that hung is worth more
        // than the hang. Counted from the last end: a busy machine makes all of them slow, and only a hang lets none end.
        let now_ns = clock.now_ns();
        if !done.is_empty() {
            until_ns = now_ns.saturating_add(patience_ns);
        }
        assert!(now_ns < until_ns, "{ended} of {} operations have ended, and no more", ops.len());
        for completion in done.drain(..) {
            each(completion.token as usize, &completion);
            free.push(completion.buf);
            ended += 1;
        }
    }
}

#[derive(Clone, Copy)]
struct Case<'a> {
    fixture: &'a Fixture,
    cache: Cache,
}

struct Opened {
    queue: Box<dyn IoQueue>,
    free: Vec<Buf>,
}

impl Case<'_> {
    const BLOCK_BYTES: u32 = 4096;

    fn open(&self, depth: u32) -> Opened {
        self.open_for(Operation::Read, &self.fixture.objects, (depth, Self::BLOCK_BYTES))
    }

    fn open_for(
        &self,
        operation: Operation,
        objects: &Arc<Objects>,
        (depth, block_bytes): (u32, u32),
    ) -> Opened {
        let arena = Arena::new(depth, block_bytes).expect("buffers can be mapped");
        let spec = QueueSpec {
            depth,
            submit_batch: depth,
            connections: 0,
            block_bytes,
            cache: self.cache,
            operation,
            writes: None,
            advice: Advice::Normal,
            registered: Registered::Auto,
            objects,
            arena: &arena,
            clock: &self.fixture.clock,
        };
        let queue = self.fixture.store.open_queue(&spec).expect("the queue opens");
        Opened { queue, free: arena.buffers() }
    }

    /// Every block of the first two objects, the short last ones included.
    fn blocks(&self) -> Vec<Op> {
        let block = u64::from(Self::BLOCK_BYTES);
        (0..2)
            .flat_map(|object| {
                let bytes = self.fixture.objects.bytes(object);
                (0..bytes.div_ceil(block)).map(move |index| Op::Read {
                    object,
                    offset: index * block,
                    len: block.min(bytes - index * block) as u32,
                })
            })
            .collect()
    }

    fn check(&self, op: Op, completion: &Completion) {
        let Op::Read { object, offset, len } = op else { panic!("{op:?} is not a read") };
        assert_eq!(completion.result, Ok(u64::from(len)), "{op:?}");
        let stamps = completion.stamps;
        assert!(stamps.begun_ns <= stamps.done_ns, "{op:?} ended before it began: {stamps:?}");
        assert!(stamps.done_ns <= self.fixture.clock.now_ns(), "{op:?} ends in the future: {stamps:?}");
        if let Some(seed) = self.fixture.seed {
            let data = &completion.buf.as_slice()[..len as usize];
            payload::verify(seed, object, offset, data).expect("the bytes are those that were written");
        }
    }

    fn every_request_comes_back_once_with_its_buffer_and_bytes(&self) {
        let Opened { mut queue, mut free } = self.open(self.fixture.depth);
        let ops = self.blocks();
        let (mut requests, mut done, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut next = 0;
        while seen.len() < ops.len() {
            while let (Some(op), Some(_)) = (ops.get(next), free.last()) {
                let buf = free.pop().expect("a buffer is free");
                requests.push(Request { token: next as u32, op: *op, buf });
                next += 1;
            }
            queue.submit(&mut requests, &mut done).expect("submit");
            if done.is_empty() {
                queue.wait(1, LATER_NS, &mut done).expect("wait");
                assert!(!done.is_empty(), "wait(1) returned with nothing done");
            }
            for completion in done.drain(..) {
                self.check(ops[completion.token as usize], &completion);
                assert!(seen.insert(completion.token), "{} came back twice", completion.token);
                free.push(completion.buf);
            }
        }
        assert_eq!(queue.in_flight(), 0);
        assert_eq!(free.len() + requests.len(), self.fixture.depth as usize, "every buffer came back");
        assert_eq!(queue.close(LATER_NS, &mut done), 0);
    }

    fn a_full_queue_leaves_requests_with_the_caller(&self) {
        let depth = self.fixture.depth;
        let Opened { mut queue, free } = self.open(depth);
        // From an arena of their own: all buffers of the queue's are under way when it is full.
        let extra = Arena::new(2, Self::BLOCK_BYTES).expect("buffers can be mapped").buffers();
        let op = self.blocks()[0];
        let mut requests: Vec<Request> = free.into_iter().map(|buf| Request { token: 0, op, buf }).collect();
        let mut done = Vec::new();
        queue.submit(&mut requests, &mut done).expect("submit");
        let taken = depth as usize - requests.len();
        assert!(taken >= 1, "an empty queue takes something");
        // A queue that ends operations in line is never full; there is nothing to check of it then.
        if queue.in_flight() == depth {
            requests.extend(extra.into_iter().map(|buf| Request { token: 9, op, buf }));
            queue.submit(&mut requests, &mut done).expect("submit to a full queue");
            assert_eq!(requests.len(), 2, "a full queue takes nothing");
        }
        queue.close(LATER_NS, &mut done);
    }

    fn a_wait_for_nothing_only_looks(&self) {
        let Opened { mut queue, .. } = self.open(1);
        let mut done = Vec::new();
        queue.wait(0, LATER_NS, &mut done).expect("wait(0)");
        queue.wait(1, 0, &mut done).expect("a deadline in the past");
        // A worker of a copy hung here once: all it had asked for had ended while it was handed over.
        queue.wait(1, u64::MAX, &mut done).expect("a wait that nothing can end is not begun");
        assert!(done.is_empty());
        assert_eq!(queue.close(LATER_NS, &mut done), 0);
    }

    fn a_read_past_the_end_is_an_error_and_returns_its_buffer(&self) {
        if self.fixture.seed.is_none() {
            return;
        }
        let Opened { mut queue, mut free } = self.open(1);
        // Aligned, or direct I/O would refuse it (EINVAL) before it looked for the end.
        let offset = self.fixture.objects.bytes(0).next_multiple_of(4096);
        let buf = free.pop().expect("one buffer");
        let mut requests =
            vec![Request { token: 3, op: Op::Read { object: 0, offset, len: Self::BLOCK_BYTES }, buf }];
        let mut done = Vec::new();
        queue.submit(&mut requests, &mut done).expect("submit");
        while done.is_empty() {
            queue.wait(1, LATER_NS, &mut done).expect("wait");
        }
        let kind = done[0].result.expect_err("nothing is there to read").kind;
        assert_eq!((done[0].token, kind), (3, ErrorKind::Eof));
        queue.close(LATER_NS, &mut done);
    }

    fn closing_returns_what_is_outstanding(&self) {
        let Opened { mut queue, free } = self.open(self.fixture.depth);
        let op = self.blocks()[0];
        let mut requests: Vec<Request> = free
            .into_iter()
            .enumerate()
            .map(|(token, buf)| Request { token: token as u32, op, buf })
            .collect();
        let mut done = Vec::new();
        queue.submit(&mut requests, &mut done).expect("submit");
        let taken = self.fixture.depth as usize - requests.len();
        assert_eq!(queue.close(LATER_NS, &mut done), 0, "nothing is abandoned");
        let tokens: BTreeSet<u32> = done.iter().map(|completion| completion.token).collect();
        assert_eq!((done.len(), tokens.len()), (taken, taken));
    }

    fn threads_do_not_mix_up_each_others_reads(&self) {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| self.every_request_comes_back_once_with_its_buffer_and_bytes());
            }
        });
    }
}
