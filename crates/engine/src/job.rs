//! Which training job a repetition plays.

use dataset::{Order, Samples};
use decode::StandIn;
use plan::{Access, Cache, Decode, Fetch, Limit, Load, Operation, Training, Work};

use crate::decoders::Decoders;
use crate::error::RepError;
use crate::fleet::{Data, Job, Steps};
use crate::rep::{RepSpec, asked, first_ticket};
use crate::trainer::Train;

/// How far a batch of whole reads may be from the bytes of its samples: a part of what the threshold of a job leaves.
const OFF_SHARE_MAX: f64 = 0.02;

/// A page, which no block of direct reads is less than.
const PAGE_BYTES: u64 = 4096;

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
    let batch_reads = batch_reads(spec, order, &training)?;
    let tickets_per_epoch = order.tickets_per_epoch();
    let is_shared_out = order.is_part() && *spec.data.samples() == Samples::Objects;
    let samples = match order.reads_per_unit() {
        Some(reads) if is_shared_out => tickets_per_epoch / reads.max(1),
        _ => spec.data.sample_count(),
    };
    let data = Data {
        first_ticket: first_ticket(spec, order),
        tickets_per_epoch,
        samples,
        batch_reads,
        endless: passes == Passes::Endless,
    };
    let steps = steps(spec, order, &training, &data);
    let job = Job::new(training, data, steps).ok_or(RepError::Training {
        samples,
        per_step: training.samples_per_step(),
        operations: tickets_per_epoch,
    })?;
    let works = training.decode.filter(|decode| !matches!(decode.work, Work::Cost { .. }));
    if let Some(decode) = works.filter(|_| batch_reads.is_some()) {
        return Err(RepError::DecoderOfParts { work: decode.work.name() });
    }
    let decoders = works.map(|decode| decoders(spec, &training, decode, job.ops_per_sample)).transpose()?;
    Ok(Some(Train::new(job, decoders, (spec.cell, spec.cores), spec.clock)))
}

/// Reads of a batch that is put together from what comes: of shards that are streamed, and of units that are no sample
/// each or differ in their reads. `None` where samples are read one by one. What a batch holds beyond its last whole
/// read is a read more or less, which may be 2 % of it at most.
fn batch_reads(spec: &RepSpec<'_>, order: &Order, training: &Training) -> Result<Option<u32>, RepError> {
    let (data, cell) = (spec.data, spec.cell);
    let is_packed = *data.samples() != Samples::Objects;
    let are_single = data.units() == Some(data.sample_count()) && order.reads_per_unit().is_some();
    let one_by_one =
        !cell.access.streams() && (!is_packed || (cell.access != Access::Sequential && are_single));
    if one_by_one || cell.operation != Operation::Read {
        return Ok(None);
    }
    let reads = order.batch_reads(training.batch, data.sample_count());
    let fits = u32::try_from(reads.count).ok().filter(|_| reads.off_share() <= OFF_SHARE_MAX);
    let sample_bytes = data.sample_bytes(cell.access);
    let refused = || RepError::BatchReads {
        block_bytes: cell.block_bytes,
        batch: training.batch,
        sample_bytes: sample_bytes.round() as u64,
        exact: reads.exact,
        reads: reads.count,
        off_percent: reads.off_share() * 100.0,
        fitting_bytes: fitting_bytes(f64::from(training.batch) * sample_bytes),
    };
    fits.map(Some).ok_or_else(refused)
}

/// The largest block of which some number is a batch nearly enough, whatever the remainder: half a block is off at
/// most. In pages, where it holds one.
fn fitting_bytes(batch_bytes: f64) -> u64 {
    let bytes = (batch_bytes * 2.0 * OFF_SHARE_MAX) as u64;
    if bytes >= PAGE_BYTES { bytes / PAGE_BYTES * PAGE_BYTES } else { bytes.max(1) }
}

/// Those who decode. Generated data are random bytes, which no decoder but a checksum takes: a stand-in of a mean
/// sample's size is decoded in their place.
fn decoders(
    spec: &RepSpec<'_>,
    training: &Training,
    decode: Decode,
    ops_per_sample: u64,
) -> Result<Decoders, RepError> {
    let data = spec.data;
    let samples = data.sample_count().max(1);
    let is_whole_object = spec.cell.operation != Operation::Read;
    let (total_bytes, largest_bytes) = if is_whole_object {
        (data.objects().total_bytes(), data.objects().bytes_max())
    } else {
        (data.read_bytes(spec.cell.access), data.unit_bytes_max().unwrap_or(u64::MAX))
    };
    let mean_bytes = total_bytes / samples;
    let is_generated = spec.data.is_checked();
    let stand_in = is_generated.then(|| StandIn::new(decode.work, mean_bytes, spec.cell.seed)).flatten();
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
fn steps(spec: &RepSpec<'_>, order: &Order, training: &Training, data: &Data) -> Steps {
    let (ops_per_step, per_epoch) = if let Some(reads) = data.batch_reads {
        let ops_per_step = u64::from(training.accelerators).saturating_mul(u64::from(reads)).max(1);
        (ops_per_step, data.tickets_per_epoch / ops_per_step)
    } else {
        let ops_per_sample = (data.tickets_per_epoch / data.samples.max(1)).max(1);
        let per_step = training.samples_per_step().max(1);
        (ops_per_sample.saturating_mul(per_step), data.samples / per_step)
    };
    let asked = match spec.limit {
        Limit::Duration { .. } => u64::MAX,
        Limit::Steps { steps, .. } => steps.max(1),
        Limit::Epochs { epochs } => epochs.max(1).saturating_mul(per_epoch),
        Limit::Bytes { .. } => asked(spec, order).unwrap_or(u64::MAX).div_ceil(ops_per_step),
    };
    let parts = if order.is_part() { 1 } else { u64::from(spec.part.1).max(1) };
    let most = if spec.cell.cache == Cache::Cold { per_epoch / parts } else { u64::MAX };
    Steps { count: asked.min(most), run_out: asked > most }
}
