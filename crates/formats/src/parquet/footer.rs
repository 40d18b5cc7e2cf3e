//! Finds the row groups of anybody's Parquet file by its footer.

use super::thrift::{Reader, STRUCT};
use super::{LAYOUT, MAGIC};
use crate::error::FormatError;
use crate::input::{Input, Window, fits};
use crate::shard::Unit;

/// Bytes of a footer that are read at most: those of a thousand row groups of a thousand columns.
const FOOTER_BYTES_MAX: u64 = 256 << 20;

/// Its length and the magic at the end of the file.
const TAIL_BYTES: u64 = 8;

/// Names of columns that an error lists, and letters of each.
const NAMES_MAX: usize = 32;
const NAME_LETTERS_MAX: usize = 64;

/// Calls `each` with every row group: the chunks of the named columns, or of all if none is named. The first row group begins
/// with the footer, which a reader needs first.
pub(crate) fn index(
    columns: &[String],
    window: &mut Window<'_>,
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<(), FormatError> {
    let (from, footer) = footer(window)?;
    // The footer is read as part of the first unit: every loader reads it before any data, once for each file.
    let mut groups = Groups { columns, footer: Some((from, window.bytes() - from)), ..Groups::default() };
    let mut reader = Reader::new(&footer, from);
    reader.fields(STRUCT, &mut |reader, number, kind| {
        // FileMetaData.row_groups
        if number != 4 {
            return reader.skip(kind);
        }
        reader.elements(kind, &mut |reader, kind| groups.group(reader, kind, from, each))
    })?;
    if groups.units == 0 { Err(FormatError::Empty) } else { Ok(()) }
}

/// The footer, and where it begins.
fn footer(window: &mut Window<'_>) -> Result<(u64, Vec<u8>), FormatError> {
    let bytes = window.bytes();
    let malformed =
        |found: &str, offset| FormatError::Malformed { layout: LAYOUT, found: found.to_owned(), offset };
    if window.must("magic", 0, MAGIC.len())? != MAGIC {
        return Err(malformed("no magic of Parquet", 0));
    }
    fits("footer", MAGIC.len() as u64, TAIL_BYTES, bytes)?;
    let end = bytes - TAIL_BYTES;
    let [a, b, c, d, magic @ ..] = window.must("footer", end, TAIL_BYTES as usize)? else {
        return Err(malformed("no footer", end));
    };
    if magic != MAGIC {
        return Err(malformed("no magic of Parquet at its end, which may be cut off", end + 4));
    }
    let length = u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
    // A length that reaches over the magic at the beginning would read what is no footer.
    if length > end - MAGIC.len() as u64 || length > FOOTER_BYTES_MAX {
        return Err(malformed(&format!("a footer of {length} B"), end));
    }
    let mut footer = vec![0; length as usize];
    window.read(end - length, &mut footer)?;
    Ok((end - length, footer))
}

/// The row groups so far.
#[derive(Default)]
struct Groups<'a> {
    columns: &'a [String],
    footer: Option<(u64, u64)>,
    units: u64,
    extents: Vec<(u64, u64)>,
    /// Which of the named columns the group has.
    has: Vec<bool>,
    path: String,
    names: Vec<String>,
}

/// What the footer says of one column chunk.
#[derive(Default)]
struct Chunk {
    is_elsewhere: bool,
    compressed_bytes: i64,
    data_page: i64,
    dictionary_page: Option<i64>,
}

