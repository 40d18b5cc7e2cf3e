//! One point of the matrix: a target read in one way.

use feed::{Cache, Numa, Operation, Pages};

use crate::{Access, Advice, Checkpoint, Engine, JobCheckpoints, Load, Registered, Share, Task, Tier};

/// One cell: every setting explicit.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Stable, unique and readable, e.g. `disk/io_uring/114660B/128KiB/shuffled_epoch/bypass/qd32`.
    // Records are compared by it for ever: a setting gets a word only where it is not what every older cell
    // had.
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
    /// What the kernel is told of how its files are read: of a memory map by `madvise`, of reads through the page cache by
    /// `posix_fadvise`.
    pub advice: Advice,
    /// What is done over and over.
    pub task: Task,
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
    /// Where they run.
    pub numa: Numa,
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
    /// The local cache before the target, where there is one.
    pub tier: Option<Tier>,
    /// The checkpoints that are made beside its training job.
    pub job_checkpoints: Option<JobCheckpoints>,
    /// Cells of one curve with `queue_depth = "auto"` share this number: they are tried from the
    /// shallowest on, and those past the stop rule are left out.
    // A number and not a flag: two searches of one target must not end each other.
    pub auto_group: Option<u32>,
    /// Processes of the run that take part: so many of the first ones, which share the data among them. `None`: all.
    pub ranks: Option<u32>,
    /// What distinguishes this cell, for records and tables, in a fixed order.
    // Beside the slug and not parsed out of it: words of a slug are for people, and some say two
    // coordinates.
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
            task: Task::Read,
            load: Load::Closed,
            block_bytes,
            access: Access::ShuffledEpoch,
            cache: Cache::Bypass,
            pages: Pages::Base,
            queue_depth,
            threads: 1,
            numa: Numa::Any,
            connections: 0,
            retries: 0,
            submit_batch: queue_depth,
            complete_batch: 1,
            seed: 1,
            tier: None,
            job_checkpoints: None,
            auto_group: None,
            ranks: None,
            axes: Vec::new(),
        }
    }

    /// The checkpoints that it writes, alone or beside its job; one that restores writes none.
    pub fn writes_checkpoints(&self) -> Option<&Checkpoint> {
        match &self.task {
            Task::Checkpoint(checkpoint) => Some(checkpoint),
            _ => self.job_checkpoints.as_ref().map(|job| &job.checkpoint),
        }
    }

    /// The part of its data that a process of the run reads, of which `rank` is its number among all; `None` where it takes no
    /// part.
    pub fn part_of(&self, rank: Share) -> Option<Share> {
        let of = self.ranks.unwrap_or(rank.of);
        (rank.index < of).then_some(Share { of, ..rank })
    }

    /// Whether a processor copies what it reads, from the page cache or a socket; a direct read of a device moves by itself.
    pub fn copies(&self) -> bool {
        (self.cache != Cache::Bypass || self.connections > 0) && self.operation().reads_bytes()
    }

    /// The operation of its task.
    pub fn operation(&self) -> Operation {
        self.task.operation()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_processes_take_part_and_share_the_data_among_them() {
        let cell = Cell { ranks: Some(2), ..Cell::plain(Engine::Null, 4_096, 1) };
        let parts =
            |cell: &Cell| (0..3).map(|index| cell.part_of(Share { index, of: 3 })).collect::<Vec<_>>();
        let of = |index, of| Some(Share { index, of });
        assert_eq!(parts(&cell), [of(0, 2), of(1, 2), None]);
        assert_eq!(parts(&Cell { ranks: None, ..cell }), [of(0, 3), of(1, 3), of(2, 3)]);
    }
}
