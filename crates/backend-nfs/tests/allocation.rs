//! A queue allocates nothing per operation, and what it takes beside its buffers is bounded. A binary of its own,
//! because the allocator counts for the whole process; the server's threads do not count.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use backend::{Arena, Buf, Clock, IoQueue, Op, OpError, QueueSpec, Request, Store};
use backend_nfs::NfsStore;
use dataset::Objects;
use plan::{Advice, Cache, Operation, Registered};

use crate::fake::{Act, Asked, FILE_BYTES, objects, record, serve, words};

#[path = "it/fake.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod fake;
#[path = "it/memory.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod memory;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that this thread has, and the most that it had.
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn hold(bytes: usize) {
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        MOST.try_with(|most| most.set(most.get().max(held.get())))
    });
}

/// What another thread had allocated was never held here.
fn release(bytes: usize) {
    let _ = HELD.try_with(|held| held.set(held.get().saturating_sub(bytes)));
}

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        hold(layout.size());
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        release(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// A queue over the fake server, its buffers apart.
struct Opened {
    queue: Box<dyn IoQueue>,
    free: Vec<Buf>,
    // Lives as long as its queue.
    _store: NfsStore,
}

fn open(store: NfsStore, operation: Operation, (depth, block_bytes): (u32, u32)) -> Opened {
    let (arena, clock) = (Arena::new(depth, block_bytes).unwrap(), Clock::real());
    let objects: Arc<Objects> = objects();
    let spec = QueueSpec {
        depth,
        submit_batch: depth,
        block_bytes,
        connections: 2,
        cache: Cache::Bypass,
        operation,
        writes: None,
        advice: Advice::Normal,
        registered: Registered::Auto,
        objects: &objects,
        arena: &arena,
        clock: &clock,
    };
    Opened { queue: store.open_queue(&spec).unwrap(), free: arena.buffers(), _store: store }
}

impl Opened {
    /// Runs `count` operations, as many at once as there are buffers; each end is told.
    fn run(&mut self, op: Op, count: u32, mut ended: impl FnMut(u32, Result<u64, OpError>)) {
        let most = self.free.len();
        let (mut requests, mut done) = (Vec::with_capacity(most), Vec::with_capacity(4 * most));
        let mut number = 0;
        while number < count {
            for (token, buf) in (0_u32..).zip(self.free.drain(..)) {
                requests.push(Request { token, op, buf });
            }
            self.queue.submit(&mut requests, &mut done).unwrap();
            // Those that failed while they were sent have ended already; there may be nothing to wait for.
            if done.is_empty() {
                self.queue.wait(1, u64::MAX, &mut done).unwrap();
            }
            for end in done.drain(..) {
                number += 1;
                ended(number, end.result);
                self.free.push(end.buf);
            }
        }
    }
}

fn store(answer: impl Fn(Asked) -> Act + Send + Sync + 'static) -> NfsStore {
    NfsStore::open(&memory::config(serve(answer), "/")).unwrap()
}

/// Allocations of this thread while 1,000 operations run after 500 of the same kind.
fn allocations_of(op: Op, block_bytes: u32) -> u64 {
    let (operation, well) = match op {
        Op::Read { len, .. } => (Operation::Read, u64::from(len)),
        Op::ReadFile { bytes, .. } => (Operation::ReadFile, bytes),
        Op::Stat { .. } => (Operation::Stat, 0),
        Op::GetAttr { .. } => (Operation::GetAttr, 0),
        Op::List { .. } => (Operation::List, 2),
        Op::Write { .. } | Op::WriteFile { .. } | Op::Names { .. } => panic!("this server keeps nothing"),
    };
    let mut opened = open(store(|asked| Act::Send(asked.data())), operation, (16, block_bytes));
    let (mut before, mut after) = (0, 0);
    opened.run(op, 1_500, |number, end| {
        assert_eq!(end, Ok(well), "{op:?}");
        match number {
            500 => before = ALLOCATIONS.with(Cell::get),
            1_500 => after = ALLOCATIONS.with(Cell::get),
            _ => {}
        }
    });
    after - before
}

#[test]
fn a_steady_state_allocates_nothing_per_operation() {
    let read = |len| Op::Read { object: 1, offset: 0, len };
    for (op, block_bytes) in [
        (read(4096), 4096),
        (read(50_000), 50_000),
        // More than the server reads at once, so that there are parts.
        (read(200_000), 200_000),
        (Op::ReadFile { object: 1, bytes: FILE_BYTES }, 4096),
        (Op::Stat { object: 1 }, 4096),
        (Op::GetAttr { object: 1 }, 4096),
        (Op::List { folder: 0 }, 4096),
    ] {
        // A buffer may still find its size; 1,000 operations are counted.
        let allocations = allocations_of(op, block_bytes);
        assert!(allocations <= 16, "{allocations} allocations: {op:?}");
    }
}

/// The most bytes that this thread had at once, beyond what it had before, while it read blocks.
fn bytes_held(depth: u32, block_bytes: u32, answer: impl Fn(Asked) -> Act + Send + Sync + 'static) -> usize {
    let store = store(answer);
    let before = HELD.with(Cell::get);
    MOST.with(|most| most.set(before));
    let mut opened = open(store, Operation::Read, (depth, block_bytes));
    opened.run(Op::Read { object: 1, offset: 0, len: block_bytes }, 2 * depth, |_, _| {});
    MOST.with(Cell::get).saturating_sub(before)
}

#[test]
fn what_is_held_beside_the_buffers_depends_on_neither_blocks_nor_what_the_server_sends() {
    /// The tasks, and a few buffers for heads.
    const BOUND_BYTES: usize = 4 << 20;
    for (depth, block_bytes) in [(64, 4096), (64, 1 << 20), (1_024, 4096)] {
        let bytes = bytes_held(depth, block_bytes, |asked| Act::Send(asked.data()));
        assert!(bytes < BOUND_BYTES, "{bytes} B of {depth} blocks of {block_bytes} B");
    }
    let hostile: [fn(Asked) -> Vec<u8>; 4] = [
        |_| words(&[u32::MAX, 0, 1]),
        |asked| [words(&[0x7fff_ffff, asked.xid, 1]), vec![0; 1 << 20]].concat(),
        // A verifier that never ends.
        |asked| [words(&[1 << 31 | 65_536, asked.xid, 1, 0, 0, 1 << 30]), vec![0; 1 << 20]].concat(),
        |asked| record(&[words(&[asked.xid, 1, 0, 0, 0, 0, 5]), vec![0; 1 << 20]].concat()),
    ];
    for says in hostile {
        let bytes = bytes_held(16, 4096, move |asked| Act::Close(says(asked)));
        assert!(bytes < BOUND_BYTES, "{bytes} B");
    }
}
