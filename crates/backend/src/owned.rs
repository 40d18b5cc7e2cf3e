//! Proof that a folder is feedline's own.
// Apart from `Store`, by which it is gained: queues are opened with it, and a store opens queues.

use dataset::Key;

use crate::StoreError;

/// Proof that feedline may write and remove below a folder. Comes from [`Owned::claim`] alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    folder: Key,
}

impl Owned {
    /// For who has read the marker.
    pub(crate) fn proven(folder: Key) -> Self {
        Self { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Key {
        &self.folder
    }

    /// Whether `key` lies below the folder; stores refuse to write or remove anything else.
    pub fn covers(&self, key: &Key) -> bool {
        // The slash is part of the rule: without it `data-2/x` would lie below the claim of `data`.
        key.as_str().strip_prefix(self.folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Refuses a key outside of what is owned.
    ///
    /// # Errors
    /// [`StoreError::NotOwned`] names the folder that is another's.
    pub fn refuse_others(&self, key: &Key) -> Result<(), StoreError> {
        if self.covers(key) {
            return Ok(());
        }
        Err(StoreError::NotOwned { folder: key.folder().unwrap_or_else(|| key.clone()) })
    }
}
