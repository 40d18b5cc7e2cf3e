//! Keys whose value is one of a few words.

use std::borrow::Cow;

use feed::{Access, CheckpointModel, Hold, SaveKind, Scope};
use plan::{
    Addresses, Advice, BucketStyle, Cache, CellOrder, Codec, Durability, Engine, Layout, MayDiffer, Numa,
    OnUnavailable, Operation, Pages, Registered, TierPolicy, Work,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Plain, Written, closest, wrong_type};

/// A type whose values are words, each with what it means.
// The meaning stands beside the word because the schema's hover text and the reference of the book are made
// from it: a word without a meaning cannot be added.
pub(crate) trait Vocabulary: Clone + 'static {
    /// Word, value, meaning.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

/// What each value means; its word is the one that plans and records have for it, or stands here.
macro_rules! vocabulary {
    ($type:ident { $($value:ident = $meaning:literal),+ $(,)? }) => {
        impl Vocabulary for $type {
            const WORDS: &'static [(&'static str, Self, &'static str)] =
                &[$((Self::$value.name(), Self::$value, $meaning)),+];
        }
    };
    ($type:ident { $($value:ident: $word:literal = $meaning:literal),+ $(,)? }) => {
        impl Vocabulary for $type {
            const WORDS: &'static [(&'static str, Self, &'static str)] =
                &[$(($word, Self::$value, $meaning)),+];
        }
    };
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
            // A near word is suggested and never taken: two words of one key may be a letter apart.
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
        // Editors show the name of a definition; the Rust type's own is as good as any, and unique among
        // them.
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

// Closed is the default since a capacity is what most ask for first, and it needs no rate to be right.
vocabulary!(Mode {
    Closed: "closed" = "A read is issued as soon as one has ended: the depth is kept full.",
    Paced: "paced" = "Each read has its time, whatever became of those before it: an open loop at `rate`. Its response time \
        counts from that time, so what waits for a free slot is seen.",
    Training: "training" = "Samples are read as a training job wants them: batch by batch, in time for each step of its accelerators, \
        which are played (table `training`). What is measured is their utilization. Beside it, the same reads are \
        measured as a closed loop.",
});

/// How the arrivals of an open loop are spread; the samples of a step are another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Arrival {
    #[default]
    Constant,
    Poisson,
    Batch,
}

vocabulary!(Arrival {
    Constant: "constant" = "At equal distances.",
    Poisson: "poisson" = "Independently of each other (exponential distances, seeded).",
    Batch: "batch" = "A training step at a time: all samples of a batch are wanted at once.",
});

/// How the sizes of files spread; the standard deviation is another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Sizes {
    #[default]
    Fixed,
    LogNormal,
}

vocabulary!(Sizes {
    Fixed: "fixed" = "All files have the sample size.",
    LogNormal: "lognormal" = "Sizes spread as those of images do: the sample size is their mean, \
        `sample_size_stdev` their spread.",
});

vocabulary!(SaveKind {
    Sync = "Accelerators stand still until the checkpoint is whole.",
    Async = "Accelerators stand still while they copy their state; it is written beside the steps that follow. One that \
        is due while the one before it is still being written is left out and counted.",
});

impl Vocabulary for CheckpointModel {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("llama3-8b", Self::ALL[0], "105 GiB over 8 processes."),
        ("llama3-70b", Self::ALL[1], "911 GiB over 64 processes."),
        ("llama3-405b", Self::ALL[2], "5,288 GiB over 512 processes, of which 256 write weights."),
        ("llama3-1t", Self::ALL[3], "17,997 GiB over 1,024 processes, of which 512 write weights."),
    ];
}

/// Where the files that are read come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
// Writing is the default: data of the user's may be anything, and only what feedline wrote can be verified
// byte by byte.
pub(crate) enum Origin {
    #[default]
    Generate,
    Existing,
}

vocabulary!(Origin {
    Generate: "generate" = "feedline writes incompressible files into a folder marked as its own.",
    Existing: "existing" = "What is at each target's path already: files, or a block device. Nothing \
        is written there.",
});

vocabulary!(Layout {
    Files = "Each sample is a file.",
    WebDataset = "tar shards with `members` files for each sample, as WebDataset reads them.",
    TfRecord = "Length-prefixed records with checksums, as TensorFlow's TFRecord.",
    Records = "Records of one size behind a header: `.npy`, as NumPy maps it into memory.",
    Indexed = "Page-aligned records behind a table of their places.",
    Parquet = "Row groups of column chunks, found by a footer.",
    Zarr = "Chunks of one array, each a file, as Zarr version 3 keeps it; a chunk takes `shard_size`.",
    Ffcv = "FFCV's `.beton`, whose samples are found by its own table; with `source = \"existing\"` alone.",
    Hdf5 = "HDF5: one dataset of a file, a sample a chunk, as h5py writes it; with `source = \"existing\"` a dataset of each file, \
            by its chunks or by its first axis.",
});

