//! `targets` as written.

use plan::{Addresses, Advice, BucketStyle, Engine, OnUnavailable, Registered};
use schemars::JsonSchema;

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::{Key, Node, Value};
use crate::list::Axis;
use crate::reader::{Field, TableReader};
use crate::value::{Endpoint, Flag, Size, Text, Whole};
use crate::words::Word;

use super::about::{About, Price};
use super::address::Address;
use super::emulate::Emulate;
use super::load::DEPTH_MAX;

const EXAMPLE: &str = "targets.data = { at = \"/mnt/data/bench\" }";

/// Most connections: as many as reads outstanding.
const CONNECTIONS_MAX: u64 = DEPTH_MAX;

/// Most prefixes over which objects are spread.
const PREFIXES_MAX: u64 = 1000;

/// Most further attempts.
const RETRIES_MAX: u64 = 10;

/// How many connections.
pub(crate) type Connections = Whole<1, CONNECTIONS_MAX>;

/// One storage under test. A list is an axis of this target only.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("required" = ["at"]))]
pub(crate) struct Target {
    /// The key under `targets`.
    #[schemars(skip)]
    pub(crate) name: Key,
    /// The folder under test; or the node of a block device such as `/dev/nvme0n1`, which is only ever read; or
    /// `nfs://host[:port]/export/folder`, reached without a mount; or `s3://bucket/prefix`; or `null:` for no storage
    /// at all (the client's own ceiling). feedline writes only into a marked folder below the folder.
    pub(crate) at: Field<Address>,
    /// Title in plots. Default: the name.
    pub(crate) title: Field<Text>,
    /// What this storage is (product, media), in one line or as a table; kept in the record.
    pub(crate) about: Field<About>,
    /// How reads are issued. Default: io_uring, and pread where folders are listed and nothing else is done; nfs3 with
    /// nfs://, lean with s3://.
    pub(crate) engine: Field<Axis<Word<Engine>>>,
    /// What the kernel is told of how a mapping is read (mmap). Default: normal.
    pub(crate) madvise: Field<Axis<Word<Advice>>>,
    /// Whether reads go past the page cache (paths). Default: follows `load.cache`.
    pub(crate) direct: Field<Axis<Flag>>,
    /// Whether buffers and files are registered with the kernel (io_uring). Default: auto.
    pub(crate) registered: Field<Word<Registered>>,
    /// What happens where io_uring cannot be had. Default: fail.
    pub(crate) on_unavailable: Field<Word<OnUnavailable>>,
    /// Connections in the whole client (nfs://, s3://); never more of a bucket than there are requests under way. Default: one
    /// for each request under way with s3:// (with `part_size` the parts of all objects, up to 256 where the depth is less),
    /// at most 4 with nfs://.
    pub(crate) connections: Field<Axis<Connections>>,
    /// Over which of the server's addresses connections are spread (nfs://, s3://). Default: first.
    pub(crate) addresses: Field<Word<Addresses>>,
    /// Prefixes over which generated objects are spread (s3://): services limit requests by prefix. Default: 1, keys as
    /// they are.
    pub(crate) prefixes: Field<Whole<1, PREFIXES_MAX>>,
    /// A whole object is fetched in parts of this size at once (s3://, `operation = "read_file"`). Default: by one
    /// request.
    pub(crate) part_size: Field<Size>,
    /// Region of the bucket (s3://). Default: what the environment or the profile says.
    pub(crate) region: Field<Text>,
    /// Base URL of a service other than AWS (s3://). Default: what the environment says, else AWS.
    pub(crate) endpoint: Field<Endpoint>,
    /// Where the bucket stands in a URL (s3://). Default: auto.
    pub(crate) style: Field<Word<BucketStyle>>,
    /// File of certificates (PEM) to trust beside those of the system (s3://).
    pub(crate) ca: Field<Text>,
    /// Profile of the AWS configuration whose keys are used (s3://). Keys never stand in a scenario. Default: as for every
    /// AWS tool.
    pub(crate) profile: Field<Text>,
    /// Whether requests are made without keys (s3://). Default: false.
    pub(crate) anonymous: Field<Flag>,
    /// Whether each whole object is asked for its size first (s3://, `operation = "read_file"`), as many data loaders do.
    /// Default: false.
    pub(crate) head: Field<Flag>,
    /// Whether checksums are asked for; those that the service sends are verified, of whole objects and with
    /// engine = "sdk" (s3://). Default: false.
    pub(crate) checksum: Field<Flag>,
    /// Further attempts at an operation that failed in a way that may pass (nfs://, s3://); they count into its time.
    /// Default: 2 with s3://, 0 with nfs://.
    pub(crate) retries: Field<Whole<0, RETRIES_MAX>>,
    /// Memory of the server. A working set of three times as much keeps its cache out of the answer. Default: not known,
    /// and said so.
    pub(crate) server_memory: Field<Size>,
    /// What requests cost (s3://), for the estimate of `feedline plan`. Default: not estimated.
    pub(crate) price: Field<Price>,
    /// A server that feedline starts on this machine in place of the one at the address (nfs://, s3://). Its figures
    /// demonstrate, and judge nothing.
    pub(crate) emulate: Field<Emulate>,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            name: Key { text: String::new(), span: Span::new(0, 0..0) },
            at: Field::Absent,
            title: Field::Absent,
            about: Field::Absent,
            engine: Field::Absent,
            madvise: Field::Absent,
            direct: Field::Absent,
            registered: Field::Absent,
            on_unavailable: Field::Absent,
            connections: Field::Absent,
            addresses: Field::Absent,
            prefixes: Field::Absent,
            part_size: Field::Absent,
            region: Field::Absent,
            endpoint: Field::Absent,
            style: Field::Absent,
            ca: Field::Absent,
            profile: Field::Absent,
            anonymous: Field::Absent,
            head: Field::Absent,
            checksum: Field::Absent,
            retries: Field::Absent,
            server_memory: Field::Absent,
            price: Field::Absent,
            emulate: Field::Absent,
        }
    }
}

