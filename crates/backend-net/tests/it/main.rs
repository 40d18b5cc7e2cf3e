//! Integration tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod conformance;
mod engine;
mod faults;
mod line;
mod server;
mod tls;
