//! What the harness costs: the whole worker loop on the null target, and the access order alone.
//!
//! `cargo bench -p engine`. Figures belong in docs/methodology; no test asserts a time.

#![expect(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use backend::null::NullStore;
use backend::{Clock, SharedStore};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dataset::{Key, Objects, Order};
use engine::{Progress, RepSpec, run_rep};
use plan::{Access, Cache, Cell, Engine, Limit, Registered};

fn objects() -> Arc<Objects> {
    let folder = Key::new("d").expect("a plain name is a key");
    Arc::new(Objects::Uniform { folder, count: 1_000_000, bytes: 131_072 })
}

fn cell(queue_depth: u32, access: Access) -> Cell {
    Cell {
        slug: "null".to_owned(),
        target: 0,
        dataset: 0,
        engine: Engine::Null,
        stands_in_for: None,
        registered: Registered::Off,
        block_bytes: 4096,
        access,
        cache: Cache::Bypass,
        queue_depth,
        threads: 1,
        submit_batch: queue_depth,
        seed: 1,
        auto_group: None,
        axes: Vec::new(),
    }
}

/// Time per operation of a whole repetition, from its own window: threads and queues are set up outside it.
fn null_loop_ns(cell: &Cell, store: &SharedStore, objects: &Arc<Objects>, ops: u64) -> u64 {
    let rep = run_rep(&RepSpec {
        cell,
        store,
        objects,
        verify_seed: None,
        warmup_ns: 0,
        limit: Limit::Bytes { bytes: ops * 4096 },
        epoch: 0,
        cores: 1,
        clock: &Clock::real(),
        stop: &AtomicBool::new(false),
        progress: &Progress::default(),
    })
    .expect("the null target cannot fail");
    rep.window_ns
}

fn worker_loop(criterion: &mut Criterion) {
    let objects = objects();
    let store: SharedStore = Arc::new(NullStore::default());
    let mut group = criterion.benchmark_group("worker loop on the null queue");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    for access in [Access::Sequential, Access::Random, Access::ShuffledEpoch] {
        for queue_depth in [1, 32] {
            let cell = cell(queue_depth, access);
            group.bench_function(BenchmarkId::new(access.name(), queue_depth), |bencher| {
                bencher.iter_custom(|ops| {
                    Duration::from_nanos(null_loop_ns(&cell, &store, &objects, ops.max(10_000)))
                        .mul_f64(ops as f64 / ops.max(10_000) as f64)
                });
            });
        }
    }
    group.finish();
}

fn order(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("access order, one ticket");
    for access in [Access::Sequential, Access::Random, Access::ShuffledEpoch] {
        let order = Order::new(&objects(), access, 4096, 1).expect("there is data");
        let mut ticket = 0;
        group.bench_function(access.name(), |bencher| {
            bencher.iter(|| {
                ticket += 1;
                black_box(order.at(black_box(ticket)))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, worker_loop, order);
criterion_main!(benches);
