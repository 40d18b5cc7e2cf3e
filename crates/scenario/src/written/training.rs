//! `training` as written.

use std::borrow::Cow;

use plan::Work;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::{Node, Value};
use crate::list::Axis;
use crate::reader::{Field, TableReader, Written};
use crate::value::{Count, Duration, Flag, Number, Pause, Whole};
use crate::words::Word;

use super::load::DEPTH_MAX;

/// Most accelerators that one client plays: each has at least one read outstanding.
pub(crate) const ACCELERATORS_MAX: u64 = DEPTH_MAX;

/// Most readers of one accelerator.
const READERS_MAX: u64 = 512;

/// Most batches ahead of one accelerator.
const PREFETCH_MAX: u64 = 1024;

/// The training job that is played, with `load.mode = "training"`. A list is an axis: every value is measured. Beside a
/// closed loop, `readers` alone states the job's loader.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct Training {
    /// Accelerators that this client plays. Default: the need's on this client; the verdict is that of this number.
    pub(crate) accelerators: Field<Axis<Whole<1, ACCELERATORS_MAX>>>,
    /// Samples that one accelerator takes in one step. Default: the need's. It belongs to a step time: where only one of
    /// the two is written and the other is a profile's, the result says that it is a guess.
    pub(crate) batch: Field<Count>,
    /// Time that one accelerator computes in one step. Default: the need's step time.
    pub(crate) compute_time: Field<Duration>,
    /// Readers of each accelerator, as PyTorch's `DataLoader` has them (`num_workers`): each fetches one batch at a time,
    /// one sample after the other, so that accelerators x readers are the reads outstanding, at most 4096. Default: what
    /// MLPerf's file of the workload says (`read_threads`), else 4; none where `load.queue_depth` is written. With both
    /// keys, both ways of fetching are measured. Beside a closed loop one number, without a default: the loader of the
    /// job, which has accelerators x readers reads outstanding at most, whatever depth the loop finds best.
    pub(crate) readers: Field<Axis<Whole<1, READERS_MAX>>>,
    /// Batches of each accelerator that are fetched or ready while it computes, the one that it takes next included
    /// (PyTorch's `num_workers` x `prefetch_factor`); at 0 a batch is fetched once it is waited for. Default: a workload's
    /// as MLPerf's loader has them (2 in all, rounded up to as many for each reader), else 2 for each reader, as PyTorch
    /// has them.
    pub(crate) prefetch: Field<Axis<Whole<0, PREFETCH_MAX>>>,
    /// Steps of each accelerator in one repetition; not together with another key that ends one. A closed loop beside it
    /// takes as long as the steps would if no batch came late.
    pub(crate) steps: Field<Count>,
    /// Passes over the dataset in one repetition, each of whole steps. Not together with another key that ends a
    /// repetition.
    pub(crate) epochs: Field<Count>,
    /// Whether accelerators wait for each other after every step, as an all-reduce demands; DLIO, which MLPerf Storage
    /// runs, does so. Default: false.
    pub(crate) barrier: Field<Flag>,
    /// What happens to each sample between the read and its batch: a word, or a table. Data that
    /// feedline writes is random: gzip, zstd and jpeg then decode a stand-in of the sample's size. Default: nothing.
    pub(crate) decode: Field<Decode>,
    /// Whether what is left at the end of an epoch and fills no batch is left out, as DLIO and MLPerf Storage have it. With
    /// false it is a smaller batch (PyTorch's default), for which an accelerator computes as long as its samples are of a
    /// whole one. Of shards that are streamed, and of row groups, every reader has such a rest. Default: true.
    pub(crate) drop_last: Field<Flag>,
    /// Time in which the readers of every epoch, also of the first, start before they fetch. Default: 0s.
    pub(crate) startup: Field<Pause>,
    /// Price of an hour of one accelerator, in your currency: what is waited for is printed as money too. Default: not
    /// printed.
    pub(crate) price: Field<Number>,
}

