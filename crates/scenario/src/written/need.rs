//! `need` as written: a short form or one of four tables.

use std::borrow::Cow;

use feed::{Hold, Scope};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::reader::{Field, TableReader};
use crate::value::{Count, Duration, Fraction, Number, Rate, Size, Text};
use crate::words::Word;

/// Every form of a need, for whoever wrote none.
pub(crate) const EXAMPLES: &str = "write one of
need = \"8xh100:resnet50\"   (on the command line: --need 8xh100:resnet50)
need = { workload = \"resnet50\", accelerator = \"h100\", count = 8 }
need = { rate = \"2.5 GB/s\" }
need = { batch = 400, step_time = \"224ms\", sample_size = \"114660 B\", count = 8 }
need = { tokens_per_second = 2e6, token_size = \"4 B\" }";

/// What the accelerators consume.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Need {
    /// `8xh100:resnet50`.
    Short(String),
    /// Any of the other forms.
    Table(Box<NeedTable>),
}

impl Need {
    pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        if let Value::String(text) = &node.value {
            return Some(Self::Short(text.clone()));
        }
        if !matches!(node.value, Value::Table(_)) {
            let problem = Problem::new("`need` takes a short form in quotes, or a table");
            problems.push(problem.at(node.span, format!("this is {}", node.value.kind())).help(EXAMPLES));
            return None;
        }
        let mut table = TableReader::open(node, "need".to_owned(), "", problems)?;
        let read = NeedTable::read(&mut table, problems);
        table.finish(problems);
        Some(Self::Table(Box::new(read)))
    }
}

impl JsonSchema for Need {
    fn schema_name() -> Cow<'static, str> {
        "need".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = NeedTable::json_schema(generator);
        json_schema!({
            "anyOf": [
                { "type": "string", "description": "Count, accelerator and workload: \"8xh100:resnet50\"." },
                table
            ]
        })
    }
}

/// A workload profile, a rate, a batch and its step time, or a rate of tokens.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    { "required": ["workload", "accelerator", "count"] },
    { "required": ["rate"] },
    { "required": ["batch", "step_time", "sample_size", "count"] },
    { "required": ["tokens_per_second", "token_size"] },
]))]
pub(crate) struct NeedTable {
    /// Workload of a profile: unet3d, resnet50, cosmoflow, retinanet, flux, dlrm.
    pub(crate) workload: Field<Text>,
    /// Accelerator of a profile: a100, h100, b200, mi355.
    pub(crate) accelerator: Field<Text>,
    /// Accelerators of the whole job.
    pub(crate) count: Field<Count>,
    /// Hosts that share the accelerators evenly; this client is one of them. Default 1.
    pub(crate) hosts: Field<Count>,
    /// Where the line is drawn, as a share of what keeps the accelerators fully busy. Default: the profile's own
    /// threshold; 1.00 of a rate that a closed or paced load is held against; else 0.90.
    pub(crate) utilization: Field<Fraction>,
    /// What stays of a workload's need, or a batch's, where the samples that are read are not of its size. Default: none,
    /// and samples that feedline writes must be of that size, within a tenth; samples of existing data.
    pub(crate) hold: Field<Word<Hold>>,
    /// Whose feeding the verdict is about, where there are several hosts. Default: cluster.
    pub(crate) scope: Field<Word<Scope>>,
    /// Bytes or bits per second that this client must deliver.
    pub(crate) rate: Field<Rate>,
    /// Samples that one accelerator consumes in one step.
    pub(crate) batch: Field<Count>,
    /// Time that one step computes.
    pub(crate) step_time: Field<Duration>,
    /// Bytes of one training sample.
    pub(crate) sample_size: Field<Size>,
    /// Tokens per second of the whole job.
    pub(crate) tokens_per_second: Field<Number>,
    /// Bytes of one token as stored.
    pub(crate) token_size: Field<Size>,
}

impl NeedTable {
    fn read(table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        Self {
            workload: table.field("workload", problems),
            accelerator: table.field("accelerator", problems),
            count: table.field("count", problems),
            hosts: table.field("hosts", problems),
            utilization: table.field("utilization", problems),
            hold: table.field("hold", problems),
            scope: table.field("scope", problems),
            rate: table.field("rate", problems),
            batch: table.field("batch", problems),
            step_time: table.field("step_time", problems),
            sample_size: table.field("sample_size", problems),
            tokens_per_second: table.field("tokens_per_second", problems),
            token_size: table.field("token_size", problems),
        }
    }
}
