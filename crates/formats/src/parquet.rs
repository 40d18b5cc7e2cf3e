//! Parquet: row groups of column chunks, found by a footer.
//!
//! Written and read by hand. Of a file nothing but the footer is looked at, and of the footer five numbers of each column
//! chunk, so that a reader of a hundred lines does; the crate `parquet` would bring `chrono`, which `deny.toml` keeps out,
//! and its writer holds every row group three times over, where samples can be made straight into the file. What is
//! written is the plainest form: one required column of bytes after another, pages of the first kind, nothing encoded.
//!
//! Format: `parquet-format/src/main/thrift/parquet.thrift`, whose field numbers are used below.

mod footer;
mod thrift;
mod write;

pub(crate) use footer::index;
pub(crate) use write::write;

/// Begins and ends every file.
pub(crate) const MAGIC: &[u8; 4] = b"PAR1";

const LAYOUT: &str = "parquet";
