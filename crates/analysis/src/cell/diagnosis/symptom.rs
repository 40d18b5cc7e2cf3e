//! What shows why accelerators waited, and what to do about it.

use crate::cell::flag::Flag;
use crate::cell::training::bound::Bound;

/// Why accelerators waited.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The cause.
    pub bound: Bound,
    /// What shows it, strongest first.
    pub symptoms: Vec<Symptom>,
    /// What to do about it.
    pub remedy: Remedy,
}

impl Diagnosis {
    pub(super) fn new(bound: Bound, symptoms: Vec<Symptom>, remedy: Remedy) -> Self {
        Self { bound, symptoms, remedy }
    }
}

/// What accelerators wait for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitedFor {
    /// Reads.
    Storage,
    /// Decoding of what was read.
    Decoding,
    /// Reads that the client had not issued.
    Client,
    /// Readers to start.
    Startup,
}

/// Who decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoder {
    /// One of so many threads of its own.
    Threads(u32),
    /// The reader that has read the sample, before it reads the next.
    Reader,
}

/// Something that shows a cause. Shares are 0 to 1; a stall is what is missing to a utilization of 1.
#[derive(Debug, Clone, PartialEq)]
pub enum Symptom {
    /// Accelerators stood still for checkpoints.
    Checkpoints {
        /// Share of the stall.
        of_stall: f64,
        /// Share of the time.
        of_time: f64,
    },
    /// Accelerators waited for each other.
    Barrier {
        /// Share of the stall.
        of_stall: f64,
        /// Share of the time.
        of_time: f64,
    },
    /// How far the worst accelerator is from the mean one.
    Worst {
        /// Its utilization.
        worst_au: f64,
        /// That of the mean one.
        mean_au: f64,
    },
    /// The same job is slow with data from memory.
    SlowFromMemory {
        /// Its utilization then.
        null_au: f64,
        /// Share of the stall that needs no storage.
        of_stall: f64,
    },
    /// The same job is fast with data from memory.
    FastFromMemory {
        /// Its utilization then.
        null_au: f64,
    },
    /// First batches of epochs.
    Fills {
        /// The longest time to a first batch.
        first_batch_ns: u64,
        /// Share of the stall.
        of_stall: f64,
    },
    /// One part is most of what accelerators waited for themselves.
    Mostly {
        /// Which.
        part: WaitedFor,
        /// Share of what they waited for.
        of_waited: f64,
        /// Share of the time.
        of_time: f64,
    },
    /// No part is.
    Several {
        /// Those that count, as shares of what they waited for.
        parts: Vec<(WaitedFor, f64)>,
    },
    /// What the part of the storage is bound by.
    StoragePart(Bound),
    /// A reason to doubt the figures that explains them.
    Flagged(Flag),
    /// How samples are decoded.
    Decoding {
        /// By what: `jpeg`, `cost`.
        work: String,
        /// What a sample takes, where that is stated.
        cost_ns: Option<u64>,
        /// By whom; absent where the record does not say.
        by: Option<Decoder>,
    },
    /// Readers start before each epoch, and fetch nothing meanwhile.
    Startup {
        /// How long they take.
        ns: u64,
    },
    /// How late the client noticed ends of steps.
    Lag {
        /// 99th percentile.
        p99_ns: u64,
    },
    /// Processor time that the client's threads used.
    CpuUsed {
        /// Share of what they may use.
        share: f64,
    },
    /// Bytes came from this client's page cache.
    Warm,
    /// Attempts were refused.
    Refused {
        /// Share of the attempts.
        share: f64,
        /// Reads per second all the same.
        ops_per_s: f64,
    },
    /// Phases of a file's time that move no bytes.
    NoBytes {
        /// Share of its time.
        share: f64,
        /// Each phase by its name.
        phases: Vec<(&'static str, f64)>,
    },
    /// What closed loops move.
    Loops(LoopPair),
    /// Larger reads of the same storage move more.
    LargerReads {
        /// Reads per second of the loops beside the job.
        ops_per_s: f64,
        /// Slug of the cell with the larger reads.
        cell: String,
        /// Its bytes per second by theirs.
        times: f64,
    },
    /// What the job moves.
    JobMoves {
        /// Bytes per second.
        bps: f64,
        /// Share of the most that a closed loop moves.
        of_most: f64,
    },
    /// The most that a closed loop gives is less than the job is to have.
    MostIsShort {
        /// Share of what it is to have.
        of_target: f64,
    },
    /// Reads in flight by Little's law.
    InFlight(LittlesLaw),
    /// No closed loop tells whether more in flight would help.
    DeeperNotMeasured,
}

/// A closed loop at the depth of a job, and one at four times that or more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopPair {
    /// Depth of the deeper one.
    pub deeper_depth: u32,
    /// Its bytes per second.
    pub deeper_bps: f64,
    /// Depth of the other.
    pub depth: u32,
    /// Its bytes per second.
    pub bps: f64,
}

/// Reads in flight of a job, and those that its target would take (F12).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittlesLaw {
    /// Most reads that the job may have in flight.
    pub depth: f64,
    /// Mean latency of a read.
    pub latency_ns: f64,
    /// Reads that were in flight, mean.
    pub in_flight: f64,
    /// Reads per second.
    pub ops_per_s: f64,
    /// Utilization that the job is to reach.
    pub target_au: f64,
    /// Reads per second that this takes.
    pub needed_ops_per_s: f64,
    /// Reads that would be in flight for it, at the same latency.
    pub needed: f64,
    /// Share of its busy time in which a reader reads, 0 to 1: it does not while it decodes.
    pub reading: f64,
}

impl LittlesLaw {
    /// Share of what readers can have in flight that is.
    pub(super) fn full(&self) -> f64 {
        self.in_flight / (self.depth * self.reading)
    }

    /// Depth that the target takes by the job's own.
    pub(super) fn times(&self) -> f64 {
        self.needed / (self.depth * self.reading)
    }
}

/// What to do about a cause.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    /// Make checkpoints cheaper.
    Checkpoints,
    /// Make batches come at even times.
    EvenBatches,
    /// Give the client more processors, or less to do.
    Client,
    /// Decode faster.
    Decoding,
    /// Let readers start less often.
    Startup,
    /// Measure a longer job.
    LongerJob,
    /// What is to be done about the flag that explains it.
    OfFlag(Flag),
    /// Be refused less often.
    FewerRefusals,
    /// Open fewer files.
    FewerFiles,
    /// Make fewer requests.
    FewerRequests,
    /// Have the storage move more bytes, or ask for fewer.
    MoreBandwidth {
        /// Whether a deeper prefetch is needed too, else no depth helps.
        with_prefetch: bool,
    },
    /// Keep more in flight; nothing says how much.
    MoreInFlight,
    /// Keep more in flight; a little is enough.
    ALittleMore,
    /// Keep more in flight; a closed loop shows how far that goes.
    MoreButShort {
        /// Depth of the loop.
        depth: u32,
        /// Share of what the job is to have that it reaches.
        of_target: f64,
    },
    /// Keep so many times as much in flight.
    Times {
        /// How many times.
        times: f64,
        /// Readers that this takes; absent where reads share a depth.
        readers: Option<f64>,
        /// Depth that this takes.
        depth: f64,
    },
    /// Prefetch more batches, so that readers are always busy.
    DeeperPrefetch,
    /// Look at what else uses the storage or this client: as many reads are faster in a closed loop.
    LookElsewhere,
}
