//! FFCV's `.beton`: what the fields of samples hold lies in pages, behind a table of every piece.
//!
//! | bytes | what |
//! |---|---|
//! | 0..2, 2..4, 4..8 | version 2, number of fields, bytes of a page |
//! | 8..16, 16..24 | number of samples, offset of the table |
//! | from 24 on | 1,041 bytes for each field: its type, name and arguments |
//! | then | a row of metadata for each sample, whose bytes follow from the fields; then pages |
//! | from the table to the end | number of the sample, offset and bytes of each piece, 8 bytes each |
//!
//! All numbers are little-endian. A field of fixed size (`int`, `float`) lies in the row of metadata alone, which a loader reads once when it
//! opens the file; one of any size has a piece for each sample. It is only read: samples are written to `indexed`, whose records
//! are the same to a storage.
//!
//! Format: `ffcv/types.py` and `ffcv/writer.py` of FFCV 1.0.2.

use crate::error::FormatError;
use crate::input::{Input, Window, fits, number32, number64};
use crate::shard::Unit;

const LAYOUT: &str = "ffcv";

/// Of the header.
const HEAD_BYTES: usize = 24;

/// Of a field's description.
const FIELD_BYTES: u64 = 1041;

/// Of one piece in the table.
const PIECE_BYTES: u64 = 24;

/// The version that is read: the first one had a table of another form.
const VERSION: u16 = 2;

/// Versions that a file is known by; a later one is better refused by its number than taken for something else.
const VERSIONS: std::ops::RangeInclusive<u16> = 1..=9;

/// The smallest page that FFCV writes.
const PAGE_BYTES_MIN: u32 = 1 << 21;

/// More fields than anybody has.
const FIELDS_MAX: u16 = 1000;

/// Types of fields: seven, and those of the user's own.
const TYPES: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 255];

struct Head {
    version: u16,
    fields: u16,
    page_bytes: u32,
    samples: u64,
    table: u64,
}

impl Head {
    fn of(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEAD_BYTES] = bytes.first_chunk()?;
        Some(Self {
            version: u16::from_le_bytes([bytes[0], bytes[1]]),
            fields: u16::from_le_bytes([bytes[2], bytes[3]]),
            page_bytes: number32(&bytes[4..]),
            samples: number64(&bytes[8..]),
            table: number64(&bytes[16..]),
        })
    }

    /// Where the rows of metadata begin.
    fn rows(&self) -> u64 {
        HEAD_BYTES as u64 + u64::from(self.fields) * FIELD_BYTES
    }
}

/// Whether a file that begins so is one: the format has no magic, so every field of its header is looked at.
pub(crate) fn begins(head: &[u8]) -> bool {
    let Some(found) = Head::of(head) else { return false };
    VERSIONS.contains(&found.version)
        && (1..=FIELDS_MAX).contains(&found.fields)
        && found.page_bytes >= PAGE_BYTES_MIN
        && found.page_bytes.is_power_of_two()
        && found.samples > 0
        && found.table > found.rows()
        && head.get(HEAD_BYTES).is_some_and(|kind| TYPES.contains(kind))
}

/// Calls `each` with the pieces of every sample, in the order of the table.
pub(crate) fn index(window: &mut Window<'_>, each: &mut dyn FnMut(Unit<'_>)) -> Result<(), FormatError> {
    let bytes = window.must("header", 0, HEAD_BYTES)?;
    let head = Head::of(bytes).ok_or_else(|| malformed("no header".to_owned(), 0))?;
    if head.version != VERSION {
        return Err(malformed(format!("version {}, of which only {VERSION} is read", head.version), 0));
    }
    if head.page_bytes < PAGE_BYTES_MIN || !head.page_bytes.is_power_of_two() {
        return Err(malformed(format!("pages of {} B", head.page_bytes), 4));
    }
    if head.samples == 0 {
        return Err(FormatError::Empty);
    }
    let (rows, end) = (head.rows(), window.bytes());
    // It is written last, over a 0: a file without it was not finished.
    if head.table <= rows {
        return Err(malformed(format!("a table at {}, where descriptions of fields lie", head.table), 16));
    }
    let table_bytes = end.checked_sub(head.table);
    let Some(table_bytes) = table_bytes.filter(|bytes| *bytes > 0 && bytes.is_multiple_of(PIECE_BYTES))
    else {
        return Err(malformed(format!("a table from {} to {end}, cut off or empty", head.table), 16));
    };
    let (mut samples, mut before) = (0, None);
    let mut pieces: Vec<(u64, u64)> = Vec::new();
    for at in (head.table..end).step_by(PIECE_BYTES as usize) {
        let entry = window.must("table", at, PIECE_BYTES as usize)?;
        let [sample, offset, bytes] = [0, 8, 16].map(|from| number64(&entry[from..]));
        if sample >= head.samples || offset < rows {
            return Err(malformed(format!("a piece of sample {sample} at {offset}"), at));
        }
        // Pieces end before the table.
        fits("piece", offset, bytes, head.table)?;
        if before != Some(sample) {
            flush(&mut pieces, each);
            (samples, before) = (samples + 1, Some(sample));
        }
        add(&mut pieces, offset, bytes);
    }
    flush(&mut pieces, each);
    // The pieces of a sample follow each other, so that each sample comes once.
    if samples != head.samples {
        let found =
            format!("a table of {table_bytes} B with {samples} runs of pieces for {} samples", head.samples);
        return Err(malformed(found, head.table));
    }
    Ok(())
}

fn flush(pieces: &mut Vec<(u64, u64)>, each: &mut dyn FnMut(Unit<'_>)) {
    if !pieces.is_empty() {
        each(Unit { samples: 1, extents: pieces });
        pieces.clear();
    }
}

/// Adds a piece; two that touch are read as one.
fn add(pieces: &mut Vec<(u64, u64)>, offset: u64, bytes: u64) {
    match pieces.last_mut() {
        _ if bytes == 0 => {}
        Some((from, length)) if *from + *length == offset => *length += bytes,
        _ => pieces.push((offset, bytes)),
    }
}

fn malformed(found: String, offset: u64) -> FormatError {
    FormatError::Malformed { layout: LAYOUT, found, offset }
}
