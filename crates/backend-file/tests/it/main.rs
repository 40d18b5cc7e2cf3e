//! Real files below the target directory, every engine, and the refusals that a machine can make.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod advice;
mod allocation;
mod anew;
mod cache;
mod confine;
mod device;
mod faults;
mod limits;
mod machine;
mod mmap;
mod queues;
mod store;
mod support;
mod whole;
