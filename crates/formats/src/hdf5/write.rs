//! Writes a file of one dataset, as h5py does by default: the formats that every version of the library reads.
//!
//! | where | what |
//! |---|---|
//! | 0 | superblock, the root group with its B-tree, names and symbols, the header of the dataset |
//! | from 4096 on | the chunks, a sample each, one after the other |
//! | behind them | the B-tree that says where chunks lie: leaves, then each level above them, the root last |
//!
//! h5py puts nodes between chunks as they come. Here they follow, so that a file is written as a stream and a sample lies
//! where arithmetic says. The library goes by addresses, and is indifferent to it.

mod block;
mod chunks;
mod head;
mod pack;
mod tree;

use plan::Codec;

use self::chunks::{Chunks, chunk_bytes};
use self::head::Head;
use self::pack::Packer;
use self::tree::Tree;
use super::refusal::LAYOUT;
use crate::error::FormatError;
use crate::pen::Pen;
use crate::shard::{Samples, even_bytes};

pub(crate) use head::HEAD_BYTES;

/// Bytes of the B-tree over so many chunks.
pub(crate) fn index_bytes(chunks: u64) -> u64 {
    Tree::over(chunks).bytes()
}

/// Writes a shard, with gzip each chunk by itself.
pub(crate) fn write(codec: Codec, samples: &mut dyn Samples, pen: &mut Pen<'_>) -> Result<(), FormatError> {
    let sample_bytes = even_bytes(LAYOUT, samples)?;
    let bytes = chunk_bytes(sample_bytes)?;
    let mut packer = (codec == Codec::Gzip).then(Packer::new);
    // The superblock comes first and says where the file ends, and the header of the dataset where its index lies. What
    // packing makes is known only from packing, so it is done twice: holding the packed chunks would hold the shard.
    let chunks = match &mut packer {
        None => Chunks::Even { count: samples.count(), bytes },
        Some(packer) => Chunks::Packed(packer.sizes(samples, sample_bytes, pen)?),
    };
    let tree = Tree::over(chunks.count());
    let index = HEAD_BYTES.saturating_add(chunks.total());
    let head = Head {
        samples: chunks.count(),
        sample_bytes: bytes,
        index: index.saturating_add(tree.root()),
        end: index.saturating_add(tree.bytes()),
        is_packed: packer.is_some(),
    };
    pen.put(&head.bytes())?;
    pen.align(HEAD_BYTES)?;
    for number in 0..samples.count() {
        match &mut packer {
            None => pen.sample(samples, number, 0, sample_bytes)?,
            Some(packer) => {
                packer.pack(samples, number, sample_bytes, &mut |part| pen.put(part))?;
            }
        }
    }
    tree.write(&chunks, sample_bytes, pen)
}
