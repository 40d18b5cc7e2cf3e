//! Entries of arrays, each of which says where a chunk lies.

use super::fields::Fields;
use super::file::File;
use crate::error::FormatError;

/// Called with the number, the address and the bytes of a chunk.
pub(crate) type Each<'e> = dyn FnMut(&mut File<'_, '_>, u64, (u64, u64)) -> Result<(), FormatError> + 'e;

/// How places are written in an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Bytes of an entry.
    pub(crate) bytes: usize,
    /// Bytes of a chunk where entries have none, as all chunks have as many.
    pub(crate) chunk_bytes: Option<u64>,
}

/// Of the mask that says which filters a chunk went through.
const MASK_BYTES: usize = 4;

impl Entry {
    /// Address and bytes of a chunk.
    pub(crate) fn read(self, mut fields: Fields<'_>, address_bytes: usize) -> Option<(u64, u64)> {
        let address = fields.address()?;
        let bytes = match self.chunk_bytes {
            Some(bytes) => bytes,
            None => fields.number(self.bytes.checked_sub(address_bytes + MASK_BYTES)?)?,
        };
        Some((address, bytes))
    }
}

/// Whether a page was written, by a map whose first bit is the highest of its first byte.
pub(crate) fn is_set(map: &[u8], number: u64) -> bool {
    map.get((number / 8) as usize).is_some_and(|byte| byte & (0x80 >> (number % 8)) != 0)
}

/// Entries that follow each other, the first of which is that of chunk `first`.
pub(crate) fn run(
    file: &mut File<'_, '_>,
    entry: Entry,
    address: u64,
    first: u64,
    count: u64,
    each: &mut Each<'_>,
) -> Result<(), FormatError> {
    let address_bytes = file.sizes().address;
    let mut at = address;
    for number in first..first.saturating_add(count) {
        let fields = file.part("entry of an array", at, entry.bytes)?;
        let place = entry.read(fields, address_bytes);
        let place = place.ok_or_else(|| file.broken("no entry of an array", at))?;
        each(file, number, place)?;
        at += entry.bytes as u64;
    }
    Ok(())
}
