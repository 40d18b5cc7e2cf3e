//! `targets` as written.

use plan::{Addresses, Advice, BucketStyle, Engine, OnUnavailable, Registered};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Key, Node, Value};
use crate::list::Axis;
use crate::only::Only::{
    Bucket, Elsewhere, Generated, Kernel, Maps, Network, Objects, Played, RealServer, Rings, Somewhere,
    WholeObjects,
};
use crate::reader::TableReader;
use crate::table::{self, Table, table};
use crate::value::{Endpoint, Flag, Size, Text, Whole};
use crate::words::Word;

use super::about::{About, Price};
use super::address::Address;
use super::emulate::Emulate;
use super::load::DEPTH_MAX;

const EXAMPLE: &str = "targets.data = { at = \"/mnt/data/bench\" }";

/// Most connections: as many as reads outstanding.
const CONNECTIONS_MAX: u64 = DEPTH_MAX;

/// Longest name of a target: an answer writes it out, and a file is named after it.
// An answer cut names above 32 letters once: two targets that differ in their ends looked like one.
const NAME_LETTERS_MAX: usize = 64;

/// Most files that are held open.
// As many as a table of them holds.
const OPEN_FILES_MAX: u64 = 1 << 20;

/// Most prefixes over which objects are spread.
// 5.5 million requests a second at S3's limit for each, beyond any client.
const PREFIXES_MAX: u64 = 1000;

/// Most further attempts.
// Each attempt counts into the time of its operation; ten of them are no longer a latency.
const RETRIES_MAX: u64 = 10;

/// How many connections.
pub(crate) type Connections = Whole<1, CONNECTIONS_MAX>;

