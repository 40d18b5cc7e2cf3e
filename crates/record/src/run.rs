//! `run.json`: what was planned, written once before the first read.

use serde::{Deserialize, Serialize};

use feed::{Access, Cache, Durability, Operation, Pages};

use crate::{CheckpointNeed, CheckpointPlan, CopyPlan, Environment, Expect, Format, Mixing, Tier, Word};

/// Most processes of a run: what a record says of more is a mistake, and of each there is a list.
// 65,536 processes with eight accelerators each are half a million, as many as any site has in one job.
pub const RANKS_MAX: u32 = 65_536;

/// The head of a run. Nothing in it is derived from a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Version of the record.
    pub format: Format,
    /// Sortable and unique: `20261121T044123Z-quickstart-3f9a`.
    pub run_id: String,
    /// Start, RFC 3339 UTC.
    pub started: String,
    /// What made the record.
    pub tool: Tool,
    /// Command line, redacted.
    pub command: Vec<String>,
    /// Scenario name.
    pub scenario: String,
    /// Title of the scenario, if it has one.
    pub title: Option<String>,
    /// SHA-256 of the access plan, hex: equal hashes read the same bytes in the same order.
    // A hash of what is read and not of the scenario's text: a comment or another title changes nothing that is measured.
    pub plan_hash: String,
    /// What the accelerators consume.
    pub need: Need,
    /// Distinct datasets.
    pub datasets: Vec<Dataset>,
    /// Storages under test.
    pub targets: Vec<Target>,
    /// Cells, in the order of the scenario.
    pub cells: Vec<Cell>,
    /// Combinations left out before the run.
    pub skipped: Vec<Skipped>,
    /// How it was measured.
    pub measure: Measure,
    /// What decides the exit code.
    pub gate: Gate,
    /// What was said of the storages beforehand; absent from a run without predictions, and before format 1.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// The axis along which `size` searched an edge: `accelerators`, `readers`, `queue_depth`, `prefetch`, `hosts`. Absent from other
    /// runs, and before format 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    // Skipped where it is absent, so that a run without a search is written byte for byte as before.
    pub size: Option<String>,
    /// The variant that this record holds, of a run that compares several. Absent from other runs, and before format 1.4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The processes that a launcher started and that made this record together. Absent from other runs, and before format 1.11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<Team>,
    /// This process among those of one run.
    // Both are written for runs of one process too: a reader need not tell two kinds of records apart.
    pub rank: u32,
    /// Processes of the run.
    pub ranks: u32,
    /// Whether names of hosts, users and folders were replaced by labels.
    pub redacted: bool,
}

impl Run {
    /// Processes that took part in a cell of it.
    pub fn ranks_of(&self, cell: &Cell) -> u32 {
        cell.ranks.unwrap_or(self.ranks)
    }
}

/// The processes of one launcher that measured together, and agreed on each repetition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// Who started them: `Open MPI`, `Slurm`.
    pub launcher: String,
    /// One for each rank, in their order.
    pub members: Vec<Member>,
}

/// One process among those of a launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Name of its host, redacted.
    pub host: String,
    /// Number of its machine among those of the run, from 0: processes of one machine share its kernel and its links.
    // Not the host's name: a container has a name of its own on a machine that it shares.
    pub machine: u32,
    /// How far its clock was ahead of rank 0's when the run began, nanoseconds. Times of its repetitions are corrected by it.
    pub clock_ahead_ns: i64,
    /// How far off that figure may be: half of what four fifths of the fences that it was read from span, nanoseconds.
    pub clock_uncertainty_ns: u64,
}

impl Team {
    /// Machines that they ran on.
    pub fn machines(&self) -> u32 {
        let machines: std::collections::BTreeSet<u32> =
            self.members.iter().map(|member| member.machine).collect();
        machines.len() as u32
    }
}

