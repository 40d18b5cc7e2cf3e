//! Where the checkpoints of a run go.

use std::fmt;
use std::sync::Arc;

use backend::{Owned, SharedStore};
use dataset::Objects;
use plan::Checkpoint;

use super::content::Content;

/// Where the checkpoints of a run go, and what they hold.
///
/// Its objects are those of all checkpoints that lie there at once: the files of one follow each other, those that are
/// kept and one that is being written.
#[derive(Clone)]
pub struct Destination {
    pub(super) store: SharedStore,
    pub(super) owned: Owned,
    pub(super) objects: Arc<Objects>,
    pub(super) content: Arc<Content>,
}

impl Destination {
    /// A place for the checkpoints of `plan` on a store, in a folder that feedline made for them: `objects` are the files
    /// of all that lie there at once. Fills up to 64 MiB.
    pub fn new(
        store: SharedStore,
        owned: Owned,
        objects: Arc<Objects>,
        (plan, seed): (&Checkpoint, u64),
    ) -> Self {
        let content = Arc::new(Content::new(seed, plan.block_bytes, plan.bytes()));
        Self { store, owned, objects, content }
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination").field("folder", self.owned.folder()).finish_non_exhaustive()
    }
}
