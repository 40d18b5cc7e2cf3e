//! Tests of the S3 backend against servers on loopback: the emulator, Ceph's gateway, and one that misbehaves.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod aistore;
mod alone;
mod checks;
mod checksums;
mod emulated;
mod fake;
mod faults;
mod gateway;
mod named;
mod opening;
mod renewal;
mod support;
mod tokens;
mod wrongs;
