//! `cells.jsonl`: one line per ceiling and repetition, synced as it is written, and a last line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Checkpoint, Epoch, HistogramText, Trained};

/// One line of `cells.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// What this client can do without storage, for the shape of one or more cells.
    Ceiling(Ceiling),
    /// One repetition of one cell.
    // Boxed: a repetition is much larger than the other lines, and an enumeration is as large as its
    // largest variant.
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
    // A null target that copies nothing would be a ceiling that no buffered read can reach.
    pub copies: bool,
    /// Reads completed in the window.
    pub ops: u64,
    /// Bytes of those reads.
    pub bytes: u64,
    /// Length of the window.
    pub window_ns: u64,
    /// Processor time of this process in the window.
    pub cpu_ns: u64,
    /// What a training job did on the null target, where the cells play one. Absent before format 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trained: Option<Trained>,
}

/// Why a repetition was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
// Which repetition decides is said as it is made, and not found out by a reader: choosing them afterwards
// would be choosing the best.
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
    /// Opening of the window in nanoseconds since 1970, by this machine's clock: what windows of several machines are
    /// held together by. Absent before format 1.4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    // The run's own clock is monotonic and begins at zero on each host; ranks have only the time of day in
    // common.
    pub window_unix_ns: Option<u64>,
    /// Operations that ended well in each second of the window, the last of which may be cut short. Empty before format
    /// 1.4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    // Beside the histograms of seconds, which lie in a file that may be left out: steadiness has to be
    // known without it.
    pub second_ops: Vec<u64>,
    /// Their bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub second_bytes: Vec<u64>,
    /// What was counted, by name; see [`counter`].
    // By name and not as fields: an engine adds a counter without a new format, and an older reader keeps
    // what it does not know. Sorted, so that equal repetitions are equal bytes.
    pub counters: BTreeMap<String, u64>,
    /// Failed operations by kind.
    // By kind, as 1,000 throttled requests and 1,000 wrong bytes ask for opposite remedies.
    pub errors: BTreeMap<String, u64>,
    /// Latency histograms by name: `service_ns` is submission to completion. Copies add `read_ns` (an object from its
    /// first read to its last) and `publish_ns` (until it was durable under its name, once written). Whole files add `open_ns`, `stat_ns`,
    /// `read_ns`, `close_ns`, and those that are written anew `create_ns`, `write_ns`, `sync_ns`, `rename_ns`; names add
    /// `create_ns`, `rename_ns`, `remove_ns`; paced loads add
    /// `response_ns` (from the intended start) and `lag_ns` (intended to issued). A mix adds `service_read_ns` and
    /// `service_write_ns`, and a paced one `response_read_ns` and `response_write_ns`. Training loads add `wait_ns` (of each step for its batch, 1 where it did not wait), `fetch_ns` (a batch from
    /// being allowed to being ready), `lag_ns` (how late the client noticed that a step was over) and, where samples are
    /// decoded, `decode_ns` (of each, from read to decoded). Where attempts may be repeated, `service_ns` spans all of an operation's, back-offs included, and
    /// `attempt_ns` has each by itself. Storage behind a network adds the phases of its protocol.
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
    /// What the server that feedline started did in the window: served, slowed down and refused. Absent elsewhere,
    /// and in records before format 1.2.
    #[serde(default)]
    pub emulated: Option<Emulated>,
    /// The outcome of the training job that was played. Absent elsewhere, and in records before format 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trained: Option<Trained>,
    /// Epochs that the window saw. Empty before format 1.5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<Epoch>,
    /// Checkpoints that were due in the window. Empty elsewhere, and before format 1.5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<Checkpoint>,
    /// The outage that it met, after which it was made again. No figure rests on it. Absent elsewhere, and before format
    /// 1.8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    // The repetition stays in the record although it was made again: what was lost to the outage has to be
    // seen.
    pub outage: Option<Outage>,
}

impl Rep {
    /// The first repetition of a cell, by a process alone, in which nothing was counted.
    pub fn empty(cell: &str, outcome: Outcome) -> Self {
        Self {
            cell: cell.to_owned(),
            role: Role::Measure,
            rep: 0,
            round: 0,
            order: 0,
            rank: 0,
            ranks: 1,
            variant: "base".to_owned(),
            outcome,
            window_start_ns: 0,
            window_ns: 0,
            window_unix_ns: None,
            second_ops: Vec::new(),
            second_bytes: Vec::new(),
            counters: BTreeMap::new(),
            errors: BTreeMap::new(),
            histograms: BTreeMap::new(),
            usage: Usage::default(),
            cache: CacheProof::default(),
            granted: BTreeMap::new(),
            system: System::default(),
            emulated: None,
            trained: None,
            epochs: Vec::new(),
            checkpoints: Vec::new(),
            outage: None,
        }
    }
}

/// A time in which the server of a target did not answer, or this process was away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// From the end of the repetition that met it until the server answered; 0 of this process.
    pub away_ns: u64,
    /// Whether it was this process: stopped by a signal, or its machine suspended. Absent before format 1.10.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    // Set apart from an outage, for which the storage answers; here nobody but this machine does.
    pub suspended: bool,
}

