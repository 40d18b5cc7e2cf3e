//! Why a repetition could not be made.

use backend::{ArenaError, StoreError};
use dataset::OrderError;

/// Why a repetition could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RepError {
    /// The order is impossible.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// Buffers could not be mapped.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The storage refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system refused a thread.
    #[error(
        "cannot start {threads} threads: {source}\n  hint: raise the limit of processes (`ulimit -u`, the \
         container's pids limit), or write shallower queues for an engine that takes a thread for each read"
    )]
    Threads {
        /// Threads of the repetition.
        threads: u32,
        /// The cause.
        source: std::io::Error,
    },
    /// A thread ended before it could begin.
    #[error("a thread ended before it could begin")]
    NotStarted,
}
