//! The binary as a user runs it: real files, real faults, exit codes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod azurite;
mod checkpoint;
mod circles;
mod claims;
mod compare;
mod copied;
mod emulated;
mod export;
mod export_templates;
mod faults;
mod forms;
mod ganesha;
mod gate;
mod harness;
mod hierarchies;
mod in_use;
mod leases;
mod local;
mod local_faults;
mod loop_device;
mod network_faults;
mod outages;
mod proof;
mod radosgw;
mod ranks;
mod record;
mod remote;
mod resume;
mod run;
mod screen;
mod shown;
mod signals;
mod slowed;
mod terminal;
mod tidy;
mod together;
mod training;
mod variants;
mod verbs;
mod what_if;
mod writes;
