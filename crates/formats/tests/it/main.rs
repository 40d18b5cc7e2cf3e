//! Shards are what they claim to be, and what is none is refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arbitrary;
mod detect;
mod ffcv;
mod fixtures;
mod hdf5;
mod hdf5_written;
mod hostile;
mod round_trip;
mod support;
mod zarr;
