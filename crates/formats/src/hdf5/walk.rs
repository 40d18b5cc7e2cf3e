//! Walks all groups of a file.

use std::collections::BTreeSet;

use super::dataset::Dataset;
use super::dense;
use super::file::File;
use super::links::{self, Link};
use super::object::{self, Group, Object, Types};
use crate::error::FormatError;

/// Groups within groups that are followed.
const DEPTH_MAX: usize = 32;

/// Called with the path of a dataset and what its header says.
pub(crate) type Each<'e> = dyn FnMut(&mut File<'_, '_>, &str, Dataset) -> Result<(), FormatError> + 'e;

/// The objects that were met, and the path to where the walk is.
#[derive(Default)]
pub(crate) struct Walk {
    met: BTreeSet<u64>,
    types: Types,
    path: String,
}

impl Walk {
    /// Calls `each` with every dataset that the object at an address is or holds. Of an object with several paths the first counts.
    pub(crate) fn visit(
        &mut self,
        file: &mut File<'_, '_>,
        address: u64,
        depth: usize,
        each: &mut Each<'_>,
    ) -> Result<(), FormatError> {
        // Groups may hold each other.
        if !self.met.insert(address) {
            return Ok(());
        }
        let group = match object::read(file, address, &mut self.types)? {
            Object::Other => return Ok(()),
            Object::Dataset(dataset) => return each(file, &self.path, dataset),
            Object::Group(group) => group,
        };
        if depth == DEPTH_MAX {
            return Err(file.broken(format!("more than {DEPTH_MAX} groups within each other"), address));
        }
        let length = self.path.len();
        for link in links_of(file, group)? {
            if length > 0 {
                self.path.push('/');
            }
            self.path.push_str(&link.name);
            self.visit(file, link.address, depth + 1, each)?;
            self.path.truncate(length);
        }
        Ok(())
    }
}

fn links_of(file: &mut File<'_, '_>, group: Group) -> Result<Vec<Link>, FormatError> {
    let mut found = group.links;
    if let Some((tree, heap)) = group.table {
        found.extend(links::of_table(file, tree, heap)?);
    }
    if let Some((heap, names)) = group.dense {
        found.extend(dense::links(file, heap, names)?);
    }
    Ok(found)
}
