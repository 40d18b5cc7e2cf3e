//! What lies where datasets are written and is not feedline's.

use std::io::ErrorKind;
use std::ops::ControlFlow;

use backend::{Store, StoreError};
use dataset::{Key, MARKER_NAME};
use plan::DatasetSpec;

use crate::error::PrepareError;
use crate::identity::identify;

/// Files of others that are named.
const NAMED: usize = 3;

/// Files that are looked at. A folder that begins with so many of feedline's is feedline's.
// A generated dataset may have millions of files, and each start of a run would list them all only to find nothing.
const LOOKED_AT_MAX: u64 = 100_000;

/// Refuses to make the folder of a dataset among files of others, unless the dataset allows it. A dataset that is there
/// already stays where it is.
///
/// # Errors
/// [`PrepareError::Others`], or what the storage refuses.
pub fn check_place(store: &dyn Store, spec: &DatasetSpec) -> Result<(), PrepareError> {
    let DatasetSpec::Generate(plan::Generate { beside_others: false, .. }) = spec else { return Ok(()) };
    let marker = identify(spec).and_then(|folder| folder.join(MARKER_NAME).ok());
    match marker.map(|marker| store.read_marker(&marker)).transpose()?.flatten() {
        Some(_) => Ok(()),
        None => refuse_others(store),
    }
}

/// Refuses a root that holds files of others. Names that begin with a dot do not count: file managers, file systems and
/// shells leave such files everywhere.
pub(crate) fn refuse_others(store: &dyn Store) -> Result<(), PrepareError> {
    let (mut ours, mut looked_at) = (Ours::new(store), 0);
    let (mut names, mut failure) = (Vec::new(), None);
    let listed = store.list(None, &mut |entry| {
        looked_at += 1;
        match ours.holds(&entry.key) {
            Ok(is_ours) if !is_ours && !entry.key.as_str().starts_with('.') => names.push(entry.key),
            Ok(_) => {}
            Err(error) => failure = Some(error),
        }
        // One more name than is shown, to know whether to say `and more`.
        if failure.is_some() || names.len() > NAMED || looked_at == LOOKED_AT_MAX {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let kind = |error: &StoreError| match error {
        StoreError::Object { source, .. } => source.kind(),
        _ => ErrorKind::Other,
    };
    match listed.err().or(failure) {
        _ if !names.is_empty() => Err(PrepareError::Others { names: named(&names) }),
        // What this user may not look into is another's, and so is a name that feedline would not give.
        Some(error) if matches!(kind(&error), ErrorKind::PermissionDenied | ErrorKind::InvalidData) => {
            Err(PrepareError::Others { names: error.to_string() })
        }
        // A root that is not there holds nobody's files; it is made with the dataset.
        Some(error) if kind(&error) != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// "`a`, `b` and more".
fn named(names: &[Key]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > NAMED { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Which files lie in folders that feedline made. Files of one directory follow each other in a listing, so that the last
/// directory is all that has to be remembered.
pub(crate) struct Ours<'a> {
    store: &'a dyn Store,
    /// The last directory and whether it belongs to feedline.
    directory: Option<(String, bool)>,
}

impl<'a> Ours<'a> {
    pub(crate) fn new(store: &'a dyn Store) -> Self {
        Self { store, directory: None }
    }

    /// Whether the file lies in a folder that feedline made, at any depth.
    pub(crate) fn holds(&mut self, key: &Key) -> Result<bool, StoreError> {
        let Some((directory, _)) = key.as_str().rsplit_once('/') else {
            return Ok(false);
        };
        match &self.directory {
            Some((last, ours)) if last == directory => Ok(*ours),
            _ => {
                let ours = self.below_marker(directory)?;
                self.directory = Some((directory.to_owned(), ours));
                Ok(ours)
            }
        }
    }

    fn below_marker(&self, directory: &str) -> Result<bool, StoreError> {
        // Every level from the root down: the marker lies at a dataset's root, its files two folders below.
        let ends = directory.match_indices('/').map(|(end, _)| end).chain([directory.len()]);
        for end in ends {
            let Ok(marker) = Key::new(format!("{}/{MARKER_NAME}", &directory[..end])) else {
                continue;
            };
            if self.store.read_marker(&marker)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
