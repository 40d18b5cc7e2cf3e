//! S3 as storage under test, by two engines.
//!
//! `lean` writes HTTP/1.1 by hand over the socket engine of [`backend_net`] and measures the storage; `sdk` is the AWS
//! SDK, tuned, and measures what a client of today costs. Everything that is not timed (credentials, writing, listing,
//! removing) goes through the SDK for both.
//!
//! Requests are signed with credentials found as every AWS tool finds them, and renewed before they expire. No key,
//! token or signature appears in an error, a fact or a record.

mod client;
mod connect;
mod credentials;
mod encode;
mod endpoint;
mod etags;
mod failure;
#[cfg(any(test, fuzzing))]
mod fixture;
#[cfg(fuzzing)]
pub mod fuzzing;
mod kind;
mod lean;
mod listing;
mod names;
mod open;
mod ranges;
mod runtime;
mod scan;
mod sdk;
mod sign;
mod store;
mod sums;
mod trust;
mod wall;
mod write;

pub use store::S3Store;
