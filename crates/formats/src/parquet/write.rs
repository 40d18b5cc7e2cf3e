//! Writes a Parquet file, one page of one column after the other.

use std::ops::Range;

use super::thrift::{BINARY, I32, I64, STRUCT, Writer};
use super::{LAYOUT, MAGIC};
use crate::error::FormatError;
use crate::pen::Pen;
use crate::shard::Samples;

/// Bytes of values after which a page ends: what most writers take. A larger value has a page of its own.
const PAGE_BYTES: u64 = 1 << 20;

/// A page states its bytes in 31 bits.
const PAGE_BYTES_MAX: u64 = i32::MAX as u64;

/// Before each value: its length.
const LENGTH_BYTES: u64 = 4;

/// `Type::BYTE_ARRAY`.
const BYTE_ARRAY: u64 = 6;

/// `Encoding::PLAIN` and `Encoding::RLE`. The second is that of levels, of which required columns have none.
const PLAIN: u64 = 0;
const RLE: u64 = 3;

/// A column chunk that was written.
struct Chunk {
    offset: u64,
    bytes: u64,
}

/// A row group that was written.
struct Group {
    rows: u64,
    chunks: Vec<Chunk>,
}

/// Bytes of a sample that a column holds: parts of equal size, to one byte.
fn part(bytes: u64, column: u32, columns: u32) -> Range<u64> {
    let edge = |column: u32| (u128::from(bytes) * u128::from(column) / u128::from(columns)) as u64;
    edge(column)..edge(column + 1)
}

/// Writes a shard: the columns `c0`, `c1` and so on, over which each sample is spread evenly, and row groups of about
/// `row_group_bytes`.
pub(crate) fn write(
    columns: u32,
    row_group_bytes: u64,
    samples: &mut dyn Samples,
    pen: &mut Pen<'_>,
) -> Result<(), FormatError> {
    let columns = columns.max(1);
    pen.put(MAGIC)?;
    let mut groups = Vec::new();
    let mut from = 0;
    while from < samples.count() {
        let until = from + rows_of(row_group_bytes, from, samples);
        let chunks = (0..columns).map(|column| {
            let offset = pen.at();
            chunk(column, columns, from..until, samples, pen)?;
            Ok(Chunk { offset, bytes: pen.at() - offset })
        });
        let chunks = chunks.collect::<Result<_, FormatError>>()?;
        groups.push(Group { rows: until - from, chunks });
        from = until;
    }
    let footer = footer(columns, &groups);
    let length = u32::try_from(footer.len()).map_err(|_| {
        FormatError::unwritable(LAYOUT, "a footer beyond 4 GiB, of too small row groups".to_owned())
    })?;
    pen.put(&footer)?;
    pen.put(&length.to_le_bytes())?;
    Ok(pen.put(MAGIC)?)
}

/// Rows from `from` on that reach the bytes of a row group.
fn rows_of(row_group_bytes: u64, from: u64, samples: &dyn Samples) -> u64 {
    // A row at least, however large: a group without rows would never end.
    let (mut rows, mut bytes) = (0, 0_u64);
    while from + rows < samples.count() && (rows == 0 || bytes < row_group_bytes) {
        bytes = bytes.saturating_add(samples.bytes(from + rows));
        rows += 1;
    }
    rows
}

/// The pages of one column of some rows.
fn chunk(
    column: u32,
    columns: u32,
    rows: Range<u64>,
    samples: &mut dyn Samples,
    pen: &mut Pen<'_>,
) -> Result<(), FormatError> {
    let mut from = rows.start;
    while from < rows.end {
        let (mut until, mut bytes) = (from, 0);
        while until < rows.end && (until == from || bytes < PAGE_BYTES) {
            let part = part(samples.bytes(until), column, columns);
            let value_bytes = part.end - part.start;
            // A page ends with the value that passes its size: that one on top of a page that is almost full must fit
            // 31 bits.
            if value_bytes > PAGE_BYTES_MAX - LENGTH_BYTES - PAGE_BYTES {
                let what = format!("a value of {value_bytes} B, beyond what a page of it holds");
                return Err(FormatError::unwritable(LAYOUT, what));
            }
            bytes += LENGTH_BYTES + value_bytes;
            until += 1;
        }
        pen.put(&page_header(bytes, until - from))?;
        for row in from..until {
            let part = part(samples.bytes(row), column, columns);
            let value_bytes = part.end - part.start;
            pen.put(&(value_bytes as u32).to_le_bytes())?;
            pen.sample(samples, row, part.start, value_bytes)?;
        }
        from = until;
    }
    Ok(())
}

fn page_header(bytes: u64, values: u64) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.open();
    // PageHeader.type: DATA_PAGE
    writer.integer(1, I32, 0);
    writer.integer(2, I32, bytes);
    writer.integer(3, I32, bytes);
    // PageHeader.data_page_header
    writer.field(5, STRUCT);
    writer.open();
    writer.integer(1, I32, values);
    writer.integer(2, I32, PLAIN);
    writer.integer(3, I32, RLE);
    writer.integer(4, I32, RLE);
    writer.close();
    writer.close();
    writer.bytes
}

/// FileMetaData.
fn footer(columns: u32, groups: &[Group]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.open();
    writer.integer(1, I32, 1);
    schema(&mut writer, columns);
    writer.integer(3, I64, groups.iter().map(|group| group.rows).sum());
    writer.list(4, STRUCT, groups.len() as u64);
    for group in groups {
        let total = group.chunks.iter().map(|chunk| chunk.bytes).sum();
        writer.open();
        writer.list(1, STRUCT, group.chunks.len() as u64);
        for (chunk, column) in group.chunks.iter().zip(0..) {
            column_chunk(&mut writer, chunk, column, group.rows);
        }
        writer.integer(2, I64, total);
        writer.integer(3, I64, group.rows);
        writer.close();
    }
    writer.text(6, concat!("feedline version ", env!("CARGO_PKG_VERSION")));
    writer.close();
    writer.bytes
}

/// FileMetaData.schema: the root, and a required column of bytes each.
fn schema(writer: &mut Writer, columns: u32) {
    writer.list(2, STRUCT, u64::from(columns) + 1);
    writer.open();
    writer.text(4, "schema");
    writer.integer(5, I32, u64::from(columns));
    writer.close();
    for column in 0..columns {
        writer.open();
        writer.integer(1, I32, BYTE_ARRAY);
        // FieldRepetitionType.REQUIRED
        writer.integer(3, I32, 0);
        writer.text(4, &format!("c{column}"));
        writer.close();
    }
}

/// ColumnChunk with its ColumnMetaData.
fn column_chunk(writer: &mut Writer, chunk: &Chunk, column: u32, rows: u64) {
    writer.open();
    writer.integer(2, I64, chunk.offset);
    writer.field(3, STRUCT);
    writer.open();
    writer.integer(1, I32, BYTE_ARRAY);
    writer.list(2, I32, 2);
    writer.element(PLAIN);
    writer.element(RLE);
    writer.list(3, BINARY, 1);
    writer.text_element(&format!("c{column}"));
    // CompressionCodec.UNCOMPRESSED
    writer.integer(4, I32, 0);
    writer.integer(5, I64, rows);
    writer.integer(6, I64, chunk.bytes);
    writer.integer(7, I64, chunk.bytes);
    writer.integer(9, I64, chunk.offset);
    writer.close();
    writer.close();
}
