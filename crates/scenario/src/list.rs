//! Keys that take one value or a list of them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::{Node, Value};
use crate::reader::{Field, Plain, Written, wrong_type};

/// Longest list that is read. A scenario has at most 10,000 cells, and a longer list is a mistake that
/// would take quadratic time to search for repeated values.
const LIST_LENGTH_MAX: usize = 1000;

/// A value of a list, with its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Item<T> {
    pub(crate) span: Span,
    pub(crate) value: T,
}

/// One value, or a list of distinct values to compare.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis<T>(pub(crate) Vec<Item<T>>);

impl<T: Written + PartialEq> Written for Axis<T> {
    fn expected() -> String {
        format!("{}, or a list of them", T::expected())
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Array(items) => read_items(node, items, path, problems).map(Self),
            // One value is a list of one, so that adding a second one changes no other line of a scenario.
            _ => T::read(node, path, problems).map(|value| Self(vec![Item { span: node.span, value }])),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Axis<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("axis_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (one, list) = (T::json_schema(generator), list_schema::<T>(generator));
        json_schema!({ "anyOf": [one, list] })
    }
}

impl<T: Plain<U>, U> Plain<Vec<U>> for Axis<T> {
    fn plain(&self) -> Vec<U> {
        self.0.iter().map(|item| item.value.plain()).collect()
    }
}

impl<T> Field<Axis<T>> {
    /// Each value with its place, or the default, which has none; `None` where it was wrong.
    pub(crate) fn placed_or<U>(&self, default: U) -> Option<Vec<(U, Option<Span>)>>
    where
        T: Plain<U>,
    {
        let placed = |item: &Item<T>| (item.value.plain(), Some(item.span));
        Some(match self.entry()? {
            Some(axis) => axis.value.0.iter().map(placed).collect(),
            None => vec![(default, None)],
        })
    }
}

/// A list of distinct values; one value is a list of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct List<T>(pub(crate) Vec<Item<T>>);

impl<T: Written + PartialEq> Written for List<T> {
    fn expected() -> String {
        format!("a list of {}", T::expected())
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        if let Value::Array(items) = &node.value {
            return read_items(node, items, path, problems).map(Self);
        }
        problems.push(wrong_type::<Self>(node, path).help("put it in brackets"));
        None
    }
}

impl<T: Plain<U>, U> Plain<Vec<U>> for List<T> {
    fn plain(&self) -> Vec<U> {
        self.0.iter().map(|item| item.value.plain()).collect()
    }
}

impl<T: JsonSchema> JsonSchema for List<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("list_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        list_schema::<T>(generator)
    }
}

fn list_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let items = T::json_schema(generator);
    json_schema!({
        "type": "array", "items": items, "minItems": 1, "maxItems": LIST_LENGTH_MAX, "uniqueItems": true
    })
}

/// Reads every item, so that all wrong ones are reported; `None` when any was.
fn read_items<T: Written + PartialEq>(
    node: &Node,
    items: &[Node],
    path: &str,
    problems: &mut Problems,
) -> Option<Vec<Item<T>>> {
    let length = match items.len() {
        0 => Some("this list is empty".to_owned()),
        n if n > LIST_LENGTH_MAX => Some(format!("this list has {n} values; {LIST_LENGTH_MAX} are allowed")),
        _ => None,
    };
    // An empty list would make no cell at all, and a run of nothing would pass every gate.
    if let Some(wrong) = length {
        let expected = T::expected();
        problems.push(Problem::new(format!("`{path}` takes {expected}")).at(node.span, wrong));
        return None;
    }
    let read: Vec<_> = items
        .iter()
        .filter_map(|item| T::read(item, path, problems).map(|value| Item { span: item.span, value }))
        .collect();
    // A value twice would make two cells of one name, of which records and baselines know one.
    let distinct = refuse_repeated(&read, path, problems);
    (distinct && read.len() == items.len()).then_some(read)
}

fn refuse_repeated<T: PartialEq>(items: &[Item<T>], path: &str, problems: &mut Problems) -> bool {
    let mut distinct = true;
    for (index, item) in items.iter().enumerate() {
        if let Some(first) = items[..index].iter().find(|earlier| earlier.value == item.value) {
            let problem = Problem::new(format!("`{path}` has the same value twice"))
                .at(item.span, "this repeats")
                .also(first.span, "this")
                .help("remove one of them; `measure.repetitions` measures the same thing more often");
            problems.push(problem);
            distinct = false;
        }
    }
    distinct
}