impl Groups<'_> {
    fn group(
        &mut self,
        reader: &mut Reader<'_>,
        kind: u8,
        footer_from: u64,
        each: &mut dyn FnMut(Unit<'_>),
    ) -> Result<(), FormatError> {
        let mut rows = 0;
        self.extents.clear();
        self.extents.extend(self.footer);
        self.has.clear();
        self.has.resize(self.columns.len(), false);
        reader.fields(kind, &mut |reader, number, kind| match number {
            // RowGroup.columns
            1 => reader.elements(kind, &mut |reader, kind| self.chunk(reader, kind, footer_from)),
            // RowGroup.num_rows
            3 => {
                rows = reader.integer(kind)?;
                Ok(())
            }
            _ => reader.skip(kind),
        })?;
        let samples = u64::try_from(rows).map_err(|_| reader.malformed("a row group of negative rows"))?;
        if let Some(missing) = self.has.iter().position(|has| !has) {
            let (column, found) = (self.columns[missing].clone(), self.names.join(", "));
            return Err(FormatError::NoColumn { column, found });
        }
        let is_bare = self.extents.len() == usize::from(self.footer.is_some());
        // Rows without bytes would be samples that cost nothing to read.
        if samples > 0 && is_bare {
            return Err(reader.malformed("a row group without bytes"));
        }
        if samples > 0 {
            each(Unit { samples, extents: &self.extents });
            self.units += 1;
            // Empty row groups are passed over, so that the footer goes to the first that is read.
            self.footer = None;
        }
        Ok(())
    }

    fn chunk(&mut self, reader: &mut Reader<'_>, kind: u8, footer_from: u64) -> Result<(), FormatError> {
        let mut chunk = Chunk::default();
        self.path.clear();
        reader.fields(kind, &mut |reader, number, kind| match number {
            // ColumnChunk.file_path
            1 => {
                chunk.is_elsewhere = !reader.binary(kind)?.is_empty();
                Ok(())
            }
            // ColumnChunk.meta_data
            3 => reader
                .fields(kind, &mut |reader, number, kind| self.metadata(&mut chunk, reader, number, kind)),
            _ => reader.skip(kind),
        })?;
        // Of the first row group alone: all groups have the same columns, and a footer may hold millions of chunks.
        if !self.columns.is_empty() && self.units == 0 && self.names.len() < NAMES_MAX {
            self.names.push(self.path.chars().take(NAME_LETTERS_MAX).collect());
        }
        if !self.is_chosen() {
            return Ok(());
        }
        if chunk.is_elsewhere {
            return Err(reader.malformed("a column that lies in another file"));
        }
        // Some writers give 0 for a dictionary that is not there.
        let dictionary = chunk.dictionary_page.filter(|at| (1..chunk.data_page).contains(at));
        let number = |value: i64| {
            u64::try_from(value).map_err(|_| reader.malformed("a column chunk at a negative place"))
        };
        let (offset, bytes) =
            (number(dictionary.unwrap_or(chunk.data_page))?, number(chunk.compressed_bytes)?);
        // Pages end where the footer begins.
        fits("column chunk", offset, bytes, footer_from)?;
        if bytes > 0 {
            self.extents.push((offset, bytes));
        }
        Ok(())
    }

    fn metadata(
        &mut self,
        chunk: &mut Chunk,
        reader: &mut Reader<'_>,
        number: i64,
        kind: u8,
    ) -> Result<(), FormatError> {
        match number {
            // ColumnMetaData.path_in_schema
            3 => {
                return reader.elements(kind, &mut |reader, kind| {
                    let part = reader.binary(kind)?;
                    if !self.path.is_empty() {
                        self.path.push('.');
                    }
                    self.path.push_str(&String::from_utf8_lossy(part));
                    Ok(())
                });
            }
            7 => chunk.compressed_bytes = reader.integer(kind)?,
            9 => chunk.data_page = reader.integer(kind)?,
            11 => chunk.dictionary_page = Some(reader.integer(kind)?),
            _ => return reader.skip(kind),
        }
        Ok(())
    }

    /// Whether this column or one around it is named.
    fn is_chosen(&mut self) -> bool {
        let mut is_chosen = self.columns.is_empty();
        for (column, has) in self.columns.iter().zip(&mut self.has) {
            let rest = self.path.strip_prefix(column.as_str());
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                (*has, is_chosen) = (true, true);
            }
        }
        is_chosen
    }
}
