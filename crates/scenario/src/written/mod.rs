//! A scenario as written: every key with its place, nothing decided.
//!
//! The doc comments of these types are the descriptions in the JSON Schema and in the scenario reference.

mod about;
mod address;
mod burst;
mod checkpoint;
mod checkpoint_need;
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

pub(crate) use about::{About, Price};
pub(crate) use address::{Address, AzureAddress, NfsAddress, S3Address};
pub(crate) use checkpoint::{Checkpoint, FILES_MAX};
pub(crate) use checkpoint_need::CheckpointNeed;
pub(crate) use copy::{COPY_THREADS_MAX, Copy, Pack};
pub(crate) use dataset::{Columns, Dataset};
pub(crate) use emulate::Emulate;
pub(crate) use expect::Expect;
pub(crate) use gate::{Gate, Margins, Regression};
pub(crate) use load::{DEPTH_MAX, Depth, Depths, Load};
pub(crate) use measure::Measure;
pub(crate) use need::{EXAMPLES as NEED_EXAMPLES, Need, NeedTable, Needs};
pub(crate) use target::{Connections, Target};
pub(crate) use tier::CacheTier;
pub(crate) use training::{ACCELERATORS_MAX, Decode, Training};

use crate::diagnostic::{Problem, Problems};
use crate::document::{self, Key};
use crate::reader::{Field, TableReader};
use crate::table::{self, Table};
use crate::value::{Text, Whole};

/// What to measure with feedline, and against which need.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields, title = "feedline scenario, version 1")]
#[schemars(extend("required" = ["version", "need", "targets"]))]
// How much is written a table of checkpoints says, or a need of them.
#[schemars(extend("allOf" = [{ "anyOf": [
    { "properties": { "checkpoint": { "anyOf": [{ "required": ["model"] }, { "required": ["size"] }] } } },
    { "properties": { "need": { "type": "object", "required": ["checkpoint"] } } },
] }]))]
pub(crate) struct Document {
    /// Version of the scenario format: 1.
    // Required and not assumed: a file without it would change its meaning with the first version that
    // differs.
    pub(crate) version: Field<Whole<1, 1>>,
    /// What this scenario is for; printed with every result.
    pub(crate) title: Field<Text>,
    /// What the accelerators consume: the line that a storage is held against. A list is several jobs at once.
    pub(crate) need: Field<Needs>,
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
    pub(crate) fn read(table: &document::Table, problems: &mut Problems) -> Self {
        let mut root = TableReader::root(table);
        let version = root.field("version", problems);
        if version.is_absent() {
            problems.push(
                Problem::absent("`version` is missing")
                    .help("write `version = 1` in the first line of the file"),
            );
        }
        // In the order in which a scenario is written, which is the order of the schema and of the
        // reference too.
        let document = Self {
            version,
            title: root.field("title", problems),
            need: need(&mut root, problems),
            dataset: section(&mut root, "dataset", problems),
            targets: target::read_all(&mut root, problems),
            load: section(&mut root, "load", problems),
            cache_tier: section(&mut root, "cache_tier", problems),
            training: section(&mut root, "training", problems),
            copy: section(&mut root, "copy", problems),
            checkpoint: section(&mut root, "checkpoint", problems),
            measure: section(&mut root, "measure", problems),
            gate: section(&mut root, "gate", problems),
            expect: section(&mut root, "expect", problems),
        };
        root.finish(problems);
        document
    }
}

/// Reads one of the tables that hold keys; all defaults where it is absent or no table.
fn section<T: Table>(root: &mut TableReader<'_>, key: &'static str, problems: &mut Problems) -> T {
    let Some((span, node)) = root.node(key) else { return T::default() };
    table::read(Key { text: key.to_owned(), span }, node, key, problems).unwrap_or_default()
}

fn need(root: &mut TableReader<'_>, problems: &mut Problems) -> Field<Needs> {
    let need = root.field("need", problems);
    if need.is_absent() {
        let problem = Problem::absent("`need` is missing: what do the accelerators consume?");
        problems.push(problem.help(NEED_EXAMPLES));
    }
    need
}
