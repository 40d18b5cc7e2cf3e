//! A dataset that is copied from one storage to another: read through the timed queue of the one, written through the
//! other's untimed writers, both at once and with bounded memory.
//!
//! Each worker has a queue of its own and [`plan::COPY_BUFFERS`] buffers. Where objects are copied as they are, it is two
//! threads: one reads block after block, the other writes them, so that an object is published while the next is
//! read. Where samples are packed, one thread builds a shard and pulls its samples through the queue as it goes.

mod end;
mod kept;
mod pack;
mod place;
mod plain;
mod pull;
mod shards;
mod tally;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use backend::{QueueReport, SharedStore};
use plan::Packing;

use crate::error::RepError;
use crate::gate::StartGate;
use crate::outcome::RepOutcome;
use crate::rep::{RepSpec, proof, set_cache};
use crate::server::Server;
use crate::system::Watched;
use crate::usage::Meter;

pub use place::{CopyError, Place};

pub(crate) use kept::Copies;

use end::Ended;
use pull::Pull;
use shards::Shards;
use tally::Tally;

/// Failures in a row, of all workers together, after which a copy ends: the others would only fail too.
const HOPELESS_ERRORS: u64 = 1_000;

/// A copy that ended.
#[derive(Debug)]
pub struct CopyEnd {
    /// What was measured.
    pub outcome: RepOutcome,
    /// What was written, until it is removed.
    pub place: Place,
}

/// What the workers of a copy share.
struct Copying<'a> {
    spec: &'a RepSpec<'a>,
    to: &'a SharedStore,
    place: &'a Place,
    /// Objects or shards that are to be made.
    count: u32,
    next: AtomicU64,
    failures_in_a_row: AtomicU64,
    /// Set once there is no use in going on.
    ends: AtomicBool,
    reason: Mutex<Option<String>>,
}

impl Copying<'_> {
    /// The next object or shard that nobody has begun; `None` at the end, and once the copy is to end.
    fn next(&self) -> Option<u32> {
        if self.is_over() {
            return None;
        }
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        u32::try_from(next).ok().filter(|next| *next < self.count)
    }

    fn is_stopped(&self) -> bool {
        self.spec.stop.load(Ordering::Relaxed)
    }

    /// Whether it was given up: nothing is written any more.
    fn is_hopeless(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.is_hopeless() || self.is_stopped()
    }

    /// Ends the copy for all workers.
    fn give_up(&self, reason: String) {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.ends.store(true, Ordering::Relaxed);
    }

    fn succeeded(&self) {
        self.failures_in_a_row.store(0, Ordering::Relaxed);
    }

    fn failed(&self, first: &str) {
        let failures = self.failures_in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
        if failures >= HOPELESS_ERRORS {
            self.give_up(format!("{failures} objects in a row could not be copied; one of them: {first}"));
        }
    }
}

/// What a worker brings back.
struct WorkerEnd {
    tally: Tally,
    report: QueueReport,
    verified: u64,
    abandoned: u32,
}

/// What is to be made: the objects as they are, or shards of them.
enum Work {
    Objects(u32),
    Shards(Packing, Shards),
}

impl Work {
    fn count(&self) -> u32 {
        match self {
            Self::Objects(count) => *count,
            Self::Shards(_, shards) => shards.count(),
        }
    }
}

/// Copies the dataset of a cell once, or as much of it as the cell says, to a fresh folder on `to`.
///
/// # Errors
/// What keeps it from beginning: no room, a target that cannot be written, a queue that cannot be opened. What was
/// written until then is removed. A failed object is no error: it is counted, and the copy goes on.
pub fn run_copy(spec: &RepSpec<'_>, to: &SharedStore) -> Result<CopyEnd, RepError> {
    let copy = spec.cell.copy.ok_or(CopyError::NoPlan)?;
    let work = work(spec, &copy)?;
    let place = place::make(spec, to, &work)?;
    match measured(spec, to, &place, &work) {
        Ok(outcome) => Ok(CopyEnd { outcome, place }),
        Err(error) => {
            // Why nothing was measured is what matters; what cannot be removed now is left to `clean`.
            let _ = place.remove();
            Err(error)
        }
    }
}

fn work(spec: &RepSpec<'_>, copy: &plan::Copy) -> Result<Work, CopyError> {
    let objects = spec.data.objects();
    let mut count = objects.count();
    if let Some(size_bytes) = copy.size_bytes {
        let mut sum = 0_u64;
        count = (0..count)
            .find(|object| {
                sum = sum.saturating_add(objects.bytes(*object));
                sum >= size_bytes
            })
            .map_or(count, |last| last + 1);
    }
    let Some(packing) = copy.packing else { return Ok(Work::Objects(count)) };
    if *spec.data.samples() != dataset::Samples::Objects {
        return Err(CopyError::Packed);
    }
    Ok(Work::Shards(packing, Shards::of(objects, count, packing.shard_bytes)))
}

fn measured(
    spec: &RepSpec<'_>,
    to: &SharedStore,
    place: &Place,
    work: &Work,
) -> Result<RepOutcome, RepError> {
    let before = set_cache(spec)?;
    if let Some(wait) = spec.wait {
        wait();
    }
    if let Some(server) = spec.server {
        server.begin();
    }
    let copying = Copying {
        spec,
        to,
        place,
        count: work.count(),
        next: AtomicU64::new(0),
        failures_in_a_row: AtomicU64::new(0),
        ends: AtomicBool::new(false),
        reason: Mutex::new(None),
    };
    let ended = run_workers(&copying, work);
    let emulated = spec.server.map(Server::end);
    let (start_ns, meter, workers) = ended?;
    let cache = proof(spec, &before);
    let reason = copying.reason.lock().unwrap_or_else(PoisonError::into_inner).take();
    let ended =
        Ended { start_ns, meter, workers, reason, stopped: copying.is_stopped(), count: copying.count };
    Ok(RepOutcome { emulated, ..ended.outcome(cache) })
}

/// Opens a queue for each worker, starts them together, and waits for their end.
fn run_workers(copying: &Copying<'_>, work: &Work) -> Result<(u64, Meter, Vec<WorkerEnd>), RepError> {
    let spec = copying.spec;
    let threads = spec.cell.threads;
    let gate = StartGate::new(threads + 1);
    let mut meter = Meter::new(spec.cores, &Watched::of(spec.store));
    let ends = std::thread::scope(|scope| {
        let mut workers = Vec::with_capacity(threads as usize);
        for index in 0..threads {
            let gate = &gate;
            let run = move || {
                let promise = gate.promise();
                let (pull, start_ns) = promise.keep(Pull::open(spec, index), spec.clock)?;
                Some(match work {
                    Work::Objects(_) => plain::run(copying, pull, start_ns),
                    Work::Shards(packing, shards) => pack::run(copying, pull, (packing, shards), start_ns),
                })
            };
            match Builder::new().name(format!("copy-{index}")).spawn_scoped(scope, run) {
                Ok(worker) => workers.push(worker),
                Err(source) => {
                    gate.fail(RepError::Threads { threads, source });
                    break;
                }
            }
        }
        if let Some(((), start_ns)) = gate.promise().keep(Ok(()), spec.clock) {
            meter.open_once(start_ns, start_ns);
        }
        let join = |worker: std::thread::ScopedJoinHandle<'_, Option<WorkerEnd>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().filter_map(join).collect()
    });
    meter.close(spec.clock.now_ns());
    gate.outcome().map(|start_ns| (start_ns, meter, ends))
}
