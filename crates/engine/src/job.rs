//! Which training job a repetition plays.

use dataset::{Order, Samples};
use decode::StandIn;
use plan::{Cache, Decode, Fetch, Limit, Load, Task, Training, Work};

use crate::decoders::Decoders;
use crate::error::RepError;
use crate::fleet::{Coming, Job, JobData, Steps};
use crate::spec::{RepSpec, asked, first_ticket, own_tickets};
use crate::trainer::Train;

/// What lies between an epoch of a job and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EpochSeams {
    /// The rest that fills no step of all accelerators is dropped, and readers start anew.
    Kept,
    /// As if the data had no end: what an epoch costs at its seams is the loader's doing, and no part of what a client
    /// can do.
    None,
}

/// The job of a repetition whose load is training.
pub(crate) fn of_rep(
    spec: &RepSpec<'_>,
    order: &Order,
    seams: EpochSeams,
) -> Result<Option<Train>, RepError> {
    let Load::Training(training) = spec.cell.load else { return Ok(None) };
    let coming = coming(spec, order, &training);
    let (tickets_per_epoch, samples) = match coming {
        Some(_) => streamed(spec, order),
        None => one_by_one(spec, order),
    };
    let first_ticket = first_ticket(spec, order);
    let endless = seams == EpochSeams::None;
    let data = JobData { first_ticket, tickets_per_epoch, samples, coming, endless };
    let mut job = Job::new(training, data).ok_or(RepError::Training {
        samples: data.samples,
        per_step: training.samples_per_step(),
        operations: data.tickets_per_epoch,
    })?;
    job.steps = steps(spec, order, &job);
    let works = training.decode.filter(|decode| !matches!(decode.work, Work::Cost { .. }));
    let decoders = works.map(|decode| decoders(spec, &training, decode, &job)).transpose()?;
    Ok(Some(Train::new(job, decoders, spec.cell, spec.cores, spec.clock)))
}

/// Tickets and samples of an epoch in which each sample has the same number of reads of its own.
fn one_by_one(spec: &RepSpec<'_>, order: &Order) -> (u64, u64) {
    let tickets_per_epoch = order.tickets_per_epoch();
    // Each client has files of its own then, of which it counts those in its epochs and not all of the dataset's.
    let is_shared_out = order.is_part() && *spec.data.samples() == Samples::Objects;
    let samples = match order.reads_per_unit() {
        Some(reads) if is_shared_out => tickets_per_epoch / reads.max(1),
        _ => spec.data.sample_count(),
    };
    (tickets_per_epoch, samples)
}

/// Tickets and samples of an epoch whose reads bring samples: of all of it, or of this client's part if the cell is cold.
fn streamed(spec: &RepSpec<'_>, order: &Order) -> (u64, u64) {
    let (all_tickets, all) = (order.tickets_per_epoch(), order.samples_per_epoch(spec.data.sample_count()));
    let is_cold = spec.cell.cache == Cache::Cold;
    let tickets_per_epoch = if is_cold { own_tickets(spec, order) } else { all_tickets };
    // By proportion: how many samples lie in which read is not known of a stream.
    let samples = u128::from(all) * u128::from(tickets_per_epoch) / u128::from(all_tickets.max(1));
    (tickets_per_epoch, samples as u64)
}

