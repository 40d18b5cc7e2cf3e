//! The training job that a load plays: accelerators that take batches, and what fetches them.

/// A training job on one client.
///
/// Each accelerator takes one batch for each step and computes for `compute_ns`. A step begins at the end of the one
/// before it, or when its batch is ready, whichever is later; with `barrier`, no step begins before every accelerator
/// has ended the one before it, as an all-reduce demands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// Accelerators that this client plays.
    pub accelerators: u32,
    /// Samples of one step of one accelerator.
    pub batch: u32,
    /// Time that an accelerator computes in each step.
    pub compute_ns: u64,
    /// Who fetches batches.
    pub fetch: Fetch,
    /// Reads of its batch that one reader has under way, at most; at least 1.
    pub fetches: u32,
    /// Batches of an accelerator that are fetched or ready while it computes, the one that it takes next included; at 0 a
    /// batch is fetched once it is waited for.
    pub prefetch: u32,
    /// Whether accelerators wait for each other after every step.
    pub barrier: bool,
    /// What happens to a sample between the read and its batch.
    pub decode: Option<Decode>,
    /// Whether what is left at the end of an epoch and fills no batch is left out, as DLIO and MLPerf have it. Otherwise it
    /// is a smaller batch, for which an accelerator computes as long as its samples are of a whole one.
    pub drop_last: bool,
    /// Time in which the readers of an epoch start before they fetch.
    pub startup_ns: u64,
    /// How long before a step ends, or something else happens that no read announces, a thread stops sleeping and looks at the
    /// clock instead.
    pub spin_ns: u64,
    /// Accelerator utilization (AU) at which a storage feeds the job, above 0 and at most 1.
    pub threshold: f64,
    /// Price of an hour of one accelerator, in the user's currency.
    // Enters no verdict: it turns idle time into money for those who pay it.
    pub price_per_hour: Option<f64>,
}

/// Who fetches the batches of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// Readers as PyTorch's `DataLoader` has them: batch `b` is fetched by reader `b mod count`, one sample after the
    /// other, each decoded before the next is read. With `fetches` of a job above 1, so many at once.
    Readers {
        /// Readers of each accelerator.
        // Blocking readers, as MLPerf's loaders have them: a depth above accelerators times readers is
        // never reached, however deep the storage could be used.
        count: u32,
    },
    /// The reads of all batches that may be fetched share the cell's queue depth, the most urgent batch first.
    Shared,
}

impl Fetch {
    /// The word used in scenarios, records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Readers { .. } => "readers",
            Self::Shared => "shared",
        }
    }
}

/// What happens to each sample between the read and its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decode {
    /// The work.
    pub work: Work,
    /// Threads (or, of a stated cost, servers) of the whole client that do it; of readers without a number, each
    /// reader does its own.
    pub threads: Option<u32>,
}

/// The work of decoding one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Takes this long, and no processor time: a model of one.
    Cost {
        /// Time for each sample.
        // No processor time, so that a cost measured on other hardware can be played on this one without
        // its cores.
        per_sample_ns: u64,
    },
    /// Keeps a processor busy for as long, whatever the sample: a decoder that is not built in.
    Processor {
        /// Processor time for each sample.
        per_sample_ns: u64,
    },
    /// CRC-32 over the bytes that were read.
    Checksum,
    /// A copy of the bytes that were read into the batch: what a loader does that decodes nothing (PyTorch's `collate_fn`).
    Copy,
    /// Decompression of a gzip member.
    Gzip,
    /// Decompression of a Zstandard frame.
    Zstd,
    /// A baseline or progressive JPEG to pixels.
    Jpeg,
    /// A PNG to pixels.
    Png,
}

impl Work {
    /// Whether it looks at the bytes of a sample.
    pub fn looks_at_bytes(self) -> bool {
        !matches!(self, Self::Cost { .. } | Self::Processor { .. })
    }

    /// Whether the bytes that it looks at may be any, of a part of a sample as well: they have no form.
    pub fn takes_any_bytes(self) -> bool {
        matches!(self, Self::Checksum | Self::Copy)
    }

    /// The word used in scenarios, records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cost { .. } => "cost",
            Self::Processor { .. } => "cpu",
            Self::Checksum => "checksum",
            Self::Copy => "copy",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Jpeg => "jpeg",
            Self::Png => "png",
        }
    }
}

impl Training {
    /// A job whose reads share the queue depth, two batches ahead, that decodes nothing and waits for nobody: what tests
    /// and benchmarks start from.
    pub const fn plain(accelerators: u32, batch: u32, compute_ns: u64) -> Self {
        Self {
            accelerators,
            batch,
            compute_ns,
            fetch: Fetch::Shared,
            fetches: 1,
            prefetch: 2,
            barrier: false,
            decode: None,
            drop_last: true,
            startup_ns: 0,
            spin_ns: 0,
            threshold: 0.9,
            price_per_hour: None,
        }
    }

    /// Reads that the readers of all accelerators have under way, at most; `None` where the reads share the queue depth.
    pub fn reads_max(&self) -> Option<u32> {
        match self.fetch {
            Fetch::Readers { count } => {
                Some(self.accelerators.saturating_mul(count).saturating_mul(self.fetches))
            }
            Fetch::Shared => None,
        }
    }

    /// Samples that all accelerators take in one step.
    pub fn samples_per_step(&self) -> u64 {
        u64::from(self.accelerators) * u64::from(self.batch)
    }

    /// Samples per second at a utilization of 1.
    pub fn demand_samples_per_s(&self) -> f64 {
        self.samples_per_step() as f64 / (self.compute_ns as f64 / 1e9)
    }
}
