//! The record as other crates see it: written, cut, damaged, redacted, and read again after years.

#![expect(clippy::unwrap_used, reason = "a test ends where a step of it fails")]

mod axis;
mod bad;
mod canary;
mod cut;
mod fixture;
mod full;
mod merge;
mod round_trip;
mod sample;
mod storage;