table! {
    /// One storage under test. A list is an axis of this target only.
    #[schemars(extend("required" = ["at"]))]
    pub(crate) struct Target {
        /// The folder under test; or the node of a block device such as `/dev/nvme0n1`, which is only ever read; or
        /// `nfs://host[:port]/export/folder`, reached without a mount; or `s3://bucket/prefix`, or `gs://bucket/prefix`; or
        /// `az://container/prefix` of Azure Blob Storage; or `null:` for no storage at all (the client's own ceiling). feedline
        /// writes only into a marked folder below the folder.
        at: Address,
        /// Title in plots. Default: the name.
        title: Text,
        /// What this storage is (product, media), in one line or as a table; kept in the record.
        about: About,
        /// How reads are issued. Default: io_uring, and pread where folders are listed and nothing else is done; nfs3 with
        /// nfs://, lean with s3:// and az://.
        engine: Axis<Word<Engine>> => [Somewhere],
        /// What the kernel is told of how a mapping is read (mmap). Default: normal.
        madvise: Axis<Word<Advice>> => [Kernel("memory maps"), Maps],
        /// Whether reads go past the page cache (paths). Default: follows `load.cache`.
        direct: Axis<Flag> => [Kernel("this machine's page cache")],
        /// Whether buffers and files are registered with the kernel (io_uring). Default: auto.
        registered: Word<Registered> => [Kernel("io_uring"), Rings],
        /// Files that are held open at most, where blocks of them are read: a loader's cache of handles, of which the least recently
        /// used gives way; at least as many as reads are outstanding. Default: as many as this process may have open.
        open_files: Whole<1, OPEN_FILES_MAX> => [Kernel("files that are held open")],
        /// What happens where io_uring cannot be had. Default: fail.
        on_unavailable: Word<OnUnavailable> => [Kernel("io_uring")],
        /// Connections in the whole client (nfs://, s3://, az://); never more of a bucket than there are requests under way. Default:
        /// one for each request under way with s3:// and az:// (with `part_size` the parts of all objects, up to 256 where the depth is less),
        /// at most 4 with nfs://.
        connections: Axis<Connections> => [Network],
        /// Over which of the server's addresses connections are spread (nfs://, s3://, az://). Default: first.
        addresses: Word<Addresses> => [Network, RealServer],
        /// Prefixes over which generated objects are spread (s3://): services limit requests by prefix. Default: 1, keys as
        /// they are.
        prefixes: Whole<1, PREFIXES_MAX> => [Bucket, Generated],
        /// A whole object is fetched in parts of this size at once (s3://, az://, `operation = "read_file"`). Default: by one
        /// request.
        part_size: Size => [Objects, WholeObjects],
        /// Region of the bucket (s3://). Default: what the environment or the profile says.
        region: Text => [Bucket, RealServer],
        /// Base URL of a service other than AWS (s3://), or of the storage account (az://): `https://ACCOUNT.blob.core.windows.net`.
        /// Default: what the environment says, else AWS.
        endpoint: Endpoint => [Objects, RealServer],
        /// Where the bucket stands in a URL (s3://). Default: auto.
        style: Word<BucketStyle> => [Bucket, RealServer],
        /// File of certificates (PEM) to trust beside those of the system (s3://, az://).
        ca: Text => [Objects, RealServer],
        /// Profile of the AWS configuration whose keys are used (s3://). Keys never stand in a scenario. Default: as for every
        /// AWS tool.
        profile: Text => [Bucket, RealServer],
        /// Whether requests are made without keys (s3://, az://). Default: false.
        anonymous: Flag => [Objects, RealServer],
        /// Whether each whole object is asked for its size first (s3://, az://, `operation = "read_file"`), as many data
        /// loaders do. Default: false.
        head: Flag => [Objects, WholeObjects],
        /// Whether checksums are asked for; those that the service sends are verified, of whole objects and with
        /// engine = "sdk" (s3://). Default: false.
        checksum: Flag => [Bucket],
        /// Further attempts at an operation that failed in a way that may pass (nfs://, s3://, az://); they count into its
        /// time. Default: 2 with s3:// and az://, 0 with nfs://.
        retries: Whole<0, RETRIES_MAX> => [Network],
        /// Memory of the server. A working set of three times as much keeps its cache out of the answer. Default: not known,
        /// and said so.
        server_memory: Size => [Somewhere],
        /// What requests cost (s3://, az://), for the estimate of `feedline plan`. Default: not estimated.
        price: Price => [Objects, RealServer],
        /// A server that feedline starts on this machine in place of the one at the address (nfs://, s3://); or, of a path, how the
        /// storage there is slowed down. Its figures demonstrate, and judge nothing.
        emulate: Emulate => [Played, Elsewhere],
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
            let read = |(name, node): &(Key, Node)| {
                table::read(name.clone(), node, &format!("targets.{}", name.text), problems)
            };
            table.entries.iter().filter_map(read).collect()
        }
        _ => {
            let wrong = format!("this is {}", node.value.kind());
            problems
                .push(Problem::new("`targets` is a table of named targets").at(node.span, wrong).help(help));
            Vec::new()
        }
    }
}

impl Table for Target {
    const EXAMPLE: &'static str = "{ at = \"/mnt/data/bench\" }";

    fn check(&self, problems: &mut Problems) {
        refuse_name(&self.name, problems);
        if self.at.is_absent() {
            let problem = Problem::absent(format!("`targets.{}.at` is missing", self.name.text));
            problems.push(problem.at(self.name.span, "where is it?").help(format!("for example {EXAMPLE}")));
        }
    }
}

/// Names go into cell names and file names.
// A slash would end a slug, a space a column, and a dot a part of a dotted key in --set.
fn refuse_name(name: &Key, problems: &mut Problems) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.text.is_empty() || !name.text.chars().all(allowed) {
        let problem = Problem::new("the name of a target is letters, digits, `-` and `_`");
        problems.push(problem.at(name.span, "this has something else"));
    } else if name.text.len() > NAME_LETTERS_MAX {
        let problem = Problem::new(format!("the name of a target has at most {NAME_LETTERS_MAX} letters"));
        problems.push(problem.at(name.span, format!("this has {}", name.text.len())));
    }
}
