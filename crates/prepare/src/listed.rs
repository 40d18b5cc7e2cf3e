//! The dataset of a list: the files that it names, each a sample as often as it is named, in its order.

use std::collections::HashMap;

use dataset::{Extent, Fingerprint, Index, Key, Objects, Samples};
use plan::FileOrder;

use crate::error::PrepareError;

/// Characters of a name that an error shows.
const SHOWN_CHARS_MAX: usize = 200;

/// The names of a list.
pub(crate) struct Names<'a> {
    order: &'a FileOrder,
    /// The number of the object that has the name, once it was found.
    numbers: HashMap<&'a str, Option<u32>>,
}

impl<'a> Names<'a> {
    /// None of them found yet.
    pub(crate) fn of(order: &'a FileOrder) -> Self {
        Self { order, numbers: order.names().map(|(_, name)| (name, None)).collect() }
    }

    /// The file that holds the list.
    pub(crate) fn at(&self) -> &'a str {
        &self.order.at
    }

    /// Whether the list names an object.
    pub(crate) fn takes(&self, key: &Key) -> bool {
        self.numbers.contains_key(key.as_str())
    }

    /// The samples of the list, which lie in `objects`, and a hash over their names.
    ///
    /// # Errors
    /// When a name is that of no object.
    pub(crate) fn samples(mut self, objects: &Objects) -> Result<(Samples, String), PrepareError> {
        for number in 0..objects.count() {
            if let Some(found) = self.numbers.get_mut(objects.key(number).as_str()) {
                *found = Some(number);
            }
        }
        let (mut index, mut digest) = (Index::default(), Fingerprint::default());
        for (line, name) in self.order.names() {
            let Some(object) = self.numbers.get(name).copied().flatten() else {
                let name = name.chars().take(SHOWN_CHARS_MAX).collect();
                return Err(PrepareError::NotThere { order: self.order.at.clone(), line, name });
            };
            let bytes = objects.bytes(object);
            index.push(1, &[Extent { object, offset: 0, bytes }]);
            digest.add(&objects.key(object), bytes, 0);
        }
        Ok((Samples::Indexed(index), digest.finish()))
    }
}
