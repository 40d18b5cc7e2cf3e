//! Tests of the NFS backend against servers on loopback.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod addresses;
mod emulated;
mod fake;
mod faults;
mod ganesha;
mod memory;
mod open;
mod queue;
mod reader;
mod store;