vocabulary!(Codec {
    None = "Not compressed.",
    Gzip = "The whole shard is one gzip stream; of hdf5 each chunk is packed by itself.",
    Zstd = "The whole shard is one Zstandard frame.",
});

// No word for the null engine: `at = "null:"` chooses it, and it serves nothing else.
vocabulary!(Engine {
    IoUring = "Linux io_uring, one ring per thread.",
    Pread = "One blocking call at a time per thread: the queue depth is the threads.",
    Mmap =
        "A memory map, from which each read is copied; the queue depth is the threads. Always through the page \
        cache, and only `operation = \"read\"`.",
    Nfs3 = "NFS version 3 over connections of feedline's own, without a mount (nfs://).",
    Lean = "Objects over connections of feedline's own, with the least processor time (s3://, az://).",
    Sdk = "S3 by the AWS SDK for Rust: what an application that uses it gets (s3://).",
});

vocabulary!(Advice {
    Normal = "None: the kernel reads ahead of every fault.",
    Random = "MADV_RANDOM: a fault reads its own page and nothing else.",
    Sequential = "MADV_SEQUENTIAL: the kernel reads far ahead.",
    WillNeed = "MADV_RANDOM for the mapping, and MADV_WILLNEED for each block just before it is copied.",
});

/// Advice on an open file: its words mean another thing than those of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileAdvice(Advice);

// No `willneed`: of a whole file it is one read of all of it, which `load.cache = "warm"` makes and proves.
impl Vocabulary for FileAdvice {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("normal", Self(Advice::Normal), "None: the kernel reads ahead where reads follow each other."),
        (
            "random",
            Self(Advice::Random),
            "POSIX_FADV_RANDOM: the kernel reads what is asked and nothing else.",
        ),
        (
            "sequential",
            Self(Advice::Sequential),
            "POSIX_FADV_SEQUENTIAL: the kernel reads ahead twice as far.",
        ),
    ];
}

impl Plain<Advice> for Word<FileAdvice> {
    fn plain(&self) -> Advice {
        self.0.0
    }
}

// Copies, checkpoints and restores have tables of their own, which say where to and how much.
vocabulary!(Operation {
    Read = "Blocks are read from files that stay open.",
    ReadFile =
        "A whole file is opened, looked at (fstat), read in blocks and closed: a sample as a DataLoader fetches \
        it. On s3:// and az://, an object is fetched whole, in parts where `part_size` says so. The queue depth is files under \
        way. Not with mmap.",
    Stat = "A file is looked at by its name (s3://, az://: HEAD); no bytes are read, so there is no verdict. Not \
        with mmap.",
    List =
        "A folder is read entry by entry (s3://, az://: what lies below its prefix is listed); no bytes of files are read, so \
        there is no verdict. Not with io_uring and mmap.",
    GetAttr =
        "The attributes of a file whose handle is known: what NFS clients ask again and again. No bytes are read, \
        so there is no verdict. Only with nfs3.",
    Write =
        "Blocks of files of feedline's own are written over, with bytes unlike any before, and some are read again. Only with \
        io_uring, pread and nfs3.",
    Mix =
        "Some operations write over blocks of such files, as `load.mix` says, and the others read them, both at once and past the \
        page cache. What is read is not compared. Only with io_uring, pread and nfs3.",
    WriteFile =
        "A whole file of feedline's own is written anew, in blocks, with bytes unlike any before, and some are read again: under a name \
        of its own, written back as `load.durability` says, and renamed over the one that was there. On s3:// and az://, an object \
        is put whole by one request. The queue depth is files under way. Not with io_uring and mmap.",
    Names =
        "An empty file is made in a folder of feedline's own, given another name, and removed: each has a histogram. No bytes move, so \
        there is no verdict. Only with pread and nfs3.",
});

// None stands first, as the weakest; the default is what a careful person would ask.
vocabulary!(Durability {
    None = "Nothing: the storage may hold the bytes in memory alone. By direct I/O or nfs:// only, as the page cache would take them.",
    Data =
        "The bytes are kept, and what is needed to find them (O_DSYNC; DATA_SYNC of NFS; of a whole file, fdatasync, and \
        fsync of its folder once it is renamed; COMMIT of NFS).",
    Full =
        "The bytes are kept, and all that is known of the file (O_SYNC; FILE_SYNC of NFS, also of each piece of a whole file; \
        elsewhere of a whole file, fsync in place of fdatasync).",
});

