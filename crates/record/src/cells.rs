//! `cells.jsonl`: one line per ceiling and repetition, synced as it is written, and a last line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::HistogramText;

/// One line of `cells.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// What this client can do without storage, for the shape of one or more cells.
    Ceiling(Ceiling),
    /// One repetition of one cell.
    Rep(Box<Rep>),
    /// The run came to its end; without this line it was cut.
    End(End),
}

/// The client's own limit for one shape of load, measured on the null target in the same run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Cells that share this shape.
    pub cells: Vec<String>,
    /// Whether each read was copied into its buffer, as a buffered read must be.
    pub copies: bool,
    /// Reads completed in the window.
    pub ops: u64,
    /// Bytes of those reads.
    pub bytes: u64,
    /// Length of the window.
    pub window_ns: u64,
    /// Processor time of this process in the window.
    pub cpu_ns: u64,
}

/// Why a repetition was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// One of the interleaved repetitions from which a cell is chosen.
    Measure,
    /// A fresh repetition of the chosen cell: the verdict rests on these alone.
    Confirm,
}

/// One repetition of one cell, exactly as it was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rep {
    /// Which cell.
    pub cell: String,
    /// Why it was made.
    pub role: Role,
    /// Number among the repetitions of this cell and role, from 0.
    pub rep: u32,
    /// Round of interleaving.
    pub round: u32,
    /// Position in the run's order of execution.
    pub order: u32,
    /// This process among those of the run.
    pub rank: u32,
    /// Processes of the run.
    pub ranks: u32,
    /// Variant under comparison; `base` when there is only one.
    pub variant: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Start of the window, nanoseconds since the run began.
    pub window_start_ns: u64,
    /// Length of the window as it was, from its opening to its end.
    pub window_ns: u64,
    /// What was counted, by name; see [`counter`].
    pub counters: BTreeMap<String, u64>,
    /// Failed operations by kind.
    pub errors: BTreeMap<String, u64>,
    /// Latency histograms by name: `service_ns` is submission to completion. Whole files add `open_ns`, `stat_ns`,
    /// `read_ns`, `close_ns`; paced loads add `response_ns` (from the intended start) and `lag_ns` (intended to
    /// issued).
    pub histograms: BTreeMap<String, HistogramText>,
    /// Processor, context switches, pressure.
    pub usage: Usage,
    /// Page-cache residency around the repetition.
    pub cache: CacheProof,
    /// What the engine was granted: registration, huge pages, open files.
    pub granted: BTreeMap<String, String>,
    /// What the machine did in the window, this process or not. Absent in records of format 1.0.
    #[serde(default)]
    pub system: System,
}

/// Names of counters in [`Rep::counters`].
pub mod counter {
    /// Reads that ended well inside the window.
    pub const OPS: &str = "ops";
    /// Their bytes.
    pub const BYTES: &str = "bytes";
    /// Reads begun inside the window; their latencies are in `service_ns`.
    pub const STARTED: &str = "started";
    /// Reads before the window opened.
    pub const WARMUP_OPS: &str = "warmup_ops";
    /// Reads checked against the content that was written, before the window opened.
    pub const VERIFIED: &str = "verified";
    /// Latencies beyond the histogram's range, counted at its end.
    pub const CLAMPED: &str = "clamped";
    /// Reads that the kernel answered in part and that were finished by another.
    pub const SHORT_READS: &str = "short_reads";
    /// Files opened while measuring, because not all could be held open.
    pub const OPENS: &str = "opens";
    /// Calls into the kernel to submit or wait.
    pub const ENTERS: &str = "enters";
    /// Reads still outstanding when the repetition was closed.
    pub const ABANDONED: &str = "abandoned";
    /// Names found in the folders that were listed inside the window.
    pub const ENTRIES: &str = "entries";
    /// Operations that a paced load meant to begin inside the window.
    pub const ARRIVALS: &str = "arrivals";
    /// Those of them that were never issued: the client woke too late, or the queue was still full at the end.
    pub const NOT_ISSUED: &str = "not_issued";
    /// Those of [`NOT_ISSUED`] that were due while the client was away although it had room for them.
    pub const GIVEN_UP: &str = "given_up";
    /// Those of them that were issued and ended well, whenever they did.
    pub const SERVED: &str = "served";
    /// Bytes per second that a paced load offered.
    pub const OFFERED_BPS: &str = "offered_bps";
}

