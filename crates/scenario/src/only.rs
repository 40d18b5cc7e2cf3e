//! What keys are for: a key that means nothing beside the others would be ignored in silence, so it is refused.

use plan::Layout;

/// What a key is for, in its table's description. Of several the first that does not hold is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
// An enumeration and not a closure for each key: the same reason is then said in the same words, and a test
// can walk all of them.
pub(crate) enum Only {
    /// An open loop.
    Paced,
    /// An open loop, or a training job.
    Timed,
    /// A closed loop.
    ClosedLoop,
    /// A training job.
    Trained,
    /// A training job that makes checkpoints.
    SavedByJob,
    /// A training job, or a closed loop that is held against the loader of one.
    Loader,
    /// Operations that move bytes.
    Bytes,
    /// Operations that write over objects.
    Writes,
    /// Operations that read and write at once.
    Mixed,
    /// Operations that read whole objects.
    WholeObjects,
    /// Orders that stream shards.
    Streams,
    /// The order of runs of neighbours.
    Neighbours,
    /// The order of a list.
    Listed,
    /// Data that feedline writes.
    Generated,
    /// Data of the user's.
    Existing,
    /// Data in files, in place of a block device.
    Files,
    /// These layouts.
    Layouts(&'static [Layout]),
    /// Sizes that differ.
    Spread,
    /// A copy that packs samples.
    Packing,
    /// A copy that packs samples into one of these layouts.
    PackingInto(&'static [Layout]),
    /// Any storage.
    Somewhere,
    /// This machine's kernel, in what it does there.
    Kernel(&'static str),
    /// Storage behind connections of feedline's own.
    Network,
    /// Buckets.
    Bucket,
    /// Buckets and containers.
    Objects,
    /// Storages that feedline can play.
    Played,
    /// A server at the address, in place of one that feedline starts.
    RealServer,
    /// A server that may begin empty.
    Elsewhere,
    /// Memory maps.
    Maps,
    /// `io_uring`.
    Rings,
    /// A gate on targets.
    Gated,
    /// A gate on latencies.
    Bounded,
    /// A gate on a proof.
    Proven,
    /// A comparison with earlier runs.
    Compared,
}

/// What is said of a key where it means nothing.
#[derive(Debug)]
pub(crate) struct Words {
    /// What the key is for, after its name.
    pub(crate) message: String,
    /// What to write instead; empty where the key can only be removed.
    pub(crate) instead: String,
}

impl Only {
    /// What is said of a key of this kind where it means nothing.
    pub(crate) fn words(self) -> Words {
        // All words in one place, so that one reason is said alike of every key.
        let (message, instead) = match self {
            Self::Paced => {
                ("is for a paced load", "or write load.mode = \"paced\", which gives each read its own time")
            }
            Self::Timed => (
                "is for a paced load, or a training load",
                "or write load.mode = \"paced\" or \"training\", in which something has its own time",
            ),
            Self::ClosedLoop => ("is for a closed loop", "or write load.mode = \"closed\""),
            Self::Trained => (
                "is for a training load",
                "or write load.mode = \"training\", which reads as a training job wants it",
            ),
            Self::SavedByJob => (
                "is for checkpoints beside a training job",
                "or write load.mode = \"training\"; closed and paced loads are measured without checkpoints beside \
                 them, which are then written in cells of their own",
            ),
            Self::Loader => (
                "is for a training load, or a closed loop",
                "or write load.mode = \"training\", which reads as a training job wants it",
            ),
            Self::Bytes => ("means nothing where no bytes are moved", ""),
            Self::Writes => (
                "is for writes, and nothing is written",
                "or write load.operation = \"write\", or \"write_file\"",
            ),
            Self::Mixed => ("is for reads and writes at once", "or write load.operation = \"mix\""),
            Self::WholeObjects => {
                ("is for whole objects, and none is read", "or write load.operation = \"read_file\"")
            }
            Self::Streams => {
                ("is for orders that stream shards", "or write load.access = \"shuffled_shards\"")
            }
            Self::Neighbours => ("is for runs of neighbours", "or write load.access = \"neighbours\""),
            Self::Listed => ("is a list to read by", "or write load.access = \"list\""),
            Self::Generated => ("is for data that feedline writes", ""),
            Self::Existing => {
                ("says which of the user's files are read", "or write dataset.source = \"existing\"")
            }
            Self::Files => ("is about files", ""),
            Self::Layouts(of) => return in_layouts("dataset.layout", "means nothing in this layout", of),
            Self::Spread => ("is for sizes that spread", "or write dataset.distribution = \"lognormal\""),
            Self::Packing => (
                "is about the shards that `copy.pack` writes",
                "or write for example copy.pack = \"webdataset\"",
            ),
            Self::PackingInto(of) => return in_layouts("copy.pack", "means nothing in these shards", of),
            Self::Somewhere => ("means nothing where there is no storage", ""),
            Self::Kernel(what) => {
                let message = format!("is about {what}, which takes no part here");
                return Words { message, instead: String::new() };
            }
            Self::Network => ("is for nfs://, s3:// and az:// targets", ""),
            Self::Bucket => ("is for s3:// targets", ""),
            Self::Objects => ("is for s3:// and az:// targets", ""),
            Self::Played => ("is for paths, nfs:// and s3:// targets", ""),
            Self::RealServer => ("is about a server that is not asked", ""),
            Self::Elsewhere => ("starts a server that holds nothing of the user's", ""),
            Self::Maps => {
                ("is for memory maps, and this target has none", "or add \"mmap\" to the target's engine")
            }
            Self::Rings => (
                "is for io_uring, which alone registers buffers and files",
                "or add \"io_uring\" to the target's engine",
            ),
            Self::Gated => (
                "holds for the targets in `gate.feeds`, which is missing",
                "or write which targets must feed, for example feeds = [\"data\"]",
            ),
            Self::Bounded => (
                "says at which depth `gate.p99` holds, which is missing",
                "or write the bound, for example p99 = \"20ms\"",
            ),
            Self::Proven => {
                ("says what a proof takes, and none is asked for", "or write evidence = \"proof\"")
            }
            Self::Compared => (
                "is of a comparison, and `gate.regression` is missing",
                "or write what is compared, for example regression = { throughput = \"10 %\" }",
            ),
        };
        Words { message: message.to_owned(), instead: instead.to_owned() }
    }
}

fn in_layouts(key: &str, message: &str, layouts: &[Layout]) -> Words {
    let words: Vec<_> = layouts.iter().map(|layout| format!("\"{}\"", layout.name())).collect();
    Words { message: message.to_owned(), instead: format!("it is for {key} = {}", words.join(" or ")) }
}