/// How reads bring samples: from shards that are streamed, from units that hold several samples, and from units that
/// differ in their reads. `None` if each sample has reads of its own.
fn coming(spec: &RepSpec<'_>, order: &Order, training: &Training) -> Option<Coming> {
    let (data, cell) = (spec.data, spec.cell);
    let is_packed = *data.samples() != Samples::Objects;
    let are_single = data.units() == Some(data.sample_count());
    let by_index = cell.access.is_by_index();
    // A batch can be asked for by its samples only where each sample is the same number of reads, which are nobody
    // else's.
    let one_by_one = cell.access.streams().is_none()
        && (!is_packed || (by_index && are_single && order.reads_per_unit().is_some()));
    if one_by_one || cell.task != Task::Read {
        return None;
    }
    let readers = match training.fetch {
        Fetch::Readers { count } => count,
        Fetch::Shared => {
            cell.access.streams().map_or(0, |streams| streams.count) / training.accelerators.max(1)
        }
    };
    // A unit's samples are there with its last read. Where units differ, none is counted before the longest could
    // have ended: the job may wait too long, never too short.
    let behind = || data.unit_reads_max(by_index, cell.block_bytes).saturating_sub(1);
    let (together, behind) = match order.reads_per_unit().filter(|_| by_index) {
        Some(reads) => (reads, 0),
        None if by_index || !are_single => (1, behind()),
        None => (1, 0),
    };
    Some(Coming { readers, together, behind })
}

/// Those who decode. Generated data are random bytes, which no decoder takes but a checksum or a copy: a stand-in of a
/// mean sample's size is decoded in their place. So it is of samples that come with reads, which hold no whole one; a checksum
/// and a copy take as many bytes there.
fn decoders(
    spec: &RepSpec<'_>,
    training: &Training,
    decode: Decode,
    job: &Job,
) -> Result<Decoders, RepError> {
    let data = spec.data;
    let samples = data.sample_count().max(1);
    let is_whole_object = spec.cell.task != Task::Read;
    let (total_bytes, largest_bytes) = if is_whole_object {
        (data.objects().total_bytes(), data.objects().bytes_max())
    } else {
        (data.read_bytes(spec.cell.access), data.unit_bytes_max().unwrap_or(u64::MAX))
    };
    let mean_bytes = total_bytes / samples;
    // Samples of the user's that are fetched one by one are decoded themselves or not at all.
    let by_index = spec.cell.access.is_by_index();
    let is_fetched = by_index && data.units() == Some(data.sample_count()) && !data.is_checked();
    let stands_in = data.is_checked() || (job.is_streamed() && !is_fetched);
    let stand_in = stands_in.then(|| StandIn::new(decode.work, mean_bytes, spec.cell.seed)).flatten();
    let stand_in =
        stand_in.or_else(|| (job.is_streamed() && !is_fetched).then(|| StandIn::plain(mean_bytes)));
    let looks = decode.work.looks_at_bytes();
    let is_whole = !looks || stand_in.is_some() || largest_bytes <= u64::from(spec.cell.block_bytes);
    if job.ops_per_sample > 1 || !is_whole || (job.is_streamed() && is_fetched && looks) {
        return Err(RepError::Decoder { work: decode.work.name(), largest_bytes });
    }
    // PyTorch's readers decode in their own processes, so as many as there are, but no more than cores can run.
    let threads = decode.threads.unwrap_or(spec.cores.min(training.reads_max().unwrap_or(u32::MAX)));
    Ok(Decoders::new(decode.work, stand_in, threads, spec.cell.queue_depth))
}

/// Steps that each accelerator makes. A cold cell reads nothing twice: its data may end before.
fn steps(spec: &RepSpec<'_>, order: &Order, job: &Job) -> Steps {
    let per_epoch = job.steps_per_epoch;
    let asked = match spec.limit {
        Limit::Duration { .. } => u64::MAX,
        Limit::Steps { steps, .. } => steps.max(1),
        Limit::Epochs { epochs } => epochs.max(1).saturating_mul(per_epoch),
        Limit::Bytes { .. } => asked(spec, order).map_or(u64::MAX, |reads| job.steps_of(reads)),
    };
    let is_own = order.is_part() || job.is_streamed();
    let parts = if is_own { 1 } else { u64::from(spec.part.of).max(1) };
    // Fewer steps than were asked for are made and said to be fewer: a second epoch would come from memory.
    let most = if spec.cell.cache == Cache::Cold { per_epoch / parts } else { u64::MAX };
    Steps { count: asked.min(most), run_out: asked > most }
}
