//! A scenario as written: every key with its place, nothing decided.
//!
//! The doc comments of these types are the descriptions in the JSON Schema and in the scenario reference.

mod about;
mod address;
mod checkpoint;
mod copy;
mod dataset;
mod emulate;
mod expect;
mod gate;
mod load;
mod measure;
mod need;
mod target;
mod tier;
mod training;

use std::collections::BTreeMap;

use schemars::JsonSchema;

pub(crate) use about::text;
pub(crate) use address::{Address, NfsAddress, S3Address};
pub(crate) use checkpoint::{Checkpoint, FILES_MAX};
pub(crate) use copy::{COPY_THREADS_MAX, Copy};
pub(crate) use dataset::{Columns, Dataset};
pub(crate) use expect::Expect;
pub(crate) use gate::{Gate, Regression};
pub(crate) use load::{DEPTH_MAX, Depths, Load};
pub(crate) use measure::Measure;
pub(crate) use need::{EXAMPLES as NEED_EXAMPLES, Need, NeedTable};
pub(crate) use target::Target;
pub(crate) use tier::CacheTier;
pub(crate) use training::{ACCELERATORS_MAX, Decode, Training};

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::Table;
use crate::reader::{Entry, Field, TableReader};
use crate::value::{Text, Whole};

const COPY: &str = "{ from = \"bucket\", to = \"disk\" }";
const TIER: &str = "{ at = \"/nvme/cache\", capacity = \"20 GB\" }";

const EXPECTED: &str = "{ claim = \"a first byte takes 30 ms\", first_byte = \"30ms\" }";

/// What to measure with feedline, and against which need.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields, title = "feedline scenario, version 1")]
#[schemars(extend("required" = ["version", "need", "targets"]))]
pub(crate) struct Document {
    /// Version of the scenario format: 1.
    pub(crate) version: Field<Whole<1, 1>>,
    /// What this scenario is for; printed with every result.
    pub(crate) title: Field<Text>,
    /// What the accelerators consume: the line that a storage is held against.
    pub(crate) need: Field<Need>,
    /// Which bytes are read.
    pub(crate) dataset: Dataset,
    /// The storages under test, by name (letters, digits, `-` and `_`).
    #[schemars(with = "BTreeMap<String, Target>", extend("minProperties" = 1))]
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9_-]+$" }))]
    pub(crate) targets: Vec<Target>,
    /// How reads are made. A list is an axis: every value is measured.
    pub(crate) load: Load,
    /// A local cache before slower storages. A list of policies is an axis: every value is measured.
    pub(crate) cache_tier: CacheTier,
    /// The training job that is played, with `load.mode = "training"`. A list is an axis: every value is measured.
    pub(crate) training: Training,
    /// Copies the dataset from one target to another, in a cell of its own: what staging costs.
    pub(crate) copy: Copy,
    /// Checkpoints: written one after the other, read back, and beside a training job. Each target on which feedline may
    /// write gets cells of its own for them.
    pub(crate) checkpoint: Checkpoint,
    /// How long, how often and in which order.
    pub(crate) measure: Measure,
    /// What turns the verdict, or a comparison with earlier runs, into an exit code; without it nothing does.
    pub(crate) gate: Gate,
    /// What is claimed of the storages under test, with its figures; what follows from them is printed beside what was
    /// measured.
    pub(crate) expect: Expect,
}

impl Document {
    /// Reads every key, reporting every mistake that needs neither other keys nor the machine.
    pub(crate) fn read(table: &Table, problems: &mut Problems) -> Self {
        let mut root = TableReader::root(table);
        let version = root.field("version", problems);
        if version.is_absent() {
            problems.push(
                Problem::absent("`version` is missing")
                    .help("write `version = 1` in the first line of the file"),
            );
        }
        let document = Self {
            version,
            title: root.field("title", problems),
            need: need(&mut root, problems),
            dataset: section(&mut root, "dataset", "{ size = \"8 GiB\" }", problems, Dataset::read),
            targets: target::read_all(&mut root, problems),
            load: section(&mut root, "load", "{ queue_depth = [8, 32] }", problems, Load::read),
            cache_tier: section(&mut root, "cache_tier", TIER, problems, CacheTier::read),
            training: section(&mut root, "training", "{ readers = 8 }", problems, Training::read),
            copy: section(&mut root, "copy", COPY, problems, Copy::read),
            checkpoint: section(
                &mut root,
                "checkpoint",
                "{ model = \"llama3-8b\", scale = \"1/64\" }",
                problems,
                Checkpoint::read,
            ),
            measure: section(&mut root, "measure", "{ repetitions = 5 }", problems, Measure::read),
            gate: section(&mut root, "gate", "{ feeds = [\"data\"] }", problems, Gate::read),
            expect: section(&mut root, "expect", EXPECTED, problems, Expect::read),
        };
        root.finish(problems);
        document
    }
}

/// Reads one of the tables that hold keys; all defaults where it is absent or no table.
fn section<T: Default>(
    root: &mut TableReader<'_>,
    key: &'static str,
    example: &str,
    problems: &mut Problems,
    read: impl Fn(Span, &mut TableReader<'_>, &mut Problems) -> T,
) -> T {
    let opened = root.node(key).and_then(|(at, node)| {
        let reader = TableReader::open(node, key.to_owned(), &format!("{key} = {example}"), problems)?;
        Some((at, reader))
    });
    let Some((at, mut reader)) = opened else {
        return T::default();
    };
    let section = read(at, &mut reader, problems);
    reader.finish(problems);
    section
}

fn need(root: &mut TableReader<'_>, problems: &mut Problems) -> Field<Need> {
    let Some((key, node)) = root.node("need") else {
        problems.push(
            Problem::absent("`need` is missing: what do the accelerators consume?").help(NEED_EXAMPLES),
        );
        return Field::Absent;
    };
    match Need::read(node, problems) {
        Some(value) => Field::Given(Entry { key, span: node.span, value }),
        None => Field::Wrong(key),
    }
}
