//! Page-aligned records behind a table of their places, in the manner of FFCV's `.beton`, whose own layout depends on the
//! types of its fields.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `FLINDEX1` |
//! | 8..12, 12..16 | version 1, bytes of a page (4096) |
//! | 16..24, 24..32 | number of records, offset of the table |
//! | 32..36 | CRC-32C of bytes 0..32 |
//! | from 4096 on | the records, each from a page on, padded with zeros |
//! | from the table on | offset and bytes of each record, 8 bytes each; CRC-32C of that |
//!
//! All numbers are little-endian. The table comes last, so that a shard can be written as a stream. What is read of a
//! record is whole pages.

use crate::checksum::{Sum, crc32c, holds};
use crate::error::FormatError;
use crate::input::{Input, PART_BYTES_MAX, Window, fits, number32, number64};
use crate::pen::Pen;
use crate::shard::{Footprint, Samples};

/// What records begin at a multiple of.
// The alignment of direct I/O on every disk: records can be read past the page cache without reading their
// neighbours.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// Begins every shard.
pub(crate) const MAGIC: &[u8; 8] = b"FLINDEX1";

// The layout is feedline's own, so that only feedline writes it; a later version would get another number here.
const VERSION: u32 = 1;
const LAYOUT: &str = "indexed";

/// Of the header that mean something, before their checksum.
const HEAD_BYTES: usize = 32;

/// Of one place in the table.
const ENTRY_BYTES: u64 = 16;

/// Of the checksum.
const SUM_BYTES: u64 = 4;

/// Of a table of so many places, with its checksum.
pub(crate) const fn table_bytes(count: u64) -> u64 {
    count.saturating_mul(ENTRY_BYTES).saturating_add(SUM_BYTES)
}

/// Whole pages, at least one.
fn paged(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(PAGE_BYTES)
}

/// What is read of a sample.
pub(crate) fn place(sample_bytes: u64) -> Option<Footprint> {
    let bytes = paged(sample_bytes)?;
    Some(Footprint { bytes, step_bytes: bytes, lead_bytes: 0 })
}

/// Writes a shard.
pub(crate) fn write(samples: &mut dyn Samples, pen: &mut Pen<'_>) -> Result<(), FormatError> {
    let count = samples.count();
    // Where the table begins must be known before the first record is written: what was written cannot be gone back
    // to.
    let records = (0..count).try_fold(PAGE_BYTES, |at, index| at.checked_add(paged(samples.bytes(index))?));
    let table = records.ok_or_else(|| FormatError::unwritable(LAYOUT, "samples beyond 2^64 B".to_owned()))?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    head.extend(MAGIC);
    head.extend(VERSION.to_le_bytes());
    head.extend((PAGE_BYTES as u32).to_le_bytes());
    head.extend(count.to_le_bytes());
    head.extend(table.to_le_bytes());
    pen.put(&head)?;
    pen.put(&crc32c(&head).to_le_bytes())?;
    pen.align(PAGE_BYTES)?;
    for index in 0..count {
        let bytes = samples.bytes(index);
        pen.sample(samples, index, 0, bytes)?;
        pen.zeros(paged(bytes).unwrap_or(bytes) - bytes)?;
    }
    pen.begin_sum();
    let mut at = PAGE_BYTES;
    for index in 0..count {
        let bytes = samples.bytes(index);
        pen.put(&at.to_le_bytes())?;
        pen.put(&bytes.to_le_bytes())?;
        at += paged(bytes).unwrap_or(bytes);
    }
    let sum = pen.end_sum();
    Ok(pen.put(&sum.to_le_bytes())?)
}

/// Calls `each` with offset and length of the pages of every record.
pub(crate) fn index(window: &mut Window<'_>, each: &mut dyn FnMut(u64, u64)) -> Result<(), FormatError> {
    let (count, table) = head(window)?;
    let table_bytes = count.checked_mul(ENTRY_BYTES).ok_or(FormatError::Truncated {
        what: "table",
        offset: table,
        needed_bytes: u64::MAX,
        left_bytes: window.bytes().saturating_sub(table),
    })?;
    fits("table", table, table_bytes.saturating_add(SUM_BYTES), window.bytes())?;
    if count == 0 {
        return Err(FormatError::Empty);
    }
    let mut sum = Sum::new();
    // The whole table is summed before any of it is believed, and read a second time for its places: holding it would
    // take as much memory as a user's file says.
    parts(window, table, table_bytes, |part, _| {
        sum.add(part);
        Ok(())
    })?;
    let stored = number32(window.must("table", table + table_bytes, SUM_BYTES as usize)?);
    if !holds(stored, sum.value()) {
        return Err(FormatError::Checksum { what: "table", offset: table });
    }
    parts(window, table, table_bytes, |part, offset| {
        for (entry, at) in part.chunks_exact(ENTRY_BYTES as usize).zip(0..) {
            let (record, bytes) = (number64(&entry[..8]), number64(&entry[8..]));
            let malformed = |found: String| FormatError::Malformed {
                layout: LAYOUT,
                found,
                offset: offset + at * ENTRY_BYTES,
            };
            if record < PAGE_BYTES || !record.is_multiple_of(PAGE_BYTES) {
                return Err(malformed(format!("a record at {record}, where none begins")));
            }
            // Records end before the table.
            let pages = paged(bytes).unwrap_or(bytes);
            fits("record", record, pages, table)?;
            each(record, pages);
        }
        Ok(())
    })
}

/// Number of records, and where the table is.
fn head(window: &mut Window<'_>) -> Result<(u64, u64), FormatError> {
    let head = window.must("header", 0, HEAD_BYTES + SUM_BYTES as usize)?;
    let malformed = |found: String, offset: u64| FormatError::Malformed { layout: LAYOUT, found, offset };
    if !head.starts_with(MAGIC) {
        return Err(malformed("no magic of this layout".to_owned(), 0));
    }
    if !holds(number32(&head[HEAD_BYTES..]), crc32c(&head[..HEAD_BYTES])) {
        return Err(FormatError::Checksum { what: "header", offset: 0 });
    }
    let (version, page) = (number32(&head[8..]), number32(&head[12..]));
    if version != VERSION {
        return Err(malformed(format!("version {version}, which is none"), 8));
    }
    if u64::from(page) != PAGE_BYTES {
        return Err(malformed(format!("pages of {page} B"), 12));
    }
    Ok((number64(&head[16..]), number64(&head[24..])))
}

/// Calls `take` with the parts of the table, whole places each, and their offsets.
fn parts(
    window: &mut Window<'_>,
    table: u64,
    bytes: u64,
    mut take: impl FnMut(&[u8], u64) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut done = 0;
    while done < bytes {
        // A multiple of an entry, so that no entry is cut.
        let part = (bytes - done).min(PART_BYTES_MAX as u64);
        take(window.must("table", table + done, part as usize)?, table + done)?;
        done += part;
    }
    Ok(())
}
