//! The reasons to doubt a figure: what each forbids, and what to do about it.

mod gravity;

use std::collections::BTreeMap;

use feed::Flow;
use record::Elsewhere;

use crate::cell::crowd::Crowd;
use crate::cell::gap::Gap;
use crate::cell::slow_rank::SlowRanks;
use crate::cell::training::bound::Bound;

pub use gravity::Gravity;

// A loader retries or aborts at the first failed read, so that no share is fine. Below a hundredth the rate of the others still
// is the storage's; above it, how fast failures return is part of the rate.
/// Share of failed reads above which no verdict is given.
const ERROR_SHARE_MAX: f64 = 0.01;

// The reads in flight at either end fall into a window or out of it by chance: one turn of the queue, which of twenty is 5 %.
/// Reads by queue depth below which a window is no measure of a rate.
pub const TURNS_MIN: f64 = 20.0;

// The first step waits for a fill and the last may be cut: two of twenty leave the mean of the others at nine tenths of the
// weight.
/// Steps of an accelerator below which a repetition is no measure of a utilization.
pub const STEPS_MIN: u64 = 20;

/// Change of the fitted line from the first round to the last by their average, up to which a state is steady (SNIA).
pub(crate) const SLOPE_MAX: f64 = 0.10;
// The p99 of the response, which gates hold, is then untouched by what was skipped.
/// Share of the arrivals that a client may have been away for.
pub const GIVEN_UP_MAX: f64 = 0.001;

