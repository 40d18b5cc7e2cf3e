//! The part of Thrift's compact protocol that the metadata of Parquet use: `thrift/doc/specs/thrift-compact-protocol.md`.

use super::LAYOUT;
use crate::error::FormatError;

/// Types of fields and elements.
pub(crate) const I32: u8 = 5;
pub(crate) const I64: u8 = 6;
pub(crate) const BINARY: u8 = 8;
pub(crate) const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;

/// Structures within structures. Parquet's own are seven deep.
const DEPTH_MAX: u32 = 32;

/// Reads what may be anything: every length is checked, and nothing is kept.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset in the file of the first byte.
    base: u64,
}

impl<'a> Reader<'a> {
    /// Of bytes that lie at `base` in their file.
    pub(crate) fn new(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, at: 0, base }
    }

    /// An error at this place.
    pub(crate) fn malformed(&self, found: impl Into<String>) -> FormatError {
        FormatError::Malformed { layout: LAYOUT, found: found.into(), offset: self.base + self.at as u64 }
    }

    fn take(&mut self, bytes: u64) -> Result<&'a [u8], FormatError> {
        let rest = &self.bytes[self.at..];
        if bytes > rest.len() as u64 {
            return Err(self.malformed("a footer that ends inside a value"));
        }
        self.at += bytes as usize;
        Ok(&rest[..bytes as usize])
    }

    fn byte(&mut self) -> Result<u8, FormatError> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Result<u64, FormatError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.malformed("a number longer than any"))
    }

    /// A number of a field of type [`I32`] or [`I64`].
    pub(crate) fn integer(&mut self, kind: u8) -> Result<i64, FormatError> {
        if !matches!(kind, I32 | I64) {
            return Err(self.malformed("no number where one belongs"));
        }
        let raw = self.varint()?;
        Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    /// Bytes of a field of type [`BINARY`].
    pub(crate) fn binary(&mut self, kind: u8) -> Result<&'a [u8], FormatError> {
        if kind != BINARY {
            return Err(self.malformed("no bytes where some belong"));
        }
        let length = self.varint()?;
        self.take(length)
    }

    /// Calls `each` with number and type of every field of a structure; it must read or [skip](Self::skip) the value.
    pub(crate) fn fields(
        &mut self,
        kind: u8,
        each: &mut dyn FnMut(&mut Self, i64, u8) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        if kind != STRUCT {
            return Err(self.malformed("no structure where one belongs"));
        }
        let mut number: i64 = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            number = match head >> 4 {
                // A step of more than 15, or backwards, is written out as a number.
                0 => self.integer(I32)?,
                step => number.saturating_add(i64::from(step)),
            };
            each(self, number, head & 0x0f)?;
        }
    }

    /// Calls `each` with the type of every element of a list.
    pub(crate) fn elements(
        &mut self,
        kind: u8,
        each: &mut dyn FnMut(&mut Self, u8) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        if kind != LIST {
            return Err(self.malformed("no list where one belongs"));
        }
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        // An element takes a byte at least, so that this ends where the bytes do.
        (0..count).try_for_each(|_| each(self, head & 0x0f))
    }

    /// Goes past the value of a field.
    pub(crate) fn skip(&mut self, kind: u8) -> Result<(), FormatError> {
        self.skip_within(kind, DEPTH_MAX)
    }

    fn skip_within(&mut self, kind: u8, depth: u32) -> Result<(), FormatError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.malformed("structures within structures without end"));
        };
        match kind {
            // The value of a truth is its type.
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.take(8).map(drop),
            BINARY => self.binary(kind).map(drop),
            // A set is written as a list.
            LIST | 10 => self.elements(LIST, &mut |reader, kind| reader.skip_element(kind, depth)),
            // A map; Parquet has none today, and a later version of it must still be passed over.
            11 => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 0x0f, depth)
                })
            }
            STRUCT => self.fields(STRUCT, &mut |reader, _, kind| reader.skip_within(kind, depth)),
            _ => Err(self.malformed(format!("a value of type {kind}, which is none"))),
        }
    }

    /// A truth takes a byte within a list.
    fn skip_element(&mut self, kind: u8, depth: u32) -> Result<(), FormatError> {
        if matches!(kind, 1 | 2) { self.byte().map(drop) } else { self.skip_within(kind, depth) }
    }
}

/// Writes structures, field by field.
#[derive(Default)]
pub(crate) struct Writer {
    /// What was written.
    pub(crate) bytes: Vec<u8>,
    /// Number of the last field, of every structure that is open.
    last: Vec<u8>,
}

impl Writer {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Begins a structure: of a field after [`Self::field`], of a list, or the outermost.
    pub(crate) fn open(&mut self) {
        self.last.push(0);
    }

    /// Ends it.
    pub(crate) fn close(&mut self) {
        self.last.pop();
        self.bytes.push(0);
    }

    /// Begins a field; numbers rise, by less than 16.
    pub(crate) fn field(&mut self, number: u8, kind: u8) {
        let last = self.last.last_mut().expect("a structure is open");
        let step = number - *last;
        *last = number;
        self.bytes.push(step << 4 | kind);
    }

    /// A field with a number, which is not negative.
    pub(crate) fn integer(&mut self, number: u8, kind: u8, value: u64) {
        self.field(number, kind);
        self.element(value);
    }

    /// A field with a text.
    pub(crate) fn text(&mut self, number: u8, value: &str) {
        self.field(number, BINARY);
        self.text_element(value);
    }

    /// A field with a list of so many elements, which must follow.
    pub(crate) fn list(&mut self, number: u8, kind: u8, count: u64) {
        self.field(number, LIST);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.varint(count);
        }
    }

    /// A number within a list.
    pub(crate) fn element(&mut self, value: u64) {
        self.varint(value << 1);
    }

    /// A text within a list.
    pub(crate) fn text_element(&mut self, value: &str) {
        self.varint(value.len() as u64);
        self.bytes.extend(value.as_bytes());
    }
}
