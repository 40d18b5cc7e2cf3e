//! HDF5: datasets in groups, whose items lie one after the other or in chunks behind an index.
//!
//! Of a file no more is read than where bytes lie: the superblock (versions 0 to 3), object headers of both versions, groups,
//! and the layouts of datasets with every kind of index of chunks. No item is looked at and no filter is undone, so that a chunk
//! is the bytes that are stored of it. One dataset in chunks is written (`write.rs`). The library of HDF5 in C, and with it every
//! crate that binds it, would be most of the build.
//!
//! Checksums of structures are not verified: each number is held against the bytes of the file instead, and no structure
//! is read twice.
//!
//! Format: "HDF5 File Format Specification", version 3.0, and the fourth and fifth version of its layout message as the library
//! writes them.

mod choice;
mod chunks;
mod dataset;
mod dense;
mod entries;
mod extensible_array;
mod fields;
mod file;
mod fixed_array;
mod grid;
mod header;
mod links;
mod object;
mod refusal;
mod second_tree;
mod superblock;
mod trees;
mod units;
mod walk;
mod write;

use self::choice::{Choice, is_named};
use self::units::units;
use self::walk::Walk;
use crate::error::FormatError;
use crate::input::Window;
use crate::shard::Unit;

pub(crate) use superblock::MAGIC;
pub(crate) use write::{HEAD_BYTES, index_bytes, write};

/// Calls `each` with the units of the named datasets, or of the one that holds most of the bytes if none is named.
pub(crate) fn index(
    names: &[String],
    window: &mut Window<'_>,
    each: &mut dyn FnMut(Unit<'_>),
) -> Result<(), FormatError> {
    let (mut file, root) = superblock::open(window)?;
    let mut choice = Choice::default();
    let (mut found, mut has) = (0, vec![false; names.len()]);
    Walk::default().visit(&mut file, root, 0, &mut |file, path, dataset| {
        if names.is_empty() {
            choice.add(path, dataset);
            return Ok(());
        }
        choice.name(path);
        let named = is_named(path, names);
        if named.contains(&true) {
            has.iter_mut().zip(&named).for_each(|(has, named)| *has |= named);
            found += units(file, path, &dataset, each)?;
        }
        Ok(())
    })?;
    if let Some(missing) = has.iter().position(|has| !has) {
        return Err(FormatError::NoColumn { column: names[missing].clone(), found: choice.names() });
    }
    if names.is_empty() && !choice.is_empty() {
        let (path, dataset) = choice.most().ok_or_else(|| FormatError::Several { found: choice.names() })?;
        found = units(&mut file, path, dataset, each)?;
    }
    if found == 0 { Err(FormatError::Empty) } else { Ok(()) }
}