/// One of several variants whose repetitions were interleaved, each with a record of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Its name, as in [`Rep::variant`](crate::Rep::variant).
    pub name: String,
    /// Name of the folder that holds the records of all variants.
    pub group: String,
    /// Its number among them, in the order of the command line; 0 is what the others are compared with.
    pub number: u32,
    /// What it changes of the scenario: `load.cache=warm`.
    pub settings: Vec<String>,
}

/// What made the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Version of feedline.
    pub version: String,
    /// Commit it was built from, where known.
    pub commit: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
}

/// The need, as plain figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// `8 x h100 resnet50`.
    pub label: String,
    /// Samples per second at full utilization, when the need is stated in samples and they are held.
    // The demand as stated and no line: the line follows from it and `utilization`, and nothing derived is
    // kept.
    pub samples_per_s: Option<f64>,
    /// Bytes of one sample of the workload, when the need is stated in samples.
    pub sample_bytes: Option<f64>,
    /// Bytes per second at full utilization, when the need is stated in bytes, or the bytes of a workload are held.
    pub bytes_per_s: Option<f64>,
    /// Where the line is drawn, 0 to 1.
    pub utilization: f64,
    /// Accelerators on this client; 0 when the need names none.
    pub accelerators: u32,
    /// Hosts of the job.
    pub hosts: u32,
    /// `MLPerf Storage 2.0, measured`.
    pub source: String,
    /// What a reader must know before trusting the figure.
    pub caveats: Vec<String>,
    /// Accelerators of all hosts; absent when the need names none, and before format 1.6, as is what is absent below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// What stays where samples are not of the workload's size, as the user said: `samples`, `bytes`; empty where nobody
    /// did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    // A word and no enumeration: a newer version may hold something else, which an older one then passes
    // on.
    pub hold: String,
    /// Whose feeding is asked about: `cluster`, `host`; empty is the cluster.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// Where the figures of a workload come from: `measured`, `vendor`, `extrapolated`; empty where the user stated them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provenance: String,
    /// Reads that the job's loader has outstanding on this client at most; absent where the scenario states no loader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    // Kept since a verdict of FEEDS from a deeper queue than the loader reaches would be one of another
    // client.
    pub loader_depth: Option<u32>,
    /// What checkpoints ask for; absent where nobody asks, and before format 1.11. A need that states no rate beside it asks for
    /// no reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointNeed>,
    /// Whether the rate is one of writes. Always of reads before format 1.12.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
    /// Bytes per second that are written beside reads, at full utilization; absent where nobody asks, and before format 1.12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<f64>,
    /// The rates that this one is the sum of, in the order in which they were listed. Empty where it is one, where some are of
    /// reads and some of writes, and before format 1.16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<NeedPart>,
}

impl Need {
    /// Whether both ask for the same; one that does not say what it is the sum of may be the sum of the other's parts.
    pub fn is_same(&self, other: &Self) -> bool {
        let whole = |need: &Self| Self { parts: Vec::new(), ..need.clone() };
        let says = self.parts.is_empty() || other.parts.is_empty() || self.parts == other.parts;
        says && whole(self) == whole(other)
    }
}

/// One of the rates that a need is the sum of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NeedPart {
    /// `8 x h100 resnet50`.
    pub label: String,
    /// Bytes per second at full utilization.
    pub bytes_per_s: f64,
}

/// One dataset as it was when the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// `generate` or `existing`.
    pub source: String,
    /// Name of the target that holds it.
    pub target: String,
    /// Number of files.
    pub files: u64,
    /// Sum of their sizes.
    pub bytes: u64,
    /// Bytes of one training sample.
    pub sample_bytes: f64,
    /// Hash over names, sizes and modification times.
    // Times belong to it, since files of equal names and sizes may have been written anew, with other
    // places on a disk.
    pub fingerprint: String,
    /// Files of a user's folder that hold nothing and were left out.
    #[serde(default)]
    pub empty_files: u64,
    /// Bytes of a user's files for which no storage is allocated: holes, or what a file system compresses.
    #[serde(default)]
    // A hole is read from no storage at all, at the speed of memory.
    pub unallocated_bytes: u64,
    /// Standard deviation of lognormal sizes; absent where feedline wrote equal files, and for a user's.
    #[serde(default)]
    pub lognormal_stdev_bytes: Option<u64>,
    /// How samples lie in the files: `files`, `webdataset`, … Always `files` before format 1.5.
    #[serde(default = "default_layout")]
    pub layout: String,
    /// Number of samples; as many as files where it is absent. Files that a list reads are samples as often as it names
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// How they are packed, in words: `shard_size`, `members`, `codec`, …; and of a list `order`, its reads and files with a
    /// digest of its names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packing: Vec<Fact>,
}

