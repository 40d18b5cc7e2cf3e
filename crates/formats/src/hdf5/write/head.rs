//! What comes before the chunks: structures that lead from the first byte of a file to its dataset.

use super::block::{Block, NOWHERE};
use super::pack::LEVEL;
use crate::hdf5::MAGIC;
use crate::hdf5::header::{DATASPACE, DATATYPE, FILTERS, LAYOUT, SYMBOL_TABLE};

/// Bytes before the first chunk.
// A page, of which the structures take 1,400 B: samples that are multiples of one can then be read past the page cache.
pub(crate) const HEAD_BYTES: u64 = 4096;

/// The name of the dataset, with the zero that ends it.
// That of the dataset in the files that DLIO generates, and with it MLPerf Storage.
const NAME: &[u8; 8] = b"records\0";

/// What a group has by default: twice so many symbols in a leaf, and twice so many children of a node.
const LEAF_HALF: u16 = 4;
const NODE_HALF: u16 = 16;

/// Bytes of a symbol: where its name is, where its object is, and what is known of that.
const SYMBOL_BYTES: u64 = 40;

/// Bytes that a group has for names by default. The first is empty and takes 8 of them.
const NAMES_BYTES: u64 = 88;
const NAME_AT: u64 = 8;

/// Bytes of the messages of a dataset, for which the library sets as many apart.
const MESSAGES_BYTES: u64 = 256;

/// Where structures begin: each behind the one before it.
const ROOT: u64 = 56 + SYMBOL_BYTES;
const TREE: u64 = ROOT + 16 + 24;
const HEAP: u64 = TREE + TREE_BYTES;
const NAMES: u64 = HEAP + 32;
const DATASET: u64 = NAMES + NAMES_BYTES;
const SYMBOLS: u64 = DATASET + 16 + MESSAGES_BYTES;
const END: u64 = SYMBOLS + 8 + 2 * LEAF_HALF as u64 * SYMBOL_BYTES;

/// Of a node of a group's B-tree, whose keys and children have 8 bytes each.
const TREE_BYTES: u64 = 24 + (4 * NODE_HALF as u64 + 1) * 8;

const _: () = assert!(END <= HEAD_BYTES, "the chunks begin behind the structures");

/// Flag of a message that never changes.
const IS_CONSTANT: u8 = 1;

/// Messages that are not looked at: room that is left, and what stands where nothing was written.
const NOTHING: u16 = 0x00;
const FILL: u16 = 0x05;

/// The filter that h5py calls gzip, and its flag: what it does not make smaller may be stored as it is.
const DEFLATE: u16 = 1;
const IS_OPTIONAL: u16 = 1;

/// What the structures say of the dataset.
pub(super) struct Head {
    pub(super) samples: u64,
    pub(super) sample_bytes: u32,
    pub(super) is_packed: bool,
    /// Where the root of its index lies.
    pub(super) index: u64,
    /// Bytes of the file.
    pub(super) end: u64,
}

impl Head {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let block = symbol(self.superblock(), 0, ROOT, Some((TREE, HEAP)));
        // A group of one symbol: a tree of one leaf, and two names, of which the first is empty.
        let table = Block::default().number64(TREE).number64(HEAP);
        let block = message(header(block, 1, 24), SYMBOL_TABLE, 0, table);
        let block = block.bytes(b"TREE").bytes(&[0, 0]).number16(1).number64(NOWHERE).number64(NOWHERE);
        let block = block.number64(0).number64(SYMBOLS).number64(NAME_AT).filled(HEAP as usize);
        let free = NAME_AT + NAME.len() as u64;
        let block = block.bytes(b"HEAP").zeros(4).number64(NAMES_BYTES).number64(free).number64(NAMES);
        // Behind the names lies room: 1 says that there is no more of it elsewhere.
        let block =
            block.number64(0).bytes(NAME).number64(1).number64(NAMES_BYTES - free).filled(DATASET as usize);
        let block = self.dataset(block).bytes(b"SNOD").bytes(&[1, 0]).number16(1);
        symbol(block, NAME_AT, DATASET, None).filled(END as usize).done()
    }

    /// Version 0, without the symbol of the root group.
    fn superblock(&self) -> Block {
        let block = Block::default().bytes(MAGIC).bytes(&[0, 0, 0, 0, 0, 8, 8, 0]);
        let block = block.number16(LEAF_HALF).number16(NODE_HALF).number32(0);
        // Where addresses count from, where room is left, the end, and a driver.
        block.number64(0).number64(NOWHERE).number64(self.end).number64(NOWHERE)
    }

    fn dataset(&self, block: Block) -> Block {
        let [samples, bytes] = [self.samples, u64::from(self.sample_bytes)];
        // Two axes, and the most that each may ever have, which is what it has.
        let space = Block::default().bytes(&[1, 2, 1]).zeros(5);
        let space = space.number64(samples).number64(bytes).number64(samples).number64(bytes);
        // An integer without a sign: one byte, all eight bits of it.
        let byte = Block::default().bytes(&[0x10, 0, 0, 0]).number32(1).number16(0).number16(8).filled(16);
        // Chunks have their place once they are written, and zeros stand where none was.
        let fill = Block::default().bytes(&[2, 3, 2, 1]).filled(8);
        let filters = self.is_packed.then(|| {
            let head = Block::default().bytes(&[1, 1]).zeros(6);
            let name = b"deflate\0";
            let filter = head.number16(DEFLATE).number16(name.len() as u16).number16(IS_OPTIONAL).number16(1);
            filter.bytes(name).number32(LEVEL).filled(32)
        });
        // Version 3, chunks: two axes, and that of the bytes of an item.
        let layout = Block::default().bytes(&[3, 2, 3]).number64(self.index);
        let layout = layout.number32(1).number32(self.sample_bytes).number32(1).filled(24);
        let messages = [
            Some((DATASPACE, 0, space)),
            Some((DATATYPE, IS_CONSTANT, byte)),
            Some((FILL, IS_CONSTANT, fill)),
            filters.map(|filters| (FILTERS, IS_CONSTANT, filters)),
            Some((LAYOUT, 0, layout)),
        ];
        let count = messages.iter().flatten().count() as u16 + 1;
        let mut block = header(block, count, MESSAGES_BYTES);
        for (kind, flags, content) in messages.into_iter().flatten() {
            block = message(block, kind, flags, content);
        }
        let room = SYMBOLS as usize - block.length() - MESSAGE_HEAD_BYTES;
        message(block, NOTHING, 0, Block::default().zeros(room))
    }
}

/// Before the content of a message: kind, bytes, flags.
const MESSAGE_HEAD_BYTES: usize = 8;

/// The beginning of an object's header, of version 1: how many messages of how many bytes. One link leads to the object.
fn header(block: Block, messages: u16, bytes: u64) -> Block {
    block.bytes(&[1, 0]).number16(messages).number32(1).number32(bytes as u32).zeros(4)
}

fn message(block: Block, kind: u16, flags: u8, content: Block) -> Block {
    let content = content.done();
    block.number16(kind).number16(content.len() as u16).bytes(&[flags, 0, 0, 0]).bytes(&content)
}

/// A symbol; of a group with its B-tree and its names.
fn symbol(block: Block, name: u64, object: u64, group: Option<(u64, u64)>) -> Block {
    let block = block.number64(name).number64(object).number32(u32::from(group.is_some())).number32(0);
    let (tree, heap) = group.unwrap_or((0, 0));
    block.number64(tree).number64(heap)
}
