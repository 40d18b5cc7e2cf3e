//! A service of blobs that answers anything: typed errors, no panic, no unbounded memory.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backend_azure::fuzzing::replies(bytes));
