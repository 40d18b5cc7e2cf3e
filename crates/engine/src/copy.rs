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
mod work;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};

use backend::SharedStore;

use crate::error::{CopyError, RepError};
use crate::gate::{StartGate, joined};
use crate::outcome::Measured;
use crate::page_cache::{proof, set_cache};
use crate::spec::RepSpec;
use crate::system::Watched;
use crate::usage::Meter;

pub use place::CopyFolder;

pub(crate) use kept::Copies;

use end::Ended;
use pull::Pull;
use shards::{Shards, Work};
use work::{Copying, WorkerEnd};

/// A copy that ended.
#[derive(Debug)]
pub struct CopyEnd {
    /// What was measured.
    pub measured: Measured,
    /// What was written, until it is removed.
    pub place: CopyFolder,
}

/// Copies the dataset of a cell once, or as much of it as the cell says, to a fresh folder on `to`.
///
/// # Errors
/// Reasons not to begin: no room, a target that cannot be written, a queue that cannot be opened. Anything written until
/// then is removed. A failed object is not an error of the copy: it is counted, and the copy goes on.
pub fn run_copy(spec: &RepSpec<'_>, to: &SharedStore) -> Result<CopyEnd, RepError> {
    let copy = spec.cell.task.copy().ok_or(CopyError::NoPlan)?;
    let work = work(spec, &copy)?;
    let place = place::make(spec, to, &work)?;
    match measured(spec, to, &place, &work) {
        Ok(measured) => Ok(CopyEnd { measured, place }),
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
    // Unpacking shards to pack them anew would need every layout's reader in the timed path.
    if *spec.data.samples() != dataset::Samples::Objects {
        return Err(CopyError::Packed);
    }
    Ok(Work::Shards(packing, Shards::of(objects, count, packing.shard_bytes)))
}

fn measured(
    spec: &RepSpec<'_>,
    to: &SharedStore,
    place: &CopyFolder,
    work: &Work,
) -> Result<Measured, RepError> {
    let before = set_cache(spec)?;
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
    let (ended, emulated) = spec.counted(|| run_workers(&copying, work));
    let (start_ns, meter, workers) = ended?;
    let cache = proof(spec, &before);
    let reason = copying.reason.lock().unwrap_or_else(PoisonError::into_inner).take();
    let ended =
        Ended { start_ns, meter, workers, reason, stopped: copying.is_stopped(), count: copying.count };
    let mut measured = ended.measured(spec.cell, cache);
    measured.rep.emulated = emulated;
    Ok(measured)
}

/// Opens a queue for each worker, starts them together, and waits for their end.
fn run_workers(copying: &Copying<'_>, work: &Work) -> Result<(u64, Meter, Vec<WorkerEnd>), RepError> {
    let spec = copying.spec;
    let threads = spec.cell.threads;
    // One more than workers: this thread opens the meter with the common start, as it has nothing to read.
    let gate = StartGate::new(threads + 1);
    let mut meter = Meter::new(spec.cores, spec.clock, &Watched::of(spec.store));
    let ends = std::thread::scope(|scope| {
        let workers = gate.start(scope, "copy", threads, |index| {
            let promise = gate.promise();
            let (pull, start_ns) = promise.keep(Pull::open(spec, index), spec.clock)?;
            Some(match work {
                Work::Objects(_) => plain::run(copying, pull, start_ns),
                Work::Shards(packing, shards) => pack::run(copying, pull, (packing, shards), start_ns),
            })
        });
        if let Some(((), start_ns)) = gate.promise().keep(Ok(()), spec.clock) {
            meter.open_once(start_ns, start_ns);
        }
        joined(workers)
    });
    // After all workers: a copy ends when its last object is durable.
    meter.close(spec.clock.now_ns());
    gate.outcome().map(|start_ns| (start_ns, meter, ends))
}