/// What an emulated server achieved in the window, beside what it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulated {
    /// Requests answered.
    pub requests: u64,
    /// Those refused as too many.
    pub throttled: u64,
    /// Faults made, by kind.
    pub faults: BTreeMap<String, u64>,
    /// Data delays asked for, as they were drawn (histogram).
    // What was drawn beside what became of it: an emulated server that is late by itself is found out by
    // the difference.
    pub asked_ns: Option<HistogramText>,
    /// Data delays as they became.
    pub achieved_ns: Option<HistogramText>,
    /// Delays of names and attributes asked for.
    pub metadata_asked_ns: Option<HistogramText>,
    /// Delays of names and attributes as they became.
    pub metadata_achieved_ns: Option<HistogramText>,
    /// Processor time of the server's process.
    pub cpu_ns: u64,
    /// Bytes of objects and files handed to connections, heads, names and attributes left out. What a connection that
    /// was cut did not take may be among them. 0 in records that were written before it was counted.
    #[serde(default)]
    pub sent_bytes: u64,
}

impl Emulated {
    /// Its histograms, in the order of the record.
    pub(crate) fn histograms(&mut self) -> [&mut Option<HistogramText>; 4] {
        let Self { asked_ns, achieved_ns, metadata_asked_ns, metadata_achieved_ns, .. } = self;
        [asked_ns, achieved_ns, metadata_asked_ns, metadata_achieved_ns]
    }
}

/// Names of counters in [`Rep::counters`].
pub mod counter {
    /// Reads that ended well inside the window.
    pub const OPS: &str = "ops";
    /// Their bytes.
    pub const BYTES: &str = "bytes";
    /// Reads issued inside the window; their latencies are in `service_ns`.
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
    /// Attempts at operations that were issued inside the window, the first ones included; only where attempts may be
    /// repeated.
    pub const ATTEMPTS: &str = "attempts";
    /// Operations issued inside the window that ended well after more than one attempt.
    pub const RECOVERED: &str = "recovered";
    /// Connections made, from the opening of the queues on.
    pub const CONNECTIONS_OPENED: &str = "connections_opened";
    /// Connections that ended, or were given up, with something under way on them.
    pub const CONNECTIONS_LOST: &str = "connections_lost";
    /// Messages handed to the network; an operation may take several.
    pub const MESSAGES: &str = "messages";
    /// Bytes given to sockets, encryption included, from the opening of the queues on.
    pub const WIRE_SENT_BYTES: &str = "wire_sent_bytes";
    /// Bytes taken from sockets, encryption included, from the opening of the queues on.
    pub const WIRE_RECEIVED_BYTES: &str = "wire_received_bytes";
    /// Bytes of operations that ended well, from the opening of the queues on: what the bytes on the wire brought.
    pub const DELIVERED_BYTES: &str = "delivered_bytes";
    /// What the name of a counter of failed attempts of one kind begins with: `attempt_errors/throttled`. Of operations
    /// that were issued inside the window, whatever became of them.
    pub const ATTEMPT_ERRORS: &str = "attempt_errors/";
    /// Bytes that were written, where not all are: of objects and shards that a copy published, for which [`BYTES`] are those of
    /// their source, and of blocks that a mix wrote over inside the window, which are among [`BYTES`].
    pub const WRITTEN_BYTES: &str = "written_bytes";
    /// From the opening of the window until a copy had published its first object.
    pub const FIRST_OBJECT_NS: &str = "first_object_ns";
    /// Bytes of data received for operations that did not end well.
    pub const WASTED_BYTES: &str = "wasted_bytes";
    /// Reads that a cache tier served, from the opening of the queues on, as all that is counted of it.
    pub const TIER_HITS: &str = "tier_hits";
    /// Their bytes.
    pub const TIER_HIT_BYTES: &str = "tier_hit_bytes";
    /// Reads that ended well and that a cache tier did not have.
    pub const TIER_MISSES: &str = "tier_misses";
    /// Those of them that were not kept, since too many waited to be written.
    pub const TIER_SKIPPED: &str = "tier_skipped";
    /// Blocks that were written into a cache tier by the end.
    pub const TIER_FILLS: &str = "tier_fills";
    /// Blocks that could not be written.
    pub const TIER_FILL_ERRORS: &str = "tier_fill_errors";
    /// Blocks that made room for others.
    pub const TIER_EVICTIONS: &str = "tier_evictions";
    /// What the name of a counter of messages to one address begins with: `messages_to/192.0.2.1:2049`.
    pub const MESSAGES_TO: &str = "messages_to/";
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
    /// Time in which the threads that issue reads were runnable and waited for a processor, added up (the second field of
    /// `/proc/thread-self/schedstat`); absent where the kernel does not say, on a virtual clock, and before format 1.6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
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
    /// The interface towards a target behind a network. Absent in records before format 1.2.
    #[serde(default)]
    pub network: Option<Network>,
    /// The kernel's NFS client, for a target on such a mount. Absent in records before format 1.2.
    #[serde(default)]
    pub nfs_mount: Option<NfsMount>,
    /// Other programs that used most processor time, or read most from storage, around the repetition. Empty where none
    /// used much or could be named, and before format 1.6.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherProgram>,
    /// The GPUs of the machine, whoever used them. Empty where NVIDIA's library finds none, and before format 1.13.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<Gpu>,
}

