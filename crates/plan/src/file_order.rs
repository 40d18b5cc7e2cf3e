//! An order that the user has: which files are read, one after the other.

use std::collections::HashSet;
use std::sync::Arc;

/// The files that are read, in the order of a text with one name a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOrder {
    /// The file that holds the text, as the scenario names it.
    pub at: String,
    /// Number of names: reads of whole files in one pass.
    pub reads: u64,
    /// Number of different names.
    pub files: u64,
    // One text for all names, shared by all copies of the plan: a list of ImageNet is 40 MB, and a string for each name
    // would double that.
    text: Arc<str>,
}

impl FileOrder {
    /// The order of `text`, which was read from `at`.
    pub fn new(at: String, text: Arc<str>) -> Self {
        let mut different = HashSet::new();
        let reads = names(&text).inspect(|(_, name)| _ = different.insert(*name)).count() as u64;
        Self { at, reads, files: different.len() as u64, text }
    }

    /// The names, each relative to the dataset's root and with the number of its line, from 1.
    pub fn names(&self) -> impl Iterator<Item = (u64, &str)> {
        names(&self.text)
    }

    /// Whether a file is read twice in one pass.
    pub fn repeats(&self) -> bool {
        self.files < self.reads
    }
}

fn names(text: &str) -> impl Iterator<Item = (u64, &str)> {
    // `find .` begins every name with `./`, and is how most lists are made.
    let name = |line: &str| if line.starts_with("./") { 2 } else { 0 };
    (1..)
        .zip(text.lines())
        .map(move |(number, line)| (number, &line[name(line)..]))
        .filter(|(_, name)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_keeps_its_number() {
        let order = FileOrder::new("o".to_owned(), "./b/1\r\n\na 2\nb/1\n# 3".into());
        let names: Vec<_> = order.names().collect();
        assert_eq!(names, [(1, "b/1"), (3, "a 2"), (4, "b/1"), (5, "# 3")]);
        assert_eq!((order.reads, order.files, order.repeats()), (4, 3, true));
        assert!(!FileOrder::new("o".to_owned(), "a\nb".into()).repeats());
    }
}
