//! `--set key.path=value`: changes to the parsed document, before it is read.

use feed::NeedSpec;

use crate::diagnostic::{Problem, Problems, Source, Span};
use crate::document::{Key, Node, Table, Value, parse_value, plain};

/// How an override is written, for messages.
// Both a list and a duration: shells need quotes for neither.
const FORM: &str = "write table.key=value, e.g. --set load.queue_depth=[1,8] or --set measure.duration=20s";

/// The override as a text of its own, so that mistakes in it point there.
pub(crate) fn source(index: usize, text: &str) -> Source {
    Source { name: format!("--set {}", index + 1), text: text.to_owned() }
}

/// Applies the override that is text number `source`.
pub(crate) fn apply(document: &mut Table, source: usize, text: &str, problems: &mut Problems) {
    match assignment(source, text) {
        Ok((path, value)) => {
            // `--set need.count=16` is what somebody types who wrote `need = "8xh100:resnet50"`.
            if let [need, _, ..] = path.as_slice()
                && need.text == "need"
            {
                write_out_need(document);
            }
            if let Err(problem) = set(document, &path, value) {
                problems.push(problem);
            }
        }
        Err(problem) => problems.push(problem),
    }
}

fn assignment(source: usize, text: &str) -> Result<(Vec<Key>, Node), Problem> {
    let whole = Span::new(source, 0..text.len());
    let Some(equals) = text.find('=') else {
        return Err(Problem::new("an override without `=`").at(whole, "sets nothing").help(FORM));
    };
    let path = keys(source, &text[..equals]);
    if let Some(key) = path.iter().find(|key| key.text.is_empty()) {
        return Err(Problem::new("an override without a key").at(key.span, "a key belongs here").help(FORM));
    }
    Ok((path, value(source, equals + 1, &text[equals + 1..])?))
}

fn keys(source: usize, path: &str) -> Vec<Key> {
    let mut start = 0;
    path.split('.')
        .map(|part| {
            let first = start + part.len() - part.trim_start().len();
            start += part.len() + 1;
            let text = part.trim().to_owned();
            Key { span: Span::new(source, first..first + text.len()), text }
        })
        .collect()
}

/// TOML where it is TOML; other text is a string, so that `duration=20s` needs no quotes within quotes.
fn value(source: usize, offset: usize, text: &str) -> Result<Node, Problem> {
    let offset = offset + text.len() - text.trim_start().len();
    let text = text.trim();
    let span = Span::new(source, offset..offset + text.len());
    match parse_value(source, offset, text) {
        Ok(node) => Ok(node),
        // Text that opens a bracket or a quote was meant as TOML: taken as a string it would be refused
        // further on with another reason.
        Err(error) if text.starts_with(['[', '{', '"', '\'']) => {
            Err(Problem::new(format!("this is not TOML: {}", plain(error.message()))).at(span, "").help(FORM))
        }
        Err(_) => Ok(Node { value: Value::String(text.to_owned()), span }),
    }
}

/// Replaces the short form of a need by the table that it stands for, so that keys can be set in it.
fn write_out_need(document: &mut Table) {
    let Some((_, node)) = document.get_mut("need") else { return };
    let Value::String(text) = &node.value else { return };
    let string = |text: String| Value::String(text);
    let keys = match NeedSpec::parse_short(text) {
        Ok(NeedSpec::Profile { workload, accelerator, count, .. }) => vec![
            ("workload", string(workload)),
            ("accelerator", string(accelerator)),
            ("count", Value::Integer { digits: count.to_string(), radix: 10 }),
        ],
        Ok(NeedSpec::Rate { .. }) => vec![("rate", string(text.trim().to_owned()))],
        // What it is not is said when it is read.
        _ => return,
    };
    let span = node.span;
    let entry = |(key, value): (&str, Value)| (Key { text: key.to_owned(), span }, Node { value, span });
    node.value = Value::Table(Table { entries: keys.into_iter().map(entry).collect() });
}

fn set(table: &mut Table, path: &[Key], value: Node) -> Result<(), Problem> {
    let Some((key, below)) = path.split_first() else {
        return Ok(());
    };
    if below.is_empty() {
        match table.get_mut(&key.text) {
            Some(entry) => *entry = (key.clone(), value),
            // A key that is not there yet is set all the same; whether it is known is said when it is read,
            // with the place of the flag.
            None => table.entries.push((key.clone(), value)),
        }
        return Ok(());
    }
    if table.get(&key.text).is_none() {
        let empty = Node { value: Value::Table(Table::default()), span: key.span };
        table.entries.push((key.clone(), empty));
    }
    match table.get_mut(&key.text) {
        Some((_, Node { value: Value::Table(inner), .. })) => set(inner, below, value),
        Some((_, node)) => Err(Problem::new(format!("`{}` is {}, not a table", key.text, node.value.kind()))
            .at(key.span, "has no keys to set")
            .also(node.span, "written here")
            .help(format!("set the whole of it: --set {}=...", key.text))),
        None => Ok(()),
    }
}
