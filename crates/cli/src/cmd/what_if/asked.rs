//! The questions of `feedline what-if`, with the figures that they take.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use feed::{parse_bytes, parse_duration_ns, parse_percent};

/// Where figures come from, and where the scenario goes that would measure them.
#[derive(Debug, Args)]
pub(crate) struct Around {
    /// Folder of a run whose record gives the figures that are not stated; a rate may then also be the name of one of its
    /// targets or cells
    #[arg(long, value_name = "RUN")]
    pub(crate) from: Option<PathBuf>,
    /// Write the scenario that would measure it to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,
}

/// What is asked.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Does it pay to copy the dataset nearer before the job? (F42)
    Copy(CopyAsked),
    /// What does a cache before the storage give to later epochs? (F44, F45)
    Cache(CacheAsked),
    /// What do checkpoints cost? (F46 to F50)
    Checkpoint(CheckpointAsked),
    /// How many readers keep the accelerators busy? (F25, F26, F37, F38)
    Readers(ReadersAsked),
    /// What does a loader hold in memory? (F28 to F32, F39)
    Memory(MemoryAsked),
    /// Does it pay to store the samples compressed? (F41)
    Codec(CodecAsked),
    /// How many shards, of how many samples, and what do they gain? (F18, F33 to F35)
    Shards(ShardsAsked),
    /// What does it cost to start readers anew for each epoch? (F43)
    Start(StartAsked),
    /// What do batches take on the link to the accelerator? (F36)
    Transfer(TransferAsked),
    /// What do accelerators cost that wait? (F51, F52)
    Idle(IdleAsked),
}

#[derive(Debug, Args)]
pub(crate) struct CopyAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    /// Size of the dataset
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) dataset: Option<f64>,
    /// Rate at which a job reads it where it lies
    #[arg(long, value_name = "RATE")]
    pub(crate) source: Option<String>,
    /// Rate at which it is copied
    #[arg(long, value_name = "RATE")]
    pub(crate) copying: Option<String>,
    /// Rate at which a job reads the copy
    #[arg(long, value_name = "RATE")]
    pub(crate) copy: Option<String>,
    /// What the accelerators need, e.g. 8xh100:resnet50: no epoch is shorter than they take
    #[arg(long)]
    pub(crate) need: Option<String>,
    /// Epochs of the job
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epochs: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct CacheAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    /// Size of the dataset
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) dataset: Option<f64>,
    /// Size of the cache
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) cache: f64,
    /// Rate of the storage
    #[arg(long, value_name = "RATE")]
    pub(crate) source: Option<String>,
    /// Rate of the cache
    #[arg(long, value_name = "RATE")]
    pub(crate) cached: Option<String>,
    /// Order of the reads
    #[arg(long, value_enum, default_value_t = OrderAsked::New)]
    pub(crate) order: OrderAsked,
    /// What a full cache drops
    #[arg(long, value_enum, default_value_t = PolicyAsked::Lru)]
    pub(crate) policy: PolicyAsked,
    /// What the accelerators need, e.g. 8xh100:resnet50: no epoch is shorter than they take
    #[arg(long)]
    pub(crate) need: Option<String>,
    /// Epochs of the job
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epochs: Option<u32>,
}

/// Order of the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderAsked {
    /// A new one each epoch
    New,
    /// One for all epochs
    Same,
    /// Drawn with replacement
    Drawn,
}

