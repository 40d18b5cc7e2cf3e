//! The worker loop allocates nothing per operation. A binary of its own, because the allocator counts for
//! the whole process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use backend::null::NullStore;
use backend::{Clock, SharedStore};
use dataset::{Data, Even, Extent, Index, Key, Listed, Objects, Order, Samples};
use engine::{Measured, RepSpec, run_rep};
use plan::{
    Access, Arrivals, Cell, Decode, Engine, Fetch, Limit, Load, Pace, Rate, Streams, Task, Training, Work,
};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn objects() -> Objects {
    Objects::uniform(Key::new("d").unwrap(), 1_000_000, 65_536)
}

/// Allocations of a whole repetition that makes `ops` operations of `op_bytes`.
fn allocations_of(ops: u64, cell: &Cell, op_bytes: u64) -> u64 {
    let store: SharedStore = Arc::new(NullStore::default());
    let objects = Arc::new(objects());
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let data = Data::files(objects, None);
    let limit = Limit::Bytes { bytes: ops * op_bytes };
    let clock = Clock::real();
    let spec = RepSpec { line_bps: 1e12, ..RepSpec::plain(cell, &store, &data, limit, &clock) };
    let Measured { rep, .. } = run_rep(&spec).unwrap();
    assert_eq!(rep.counters["ops"], ops);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// Reads that must cost nothing.
const MORE_READS: u64 = 990_000;

/// One test, so that nothing else allocates meanwhile.
#[test]
fn neither_an_operation_nor_a_planned_access_allocates() {
    let closed = Cell::plain(Engine::Null, 4096, 32);
    allocations_of(1_000, &closed, 4096);
    let pace = |arrivals| Load::Paced(Pace { rate: Rate::OfLine { share: 1.0 }, arrivals, spin_ns: 10_000 });
    let training = Training::plain(4, 25, 1_000);
    let trained = |training| Cell { task: Task::ReadFile, load: Load::Training(training), ..closed.clone() };
    let decode = Some(Decode { work: Work::Cost { per_sample_ns: 10 }, threads: None });
    let readers = Training { fetch: Fetch::Readers { count: 8 }, decode, ..training };
    let cells = [
        (trained(training), 65_536),
        (trained(readers), 65_536),
        (closed.clone(), 4096),
        (Cell { threads: 2, ..closed.clone() }, 4096),
        (Cell { task: Task::ReadFile, ..closed.clone() }, 65_536),
        (Cell { load: pace(Arrivals::Constant), ..closed.clone() }, 4096),
        (Cell { load: pace(Arrivals::Poisson), threads: 2, ..closed.clone() }, 4096),
    ];
    for (cell, op_bytes) in cells {
        let (few, many) =
            (allocations_of(10_000, &cell, op_bytes), allocations_of(10_000 + MORE_READS, &cell, op_bytes));
        // A second that begins costs each worker a histogram: hundreds in all where others hold the processors, however few
        // reads it brings.
        assert!(
            many < few + MORE_READS / 100,
            "{few} allocations for 10,000 reads, {many} for 1,000,000 of {cell:?}"
        );
    }

    let order = Order::new(&objects(), Access::ShuffledEpoch, 4096, 1).unwrap();
    let mut reads = order.cursor();
    let before = BYTES.load(Ordering::Relaxed);
    let sum = (0..1_000_000_u64).fold(0_u64, |sum, n| sum.wrapping_add(reads.at(n * 1_000).offset));
    assert!(sum > 0);
    assert_eq!(BYTES.load(Ordering::Relaxed), before, "an access plan of 10^9 reads takes no memory");

    for data in [even(), indexed()] {
        for access in ORDERS {
            let cell = Cell { access, ..closed.clone() };
            let before = BYTES.load(Ordering::Relaxed);
            let order = Order::of_cell(&data, &cell).unwrap();
            let made = BYTES.load(Ordering::Relaxed) - before;
            // A table of unlike units is made once; of equal ones there is none.
            assert!(
                made <= if matches!(data.samples(), Samples::Even(_)) { 0 } else { 1 << 20 },
                "{access:?}"
            );
            let mut reads = order.cursor();
            let before = BYTES.load(Ordering::Relaxed);
            let sum = (0..100_000_u64).fold(0_u64, |sum, n| sum.wrapping_add(reads.at(n * 1_000).offset));
            assert!(sum > 0);
            assert_eq!(BYTES.load(Ordering::Relaxed), before, "{access:?} takes no memory for a read");
        }
    }
}

const ORDERS: [Access; 6] = [
    Access::Sequential,
    Access::Random,
    Access::ShuffledEpoch,
    Access::ShuffledShards(Streams::of(16)),
    Access::ResampledShards(Streams::of(16)),
    Access::Neighbours { run_length: 16 },
];

/// 10,000,000 samples in 1,000 shards.
fn even() -> Data {
    let even =
        Even { count: 10_000_000, per_object: 10_000, first_byte: 0, stride_bytes: 6_000, bytes: 5_000 };
    let shards = Arc::new(Objects::uniform(Key::new("d").unwrap(), 1_000, 60_000_000));
    Data::new(shards, Samples::Even(even), None).unwrap()
}

/// 10,000 samples that differ in their blocks, of several parts each, in shards that do too.
fn indexed() -> Data {
    let mut index = Index::default();
    let mut shards = Listed::default();
    for shard in 0..100 {
        shards.push(&Key::new(format!("s{shard}")).unwrap(), 1_000_000 + u64::from(shard) * 5_000);
        for sample in 0..100 {
            let part = |offset| Extent { object: shard, offset, bytes: 3_000 + offset % 7 * 1_000 };
            index.push(1, &[part(sample * 9_001), part(sample * 9_001 + 500)]);
        }
    }
    Data::new(Arc::new(Objects::Listed(shards)), Samples::Indexed(index), None).unwrap()
}
