//! `training` as written.

use plan::Work;

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::list::Axis;
use crate::only::Only::{Loader, Trained};
use crate::reader::Written;
use crate::table::{Table, table};
use crate::value::{Count, Duration, Flag, Number, Pause, Whole, schema};
use crate::words::Word;

use super::load::DEPTH_MAX;

/// Most accelerators that one client plays: each has at least one read outstanding.
pub(crate) const ACCELERATORS_MAX: u64 = DEPTH_MAX;

/// Most readers of one accelerator.
// MLPerf allows 32 (`MAX_READ_THREADS_TRAINING`); hosts with two sockets run up to their hardware threads.
const READERS_MAX: u64 = 512;

/// Most reads of one reader.
// As many parts of one object are fetched at once, at most.
const FETCHES_MAX: u64 = 256;

/// Most batches ahead of one accelerator.
// Memory is what bounds it, and that is held against the machine elsewhere.
const PREFETCH_MAX: u64 = 1024;

table! {
    /// The training job that is played, with `load.mode = "training"`. A list is an axis: every value is measured. Beside a
    /// closed loop, `readers` alone states the job's loader.
    pub(crate) struct Training {
        /// Accelerators that this client plays. Default: the need's on this client; the verdict is that of this number.
        accelerators: Axis<Whole<1, ACCELERATORS_MAX>> => [Trained],
        /// Samples that one accelerator takes in one step. Default: the need's. It belongs to a step time: where only one of
        /// the two is written and the other is a profile's, the result says that it is a guess.
        batch: Count => [Trained],
        /// Time that one accelerator computes in one step. Default: the need's step time.
        compute_time: Duration => [Trained],
        /// Readers of each accelerator, as PyTorch's `DataLoader` has them (`num_workers`): each fetches one batch at a time,
        /// one sample after the other where `fetches` does not say more, so that accelerators x readers x fetches are the reads
        /// outstanding, at most 4096. Default: what MLPerf's file of the workload says (`read_threads`), else 4; none where `load.queue_depth` is written. With both
        /// keys, both ways of fetching are measured. Beside a closed loop one number, without a default: the loader of the
        /// job, which has accelerators x readers reads outstanding at most, whatever depth the loop finds best.
        readers: Axis<Whole<1, READERS_MAX>> => [Loader],
        /// Reads of its batch that each reader has under way, at most: the threads of Dask in a worker, Zarr's `async.concurrency`, a
        /// batch that is asked for at once. Each is decoded by itself. The reads outstanding are accelerators x readers x fetches.
        /// Default: 1.
        fetches: Axis<Whole<1, FETCHES_MAX>> => [Trained],
        /// Batches of each accelerator that are fetched or ready while it computes, the one that it takes next included
        /// (PyTorch's `num_workers` x `prefetch_factor`); at 0 a batch is fetched once it is waited for. Default: a workload's
        /// as MLPerf's loader has them (2 in all, rounded up to as many for each reader), else 2 for each reader, as PyTorch
        /// has them.
        prefetch: Axis<Whole<0, PREFETCH_MAX>> => [Trained],
        /// Steps of each accelerator in one repetition; not together with another key that ends one. A closed loop beside it
        /// takes as long as the steps would if no batch came late.
        steps: Count => [Trained],
        /// Passes over the dataset in one repetition, each of whole steps. Not together with another key that ends a
        /// repetition.
        epochs: Count => [Trained],
        /// Whether accelerators wait for each other after every step, as an all-reduce demands; DLIO, which MLPerf Storage
        /// runs, does so. Default: false.
        barrier: Flag => [Trained],
        /// What happens to each sample between the read and its batch: a word, or a table. Data that
        /// feedline writes is random: gzip, zstd, jpeg and png then decode a stand-in of the sample's size. Default: nothing.
        decode: Decode => [Trained],
        /// Whether what is left at the end of an epoch and fills no batch is left out, as DLIO and MLPerf Storage have it. With
        /// false it is a smaller batch (PyTorch's default), for which an accelerator computes as long as its samples are of a
        /// whole one. Of shards that are streamed, and of row groups, every reader has such a rest. Default: true.
        drop_last: Flag => [Trained],
        /// Time in which the readers of every epoch, also of the first, start before they fetch. Default: 0s.
        startup: Pause => [Trained],
        /// Price of an hour of one accelerator, in your currency: what is waited for is printed as money too. Default: not
        /// printed.
        price: Number => [Trained],
    }
}

impl Table for Training {
    const EXAMPLE: &'static str = "{ readers = 8 }";
}

/// A word, or a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decode {
    /// Real work, done by whoever read the sample.
    Work(Word<Work>),
    /// Real work or a stated time, by threads of its own where they are written.
    Table(Box<DecodeTable>),
}

impl Written for Decode {
    fn expected() -> String {
        format!("{}, or {}", Word::<Work>::expected().replace(" or ", ", "), DecodeTable::expected())
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Table(_) => {
                DecodeTable::read(node, path, problems).map(|table| Self::Table(Box::new(table)))
            }
            Value::String(_) => Word::read(node, path, problems).map(Self::Work),
            _ => {
                problems.push(crate::reader::wrong_type::<Self>(node, path));
                None
            }
        }
    }
}

schema!(Decode, "decode", Word<Work> | DecodeTable);

table! {
    /// Real work or a stated time, and who does it.
    #[schemars(extend("oneOf" = [{ "required": ["with"] }, { "required": ["cpu"] }, { "required": ["cost"] }]))]
    pub(crate) struct DecodeTable {
        /// Work that is really done, on this machine's cores.
        with: Word<Work>,
        /// Processor time that one sample takes: a core of this machine is kept busy for as long, as by a decoder that is
        /// not built in.
        cpu: Duration,
        /// Time that one sample takes in place of work: a model of a decoder, which takes no processor time.
        cost: Duration,
        /// Threads of the whole client that decode (of a cost: samples decoded at once). Default: each reader decodes what it
        /// reads; without readers as many as there would be by default, of real work at most one per core.
        threads: Whole<1, DEPTH_MAX>,
    }
}

impl Table for DecodeTable {
    const EXAMPLE: &'static str = "{ with = \"jpeg\", threads = 8 } or { cost = \"6ms\", threads = 4 }";

    fn check(&self, problems: &mut Problems) {
        let path = &self.name.text;
        let ways = [
            (self.with.key(), "is done"),
            (self.cpu.key(), "is burnt"),
            (self.cost.key(), "is only waited for"),
        ];
        let ways: Vec<_> = ways.into_iter().filter_map(|(key, what)| Some((key?, what))).collect();
        match ways.as_slice() {
            // A cost takes no processor time and the others do: adding them up would be neither.
            [(one, is), (other, differs), ..] => {
                let problem = Problem::new(format!("`{path}` is real work or a stated time: choose one"));
                problems.push(problem.at(*one, *is).at(*other, *differs));
            }
            [] => {
                let problem = Problem::absent(format!("`{path}` does not say what decoding is"));
                let problem = problem.at(self.name.span, "");
                problems.push(problem.help(format!("`{path}` takes {}", Decode::expected())));
            }
            _ => {}
        }
    }
}
