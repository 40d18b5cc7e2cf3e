//! Copies that a run has made and not removed yet.

use std::collections::BTreeMap;

use backend::SharedStore;

use crate::error::RepError;
use crate::outcome::Measured;
use crate::spec::RepSpec;

use super::{CopyEnd, CopyFolder, run_copy};

/// The copies of a run, by the index of their cell.
#[derive(Debug, Default)]
pub(crate) struct Copies(BTreeMap<usize, CopyFolder>);

impl Copies {
    /// Makes one repetition of a copy. Removes the copy before it first, and this one as soon as it is measured,
    /// unless the cell keeps it. What cannot be removed is reported under `granted`, and left to `feedline clean`.
    pub(crate) fn run(
        &mut self,
        cell: usize,
        spec: &RepSpec<'_>,
        to: &SharedStore,
    ) -> Result<Measured, RepError> {
        // Before the new one: two copies of a large dataset may not fit side by side.
        let before = self.0.remove(&cell).map(CopyFolder::remove);
        let CopyEnd { mut measured, place } = run_copy(spec, to)?;
        let keeps = spec.cell.task.copy().is_some_and(|copy| copy.keep)
            && measured.rep.outcome == record::Outcome::Complete;
        let granted = &mut measured.rep.granted;
        let folder = place.folder().to_string();
        let mut left = before.and_then(Result::err).map(|error| error.to_string());
        if keeps {
            self.0.insert(cell, place);
            granted.insert("copy_kept".to_owned(), folder);
        } else if let Err(error) = place.remove() {
            left = Some(error.to_string());
        }
        granted.extend(left.map(|words| ("copy_not_removed".to_owned(), words)));
        Ok(measured)
    }
}
