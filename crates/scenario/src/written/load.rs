//! `load` as written.

use std::borrow::Cow;

use plan::{Access, Cache};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problems, Span};
use crate::document::{Node, Value};
use crate::list::Axis;
use crate::reader::{Field, TableReader, Written};
use crate::value::{Size, Whole};
use crate::words::{Mode, Word};

/// Deepest queue and largest number of threads: beyond it a client measures its own scheduler.
pub(crate) const DEPTH_MAX: u64 = 4096;

type Depth = Whole<1, DEPTH_MAX>;

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
            Value::String(word) if word == "auto" => Some(Self::Auto),
            Value::Array(_) | Value::Integer { .. } => Axis::read(node, path, problems).map(Self::Listed),
            _ => {
                problems.push(crate::reader::wrong_type::<Self>(node, path));
                None
            }
        }
    }
}

impl JsonSchema for Depths {
    fn schema_name() -> Cow<'static, str> {
        "queue_depth".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let listed = Axis::<Depth>::json_schema(generator);
        json_schema!({ "anyOf": [{ "const": "auto" }, listed] })
    }
}

/// How reads are made. A list is an axis: every value is measured.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub(crate) struct Load {
    /// When the next read is issued. Default: closed.
    pub(crate) mode: Field<Word<Mode>>,
    /// Reads outstanding in the whole client. `auto` doubles from 1 to at most 512, until the line clears
    /// with headroom or the gain is small. Default: auto.
    pub(crate) queue_depth: Field<Depths>,
    /// Threads that share the queue depth, at most one per outstanding read. Default: one per 64 reads
    /// outstanding, at most one per core; with pread, one per read outstanding.
    pub(crate) threads: Field<Whole<1, DEPTH_MAX>>,
    /// Bytes asked by one read, at most. Default: the sample size rounded up to 4096, at most 1 MiB.
    pub(crate) block_size: Field<Axis<Size>>,
    /// Order of the reads. Default: shuffled_epoch.
    pub(crate) access: Field<Axis<Word<Access>>>,
    /// Treatment of the client's page cache. Default: bypass where the path has direct I/O, else cold.
    pub(crate) cache: Field<Axis<Word<Cache>>>,
}

impl Load {
    pub(super) fn read(_: Span, table: &mut TableReader<'_>, problems: &mut Problems) -> Self {
        Self {
            mode: table.field("mode", problems),
            queue_depth: table.field("queue_depth", problems),
            threads: table.field("threads", problems),
            block_size: table.field("block_size", problems),
            access: table.field("access", problems),
            cache: table.field("cache", problems),
        }
    }
}
