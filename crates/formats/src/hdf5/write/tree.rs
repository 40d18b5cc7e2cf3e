//! The B-tree that says where chunks lie, of the first version: leaves first, then every level above them.

use super::block::{Block, NOWHERE};
use super::chunks::Chunks;
use super::head::HEAD_BYTES;
use crate::error::FormatError;
use crate::pen::Pen;

/// Children of a node, at most: twice the half that a superblock of version 0 means without saying it.
const CHILDREN: u64 = 64;

/// A key: bytes of a chunk and its filters, and its first item along both axes and within an item.
const KEY_BYTES: u64 = 8 + 3 * 8;

/// A node. It is written whole, as it is read whole.
const NODE_BYTES: u64 = 24 + CHILDREN * (KEY_BYTES + 8) + KEY_BYTES;

/// A B-tree over chunks.
pub(super) struct Tree {
    /// Nodes of each level, from the leaves on. Every one but the last of a level is full.
    levels: Vec<u64>,
}

impl Tree {
    pub(super) fn over(chunks: u64) -> Self {
        let mut levels = vec![chunks.div_ceil(CHILDREN)];
        while let Some(nodes) = levels.last().copied().filter(|nodes| *nodes > 1) {
            levels.push(nodes.div_ceil(CHILDREN));
        }
        Self { levels }
    }

    /// Bytes of all nodes.
    pub(super) fn bytes(&self) -> u64 {
        self.from(self.levels.len())
    }

    /// From the first leaf to the root, which comes last.
    pub(super) fn root(&self) -> u64 {
        self.bytes().saturating_sub(NODE_BYTES)
    }

    /// From the first leaf to the first node of a level.
    fn from(&self, level: usize) -> u64 {
        self.levels[..level].iter().sum::<u64>().saturating_mul(NODE_BYTES)
    }

    pub(super) fn write(
        &self,
        chunks: &Chunks,
        sample_bytes: u64,
        pen: &mut Pen<'_>,
    ) -> Result<(), FormatError> {
        let index = pen.at();
        let mut chunk_at = HEAD_BYTES;
        // Chunks below a child of the level.
        let mut below = 1_u64;
        for (level, nodes) in self.levels.iter().enumerate() {
            let from = index + self.from(level);
            let children = if level == 0 { chunks.count() } else { self.levels[level - 1] };
            for node in 0..*nodes {
                let beside = |is_there, node: u64| if is_there { from + node * NODE_BYTES } else { NOWHERE };
                let first = node * CHILDREN;
                let until = children.min(first + CHILDREN);
                let mut block = Block::default().bytes(b"TREE").bytes(&[1, level as u8]);
                block = block.number16((until - first) as u16);
                block = block.number64(beside(node > 0, node.wrapping_sub(1)));
                block = block.number64(beside(node + 1 < *nodes, node + 1));
                for child in first..until {
                    let chunk = child * below;
                    let address =
                        if level == 0 { chunk_at } else { index + self.from(level - 1) + child * NODE_BYTES };
                    block = key(block, chunks, sample_bytes, chunk).number64(address);
                    chunk_at += if level == 0 { u64::from(chunks.bytes(chunk)) } else { 0 };
                }
                block = key(block, chunks, sample_bytes, until.saturating_mul(below));
                pen.put(&block.filled(NODE_BYTES as usize).done())?;
            }
            below = below.saturating_mul(CHILDREN);
        }
        Ok(())
    }
}

/// The key of a chunk. Behind the last one stands a key that is above all others.
fn key(block: Block, chunks: &Chunks, sample_bytes: u64, chunk: u64) -> Block {
    let count = chunks.count();
    let (item, within) = if chunk < count { (0, 0) } else { (sample_bytes, 1) };
    let block = block.number32(chunks.bytes(chunk)).number32(0);
    block.number64(chunk.min(count)).number64(item).number64(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_64_children_and_takes_what_the_library_reads() {
        assert_eq!(NODE_BYTES, 2616);
        for (chunks, levels) in [
            (1, vec![1]),
            (64, vec![1]),
            (65, vec![2, 1]),
            (4096, vec![64, 1]),
            (4097, vec![65, 2, 1]),
            (1_000_000, vec![15_625, 245, 4, 1]),
        ] {
            let tree = Tree::over(chunks);
            assert_eq!(tree.levels, levels, "{chunks}");
            assert_eq!(tree.bytes(), levels.iter().sum::<u64>() * NODE_BYTES);
            assert_eq!(tree.root(), tree.bytes() - NODE_BYTES);
        }
    }
}
