//! `need` as written: a short form or one of five tables.

use feed::{Hold, Scope};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::list::Item;
use crate::reader::{Written, wrong_type};
use crate::table::{Table, table};
use crate::value::{Count, Duration, Fraction, Number, Rate, Size, Text, Whole, schema};
use crate::words::Word;

use super::checkpoint_need::CheckpointNeed;

/// Every form of a need, for whoever wrote none.
// All forms at once: whoever has no profile has to see that there are others.
pub(crate) const EXAMPLES: &str = "write one of
need = \"8xh100:resnet50\"
need = { workload = \"resnet50\", accelerator = \"h100\", count = 8 }
need = { rate = \"2.5 GB/s\" }
need = { rate = \"2.5 GB/s\", write_rate = \"500 MB/s\" }
need = { batch = 400, step_time = \"224ms\", sample_size = \"114660 B\", count = 8 }
need = { tokens_per_second = 2e6, token_size = \"4 B\" }
need = { checkpoint = { bytes = \"912 GB\", within = \"30s\" } }
need = [\"8xh100:resnet50\", { write_rate = \"500 MB/s\", utilization = 0.9 }]";

/// What is asked of a storage: one need, or several at once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Needs(pub(crate) Vec<Item<Need>>);

impl Needs {
    /// Those that are tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &NeedTable> {
        self.0.iter().filter_map(|item| match &item.value {
            Need::Table(table) => Some(&**table),
            Need::Short(_) => None,
        })
    }
}

impl Written for Needs {
    fn expected() -> String {
        format!("{}, or a list of them", Need::expected())
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let nodes = match &node.value {
            Value::Array(nodes) if nodes.is_empty() => {
                let problem = Problem::new("`need` is a list of none").at(node.span, "");
                problems.push(problem.help(EXAMPLES));
                return None;
            }
            Value::Array(nodes) => nodes.as_slice(),
            _ => std::slice::from_ref(node),
        };
        // Two equal ones are two jobs, and not one that is written twice.
        let read = |node: &Node| Some(Item { span: node.span, value: Need::read(node, path, problems)? });
        let needs: Vec<Item<Need>> = nodes.iter().filter_map(read).collect();
        (needs.len() == nodes.len()).then_some(Self(needs))
    }
}

schema!(Needs, "needs", |generator| {
    "anyOf": [
        { "type": "string", "description": "Count, accelerator and workload: \"8xh100:resnet50\"." },
        NeedTable::json_schema(generator),
        { "type": "array", "minItems": 1, "maxItems": feed::NEEDS_MAX, "items": Need::json_schema(generator) }
    ]
});

/// What the accelerators of one job consume.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Need {
    /// `8xh100:resnet50`.
    Short(String),
    /// Any of the other forms.
    Table(Box<NeedTable>),
}

impl Written for Need {
    fn expected() -> String {
        "a short form in quotes, or a table".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::String(text) => Some(Self::Short(text.clone())),
            Value::Table(_) => {
                NeedTable::read(node, path, problems).map(|table| Self::Table(Box::new(table)))
            }
            _ => {
                problems.push(wrong_type::<Self>(node, path).help(EXAMPLES));
                None
            }
        }
    }
}

schema!(Need, "need", |generator| {
    "anyOf": [
        { "type": "string", "description": "Count, accelerator and workload: \"8xh100:resnet50\"." },
        NeedTable::json_schema(generator)
    ]
});

/// Accelerators of a job, or the hosts that share them.
// Hosts have the same bound, since each has at least one of them.
type Accelerators = Whole<1, { feed::COUNT_MAX as u64 }>;

table! {
    /// A workload profile, a rate, a batch and its step time, or a rate of tokens; writes and checkpoints beside any of them, or alone.
    #[schemars(extend("oneOf" = [
        { "required": ["workload", "accelerator", "count"] },
        { "required": ["rate"] },
        { "required": ["write_rate"], "not": { "anyOf": [
            { "required": ["workload"] }, { "required": ["rate"] }, { "required": ["batch"] }, { "required": ["tokens_per_second"] },
        ] } },
        { "required": ["batch", "step_time", "sample_size", "count"] },
        { "required": ["tokens_per_second", "token_size"] },
        { "required": ["checkpoint"], "not": { "anyOf": [
            { "required": ["workload"] }, { "required": ["rate"] }, { "required": ["write_rate"] },
            { "required": ["batch"] }, { "required": ["tokens_per_second"] },
        ] } },
    ]))]
    pub(crate) struct NeedTable {
        /// Workload of a profile: unet3d, resnet50, cosmoflow, retinanet, flux, dlrm, vit-l16, llama3-8b, llama3-70b, llama3-405b.
        workload: Text,
        /// Accelerator of a profile: a100, h100, b200, mi355, rtx3090.
        accelerator: Text,
        /// Accelerators of the whole job.
        count: Accelerators,
        /// Hosts that share the accelerators evenly; this client is one of them. Default 1.
        hosts: Accelerators,
        /// Where the line is drawn, as a share of what keeps the accelerators fully busy. Default: the profile's own
        /// threshold; 1.00 of a rate that a closed or paced load is held against; else 0.90.
        utilization: Fraction,
        /// What stays of a workload's need, or a batch's, where the samples that are read are not of its size. Default: none,
        /// and samples that feedline writes must be of that size, within a tenth; samples of existing data.
        hold: Word<Hold>,
        /// Whose feeding the verdict is about, where there are several hosts. Default: cluster.
        scope: Word<Scope>,
        /// Bytes or bits per second that this client must deliver.
        rate: Rate,
        /// Bytes or bits per second that this client must be able to write: beside what it reads, at the same time, or alone.
        write_rate: Rate,
        /// Samples that one accelerator consumes in one step.
        batch: Count,
        /// Time that one step computes.
        step_time: Duration,
        /// Bytes of one training sample.
        sample_size: Size,
        /// Tokens per second of the whole job.
        tokens_per_second: Number,
        /// Bytes of one token as stored.
        token_size: Size,
        /// What checkpoints of the job ask for, in which time they are written and read back. Default: nothing is asked.
        checkpoint: CheckpointNeed,
    }
}

impl Table for NeedTable {
    const EXAMPLE: &'static str = "{ workload = \"resnet50\", accelerator = \"h100\", count = 8 }";
}
