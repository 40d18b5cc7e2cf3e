//! What is common to the removal of all that feedline wrote.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use backend::{Store, StoreError};
use dataset::Key;

use crate::threads::in_ranges;

/// Threads that remove files: on a network a removal is a round trip, and a dataset has millions of files.
const THREADS: usize = 8;

/// What was removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cleaned {
    /// Folders.
    pub folders: u64,
    /// Files, markers and manifests included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was found in feedline's folders and left there: it is not what feedline writes.
    pub left: Vec<String>,
}

impl Cleaned {
    /// What lies in a folder of feedline's: what `takes` knows is counted, all else is left.
    pub(crate) fn in_folder(
        store: &dyn Store,
        folder: &Key,
        mut takes: impl FnMut(&Key) -> bool,
    ) -> Result<Self, StoreError> {
        let mut found = Self { folders: 1, ..Self::default() };
        store.list(Some(folder), &mut |entry| {
            if takes(&entry.key) {
                found.files += 1;
                found.bytes += entry.bytes;
            } else {
                found.left.push(entry.key.to_string());
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// The same after the removal. The folder stays if anything is left in it.
    pub(crate) fn after(self, is_folder_gone: bool) -> Self {
        Self { folders: u64::from(is_folder_gone), ..self }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.folders += other.folders;
        self.files += other.files;
        self.bytes += other.bytes;
        self.left.extend(other.left);
    }
}

/// Whether what was found is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Look,
    Remove,
}

/// Calls `remove` with each number below `count`, until one fails.
pub(crate) fn side_by_side(
    count: usize,
    remove: impl Fn(usize) -> Result<(), StoreError> + Sync,
) -> Result<(), StoreError> {
    let failed = AtomicBool::new(false);
    let work = |share: Range<usize>| {
        share
            // One failure (a read-only mount, a lost connection) is every thread's: millions of calls that fail as
            // well would only hide it.
            .take_while(|_| !failed.load(Ordering::Relaxed))
            .try_for_each(&remove)
            .inspect_err(|_| failed.store(true, Ordering::Relaxed))
    };
    // Neighbouring numbers to one thread: they lie in one directory, whose lock threads would else contend for.
    in_ranges(THREADS, count, work).map(drop)
}

pub(crate) fn child(folder: &Key, name: &str) -> Key {
    folder.join(name).expect("a name that the dataset or the storage gave")
}
