//! Which datasets of a file are read.

use super::dataset::Dataset;

/// Names that an error lists, and letters of each.
const NAMES_MAX: usize = 32;
const NAME_LETTERS_MAX: usize = 64;

/// What a file holds, as far as the choice needs it.
#[derive(Default)]
pub(crate) struct Choice {
    /// The dataset of most bytes, the first of several.
    largest: Option<(String, Dataset)>,
    bytes: u64,
    names: Vec<String>,
}

impl Choice {
    /// Takes in a dataset.
    pub(crate) fn add(&mut self, path: &str, dataset: Dataset) {
        // What no file holds is refused when it is read.
        let bytes = dataset.bytes().unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(bytes);
        self.name(path);
        let before = self.largest.as_ref().map(|(_, largest)| largest.bytes().unwrap_or(u64::MAX));
        if before.is_none_or(|before| bytes > before) {
            self.largest = Some((path.to_owned(), dataset));
        }
    }

    /// Takes in a name that an error may list.
    pub(crate) fn name(&mut self, path: &str) {
        if self.names.len() < NAMES_MAX {
            self.names.push(path.chars().take(NAME_LETTERS_MAX).collect());
        }
    }

    /// The names, or the first of them.
    pub(crate) fn names(&self) -> String {
        self.names.join(", ")
    }

    /// The dataset that holds more than half of all bytes, where one does.
    pub(crate) fn most(&self) -> Option<&(String, Dataset)> {
        let largest = self.largest.as_ref()?;
        let bytes = largest.1.bytes().unwrap_or(u64::MAX);
        (bytes > self.bytes / 2 || bytes == self.bytes).then_some(largest)
    }

    /// Whether there is a dataset at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.largest.is_none()
    }
}

/// Of each name whether the dataset is called so, or lies in a group that is.
pub(crate) fn is_named(path: &str, names: &[String]) -> Vec<bool> {
    let within = |name: &String| {
        let name = name.trim_matches('/');
        let rest = path.strip_prefix(name);
        rest.is_some_and(|rest| name.is_empty() || rest.is_empty() || rest.starts_with('/'))
    };
    names.iter().map(within).collect()
}
