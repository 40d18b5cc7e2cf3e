//! Removing many objects, and what was removed.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use backend::StoreError;
use dataset::Key;

/// Threads that remove files: on a network a removal is a round trip, and a dataset has millions of files.
const THREADS: usize = 8;

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cleaned {
    /// Folders removed.
    pub folders: u64,
    /// Files removed, markers and manifests included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was found in feedline's folders and left there: it is not what feedline writes.
    pub left: Vec<String>,
}

/// Calls `remove` with each number below `count`, until one fails.
pub(crate) fn side_by_side(
    count: usize,
    remove: impl Fn(usize) -> Result<(), StoreError> + Sync,
) -> Result<(), StoreError> {
    let failed = AtomicBool::new(false);
    let work = |share: Range<usize>| {
        share
            .take_while(|_| !failed.load(Ordering::Relaxed))
            .try_for_each(&remove)
            .inspect_err(|_| failed.store(true, Ordering::Relaxed))
    };
    let share = count.div_ceil(THREADS).max(1);
    thread::scope(|scope| {
        let shares = (0..count).step_by(share).map(|start| start..count.min(start + share));
        let workers: Vec<_> = shares.map(|share| scope.spawn(|| work(share))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

pub(crate) fn child(folder: &Key, name: &str) -> Key {
    folder.join(name).expect("a name that the dataset or the storage gave")
}
