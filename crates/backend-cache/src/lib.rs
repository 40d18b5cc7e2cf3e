//! A read-through cache of blocks on a local storage, before a slower one.
//!
//! [`TieredStore`] wraps the store under test. A block that the cache has is read from there, past the client's page
//! cache where the path allows it; any other is read from the slow storage, answered at once, and copied into the cache
//! beside. The cache is empty as each repetition begins.

mod directory;
mod filler;
mod place;
mod queue;
mod store;

pub use place::TierFile;
pub use store::TieredStore;