/// A reason to doubt the figures of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Flag {
    /// Too near to what this client can do without storage, or out of processor time.
    ClientLimited {
        /// Share of the null ceiling, 0 to 1, when above its limit.
        ceiling_share: Option<f64>,
        /// Share of the processor time its threads may use, when above its limit; kernel threads that work
        /// for this process may take it beyond 1.
        cpu_share: Option<f64>,
        /// Share of the network interface's rate in its busier direction, when above its limit.
        nic_share: Option<f64>,
        /// Share of the windows in which the busiest processor worked, when above its limit.
        core_share: Option<f64>,
        /// Utilization that the same training job reaches without storage, 0 to 1, when below its limit.
        null_au: Option<f64>,
    },
    /// A cold cell that was not cold, or not proven so.
    NotCold {
        /// Largest share of the dataset resident before a repetition; absent when nothing could tell.
        resident: Option<f64>,
    },
    /// A warm cell that was not warm, or not proven so.
    NotWarm {
        /// Smallest share of the dataset resident before a repetition; absent when nothing could tell.
        resident: Option<f64>,
    },
    /// A cell that bypasses the page cache, with bytes in the page cache after it.
    NotBypassed {
        /// Largest share of the dataset resident after a repetition.
        resident: f64,
    },
    /// Writes that the device below did not take, although the storage had them.
    NotWritten {
        /// Bytes that the device took by those that were written, 0 to 1.
        share: f64,
    },
    /// Writes that are kept by flushes alone, of which the device completed fewer than can have kept them.
    NotFlushed {
        /// Flushes that it completed.
        flushes: u64,
        /// Writes that were to be kept.
        writes: u64,
    },
    /// Flushes quicker than a device that turns can make them: something above it answers, or nothing is kept.
    FlushedAtOnce {
        /// Mean time of one.
        mean_ns: f64,
    },
    /// A cell whose reads drop their pages at once, with bytes in the page cache before or after it, or not proven
    /// otherwise.
    NotDropped {
        /// Largest share of the dataset resident around a repetition; absent when nothing could tell.
        resident: Option<f64>,
    },
    /// Windows too short to stand for anything.
    TooShort {
        /// How many repetitions.
        repetitions: u32,
        /// The shortest window.
        window_ns: u64,
    },
    /// Windows of a mix so short that nothing fell into them of what it reads, or of what it writes.
    OneSided {
        /// Which of both was not there.
        kind: Flow,
        /// How many repetitions.
        repetitions: u32,
    },
    /// So few reads for the depth that chance or the rhythm of the queue decides how many fall into a window:
    /// repetitions may then agree on a wrong rate.
    FewTurns {
        /// How many repetitions.
        repetitions: u32,
        /// The fewest reads by the queue depth.
        turns: f64,
    },
    /// So few steps of a training job that its first fill and its last step decide its utilization.
    FewSteps {
        /// How many repetitions.
        repetitions: u32,
        /// The fewest steps of an accelerator.
        steps: u64,
    },
    /// No steady state within windows, as SNIA defines it.
    NotSteady {
        /// How many repetitions.
        repetitions: u32,
        /// Of how many that are long enough to tell.
        made: u32,
        /// Largest minus smallest round by their mean, of the worst repetition.
        range: f64,
        /// Change of the fitted line from the first round to the last by their mean, of the worst repetition.
        slope: f64,
        /// Where the fitted lines end by the line of the need, mean; absent without such a line.
        end_of_line: Option<f64>,
    },
    /// Throughput fell from one level to another, as it does when burst credits are spent.
    Bursts {
        /// Share of the throughput before that was lost, 0 to 1.
        fall: f64,
        /// Within every window; else once during the run.
        in_windows: bool,
        /// Throughput of the last third of the windows by the line of the need; absent without such a line, and where
        /// the fall was during the run.
        end_of_line: Option<f64>,
    },
    /// Throughput of a target changed steadily during the run.
    Drifts {
        /// What the trend comes to over the run by where it began, above -1.
        change: f64,
        /// From the middle of the first window to that of the last.
        over_ns: u64,
    },
    /// The files were no longer the same after the run.
    DatasetChanged,
    /// The run was gone on with elsewhere: this was another than as it began.
    GoneOnElsewhere(Vec<Elsewhere>),
    /// Whether they were is not known.
    NotLookedAt {
        /// Why.
        reason: String,
    },
    /// Reads that held something else than what was written.
    WrongBytes {
        /// How many.
        found: u64,
        /// Of how many that were compared.
        checked: u64,
    },
    /// Reads that could not be made again after the run: nothing says whether their bytes came as they lie.
    NotReread {
        /// How many.
        unread: u64,
        /// Of how many that were to be.
        of: u64,
        /// By what kept them from being made.
        kinds: BTreeMap<String, u64>,
    },
    /// Reads that failed.
    Errors {
        /// How many.
        failed: u64,
        /// Share of all reads, 0 to 1.
        share: f64,
        /// Of a mix: their share of its rarer kind if all of them were of it, for which were is not recorded.
        of_rarer: Option<f64>,
        /// How many, by kind.
        kinds: BTreeMap<String, u64>,
    },
    /// Repetitions that failed as a whole.
    FailedRepetitions {
        /// How many.
        failed: u32,
        /// Of how many.
        made: u32,
        /// Why the first of them did.
        reason: Gap,
    },
    /// Repetitions that were planned and are not in the figures.
    Missing {
        /// How many.
        repetitions: u32,
        /// Why.
        reason: Gap,
    },
    /// Processor time went to other machines on the same host.
    Stolen {
        /// Share of the machine's processor time, 0 to 1.
        share: f64,
    },
    /// The threads that measure were runnable and waited for a processor.
    Waited {
        /// Share of their time, 0 to 1.
        share: f64,
        /// Who used the processors meanwhile; absent where the record does not say.
        crowd: Option<Crowd>,
    },
    /// Others read from the device meanwhile.
    OthersRead {
        /// Their share of all that it read, 0 to 1.
        share: f64,
        /// The programs that read most, as far as they could be named.
        names: Vec<String>,
    },
    /// The device wrote meanwhile, and not for this cell.
    OthersWrote {
        /// Share of all bytes that it moved, 0 to 1.
        share: f64,
    },
    /// Pages of this process's own memory had to be read from storage: it was swapped out, or its program dropped.
    Faulted {
        /// Such page faults.
        faults: u64,
        /// By operation of the cell.
        per_op: f64,
    },
    /// Reads that had not come back when a repetition was closed.
    Abandoned {
        /// How many.
        reads: u64,
    },
    /// The dataset was read once before the planned window was over.
    Exhausted {
        /// How many repetitions.
        repetitions: u32,
    },
    /// The dataset was read once before a training job had made the steps asked for.
    RanOut {
        /// How many repetitions.
        repetitions: u32,
        /// The fewest steps that an accelerator made.
        steps: u64,
        /// Steps that were asked of each; absent where a duration or epochs end the job.
        asked: Option<u64>,
    },
    /// Latencies beyond the histogram's range.
    Clamped {
        /// How many.
        reads: u64,
    },
    /// Latency histograms that could not be read.
    NoHistogram {
        /// How many repetitions.
        repetitions: u32,
    },
    /// Files were opened while measuring.
    Opened {
        /// How many.
        files: u64,
    },
    /// A cold cell that began with names and inodes in memory, or with their blocks on the device: opening and looking
    /// up did not reach storage.
    NamesInMemory,
    /// Adjacent reads became one request on their way to the device.
    Merged {
        /// Mean bytes of a request of the device.
        request_bytes: u64,
        /// Bytes of a read.
        block_bytes: u64,
        /// Requests handed to the kernel in one submission; absent when the record does not say.
        submit_batch: Option<u32>,
    },
    /// The client woke late for its own schedule.
    LateClient {
        /// 99th percentiles of its lateness and of the response of what it issued, the lateness included; absent
        /// where the first is small by the second.
        lag_and_response_p99_ns: Option<(u64, u64)>,
        /// Arrivals that were never issued, for this reason or because the queue was full.
        not_issued: u64,
        /// Share of all arrivals that were due while it was away, 0 to 1.
        given_up: f64,
        /// Whether it already keeps a processor busy to wake in time.
        spins: bool,
    },
    /// The windows held less of a schedule than its rate says.
    OfferedLess {
        /// Share of the rate that the arrivals make, 0 to 1.
        share: f64,
        /// Whether arrivals came in steps.
        in_steps: bool,
    },
    /// Bytes that were asked of files and came from no storage.
    NotFromStorage {
        /// Share of the bytes asked, 0 to 1.
        share: f64,
        /// Whether the file system compresses, which explains it.
        compresses: bool,
    },
    /// The device below is memory.
    InMemory {
        /// What the kernel calls such devices, `zram`; empty where it is not known.
        kind: String,
    },
    /// Arrivals that were never issued, or failed.
    NotServed {
        /// How many.
        arrivals: u64,
        /// Of all, 0 to 1.
        share: f64,
    },
    /// A server that feedline started and that was not as slow, or as fast, as it was asked to be.
    NotEmulated {
        /// How many repetitions.
        repetitions: u32,
        /// Whether it is about names and attributes, not about data.
        metadata: bool,
        /// Median of the delays asked, in the repetition where they are furthest apart, nanoseconds.
        asked_ns: u64,
        /// Median of the delays as they became.
        achieved_ns: u64,
    },
    /// The server asked to come back later.
    Throttled {
        /// Share of all attempts, 0 to 1.
        share: f64,
        /// The first failure as the storage put it, where it is known.
        first: Option<String>,
    },
    /// Operations took longer than their attempts, since some were attempted again.
    Retried {
        /// `p99`, or `p99.9` where the first does not show it.
        percentile: &'static str,
        /// That of whole operations, back-offs included, nanoseconds.
        service_ns: u64,
        /// That of single attempts, nanoseconds.
        attempt_ns: u64,
    },
    /// Operations that ended well after an attempt that had failed.
    Recovered {
        /// How many.
        operations: u64,
        /// Of all attempts, 0 to 1.
        share: f64,
        /// Failed attempts by kind; empty where their kinds are not known.
        kinds: BTreeMap<String, u64>,
    },
    /// Connections that ended, or were given up, with something under way on them.
    ConnectionsLost {
        /// How many.
        connections: u64,
    },
    /// One of several addresses had more than its part.
    Unbalanced {
        /// Which.
        busiest: String,
        /// Its share of the messages, 0 to 1.
        share: f64,
        /// How many addresses there are.
        addresses: u32,
    },
    /// Some of several processes were slower than the others.
    SlowRanks(SlowRanks),
    /// Small reads that all take 40 ms: Nagle's algorithm on the server against delayed acknowledgements.
    DelayedAck {
        /// Median of what shows it.
        p50_ns: u64,
    },
    /// Samples that the decoder rejected; their batches went on without them.
    NotDecoded {
        /// How many.
        samples: u64,
        /// Of all samples read, 0 to 1.
        share: f64,
        /// What the decoder said of the first, where it is known.
        first: Option<String>,
    },
    /// Without what accelerators waited for besides storage, the job would reach its utilization.
    WaitsElsewhere {
        /// What most of that was.
        cause: Bound,
        /// Share of the time of all accelerators that went into it, 0 to 1.
        share: f64,
    },
    /// Short epochs or a short job: a training job misses its target although the storage would meet it in the long run.
    FillsDecide {
        /// Utilization that the storage would give if no epoch ended, 0 to 1.
        long_run: f64,
    },
    /// The time to the first batch is much of a training job.
    LongFill {
        /// Share of the job's time, 0 to 1.
        share: f64,
        /// The longest time to a first batch.
        first_batch_ns: u64,
    },
    /// The utilization by its definition and by that of DLIO differ.
    AuApart {
        /// By its definition: compute time as asked, the first fill counted.
        au: f64,
        /// As DLIO has it: without the first step of each epoch.
        dlio_au: f64,
    },
    /// The utilization differs from what the closed-loop reads of the same storage foretell, and nothing says why.
    NotAsPredicted {
        /// As measured.
        au: f64,
        /// As foretold.
        predicted: f64,
    },
    /// Saves of a job failed, which its reads had no part of.
    SavesFailed {
        /// How many.
        saves: u64,
        /// Why the first of them did.
        reason: String,
    },
    /// Hosts got less than their part of the line, which all of them together may reach.
    HostsBelow {
        /// Their names, or numbers where a record has none.
        hosts: Vec<String>,
        /// Of how many.
        of: u32,
        /// What the least of them got of its part, 0 to 1.
        least: f64,
    },
    /// Another engine was asked for.
    StandsIn {
        /// Which, and why it is not there.
        asked: String,
    },
}

