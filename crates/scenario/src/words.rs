//! Keys whose value is one of a few words.

use std::borrow::Cow;

use feed::{Access, Hold, Scope};
use plan::{
    Addresses, Advice, BucketStyle, Cache, CellOrder, Codec, Engine, Layout, MayDiffer, OnUnavailable,
    Operation, Pages, Registered, TierPolicy, Work,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Plain, Written, closest, wrong_type};

/// A type whose values are words, each with what it means.
pub(crate) trait Vocabulary: Clone + 'static {
    /// Word, value, meaning.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

/// One of the words of `T`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Word<T>(pub(crate) T);

impl<T: Vocabulary> Written for Word<T> {
    fn expected() -> String {
        let words: Vec<_> = T::WORDS.iter().map(|(word, ..)| format!("\"{word}\"")).collect();
        match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => words.concat(),
        }
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &node.value else {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        };
        let found = T::WORDS.iter().find(|(word, ..)| word == text);
        if found.is_none() {
            let label = match closest(text, T::WORDS.iter().map(|(word, ..)| *word)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "not one of its words".to_owned(),
            };
            let message = format!("`{path}` takes {}", Self::expected());
            problems.push(Problem::new(message).at(node.span, label));
        }
        found.map(|(_, value, _)| Self(value.clone()))
    }
}

impl<T: Vocabulary> Plain<T> for Word<T> {
    fn plain(&self) -> T {
        self.0.clone()
    }
}

impl<T: Vocabulary> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<T>().rsplit("::").next().unwrap_or_default().to_lowercase().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = T::WORDS
            .iter()
            .map(|(word, _, meaning)| serde_json::json!({ "const": word, "description": meaning }))
            .collect();
        json_schema!({ "oneOf": words })
    }
}

/// How operations are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    #[default]
    Closed,
    Paced,
    Training,
}

impl Vocabulary for Mode {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("closed", Self::Closed, "A read is issued as soon as one has ended: the depth is kept full."),
        (
            "paced",
            Self::Paced,
            "Each read has its time, whatever became of those before it: an open loop at `rate`. Its response time \
             counts from that time, so what waits for a free slot is seen.",
        ),
        (
            "training",
            Self::Training,
            "Samples are read as a training job wants them: batch by batch, in time for each step of its accelerators, \
             which are played (table `training`). What is measured is their utilization. Beside it, the same reads are \
             measured as a closed loop.",
        ),
    ];
}

/// How the arrivals of an open loop are spread; the samples of a step are another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Arrival {
    #[default]
    Constant,
    Poisson,
    Batch,
}

impl Vocabulary for Arrival {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("constant", Self::Constant, "At equal distances."),
        ("poisson", Self::Poisson, "Independently of each other (exponential distances, seeded)."),
        ("batch", Self::Batch, "A training step at a time: all samples of a batch are wanted at once."),
    ];
}

/// How the sizes of files spread; the standard deviation is another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Sizes {
    #[default]
    Fixed,
    LogNormal,
}

impl Vocabulary for Sizes {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("fixed", Self::Fixed, "All files have the sample size."),
        (
            "lognormal",
            Self::LogNormal,
            "Sizes spread as those of images do: the sample size is their mean, `sample_size_stdev` their spread.",
        ),
    ];
}

/// Who waits for a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SavingMode {
    Sync,
    Async,
}

impl Vocabulary for SavingMode {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("sync", Self::Sync, "Accelerators stand still until the checkpoint is whole."),
        (
            "async",
            Self::Async,
            "Accelerators stand still while they copy their state; it is written beside the steps that follow. One that \
             is due while the one before it is still being written is left out and counted.",
        ),
    ];
}

/// A model whose checkpoint is written: parameters in 16 bits, and the state of its optimizer in 32.
///
/// Sizes and processes as MLPerf Storage's checkpointing workloads have them (`configs/dlio/workload/llama3_*.yaml`): there
/// they are labelled GB, and count in units of 2^30.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// Weights, GiB.
    pub(crate) weights_gib: u64,
    /// State of the optimizer, GiB.
    pub(crate) optimizer_gib: u64,
    /// Processes that share them.
    pub(crate) processes: u32,
}

impl Model {
    const fn new(name: &'static str, (weights_gib, optimizer_gib): (u64, u64), processes: u32) -> Self {
        Self { name, weights_gib, optimizer_gib, processes }
    }
}

impl Vocabulary for Model {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("llama3-8b", Self::new("llama3-8b", (15, 90), 8), "105 GiB over 8 processes."),
        ("llama3-70b", Self::new("llama3-70b", (130, 781), 64), "911 GiB over 64 processes."),
        ("llama3-405b", Self::new("llama3-405b", (755, 4533), 512), "5,288 GiB over 512 processes."),
        ("llama3-1t", Self::new("llama3-1t", (2571, 15_426), 1024), "17,997 GiB over 1,024 processes."),
    ];
}

