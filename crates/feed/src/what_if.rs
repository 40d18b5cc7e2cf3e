//! Answers to "what if", from figures that are stated or were measured.
//!
//! A question is plain figures, and its answer the arithmetic that follows from them, line by line with the names of its
//! formulas. Nothing is measured: an answer is as good as the figures that it begins with.

mod error;
mod jobs;
mod loaders;
mod storages;
#[cfg(test)]
mod tests;

pub use error::WhatIfError;
pub use jobs::{Checkpoints, Idle, State};
pub use loaders::{Ahead, Memory, Readers, Reading, Start, Transfer};
pub use storages::{CacheBefore, Codec, CopyFirst, Shards};