/// What makes room in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyAsked {
    /// What was read longest ago
    Lru,
    /// Anything, with equal probability
    Random,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    /// Size of one checkpoint
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "parameters")]
    pub(crate) size: Option<f64>,
    /// Parameters of the model, e.g. 70e9
    #[arg(long, value_name = "NUMBER")]
    pub(crate) parameters: Option<f64>,
    /// Bytes that are kept of each parameter: 2 of bf16 weights, 16 with gradients and the moments of Adam
    #[arg(long, value_name = "NUMBER", default_value_t = 16.0, conflicts_with = "size")]
    pub(crate) bytes_each: f64,
    /// Rate at which it is written
    #[arg(long, value_name = "RATE")]
    pub(crate) write: Option<String>,
    /// Time from the beginning of one to that of the next
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) every: f64,
    /// Links over which accelerators copy their state side by side and go on; without it they stand still until all is
    /// written
    #[arg(long, value_name = "NUMBER", requires = "link", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) links: Option<u32>,
    /// Rate of each of these links
    #[arg(long, value_name = "RATE", requires = "links", value_parser = rate)]
    pub(crate) link: Option<f64>,
    /// Accelerators of the job
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) accelerators: Option<u32>,
    /// Price of an hour of one accelerator, in your currency
    #[arg(long, value_name = "NUMBER")]
    pub(crate) price: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct JobAsked {
    /// What the accelerators need, e.g. 8xh100:resnet50, in place of the next three
    #[arg(long, conflicts_with_all = ["accelerators", "batch", "step"])]
    pub(crate) need: Option<String>,
    /// Accelerators on this host
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) accelerators: Option<u32>,
    /// Samples that one of them takes in one step
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: Option<u32>,
    /// Time that one step computes
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) step: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct ReadersAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    #[command(flatten)]
    pub(crate) job: JobAsked,
    /// Time of one read of a sample, whatever else is read; without it the closed loops of the record say what readers get
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) read: Option<f64>,
    /// With --from, the target or cell that is read
    #[arg(long, value_name = "NAME", conflicts_with = "read")]
    pub(crate) source: Option<String>,
    /// Time of decoding one sample, on one core
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) decode: Option<f64>,
    /// Batches that each reader fetches ahead
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) prefetch: u32,
    /// Cores of this host: what they decode, and what rules of thumb say
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Share of the time that accelerators shall compute [default: that of the need, else 90 %]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) busy: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct MemoryAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    #[command(flatten)]
    pub(crate) job: JobAsked,
    /// Readers of each accelerator
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) readers: Option<u32>,
    /// Batches that each reader fetches ahead [default: what the job of --from has ahead, else 2]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) prefetch: Option<u32>,
    /// Size of a decoded sample in memory: 602112 B of an image of 3 x 224 x 224 floats
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) decoded: f64,
    /// Samples of the shuffle buffer of each reader
    #[arg(long, value_name = "NUMBER", requires = "sample")]
    pub(crate) shuffle: Option<f64>,
    /// Size of a stored sample
    #[arg(long, value_name = "SIZE", requires = "shuffle", value_parser = size)]
    pub(crate) sample: Option<f64>,
    /// Samples of an index that is held in memory
    #[arg(long, value_name = "NUMBER", requires = "entry")]
    pub(crate) index: Option<f64>,
    /// Size of an entry of it
    #[arg(long, value_name = "SIZE", requires = "index", value_parser = size)]
    pub(crate) entry: Option<f64>,
    /// Memory of each reader's process beside all that
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) reader_memory: Option<f64>,
    /// Memory of this host
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct CodecAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    /// Rate of the storage, or of the link to it
    #[arg(long, value_name = "RATE")]
    pub(crate) source: Option<String>,
    /// Bytes of the samples by those that are stored, e.g. 5
    #[arg(long, value_name = "NUMBER")]
    pub(crate) ratio: f64,
    /// Readers that unpack
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) readers: u32,
    /// Rate of samples that one of them unpacks
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) unpack: f64,
}

#[derive(Debug, Args)]
pub(crate) struct ShardsAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    /// Size of the dataset
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) dataset: Option<f64>,
    /// Size of one sample
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) sample: Option<f64>,
    /// Size of one shard
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) shard: f64,
    /// Processes that share the shards
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks: u32,
    /// Time to the first byte of a file
    #[arg(long, value_name = "DURATION", requires = "stream", value_parser = duration)]
    pub(crate) first_byte: Option<f64>,
    /// Rate of one stream from then on
    #[arg(long, value_name = "RATE", requires = "first_byte", value_parser = rate)]
    pub(crate) stream: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct StartAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    /// Time until the readers of an epoch fetch
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) start: f64,
    /// Time of an epoch without that
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) epoch: Option<f64>,
    /// Epochs of the job
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epochs: u32,
}

#[derive(Debug, Args)]
pub(crate) struct TransferAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    #[command(flatten)]
    pub(crate) job: JobAsked,
    /// Size of a decoded sample: 602112 B of an image of 3 x 224 x 224 floats
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) decoded: f64,
    /// Rate of copies from pageable memory
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) pageable: f64,
    /// Rate of copies from pinned memory
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) pinned: f64,
}

#[derive(Debug, Args)]
pub(crate) struct IdleAsked {
    #[command(flatten)]
    pub(crate) around: Around,
    /// Accelerators
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) accelerators: Option<u32>,
    /// Share of the time that they compute
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) busy: Option<f64>,
    /// Share of the time that they could compute
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) reachable: Option<f64>,
    /// For how long
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "720h")]
    pub(crate) over: f64,
    /// Price of an hour of one accelerator, in your currency
    #[arg(long, value_name = "NUMBER")]
    pub(crate) price: Option<f64>,
}

/// Bytes.
fn size(text: &str) -> Result<f64, String> {
    parse_bytes(text).map(|bytes| bytes as f64).map_err(|error| error.to_string())
}

/// Bytes per second.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    feed::parse_rate_bps(text).map_err(|error| error.to_string())
}

/// Seconds.
fn duration(text: &str) -> Result<f64, String> {
    parse_duration_ns(text).map(|ns| ns as f64 / 1e9).map_err(|error| error.to_string())
}

/// A share of one: `0.9` or `90 %`.
fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) => Ok(share),
        Err(_) => parse_percent(text).map_err(|error| error.to_string()),
    }
}