/// Name of the fact in [`Dataset::packing`] that says which file of samples that are files is one of many samples, in a format
/// that no layout reads.
pub const READ_WHOLE: &str = "read whole";

/// What every dataset of a record before format 1.5 is.
// Old records know no other, and must read as what they were.
fn default_layout() -> String {
    "files".to_owned()
}

/// One storage under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Key under `targets`.
    pub name: String,
    /// Title for plots.
    pub title: String,
    /// What the user says of it.
    pub about: Option<String>,
    /// Address, redacted.
    pub at: String,
    /// False for the null target: its figures are the client's, not a storage's.
    // No verdict is given of the null target, however fast it is.
    pub storage: bool,
    /// The server was started by feedline itself: its figures demonstrate, and judge nothing.
    #[serde(default)]
    // False by default: records of before knew no emulated server, so that all of theirs were real.
    pub demo: bool,
    /// Whether reports may show what the user says of it.
    #[serde(default = "yes")]
    pub about_published: bool,
    /// Memory of the server, bytes, as the user says.
    #[serde(default)]
    pub server_memory_bytes: Option<u64>,
    /// What the server that feedline started was asked to be like.
    #[serde(default)]
    pub emulation: Option<Emulation>,
    /// Facts probed at the start: file system, device, alignment.
    pub facts: Vec<Fact>,
}

// Before there was a choice it was shown.
fn yes() -> bool {
    true
}

/// What an emulated server was asked to be like, in words; what it achieved is in each repetition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emulation {
    /// Name of the profile, if it started from one.
    pub profile: Option<String>,
    /// Settings, in order.
    pub settings: Vec<Fact>,
}

/// A named fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// `file_system`, `device_model`, …
    pub name: String,
    /// Its value in words.
    pub value: String,
}

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Stable and unique within the run.
    pub cell: String,
    /// Name of its target.
    pub target: String,
    /// Index into [`Run::datasets`].
    // An index and no name: several datasets of one run differ in a sample size alone, and have no names.
    pub dataset: usize,
    /// Engine that issues the reads.
    pub engine: String,
    /// Set when the engine stands in for one that is not available.
    pub stands_in_for: Option<String>,
    /// Reads outstanding in the whole client.
    pub queue_depth: u32,
    /// Threads that share them.
    pub threads: u32,
    /// Connections in the whole client; 0 where there are none, and in records before format 1.2.
    #[serde(default)]
    pub connections: u32,
    /// Further attempts at an operation that failed in a way that may pass.
    #[serde(default)]
    pub retries: u32,
    /// Bytes asked by one read, at most.
    pub block_bytes: u64,
    /// Order of the reads.
    pub access: Word<Access>,
    /// Treatment of the client's page cache: `cold`, `warm`, `bypass`, `dontcache`.
    pub cache: Word<Cache>,
    /// What is done over and over: `read`, `read_file`, `stat`, `list`, `copy`, `write`, `mix`.
    #[serde(default = "default_operation")]
    pub operation: Word<Operation>,
    /// The schedule of a paced load; absent for a closed loop.
    #[serde(default)]
    pub pace: Option<Pace>,
    /// The training job that is played; absent for other loads, and in records before format 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
    /// Shards read side by side, where they are streamed. Absent before format 1.5, as are the next six.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// Samples that the reader of a stream holds and draws from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle_buffer: Option<u32>,
    /// Samples of a run of neighbours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_length: Option<u32>,
    /// How well streams are mixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixing: Option<Mixing>,
    /// The checkpoints that it makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointPlan>,
    /// The cache that it reads through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Where it copies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyPlan>,
    /// Requests handed to the kernel in one submission, at most; absent in records of format 1.0.
    #[serde(default)]
    pub submit_batch: Option<u32>,
    /// Completions that a thread waited for before it issued again; absent in records of format 1.0.
    #[serde(default)]
    pub complete_batch: Option<u32>,
    /// Pages that the buffers of reads are made of: `base`, `huge`. Absent before format 1.6, when the kernel was asked for
    /// huge ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    // Absent is a third value: kernels were asked for huge pages then and may have given none, so that such
    // a run is compared with neither kind.
    pub pages: Option<Word<Pages>>,
    /// What the storage promises of each write, of cells that write blocks: `none`, `data`, `full`. Absent before format 1.12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Word<Durability>>,
    /// Share of the operations that write, percent, of cells whose others read. Absent before format 1.12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_percent: Option<u8>,
    /// Processes of the run that took part: so many of the first ones. Absent where all did, and before format 1.12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Cells of one `queue_depth = "auto"` curve share this number.
    // Kept although it is no setting: why a deeper cell was never run follows from it.
    pub auto_group: Option<u32>,
    /// All coordinates, in a fixed order.
    pub axes: Vec<AxisWords>,
}