/// A GPU from just before a repetition to just after it, its warm-up included, as NVIDIA's management library counts it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Its number on the machine.
    pub index: u32,
    /// What it is called: `NVIDIA H100 80GB HBM3`.
    pub name: String,
    /// Share of time in which a kernel ran, per mille: the mean of those samples that the library kept. Absent without one.
    pub busy_permille: Option<u32>,
    /// Bytes that it received over PCIe; absent where they are not counted with 64 bits.
    pub received_bytes: Option<u64>,
    /// Bytes that it sent, likewise.
    pub sent_bytes: Option<u64>,
    /// Length of the span between the two readings.
    pub wall_ns: u64,
}

/// What the processes of one name used from just before a repetition to just after it, its warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherProgram {
    /// Name of the command (`comm`, at most 15 characters), without its path and its arguments.
    pub name: String,
    /// Processor time.
    pub cpu_ns: u64,
    /// Bytes that storage delivered to them; absent where this process may not know.
    pub read_bytes: Option<u64>,
}

/// A network interface's counters over the window, all traffic included, and the machine's TCP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// As the kernel calls it: `eth0`.
    pub interface: String,
    /// Its rate, bits per second; absent where it has none (loopback, most virtual interfaces).
    pub speed_bps: Option<u64>,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets dropped on receipt.
    pub dropped: u64,
    /// TCP segments sent again, by this whole machine.
    pub tcp_retransmitted: Option<u64>,
    /// Length of the span between the two readings.
    pub wall_ns: u64,
}

/// Counters of `/proc/self/mountstats` over the window for one NFS mount.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NfsMount {
    /// READ calls.
    pub reads: u64,
    /// Times a READ was sent, first and further ones.
    pub read_transmissions: u64,
    /// READ calls that timed out.
    pub read_timeouts: u64,
    /// Bytes received for READ, headers included.
    pub read_received_bytes: u64,
    /// Time of all READs from being queued to their end.
    pub read_ns: u64,
    /// Connections (`nconnect`).
    pub connections: u32,
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
    /// Flushes of its cache that it completed, of a partition those of its disk; absent before Linux 5.5, and of devices that are made
    /// of others (md, device mapper), which count none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// Sum of the times of all flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_ns: Option<u64>,
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
    // Three values: that nobody asked says nothing of what was in memory.
    pub names_dropped: Option<bool>,
}

/// The last line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// True when a signal ended the run.
    // Written by the run that was interrupted. Where the line is missing, the process ended without a
    // chance to say so.
    pub interrupted: bool,
    /// Length of the run after preparation.
    pub elapsed_ns: u64,
    /// Cells whose repetitions did not all run, and why.
    pub not_run: Vec<NotRun>,
    /// Datasets, by their index in the head, whose files were no longer the same after the run.
    #[serde(default)]
    // Looked at after the run alone: to look in between would warm the caches of what is measured.
    pub changed: Vec<usize>,
    /// Datasets that could not be looked at after the run, so that nobody knows whether their files are the same. They were
    /// among those changed before format 1.8.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    // A server that is away after the run must not make its data count as changed; nor may it count as the
    // same.
    pub not_looked_at: Vec<NotLookedAt>,
    /// Reads of data that feedline did not write, held against a second reading after the run. Nothing of datasets that
    /// changed meanwhile, and nothing before format 1.6.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    // Of data of the user's nobody knows the right bytes. Two equal readings exclude the errors that come
    // and go.
    pub reread: Vec<Reread>,
}

/// A dataset that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotLookedAt {
    /// Its index in the head.
    pub dataset: usize,
    /// Why.
    pub reason: String,
}

/// Reads of one repetition that were made again after the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reread {
    /// The repetition's rank.
    pub rank: u32,
    /// The repetition's place in the run of its rank, as [`Rep::order`] has it.
    pub order: u32,
    /// Reads that were made again.
    pub checked: u64,
    /// Those that brought other bytes, and those of objects whose bytes have not the sum that the storage keeps of them.
    pub wrong: u64,
    /// Of those checked, reads of objects that were read whole and held against the sum that the storage keeps of them: 0
    /// where it keeps none, and before format 1.7.
    #[serde(default)]
    // Apart from `checked`: a sum of the service is evidence of the stored bytes, a second reading only of
    // the path.
    pub summed: u64,
    /// Reads that could not be made again, by the kind of their failure. Absent where there were none, and before format
    /// 1.7.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unread: BTreeMap<String, u64>,
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
