//! What [`analysis`] found, in words: each kind of finding has its sentences and its advice here and nowhere else, for every
//! page, answer and export.

pub(crate) mod bound;
pub(crate) mod caches;
pub(crate) mod checkpoint_verdict;
pub(crate) mod checkpoints;
pub mod comparison;
pub(crate) mod curve;
pub mod diagnosis;
pub(crate) mod epochs;
pub(crate) mod flag;
pub mod form;
pub(crate) mod gap;
pub(crate) mod gate;
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
pub(crate) mod prediction;
pub(crate) mod proof;
pub(crate) mod read_verdict;
pub(crate) mod reconciliation;
pub(crate) mod share;
pub(crate) mod sizing;
pub(crate) mod slow_ranks;
pub(crate) mod tier;
pub mod verdict;
