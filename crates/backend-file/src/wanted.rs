//! Which files a queue reads, and how.

use std::path::Path;
use std::sync::Arc;

use dataset::Objects;
use plan::Advice;

/// What a table holds and how. Queues that want the same share one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Folder of the objects.
    pub(crate) root: &'a Path,
    /// The objects.
    pub(crate) objects: &'a Arc<Objects>,
    /// Whether they are read around the page cache.
    pub(crate) direct: bool,
    /// What the kernel is told of how each is read.
    pub(crate) advice: Advice,
    /// Most files to hold open, where that is bounded.
    pub(crate) open_max: Option<u32>,
}
