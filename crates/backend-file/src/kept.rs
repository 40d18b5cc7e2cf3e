//! The tables of open files, shared by all queues of the process: a run opens its files once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use backend::StoreError;

use crate::descriptors::{self, Share};
use crate::files::FileTable;
use crate::wanted::Wanted;

/// The tables in use, and those that are kept for the next queue.
static TABLES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

struct Entry {
    table: Weak<FileTable>,
    /// Keeps a table of all files open without a queue. One of the files used last ends with its last queue:
    /// each repetition then begins with the same.
    kept: Option<Arc<FileTable>>,
}

impl Entry {
    fn is_idle(&self) -> bool {
        self.table.strong_count() <= usize::from(self.kept.is_some())
    }
}

impl Wanted<'_> {
    fn claim(self, entries: &mut Vec<Entry>) -> Share {
        claim_from(entries, self.objects.count(), self.open_max)
    }
}

/// Closes the tables that no queue uses: open files keep their inodes in memory.
pub(crate) fn release_idle() {
    lock().retain(|entry| !entry.is_idle());
}

/// Descriptors for `files` that are held open elsewhere. Where they are too few, the tables that no queue uses are
/// closed first.
pub(crate) fn claim(files: u32) -> Share {
    claim_from(&mut lock(), files, None)
}

/// Leaves descriptors for `files` that come and go, if closing the tables that no queue uses can do it.
pub(crate) fn make_room(files: u32) {
    if descriptors::free() < u64::from(files) {
        release_idle();
    }
}

fn claim_from(entries: &mut Vec<Entry>, files: u32, open_max: Option<u32>) -> Share {
    let share = Share::claim(files, open_max);
    if share.files() == descriptors::most(files, open_max) {
        return share;
    }
    drop(share);
    entries.retain(|entry| !entry.is_idle());
    Share::claim(files, open_max)
}

fn lock() -> MutexGuard<'static, Vec<Entry>> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table that is wanted: one that is open, or a new one. Where descriptors are too few for all its files,
/// those of tables that no queue uses are closed first.
pub(crate) fn table(wanted: Wanted<'_>) -> Result<Arc<FileTable>, StoreError> {
    let mut entries = lock();
    entries.retain(|entry| entry.table.strong_count() > 0);
    if let Some(table) =
        entries.iter().filter_map(|entry| entry.table.upgrade()).find(|table| table.serves(wanted))
    {
        return Ok(table);
    }
    let share = wanted.claim(&mut entries);
    let table = Arc::new(FileTable::open(wanted, share)?);
    let kept = table.kept().map(|_| Arc::clone(&table));
    entries.push(Entry { table: Arc::downgrade(&table), kept });
    Ok(table)
}
