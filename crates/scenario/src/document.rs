//! A TOML text as a tree with positions, in the order of the text.
//!
//! `toml` sorts keys and ties its values to one text; overrides come from others, and the order of
//! targets is the user's.

use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Problem, Problems, Source, Span, boundary_before};

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

/// Reads the scenario's text. The spans are the places that could not be read.
pub(crate) fn parse(source: &Source, problems: &mut Problems) -> (Table, Vec<Span>) {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let places = syntax(0, &source.text, &errors, problems);
    (table_from(0, 0, table.get_ref()), places)
}

/// Reads the value of an override, which begins at byte `offset` of its text; `None` when it is no TOML.
pub(crate) fn parse_value(source: usize, offset: usize, text: &str) -> Result<Node, toml::de::Error> {
    let value = DeValue::parse(text)?;
    Ok(node_from(source, offset, value.span(), value.get_ref()))
}

/// Reports syntax errors, the first of each line: what follows on a line is most often its consequence.
fn syntax(source: usize, text: &str, errors: &[toml::de::Error], problems: &mut Problems) -> Vec<Span> {
    let mut lines: Vec<Span> = Vec::new();
    for error in errors {
        let range = error.span().unwrap_or(text.len()..text.len());
        let line = line_around(text, range.start);
        let line = Span::new(source, line.start..line.end.max(range.end));
        if !lines.iter().any(|seen| seen.start == line.start) {
            problems.push(syntax_problem(error, Span::new(source, range)));
            lines.push(line);
        }
    }
    lines
}

fn syntax_problem(error: &toml::de::Error, span: Span) -> Problem {
    match error.message() {
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

fn line_around(text: &str, at: usize) -> std::ops::Range<usize> {
    let at = boundary_before(text, at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    start..end
}

fn table_from(source: usize, offset: usize, table: &DeTable<'_>) -> Table {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| {
            let span = shifted(source, offset, key.span());
            let node = node_from(source, offset, value.span(), value.get_ref());
            (Key { text: key.get_ref().to_string(), span }, node)
        })
        .collect();
    entries.sort_by_key(|(key, _)| key.span);
    Table { entries }
}

fn node_from(source: usize, offset: usize, span: std::ops::Range<usize>, value: &DeValue<'_>) -> Node {
    let value = match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(integer) => {
            Value::Integer { digits: integer.as_str().to_owned(), radix: integer.radix() }
        }
        DeValue::Float(float) => Value::Float(float.as_str().to_owned()),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Array(items) => Value::Array(
            items.iter().map(|item| node_from(source, offset, item.span(), item.get_ref())).collect(),
        ),
        DeValue::Table(table) => Value::Table(table_from(source, offset, table)),
    };
    Node { value, span: shifted(source, offset, span) }
}

fn shifted(source: usize, offset: usize, span: std::ops::Range<usize>) -> Span {
    Span::new(source, span.start + offset..span.end + offset)
}
