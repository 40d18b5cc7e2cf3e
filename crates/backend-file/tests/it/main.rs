//! Real files below the target directory, both engines, and the refusals that a machine can make.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod allocation;
mod cache;
mod confine;
mod faults;
mod limits;
mod queues;
mod store;
mod support;
