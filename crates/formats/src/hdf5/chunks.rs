//! Finds the chunks of a dataset, whatever says where they lie.

use super::dataset::{ChunkIndex, Chunked, Dataset};
use super::extensible_array;
use super::fields::{Fields, NOWHERE};
use super::file::File;
use super::fixed_array;
use super::grid::{Chunk, Chunks, Grid};
use super::second_tree;
use super::trees::{Tree, leaves};
use crate::error::FormatError;

/// Kinds of B-trees of the second version that hold chunks: as they are, and filtered.
const PLAIN: u8 = 10;
const FILTERED: u8 = 11;

/// Kind of B-trees of the first version that hold chunks.
const FIRST_KIND: u8 = 1;

/// The chunks that are stored, in the order of their samples, with the number of them that lie beside each other.
pub(crate) fn find(
    file: &mut File<'_, '_>,
    dataset: &Dataset,
    chunked: &Chunked,
) -> Result<(Vec<Chunk>, u64), FormatError> {
    let grid = Grid::new(&dataset.space.shape, &dataset.space.most, &chunked.shape);
    let grid = grid.filter(|grid| grid.axes() == chunked.shape.len());
    let grid = grid.ok_or_else(|| file.broken("chunks of another shape than their dataset", 0))?;
    let mut chunks = Chunks::new(grid);
    // Nothing was ever written.
    if chunked.address != NOWHERE {
        read(file, dataset, chunked, &mut chunks)?;
    }
    let beside = chunks.grid.beside();
    let mut found = chunks.found;
    found.sort_unstable();
    if let Some(pair) = found.windows(2).find(|pair| pair[0].number == pair[1].number) {
        return Err(file.broken(format!("chunk {} twice", pair[0].number), chunked.address));
    }
    Ok((found, beside))
}

fn read(
    file: &mut File<'_, '_>,
    dataset: &Dataset,
    chunked: &Chunked,
    chunks: &mut Chunks,
) -> Result<(), FormatError> {
    let address = chunked.address;
    let entry_bytes = if dataset.is_filtered { None } else { Some(chunked.bytes) };
    match chunked.index {
        ChunkIndex::Tree => of_tree(file, chunked, chunks),
        ChunkIndex::SecondTree => of_second_tree(file, dataset, chunked, chunks),
        ChunkIndex::Single(bytes) => {
            chunks.add(file, chunks.grid.number_of(0), (address, bytes.unwrap_or(chunked.bytes)))
        }
        ChunkIndex::Implicit => {
            for number in 0..chunks.grid.count() {
                let at = chunks.grid.among_most(number).and_then(|among| among.checked_mul(chunked.bytes));
                let at = at.and_then(|behind| address.checked_add(behind));
                let at = at.ok_or_else(|| file.broken("a chunk at no place", address))?;
                chunks.add(file, Some(number), (at, chunked.bytes))?;
            }
            Ok(())
        }
        ChunkIndex::FixedArray => {
            fixed_array::places(file, address, entry_bytes, &mut |file, number, place| {
                chunks.add(file, chunks.grid.number_of(number), place)
            })
        }
        ChunkIndex::ExtensibleArray => {
            extensible_array::places(file, address, entry_bytes, &mut |file, number, place| {
                chunks.add(file, chunks.grid.number_growing(number), place)
            })
        }
    }
}

fn of_tree(file: &mut File<'_, '_>, chunked: &Chunked, chunks: &mut Chunks) -> Result<(), FormatError> {
    let axes = chunked.shape.len();
    // Bytes and mask, then the first item of the chunk along each axis and within an item.
    let tree = Tree { kind: FIRST_KIND, key_bytes: 8 + 8 * (axes + 1) };
    leaves(file, chunked.address, tree, &mut |file, mut key, address| {
        let key = first_key(&mut key, &chunked.shape);
        let (bytes, place) = key.ok_or_else(|| file.broken("no key of a chunk", chunked.address))?;
        chunks.add(file, chunks.grid.number_at(&place), (address, bytes))
    })
}

/// Bytes and place of a chunk.
fn first_key(key: &mut Fields<'_>, shape: &[u64]) -> Option<(u64, Vec<u64>)> {
    let bytes = key.number(4)?;
    key.skip(4)?;
    let place: Option<Vec<u64>> = shape
        .iter()
        .map(|chunk| key.number(8).filter(|item| item.is_multiple_of(*chunk)).map(|item| item / chunk))
        .collect();
    Some((bytes, place?))
}

fn of_second_tree(
    file: &mut File<'_, '_>,
    dataset: &Dataset,
    chunked: &Chunked,
    chunks: &mut Chunks,
) -> Result<(), FormatError> {
    let kind = if dataset.is_filtered { FILTERED } else { PLAIN };
    let chunk_bytes = if dataset.is_filtered { None } else { Some(chunked.bytes) };
    second_tree::records(file, chunked.address, kind, &mut |file, record| {
        let read = record_of(Fields::new(record, file.sizes()), chunk_bytes, chunked.shape.len());
        let (place, at) = read.ok_or_else(|| file.broken("no record of a chunk", chunked.address))?;
        chunks.add(file, chunks.grid.number_at(&at), place)
    })
}

/// Address, bytes and place of a chunk.
fn record_of(
    mut fields: Fields<'_>,
    chunk_bytes: Option<u64>,
    axes: usize,
) -> Option<((u64, u64), Vec<u64>)> {
    let address = fields.address()?;
    let bytes = if let Some(bytes) = chunk_bytes {
        bytes
    } else {
        let width = fields.rest().len().checked_sub(4 + 8 * axes)?;
        let bytes = fields.number(width)?;
        fields.skip(4)?;
        bytes
    };
    let place: Option<Vec<u64>> = (0..axes).map(|_| fields.number(8)).collect();
    Some(((address, bytes), place?))
}