/// Where the files that are read come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    #[default]
    Generate,
    Existing,
}

impl Vocabulary for Origin {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("generate", Self::Generate, "feedline writes incompressible files into a folder marked as its own."),
        (
            "existing",
            Self::Existing,
            "What is at each target's path already: files, or a block device. Nothing is written there.",
        ),
    ];
}

impl Vocabulary for Layout {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("files", Self::Files, "Each sample is a file."),
        (
            "webdataset",
            Self::WebDataset,
            "tar shards with `members` files for each sample, as WebDataset reads them.",
        ),
        ("tfrecord", Self::TfRecord, "Length-prefixed records with checksums, as TensorFlow's TFRecord."),
        (
            "records",
            Self::Records,
            "Records of one size behind a header: `.npy`, as NumPy maps it into memory.",
        ),
        ("indexed", Self::Indexed, "Page-aligned records behind a table of their places."),
        ("parquet", Self::Parquet, "Row groups of column chunks, found by a footer."),
        (
            "zarr",
            Self::Zarr,
            "Chunks of one array, each a file, as Zarr version 3 keeps it; a chunk takes `shard_size`.",
        ),
    ];
}

impl Vocabulary for Codec {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("none", Self::None, "Not compressed."),
        ("gzip", Self::Gzip, "The whole shard is one gzip stream."),
        ("zstd", Self::Zstd, "The whole shard is one Zstandard frame."),
    ];
}

impl Vocabulary for Engine {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("io_uring", Self::IoUring, "Linux io_uring, one ring per thread."),
        ("pread", Self::Pread, "One blocking call at a time per thread: the queue depth is the threads."),
        (
            "mmap",
            Self::Mmap,
            "A memory map, from which each read is copied; the queue depth is the threads. Always through the page \
             cache, and only `operation = \"read\"`.",
        ),
        ("nfs3", Self::Nfs3, "NFS version 3 over connections of feedline's own, without a mount (nfs://)."),
        ("lean", Self::Lean, "S3 over connections of feedline's own, with the least processor time (s3://)."),
        ("sdk", Self::Sdk, "S3 by the AWS SDK for Rust: what an application that uses it gets (s3://)."),
    ];
}

impl Vocabulary for Advice {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("normal", Self::Normal, "None: the kernel reads ahead of every fault."),
        ("random", Self::Random, "MADV_RANDOM: a fault reads its own page and nothing else."),
        ("sequential", Self::Sequential, "MADV_SEQUENTIAL: the kernel reads far ahead."),
        (
            "willneed",
            Self::WillNeed,
            "MADV_RANDOM for the mapping, and MADV_WILLNEED for each block just before it is copied.",
        ),
    ];
}

impl Vocabulary for Operation {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("read", Self::Read, "Blocks are read from files that stay open."),
        (
            "read_file",
            Self::ReadFile,
            "A whole file is opened, looked at (fstat), read in blocks and closed: a sample as a DataLoader fetches \
             it. On S3, an object is fetched whole, in parts where `part_size` says so. The queue depth is files under \
             way. Not with mmap.",
        ),
        (
            "stat",
            Self::Stat,
            "A file is looked at by its name (S3: HEAD); no bytes are read, so there is no verdict. Not with mmap.",
        ),
        (
            "list",
            Self::List,
            "A folder is read entry by entry (S3: what lies below its prefix is listed); no bytes of files are read, so \
             there is no verdict. Not with io_uring and mmap.",
        ),
        (
            "getattr",
            Self::GetAttr,
            "The attributes of a file whose handle is known: what NFS clients ask again and again. No bytes are read, \
             so there is no verdict. Only with nfs3.",
        ),
    ];
}

impl Vocabulary for Work {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("checksum", Self::Checksum, "A CRC-32 over the bytes that were read."),
        ("gzip", Self::Gzip, "Decompression of a gzip member."),
        ("zstd", Self::Zstd, "Decompression of a Zstandard frame."),
        ("jpeg", Self::Jpeg, "A baseline or progressive JPEG to pixels."),
    ];
}

impl Vocabulary for Registered {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("auto", Self::Auto, "Register buffers and files where the limits allow it."),
        ("required", Self::Required, "Fail when anything could not be registered."),
        ("off", Self::Off, "Do not register."),
    ];
}

