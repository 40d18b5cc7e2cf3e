//! What `analysis` found, in words: each kind of thing once, for every page, answer and export.

pub(crate) mod bound;
pub(crate) mod caches;
pub(crate) mod checkpoints;
#[allow(dead_code, reason = "verdicts still say it in `analysis`, through its bridge")]
pub(crate) mod diagnosis;
pub(crate) mod epochs;
pub(crate) mod flag;
pub(crate) mod gap;
pub(crate) mod kinds;
pub(crate) mod loader;
pub(crate) mod machine;
pub(crate) mod need;
pub(crate) mod network;
pub(crate) mod not_tested;
pub(crate) mod note;
pub(crate) mod operation;
pub(crate) mod order;
pub(crate) mod predicted;
pub(crate) mod reconciliation;
#[allow(dead_code, reason = "verdicts still say it in `analysis`, through its bridge")]
pub(crate) mod share;