/// What every cell of a record of format 1.0 did.
// Format 1.0 had block reads alone.
fn default_operation() -> Word<Operation> {
    Operation::Read.into()
}

/// The schedule of a paced load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Bytes per second offered, where the scenario says so.
    pub rate_bps: Option<f64>,
    /// Share of the feed line offered, where the scenario says that.
    pub of_line: Option<f64>,
    /// `constant`, `poisson`, `batch`.
    pub arrivals: String,
    /// Samples of one step, for `batch`.
    pub batch_samples: Option<u64>,
    /// How long before an arrival a thread stops sleeping.
    pub spin_ns: u64,
}

/// The training job that a cell plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Accelerators.
    pub accelerators: u32,
    /// Samples of one step of one accelerator.
    pub batch: u32,
    /// Compute time of one step.
    pub compute_ns: u64,
    /// Who fetches batches: `readers`, `shared`.
    pub fetch: String,
    /// Readers of each accelerator; absent where reads share the queue depth.
    pub readers: Option<u32>,
    /// Reads of its batch that each reader had under way, at most. Absent where that is one, and before format 1.13.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub fetches: u32,
    /// Batches asked for ahead.
    pub prefetch: u32,
    /// Whether accelerators wait for each other after every step.
    pub barrier: bool,
    /// What is done to each sample: `checksum`, `copy`, `gzip`, `zstd`, `jpeg`, `png`, `cpu`, `cost`.
    pub decode: Option<String>,
    /// Stated cost of decoding one sample.
    pub decode_cost_ns: Option<u64>,
    /// Threads that decode; absent where each reader does its own, and where nothing is decoded.
    pub decode_threads: Option<u32>,
    /// Whether what fills no batch at the end of an epoch was left out. Absent where it was, and before format 1.6, where it
    /// always was.
    #[serde(default = "dropped", skip_serializing_if = "is_dropped")]
    pub drop_last: bool,
    /// Time in which the readers of an epoch start.
    pub startup_ns: u64,
    /// How long before a step ends a thread stops sleeping. Absent where none does, and before format 1.12.
    #[serde(default, skip_serializing_if = "crate::trained::is_zero")]
    pub spin_ns: u64,
    /// Utilization at which a storage feeds the job.
    pub threshold: f64,
    /// Price of an hour of one accelerator, in the user's currency.
    pub price_per_hour: Option<f64>,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

