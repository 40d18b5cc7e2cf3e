//! One point of the matrix: a target read in one way.

use feed::{Access, Cache, Operation, Pages};

use crate::{Advice, Checkpoint, Copy, Engine, Load, Registered, Tier};

/// One cell: every setting explicit.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Stable, unique and readable, e.g. `disk/io_uring/114660B/128KiB/shuffled_epoch/bypass/qd32`.
    pub slug: String,
    /// Index into [`crate::Plan::targets`].
    pub target: usize,
    /// Index into [`crate::Plan::datasets`].
    pub dataset: usize,
    /// How reads are issued.
    pub engine: Engine,
    /// Set when this engine stands in for one that is not available: which, and why.
    pub stands_in_for: Option<String>,
    /// Kernel registration of buffers and files.
    pub registered: Registered,
    /// What the kernel is told of how a mapping is read; only a memory map takes it.
    pub advice: Advice,
    /// What is done over and over.
    pub operation: Operation,
    /// When.
    pub load: Load,
    /// Bytes asked by one read, at most (the last block of a sample may be shorter). A whole file is read in
    /// pieces of this size.
    pub block_bytes: u32,
    /// Order of the reads.
    pub access: Access,
    /// Treatment of the client's page cache.
    pub cache: Cache,
    /// Pages that the buffers of reads are made of.
    pub pages: Pages,
    /// Reads outstanding in the whole client.
    pub queue_depth: u32,
    /// Threads that share the queue depth.
    pub threads: u32,
    /// Connections in the whole client, at least one for each thread; 0 where there are none.
    pub connections: u32,
    /// Further attempts at an operation that failed in a way that may pass.
    pub retries: u32,
    /// Requests handed to the kernel in one submission, at most.
    pub submit_batch: u32,
    /// Completions that a thread of a closed loop waits for before it issues again.
    pub complete_batch: u32,
    /// Seed of the access order.
    pub seed: u64,
    /// Shards read side by side, where they are streamed; 0 elsewhere.
    pub streams: u32,
    /// Samples that a stream's reader holds and draws from, where it shuffles so; 0 elsewhere.
    pub shuffle_buffer: u32,
    /// Samples that follow each other, of runs of neighbours; 1 elsewhere.
    pub run_length: u32,
    /// Where the dataset is copied to, by [`Operation::Copy`]; `None` elsewhere.
    pub copy: Option<Copy>,
    /// The local cache before the target, where there is one.
    pub tier: Option<Tier>,
    /// The checkpoints that it makes, alone or beside its training job; `None` elsewhere.
    pub checkpoint: Option<Checkpoint>,
    /// Cells of one curve with `queue_depth = "auto"` share this number: they are tried from the
    /// shallowest on, and those past the stop rule are left out.
    pub auto_group: Option<u32>,
    /// What distinguishes this cell, for records and tables, in a fixed order.
    pub axes: Vec<Axis>,
}

impl Cell {
    /// A closed loop of shuffled, direct reads by one thread, every other setting at its plainest: what tests
    /// and benchmarks start from.
    pub fn plain(engine: Engine, block_bytes: u32, queue_depth: u32) -> Self {
        Self {
            slug: format!("plain/qd{queue_depth}"),
            target: 0,
            dataset: 0,
            engine,
            stands_in_for: None,
            registered: Registered::Off,
            advice: Advice::Normal,
            operation: Operation::Read,
            load: Load::Closed,
            block_bytes,
            access: Access::ShuffledEpoch,
            cache: Cache::Bypass,
            pages: Pages::Base,
            queue_depth,
            threads: 1,
            connections: 0,
            retries: 0,
            submit_batch: queue_depth,
            complete_batch: 1,
            seed: 1,
            streams: 0,
            shuffle_buffer: 0,
            run_length: 1,
            copy: None,
            tier: None,
            checkpoint: None,
            auto_group: None,
            axes: Vec::new(),
        }
    }
}

/// One coordinate of a cell, in words that outlive this type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// `queue_depth`, `block_size`, `access`, …
    pub name: &'static str,
    /// The value, as text.
    pub value: String,
    /// `B`, or empty for plain numbers and words.
    pub unit: &'static str,
}
