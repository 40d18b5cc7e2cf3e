//! Staging: a dataset that is copied from the target of its cell to another one, and how.

use crate::Packing;

/// Objects copied side by side by default.
// What `aws s3 cp` (10) and s5cmd (256) lie around; objects of a dataset are many, so that a handful of
// streams each way fills a local disk.
pub const COPY_THREADS: u32 = 16;

/// Bytes of one read of a copy by default: 8 MiB, as the tools that stage data read by default (parts of `aws s3 cp`).
pub const COPY_BLOCK_BYTES: u64 = 8 << 20;

/// Buffers of each thread that copies: one is read into while one is written, and one waits between them.
// Bounded by number: a slow writer then slows the reader down, in place of filling memory.
pub const COPY_BUFFERS: u32 = 3;

/// Where and how a cell copies its dataset. Its threads are the cell's, one object each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// Index into [`crate::Plan::targets`] of the target that is written to.
    pub to: usize,
    /// How samples that are read as files are packed into shards on the way; `None`: objects are copied as they are.
    pub packing: Option<Packing>,
    /// Bytes of one repetition, about: as many objects from the first on as reach it. `None`: the whole dataset.
    // A repetition of a whole dataset may take hours; from a part of it the rate is known as well.
    pub size_bytes: Option<u64>,
    /// Whether the copy of the last repetition stays.
    pub keep: bool,
}

impl Copy {
    /// Everything to `to`, as it is, and removed at the end.
    pub const fn whole(to: usize) -> Self {
        Self { to, packing: None, size_bytes: None, keep: false }
    }
}
