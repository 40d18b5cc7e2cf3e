//! `targets` as written.

use std::borrow::Cow;

use plan::{Advice, Engine, OnUnavailable, Registered};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::{Key, Node, Value};
use crate::list::Axis;
use crate::reader::{Field, TableReader, Written, wrong_type};
use crate::value::{Flag, Text};
use crate::words::Word;

const EXAMPLE: &str = "targets.data = { at = \"/mnt/data/bench\" }";

/// What `at` names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Address {
    /// `null:`.
    Null,
    /// A folder, or the node of a block device.
    Path(String),
}

impl Written for Address {
    fn expected() -> String {
        "a path such as \"/mnt/data/bench\", or \"null:\"".to_owned()
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::String(at) = &node.value else {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        };
        match refusal(at) {
            None if at == "null:" => Some(Self::Null),
            None => Some(Self::Path(at.clone())),
            Some((wrong, help)) => {
                let message = format!("`{path}` takes {}", Self::expected());
                problems.push(Problem::new(message).at(node.span, wrong).help(help));
                None
            }
        }
    }
}

/// Why an address cannot be used, and what to write.
fn refusal(at: &str) -> Option<(String, &'static str)> {
    const MOUNT: &str = "mount it and write the path of a folder on the mount";
    if let Some((scheme, _)) = at.split_once("://") {
        let wrong = match scheme {
            "nfs" | "s3" => format!("this version has no {scheme} backend"),
            _ => format!("there is no {scheme} backend"),
        };
        return Some((wrong, if scheme == "file" { "write the plain path" } else { MOUNT }));
    }
    let (wrong, help) = match at {
        _ if at.trim().is_empty() => ("this is empty", "write the path of a folder"),
        _ if at.contains(char::is_control) => ("this has a control character", "write the path of a folder"),
        _ if at.starts_with('~') => ("`~` is not expanded here", "write the whole path"),
        _ if at.starts_with("null:") && at != "null:" => ("nothing follows `null:`", "write \"null:\""),
        _ => return None,
    };
    Some((wrong.to_owned(), help))
}

impl JsonSchema for Address {
    fn schema_name() -> Cow<'static, str> {
        "address".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "not": { "pattern": "://|^~|^null:." } })
    }
}

/// One storage under test. A list is an axis of this target only.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
#[schemars(extend("required" = ["at"]))]
pub(crate) struct Target {
    /// The key under `targets`.
    #[schemars(skip)]
    pub(crate) name: Key,
    /// The folder under test; or the node of a block device such as `/dev/nvme0n1`, which is only ever read; or
    /// `null:` for no storage at all (the client's own ceiling). feedline writes only into a marked folder below
    /// the folder.
    pub(crate) at: Field<Address>,
    /// Title in plots. Default: the name.
    pub(crate) title: Field<Text>,
    /// What this storage is (product, media); kept in the record.
    pub(crate) about: Field<Text>,
    /// How reads are issued. Default: io_uring, and pread where folders are listed and nothing else is done.
    pub(crate) engine: Field<Axis<Word<Engine>>>,
    /// What the kernel is told of how a mapping is read (mmap). Default: normal.
    pub(crate) madvise: Field<Axis<Word<Advice>>>,
    /// Whether reads go past the page cache. Default: follows `load.cache`.
    pub(crate) direct: Field<Axis<Flag>>,
    /// Whether buffers and files are registered with the kernel (io_uring). Default: auto.
    pub(crate) registered: Field<Word<Registered>>,
    /// What happens where io_uring cannot be had. Default: fail.
    pub(crate) on_unavailable: Field<Word<OnUnavailable>>,
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
