//! What files take on a disk.

/// Most file systems allocate a file's bytes in blocks of this size.
pub(crate) const FILE_BLOCK_BYTES: u64 = 4096;

/// What a file takes beside its bytes: inode and directory entry (ext4 256 + 24, XFS 512).
pub(crate) const FILE_OVERHEAD_BYTES: u64 = 512;

/// Bytes that `files` files of `bytes` each take on a disk, about.
pub fn disk_bytes(files: u64, bytes: u64) -> u64 {
    let each = bytes.div_ceil(FILE_BLOCK_BYTES).saturating_mul(FILE_BLOCK_BYTES);
    files.saturating_mul(each.saturating_add(FILE_OVERHEAD_BYTES))
}
