//! Which training job a repetition plays.

use dataset::Order;
use decode::StandIn;
use plan::{Cache, Decode, Fetch, Limit, Load, Training, Work};

use crate::decoders::Decoders;
use crate::error::RepError;
use crate::fleet::{Data, Job, Steps};
use crate::rep::{RepSpec, asked, first_ticket};
use crate::trainer::Train;

/// How a job goes from one pass over the data to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passes {
    /// The rest that fills no step of all accelerators is dropped, and readers start anew.
    Dropped,
    /// As if the data had no end: what a pass costs at its seams is the loader's doing, and no part of what a client
    /// can do.
    Endless,
}

/// The job of a repetition whose load is training.
pub(crate) fn of_rep(spec: &RepSpec<'_>, order: &Order, passes: Passes) -> Result<Option<Train>, RepError> {
    let Load::Training(training) = spec.cell.load else { return Ok(None) };
    let data = Data {
        first_ticket: first_ticket(spec, order),
        tickets_per_epoch: order.tickets_per_epoch(),
        samples: spec.data.sample_count(),
        endless: passes == Passes::Endless,
    };
    let steps = steps(spec, order, &training, data.samples);
    let job = Job::new(training, data, steps).ok_or(RepError::Training {
        samples: data.samples,
        per_step: training.samples_per_step(),
        operations: data.tickets_per_epoch,
    })?;
    let works = training.decode.filter(|decode| !matches!(decode.work, Work::Cost { .. }));
    let decoders = works.map(|decode| decoders(spec, &training, decode, job.ops_per_sample)).transpose()?;
    Ok(Some(Train::new(job, decoders, (spec.cell, spec.cores), spec.clock)))
}

/// Those who decode. Generated data are random bytes, which no decoder but a checksum takes: a stand-in of a mean
/// sample's size is decoded in their place.
fn decoders(
    spec: &RepSpec<'_>,
    training: &Training,
    decode: Decode,
    ops_per_sample: u64,
) -> Result<Decoders, RepError> {
    let objects = spec.data.objects();
    let count = objects.count();
    let mean_bytes = objects.total_bytes() / u64::from(count.max(1));
    let is_generated = spec.data.is_checked();
    let stand_in = is_generated.then(|| StandIn::new(decode.work, mean_bytes, spec.cell.seed)).flatten();
    let largest_bytes = (0..count).map(|object| objects.bytes(object)).max().unwrap_or(0);
    let is_whole = stand_in.is_some() || largest_bytes <= u64::from(spec.cell.block_bytes);
    if ops_per_sample > 1 || !is_whole {
        return Err(RepError::Decoder { work: decode.work.name(), largest_bytes });
    }
    let threads = decode.threads.unwrap_or(match training.fetch {
        Fetch::Readers { count } => spec.cores.min(training.accelerators.saturating_mul(count)),
        Fetch::Shared => spec.cores,
    });
    Ok(Decoders::new(decode.work, stand_in, threads, spec.cell.queue_depth))
}

/// Steps that each accelerator makes. A cold cell reads nothing twice: its data may end before.
fn steps(spec: &RepSpec<'_>, order: &Order, training: &Training, samples: u64) -> Steps {
    let per_epoch = samples / training.samples_per_step().max(1);
    let asked = match spec.limit {
        Limit::Duration { .. } => u64::MAX,
        Limit::Steps { steps, .. } => steps.max(1),
        Limit::Epochs { epochs } => epochs.max(1).saturating_mul(per_epoch),
        Limit::Bytes { .. } => {
            let ops_per_sample = (order.tickets_per_epoch() / samples.max(1)).max(1);
            let ops = asked(spec, order).unwrap_or(u64::MAX);
            ops.div_ceil(ops_per_sample.saturating_mul(training.samples_per_step()).max(1))
        }
    };
    let parts = u64::from(spec.part.1).max(1);
    let most = if spec.cell.cache == Cache::Cold { per_epoch / parts } else { u64::MAX };
    Steps { count: asked.min(most), run_out: asked > most }
}