// The default of reading and the condition of writing are one value: a record that is read and written
// again stays the same.
fn dropped() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_dropped(drop_last: &bool) -> bool {
    *drop_last
}

/// One coordinate of a cell in the words of its scenario; [`Axis`](crate::Axis) says along which axis it lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisWords {
    /// `queue_depth`, `block_size`, …
    pub name: String,
    /// Value as text.
    pub value: String,
    /// `B`, or empty.
    pub unit: String,
}

/// A combination left out before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Name of the target.
    pub target: String,
    /// Engine that is not available.
    pub engine: String,
    /// Why.
    pub reason: String,
}

/// How it was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// Time before the window opens.
    pub warmup_ns: u64,
    /// Planned length of the window; absent when bytes or epochs end it.
    pub duration_ns: Option<u64>,
    /// Steps of each accelerator, where those end a training cell. Absent before format 1.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Passes over the data that end a window. Absent where something else does, and before format 1.5, as is the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u64>,
    /// Bytes that end a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Repetitions of each cell, and rounds of fresh repetitions before the first look at them.
    pub repetitions: u32,
    /// Most rounds of fresh repetitions. Absent before format 1.6, when they were as many as the repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    // Absent is not zero: before format 1.6 there was one block of fresh repetitions, as many as the
    // others.
    pub fresh_rounds: Option<u32>,
    /// Cap on the run.
    pub budget_ns: Option<u64>,
    /// Seed of orders.
    pub seed: u64,
}

/// What decides the exit code.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Targets that must FEED.
    pub feeds: Vec<String>,
    /// Largest 99th percentile of latency.
    pub p99_ns: Option<u64>,
    /// Share of the demand that the gated targets must reach, where that is not the need's. Absent before format 1.4, as
    /// are all below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Queue depth whose cells are held against `p99_ns`; the chosen cells where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_depth: Option<u32>,
    /// How much worse than before a metric may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regression: Vec<Margin>,
    /// Name of the runs that are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Fewest comparable runs of a baseline; the default of the version that reads where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// What may differ between the runs of a baseline: `host`, `kernel`, `driver`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_differ: Vec<String>,
    /// What a FEEDS must rest on: `screen`, `proof`; empty is a screen. Absent before format 1.6, as is the next.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    // Empty and not "screen": records of before asked for nothing, which is what a screen is.
    pub evidence: String,
    /// What a proof takes, where one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// What a proof takes: runs on all hosts, spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Fewest runs.
    pub runs: u32,
    /// Shortest time from the start of the first to the end of the last.
    pub span_ns: u64,
}

/// How much worse a metric may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Margin {
    /// `throughput`, `p50`, `p99`, `au`, `cpu`.
    pub metric: String,
    /// Share of the value before, above 0.
    pub share: f64,
}

/// A line of `segments.jsonl`: one time at which a run was gone on with, by a process of its own. The first is `run.json` and `env.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// When, RFC 3339 UTC.
    pub started: String,
    /// The same on the run's clock, which stands still between two segments, nanoseconds.
    pub at_ns: u64,
    /// Command line, redacted.
    pub command: Vec<String>,
    /// The machine as it was then.
    pub env: Environment,
    /// What went on with it; absent before format 1.16, when no other could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
}

impl Segment {
    /// What is another than when `run` began on `env`, in the order of [`Elsewhere`]; empty where all is as it was.
    pub fn elsewhere(&self, run: &Run, env: &Environment) -> Vec<Elsewhere> {
        let machine =
            |env: &Environment| (env.machine.clone(), env.cpu_model.clone(), env.memory_bytes.clone());
        // A container with fewer cores is another client, and its ceiling another one.
        let limits = |env: &Environment| {
            (env.cores_usable.clone(), env.cgroup_cpu_cores.clone(), env.cgroup_memory_bytes.clone())
        };
        let differs = [
            (Elsewhere::Tool, self.tool.as_ref().is_some_and(|tool| *tool != run.tool)),
            (Elsewhere::Machine, machine(&self.env) != machine(env)),
            (Elsewhere::Limits, limits(&self.env) != limits(env)),
            (Elsewhere::Kernel, self.env.kernel != env.kernel),
        ];
        differs.into_iter().filter_map(|(what, differs)| differs.then_some(what)).collect()
    }
}

