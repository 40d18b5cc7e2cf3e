//! B-trees of the second version, of chunks and of links.

use super::file::File;
use crate::error::FormatError;

const WHAT: &str = "B-tree";

/// Before and behind the records of a node: signature, version and kind, and a checksum.
const HEAD_BYTES: u64 = 6;
const SUM_BYTES: u64 = 4;

/// Levels that are read at most. A tree of so many holds more than any file.
const DEPTH_MAX: usize = 16;

/// Called with a record.
pub(crate) type Each<'e> = dyn FnMut(&mut File<'_, '_>, &[u8]) -> Result<(), FormatError> + 'e;

/// How nodes are written.
struct Tree {
    kind: u8,
    record_bytes: usize,
    /// From the leaves up.
    levels: Vec<Level>,
}

/// What nodes of a level hold, from which the bytes of numbers follow.
struct Level {
    /// Records of a node at most.
    records_max: u64,
    /// Bytes of a number of records below a node.
    total_bytes: usize,
}

/// A node to read.
struct Node {
    address: u64,
    records: u64,
    level: usize,
}

/// Calls `each` with every record, in no order.
pub(crate) fn records(
    file: &mut File<'_, '_>,
    address: u64,
    kind: u8,
    each: &mut Each<'_>,
) -> Result<(), FormatError> {
    let Some((tree, root)) = head(file, address, kind)? else { return Ok(()) };
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        node_of(file, &tree, &node, &mut open, each)?;
    }
    Ok(())
}

/// The tree and its root; `None` of an empty one.
fn head(file: &mut File<'_, '_>, address: u64, kind: u8) -> Result<Option<(Tree, Node)>, FormatError> {
    let sizes = file.sizes();
    let broken = |file: &File<'_, '_>| file.broken("no B-tree", address);
    let mut head = file.signed(WHAT, *b"BTHD", address, 18 + sizes.address + sizes.length)?;
    let is_kind = head.byte() == Some(kind);
    let numbers = head.number(4).zip(head.number(2)).zip(head.number(2)).filter(|_| is_kind);
    let root = head.skip(2).and_then(|()| head.address()).zip(head.number(2));
    let Some((((node_bytes, record_bytes), depth), (root, records))) = numbers.zip(root) else {
        return Err(broken(file));
    };
    if records == 0 {
        return Ok(None);
    }
    let depth = depth as usize;
    let levels = levels(node_bytes, record_bytes, depth, sizes.address).ok_or_else(|| broken(file))?;
    let tree = Tree { kind, record_bytes: record_bytes as usize, levels };
    Ok(Some((tree, Node { address: root, records, level: depth })))
}

fn levels(node_bytes: u64, record_bytes: u64, depth: usize, address_bytes: usize) -> Option<Vec<Level>> {
    let room = node_bytes.checked_sub(HEAD_BYTES + SUM_BYTES)?;
    let leaf_max = room.checked_div(record_bytes).filter(|records| *records > 0)?;
    if depth > DEPTH_MAX {
        return None;
    }
    let mut levels = vec![Level { records_max: leaf_max, total_bytes: 0 }];
    let mut total_max = leaf_max;
    for level in 1..=depth {
        let pointer = (address_bytes + width_of(leaf_max) + levels[level - 1].total_bytes) as u64;
        let records_max = room.checked_sub(pointer)?.checked_div(record_bytes + pointer)?;
        let children = records_max.checked_add(1)?;
        total_max = total_max.checked_mul(children)?.checked_add(records_max)?;
        levels.push(Level { records_max, total_bytes: width_of(total_max) });
    }
    Some(levels)
}

/// Bytes of a number that is at most so large.
pub(crate) const fn width_of(most: u64) -> usize {
    match most.checked_ilog2() {
        Some(log) => log as usize / 8 + 1,
        None => 1,
    }
}

fn node_of(
    file: &mut File<'_, '_>,
    tree: &Tree,
    node: &Node,
    open: &mut Vec<Node>,
    each: &mut Each<'_>,
) -> Result<(), FormatError> {
    let level = &tree.levels[node.level];
    if node.records > level.records_max {
        return Err(file.broken(format!("a node of {} records", node.records), node.address));
    }
    let signature = if node.level == 0 { *b"BTLF" } else { *b"BTIN" };
    if file.signed(WHAT, signature, node.address, HEAD_BYTES as usize)?.byte() != Some(tree.kind) {
        return Err(file.broken("a node of another B-tree", node.address));
    }
    let mut at = node.address + HEAD_BYTES;
    let mut record = Vec::new();
    for _ in 0..node.records {
        record.clear();
        record.extend_from_slice(file.part(WHAT, at, tree.record_bytes)?.rest());
        each(file, &record)?;
        at += tree.record_bytes as u64;
    }
    let Some(below) = node.level.checked_sub(1) else { return Ok(()) };
    let count_bytes = width_of(tree.levels[0].records_max);
    let pointer_bytes = file.sizes().address + count_bytes + tree.levels[below].total_bytes;
    for _ in 0..=node.records {
        let mut pointer = file.part(WHAT, at, pointer_bytes)?;
        let child = pointer.address().zip(pointer.number(count_bytes));
        let (address, records) = child.ok_or_else(|| file.broken("no node of a B-tree", at))?;
        open.push(Node { address, records, level: below });
        at += pointer_bytes as u64;
    }
    Ok(())
}
