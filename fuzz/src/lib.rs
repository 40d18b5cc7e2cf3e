//! What is fuzzed: each parser of bytes from outside, by a function that may be given any.
//!
//! `fuzz/run` links each of them to a fuzzer; the tests give them what fuzzers found worth keeping.

mod memory;
mod packed;
mod record;
mod shards;

/// A service of blobs that answers anything: typed errors, no panic, no unbounded memory.
pub use backend_azure::fuzzing::replies as azure;
/// A filer that answers anything.
pub use backend_nfs::fuzzing::replies as nfs;
/// An object storage that answers anything.
pub use backend_s3::fuzzing::replies as s3;
pub use packed::packed;
pub use record::record;
pub use shards::shards;

/// A scenario file of any content is a plan's beginning or a list of mistakes, never a panic.
pub fn scenario(text: &[u8]) {
    // As much of it as is text.
    let text = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let source = ::scenario::Source { name: "fuzz.toml".to_owned(), text: text.to_owned() };
    let _ = ::scenario::parse(&source, &[]);
}
