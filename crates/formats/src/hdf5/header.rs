//! Object headers: the messages of a group or of a dataset, of both versions.

use super::fields::Fields;
use super::file::File;
use crate::error::FormatError;

/// Numbers of the messages that are looked at.
pub(crate) const DATASPACE: u16 = 0x01;
pub(crate) const LINK_INFO: u16 = 0x02;
pub(crate) const DATATYPE: u16 = 0x03;
pub(crate) const LINK: u16 = 0x06;
pub(crate) const EXTERNAL: u16 = 0x07;
pub(crate) const LAYOUT: u16 = 0x08;
pub(crate) const FILTERS: u16 = 0x0b;
pub(crate) const SYMBOL_TABLE: u16 = 0x11;

/// The message that says where more of them lie.
const CONTINUATION: u16 = 0x10;

const WANTED: [u16; 8] = [DATASPACE, LINK_INFO, DATATYPE, LINK, EXTERNAL, LAYOUT, FILTERS, SYMBOL_TABLE];

/// Flag of a message that says only where it is kept.
const IS_SHARED: u8 = 0x02;

const WHAT: &str = "object header";

/// A message.
pub(crate) struct Message<'a> {
    pub(crate) kind: u16,
    pub(crate) fields: Fields<'a>,
    /// Whether the fields are those of a reference to it.
    pub(crate) is_shared: bool,
    /// Its address.
    pub(crate) address: u64,
}

/// A part of a header, whose messages follow each other.
struct Block {
    address: u64,
    bytes: u64,
}

/// How the messages of a header are written.
#[derive(Clone, Copy)]
struct Form {
    is_first: bool,
    /// Bytes before the content of each.
    prefix_bytes: usize,
}

/// Calls `each` with every message that is looked at.
pub(crate) fn messages(
    file: &mut File<'_, '_>,
    address: u64,
    each: &mut dyn FnMut(Message<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let (form, first) = head(file, address)?;
    let mut blocks = vec![first];
    while let Some(block) = blocks.pop() {
        of_block(file, form, &block, &mut blocks, each)?;
    }
    Ok(())
}

fn head(file: &mut File<'_, '_>, address: u64) -> Result<(Form, Block), FormatError> {
    let cut = |file: &File<'_, '_>| file.broken("no object header", address);
    let begin = file.look(WHAT, address, 16)?.rest().to_vec();
    if begin.starts_with(b"OHDR") {
        file.count(WHAT, address, 6)?;
        let (version, flags) = (begin[4], begin[5]);
        if version != 2 {
            return Err(file.broken(format!("an object header of version {version}"), address));
        }
        let times = if flags & 0x20 == 0 { 0 } else { 16 };
        let limits = if flags & 0x10 == 0 { 0 } else { 4 };
        let width = 1 << (flags & 0x03);
        let from = 6 + times + limits;
        let at = address.saturating_add(from as u64);
        let bytes = file.look(WHAT, at, width)?.number(width).ok_or_else(|| cut(file))?;
        let form = Form { is_first: false, prefix_bytes: if flags & 0x04 == 0 { 4 } else { 6 } };
        return Ok((form, Block { address: at.saturating_add(width as u64), bytes }));
    }
    let mut fields = Fields::new(&begin, file.sizes());
    if fields.byte() != Some(1) {
        return Err(cut(file));
    }
    // Behind the version: the number of messages, which the bytes say too, and that of links to the object.
    file.count(WHAT, address, 16)?;
    let bytes = fields.skip(7).and_then(|()| fields.number(4)).ok_or_else(|| cut(file))?;
    let form = Form { is_first: true, prefix_bytes: 8 };
    Ok((form, Block { address: address.saturating_add(16), bytes }))
}

fn of_block(
    file: &mut File<'_, '_>,
    form: Form,
    block: &Block,
    blocks: &mut Vec<Block>,
    each: &mut dyn FnMut(Message<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    file.place(WHAT, block.address, block.bytes)?;
    let end = block.address + block.bytes;
    let mut at = block.address;
    // What is shorter than a message is a gap.
    while end - at >= form.prefix_bytes as u64 {
        let prefix = file.part("message", at, form.prefix_bytes)?;
        let Some((kind, bytes, flags)) = prefix_of(prefix, form) else { break };
        let from = at + form.prefix_bytes as u64;
        if bytes as u64 > end - from {
            return Err(file.broken(format!("a message of {bytes} B, longer than its header"), at));
        }
        at = from + bytes as u64;
        let mut fields = match kind {
            CONTINUATION => file.part("message", from, bytes)?,
            kind if WANTED.contains(&kind) => file.part("message", from, bytes)?,
            _ => continue,
        };
        if kind != CONTINUATION {
            each(Message { kind, fields, is_shared: flags & IS_SHARED != 0, address: from })?;
            continue;
        }
        let place = fields.address().zip(fields.length());
        let (address, bytes) = place.ok_or_else(|| file.broken("no continuation of a header", from))?;
        blocks.push(continued(file, form, address, bytes)?);
    }
    Ok(())
}

/// Number, bytes and flags of a message.
fn prefix_of(mut prefix: Fields<'_>, form: Form) -> Option<(u16, usize, u8)> {
    let kind = prefix.number(if form.is_first { 2 } else { 1 })?;
    Some((kind as u16, prefix.number(2)? as usize, prefix.byte()?))
}

/// The messages of a continuation: in the second version between a signature and a checksum.
fn continued(file: &mut File<'_, '_>, form: Form, address: u64, bytes: u64) -> Result<Block, FormatError> {
    if form.is_first {
        return Ok(Block { address, bytes });
    }
    let is_signed = file.look(WHAT, address, 4)?.rest() == b"OCHK";
    match bytes.checked_sub(8) {
        Some(bytes) if is_signed => Ok(Block { address: address.saturating_add(4), bytes }),
        _ => Err(file.broken("no continuation of a header", address)),
    }
}
