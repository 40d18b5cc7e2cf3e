//! The superblock, with which a file begins or which follows a block of the user's.

use super::fields::{Fields, NOWHERE, Sizes};
use super::file::File;
use super::refusal::malformed;
use crate::error::FormatError;
use crate::input::{Input, Window};

/// Begins every superblock.
pub(crate) const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Of a superblock of any version that is read, with addresses of eight bytes.
const SUPERBLOCK_BYTES: u64 = 128;

/// Where a superblock may lie behind a block of the user's: at this, and at each double of it.
const USER_BLOCK_BYTES_MIN: u64 = 512;

const WHAT: &str = "superblock";

/// Opens a file; with the address of its root group.
pub(crate) fn open<'a, 's>(window: &'a mut Window<'s>) -> Result<(File<'a, 's>, u64), FormatError> {
    let at = find(window)?;
    let bytes = window.bytes();
    let length = SUPERBLOCK_BYTES.min(bytes - at) as usize;
    let found = read(window.must(WHAT, at, length)?, at)?;
    // Checked by the library too. It tells a file that is cut off from one that is not.
    if found.end > bytes {
        let needed_bytes = found.end;
        return Err(FormatError::Truncated { what: "file", offset: 0, needed_bytes, left_bytes: bytes });
    }
    Ok((File::new(window, found.sizes, at), found.root))
}

/// What is known of a file.
struct Superblock {
    sizes: Sizes,
    root: u64,
    end: u64,
}

fn find(window: &mut Window<'_>) -> Result<u64, FormatError> {
    let bytes = window.bytes();
    let mut at = 0;
    while bytes.saturating_sub(at) > MAGIC.len() as u64 {
        if window.must(WHAT, at, MAGIC.len())? == MAGIC {
            return Ok(at);
        }
        at = (at * 2).max(USER_BLOCK_BYTES_MIN);
    }
    Err(malformed("no signature of HDF5", 0))
}

fn read(bytes: &[u8], at: u64) -> Result<Superblock, FormatError> {
    let cut = || malformed("a superblock that is cut off", at);
    let version = *bytes.get(MAGIC.len()).ok_or_else(cut)?;
    let widths = match version {
        0 | 1 => bytes.get(13..15),
        2 | 3 => bytes.get(9..11),
        _ => {
            return Err(malformed(
                format!("a superblock of version {version}, of which 0 to 3 are read"),
                at,
            ));
        }
    };
    let widths = widths.ok_or_else(cut)?;
    if !widths.iter().all(|width| matches!(width, 2 | 4 | 8)) {
        let found = format!("addresses of {} B and lengths of {} B", widths[0], widths[1]);
        return Err(malformed(found, at));
    }
    let sizes = Sizes { address: usize::from(widths[0]), length: usize::from(widths[1]) };
    let fields = Fields::new(bytes, sizes);
    let found = match version {
        0 => of_first(fields, 24),
        1 => of_first(fields, 28),
        _ => of_second(fields),
    };
    let (root, end, driver) = found.ok_or_else(cut)?;
    if driver != NOWHERE {
        return Err(malformed("a file of several parts, which is not read", at));
    }
    Ok(Superblock { sizes, root, end })
}

/// Root, end and driver of versions 0 and 1, whose addresses begin at `from`.
fn of_first(mut fields: Fields<'_>, from: usize) -> Option<(u64, u64, u64)> {
    fields.skip(from)?;
    let (_base, _free_space) = (fields.address()?, fields.address()?);
    let (end, driver) = (fields.address()?, fields.address()?);
    let _name = fields.address()?;
    Some((fields.address()?, end, driver))
}

/// The same of versions 2 and 3, whose driver is a message of a header that is not needed.
fn of_second(mut fields: Fields<'_>) -> Option<(u64, u64, u64)> {
    fields.skip(12)?;
    let (_base, _extension, end) = (fields.address()?, fields.address()?, fields.address()?);
    Some((fields.address()?, end, NOWHERE))
}
