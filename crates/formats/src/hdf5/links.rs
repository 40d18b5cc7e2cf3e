//! Links of a group: names, and the objects that they lead to in this file.

use super::fields::{Fields, NOWHERE};
use super::file::File;
use super::trees::{Tree, leaves};
use crate::error::FormatError;

/// The most that is read of a name.
const NAME_BYTES_MAX: u64 = 1024;

/// An object with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) name: String,
    /// Of its header.
    pub(crate) address: u64,
}

/// Reads the content of a link message; `None` where it is none, and `Some(None)` where it leads to another place than
/// an object of this file.
#[expect(clippy::option_option, reason = "broken and leading elsewhere differ")]
pub(crate) fn message(mut fields: Fields<'_>) -> Option<Option<Link>> {
    let (version, flags) = (fields.byte()?, fields.byte()?);
    if version != 1 {
        return None;
    }
    let kind = if flags & 0x08 == 0 { 0 } else { fields.byte()? };
    // Order of creation, and the letters of the name.
    fields.skip(if flags & 0x04 == 0 { 0 } else { 8 })?;
    fields.skip(usize::from(flags & 0x10 != 0))?;
    let length = fields.number(1 << (flags & 0x03))?;
    let name = fields.take(usize::try_from(length).ok()?)?;
    if kind != 0 {
        return Some(None);
    }
    let name = String::from_utf8_lossy(&name[..name.len().min(NAME_BYTES_MAX as usize)]).into_owned();
    Some(Some(Link { name, address: fields.address()? }))
}

/// The links of a group that keeps them in a B-tree of the first version, with names in a heap.
pub(crate) fn of_table(file: &mut File<'_, '_>, tree: u64, heap: u64) -> Result<Vec<Link>, FormatError> {
    let width = file.sizes().length;
    let mut tables = Vec::new();
    leaves(file, tree, Tree { kind: 0, key_bytes: width }, &mut |_, _, child| {
        tables.push(child);
        Ok(())
    })?;
    let mut entries = Vec::new();
    for table in tables {
        symbols(file, table, &mut entries)?;
    }
    let (names, names_bytes) = segment(file, heap)?;
    entries
        .into_iter()
        .map(|(name, address)| Ok(Link { name: self::name(file, names, names_bytes, name)?, address }))
        .collect()
}

/// Adds what a node of symbols names: places of names in the heap, and addresses.
fn symbols(file: &mut File<'_, '_>, address: u64, entries: &mut Vec<(u64, u64)>) -> Result<(), FormatError> {
    const WHAT: &str = "table of symbols";
    let mut head = file.part(WHAT, address, 8)?;
    let is_signed = head.take(4) == Some(b"SNOD") && head.byte() == Some(1);
    let count = head.skip(1).and_then(|()| head.number(2)).filter(|_| is_signed);
    let count = count.ok_or_else(|| file.broken("no table of symbols", address))?;
    let width = 2 * file.sizes().address + 24;
    for number in 0..count {
        let at = address + 8 + number * width as u64;
        let mut entry = file.part(WHAT, at, width)?;
        let found = entry.address().zip(entry.address());
        let (name, object) = found.ok_or_else(|| file.broken("no symbol", at))?;
        // That of a link by path leads to no object.
        if object != NOWHERE {
            entries.push((name, object));
        }
    }
    Ok(())
}

/// Where the names of a heap lie, and their bytes.
fn segment(file: &mut File<'_, '_>, address: u64) -> Result<(u64, u64), FormatError> {
    const WHAT: &str = "heap of names";
    let sizes = file.sizes();
    let mut head = file.signed(WHAT, *b"HEAP", address, 8 + 2 * sizes.length + sizes.address)?;
    let bytes = head.skip(3).and_then(|()| head.length());
    let at = head.length().and_then(|_| head.address());
    let (at, bytes) = at.zip(bytes).ok_or_else(|| file.broken("no heap of names", address))?;
    file.place(WHAT, at, bytes)?;
    Ok((at, bytes))
}

fn name(file: &mut File<'_, '_>, names: u64, names_bytes: u64, at: u64) -> Result<String, FormatError> {
    const WHAT: &str = "name";
    let Some(left) = names_bytes.checked_sub(at) else {
        return Err(file.broken(format!("a name at {at} of a heap of {names_bytes} B"), names));
    };
    let bytes = file.look(WHAT, names + at, left.min(NAME_BYTES_MAX) as usize)?.rest();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
    // Each link has a name of its own, so that what is held of them is bounded by the file as well.
    file.count(WHAT, names + at, end as u64)?;
    Ok(name)
}
