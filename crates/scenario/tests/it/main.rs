//! Scenarios from text to plan or diagnostics, through the public interface.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod cells;
mod checkpoint;
mod claims;
mod forms;
mod hold;
mod keys;
mod layouts;
mod machine;
mod network;
mod overrides;
mod plans;
mod rejected;
mod robust;
mod schema;
mod shipped;
mod training;
