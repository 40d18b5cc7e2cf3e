//! A dataset to be written.

use std::sync::atomic::AtomicBool;

use backend::Store;

use crate::identity::Identity;

/// One generated dataset to prepare.
pub(crate) struct Task<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) identity: Identity,
    /// Columns that are read of each sample, where it has several.
    pub(crate) columns_read: u32,
    pub(crate) threads: u32,
    pub(crate) progress: &'a (dyn Fn(u64, u64) + Sync),
    pub(crate) stop: &'a AtomicBool,
}
