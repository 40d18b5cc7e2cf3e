//! Reads tables of known keys, gathering every mistake instead of stopping at the first.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::{Node, Table, Value};

/// A value with the places of its key and of itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<T> {
    pub(crate) key: Span,
    pub(crate) span: Span,
    pub(crate) value: T,
}

/// What was found under a key.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Field<T> {
    /// Not written: the default holds.
    #[default]
    Absent,
    /// Written and reported as wrong: nothing that depends on it can be said. Place of the key.
    // Kept apart from absent: a default in the place of a wrong value would lead to further mistakes that
    // are none.
    Wrong(Span),
    /// Written.
    Given(Entry<T>),
}

impl<T> Field<T> {
    pub(crate) fn given(&self) -> Option<&Entry<T>> {
        match self {
            Self::Given(entry) => Some(entry),
            Self::Absent | Self::Wrong(_) => None,
        }
    }

    /// Place of the key, if it was written at all.
    pub(crate) fn key(&self) -> Option<Span> {
        match self {
            Self::Given(Entry { key, .. }) | Self::Wrong(key) => Some(*key),
            Self::Absent => None,
        }
    }

    /// Place of the value, if it was written and readable.
    pub(crate) fn span(&self) -> Option<Span> {
        self.given().map(|entry| entry.span)
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// What was written, or nothing; `None` where it was wrong.
    #[expect(clippy::option_option, reason = "absent and wrong differ, and `?` leaves the wrong ones out")]
    pub(crate) fn entry(&self) -> Option<Option<&Entry<T>>> {
        match self {
            Self::Given(entry) => Some(Some(entry)),
            Self::Absent => Some(None),
            Self::Wrong(_) => None,
        }
    }

    /// The value, or nothing where none was written; `None` where it was wrong.
    #[expect(clippy::option_option, reason = "absent and wrong differ, and `?` leaves the wrong ones out")]
    pub(crate) fn optional<U>(&self) -> Option<Option<U>>
    where
        T: Plain<U>,
    {
        self.entry().map(|entry| entry.map(|entry| entry.value.plain()))
    }

    /// The value, or the default where none was written; `None` where it was wrong.
    pub(crate) fn value_or<U>(&self, default: U) -> Option<U>
    where
        T: Plain<U>,
    {
        self.optional().map(|value| value.unwrap_or(default))
    }

    /// What `resolve` makes of the value, or nothing where none was written; `None` where either was wrong.
    #[expect(clippy::option_option, reason = "absent and wrong differ, and `?` leaves the wrong ones out")]
    pub(crate) fn resolved<U>(&self, resolve: impl FnOnce(&T) -> Option<U>) -> Option<Option<U>> {
        match self.entry()? {
            Some(entry) => resolve(&entry.value).map(Some),
            None => Some(None),
        }
    }
}

/// A value that has a plain one in a plan.
pub(crate) trait Plain<U> {
    fn plain(&self) -> U;
}

/// In the schema a field is its value; that it may be absent follows from its table's defaults.
impl<T: JsonSchema> JsonSchema for Field<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A type that a scenario can hold.
pub(crate) trait Written: Sized {
    /// What to write, with an example: `a size such as "128 KiB"`.
    fn expected() -> String;

    /// Reads a value. `None` when it was wrong, after reporting it under the key's dotted `path`.
    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self>;
}

/// The value has another type than the key takes.
pub(crate) fn wrong_type<T: Written>(node: &Node, path: &str) -> Problem {
    Problem::new(format!("`{path}` takes {}", T::expected()))
        .at(node.span, format!("this is {}", node.value.kind()))
}

/// Reads the keys of one table. A key that was not asked for by the time of [`Self::finish`] is unknown,
/// so what is accepted and what is said to be known cannot differ.
pub(crate) struct TableReader<'d> {
    path: String,
    table: &'d Table,
    // What was asked for is what is known, so that no list of keys can be forgotten when one is added.
    asked: Vec<&'static str>,
}

impl<'d> TableReader<'d> {
    /// The document itself.
    pub(crate) fn root(table: &'d Table) -> Self {
        Self { path: String::new(), table, asked: Vec::new() }
    }

    /// The table at `node`; reports any other value, with an `example` of what to write under the key.
    pub(crate) fn open(node: &'d Node, path: String, example: &str, problems: &mut Problems) -> Option<Self> {
        if let Value::Table(table) = &node.value {
            return Some(Self { path, table, asked: Vec::new() });
        }
        let problem = Problem::new(format!("`{path}` is a table of keys"))
            .at(node.span, format!("this is {}", node.value.kind()))
            .help(format!("for example {path} = {example}"));
        problems.push(problem);
        None
    }

    /// The node under a key.
    pub(crate) fn node(&mut self, key: &'static str) -> Option<(Span, &'d Node)> {
        self.asked.push(key);
        self.table.get(key).map(|(key, node)| (key.span, node))
    }

    /// The value under a key.
    pub(crate) fn field<T: Written>(&mut self, key: &'static str, problems: &mut Problems) -> Field<T> {
        let Some((at, node)) = self.node(key) else {
            return Field::Absent;
        };
        match T::read(node, &self.dotted(key), problems) {
            Some(value) => Field::Given(Entry { key: at, span: node.span, value }),
            None => Field::Wrong(at),
        }
    }

    /// Refuses every key that was not asked for.
    pub(crate) fn finish(self, problems: &mut Problems) {
        for (key, _) in &self.table.entries {
            if !self.asked.contains(&key.text.as_str()) {
                problems.push(self.unknown(&key.text, key.span));
            }
        }
    }

    fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn unknown(&self, key: &str, span: Span) -> Problem {
        let known = format!("known keys: {}", self.asked.join(", "));
        let place = if self.path.is_empty() { String::new() } else { format!(" in `{}`", self.path) };
        let label = match closest(key, self.asked.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "not a key of this table".to_owned(),
        };
        Problem::new(format!("unknown key `{key}`{place}")).at(span, label).help(known)
    }
}

/// The known word that `word` was most likely meant to be: at most a third of its letters differ.
pub(crate) fn closest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    // People write `queue-depth` as in other tools.
    let lower = word.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, candidate), candidate))
        // A third: `queue_dept` is near enough, `depth` is not, and a wrong suggestion is worse than the
        // list of keys.
        .filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
