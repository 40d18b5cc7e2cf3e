//! `load` as written.

use feed::Access;
use plan::{Cache, Durability, Numa, Operation, Pages};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::list::Axis;
use crate::offered::Offered;
use crate::only::Only::{Bytes, ClosedLoop, Mixed, Neighbours, Paced, Somewhere, Streams, Timed, Writes};
use crate::percentage::PartPercent;
use crate::reader::Written;
use crate::table::{Table, table};
use crate::value::{Count, Pause, Size, Whole, schema};
use crate::words::{Arrival, FileAdvice, Mode, Word};

/// Deepest queue and largest number of threads: beyond it a client measures its own scheduler.
// 4096 is also what one io_uring thread of this engine is set up for (`IORING_MAX_ENTRIES` is 32,768).
pub(crate) const DEPTH_MAX: u64 = 4096;

/// How many at once.
pub(crate) type Depth = Whole<1, DEPTH_MAX>;

/// Reads outstanding in the whole client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Depths {
    /// `auto`.
    Auto,
    /// As written.
    Listed(Axis<Depth>),
}

impl Written for Depths {
    fn expected() -> String {
        format!("{}, or \"auto\"", Axis::<Depth>::expected())
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            // The only word among numbers. A default alone would not do: a list that somebody wrote must be
            // measured whole, and never searched.
            Value::String(word) if word == "auto" => Some(Self::Auto),
            Value::Array(_) | Value::Integer { .. } => Axis::read(node, path, problems).map(Self::Listed),
            _ => {
                problems.push(crate::reader::wrong_type::<Self>(node, path));
                None
            }
        }
    }
}

schema!(Depths, "queue_depth", |generator| { "anyOf": [{ "const": "auto" }, Axis::<Depth>::json_schema(generator)] });

table! {
    /// How reads are made. A list is an axis: every value is measured.
    pub(crate) struct Load {
        /// What is done over and over. Default: read, or write where the need is one of writes, mix where it is one of both or
        /// `load.mix` is written; of a training load, read_file, and `read` only where every sample has
        /// as many blocks.
        operation: Axis<Word<Operation>>,
        /// When the next read is issued. Default: closed.
        mode: Word<Mode>,
        /// What a paced load offers: `"line"`, a share of the line such as `"80 %"`, or bytes such as
        /// `"2.5 GB/s"`. Only at the line or above it is there a verdict. Default: line.
        rate: Axis<Offered> => [Paced],
        /// How the arrivals of a paced load are spread. Default: constant.
        arrivals: Word<Arrival> => [Paced],
        /// Samples of one step, with `arrivals = "batch"`. Default: the need's batch times its accelerators on
        /// this client.
        batch: Count => [Paced],
        /// How long before an arrival of a paced load, or the end of a step of a training load, a thread stops sleeping and
        /// watches the clock, which is more punctual and burns a core. Default: 0s.
        spin: Pause => [Timed],
        /// Reads outstanding in the whole client; of a paced load, at most. `auto` doubles from 1 to at most 512,
        /// until the line clears with headroom or the gain is small. Of a training load, numbers: the batches of all
        /// accelerators are then fetched at these depths, the most urgent first, and not by readers. Default: auto; of a
        /// paced load, 64; of a training load, one for each reader.
        queue_depth: Depths,
        /// Threads that share the queue depth, at most one per outstanding read. Default: one per 64 reads
        /// outstanding, at most one per core; with pread and mmap, one per read outstanding; of a training load, at most one
        /// per accelerator, and one with `training.barrier`.
        threads: Depth,
        /// Where threads run. Memory and a device of another NUMA node are further away, and what connects nodes can be the limit.
        /// Default: any.
        numa: Axis<Word<Numa>> => [Somewhere],
        /// Requests handed to the kernel in one submission, at most; at most what one thread has outstanding
        /// (io_uring; other engines submit all of it). Default: all of it, but 2 for direct sequential reads, which the kernel would merge.
        submit_batch: Depth,
        /// Completions that a thread waits for before it issues again (io_uring, closed loop only); at most what it has
        /// outstanding. More of them cost less processor time, and in the end more latency. Default: an eighth of
        /// what it has outstanding for direct reads in no order, else 1.
        complete_batch: Depth => [ClosedLoop],
        /// Bytes asked by one read, at most; a whole file is read, or written, in blocks of it. Default: the sample size rounded
        /// up to 4096, at most 1 MiB.
        block_size: Axis<Size> => [Bytes],
        /// Pages that the buffers of reads are made of. With huge ones a device is told less for each read, which can make
        /// direct reads of large blocks twice as fast as a loader's. Default: base.
        pages: Axis<Word<Pages>> => [Bytes],
        /// How much of a mix is written.
        mix: Mix => [Mixed],
        /// What the storage has promised of a write when it ends. Buckets and containers have `data` alone. Default: data.
        durability: Axis<Word<Durability>> => [Writes],
        /// Order of the reads. Default: shuffled_shards of the layouts webdataset and tfrecord, else shuffled_epoch.
        access: Axis<Word<Access>>,
        /// Shards that are read side by side, of orders that stream them. Default: the queue depth, at most 16; of a
        /// training load, each reader has a stream of its own.
        streams: Depth => [Streams],
        /// Samples that the reader of each stream holds and draws from, of orders that stream shards. It changes the memory
        /// of a loader and how well samples are mixed, which is reported, and no read. Default: 0, none.
        shuffle_buffer: Whole<0, 1_000_000_000> => [Streams],
        /// Samples that follow each other, with `access = "neighbours"`. Default: 16.
        run_length: Count => [Neighbours],
        /// Treatment of the client's page cache. Whole files and names (`stat`, `list`, `getattr`, `names`) are cold when names and
        /// inodes are evicted too. Default: bypass where the path has direct I/O, else cold; cold with mmap, warm with names, which
        /// take only cold, cold_start and warm. `cold_start` is cold as a repetition begins and lets later epochs find what
        /// earlier ones left. With nfs:// and s3:// always bypass, as their data never is in this cache; that says nothing of the
        /// server's own.
        cache: Axis<Word<Cache>>,
        /// What the kernel is told of how each file is read (posix_fadvise): blocks of open files through the page cache,
        /// with io_uring and pread. Default: normal.
        fadvise: Axis<Word<FileAdvice>>,
    }
}

table! {
    /// How much of a load is writes, and how much reads.
    pub(crate) struct Mix {
        /// Share of the operations that write, 1 % to 99 %; the others read. Default: the share of the need's writes in all that it
        /// asks for.
        write: Axis<PartPercent>,
    }
}

impl Table for Mix {
    const EXAMPLE: &'static str = "{ write = \"30 %\" }";

    fn check(&self, problems: &mut Problems) {
        for item in self.write.given().into_iter().flat_map(|entry| &entry.value.0) {
            let instead = match item.value.0 {
                0 => "read",
                100 => "write",
                _ => continue,
            };
            let problem = Problem::new("a mix has reads and writes").at(item.span, "has one of them alone");
            problems.push(problem.help(format!(
                "write a share from 1 % to 99 %, and load.operation = [\"{instead}\", \"mix\"] to measure both"
            )));
        }
    }
}

impl Table for Load {
    const EXAMPLE: &'static str = "{ queue_depth = [8, 32] }";
}