/// How a repetition ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The planned window was measured.
    Complete,
    /// The dataset was read once before the planned window was over (a cold cell reads no byte twice).
    Exhausted,
    /// A signal ended it; what was counted until then stands.
    Interrupted,
    /// It could not be measured.
    Failed {
        /// Why, and what to do.
        reason: String,
    },
}

/// What the process used during the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// User time.
    pub cpu_user_ns: u64,
    /// Kernel time.
    pub cpu_system_ns: u64,
    /// Wall time over which usage was taken.
    pub wall_ns: u64,
    /// Processors this process may use, by affinity and cgroup quota.
    pub cores: u32,
    /// Context switches by waiting.
    pub voluntary_switches: u64,
    /// Context switches by preemption.
    pub involuntary_switches: u64,
    /// Page faults served from memory.
    pub minor_faults: u64,
    /// Page faults that read.
    pub major_faults: u64,
    /// Time stolen by the hypervisor, all processors; absent where the kernel does not say.
    pub steal_ns: Option<u64>,
    /// Time in which some task waited for the processor (PSI).
    pub psi_cpu_some_ns: Option<u64>,
    /// Time in which some task waited for I/O (PSI).
    pub psi_io_some_ns: Option<u64>,
    /// Time in which some task waited for memory (PSI).
    pub psi_memory_some_ns: Option<u64>,
}

/// What the machine did while the window was open, as the kernel counts it for all processes together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// Bytes that this process made storage deliver (`read_bytes` of `/proc/self/io`).
    pub process_read_bytes: Option<u64>,
    /// The block device below the target.
    pub device: Option<Device>,
    /// Busy time of each processor, in their order.
    #[serde(default)]
    pub core_busy_ns: Vec<u64>,
    /// Memory as the window opened.
    pub memory_before: Option<Memory>,
    /// Memory as it closed.
    pub memory_after: Option<Memory>,
}

/// A block device's counters over the window, from `/proc/diskstats`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// As the kernel calls it: `nvme0n1`.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    /// Reads that were merged into another before they reached the device.
    pub reads_merged: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Sum of the times of all reads.
    pub read_ns: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the times of all writes.
    pub write_ns: u64,
    /// Time in which anything was outstanding.
    pub busy_ns: u64,
    /// Sum over time of what was outstanding.
    pub weighted_ns: u64,
    /// Length of the span between the two readings.
    pub wall_ns: u64,
}

/// The machine's memory, from `/proc/meminfo`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What could be had without swapping.
    pub available_bytes: u64,
    /// Page cache.
    pub cached_bytes: u64,
    /// Written and not yet on storage.
    pub dirty_bytes: u64,
}

/// Page-cache residency of the dataset around a repetition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheProof {
    /// How it was proven: `cachestat`, `mincore`, `direct`, `none`.
    pub method: String,
    /// Bytes of the dataset.
    pub total_bytes: u64,
    /// Resident just before.
    pub before_bytes: Option<u64>,
    /// Resident just after.
    pub after_bytes: Option<u64>,
    /// Whether names and inodes were forgotten before; absent where nothing asked for it.
    #[serde(default)]
    pub names_dropped: Option<bool>,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// True when a signal ended the run.
    pub interrupted: bool,
    /// Length of the run after preparation.
    pub elapsed_ns: u64,
    /// Cells whose repetitions did not all run, and why.
    pub not_run: Vec<NotRun>,
    /// Datasets, by their index in the head, whose files were no longer the same after the run.
    #[serde(default)]
    pub changed: Vec<usize>,
}

/// Repetitions that were planned and not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    /// Which cell.
    pub cell: String,
    /// How many repetitions.
    pub repetitions: u32,
    /// `budget`, `interrupted`, `auto: the line is cleared at a shallower depth`, …
    pub reason: String,
}
