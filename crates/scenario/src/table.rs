//! Tables of keys. Each key is described once: its name, the kind of its value, what it means, and what it is for.
//!
//! From that description follow what the reader accepts, what it says of an unknown key, the schema and the reference in
//! the book, and the refusal of a key where it means nothing ([`Only`]).

use crate::diagnostic::{Problem, Problems, Span};
use crate::document::{Key, Node};
use crate::only::Only;
use crate::reader::{TableReader, Written};

/// One key of a table that was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyOf {
    pub(crate) name: &'static str,
    /// Where it was written, if it was.
    pub(crate) at: Option<Span>,
    /// Whether its value was refused.
    pub(crate) is_wrong: bool,
    /// What it is for; nothing where it always means something.
    pub(crate) only: &'static [Only],
}

/// The keys of a table, as [`table!`] generates them.
pub(crate) trait Keys: Default {
    /// Reads every key of the table that stands under `name`.
    fn take(name: Key, table: &mut TableReader<'_>, problems: &mut Problems) -> Self;

    /// Every key, in the order of the description.
    fn keys(&self) -> Vec<KeyOf>;

    /// Whether the table was written at all.
    fn is_written(&self) -> bool;

    /// Whether the value of any key was refused.
    fn is_wrong(&self) -> bool {
        self.keys().iter().any(|key| key.is_wrong)
    }
}

/// A table that a scenario can hold.
pub(crate) trait Table: Keys {
    /// Such a table as it is written: `{ size = "8 GiB" }`.
    const EXAMPLE: &'static str;

    /// Reports what its keys say together that is wrong.
    // Only what a table says by itself; what two tables say together is the business of `resolve`.
    fn check(&self, _: &mut Problems) {}
}

impl<T: Table> Written for T {
    fn expected() -> String {
        format!("a table such as {}", T::EXAMPLE)
    }

    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        read(Key { text: path.to_owned(), span: node.span }, node, path, problems)
    }
}

/// Reads the table at `node`, which stands under `name`; `None` when it is not a table, after saying so.
pub(crate) fn read<T: Table>(name: Key, node: &Node, path: &str, problems: &mut Problems) -> Option<T> {
    let mut reader = TableReader::open(node, path.to_owned(), T::EXAMPLE, problems)?;
    let table = T::take(name, &mut reader, problems);
    // Before `check`: an unknown key is often the misspelt one that is then missing.
    reader.finish(problems);
    table.check(problems);
    Some(table)
}

/// A key that a table must have is missing: `question` asks for it, the table is marked with `label`.
pub(crate) fn missing(table: &Key, key: &str, question: &str, label: &str, example: &str) -> Problem {
    Problem::absent(format!("`{}.{key}` is missing{question}", table.text))
        .at(table.span, label)
        .help(format!("for example {example}"))
}

/// Declares a table: its keys with their descriptions, the kinds of their values, and after `=>` what a key is for.
// One description for the struct, the reader, the list of keys and the refusals, which were four places
// that had to agree.
macro_rules! table {
    (
        $(#[$of_table:meta])*
        $visible:vis struct $name:ident {
            $( $(#[$of_key:meta])* $key:ident: $kind:ty $(=> [$($only:expr),+])?, )*
        }
    ) => {
        #[derive(Debug, Clone, Default, PartialEq, schemars::JsonSchema)]
        #[schemars(default, deny_unknown_fields)]
        $(#[$of_table])*
        $visible struct $name {
            /// What the table stands under; empty where it was not written.
            #[schemars(skip)]
            $visible name: $crate::document::Key,
            $( $(#[$of_key])* $visible $key: $crate::reader::Field<$kind>, )*
        }

        impl $crate::table::Keys for $name {
            fn take(
                name: $crate::document::Key,
                table: &mut $crate::reader::TableReader<'_>,
                problems: &mut $crate::diagnostic::Problems,
            ) -> Self {
                Self { name, $( $key: table.field(stringify!($key), problems), )* }
            }

            fn is_written(&self) -> bool {
                self.name != $crate::document::Key::default()
            }

            fn keys(&self) -> Vec<$crate::table::KeyOf> {
                vec![$(
                    $crate::table::KeyOf {
                        name: stringify!($key),
                        at: self.$key.key(),
                        is_wrong: matches!(self.$key, $crate::reader::Field::Wrong(_)),
                        only: &[$($($only),+)?],
                    },
                )*]
            }
        }
    };
}

pub(crate) use table;
