//! The fixed array: places of the chunks of a dataset that cannot grow.

use super::entries::{Each, Entry, is_set, run};
use super::file::File;
use crate::error::FormatError;

const WHAT: &str = "fixed array";

/// Of the checksum behind each part.
const SUM_BYTES: u64 = 4;

/// Calls `each` with the number, the address and the bytes of every chunk.
pub(crate) fn places(
    file: &mut File<'_, '_>,
    address: u64,
    chunk_bytes: Option<u64>,
    each: &mut Each<'_>,
) -> Result<(), FormatError> {
    let sizes = file.sizes();
    let mut head = file.signed(WHAT, *b"FAHD", address, 8 + sizes.length + sizes.address)?;
    let numbers = head.skip(1).and_then(|()| head.byte().zip(head.byte()));
    let found = numbers.zip(head.length().zip(head.address()));
    let Some(((bytes, page_bits), (count, block))) = found.filter(|((_, bits), _)| *bits < 64) else {
        return Err(file.broken("no fixed array", address));
    };
    let entry = Entry { bytes: usize::from(bytes), chunk_bytes };
    let head_bytes = 6 + sizes.address;
    file.signed(WHAT, *b"FADB", block, head_bytes)?;
    let from = block.saturating_add(head_bytes as u64);
    // Entries are held against the file before any is read.
    let all = count.saturating_mul(entry.bytes as u64);
    file.place(WHAT, from, all)?;
    let page = 1 << page_bits;
    if count <= page {
        return run(file, entry, from, 0, count, each);
    }
    let pages = count.div_ceil(page);
    let used = file.copy(WHAT, from, pages.div_ceil(8))?;
    let mut at = from + used.len() as u64 + SUM_BYTES;
    for number in 0..pages {
        let first = number * page;
        let entries = page.min(count - first);
        if is_set(&used, number) {
            run(file, entry, at, first, entries, each)?;
        }
        at += entries * entry.bytes as u64 + SUM_BYTES;
    }
    Ok(())
}
