//! What an object of a file is, by the messages of its header.

use std::collections::BTreeMap;

use super::dataset::{Dataset, Space, Storage};
use super::fields::{Fields, NOWHERE};
use super::file::File;
use super::header::{
    DATASPACE, DATATYPE, EXTERNAL, FILTERS, LAYOUT, LINK, LINK_INFO, Message, SYMBOL_TABLE, messages,
};
use super::links::{self, Link};
use crate::error::FormatError;

/// An object of a file.
pub(crate) enum Object {
    /// Named objects.
    Group(Group),
    /// Items.
    Dataset(Dataset),
    /// A type that has a name, or what a later library wrote.
    Other,
}

/// Where the links of a group are.
#[derive(Default)]
pub(crate) struct Group {
    /// Those that its header holds.
    pub(crate) links: Vec<Link>,
    /// A B-tree and a heap of names.
    pub(crate) table: Option<(u64, u64)>,
    /// A heap of links, and the B-tree that names them.
    pub(crate) dense: Option<(u64, u64)>,
}

/// Items of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// Of so many bytes.
    Bytes(u64),
    /// Of any length, kept elsewhere; so many bytes say where.
    Elsewhere(u64),
    /// As the type at an address says.
    Named(u64),
    /// As a table of shared messages says.
    Tabled,
}

/// Class of a type whose items have a length each.
const VARIABLE: u8 = 9;

/// What was read of a header so far.
#[derive(Default)]
struct Read {
    group: Group,
    is_group: bool,
    space: Option<Space>,
    item: Option<Item>,
    storage: Option<Storage>,
    is_filtered: bool,
    is_external: bool,
}

/// Types that have a name, each of which is read once however many datasets are of it.
#[derive(Default)]
pub(crate) struct Types(BTreeMap<u64, Item>);

/// Reads the header at an address.
pub(crate) fn read(file: &mut File<'_, '_>, address: u64, types: &mut Types) -> Result<Object, FormatError> {
    let mut read = Read::default();
    let mut wrong = None;
    messages(file, address, &mut |message| {
        let at = message.address;
        if take(&mut read, &message).is_none() {
            wrong = wrong.or(Some(at));
        }
        Ok(())
    })?;
    if let Some(at) = wrong {
        return Err(file.broken("a message of a header that is broken, or of an unknown version", at));
    }
    if read.is_group {
        return Ok(Object::Group(read.group));
    }
    let Read { space: Some(space), item: Some(item), storage: Some(storage), .. } = read else {
        return Ok(Object::Other);
    };
    let (item_bytes, refusal) = match resolved(file, item, types)? {
        Item::Bytes(bytes) => (bytes, None),
        Item::Elsewhere(bytes) => (bytes, Some("items of any length, in a heap, which is not read")),
        _ => (1, Some("a type from a table of shared messages, which is not read")),
    };
    let refusal =
        refusal.or(read.is_external.then_some("external storage, in other files, which is not read"));
    let storage = refusal.map_or(storage, |refusal| Storage::Refused(refusal.to_owned()));
    Ok(Object::Dataset(Dataset { space, item_bytes, storage, is_filtered: read.is_filtered }))
}

/// Takes a message in; `None` where it is broken.
fn take(read: &mut Read, message: &Message<'_>) -> Option<()> {
    let Message { kind, mut fields, is_shared, .. } = *message;
    match kind {
        DATATYPE if is_shared => read.item = Some(shared(fields)?),
        // Nothing else is shared by whoever does not ask for it.
        _ if is_shared => return None,
        DATATYPE => read.item = Some(item(fields)?),
        DATASPACE => read.space = Some(Space::read(fields)?),
        LAYOUT => read.storage = Some(Storage::read(fields)?),
        EXTERNAL => read.is_external = true,
        FILTERS => {
            fields.skip(1)?;
            read.is_filtered = fields.byte()? > 0;
        }
        SYMBOL_TABLE => {
            read.is_group = true;
            read.group.table = Some((fields.address()?, fields.address()?));
        }
        LINK => {
            read.is_group = true;
            read.group.links.extend(links::message(fields)?);
        }
        LINK_INFO => {
            read.is_group = true;
            read.group.dense = dense(fields)?;
        }
        _ => {}
    }
    Some(())
}

#[expect(clippy::option_option, reason = "broken and absent differ")]
fn dense(mut fields: Fields<'_>) -> Option<Option<(u64, u64)>> {
    fields.skip(1)?;
    let flags = fields.byte()?;
    fields.skip(if flags & 1 == 0 { 0 } else { 8 })?;
    let (heap, names) = (fields.address()?, fields.address()?);
    Some((heap != NOWHERE).then_some((heap, names)))
}

fn item(mut fields: Fields<'_>) -> Option<Item> {
    let class = fields.byte()? & 0x0f;
    fields.skip(3)?;
    let bytes = fields.number(4).filter(|bytes| *bytes > 0)?;
    Some(if class == VARIABLE { Item::Elsewhere(bytes) } else { Item::Bytes(bytes) })
}

/// Where a message is that is kept elsewhere.
fn shared(mut fields: Fields<'_>) -> Option<Item> {
    let (version, kind) = (fields.byte()?, fields.byte()?);
    match (version, kind) {
        (1, _) => fields.skip(6)?,
        (2, _) | (3, 2) => {}
        (3, _) => return Some(Item::Tabled),
        _ => return None,
    }
    Some(Item::Named(fields.address()?))
}

/// The item of a type that has a name.
fn resolved(file: &mut File<'_, '_>, found: Item, types: &mut Types) -> Result<Item, FormatError> {
    let Item::Named(address) = found else { return Ok(found) };
    if let Some(known) = types.0.get(&address) {
        return Ok(*known);
    }
    let mut named = None;
    messages(file, address, &mut |message| {
        if message.kind == DATATYPE && !message.is_shared {
            named = named.or(item(message.fields));
        }
        Ok(())
    })?;
    let named = named.ok_or_else(|| file.broken("a type that is not where its dataset says", address))?;
    types.0.insert(address, named);
    Ok(named)
}
