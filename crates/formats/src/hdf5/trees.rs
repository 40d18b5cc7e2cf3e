//! B-trees of the first version, of groups and of chunks.

use super::fields::Fields;
use super::file::File;
use crate::error::FormatError;

const WHAT: &str = "B-tree";

/// What kind of tree is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree {
    /// Its number: 0 of groups, 1 of chunks.
    pub(crate) kind: u8,
    /// Bytes of a key.
    pub(crate) key_bytes: usize,
}

/// Calls `each` with the key before every child of a leaf, and the address of that child, in the order of the tree.
pub(crate) fn leaves(
    file: &mut File<'_, '_>,
    root: u64,
    tree: Tree,
    each: &mut dyn FnMut(&mut File<'_, '_>, Fields<'_>, u64) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut open: Vec<(u64, Option<u8>)> = vec![(root, None)];
    let (mut below, mut bytes) = (Vec::new(), Vec::new());
    while let Some((address, expected)) = open.pop() {
        let (level, count) = head(file, address, tree)?;
        // Levels fall, so that a tree is no deeper than its root says.
        if expected.is_some_and(|expected| expected != level) {
            return Err(
                file.broken(format!("a B-tree with a node of level {level} in another's place"), address)
            );
        }
        let width = tree.key_bytes + file.sizes().address;
        let from = address + 8 + 2 * file.sizes().address as u64;
        for number in 0..count {
            let at = from + number * width as u64;
            bytes.clear();
            bytes.extend_from_slice(file.part(WHAT, at, width)?.rest());
            let key = Fields::new(&bytes, file.sizes());
            let mut entry = key;
            let child = entry.skip(tree.key_bytes).and_then(|()| entry.address());
            match (child, level) {
                (None, _) => return Err(file.broken("no entry of a B-tree", at)),
                (Some(child), 0) => each(file, key, child)?,
                (Some(child), level) => below.push((child, Some(level - 1))),
            }
        }
        // The first of them is next.
        open.extend(below.drain(..).rev());
    }
    Ok(())
}

/// Level and number of children of a node.
fn head(file: &mut File<'_, '_>, address: u64, tree: Tree) -> Result<(u8, u64), FormatError> {
    let mut head = file.part(WHAT, address, 8 + 2 * file.sizes().address)?;
    let is_signed = head.take(4) == Some(b"TREE") && head.byte() == Some(tree.kind);
    let found = head.byte().zip(head.number(2)).filter(|_| is_signed);
    found.ok_or_else(|| file.broken("no B-tree", address))
}
