//! One repetition of one cell: threads, queues, a window, and what was counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, ScopedJoinHandle};

use backend::{Arena, ArenaError, CacheAction, Clock, QueueSpec, Residency, SharedStore, StoreError};
use dataset::{Objects, Order, OrderError, ReadSpan};
use hdrhistogram::Histogram;
use plan::{Cache, Cell, Limit};
use record::{CacheProof, HistogramText, Interval, Outcome, Usage, counter};

use crate::gate::StartGate;
use crate::load::{ClosedLoop, Tickets};
use crate::usage::Meter;
use crate::worker::{Window, Worker, WorkerEnd};

/// What workers publish while they run, for whoever shows progress.
#[derive(Debug, Default)]
pub struct Progress {
    ops: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    #[inline]
    pub(crate) fn add(&self, ops: u64, bytes: u64) {
        self.ops.fetch_add(ops, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Reads and bytes since the run began.
    pub fn get(&self) -> (u64, u64) {
        (self.ops.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

/// Everything that a repetition needs.
pub struct RepSpec<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Its storage, opened for its engine.
    pub store: &'a SharedStore,
    /// Its dataset.
    pub objects: &'a Arc<Objects>,
    /// Seed of the content, where reads can be checked.
    pub verify_seed: Option<u64>,
    /// Time before the window opens.
    pub warmup_ns: u64,
    /// What ends the window.
    pub limit: Limit,
    /// Number among all repetitions of the cell: each reads on in another epoch.
    pub epoch: u64,
    /// Processors this process may use.
    pub cores: u32,
    /// The run's clock.
    pub clock: &'a Clock,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
    /// Where workers publish.
    pub progress: &'a Progress,
}

/// Why a repetition could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RepError {
    /// The order is impossible.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// Buffers could not be mapped.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The storage refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system refused a thread.
    #[error(
        "cannot start {threads} threads: {source}\n  hint: raise the limit of processes (`ulimit -u`, the \
         container's pids limit), or write shallower queues for an engine that takes a thread for each read"
    )]
    Threads {
        /// Threads of the repetition.
        threads: u32,
        /// The cause.
        source: std::io::Error,
    },
    /// A thread ended before it could begin.
    #[error("a thread ended before it could begin")]
    NotStarted,
}

/// What a repetition measured, in the types of the record.
#[derive(Debug)]
pub struct RepOutcome {
    /// How it ended.
    pub outcome: Outcome,
    /// Opening of the window on the run's clock.
    pub window_start_ns: u64,
    /// Length of the window as it was.
    pub window_ns: u64,
    /// Counters by name.
    pub counters: BTreeMap<String, u64>,
    /// Failures by kind.
    pub errors: BTreeMap<String, u64>,
    /// Latency histogram.
    pub service_ns: HistogramText,
    /// What the process used.
    pub usage: Usage,
    /// Page-cache residency.
    pub cache: CacheProof,
    /// What the engine was granted.
    pub granted: BTreeMap<String, String>,
    /// The window by seconds.
    pub seconds: Vec<Interval>,
}

/// Runs one repetition.
pub fn run_rep(spec: &RepSpec<'_>) -> Result<RepOutcome, RepError> {
    let order = Order::of_cell(spec.objects, spec.cell)?;
    let before = set_cache(spec)?;
    let tickets = tickets(spec, &order);
    let ends = run_workers(spec, &order, &tickets)?;
    let after = spec.store.cache(CacheAction::Inspect, spec.objects)?;
    let cache = CacheProof {
        method: before.method.to_owned(),
        total_bytes: before.total_bytes,
        before_bytes: before.resident_bytes,
        after_bytes: after.resident_bytes,
    };
    let asked = asked(spec, &order);
    Ok(merge(asked, ends, cache))
}

/// Sets the page cache as the cell asks, and says what is resident then.
fn set_cache(spec: &RepSpec<'_>) -> Result<Residency, StoreError> {
    let act = |action| spec.store.cache(action, spec.objects);
    match spec.cell.cache {
        Cache::Cold => act(CacheAction::Evict),
        Cache::Warm => {
            // Made in one way, from an empty cache by reading in order: pages that came in by single faults
            // are smaller, and were measured to cost 1.9 times as much.
            act(CacheAction::Evict)?;
            act(CacheAction::Warm)
        }
        Cache::Bypass => {
            // Pages that are resident afterwards show that direct reads were served through the cache, but
            // only if none was there before.
            let found = act(CacheAction::Inspect)?;
            if found.resident_bytes == Some(0) { Ok(found) } else { act(CacheAction::Evict) }
        }
    }
}

/// The tickets of this repetition. A cold one gets a single pass: a second would be served from memory.
fn tickets(spec: &RepSpec<'_>, order: &Order) -> Tickets {
    let per_epoch = order.tickets_per_epoch();
    let cold = (spec.cell.cache == Cache::Cold).then_some(per_epoch);
    let count = asked(spec, order).into_iter().chain(cold).min();
    Tickets::new(spec.epoch.wrapping_mul(per_epoch) % (u64::MAX / 4), count)
}

/// Reads that the limit asks for; `None` where time ends the window. Bytes are counted in reads of mean size.
fn asked(spec: &RepSpec<'_>, order: &Order) -> Option<u64> {
    let per_epoch = order.tickets_per_epoch();
    match spec.limit {
        Limit::Duration { .. } => None,
        Limit::Bytes { bytes } => {
            let reads = u128::from(bytes) * u128::from(per_epoch);
            Some(reads.div_ceil(u128::from(spec.objects.total_bytes())).max(1) as u64)
        }
        Limit::Epochs { epochs } => Some(epochs.saturating_mul(per_epoch)),
    }
}

/// The window of a repetition that begins at `start_ns`.
fn window(spec: &RepSpec<'_>, start_ns: u64) -> Window {
    let open_ns = start_ns + spec.warmup_ns;
    let close_ns = match spec.limit {
        Limit::Duration { duration_ns } => open_ns + duration_ns,
        Limit::Bytes { .. } | Limit::Epochs { .. } => u64::MAX,
    };
    Window { open_ns, close_ns }
}

/// Opens a queue on each thread, starts them together, and brings back what each counted.
fn run_workers(
    spec: &RepSpec<'_>,
    order: &Order,
    tickets: &Tickets,
) -> Result<(Window, Vec<WorkerEnd>), RepError> {
    let threads = spec.cell.threads;
    let gate = StartGate::new(threads);
    let ends = std::thread::scope(|scope| {
        let mut workers = Vec::with_capacity(threads as usize);
        for index in 0..threads {
            let gate = &gate;
            let work = move || work(spec, order, tickets, index, gate);
            match Builder::new().name(format!("worker-{index}")).spawn_scoped(scope, work) {
                Ok(worker) => workers.push(worker),
                Err(source) => {
                    gate.fail(RepError::Threads { threads, source });
                    break;
                }
            }
        }
        workers.into_iter().filter_map(join).collect()
    });
    gate.outcome().map(|start_ns| (window(spec, start_ns), ends))
}

/// What a thread brought back. One that panicked takes the run with it, after the others have ended.
fn join(worker: ScopedJoinHandle<'_, Option<WorkerEnd>>) -> Option<WorkerEnd> {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn work(
    spec: &RepSpec<'_>,
    order: &Order,
    tickets: &Tickets,
    index: u32,
    gate: &StartGate,
) -> Option<WorkerEnd> {
    let promise = gate.promise();
    let depth = share(spec.cell.queue_depth, spec.cell.threads, index);
    let ((queue, free), start_ns) = promise.keep(open(spec, depth), spec.clock)?;
    let window = window(spec, start_ns);
    let worker = Worker {
        queue,
        free,
        order,
        load: ClosedLoop::new(tickets, window.close_ns),
        window,
        clock: spec.clock,
        stop: spec.stop,
        progress: spec.progress,
        verify_seed: spec.verify_seed,
        meter: (index == 0).then(|| Meter::new(spec.cores)),
        spans: vec![ReadSpan { object: 0, offset: 0, len: 0 }; depth as usize],
    };
    Some(worker.run())
}

/// The part of the queue depth that falls to one thread; the first threads take the remainder.
fn share(queue_depth: u32, threads: u32, index: u32) -> u32 {
    queue_depth / threads + u32::from(index < queue_depth % threads)
}

type Opened = (Box<dyn backend::IoQueue>, Vec<backend::Buf>);

fn open(spec: &RepSpec<'_>, depth: u32) -> Result<Opened, RepError> {
    let arena = Arena::new(depth, spec.cell.block_bytes)?;
    let queue = spec.store.open_queue(&QueueSpec {
        depth,
        submit_batch: spec.cell.submit_batch,
        cache: spec.cell.cache,
        registered: spec.cell.registered,
        objects: spec.objects,
        arena: &arena,
        clock: spec.clock,
    })?;
    Ok((queue, arena.buffers()))
}

fn merge(asked: Option<u64>, (window, ends): (Window, Vec<WorkerEnd>), cache: CacheProof) -> RepOutcome {
    let finished_ns = ends.iter().map(|end| end.finished_ns).max().unwrap_or(window.open_ns);
    let mut errors = BTreeMap::new();
    for (kind, count) in ends.iter().flat_map(|end| end.recorder.errors()) {
        *errors.entry(kind.name().to_owned()).or_insert(0) += count;
    }
    let usage = ends.iter().find_map(|end| end.meter.as_ref()).map(Meter::usage).unwrap_or_default();
    RepOutcome {
        outcome: outcome(asked, &window, finished_ns, &ends),
        window_start_ns: window.open_ns,
        window_ns: finished_ns.saturating_sub(window.open_ns),
        counters: counters(&ends),
        errors,
        service_ns: record::encode(&merged_service(&ends)),
        usage,
        cache,
        granted: granted(&ends),
        seconds: merged_seconds(&ends),
    }
}

/// `asked` are the reads that the limit asked for, where it did not ask for a time.
fn outcome(asked: Option<u64>, window: &Window, finished_ns: u64, ends: &[WorkerEnd]) -> Outcome {
    if let Some(reason) = ends.iter().find_map(|end| end.failure.clone()) {
        return Outcome::Failed { reason };
    }
    if ends.iter().any(|end| end.interrupted) && finished_ns < window.close_ns {
        return Outcome::Interrupted;
    }
    let ran_out = ends.iter().any(|end| end.exhausted);
    let ended: u64 = ends.iter().map(|end| end.recorder.ended()).sum();
    let cut = asked.is_none_or(|asked| ended < asked);
    if ran_out && cut { Outcome::Exhausted } else { Outcome::Complete }
}

/// What every worker was granted; where they differ, each answer.
fn granted(ends: &[WorkerEnd]) -> BTreeMap<String, String> {
    let mut granted: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in ends.iter().flat_map(|end| &end.report.granted) {
        let known = granted.entry((*name).to_owned()).or_insert_with(|| value.clone());
        if !known.split("; ").any(|part| part == value) {
            *known = format!("{known}; {value}");
        }
    }
    granted
}

fn counters(ends: &[WorkerEnd]) -> BTreeMap<String, u64> {
    let sum = |of: fn(&WorkerEnd) -> u64| ends.iter().map(of).sum::<u64>();
    [
        (counter::OPS, sum(|end| end.recorder.ops)),
        (counter::BYTES, sum(|end| end.recorder.bytes)),
        (counter::STARTED, sum(|end| end.recorder.started)),
        (counter::WARMUP_OPS, sum(|end| end.recorder.warmup_ops)),
        (counter::VERIFIED, sum(|end| end.recorder.verified)),
        (counter::CLAMPED, sum(|end| end.recorder.clamped)),
        (counter::SHORT_READS, sum(|end| end.report.short_reads)),
        (counter::OPENS, sum(|end| end.report.opens)),
        (counter::ENTERS, sum(|end| end.report.enters)),
        (counter::ABANDONED, sum(|end| u64::from(end.abandoned))),
    ]
    .map(|(name, count)| (name.to_owned(), count))
    .into()
}

fn merged_service(ends: &[WorkerEnd]) -> Histogram<u64> {
    let mut merged = record::new_histogram();
    for end in ends {
        add(&mut merged, &end.recorder.service_ns);
    }
    merged
}

fn merged_seconds(ends: &[WorkerEnd]) -> Vec<Interval> {
    let length = ends.iter().map(|end| end.recorder.seconds.len()).max().unwrap_or(0);
    (0..length)
        .map(|index| {
            let mut service_ns = record::new_interval_histogram();
            let (mut ops, mut bytes) = (0, 0);
            for second in ends.iter().filter_map(|end| end.recorder.seconds.get(index)) {
                ops += second.ops;
                bytes += second.bytes;
                add(&mut service_ns, &second.service_ns);
            }
            Interval { second: index as u32, ops, bytes, service_ns: record::encode(&service_ns) }
        })
        .collect()
}

/// Adds a histogram of the same range and precision, for which the sum cannot fail.
fn add(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    let added = sum.add(part);
    debug_assert!(added.is_ok(), "both histograms were made by the same function");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_depth_is_shared_out_without_remainder() {
        let shares: Vec<u32> = (0..3).map(|index| share(8, 3, index)).collect();
        assert_eq!(shares, [3, 3, 2]);
    }
}
