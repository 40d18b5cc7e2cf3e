//! What the harness costs: the whole worker loop on the null target, and the access order alone.
//!
//! `cargo bench -p engine`. Figures belong in docs/methodology; no test asserts a time.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use backend::null::NullStore;
use backend::{Arena, Clock, Op, QueueSpec, Request, SharedStore, Store as _};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dataset::{Data, Even, Key, Listed, Objects, Order, Samples};
use engine::{RepSpec, run_rep};
use plan::{
    Access, Arrivals, Cache, Cell, Engine, Fetch, Limit, Load, Pace, Rate, Registered, Streams, Task,
    Training,
};

fn objects() -> Arc<Objects> {
    let folder = Key::new("d").expect("a plain name is a key");
    Arc::new(Objects::uniform(folder, 1_000_000, 131_072))
}

fn cell(queue_depth: u32, access: Access) -> Cell {
    Cell { access, ..Cell::plain(Engine::Null, 4096, queue_depth) }
}

/// Time per operation of a whole repetition, from its own window: threads and queues are set up outside it.
fn null_loop_ns(cell: &Cell, store: &SharedStore, data: &Data, ops: u64) -> u64 {
    let op_bytes = if cell.task == Task::ReadFile { 131_072 } else { u64::from(cell.block_bytes) };
    let limit = Limit::Bytes { bytes: ops * op_bytes };
    let measured = run_rep(&RepSpec::plain(cell, store, data, limit, &Clock::real()))
        .expect("the null target cannot fail");
    measured.rep.window_ns
}

fn worker_loop(criterion: &mut Criterion) {
    let data = Data::files(objects(), None);
    let store: SharedStore = Arc::new(NullStore::default());
    let mut group = criterion.benchmark_group("worker loop on the null queue");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    for access in [Access::Sequential, Access::Random, Access::ShuffledEpoch] {
        for queue_depth in [1, 32] {
            let cell = cell(queue_depth, access);
            group.bench_function(BenchmarkId::new(access.name(), queue_depth), |bencher| {
                bencher.iter_custom(|ops| {
                    Duration::from_nanos(null_loop_ns(&cell, &store, &data, ops.max(10_000)))
                        .mul_f64(ops as f64 / ops.max(10_000) as f64)
                });
            });
        }
    }
    group.finish();
}

/// Bytes of one sample, and of one read of it.
const SAMPLE_BYTES: u64 = 131_072;

/// Samples of 128 KiB at equal distances, a thousand in each of so many shards.
fn packed(shards: u32) -> Data {
    let (per_object, count) = (1_000, u64::from(shards) * 1_000);
    let even = Even { count, per_object, first_byte: 0, stride_bytes: SAMPLE_BYTES, bytes: SAMPLE_BYTES };
    let folder = Key::new("d").expect("a plain name is a key");
    let objects = Objects::uniform(folder, shards, SAMPLE_BYTES * u64::from(per_object));
    Data::new(Arc::new(objects), Samples::Even(even), None).expect("every sample lies inside")
}

/// Shards of about as many samples, no two neighbours alike.
fn unlike(shards: u32) -> Data {
    let mut listed = Listed::default();
    for shard in 0..u64::from(shards) {
        let key = Key::new(format!("s{shard}")).expect("a plain name is a key");
        listed.push(&key, SAMPLE_BYTES * (900 + shard * 37 % 200));
    }
    let samples = Samples::Streamed { count: u64::from(shards) * 1_000 };
    Data::new(Arc::new(Objects::Listed(listed)), samples, None).expect("streams lie nowhere")
}

/// Orders over shards in reads of one size: those of records by index, and of shards as WebDataset streams them.
fn shard_orders() -> Vec<(&'static str, Data, Cell)> {
    let of = |access| Cell { access, ..Cell::plain(Engine::Null, SAMPLE_BYTES as u32, 32) };
    let streams = Streams::of(16);
    vec![
        ("records by index", packed(1_000), of(Access::ShuffledEpoch)),
        ("runs of neighbours", packed(1_000), of(Access::Neighbours { run_length: 16 })),
        ("webdataset, equal shards", packed(1_000), of(Access::ShuffledShards(streams))),
        ("webdataset, unlike shards", unlike(1_000), of(Access::ShuffledShards(streams))),
        ("webdataset, resampled", packed(1_000), of(Access::ResampledShards(streams))),
    ]
}

/// What a byte costs the client by index and streamed, where reads are copied as out of a page cache, and alone.
fn shard_loop(criterion: &mut Criterion) {
    let stores = [
        ("shards on the null queue", NullStore::default()),
        ("shards on the null queue, copied", NullStore::copying(256 << 20)),
    ];
    for (name, store) in stores {
        let store: SharedStore = Arc::new(store);
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(SAMPLE_BYTES)).sample_size(20);
        for (name, data, cell) in shard_orders() {
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|ops| {
                    Duration::from_nanos(null_loop_ns(&cell, &store, &data, ops.max(10_000)))
                        .mul_f64(ops as f64 / ops.max(10_000) as f64)
                });
            });
        }
        group.finish();
    }
}

