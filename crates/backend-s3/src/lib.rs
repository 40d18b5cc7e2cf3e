//! S3 as storage under test, by two engines.
//!
//! `lean` is the engine of [`backend_http`], to which this crate gives signed requests, and measures the storage; `sdk` is the AWS
//! SDK, tuned, and measures what a client of today costs. Everything that is not timed (credentials, writing, listing,
//! removing) goes through the SDK for both.
//!
//! Requests are signed with credentials found as every AWS tool finds them, and renewed before they expire. No key,
//! token or signature appears in an error, a fact or a record.

mod client;
mod credentials;
mod endpoint;
mod failure;
mod fixture;
pub mod fuzzing;
mod kind;
mod listing;
mod names;
mod open;
mod request;
mod runtime;
mod sdk;
mod sign;
mod store;
mod sums;
mod wall;
mod write;

pub use store::S3Store;
