//! Records of one size behind a header: `.npy`, an array of bytes whose first axis counts the samples.
//!
//! Format: `numpy/lib/format.py`.

mod header;

use crate::error::FormatError;
use crate::input::{Input, PART_BYTES_MAX, Window, fits};
use crate::pen::Pen;
use crate::shard::{Samples, even_bytes};

/// Of the header, so that the samples begin on a page.
// numpy pads its headers to 64 B. A page keeps records that are multiples of one aligned for direct reads.
pub(crate) const HEAD_BYTES: u64 = 4096;

/// Begins every file.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The most that a header may take. Those of arrays without fields are two lines long, and numpy refuses 10000 B.
const DICTIONARY_BYTES_MAX: usize = 64 << 10;

const LAYOUT: &str = "records";

/// Writes a shard: version 1, bytes, shape (samples, bytes of each).
pub(crate) fn write(samples: &mut dyn Samples, pen: &mut Pen<'_>) -> Result<(), FormatError> {
    let bytes = even_bytes(LAYOUT, samples)?;
    let shape = format!("({}, {bytes})", samples.count());
    let dictionary = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
    pen.put(MAGIC)?;
    pen.put(&[1, 0])?;
    let length = HEAD_BYTES - MAGIC.len() as u64 - 4;
    pen.put(&(length as u16).to_le_bytes())?;
    // Spaces and a newline, as the format demands of the padding.
    pen.put(format!("{dictionary:<width$}\n", width = length as usize - 1).as_bytes())?;
    for index in 0..samples.count() {
        pen.sample(samples, index, 0, bytes)?;
    }
    Ok(())
}

/// Calls `each` with offset and length of every element of the first axis.
pub(crate) fn index(window: &mut Window<'_>, each: &mut dyn FnMut(u64, u64)) -> Result<(), FormatError> {
    let torn = |found: String, offset: u64| FormatError::Malformed { layout: LAYOUT, found, offset };
    let begin = window.must("npy header", 0, 10)?;
    if !begin.starts_with(MAGIC) {
        return Err(torn("no magic of numpy".to_owned(), 0));
    }
    let (from, length) = match begin[6] {
        1 => (10, usize::from(u16::from_le_bytes([begin[8], begin[9]]))),
        2 | 3 => {
            let begin = window.must("npy header", 0, 12)?;
            (12, u32::from_le_bytes([begin[8], begin[9], begin[10], begin[11]]) as usize)
        }
        version => return Err(torn(format!("version {version}, which is none"), 6)),
    };
    if length > DICTIONARY_BYTES_MAX.min(PART_BYTES_MAX) {
        return Err(torn(format!("a header of {length} B"), 8));
    }
    let dictionary = window.must("npy header", from, length)?;
    let array = header::parse(dictionary).map_err(|found| torn(found, from))?;
    let Some((count, rest)) = array.shape.split_first() else {
        return Err(torn("an array without an axis".to_owned(), from));
    };
    let too_large = || torn("a shape that no file has".to_owned(), from);
    let product = rest.iter().try_fold(array.item_bytes, |product, axis| product.checked_mul(*axis));
    let bytes = product.ok_or_else(too_large)?;
    let total = bytes.checked_mul(*count).ok_or_else(too_large)?;
    // An axis of 0, or items without bytes (`|S0`): nothing could be read.
    if total == 0 {
        return Err(FormatError::Empty);
    }
    let data = from + length as u64;
    fits("array", data, total, window.bytes())?;
    for sample in 0..*count {
        each(data + sample * bytes, bytes);
    }
    Ok(())
}
