//! Hints in the form in which was asked. They are written as a scenario file is; whoever wrote none has flags.

use feed::typed_word;

/// Tables that a key of a hint begins with.
const TABLES: [&str; 10] =
    ["need", "dataset", "targets", "load", "training", "cache_tier", "checkpoint", "copy", "measure", "gate"];

/// The one target of a command line without a file.
// The name that `from_path` gives it.
const TARGET: &str = "targets.data.";

/// Keys that hints write without their table.
// Written out and not searched for in the schema: the same key may stand in two tables, and a hint means
// one of them.
const BARE: [(&str, &str); 12] = [
    ("engine", TARGET),
    ("on_unavailable", TARGET),
    ("region", TARGET),
    ("endpoint", TARGET),
    ("style", TARGET),
    ("ca", TARGET),
    ("queue_depth", "load."),
    ("cache", "load."),
    ("operation", "load."),
    ("hold", "need."),
    ("budget", "measure."),
    ("decode", "training."),
];

/// The same hint with each `key = value` as the flag that sets it: `--need 8xh100:resnet50`, `--hold bytes`,
/// `--set load.cache=cold`. For a command line that names a path, whose one target is `data`.
pub fn in_flags(hint: &str) -> String {
    rewritten(hint, true)
}

/// The same for a command line that names a file and sets a key of it. What is said of a target stays as the file has it.
pub(crate) fn in_overrides(hint: &str) -> String {
    rewritten(hint, false)
}

fn rewritten(hint: &str, names_target: bool) -> String {
    let mut flags = String::with_capacity(hint.len());
    let mut rest = hint;
    while let Some(equals) = rest.find(" = ") {
        let (before, after) = (&rest[..equals], &rest[equals + 3..]);
        let start = before.trim_end_matches(is_of_key).len();
        let length = value_length(after);
        let key = full(&before[start..]).filter(|key| names_target || !key.starts_with(TARGET));
        match key.filter(|_| length > 0) {
            Some(key) => {
                flags.push_str(&before[..start]);
                flags.push_str(&flag(&key, &after[..length]));
            }
            None => flags.push_str(&rest[..equals + 3 + length]),
        }
        rest = &after[length..];
    }
    flags + rest
}

fn is_of_key(c: char) -> bool {
    c.is_ascii_lowercase() || matches!(c, '_' | '.')
}

/// The key with its table; `None` for what is no key of a scenario.
fn full(key: &str) -> Option<String> {
    let table = key.split('.').next().unwrap_or(key);
    if TABLES.contains(&table) {
        return Some(key.to_owned());
    }
    BARE.iter().find(|(bare, _)| *bare == key).map(|(bare, table)| format!("{table}{bare}"))
}

/// Bytes of the value that a text begins with.
fn value_length(text: &str) -> usize {
    let up_to = |end: char| text[1..].find(end).map_or(0, |at| at + 2);
    match text.chars().next() {
        Some('"') => up_to('"'),
        Some('[' | '{') => bracketed_length(text),
        _ => {
            let word =
                text.find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c))).unwrap_or(text.len());
            text[..word].trim_end_matches('.').len()
        }
    }
}

/// Bytes of the list or table that a text begins with, and of what lies in it; 0 of one that does not end.
fn bracketed_length(text: &str) -> usize {
    let (mut depth, mut is_quoted) = (0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    0
}

fn flag(key: &str, value: &str) -> String {
    let text = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    match key {
        "need" => format!("--need {}", typed_word(text)),
        "need.hold" => format!("--hold {text}"),
        "dataset.source" if text == "existing" => "--existing".to_owned(),
        "measure.budget" => format!("--budget {}", typed_word(text)),
        _ => format!("--set {}", typed_word(&format!("{key}={text}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{in_flags, in_overrides};

    #[test]
    fn keys_become_the_flags_that_set_them() {
        let cases = [
            ("write load.cache = \"cold\", or remove it", "write --set load.cache=cold, or remove it"),
            ("engine = \"pread\" does without it", "--set targets.data.engine=pread does without it"),
            ("need = \"8xh100:resnet50\"", "--need 8xh100:resnet50"),
            ("need = { rate = \"2 GB/s\" }", "--need '{ rate = \"2 GB/s\" }'"),
            ("need = { a = { b = \"}\" } } or", "--need '{ a = { b = \"}\" } }' or"),
            ("need = [\"1 GB/s\", [2]]", "--need '[\"1 GB/s\", [2]]'"),
            ("need = { a = { never", "need = { a = { never"),
            ("write hold = \"samples\"", "write --hold samples"),
            ("dataset.source = \"existing\" reads them", "--existing reads them"),
            ("for example measure.budget = \"2h\"", "for example --budget 2h"),
            ("dataset.size = \"8 GiB\".", "--set 'dataset.size=8 GiB'."),
            ("load.queue_depth = [8, 32]", "--set 'load.queue_depth=[8, 32]'"),
            ("dataset.beside_others = true writes", "--set dataset.beside_others=true writes"),
            ("12 x 9 = 108 cells, load.threads = 2.", "12 x 9 = 108 cells, --set load.threads=2."),
            ("at = \"x = 1\" and \u{2265} = ", "at = \"x = 1\" and \u{2265} = "),
        ];
        for (hint, flags) in cases {
            assert_eq!(in_flags(hint), flags);
        }
        assert_eq!(in_overrides("write engine = \"pread\""), "write engine = \"pread\"");
        assert_eq!(in_overrides("write load.cache = \"cold\""), "write --set load.cache=cold");
    }
}