impl Training {
    pub(super) fn read(_: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        Self {
            accelerators: table.field("accelerators", problems),
            batch: table.field("batch", problems),
            compute_time: table.field("compute_time", problems),
            readers: table.field("readers", problems),
            prefetch: table.field("prefetch", problems),
            steps: table.field("steps", problems),
            epochs: table.field("epochs", problems),
            barrier: table.field("barrier", problems),
            decode: table.field("decode", problems),
            drop_last: table.field("drop_last", problems),
            startup: table.field("startup", problems),
            price: table.field("price", problems),
        }
    }

    /// Every key, and where it was written.
    pub(crate) fn keys(&self) -> [(&'static str, Option<Span>); 12] {
        [
            ("accelerators", self.accelerators.key()),
            ("batch", self.batch.key()),
            ("compute_time", self.compute_time.key()),
            ("readers", self.readers.key()),
            ("prefetch", self.prefetch.key()),
            ("steps", self.steps.key()),
            ("epochs", self.epochs.key()),
            ("barrier", self.barrier.key()),
            ("decode", self.decode.key()),
            ("drop_last", self.drop_last.key()),
            ("startup", self.startup.key()),
            ("price", self.price.key()),
        ]
    }
}

/// A word, or a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Decode {
    /// Real work, done by whoever read the sample.
    Work(Word<Work>),
    /// Real work or a stated cost, by threads of its own where they are written.
    Table(Box<DecodeTable>),
}

impl Written for Decode {
    fn expected() -> String {
        format!(
            "{}, or a table such as {{ with = \"jpeg\", threads = 8 }} or {{ cost = \"6ms\", threads = 4 }}",
            Word::<Work>::expected().replace(" or ", ", ")
        )
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Table(_) => {
                let mut table = TableReader::open(node, path.to_owned(), "", problems)?;
                let read = DecodeTable {
                    with: table.field("with", problems),
                    cost: table.field("cost", problems),
                    threads: table.field("threads", problems),
                };
                table.finish(problems);
                read.is_one(node, path, problems).then(|| Self::Table(Box::new(read)))
            }
            Value::String(_) => Word::read(node, path, problems).map(Self::Work),
            _ => {
                problems.push(crate::reader::wrong_type::<Self>(node, path));
                None
            }
        }
    }
}

impl JsonSchema for Decode {
    fn schema_name() -> Cow<'static, str> {
        "decode".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (word, table) = (Word::<Work>::json_schema(generator), DecodeTable::json_schema(generator));
        json_schema!({ "anyOf": [word, table] })
    }
}

/// Real work or a stated cost, and who does it.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["with"] }, { "required": ["cost"] }]))]
pub(crate) struct DecodeTable {
    /// Work that is really done, on this machine's cores.
    pub(crate) with: Field<Word<Work>>,
    /// Time that one sample takes in place of work: a model of a decoder, which takes no processor time.
    pub(crate) cost: Field<Duration>,
    /// Threads of the whole client that decode (of a cost: samples decoded at once). Default: each reader decodes what it
    /// reads; without readers as many as there would be by default, of real work at most one per core.
    pub(crate) threads: Field<Whole<1, DEPTH_MAX>>,
}

impl DecodeTable {
    fn is_one(&self, node: &Node, path: &str, problems: &mut Problems) -> bool {
        let problem = match (self.with.key(), self.cost.key()) {
            (Some(with), Some(cost)) => {
                let problem = Problem::new(format!("`{path}` is real work or a stated cost: choose one"));
                problem.at(with, "is done").at(cost, "is only waited for")
            }
            (None, None) => {
                let problem = Problem::absent(format!("`{path}` does not say what decoding is"));
                problem.at(node.span, "").help(format!("`{path}` takes {}", Decode::expected()))
            }
            _ => return true,
        };
        problems.push(problem);
        false
    }
}