vocabulary!(Work {
    Checksum: "checksum" = "A CRC-32 over the bytes that were read.",
    Copy: "copy" =
        "A copy of the bytes that were read into the batch, as a loader makes it that decodes nothing.",
    Gzip: "gzip" = "Decompression of a gzip member.",
    Zstd: "zstd" = "Decompression of a Zstandard frame.",
    Jpeg: "jpeg" = "A baseline or progressive JPEG to pixels.",
    Png: "png" = "A PNG to pixels, its checksums verified.",
});

vocabulary!(Registered {
    Auto = "Register buffers and files where the limits allow it.",
    Required = "Fail when anything could not be registered.",
    Off = "Do not register.",
});

// Only engines that serve a path, since io_uring alone can be missing from a machine.
impl Vocabulary for OnUnavailable {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("fail", Self::Fail, "The run ends with an error that names the limit."),
        ("skip", Self::Skip, "The engine's cells are left out, and the record says so."),
        ("io_uring", Self::Use(Engine::IoUring), "io_uring takes its place, in cells that say so."),
        ("pread", Self::Use(Engine::Pread), "pread takes its place, in cells that say so."),
    ];
}

vocabulary!(Addresses {
    First = "The first of the name's addresses that can be connected to.",
    All = "All of the name's addresses, in turn.",
});

vocabulary!(BucketStyle {
    Auto = "In the host for AWS, in the path for an endpoint of the user's and for names that are no \
        host names.",
    Path = "In the path: https://endpoint/bucket/key.",
    Virtual = "In the host: https://bucket.endpoint/key.",
});

vocabulary!(Access {
    Sequential = "Files or shards in order, blocks in order, again and again.",
    Random = "Any block of the dataset at each step, with replacement.",
    ShuffledEpoch = "Every sample once per epoch, in an order drawn anew each epoch.",
    ShuffledShards =
        "Every shard once per epoch, in an order drawn anew, several side by side, each from its beginning to \
        its end.",
    ResampledShards = "As `shuffled_shards`, but each stream draws its next shard with replacement.",
    Neighbours = "Runs of samples that follow each other, each run once per epoch, in an order drawn anew.",
    List = "The user's files that `dataset.order` names, in its order, again and again.",
});

// Cold stands first: it is what the first look of a job at its data meets, and the one that can be proven.
vocabulary!(Cache {
    Cold = "Evicted before each repetition, proven so, and no byte read twice.",
    Warm = "Read in full before each repetition, proven resident.",
    Bypass = "Direct I/O, or connections of feedline's own: the page cache takes no part.",
    ColdStart =
        "Evicted before each repetition and proven so; what is read again may come from memory, as in the later \
        epochs of a job.",
    DontCache =
        "Evicted before each repetition, and read through the page cache, which drops each page at once \
        (RWF_DONTCACHE; Linux 6.14 and a file system that has it).",
});

vocabulary!(Numa {
    Any = "Where the kernel lets them run.",
    Device =
        "On processors of the NUMA node that the target's block device or the network interface towards it is at, with their \
        memory; a run fails where that is not known.",
});

vocabulary!(Pages {
    Base = "Pages of the kernel's own size (4 KiB on most machines), as a loader has them.",
    Huge = "Transparent huge pages alone (2 MiB); a run fails where the kernel does not give them.",
});

/// What makes room in a cache tier, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
// `none` is a word of the list and no absence: with and without the cache are then cells of one run.
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

vocabulary!(TierWord {
    None: "none" = "No cache: every read goes to the target.",
    Lru: "lru" = "The block that was read longest ago makes room.",
    Random: "random" = "Any block makes room, with equal probability.",
});

vocabulary!(CellOrder {
    Random: "random" = "A new seeded random order each round, so that drift hits all cells alike.",
    File: "file" = "The order of the file.",
});

/// What a FEEDS must rest on; what a proof takes is another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
// Apart from `plan::Evidence`, which carries the runs and the span of a proof: these are another key.
pub(crate) enum Grade {
    Screen,
    Proof,
}

vocabulary!(Grade {
    Screen: "screen" = "One run; what it leaves open is listed.",
    Proof: "proof" = "Several runs on all hosts, spread over time, as `proof` states; a screen fails \
        the gate.",
});

vocabulary!(Hold {
    Samples = "Samples per second stay: smaller samples draw the line at fewer bytes per second.",
    Bytes = "Bytes per second stay: smaller samples draw the line at more samples per second.",
});

vocabulary!(Scope {
    Cluster = "All hosts of the need: fewer hosts than those are not said to feed it.",
    Host = "The host that measures, with its share of the accelerators.",
});

vocabulary!(MayDiffer {
    Host = "The machine that measures: its processor, memory and identity.",
    Kernel = "The release of its kernel.",
    Driver = "The driver and the firmware of the device.",
});