/// Reads `targets`, in the order of the file.
pub(super) fn read_all(root: &mut TableReader<'_>, problems: &mut Problems) -> Vec<Target> {
    let help = format!("for example {EXAMPLE}");
    let Some((at, node)) = root.node("targets") else {
        problems.push(Problem::absent("`targets` is missing: which storage is tested?").help(help));
        return Vec::new();
    };
    match &node.value {
        Value::Table(table) if table.entries.is_empty() => {
            problems.push(Problem::new("`targets` is empty").at(at, "which storage is tested?").help(help));
            Vec::new()
        }
        Value::Table(table) => {
            table.entries.iter().filter_map(|(name, node)| Target::read(name, node, problems)).collect()
        }
        _ => {
            let wrong = format!("this is {}", node.value.kind());
            problems
                .push(Problem::new("`targets` is a table of named targets").at(node.span, wrong).help(help));
            Vec::new()
        }
    }
}

impl Target {
    fn read(name: &Key, node: &Node, problems: &mut Problems) -> Option<Self> {
        refuse_name(name, problems);
        let path = format!("targets.{}", name.text);
        let mut table = TableReader::open(node, path, EXAMPLE, problems)?;
        let target = Self {
            name: name.clone(),
            at: table.field("at", problems),
            title: table.field("title", problems),
            about: table.field("about", problems),
            engine: table.field("engine", problems),
            madvise: table.field("madvise", problems),
            direct: table.field("direct", problems),
            registered: table.field("registered", problems),
            on_unavailable: table.field("on_unavailable", problems),
            connections: table.field("connections", problems),
            addresses: table.field("addresses", problems),
            prefixes: table.field("prefixes", problems),
            part_size: table.field("part_size", problems),
            region: table.field("region", problems),
            endpoint: table.field("endpoint", problems),
            style: table.field("style", problems),
            ca: table.field("ca", problems),
            profile: table.field("profile", problems),
            anonymous: table.field("anonymous", problems),
            head: table.field("head", problems),
            checksum: table.field("checksum", problems),
            retries: table.field("retries", problems),
            server_memory: table.field("server_memory", problems),
            price: table.field("price", problems),
            emulate: table.field("emulate", problems),
        };
        table.finish(problems);
        if target.at.is_absent() {
            let problem = Problem::absent(format!("`targets.{}.at` is missing", name.text));
            problems.push(problem.at(name.span, "where is it?").help(format!("for example {EXAMPLE}")));
        }
        Some(target)
    }
}

/// Names go into cell names and file names.
fn refuse_name(name: &Key, problems: &mut Problems) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.text.is_empty() || !name.text.chars().all(allowed) {
        let problem = Problem::new("the name of a target is letters, digits, `-` and `_`");
        problems.push(problem.at(name.span, "this has something else"));
    }
}