/// What measures a run, and is another where the run was gone on with elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Elsewhere {
    /// Version, commit or profile of feedline.
    Tool,
    /// The machine: its name, its processors, its memory.
    Machine,
    /// Processors and memory that the process may use.
    Limits,
    /// The kernel.
    Kernel,
}

feed::words!(Elsewhere {
    Tool = "feedline itself",
    Machine = "the machine",
    Limits = "what this process may use of it",
    Kernel = "the kernel",
});

/// Characters of the scenario's name in a run's name.
// A folder is named after it, and 255 bytes are what file systems allow for the name and what tools put
// behind it.
const RUN_ID_NAME_CHARS: usize = 40;

/// The name of a run and of its directory: start, scenario, four random hex digits. `20261121T044123Z-quickstart-3f9a`
/// sorts by time and is a plain file name whatever the scenario is called.
pub fn run_id(started_rfc3339: &str, scenario: &str, random: u16) -> String {
    // Seconds and no fractions, so that names sort as their times do, whatever the clock's digits.
    let seconds = started_rfc3339.split(['.', 'Z', 'z', '+']).next().unwrap_or_default();
    let time: String = seconds.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect();
    format!("{time}Z-{}-{random:04x}", plain_name(scenario))
}

/// A name as a part of a file's name: letters, digits, `_` and single `-`; `run` when nothing is left.
// A scenario's file may have any name that its system allows, a slash of another system included.
pub fn plain_name(name: &str) -> String {
    let mapped: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let parts: Vec<&str> = mapped.split('-').filter(|part| !part.is_empty()).collect();
    let short: String = parts.join("-").chars().take(RUN_ID_NAME_CHARS).collect();
    let short = short.trim_end_matches('-');
    if short.is_empty() { "run".to_owned() } else { short.to_owned() }
}

/// Options that change how a run is shown, and not what is run.
// `resume` and baselines compare commands, and a run that was shown quietly is the same run.
const DISPLAY_OPTIONS: [&str; 5] = ["--no-progress", "--quiet", "-q", "--full", "--json"];

/// The words of a command that say what is run; those that say how it is shown are left out.
pub fn asked(command: &[String]) -> impl Iterator<Item = &str> {
    command.iter().map(String::as_str).filter(|word| !DISPLAY_OPTIONS.contains(word))
}

/// A command as it is typed.
pub fn typed(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    words.into_iter().map(|word| feed::typed_word(word.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_sorts_by_time_and_is_a_plain_file_name() {
        assert_eq!(run_id("2026-11-21T04:41:23Z", "quickstart", 0x3f9a), "20261121T044123Z-quickstart-3f9a");
        assert_eq!(run_id("2026-11-21T04:41:23.5Z", "../a b/ü", 7), "20261121T044123Z-a-b-0007");
        assert_eq!(run_id("2026-11-21T04:41:23+00:00", "…", 0), "20261121T044123Z-run-0000");
        assert!(run_id("2026-11-21T04:41:23Z", &"x-".repeat(300), 0).len() < 64);
    }

    #[test]
    fn a_command_can_be_typed_as_it_is_printed() {
        assert_eq!(
            typed(["feedline", "run", "a b.toml", "--set", "load.queue_depth=[1, 4]", "it's", ""]),
            "feedline run 'a b.toml' --set 'load.queue_depth=[1, 4]' 'it'\\''s' ''"
        );
    }

    #[test]
    fn what_is_asked_leaves_out_how_it_is_shown() {
        let command = ["feedline", "run", "-q", "a.toml", "--json"].map(str::to_owned);
        assert_eq!(asked(&command).collect::<Vec<_>>(), ["feedline", "run", "a.toml"]);
    }
}
