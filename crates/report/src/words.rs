//! What [`analysis`] found, in words: each kind of finding has its sentences and its advice here and nowhere else.

pub mod comparison;
pub(crate) mod curve;
pub(crate) mod gate;
pub(crate) mod prediction;
pub(crate) mod proof;
mod share;
pub(crate) mod sizing;
pub(crate) mod tier;
pub mod verdict;
