//! What keeps a copy from beginning.

use backend::StoreError;

/// Folders of copies side by side, at most: more are forgotten ones.
pub(super) const COPIES_MAX: u32 = 9_999;

/// What keeps a copy from beginning.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The cell does not say where to.
    #[error("the cell does not say where its dataset is copied to")]
    NoPlan,
    /// Shards are made of samples that are files.
    #[error(
        "cannot pack a dataset whose samples are packed already\n  hint: remove `copy.pack`: its objects are copied as \
         they are"
    )]
    Packed,
    /// There is not enough room, found before anything was written.
    #[error(
        "cannot copy the dataset: {needed_bytes} B are needed and {free_bytes} B are free\n  hint: free some space, set \
         `copy.size`, or remove older copies with `feedline clean`"
    )]
    NoSpace {
        /// Bytes of the copy, with what a file system takes beside them.
        needed_bytes: u64,
        /// Bytes free.
        free_bytes: u64,
    },
    /// Every name for a folder is taken.
    #[error(
        "cannot make a folder for the copy: there are {COPIES_MAX} copies already\n  hint: remove them with `feedline \
         clean`"
    )]
    TooManyCopies,
    /// The target cannot be written.
    #[error("cannot write the copy: {0}")]
    Store(#[from] StoreError),
}