impl Vocabulary for OnUnavailable {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("fail", Self::Fail, "The run ends with an error that names the limit."),
        ("skip", Self::Skip, "The engine's cells are left out, and the record says so."),
        ("io_uring", Self::Use(Engine::IoUring), "io_uring takes its place, in cells that say so."),
        ("pread", Self::Use(Engine::Pread), "pread takes its place, in cells that say so."),
    ];
}

impl Vocabulary for Addresses {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("first", Self::First, "The first of the name's addresses that can be connected to."),
        ("all", Self::All, "All of the name's addresses, in turn."),
    ];
}

impl Vocabulary for BucketStyle {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            "auto",
            Self::Auto,
            "In the host for AWS, in the path for an endpoint of the user's and for names that are no host names.",
        ),
        ("path", Self::Path, "In the path: https://endpoint/bucket/key."),
        ("virtual", Self::Virtual, "In the host: https://bucket.endpoint/key."),
    ];
}

impl Vocabulary for Access {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("sequential", Self::Sequential, "Files or shards in order, blocks in order, again and again."),
        ("random", Self::Random, "Any block of the dataset at each step, with replacement."),
        (
            "shuffled_epoch",
            Self::ShuffledEpoch,
            "Every sample once per epoch, in an order drawn anew each epoch.",
        ),
        (
            "shuffled_shards",
            Self::ShuffledShards,
            "Every shard once per epoch, in an order drawn anew, several side by side, each from its beginning to \
             its end.",
        ),
        (
            "resampled_shards",
            Self::ResampledShards,
            "As `shuffled_shards`, but each stream draws its next shard with replacement.",
        ),
        (
            "neighbours",
            Self::Neighbours,
            "Runs of samples that follow each other, each run once per epoch, in an order drawn anew.",
        ),
    ];
}

impl Vocabulary for Cache {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("cold", Self::Cold, "Evicted before each repetition, proven so, and no byte read twice."),
        ("warm", Self::Warm, "Read in full before each repetition, proven resident."),
        (
            "bypass",
            Self::Bypass,
            "Direct I/O, or connections of feedline's own: the page cache takes no part.",
        ),
        (
            "cold_start",
            Self::ColdStart,
            "Evicted before each repetition and proven so; what is read again may come from memory, as in the later \
             epochs of a job.",
        ),
        (
            "dontcache",
            Self::DontCache,
            "Evicted before each repetition, and read through the page cache, which drops each page at once \
             (RWF_DONTCACHE; Linux 6.14 and a file system that has it).",
        ),
    ];
}

impl Vocabulary for Pages {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            "base",
            Self::Base,
            "Pages of the kernel's own size (4 KiB on most machines), as a loader has them.",
        ),
        (
            "huge",
            Self::Huge,
            "Transparent huge pages alone (2 MiB); a run fails where the kernel does not give them.",
        ),
    ];
}

/// What makes room in a cache tier, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TierWord {
    None,
    Lru,
    Random,
}

impl TierWord {
    /// The policy; `None` where reads go straight.
    pub(crate) fn policy(self) -> Option<TierPolicy> {
        match self {
            Self::None => None,
            Self::Lru => Some(TierPolicy::Lru),
            Self::Random => Some(TierPolicy::Random),
        }
    }
}

impl Vocabulary for TierWord {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("none", Self::None, "No cache: every read goes to the target."),
        ("lru", Self::Lru, "The block that was read longest ago makes room."),
        ("random", Self::Random, "Any block makes room, with equal probability."),
    ];
}

impl Vocabulary for CellOrder {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("random", Self::Random, "A new seeded random order each round, so that drift hits all cells alike."),
        ("file", Self::File, "The order of the file."),
    ];
}

/// What a FEEDS must rest on; what a proof takes is another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grade {
    Screen,
    Proof,
}

impl Vocabulary for Grade {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("screen", Self::Screen, "One run; what it leaves open is listed."),
        (
            "proof",
            Self::Proof,
            "Several runs on all hosts, spread over time, as `proof` states; a screen fails the gate.",
        ),
    ];
}

impl Vocabulary for Hold {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            "samples",
            Self::Samples,
            "Samples per second stay: smaller samples draw the line at fewer bytes per second.",
        ),
        (
            "bytes",
            Self::Bytes,
            "Bytes per second stay: smaller samples draw the line at more samples per second.",
        ),
    ];
}

impl Vocabulary for Scope {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("cluster", Self::Cluster, "All hosts of the need: fewer hosts than those are not said to feed it."),
        ("host", Self::Host, "The host that measures, with its share of the accelerators."),
    ];
}

impl Vocabulary for MayDiffer {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("host", Self::Host, "The machine that measures: its processor, memory and identity."),
        ("kernel", Self::Kernel, "The release of its kernel."),
        ("driver", Self::Driver, "The driver and the firmware of the device."),
    ];
}
