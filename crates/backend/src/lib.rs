//! The seams between feedline and storage.
//!
//! [`Store`] is a storage under test: blocking, never timed. [`IoQueue`] is one thread's way to keep reads
//! outstanding: the only thing that is timed. [`Clock`] tells time and never passes it: time passes in
//! [`IoQueue::wait`] alone, so the same worker loop runs on storage and on a simulation.
//!
//! Every implementation, the fakes included, passes the suite in `conformance` (a feature of that name).

mod buffer;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
pub mod null;
pub mod numa;
mod owned;
mod pieces;
mod queue;
mod recency;
pub mod scripted;
pub mod simulated;
pub mod slowed;
mod store;
mod unfinished;

pub use buffer::{Arena, ArenaError, Buf};
pub use clock::Clock;
pub use error::{ErrorKind, OpError, QueueError, StoreError};
pub use owned::Owned;
pub use pieces::{FilePieces, PAGE_BYTES, Piece};
pub use queue::{Completion, IoQueue, Op, PHASE_STAMPS, QueueReport, QueueSpec, Request, Stamps, Writes};
pub use recency::Recency;
pub use store::{CacheAction, Entry, Limits, ObjectWriter, Residency, SharedStore, Store, Summed};
pub use unfinished::{is_unfinished_name, unfinished_name};
