//! How data lie, how they are read epoch by epoch, and what is written beside: what layouts, epochs, checkpoints, caches
//! and copies add to a record.

use serde::{Deserialize, Serialize};

/// How well a shuffle buffer mixes what streams bring, over one epoch as it is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mixing {
    /// Samples that all readers hold.
    pub buffer_samples: u64,
    /// Mean distance between where a sample lies among all and where it is delivered, as a share of what a uniform
    /// permutation has: 0 is no shuffle at all, 1 a whole one.
    pub displacement: f64,
    /// Share of samples that are delivered just before the one that also follows them in their shard.
    pub neighbours_kept: f64,
    /// Shards of the largest share of a reader over those of the mean one, less 1.
    // Shards are dealt out whole: with ten of them and four readers one reader ends long after the mean.
    pub imbalance: f64,
}

/// One epoch inside a repetition; the first 256 are kept one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Its number within the repetition, from 0.
    pub epoch: u64,
    /// When its first operation was issued, since the window opened.
    pub begun_ns: u64,
    /// When its first operation ended.
    pub first_ns: u64,
    /// When the first batch of a training job was ready; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_batch_ns: Option<u64>,
    /// When the last of its operations ended that ended in the window.
    pub ended_ns: u64,
    /// Operations that ended well.
    pub ops: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that this process made storage deliver from the first operation of this epoch in the window to the first of
    /// the next, or to the end of the window; absent where the kernel does not say, behind a network, and with a cache tier. One thread
    /// looks, as it begins an epoch itself: what is outstanding then, and read ahead, may fall to either side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_bytes: Option<u64>,
    /// Bytes served by a cache tier; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier_bytes: Option<u64>,
    /// Whether every operation of the epoch ended in the window.
    pub complete: bool,
}

/// What checkpoints of a job ask of its storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointNeed {
    /// What is written: `llama3-70b`, `912 GB`.
    pub label: String,
    /// Bytes of one checkpoint, of all hosts.
    pub bytes: u64,
    /// Bytes of the host that writes most.
    pub host_bytes: u64,
    /// Hosts that write it together.
    pub hosts: u32,
    /// Time from when one is due until it is durable.
    pub within_ns: u64,
    /// Time from one due checkpoint to the next; absent where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ns: Option<u64>,
    /// Time in which one is read back; absent where nobody asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore_within_ns: Option<u64>,
    /// Who waits: `sync`, `async`.
    pub kind: String,
    /// Whether what is read and written is of other jobs, and goes on meanwhile. Absent before format 1.12.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside_others: bool,
}

/// The checkpoints that a cell makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointPlan {
    /// What it is of: `llama3-8b, 1/64 of it`, or the size as it was written.
    pub label: String,
    /// Bytes of one checkpoint on this client.
    pub bytes: u64,
    /// Files that it is made of, written side by side.
    pub files: u32,
    /// `sync`, `async`.
    pub mode: String,
    /// Steps of each accelerator between two; absent where nothing is trained meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_steps: Option<u64>,
    /// Time in which accelerators copy their state before an asynchronous write, 0 otherwise.
    pub copy_ns: u64,
    /// Whether a checkpoint counts once it is durable (`fsync`, `COMMIT`).
    pub durable: bool,
    /// Checkpoints that are kept; older ones are removed.
    pub keep: u32,
    /// Price of an hour of one accelerator, in the user's currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    // As in a training job, which need not be there: checkpoints are priced without one too.
    pub price_per_hour: Option<f64>,
}

/// One checkpoint that was to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Step after which it was due; its number where nothing was trained.
    pub step: u64,
    /// When it was due, since the window opened.
    pub due_ns: u64,
    /// When its first byte was written.
    pub begun_ns: u64,
    /// Time in which accelerators stood still for it.
    pub stall_ns: u64,
    /// From the first byte to the last one written, of the slowest file.
    pub write_ns: u64,
    /// From then until all files were durable under their names.
    pub publish_ns: u64,
    /// Bytes written.
    pub bytes: u64,
    /// What became of it.
    pub outcome: CheckpointOutcome,
}

/// What became of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointOutcome {
    /// It is whole.
    Complete,
    /// It was due while the one before it was still being written, and was left out.
    // Not a failure: what it says is that checkpoints are asked for more often than they can be written.
    Overrun,
    /// The window ended before it did.
    Unfinished,
    /// It could not be written.
    Failed {
        /// Why.
        reason: String,
    },
}

/// A local cache before a slower storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// Where it is.
    pub at: String,
    /// Bytes that it holds, at most.
    pub capacity_bytes: u64,
    /// What is dropped when it is full: `lru`, `random`.
    pub policy: String,
}

/// A dataset that is copied from one target to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyPlan {
    /// Name of the target that it is copied to.
    pub to: String,
    /// Layout that it has there; absent where objects are copied as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
}