/// A paced load that is always behind: what its timetable and its two further histograms cost an operation.
fn paced_loop(criterion: &mut Criterion) {
    let data = Data::files(objects(), None);
    let store: SharedStore = Arc::new(NullStore::default());
    let mut group = criterion.benchmark_group("paced worker loop on the null queue");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let pace = Pace { rate: Rate::Bytes { per_s: 1e13 }, arrivals, spin_ns: 0 };
        let cell = Cell { load: Load::Paced(pace), ..cell(32, Access::Sequential) };
        group.bench_function(BenchmarkId::new(arrivals.name(), 32), |bencher| {
            bencher.iter_custom(|ops| {
                Duration::from_nanos(null_loop_ns(&cell, &store, &data, ops.max(10_000)))
                    .mul_f64(ops as f64 / ops.max(10_000) as f64)
            });
        });
    }
    group.finish();
}

/// A training job whose accelerators take no time: what a sample costs the client that plays it.
fn training_loop(criterion: &mut Criterion) {
    let data = Data::files(objects(), None);
    let store: SharedStore = Arc::new(NullStore::default());
    let mut group = criterion.benchmark_group("training job on the null queue, one sample");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    let fetches = [
        ("shared", Fetch::Shared, 64),
        ("shared", Fetch::Shared, 8),
        ("readers", Fetch::Readers { count: 4 }, 64),
    ];
    for (name, fetch, accelerators) in fetches {
        let training = Training { fetch, ..Training::plain(accelerators, 100, 1) };
        let cell =
            Cell { task: Task::ReadFile, load: Load::Training(training), ..cell(256, Access::ShuffledEpoch) };
        // Whole steps of all accelerators, and no fewer.
        let least = 20 * training.samples_per_step();
        group.bench_function(BenchmarkId::new(name, accelerators), |bencher| {
            bencher.iter_custom(|ops| {
                let samples = ops.max(least).next_multiple_of(training.samples_per_step());
                Duration::from_nanos(null_loop_ns(&cell, &store, &data, samples))
                    .mul_f64(ops as f64 / samples as f64)
            });
        });
    }
    group.finish();
}

/// The seam alone: requests in, completions out, in slices of the depth or one request to a call.
fn seam(criterion: &mut Criterion) {
    const DEPTH: u32 = 32;
    let (objects, clock) = (objects(), Clock::real());
    let mut group = criterion.benchmark_group("seam, 32 requests through dyn IoQueue");
    group.throughput(Throughput::Elements(u64::from(DEPTH)));
    for (name, slice) in [("one call per slice", DEPTH as usize), ("one call per request", 1)] {
        let arena = Arena::new(DEPTH, 4096).expect("buffers can be mapped");
        let spec = QueueSpec {
            depth: DEPTH,
            submit_batch: DEPTH,
            connections: 0,
            block_bytes: 4096,
            cache: Cache::Bypass,
            operation: plan::Operation::Read,
            writes: None,
            advice: plan::Advice::Normal,
            registered: Registered::Off,
            objects: &objects,
            arena: &arena,
            clock: &clock,
        };
        let mut queue = NullStore::default().open_queue(&spec).expect("the null queue opens");
        let mut free = arena.buffers();
        let (mut requests, mut done) = (Vec::with_capacity(32), Vec::with_capacity(32));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                while !free.is_empty() {
                    for buf in free.drain(free.len() - slice..) {
                        let op = Op::Read { object: 0, offset: 0, len: 4096 };
                        requests.push(Request { token: buf.slot(), op, buf });
                    }
                    queue.submit(&mut requests, &mut done).expect("the null queue takes all");
                }
                queue.wait(DEPTH as usize, u64::MAX, &mut done).expect("the null queue answers");
                free.extend(done.drain(..).map(|completion| black_box(completion).buf));
            });
        });
    }
    group.finish();
}

fn order(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("access order, one ticket");
    for access in [Access::Sequential, Access::Random, Access::ShuffledEpoch] {
        let order = Order::new(&objects(), access, 4096, 1).expect("there is data");
        let (mut reads, mut ticket) = (order.cursor(), 0);
        group.bench_function(access.name(), |bencher| {
            bencher.iter(|| {
                ticket += 1;
                black_box(reads.at(black_box(ticket)))
            });
        });
    }
    for (name, data, cell) in shard_orders() {
        let order = Order::of_cell(&data, &cell).expect("there is data");
        let (mut reads, mut ticket) = (order.cursor(), 0);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                ticket += 1;
                black_box(reads.at(black_box(ticket)))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, worker_loop, shard_loop, paced_loop, training_loop, seam, order);
criterion_main!(benches);
