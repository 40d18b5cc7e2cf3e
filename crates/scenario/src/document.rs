//! A TOML text as a tree with positions, in the order of the text.
//!
//! `toml` sorts keys and ties its values to one text; overrides come from others, and the order of
//! targets is the user's.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Problem, Problems, Source, Span};
use crate::recovery::mend;

/// A key as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// The values of TOML. Numbers keep their digits: which range is allowed depends on the key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    String(String),
    // A seed of 2^63 is too large for TOML's type and still deserves a message of its key.
    Integer { digits: String, radix: u32 },
    Float(String),
    Boolean(bool),
    Datetime,
    Array(Vec<Node>),
    Table(Table),
}

impl Value {
    /// The type with its article, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Integer { .. } => "an integer",
            Self::Float(_) => "a number",
            Self::Boolean(_) => "a boolean",
            Self::Datetime => "a date or time",
            Self::Array(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// A table, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq)]
// A vector and not a map: targets are shown in the order of the file, and tables have a handful of keys.
pub(crate) struct Table {
    pub(crate) entries: Vec<(Key, Node)>,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&(Key, Node)> {
        self.entries.iter().find(|(found, _)| found.text == key)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut (Key, Node)> {
        self.entries.iter_mut().find(|(found, _)| found.text == key)
    }
}

/// What was read of a text.
pub(crate) struct Parsed {
    pub(crate) table: Table,
    /// The places that could not be read.
    pub(crate) unreadable: Vec<Span>,
    /// Whether each key is there whose value could not be read.
    pub(crate) keeps_keys: bool,
}

/// Reads the scenario's text, and what is wrong with it.
pub(crate) fn parse(source: &Source, problems: &mut Problems) -> Parsed {
    let mended = mend(&source.text);
    let mut unreadable = Vec::new();
    for (error, place) in &mended.broken {
        let start = place.start;
        let end = start + source.text[place.clone()].trim_end().len();
        let range = error.span().map_or(start..end, |span| start + span.start..start + span.end);
        problems.push(syntax_problem(error, Span::new(0, range)));
        unreadable.push(Span::new(0, start..end));
    }
    // Twice: what was mended by statements may still clash as a whole, with a key that is written twice.
    let (table, errors) = DeTable::parse_recoverable(&mended.text);
    for error in &errors {
        let span = error.span().unwrap_or(mended.text.len()..mended.text.len());
        let span = Span::new(0, mended.as_written(span));
        problems.push(syntax_problem(error, span));
        unreadable.push(span);
    }
    let place = |range| Span::new(0, mended.as_written(range));
    Parsed { table: table_from(&place, table.get_ref()), unreadable, keeps_keys: mended.keeps_keys }
}

/// Reads the value of an override, which begins at byte `offset` of its text; `None` when it is no TOML.
pub(crate) fn parse_value(source: usize, offset: usize, text: &str) -> Result<Node, toml::de::Error> {
    let value = DeValue::parse(text)?;
    let placed = |range: Range<usize>| Span::new(source, range.start + offset..range.end + offset);
    Ok(node_from(&placed, value.span(), value.get_ref()))
}

fn syntax_problem(error: &toml::de::Error, span: Span) -> Problem {
    match error.message() {
        // The parser's own words say that a key is a duplicate; what a user wants is most often a list.
        "duplicate key" => Problem::new("the same key is written twice")
            .at(span, "this is the second")
            .help("keep one of them; several values to compare are a list, e.g. queue_depth = [8, 32]"),
        message => Problem::new(format!("this is not TOML: {}", plain(message))).at(span, "").help(
            "text is quoted (\"10s\"), lists are in brackets ([8, 32]), tables in braces or under [name]",
        ),
    }
}

/// A parse error without the parser's words for "no alternative is known".
pub(crate) fn plain(message: &str) -> &str {
    message.strip_suffix(", expected nothing").unwrap_or(message)
}

/// Where a range of the text that was parsed lies among the texts of the scenario.
type Placed<'a> = &'a dyn Fn(Range<usize>) -> Span;

fn table_from(placed: Placed<'_>, table: &DeTable<'_>) -> Table {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| {
            let node = node_from(placed, value.span(), value.get_ref());
            (Key { text: key.get_ref().to_string(), span: placed(key.span()) }, node)
        })
        .collect();
    // `toml` sorts by name; the place in the text gives the user's order back.
    entries.sort_by_key(|(key, _)| key.span);
    Table { entries }
}

fn node_from(placed: Placed<'_>, span: Range<usize>, value: &DeValue<'_>) -> Node {
    let value = match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(integer) => {
            Value::Integer { digits: integer.as_str().to_owned(), radix: integer.radix() }
        }
        DeValue::Float(float) => Value::Float(float.as_str().to_owned()),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| node_from(placed, item.span(), item.get_ref())).collect())
        }
        DeValue::Table(table) => Value::Table(table_from(placed, table)),
    };
    Node { value, span: placed(span) }
}
