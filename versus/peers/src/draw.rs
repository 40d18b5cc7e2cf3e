//! Which block is read next.

/// Draws blocks with replacement, by xorshift64.
#[derive(Debug)]
pub(crate) struct Draw {
    state: u64,
    objects: u64,
    blocks: u64,
    block_bytes: u64,
}

impl Draw {
    /// Of `objects` objects of `object_bytes` each.
    pub(crate) fn new(objects: u64, object_bytes: u64, block_bytes: u64) -> Self {
        Self { state: 0x9e37_79b9_7f4a_7c15, objects, blocks: object_bytes / block_bytes, block_bytes }
    }

    /// The object, and the first byte of the block.
    pub(crate) fn next(&mut self) -> (u64, u64) {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let block = self.state % (self.objects * self.blocks);
        (block / self.blocks, block % self.blocks * self.block_bytes)
    }
}
