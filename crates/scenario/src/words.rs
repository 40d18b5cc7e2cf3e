//! Keys whose value is one of a few words.

use std::borrow::Cow;

use plan::{Access, Cache, CellOrder, Engine, OnUnavailable, Registered};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::diagnostic::{Problem, Problems};
use crate::document::{Node, Value};
use crate::later;
use crate::reader::{Written, closest, wrong_type};

/// A type whose values are words, each with what it means.
pub(crate) trait Vocabulary: Clone + 'static {
    /// Word, value, meaning.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

/// One of the words of `T`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Word<T>(pub(crate) T);

impl<T: Vocabulary> Written for Word<T> {
    fn expected() -> String {
        let words: Vec<_> = T::WORDS.iter().map(|(word, ..)| format!("\"{word}\"")).collect();
        match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => words.concat(),
        }
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Value::String(text) = &node.value else {
            problems.push(wrong_type::<Self>(node, path));
            return None;
        };
        let found = T::WORDS.iter().find(|(word, ..)| word == text);
        if found.is_none() {
            let label = if later::is_word(text) {
                "not in this version".to_owned()
            } else {
                match closest(text, T::WORDS.iter().map(|(word, ..)| *word)) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "not one of its words".to_owned(),
                }
            };
            let message = format!("`{path}` takes {}", Self::expected());
            problems.push(Problem::new(message).at(node.span, label));
        }
        found.map(|(_, value, _)| Self(value.clone()))
    }
}

impl<T: Vocabulary> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<T>().rsplit("::").next().unwrap_or_default().to_lowercase().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = T::WORDS
            .iter()
            .map(|(word, _, meaning)| serde_json::json!({ "const": word, "description": meaning }))
            .collect();
        json_schema!({ "oneOf": words })
    }
}

/// How reads are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Closed,
}

impl Vocabulary for Mode {
    const WORDS: &'static [(&'static str, Self, &'static str)] =
        &[("closed", Self::Closed, "A read is issued as soon as one has ended: the depth is kept full.")];
}

/// Where the files that are read come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    #[default]
    Generate,
    Existing,
}

impl Vocabulary for Origin {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("generate", Self::Generate, "feedline writes incompressible files into a folder marked as its own."),
        ("existing", Self::Existing, "The files already below each target's path; nothing is written there."),
    ];
}

impl Vocabulary for Engine {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("io_uring", Self::IoUring, "Linux io_uring, one ring per thread."),
        ("pread", Self::Pread, "One blocking pread at a time per thread: the queue depth is the threads."),
    ];
}

impl Vocabulary for Registered {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("auto", Self::Auto, "Register buffers and files where the limits allow it."),
        ("required", Self::Required, "Fail when anything could not be registered."),
        ("off", Self::Off, "Do not register."),
    ];
}

impl Vocabulary for OnUnavailable {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("fail", Self::Fail, "The run ends with an error that names the limit."),
        ("skip", Self::Skip, "The engine's cells are left out, and the record says so."),
        ("io_uring", Self::Use(Engine::IoUring), "io_uring takes its place, in cells that say so."),
        ("pread", Self::Use(Engine::Pread), "pread takes its place, in cells that say so."),
    ];
}

impl Vocabulary for Access {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("sequential", Self::Sequential, "Files in order, blocks in order, again and again."),
        ("random", Self::Random, "Any block of the dataset at each step, with replacement."),
        (
            "shuffled_epoch",
            Self::ShuffledEpoch,
            "Every sample once per epoch, in an order drawn anew each epoch.",
        ),
    ];
}

impl Vocabulary for Cache {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("cold", Self::Cold, "Evicted before each repetition, proven so, and no byte read twice."),
        ("warm", Self::Warm, "Read in full before each repetition, proven resident."),
        ("bypass", Self::Bypass, "Direct I/O: the page cache takes no part."),
    ];
}

impl Vocabulary for CellOrder {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("random", Self::Random, "A new seeded random order each round, so that drift hits all cells alike."),
        ("file", Self::File, "The order of the file."),
    ];
}
