//! Shards are what they claim to be, and what is none is refused.

mod arbitrary;
mod detect;
mod fixtures;
mod hostile;
mod round_trip;
mod support;
mod zarr;