impl Flag {
    /// What this flag forbids.
    pub fn gravity(&self) -> Gravity {
        match self {
            Self::ClientLimited { .. }
            | Self::Waited { .. }
            | Self::Stolen { .. }
            | Self::OthersRead { .. }
            | Self::OthersWrote { .. }
            | Self::Faulted { .. }
            | Self::WaitsElsewhere { .. }
            | Self::FillsDecide { .. } => Gravity::ForbidsStarves,
            // A repetition that failed would have been slower, if anything, so that STARVES stands.
            // Nor would writes that had reached the device have been faster, and reads beside saves that were made.
            Self::FailedRepetitions { .. }
            | Self::NotWritten { .. }
            | Self::NotFlushed { .. }
            | Self::SavesFailed { .. }
            | Self::HostsBelow { .. } => Gravity::ForbidsFeeds,
            Self::NotSteady { slope, end_of_line, .. } => of_trend(*slope, *end_of_line),
            Self::Bursts { fall, end_of_line, .. } => of_trend(-fall, *end_of_line),
            Self::NotCold { .. }
            | Self::NotWarm { .. }
            | Self::NotBypassed { .. }
            | Self::NotDropped { .. }
            | Self::TooShort { .. }
            | Self::OneSided { .. }
            | Self::FewTurns { .. }
            | Self::FewSteps { .. }
            | Self::DatasetChanged
            | Self::GoneOnElsewhere(_)
            | Self::NotLookedAt { .. }
            | Self::OfferedLess { .. }
            | Self::NotFromStorage { compresses: false, .. }
            | Self::InMemory { .. }
            | Self::NotEmulated { .. }
            | Self::WrongBytes { .. } => Gravity::ForbidsVerdict,
            // Lateness alone is part of the response and only makes it longer, which FEEDS survives. Arrivals that were never
            // issued may be ones that the storage would have served in time.
            Self::LateClient { lag_and_response_p99_ns, not_issued, given_up, .. }
                if *given_up > GIVEN_UP_MAX || (lag_and_response_p99_ns.is_some() && *not_issued > 0) =>
            {
                Gravity::ForbidsStarves
            }
            Self::Errors { share, of_rarer, .. } if of_rarer.unwrap_or(*share) > ERROR_SHARE_MAX => {
                Gravity::ForbidsVerdict
            }
            Self::NotDecoded { share, .. } if *share > ERROR_SHARE_MAX => Gravity::ForbidsVerdict,
            Self::Errors { .. }
            | Self::NotReread { .. }
            | Self::Missing { .. }
            | Self::Abandoned { .. }
            | Self::Exhausted { .. }
            | Self::RanOut { .. }
            | Self::NotDecoded { .. }
            | Self::LongFill { .. }
            | Self::AuApart { .. }
            | Self::NotAsPredicted { .. }
            | Self::Clamped { .. }
            | Self::NoHistogram { .. }
            | Self::Opened { .. }
            | Self::NamesInMemory
            | Self::Merged { .. }
            | Self::LateClient { .. }
            | Self::NotFromStorage { .. }
            | Self::NotServed { .. }
            | Self::Throttled { .. }
            | Self::Retried { .. }
            | Self::Recovered { .. }
            | Self::ConnectionsLost { .. }
            | Self::Unbalanced { .. }
            | Self::SlowRanks(_)
            | Self::DelayedAck { .. }
            | Self::Drifts { .. }
            | Self::FlushedAtOnce { .. }
            | Self::StandsIn { .. } => Gravity::Informs,
        }
    }

    /// Whether this is the client's own limit.
    pub fn is_client_limit(&self) -> bool {
        matches!(self, Self::ClientLimited { .. })
    }

    /// Whether other processes held the processors.
    pub fn is_crowd(&self) -> bool {
        matches!(self, Self::Waited { crowd: Some(crowd), .. } if crowd.is_of_others())
    }

    /// Whether the figure is one of a change and not of a state: it is compared with nothing, and passes no gate.
    pub fn is_unsteady(&self) -> bool {
        matches!(self, Self::NotSteady { .. } | Self::Bursts { .. } | Self::Drifts { .. })
    }
}

/// Of a change within windows: where throughput stands at their end is where it goes on from, so only an end on the other
/// side of the line than the mean can make a verdict wrong. A fall can take FEEDS back and never STARVES, a rise the
/// reverse.
fn of_trend(change: f64, end_of_line: Option<f64>) -> Gravity {
    match end_of_line {
        Some(end) if change < -SLOPE_MAX && end < 1.0 => Gravity::ForbidsFeeds,
        Some(end) if change > SLOPE_MAX && end >= 1.0 => Gravity::ForbidsStarves,
        _ => Gravity::Informs,
    }
}

#[cfg(test)]
mod tests;
