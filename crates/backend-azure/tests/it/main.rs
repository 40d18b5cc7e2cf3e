//! The store against Azurite, and against services that misbehave.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod azurite;
mod faults;
mod support;
