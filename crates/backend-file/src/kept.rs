//! The tables of open files, shared by all queues of the process: a run opens its files once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use backend::StoreError;
use dataset::Objects;

use crate::descriptors::{self, Share};
use crate::files::{FileTable, TableSpec};

/// The tables in use, and those that are kept for the next queue.
// One list for all stores: the limit of open files is the process's, so an idle table of one store must give
// way to another store.
static TABLES: Mutex<Vec<KeptTable>> = Mutex::new(Vec::new());

struct KeptTable {
    table: Weak<FileTable>,
    /// Keeps a table open that holds all files, also while no queue uses it. A table of the files used last ends with
    /// its last queue, so that every repetition begins without open files.
    kept: Option<Arc<FileTable>>,
}

impl KeptTable {
    fn is_idle(&self) -> bool {
        // `kept` is a reference itself; every other one is a queue's.
        self.table.strong_count() <= usize::from(self.kept.is_some())
    }
}

/// Closes the tables that no queue uses: open files keep their inodes in memory.
pub(crate) fn release_idle() {
    lock().retain(|entry| !entry.is_idle());
}

/// Closes the tables of these objects that no queue uses, before their files are replaced: what is open then is the files that were
/// there before.
pub(crate) fn release(objects: &Arc<Objects>) {
    let is_of = |entry: &KeptTable| entry.kept.as_ref().is_some_and(|table| table.is_of(objects));
    lock().retain(|entry| !(entry.is_idle() && is_of(entry)));
}

/// Descriptors for `files` that the caller holds open. Where they are too few, tables that no queue uses are closed
/// first.
pub(crate) fn claim(files: u32) -> Share {
    claim_from(&mut lock(), files, None)
}

/// Makes room for `files` that are opened and closed again, by closing tables that no queue uses.
pub(crate) fn make_room(files: u32) {
    if descriptors::free() < u64::from(files) {
        release_idle();
    }
}

fn claim_from(entries: &mut Vec<KeptTable>, files: u32, open_max: Option<u32>) -> Share {
    let share = Share::claim(files, open_max);
    if share.files() == descriptors::most(files, open_max) {
        return share;
    }
    // Given back first: held on to, it would count against the second claim.
    drop(share);
    entries.retain(|entry| !entry.is_idle());
    Share::claim(files, open_max)
}

fn lock() -> MutexGuard<'static, Vec<KeptTable>> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table of a specification: one that is open, or a new one. Where descriptors are too few for all its files,
/// tables that no queue uses are closed first.
pub(crate) fn table(spec: TableSpec<'_>) -> Result<Arc<FileTable>, StoreError> {
    let mut entries = lock();
    entries.retain(|entry| entry.table.strong_count() > 0);
    if let Some(table) =
        entries.iter().filter_map(|entry| entry.table.upgrade()).find(|table| table.serves(spec))
    {
        return Ok(table);
    }
    let share = claim_from(&mut entries, spec.objects.count(), spec.open_max);
    let table = Arc::new(FileTable::open(spec, share)?);
    let kept = table.kept().map(|_| Arc::clone(&table));
    entries.push(KeptTable { table: Arc::downgrade(&table), kept });
    Ok(table)
}
